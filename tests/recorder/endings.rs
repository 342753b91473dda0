//! Proof 2: however a program ends, its output and its status are those without the recorder; and its
//! recording is complete and can be analyzed, also if processes were killed, and also if the disk is full.

use crate::support::archive;
use crate::support::build;
use crate::support::copy;
use crate::support::process::{Ended, Running, run};
use crate::support::record::{self, INVOCATIONS, Invocation, Subject, analyze, clean};
use crate::support::report::findings;
use crate::support::turns::Turn;
use otf2::{Archive, Event, EventCursor, EventRecord};
use rustix::process::Signal;
use skip::{Need, skip};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Messages that each rank of a program sends before its end: enough for buffers to be flushed.
const MESSAGES: &str = "20000";
const RANKS: u32 = 2;

/// Non-deterministic behaviour of MPICH's mpirun, with and without the recorder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LauncherQuirk {
    Nothing,
    /// It may exit before it has forwarded the output of an aborted program.
    Output,
    /// If a rank has failed without `MPI_Finalize`, it kills the others, whose status it may return. Its
    /// status after a SIGTERM to itself varies.
    Status,
}

/// A program that sends its messages and ends.
fn subject(test: &str, program: &str, arguments: &[&str]) -> Option<Subject> {
    let subject = Subject::new(test, &format!("endings/{program}.c"), RANKS, arguments)?;
    Some(subject.option("--buffer=256K"))
}

/// Runs a program bare and recorded in both ways: the same output, the same status, and an archive with all
/// messages.
fn expect_same_end(test: &str, program: &str, arguments: &[&str], messages: u64, quirk: LauncherQuirk) {
    let Some(subject) = subject(test, program, arguments) else { return };
    let bare = subject.run_bare();
    for way in INVOCATIONS {
        assert_same(&bare, &subject.run_recorded(way), way, on(&subject, quirk));
        expect_complete(&subject, messages);
        std::fs::remove_dir_all(&subject.experiment).unwrap();
    }
}

#[track_caller]
fn assert_same(bare: &Ended, recorded: &Ended, way: Invocation, quirk: LauncherQuirk) {
    let (expected, found) = ((said(bare), bare.status), (said(recorded), recorded.status));
    let is_same = (quirk == LauncherQuirk::Output || expected.0 == found.0)
        && (quirk == LauncherQuirk::Status || expected.1 == found.1);
    assert!(is_same, "{way:?}: {expected:?}, recorded {found:?}: {}", recorded.stderr);
}

/// Open MPI's mpirun is deterministic.
fn on(subject: &Subject, quirk: LauncherQuirk) -> LauncherQuirk {
    if subject.mpi.is_open_mpi { LauncherQuirk::Nothing } else { quirk }
}

/// The output of the program. MPICH's mpirun appends a report about processes on standard output.
fn said(ended: &Ended) -> &str {
    ended.stdout.split("\n=====").next().unwrap_or_default()
}

/// Fails the test unless an archive appears soon that can be analyzed and has this number of messages of each
/// rank.
#[track_caller]
fn expect_complete(subject: &Subject, messages: u64) {
    let experiment = &subject.experiment;
    let begin = Instant::now();
    while !experiment.join("traces.otf2").exists() {
        assert!(begin.elapsed() < Duration::from_secs(20), "nobody completes {}", experiment.display());
        std::thread::sleep(Duration::from_millis(5));
    }
    expect_analyzable(subject);
    let sent = archive::counts(experiment).get("MpiSend").copied();
    assert_eq!(sent, Some(messages * u64::from(RANKS)), "{}", experiment.display());
    for (name, class, count) in findings(experiment) {
        println!("{}: {count} times {name} ({})", experiment.display(), class.name());
    }
}

#[track_caller]
fn expect_analyzable(subject: &Subject) {
    let experiment = &subject.experiment;
    assert_eq!(archive::refusal(experiment), None);
    analyze(experiment, &subject.folder).expect_success();
}

#[test]
fn program_that_ends_by_itself_ends_with_its_code() {
    for (number, arguments) in [
        ["finalize", "return", "0"],
        ["finalize", "exit", "5"],
        ["finalize", "_exit", "6"],
        ["abandon", "return", "7"],
        ["abandon", "exit", "8"],
        ["abandon", "_exit", "9"],
    ]
    .iter()
    .enumerate()
    {
        let quirk = if arguments[0] == "abandon" { LauncherQuirk::Status } else { LauncherQuirk::Nothing };
        expect_same_end(&format!("exit_codes_{number}"), "exit_codes", arguments, 10, quirk);
    }
}

