//! What a run has used of the machine: the memory of each process, and the energy of the node where meters show it.

use std::process::Command;

use crate::support::archive;
use crate::support::process::run;
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::{NamedReport, findings};

#[test]
fn memory_of_each_process_is_in_the_report() {
    let Some(subject) = Subject::new("usage_memory", "switches/usage.c", 2, &["memory"]) else { return };
    subject.run_recorded(Invocation::InFront).expect_success();
    let analysis = analyze(&subject.experiment, &subject.folder);
    analysis.expect_success();
    assert_eq!(findings(&subject.experiment), []);
    let report = NamedReport::read(&subject.experiment);
    let of = |rank| report.value("memory", &report.within("usage"), rank);
    assert!(of(0) > 1e6 && of(1) > of(0) + 60e6, "{} and {} bytes", of(0), of(1));
    // No meter is known on machines of tests.
    assert!(!analysis.stdout.contains("Energy: 0 J"), "{}", analysis.stdout);
}

/// A file system of the kernel with the devices of the real one, and one meter, which has a step to where it begins again.
const SYSTEM: &str = r#"
set -e
mkdir -p "$1/devices" "$1/class/powercap/intel-rapl:0"
mount --rbind /sys/devices "$1/devices"
meter="$1/class/powercap/intel-rapl:0"
echo package-0 >"$meter/name"
echo 262143328850 >"$meter/max_energy_range_uj"
echo 262143000000 >"$meter/energy_uj"
mount --rbind "$1" /sys
shift
exec "$@"
"#;

/// The meter of that.
const METER: &str = "/sys/class/powercap/intel-rapl:0/energy_uj";

#[test]
fn energy_of_the_node_is_in_archive_report_and_summary() {
    let arguments = ["energy", METER, "5000000"];
    let Some(subject) = Subject::new("usage_energy", "switches/usage.c", 2, &arguments) else { return };
    let recorded = subject.recorded(Invocation::InFront);
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", SYSTEM, "sh"]).arg(subject.folder.join("sys"));
    command.arg(recorded.get_program()).args(recorded.get_args());
    for (name, value) in recorded.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(&subject.folder);
    let ended = run(&mut command, &subject.folder);
    if !ended.status.success() && !subject.experiment.exists() {
        skip::skip(skip::Need::System, format!("usage_energy: {}", ended.stderr));
        return;
    }
    ended.expect_success();
    assert_eq!(archive::refusal(&subject.experiment), None);
    let analysis = analyze(&subject.experiment, &subject.folder);
    analysis.expect_success();
    // 0.32885 J to its end, and 5 J from its begin on.
    assert!(analysis.stdout.contains("\nEnergy: 5 J of 1 node,"), "{}", analysis.stdout);
    let report = cubex::Report::open(subject.experiment.join("trace.cubex")).unwrap();
    let energy =
        report.cube().attributes.iter().find(|it| it.key == "Replay::Energy").map(|it| &it.value[..]);
    assert_eq!(energy, Some("5.329"));
}
