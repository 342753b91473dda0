//! The analyzer under the name of Scalasca's scout (site 4.1): what `scan` starts, and what it looks for afterwards.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::report::Table;
use crate::support::run::{Finished, alone, launched, mpirun, program, run};
use crate::support::{archive, copy, fresh, project};

/// A copy of an archive, and a name of the analyzer that begins with `scout`.
struct Site {
    _directory: tempfile::TempDir,
    experiment: PathBuf,
    scout: PathBuf,
}

impl Site {
    fn new() -> Site {
        let directory = fresh();
        let (experiment, scout) = (directory.path().join("exp"), directory.path().join("scout.replay"));
        copy(&archive("imbalance_chain.4"), &experiment);
        symlink(program(), &scout).unwrap();
        Site { _directory: directory, experiment, scout }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.experiment.join(name)
    }

    /// Starts the analyzer as `scan` does.
    fn analyze(&self, options: &[&str]) -> Finished {
        let mut command = Command::new(&self.scout);
        alone(&mut command);
        run(command.args(options).arg(self.path("traces.otf2")))
    }

    /// Starts the stand-in of `scan`, which starts it.
    fn scan(&self, launcher: &[&str], options: &str) -> Finished {
        let mut command = Command::new(project("tests/scout/scan.sh"));
        alone(&mut command);
        command.arg(&self.experiment).args(launcher);
        run(command.env("SCAN_TRACE_ANALYZER", &self.scout).env("SCAN_ANALYZE_OPTS", options))
    }

    fn has(&self, metric: &str) -> bool {
        let report = Table::read(&self.path("scout.cubex"));
        report.metrics.iter().any(|(name, ..)| name == metric)
    }
}

fn are_one_file(one: &Path, other: &Path) -> bool {
    let number = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).unwrap();
    number(one) == number(other)
}

#[test]
fn scan_finds_its_report_which_is_ours_by_another_name() {
    let site = Site::new();
    for options in ["", "--time-correct", "--statistics --verbose"] {
        let scanned = site.scan(&[], options);
        scanned.expect(0);
        assert!(are_one_file(&site.path("scout.cubex"), &site.path("trace.cubex")), "{options}");
        assert!(site.path("trace.stat").exists() && site.has("mpi_latesender"), "{options}");
    }
    // The name is that of the analyzer, up to the first dot; nothing else is left.
    let names = fs::read_dir(&site.experiment).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.contains("cubex"));
    names.sort();
    assert_eq!(names, ["scout.cubex", "trace.cubex"]);
}

#[test]
fn only_one_process_gives_the_report_its_name() {
    let Some(launcher) = mpirun("scout on several processes") else { return };
    let site = Site::new();
    let mut command = launched(launcher, 3, [site.scout.as_path()]);
    let finished = run(command.args(["--no-rootcause", "--force"]).arg(site.path("traces.otf2")));
    finished.expect(0);
    assert!(are_one_file(&site.path("scout.cubex"), &site.path("trace.cubex")));
    let said = finished.messages();
    assert!(said.len() == 1 && said[0].contains("together only"), "{said:?}");
}

#[test]
fn options_of_scout_change_what_is_computed() {
    let site = Site::new();
    let delay = "mpi_delay_latesender";
    site.analyze(&[]).expect(0);
    assert!(
        site.has(delay) || site.has("critical_path"),
        "{:?}",
        Table::read(&site.path("scout.cubex")).metrics
    );
    site.analyze(&["--no-statistics"]).expect(0);
    assert!(!site.path("trace.stat").exists());
    site.analyze(&["--single-pass", "--statistics"]).expect(0);
    assert!(site.path("trace.stat").exists() && !site.has("critical_path"));
    site.analyze(&["--no-rootcause", "--no-critical-path"]).expect(0);
    assert!(!site.has("critical_path"));
    let one = site.analyze(&["--no-critical-path"]);
    one.expect(0);
    assert!(one.messages().len() == 1 && site.has("critical_path"), "{}", one.stderr);
    let help = site.analyze(&["--help"]);
    help.expect(0);
    for option in ["--no-rootcause", "--time-correct", "--single-pass", "--no-statistics", "--force"] {
        assert!(help.stdout.contains(option), "{}", help.stdout);
    }
}

#[test]
fn directory_is_as_good_as_its_anchor_file() {
    let site = Site::new();
    let mut command = Command::new(&site.scout);
    alone(&mut command);
    run(command.arg(&site.experiment)).expect(0);
    assert!(are_one_file(&site.path("scout.cubex"), &site.path("trace.cubex")));
}

#[test]
fn report_of_scalasca_is_replaced_by_force_only() {
    let site = Site::new();
    fs::write(site.path("scout.cubex"), "of Scalasca").unwrap();
    let refused = site.analyze(&[]);
    refused.expect(2);
    assert!(
        refused.stderr.contains("scout.cubex") && refused.stderr.contains("--force"),
        "{}",
        refused.stderr
    );
    assert!(!site.path("trace.cubex").exists());
    assert_eq!(fs::read(site.path("scout.cubex")).unwrap(), b"of Scalasca");
    site.scan(&[], "--force").expect(0);
    // Ours is replaced without, also where it is a copy.
    fs::copy(site.path("trace.cubex"), site.path("copy")).unwrap();
    fs::rename(site.path("copy"), site.path("scout.cubex")).unwrap();
    site.analyze(&[]).expect(0);
    assert!(are_one_file(&site.path("scout.cubex"), &site.path("trace.cubex")));
}

#[test]
fn without_a_report_scan_says_why() {
    let site = Site::new();
    fs::remove_file(site.path("traces.def")).unwrap();
    let failed = site.scan(&[], "");
    failed.expect(4);
    assert!(failed.stderr.contains("replay-analyze: "), "{}", failed.stderr);
    assert!(!site.path("scout.cubex").exists());
}