#[test]
fn program_that_starts_others_ends_as_it_does_bare() {
    expect_same_end("fork", "fork", &[], 30, LauncherQuirk::Nothing);
}

#[test]
fn child_that_leaves_a_call_of_its_parent_records_nothing() {
    expect_same_end("fork_in_call", "fork_in_call", &[], 60, LauncherQuirk::Nothing);
}

#[test]
fn abort_leaves_all_messages() {
    expect_same_end("abort", "abort", &[MESSAGES], 20000, LauncherQuirk::Output);
}

#[test]
fn crash_leaves_all_messages() {
    expect_same_end("crash", "crash", &[MESSAGES], 20000, LauncherQuirk::Nothing);
}

#[test]
fn rank_that_crashed_behind_mpirun_is_named_with_its_signal() {
    let Some(subject) = subject("crash_named", "crash", &["100"]) else { return };
    let recorded = subject.run_recorded(Invocation::Behind);
    expect_complete(&subject, 100);
    // Open MPI's mpirun exits before the archive is complete, and does not forward later output.
    let is_said = recorded.stderr.contains("came to their exit");
    assert!(is_said || subject.mpi.is_open_mpi, "{}", recorded.stderr);
    assert_eq!(is_said, recorded.stderr.contains("; rank 1 died of SIGSEGV"), "{}", recorded.stderr);
    assert!(!recorded.stderr.contains("rank 0 died of"), "{}", recorded.stderr);
}

/// Starts a program that sleeps after its messages, kills some process, and waits until all have ended.
fn killed(subject: &Subject, command: &mut Command, kill: impl Fn(&Running)) -> Ended {
    let _turn = Turn::alone();
    let mut running = Running::start(command, &subject.folder);
    running.wait_for_line();
    kill(&running);
    running.wait()
}

/// Runs a program bare and recorded in both ways: killed in this way, it ends the same, and has all its
/// messages.
fn expect_same_end_when_killed(test: &str, quirk: LauncherQuirk, kill: impl Fn(&Running)) {
    let Some(subject) = subject(test, "sleep_forever", &[MESSAGES]) else { return };
    let bare = killed(&subject, &mut subject.bare(), &kill);
    for way in INVOCATIONS {
        let recorded = killed(&subject, &mut subject.recorded(way), &kill);
        assert_same(&bare, &recorded, way, on(&subject, quirk));
        expect_complete(&subject, 20000);
        std::fs::remove_dir_all(&subject.experiment).unwrap();
    }
}

/// The processes of the ranks, without those that started them.
fn ranks(running: &Running) -> Vec<crate::support::process::Process> {
    let mut ranks = running.processes();
    ranks.retain(|process| process.program.ends_with("sleep_forever"));
    assert_eq!(ranks.len(), RANKS as usize);
    ranks
}

#[test]
fn sigterm_for_the_command_leaves_all_messages() {
    expect_same_end_when_killed("term_command", LauncherQuirk::Status, |running| running.kill(Signal::TERM));
}

#[test]
fn sigterm_for_a_rank_leaves_all_messages() {
    expect_same_end_when_killed("term_rank", LauncherQuirk::Nothing, |running| {
        ranks(running)[1].kill(Signal::TERM)
    });
}

#[test]
fn sigkill_for_a_rank_leaves_all_messages() {
    expect_same_end_when_killed("kill_rank", LauncherQuirk::Nothing, |running| {
        ranks(running)[1].kill(Signal::KILL)
    });
}

#[test]
fn sigkill_for_all_ranks_leaves_all_messages() {
    expect_same_end_when_killed("kill_ranks", LauncherQuirk::Nothing, |running| {
        ranks(running).iter().for_each(|rank| rank.kill(Signal::KILL));
    });
}

/// Maps a file of a recording, as an analysis of a running program or a debugger may do.
fn mapped(subject: &Subject) -> otf2::FileBytes {
    let path = subject.experiment.join("recording/0.buffer");
    let bytes = otf2::FileBytes::open(&path).unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.contains("recording/0.buffer"), "{} is not mapped", path.display());
    bytes
}

