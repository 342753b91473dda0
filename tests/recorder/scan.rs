//! `replay-scan` as it is installed (site 4.2): programs under the launcher are measured, their traces analysed, and nothing is lost
//! that was there.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::build;
use crate::support::process::{Ended, run};
use crate::support::record::clean;
use crate::support::turns::Turn;
use crate::support::{fresh, project};

const PROGRAM: &str = "waits/late_sender.c";

/// An installation, a program as `app`, and a folder to run in.
struct Site {
    folder: PathBuf,
    launcher: OsString,
}

impl Site {
    /// The site of a test; `None`, with a message, if there is no MPI.
    fn new(test: &str) -> Option<Site> {
        let mpi = build::mpi(test)?;
        let program = build::program(mpi, PROGRAM)?;
        let folder = fresh(test);
        install(&folder.join("prefix"));
        fs::copy(&program[0], folder.join("app")).unwrap();
        Some(Site { folder, launcher: mpi.launcher.clone().into() })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A command of `libexec/replay`, or `replay-scan`, with words among which `LAUNCHER` is the launcher.
    fn run(&self, name: &str, line: &str, variables: &[(&str, &str)]) -> Ended {
        let _turn = Turn::alone();
        let folder = if name == "replay-scan" { "prefix/bin" } else { "prefix/libexec/replay" };
        let mut command = Command::new(self.path(folder).join(name));
        clean(&mut command);
        for word in line.split_whitespace() {
            command.arg(if word == "LAUNCHER" { &self.launcher } else { std::ffi::OsStr::new(word) });
        }
        run(command.current_dir(&self.folder).envs(variables.iter().copied()), &self.folder)
    }

    fn scan(&self, line: &str, variables: &[(&str, &str)]) -> Ended {
        self.run("scan", line, variables)
    }

    /// Names of what is in the folder and begins like an experiment.
    fn experiments(&self) -> Vec<String> {
        let names = fs::read_dir(&self.folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.starts_with("scorep_")).collect();
        names.sort();
        names
    }
}

/// Puts programs where make install puts them.
fn install(prefix: &Path) {
    let built = build::launcher().parent().unwrap();
    let folders = ["bin", "lib/replay", "libexec/replay"].map(|folder| prefix.join(folder));
    folders.iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
    let [bin, library, links] = folders;
    let put = |from: &Path, to: &Path| {
        let to = to.join(from.file_name().unwrap());
        fs::hard_link(from, &to).or_else(|_| fs::copy(from, &to).map(drop)).unwrap();
    };
    let analyzer = Path::new(env!("CARGO_BIN_EXE_replay-analyze"));
    for program in [analyzer, build::launcher(), build::viewer(), build::scanner()] {
        put(program, &bin);
    }
    for name in ["libreplay_recorder.so", "libreplay_io.so"] {
        put(&built.join(name), &library);
    }
    symlink("../../bin/replay-analyze", links.join("scout.replay")).unwrap();
    for name in ["scan", "scalasca", "square", "skin"] {
        symlink("../../bin/replay-scan", links.join(name)).unwrap();
    }
}

#[track_caller]
fn expect(ended: &Ended, status: i32) {
    assert_eq!(ended.status.code(), Some(status), "stdout:\n{}\nstderr:\n{}", ended.stdout, ended.stderr);
}

#[test]
fn trace_is_recorded_and_analysed_with_the_launcher() {
    let Some(site) = Site::new("scan_trace") else { return };
    fs::write(site.path("filter"), "SCOREP_REGION_NAMES_BEGIN\nEXCLUDE unwanted\nSCOREP_REGION_NAMES_END\n")
        .unwrap();
    let line = "-t -f filter LAUNCHER -n 2 ./app";
    let preview = site.scan(&format!("-n {line}"), &[]);
    expect(&preview, 0);
    assert_eq!(site.experiments(), [""; 0]);
    let (bin, launcher) =
        (site.path("prefix/bin").canonicalize().unwrap(), site.launcher.display().to_string());
    let record = format!(
        "{launcher} -n 2 {}/replay-record -o scorep_app_2_trace --filter filter ./app",
        bin.display()
    );
    let lines: Vec<&str> = preview.stdout.lines().collect();
    assert!(lines.len() == 2 && lines[0] == record, "{preview:?}");
    assert!(
        lines[1].starts_with(&format!("{launcher} -n 2 /"))
            && lines[1].ends_with("/scout.replay scorep_app_2_trace/traces.otf2")
    );
    let done =
        site.scan(line, &[("SCAN_ANALYZE_OPTS", "--no-statistics"), ("SCOREP_METRIC_PAPI", "PAPI_FP_OPS")]);
    expect(&done, 0);
    assert!(done.stderr.contains("replay-scan: SCOREP_METRIC_PAPI is ignored"), "{}", done.stderr);
    for name in
        ["traces.otf2", "trace.cubex", "scout.cubex", "scout.log", "scorep.log", "scorep.cfg", "MANIFEST.md"]
    {
        assert!(site.path("scorep_app_2_trace").join(name).exists(), "{name}");
    }
    assert!(!site.path("scorep_app_2_trace/trace.stat").exists());
    assert_eq!(site.text("scorep_app_2_trace/scorep.filter"), site.text("filter"));
    assert!(site.text("scorep_app_2_trace/scorep.cfg").contains("SCOREP_ENABLE_TRACING=true\n"));
    assert!(site.text("scorep_app_2_trace/MANIFEST.md").contains(&record));
    assert!(site.text("scorep_app_2_trace/scorep.log").contains("replay-record: wrote"));
    assert!(
        site.text("scorep_app_2_trace/scout.log").contains("waiting"),
        "{}",
        site.text("scorep_app_2_trace/scout.log")
    );
    // The lines of a preview are what was run: a shell can run them, too.
    fs::rename(site.path("scorep_app_2_trace"), site.path("first")).unwrap();
    let mut shell = Command::new("sh");
    clean(&mut shell);
    let by_shell = run(shell.args(["-ec", &preview.stdout]).current_dir(&site.folder), &site.folder);
    expect(&by_shell, 0);
    assert!(site.path("scorep_app_2_trace/scout.cubex").exists());
}

#[test]
fn profile_is_the_default_and_says_how_large_a_trace_would_be() {
    let Some(site) = Site::new("scan_profile") else { return };
    expect(&site.run("scalasca", "-analyze LAUNCHER -n 2 ./app", &[]), 0);
    assert_eq!(site.experiments(), ["scorep_app_2_sum"]);
    assert!(
        site.path("scorep_app_2_sum/profile.cubex").exists()
            && !site.path("scorep_app_2_sum/traces.otf2").exists()
    );
    let estimate = site.run("square", "-s scorep_app_2_sum", &[]);
    expect(&estimate, 0);
    assert!(estimate.stdout.starts_with("a full trace of this run would have"), "{}", estimate.stdout);
    let shown = site.run("scalasca", "-examine scorep_app_2_sum", &[]);
    expect(&shown, 0);
    assert!(shown.stdout.contains("MPI"), "{}", shown.stdout);
    let filtered = site.run("square", "-s -f filter scorep_app_2_sum", &[]);
    expect(&filtered, 1);
    assert!(filtered.stderr.contains("measure with scan -s -f filter"), "{}", filtered.stderr);
    let preview = site.run("scalasca", "-n -examine -c full scorep_app_2_sum", &[]);
    assert!(preview.stdout.ends_with("replay-show scorep_app_2_sum/profile.cubex\n"), "{}", preview.stdout);
}

#[test]
fn what_is_wrong_or_ignored_is_said_before_anything_runs() {
    let Some(site) = Site::new("scan_said") else { return };
    fs::write(site.path("filter"), "SCOREP_REGION_NAMES_BEGIN\nEXCLUDE *\n").unwrap();
    for line in ["-t -f filter LAUNCHER -n 1 ./app", "-n -t -f filter LAUNCHER -n 1 ./app"] {
        let refused = site.scan(line, &[]);
        expect(&refused, 2);
        let said = "replay-scan: filter: line 1: SCOREP_REGION_NAMES_BEGIN without";
        assert!(refused.stderr.starts_with(said) && refused.stdout.is_empty(), "{refused:?}");
    }
    assert_eq!(site.experiments(), [""; 0]);
    let variables = [
        ("SCOREP_MPI_ENABLE_GROUPS", "all"),
        ("SCOREP_METRIC_PERF", "cycles"),
        ("SCOREP_TOTAL_MEMORY", "1G"),
    ];
    assert_eq!(site.scan("-n LAUNCHER -n 1 ./app", &variables).stderr, "");
    let said = site.scan("-n -v LAUNCHER -n 1 ./app", &variables).stderr;
    let line = "replay-scan: SCOREP_METRIC_PERF, SCOREP_MPI_ENABLE_GROUPS, SCOREP_TOTAL_MEMORY are ignored: ";
    assert!(said.starts_with(line) && said.lines().count() == 1, "{said}");
}

#[test]
fn experiment_that_is_there_stays_unless_the_user_says_so() {
    let Some(site) = Site::new("scan_overwrite") else { return };
    let line = "-s -e out LAUNCHER -n 1 ./app";
    expect(&site.scan(line, &[]), 0);
    fs::write(site.path("out/mine"), "").unwrap();
    let refused = site.scan(line, &[]);
    expect(&refused, 1);
    assert!(
        refused.stderr.contains("out exists") && refused.stderr.contains("SCAN_OVERWRITE=1"),
        "{}",
        refused.stderr
    );
    assert!(site.path("out/mine").exists());
    expect(&site.scan(line, &[("SCAN_OVERWRITE", "true")]), 0);
    assert!(!site.path("out/mine").exists() && site.path("out/profile.cubex").exists());
}

#[test]
fn trace_that_is_there_is_analysed_and_then_cleaned() {
    let Some(site) = Site::new("scan_analyze") else { return };
    let line = "LAUNCHER -n 2 ./app";
    expect(&site.scan(&format!("-t {line}"), &[("SCAN_TRACE_ANALYZER", "none")]), 0);
    assert!(!site.path("scorep_app_2_trace/trace.cubex").exists());
    expect(&site.scan(&format!("-a {line}"), &[]), 0);
    assert!(site.path("scorep_app_2_trace/scout.cubex").exists());
    // Without a launcher, and with one name only.
    expect(
        &site.scan(
            "-a -e scorep_app_2_trace",
            &[("SCAN_CLEAN", "1"), ("SCAN_ANALYZE_OPTS", "--no-rootcause --no-critical-path")],
        ),
        0,
    );
    assert!(
        !site.path("scorep_app_2_trace/traces").exists()
            && site.path("scorep_app_2_trace/trace.cubex").exists()
    );
    let again = site.scan("-a -e scorep_app_2_trace", &[]);
    expect(&again, 4);
    assert!(again.stderr.contains("there is no trace to be analysed"), "{}", again.stderr);
    fs::remove_file(site.path("scorep_app_2_trace/traces.otf2")).unwrap();
    expect(&site.scan("-a -e scorep_app_2_trace", &[]), 4);
    expect(&site.scan("-a -e nowhere", &[]), 1);
    expect(&site.scan("-a", &[]), 1);
}

#[test]
fn program_runs_as_it_is_and_ends_as_it_does() {
    let Some(site) = Site::new("scan_nothing") else { return };
    fs::write(site.path("fails"), "#!/bin/sh\necho \"$LD_PRELOAD.\"\nexit 3\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(site.path("fails"), mode).unwrap();
    let plain = site.scan("-q ./fails", &[]);
    expect(&plain, 3);
    assert_eq!(plain.stdout, ".\n");
    assert_eq!(site.experiments(), [""; 0]);
    // Compilers are run as they are, too.
    let compiled = site.run("skin", "-v ./fails", &[]);
    expect(&compiled, 3);
    assert!(
        compiled.stderr.contains("not needed: replay-record records programs as they are"),
        "{}",
        compiled.stderr
    );
    expect(&site.run("scalasca", "-instrument", &[]), 0);
    // Nothing is measured of it, and what it has printed is kept.
    let nothing = site.scan("-s ./fails", &[]);
    expect(&nothing, 2);
    assert!(nothing.stderr.contains("there is no scorep_fails_O_sum"), "{}", nothing.stderr);
    let [log] = &site.experiments()[..] else { panic!("{:?}", site.experiments()) };
    assert!(site.text(log).contains("libreplay_recorder.so"), "{}", site.text(log));
    let scout = site.run("replay-scan", "--scout", &[]);
    expect(&scout, 0);
    assert!(
        Path::new(scout.stdout.trim()).exists() && scout.stdout.ends_with("/scout.replay\n"),
        "{}",
        scout.stdout
    );
    for wrong in ["-x", "-R 0 ./fails", "./no-such-program", "LAUNCHER -n 2", ""] {
        expect(&site.scan(wrong, &[]), 1);
    }
}

#[test]
fn configurations_and_repetitions_have_directories_in_one() {
    let Some(site) = Site::new("scan_several") else { return };
    let text = "-- For all\nSCAN_ANALYZE_OPTS=--no-statistics\n- Plain\nSCOREP_ENABLE_PROFILING=false\n\
                - Trace\nSCOREP_ENABLE_TRACING=true\nOMP_NUM_THREADS=1\n";
    fs::write(site.path("runs.cfg"), text).unwrap();
    let line = "-M runs.cfg -R 2 LAUNCHER -n 2 ./app";
    let refused = site.scan(line, &[("SCOREP_TOTAL_MEMORY", "1G"), ("SCAN_CLEAN", "1")]);
    expect(&refused, 1);
    assert!(refused.stderr.contains("unset SCAN_CLEAN=1, SCOREP_TOTAL_MEMORY=1G"), "{}", refused.stderr);
    expect(&site.scan(line, &[]), 0);
    let around = "scorep_app_2_multi-run_c2_r2";
    assert_eq!(site.experiments(), [around]);
    assert_eq!(site.text(&format!("{around}/scalasca_run.cfg")), text);
    for repetition in 1..=2 {
        let plain = format!("{around}/scorep_app_2_c1_r{repetition}");
        assert!(
            site.path(&plain).join("scorep.log").exists()
                && !site.path(&plain).join("profile.cubex").exists()
        );
        let trace = site.path(&format!("{around}/scorep_app_2_c2_r{repetition}"));
        assert!(trace.join("scout.cubex").exists() && !trace.join("trace.stat").exists());
    }
    expect(&site.scan(line, &[]), 1);
    let several = site.run("square", around, &[]);
    expect(&several, 1);
    assert!(several.stderr.contains("has several runs"), "{}", several.stderr);
}

#[test]
fn program_with_scorep_is_measured_by_it_unless_the_user_wants_ours() {
    let Some(site) = Site::new("scan_scorep") else { return };
    build::instrument(&project("tests/programs").join(PROGRAM), &site.path("instrumented"));
    let line = "-t LAUNCHER -n 2 ./instrumented";
    let archive = project("tests/archives/sendrecv.2");
    let done = site.scan(line, &[("SCOREP_STUB", archive.to_str().unwrap())]);
    expect(&done, 0);
    assert!(done.stdout.contains("scorep: profiling true tracing true"), "{}", done.stdout);
    let directory = site.path("scorep_instrumented_2_trace");
    assert!(directory.join("scout.cubex").exists() && directory.join("scorep.log").exists());
    let preview = site.scan(&format!("-n --record {line}"), &[]);
    assert!(preview.stdout.contains("/replay-record -o"), "{}", preview.stdout);
    let preview = site.scan(&format!("-n {line}"), &[]);
    let expected = "-n 2 env 'SCOREP_ENABLE_PROFILING=true' 'SCOREP_ENABLE_TRACING=true' \
                    'SCOREP_EXPERIMENT_DIRECTORY=scorep_instrumented_2_trace' ./instrumented\n";
    assert!(preview.stdout.contains(expected), "{}", preview.stdout);
}
