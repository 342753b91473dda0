//! Files of an archive that are missing, are no regular files, or change while they are read.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use super::disk::Disk;
use super::job::Job;
use super::make::{self, Size, ring};
use crate::support::report::Table;
use crate::support::run::{analyzer, mpirun, run};
use crate::support::{archive, copy, fresh};

/// Damages a file.
type FileDamage = fn(&Path);

const DAMAGES: [(&str, FileDamage); 6] = [
    ("missing", |file| fs::remove_file(file).unwrap()),
    ("empty", |file| fs::write(file, "").unwrap()),
    ("directory", |file| {
        fs::remove_file(file).unwrap();
        fs::create_dir(file).unwrap();
    }),
    ("dangling link", |file| {
        fs::remove_file(file).unwrap();
        symlink("/nowhere/at/all", file).unwrap();
    }),
    ("pipe", |file| {
        fs::remove_file(file).unwrap();
        assert!(Command::new("mkfifo").arg(file).status().unwrap().success());
    }),
    ("forbidden", |file| fs::set_permissions(file, fs::Permissions::from_mode(0o000)).unwrap()),
];

/// Expected result for a damaged file: a message, or a finding in a report.
enum ExpectedOutcome {
    Message(&'static str),
    Finding(&'static str),
}
use ExpectedOutcome::{Finding, Message};
use skip::{Need, skip};

/// The same command without root's permissions, if there is a program that can drop them.
fn humble(command: &Command) -> Option<Command> {
    let setpriv = || {
        let mut setpriv = Command::new("setpriv");
        setpriv.arg("--bounding-set=-dac_override,-dac_read_search");
        setpriv
    };
    let is_there = setpriv().arg("true").output().is_ok_and(|output| output.status.success());
    let mut humble = setpriv();
    humble.arg(command.get_program()).args(command.get_args());
    is_there.then_some(humble)
}

/// Damages a file of an archive in all ways; expects these outcomes.
fn expect(file: &str, outcomes: [ExpectedOutcome; 6]) {
    for ((what, damage), outcome) in DAMAGES.iter().zip(outcomes) {
        let directory = fresh();
        copy(&archive("barrier.4"), directory.path());
        let path = directory.path().join(file);
        damage(&path);
        let mut command = analyzer([directory.path(), Path::new("--strict")]);
        if *what == "forbidden" && File::open(&path).is_ok() {
            let Some(humble) = humble(&command) else {
                skip(Need::System, format!("forbidden {file}: nothing is forbidden to this user"));
                continue;
            };
            command = humble;
        }
        let done = run(&mut command);
        let report = directory.path().join("trace.cubex");
        match outcome {
            Message(part) => {
                done.expect(2);
                let [message] = done.messages()[..] else { panic!("{what}:\n{}", done.stderr) };
                let place = if part.contains("no traces.otf2") { directory.path() } else { &path };
                assert!(message.contains(place.to_str().unwrap()), "{what}: {message}");
                assert!(message.contains(part), "{what}: {part:?} is not in: {message}");
                assert!(!report.exists());
            }
            Finding(part) => {
                done.expect(1);
                assert!(done.stdout.contains(&format!("1 x {part}")), "{what}:\n{}", done.stdout);
                assert!(done.stdout.contains(file), "{what}:\n{}", done.stdout);
                assert!(report.exists());
            }
        }
    }
}

#[test]
fn damaged_anchor_is_one_message() {
    let outcomes = [
        Message("the directory has no traces.otf2"),
        Message("ends within the anchor"),
        Message("not a regular file"),
        Message("No such file"),
        Message("not a regular file"),
        Message("ask its owner"),
    ];
    expect("traces.otf2", outcomes);
}

#[test]
fn damaged_definitions_are_one_message() {
    let outcomes = [
        Message("no global definitions: the archive is incomplete"),
        Message("byte 0x0: the file ends within"),
        Message("not a regular file"),
        Message("no global definitions"),
        Message("not a regular file"),
        Message("ask its owner"),
    ];
    expect("traces.def", outcomes);
}

#[test]
fn events_that_are_missing_or_damaged_are_a_finding_unreadable_ones_a_message() {
    let outcomes = [
        Finding("missing events"),
        Finding("damaged events"),
        Message("not a regular file"),
        Finding("missing events"),
        Message("not a regular file"),
        Message("ask its owner"),
    ];
    expect("traces/1.evt", outcomes);
}

/// Without id mappings and clock offsets all events of the location would be misread.
#[test]
fn local_definitions_that_are_missing_or_damaged_are_a_finding() {
    for file in ["traces/0.def", "traces/1.def", "traces/3.def"] {
        expect(file, std::array::from_fn(|_| Finding("unreadable local definitions")));
    }
}

/// Three sparse files of 2^63 - 1 bytes each: no memory is that large.
#[test]
fn events_that_claim_to_be_larger_than_any_memory_are_told() {
    let Some(disk) = Disk::new("huge files", "size=1m") else { return };
    copy(&archive("barrier.4"), disk.path());
    for rank in 0..3 {
        let file = File::create(disk.path().join(format!("traces/{rank}.evt"))).unwrap();
        file.set_len(i64::MAX as u64).unwrap();
    }
    for threads in ["--threads=1", "--threads=4"] {
        let refused = run(&mut analyzer([disk.path(), Path::new(threads)]));
        refused.expect(2);
        let [message] = refused.messages()[..] else { panic!("{}", refused.stderr) };
        assert!(message.contains(".evt") && message.contains("cannot read the file"), "{message}");
    }
}

/// Changes a large file, given its size.
type FileChange = fn(&File, u64);

const CHANGES: [(&str, FileChange); 4] = [
    ("emptied", |file, _| file.set_len(0).unwrap()),
    ("cut to a part of a page", |file, size| file.set_len(size / 2 + 77).unwrap()),
    ("cut and written again", |file, size| {
        file.set_len(0).unwrap();
        file.set_len(size).unwrap();
    }),
    ("overwritten", |mut file, size| {
        std::io::Write::write_all(&mut file, &vec![0xff; size as usize]).unwrap()
    }),
];

/// Analyzes an experiment, and changes `file` of it after a pause once the first process has mapped it.
/// Returns whether a process was still using it.
fn change(job: &mut Job, file: &Path, pause: Duration, change: FileChange) -> bool {
    let name = file.to_str().unwrap();
    let Some(reader) = job.wait_for(|job| job.workers().find(|&worker| job.maps(worker, name))) else {
        return false;
    };
    sleep(pause);
    job.stop(reader);
    let is_mapped = job.maps(reader, name);
    if is_mapped {
        let opened = File::options().write(true).open(file).unwrap();
        change(&opened, opened.metadata().unwrap().len());
    }
    job.go_on(reader);
    is_mapped
}

/// Changes a file while it is read, in all ways and after several pauses. Whatever is read then, the analysis
/// ends as documented.
fn changes_end_as_documented(file: &str, start: impl Fn(&Path) -> Job) {
    let directory = fresh();
    let experiment = directory.path().canonicalize().unwrap().join("exp");
    make::archive(&experiment, Size { regions: 40_000, ..Size::processes(3) }, |rank, events| {
        events.program(|events| ring(events, rank, 3, 15_000));
    });
    let path = experiment.join(file);
    let whole = fs::read(&path).unwrap();
    assert!(whole.len() > 1 << 20, "small files are not mapped");
    for (what, how) in CHANGES {
        for pause in [0, 5, 20].map(Duration::from_millis) {
            let mut is_changed = false;
            for _ in 0..20 {
                fs::write(&path, &whole).unwrap();
                let _ = fs::remove_file(experiment.join("trace.cubex"));
                let mut job = start(&experiment);
                is_changed = change(&mut job, &path, pause, how);
                let ended = job.end();
                if !is_changed {
                    ended.expect(0);
                    continue;
                }
                match ended.status {
                    Some(0) => drop(Table::read(&experiment.join("trace.cubex"))),
                    _ => {
                        ended.expect(2);
                        let [message] = ended.messages()[..] else { panic!("{what}:\n{}", ended.stderr) };
                        assert!(message.contains(file), "{what}: {message}");
                        assert!(!experiment.join("trace.cubex").exists());
                    }
                }
                break;
            }
            if !is_changed {
                skip(
                    Need::System,
                    format!("{file} {what} after {pause:?}: it was read faster than that every time"),
                );
            }
        }
    }
}

#[test]
fn events_that_change_while_they_are_mapped_end_as_documented() {
    changes_end_as_documented("traces/0.evt", |experiment| {
        Job::alone([experiment, Path::new("--threads=1")])
    });
}

#[test]
fn definitions_that_change_while_they_are_mapped_end_as_documented() {
    changes_end_as_documented("traces.def", |experiment| Job::alone([experiment, Path::new("--threads=1")]));
}

#[test]
fn events_that_change_while_one_of_three_processes_maps_them_end_as_documented() {
    let Some(launcher) = mpirun("events that change") else { return };
    changes_end_as_documented("traces/1.evt", |experiment| Job::launched(launcher, 3, [experiment]));
}

#[test]
fn link_that_leads_out_of_the_experiment_is_not_followed() {
    for file in ["traces.otf2", "traces.def", "traces/0.evt", "traces"] {
        let directory = fresh();
        let (experiment, elsewhere) =
            (directory.path().join("experiment"), directory.path().join("elsewhere"));
        copy(&archive("barrier.4"), &experiment);
        std::fs::rename(experiment.join(file), &elsewhere).unwrap();
        symlink(&elsewhere, experiment.join(file)).unwrap();
        let refused = run(&mut analyzer([&experiment]));
        refused.expect(2);
        let [message] = refused.messages()[..] else { panic!("{}", refused.stderr) };
        assert!(message.contains("leads out of the experiment directory"), "{file}: {message}");
    }
}

#[test]
fn link_inside_of_the_experiment_is_followed() {
    let directory = fresh();
    let experiment = directory.path().join("experiment");
    copy(&archive("barrier.4"), &experiment);
    std::fs::rename(experiment.join("traces/0.evt"), experiment.join("events")).unwrap();
    symlink("../events", experiment.join("traces/0.evt")).unwrap();
    run(&mut analyzer([&experiment])).expect(0);
}