#[test]
fn reader_of_the_recording_does_not_keep_the_archive_from_being_completed() {
    let Some(subject) = Subject::new("reader", "endings/sleep_forever.c", RANKS, &[MESSAGES]) else { return };
    let subject = subject.option("--buffer=4M");
    for way in INVOCATIONS {
        let reading = std::cell::RefCell::new(None);
        let recorded = killed(&subject, &mut subject.recorded(way), |running| {
            *reading.borrow_mut() = Some(mapped(&subject));
            ranks(running)[1].kill(Signal::KILL);
        });
        expect_complete(&subject, 20000);
        assert!(!recorded.stderr.contains("is not complete"), "{}", recorded.stderr);
        drop(reading.into_inner());
        std::fs::remove_dir_all(&subject.experiment).unwrap();
    }
}

#[test]
fn copy_of_a_run_that_hangs_goes_on_until_it_was_made() {
    let Some(subject) = Subject::new("copied", "endings/sleep_forever.c", RANKS, &[MESSAGES]) else { return };
    let copied = subject.folder.join("copy");
    killed(&subject, &mut subject.recorded(Invocation::InFront), |running| {
        std::thread::sleep(Duration::from_millis(700));
        copy(&subject.experiment, &copied);
        record::finish(&copied, &subject.folder).expect_success();
        ranks(running)[1].kill(Signal::KILL);
    });
    if std::fs::metadata(&copied).and_then(|status| status.created()).is_err() {
        skip(Need::System, "a copy of a run that hangs: the file system does not know when files were made");
        return;
    }
    assert_eq!(archive::refusal(&copied), None);
    assert_eq!(archive::difference(&copied), None);
    let resolution = Archive::open(&copied).unwrap().definitions().unwrap().clock.resolution;
    // Times of the last events, by location: recording ends with the copy, long after anything else.
    let mut last: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
    archive::each_event(&copied, |at, event, _| {
        let [_, before] = last.get(&at.location).copied().unwrap_or_default();
        let times = if matches!(event, Event::MeasurementOnOff { .. }) {
            [at.time - before, before]
        } else {
            [0, at.time]
        };
        last.insert(at.location, times);
    });
    assert_eq!(last.len(), RANKS as usize);
    for [silence, _] in last.values() {
        let seconds = *silence as f64 / resolution as f64;
        assert!((0.5..60.0).contains(&seconds), "{seconds} s");
    }
}

/// The event files of a recording.
fn event_files(experiment: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = std::fs::read_dir(experiment.join("traces")).unwrap().map(|entry| entry.unwrap().path());
    let events = paths.filter(|path| path.extension().is_some_and(|extension| extension == "evt"));
    events.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Completes a recording with `replay-record --finish`; no flushed event may be lost.
fn finish(subject: &Subject) -> Ended {
    let written = event_files(&subject.experiment);
    let finished = record::finish(&subject.experiment, &subject.folder);
    let chunk_size = Archive::open(&subject.experiment).unwrap().anchor().event_chunk_size;
    let complete = event_files(&subject.experiment);
    for (path, bytes) in &written {
        let mut written = EventCursor::new(bytes, path, chunk_size);
        let mut complete = EventCursor::new(&complete[path], path, chunk_size);
        // The flushed part has no end mark.
        while let Ok(Some(event)) = written.next() {
            let kept = complete.next().ok().flatten();
            assert!(kept.is_some_and(|kept| is_same(event, kept)), "{event:?} has become {kept:?}");
        }
    }
    finished
}

/// Whether two events are equal except for their unwind distances, which finishing corrects.
fn is_same<'a>(mut one: EventRecord<'a>, mut other: EventRecord<'a>) -> bool {
    for record in [&mut one, &mut other] {
        if let Event::CallingContextEnter { unwind_distance, .. }
        | Event::CallingContextSample { unwind_distance, .. } = &mut record.event
        {
            *unwind_distance = 0;
        }
    }
    one == other
}

#[test]
fn sigkill_for_everybody_leaves_what_can_be_finished() {
    let Some(subject) = subject("kill_all", "sleep_forever", &[MESSAGES]) else { return };
    for way in INVOCATIONS {
        killed(&subject, &mut subject.recorded(way), |running| {
            for _ in 0..3 {
                running.processes().iter().for_each(|process| process.kill(Signal::KILL));
            }
            running.wait_for_all();
        });
        assert!(!subject.experiment.join("traces.otf2").exists(), "{way:?}: nobody is left to complete it");
        // A file of that name is no archive, for which the recording could be removed.
        let anchor = subject.experiment.join("traces.otf2");
        std::fs::write(&anchor, "").unwrap();
        let mut command = Command::new(build::launcher());
        clean(&mut command);
        let refused = command.arg("--finish").arg(&subject.experiment).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(said.contains("move it away, and try again"), "{said}");
        std::fs::remove_file(&anchor).unwrap();
        finish(&subject).expect_success();
        expect_complete(&subject, 20000);
        std::fs::remove_dir_all(&subject.experiment).unwrap();
    }
}

#[test]
fn rank_whose_files_are_gone_is_lost_in_words_status_and_report() {
    let Some(subject) = subject("rank_lost", "sleep_forever", &[MESSAGES]) else { return };
    killed(&subject, &mut subject.recorded(Invocation::InFront), |running| {
        for _ in 0..3 {
            running.processes().iter().for_each(|process| process.kill(Signal::KILL));
        }
        running.wait_for_all();
    });
    let copied = subject.folder.join("copy");
    for (gone, said) in [
        (&["1.buffer"][..], "rank 1: there is neither a buffer nor a file of its events"),
        (&["1.journal"][..], "rank 1: it has left no journal"),
    ] {
        copy(&subject.experiment, &copied);
        // What was flushed lies elsewhere.
        std::fs::remove_file(copied.join("traces/1.evt")).unwrap_or_default();
        gone.iter().for_each(|name| std::fs::remove_file(copied.join("recording").join(name)).unwrap());
        let finished = record::finish(&copied, &subject.folder);
        assert_eq!(finished.status.code(), Some(1), "{}", finished.stderr);
        assert!(finished.stderr.contains(said), "{}", finished.stderr);
        assert!(!finished.stderr.contains("nothing that was recorded is lost"), "{}", finished.stderr);
        assert_eq!(archive::refusal(&copied), None);
        analyze(&copied, &subject.folder).expect_success();
        let found = findings(&copied);
        let count = |name: &str| found.iter().find(|found| found.0 == name).map(|found| found.2);
        assert_eq!(count("lost events"), Some(1), "{gone:?}: {found:?}");
        assert!(
            count("process that did not end").is_some_and(|count| count + 1 >= RANKS.into()),
            "{found:?}"
        );
        std::fs::remove_dir_all(&copied).unwrap();
    }
}

/// Two programs in one command line, a rank each; the second one with these words in front.
fn two_programs(test: &str, words: &[&str]) -> Option<Subject> {
    let mut program = build::program(build::mpi(test)?, "endings/exit_codes.c")?;
    program.extend(["finalize", "return", "0"].map(Into::into));
    let second = [":", "-n", "1"].iter().chain(words).map(Into::into);
    let both = program.iter().cloned().chain(second).chain(program.clone()).collect();
    Subject::any(test, 1, both)
}

#[test]
fn program_beside_one_without_recorder_is_not_recorded_and_says_so() {
    let Some(subject) = two_programs("one_of_two", &[]) else { return };
    let bare = subject.run_bare();
    let recorded = subject.run_recorded(Invocation::Behind);
    assert_same(&bare, &recorded, Invocation::Behind, LauncherQuirk::Nothing);
    assert_eq!(recorded.stderr.matches("nothing is recorded: rank 1").count(), 1, "{}", recorded.stderr);
    assert!(!subject.experiment.exists());
}

#[test]
fn two_programs_that_are_both_recorded_have_one_archive() {
    let launcher = build::launcher().to_str().unwrap();
    let output = crate::support::fresh("both_of_two_output").join("recording");
    let words = [launcher, "-o", output.to_str().unwrap()];
    let Some(mut subject) = two_programs("both_of_two", &words) else { return };
    subject.experiment = output;
    subject.run_recorded(Invocation::Behind).expect_success();
    expect_complete(&subject, 10);
}

/// Runs a command without and with `replay-record` in front.
fn without_mpirun(test: &str, command: &[&str]) -> Option<[Ended; 2]> {
    build::mpi(test)?;
    let folder = crate::support::fresh(test);
    let ended = [None, Some(build::launcher())].map(|recorder| {
        // Their input comes from a pipe.
        let mut shell = Command::new("sh");
        clean(&mut shell);
        shell.args(["-c", "echo input | \"$@\"", "sh"]).args(recorder).args(command).current_dir(&folder);
        run(&mut shell, &folder)
    });
    let left = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| !name.to_string_lossy().starts_with("std")).collect();
    assert!(left.is_empty(), "{left:?} are left");
    Some(ended)
}

#[test]
fn programs_without_mpi_pass_through() {
    let Some(mpi) = build::mpi("no_mpi") else { return };
    let Some(program) = build::program(mpi, "endings/no_mpi.c") else { return };
    let program = program[0].to_str().unwrap();
    let script = "read line; echo \"$line\"; echo error >&2; exit 3";
    for command in [&[program, "one", "two"][..], &["sh", "-c", script], &["sh", "-c", "kill -9 $$"]] {
        let Some([bare, recorded]) = without_mpirun("no_mpi", command) else { return };
        let outcome = |ended: Ended| (ended.status, ended.stdout, ended.stderr);
        assert_eq!(outcome(bare), outcome(recorded), "{command:?}");
    }
}

#[test]
fn program_that_does_not_exist_is_reported_as_shells_and_mpirun_do() {
    let Some([bare, recorded]) = without_mpirun("nowhere", &["/nowhere/program"]) else { return };
    assert_eq!((bare.status, bare.stdout), (recorded.status, recorded.stdout));
    assert!(recorded.stderr.contains("/nowhere/program"));
    let Some(subject) = Subject::any("nowhere_mpirun", RANKS, vec!["/nowhere/program".into()]) else {
        return;
    };
    let (bare, in_front, behind) = (
        subject.run_bare(),
        subject.run_recorded(Invocation::InFront),
        subject.run_recorded(Invocation::Behind),
    );
    assert_same(&bare, &in_front, Invocation::InFront, LauncherQuirk::Nothing);
    assert!(!behind.status.success() && behind.stderr.contains("/nowhere/program"), "{}", behind.stderr);
}

/// A small file system mounted at a folder.
struct SmallFileSystem(PathBuf);

impl SmallFileSystem {
    /// `None`, with a message, if mounting is not allowed here.
    fn mount(folder: PathBuf, size: &str) -> Option<SmallFileSystem> {
        std::fs::create_dir_all(&folder).unwrap();
        let disk = SmallFileSystem(folder);
        if disk.call("mount", &["-t", "tmpfs", "-o", size, "tmpfs"]) {
            return Some(disk);
        }
        skip(Need::System, "a full disk: no file system can be mounted");
        None
    }

    fn call(&self, program: &str, arguments: &[&str]) -> bool {
        let output = Command::new(program).args(arguments).arg(&self.0).output();
        output.is_ok_and(|output| output.status.success())
    }
}

impl Drop for SmallFileSystem {
    fn drop(&mut self) {
        self.call("umount", &["-l"]);
    }
}

#[test]
fn full_disk_stops_the_recording_and_not_the_program() {
    let Some(mut subject) = Subject::new("full_disk", "calls/many_events.c", RANKS, &["500000"]) else {
        return;
    };
    let bare = subject.run_bare();
    let Some(disk) = SmallFileSystem::mount(subject.folder.join("disk"), "size=5m") else { return };
    subject.experiment = disk.0.join("recording");
    let recorded = subject.run_recorded(Invocation::InFront);
    assert_same(&bare, &recorded, Invocation::InFront, LauncherQuirk::Nothing);
    assert!(recorded.stderr.contains("is not recorded any more"), "{}", recorded.stderr);
    // With room again, the recording up to then can be analyzed.
    assert!(disk.call("mount", &["-o", "remount,size=50m"]));
    let finished = finish(&subject);
    assert!(finished.status.code().is_some_and(|status| status < 2), "{}", finished.stderr);
    expect_analyzable(&subject);
    assert!(findings(&subject.experiment).iter().any(|(name, ..)| name == "lost events"));
    let sent = archive::counts(&subject.experiment)["MpiSend"];
    println!("{sent} messages fit on the disk");
    assert!(sent > 10_000);
}

#[test]
fn limit_of_file_sizes_stops_the_recording_and_not_the_program() {
    let Some(subject) = Subject::new("file_sizes", "calls/many_events.c", 1, &["2000000"]) else { return };
    // 16 MB: more than MPI's own files need.
    let subject = subject.behind_shell("ulimit -f 32768; exec \"$@\"");
    let bare = subject.run_bare();
    let recorded = subject.run_recorded(Invocation::InFront);
    assert_same(&bare, &recorded, Invocation::InFront, LauncherQuirk::Nothing);
    assert!(recorded.stderr.contains("is not recorded any more"), "{}", recorded.stderr);
    expect_analyzable(&subject);
}
