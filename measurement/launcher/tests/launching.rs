//! Programs under the launcher behave as without it, and noted experiments are completed.

use crate::recordings::{check, fresh, ring};
use call_paths::GrowingFile;
use recording::layout;
use rustix::process::{Pid, Signal, kill_process};
use skip::{Need, skip};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Returns a harmless library to preload in the place of the recorder.
fn library() -> Option<PathBuf> {
    let folders = ["/lib/x86_64-linux-gnu", "/lib64", "/usr/lib", "/lib/aarch64-linux-gnu", "/lib"];
    let found = folders.iter().map(|folder| Path::new(folder).join("libm.so.6")).find(|path| path.exists());
    if found.is_none() {
        skip(Need::System, "there is no library that could be preloaded");
    }
    found
}

/// Returns the launcher in a directory, without the environment of any mpirun.
fn launcher(directory: &Path, arguments: &[&str]) -> Option<Command> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_replay-record"));
    command.args(arguments).current_dir(directory).env("REPLAY_LIBRARY", library()?);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["OMPI_", "PMI", "SLURM_", "LD_PRELOAD", "REPLAY_LOG"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
        {
            command.env_remove(&*name);
        }
    }
    Some(command)
}

fn run(directory: &Path, arguments: &[&str]) -> Option<Output> {
    Some(launcher(directory, arguments)?.output().unwrap())
}

/// Returns a script that notes a recording, as a program with the recorder would.
fn recorded(experiment: &Path, end: &str) -> String {
    format!("echo '{}' >> \"$REPLAY_NOTE\"; {end}", experiment.display())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Waits for an action of another process.
fn wait_for(what: &str, is_done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_done() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{what} does not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn program_without_mpi_passes_through_silently() {
    let directory = fresh("passes_through");
    let Some(output) = run(&directory, &["sh", "-c", "echo out; echo err >&2; exit 3"]) else { return };
    assert_eq!(
        (output.status.code(), text(&output.stdout), text(&output.stderr)),
        (Some(3), "out\n".into(), "err\n".into())
    );
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "the note is gone");
}

#[test]
fn program_gets_the_recorder_its_settings_and_all_open_files() {
    let directory = fresh("gets_settings");
    fs::write(directory.join("text"), "open\n").unwrap();
    let script = "echo $LD_PRELOAD; echo $REPLAY_DEPTH; echo $REPLAY_OUTPUT; test -w $REPLAY_NOTE && cat <&7";
    let all = "exec 7<text; exec \"$@\"";
    let binary = env!("CARGO_BIN_EXE_replay-record");
    let Some(library) = library() else { return };
    let output = Command::new("sh")
        .args(["-c", all, "sh", binary, "--depth", "5", "-o", "run", "sh", "-c", script])
        .current_dir(&directory)
        .env("REPLAY_LIBRARY", &library)
        .env("LD_PRELOAD", "")
        .output()
        .unwrap();
    // It is no MPI program.
    assert!(text(&output.stderr).starts_with("replay-record: nothing was recorded"));
    let library = library.canonicalize().unwrap();
    let expected = format!("{}\n5\n{}\nopen\n", library.display(), directory.join("run").display());
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn program_is_stopped_after_the_time_that_is_asked_for_and_not_if_it_ends_before() {
    let directory = fresh("stop_after");
    let begin = Instant::now();
    let Some(output) = run(&directory, &["--stop-after", "1s", "sleep", "100"]) else { return };
    assert_eq!(output.status.signal(), Some(Signal::TERM.as_raw()));
    assert!(begin.elapsed() < Duration::from_secs(50));
    assert!(text(&output.stderr).contains("has not ended after 1 s: it is stopped"), "{output:?}");
    let before = run(&directory, &["--stop-after", "1h", "sh", "-c", "exit 3"]).unwrap();
    assert_eq!((before.status.code(), text(&before.stderr)), (Some(3), String::new()));
    let refused = run(&directory, &["--stop-after", "soon", "true"]).unwrap();
    assert_eq!(refused.status.code(), Some(125));
    assert!(text(&refused.stderr).contains("--stop-after is \"soon\", expected a time"), "{refused:?}");
}

#[test]
fn self_test_says_what_is_missing() {
    let directory = fresh("self_test");
    let Some(alone) = run(&directory, &["--self-test"]) else { return };
    assert_eq!(alone.status.code(), Some(125));
    assert!(text(&alone.stderr).contains("mpirun -n 2 replay-record --self-test, or"), "{alone:?}");
    let mut without_recorder = launcher(&directory, &["--self-test", "true"]).unwrap();
    let refused = without_recorder.env("REPLAY_LIBRARY", "/nowhere").output().unwrap();
    assert_eq!(refused.status.code(), Some(125));
    assert!(text(&refused.stderr).contains("/nowhere: cannot find the recorder"), "{refused:?}");
    // One of many says it.
    let mut second = launcher(&directory, &["--self-test"]).unwrap();
    second.envs([("PMI_RANK", "1"), ("PMI_SIZE", "2"), ("REPLAY_LIBRARY", "/nowhere")]);
    let silent = second.output().unwrap();
    assert_eq!((silent.status.code(), text(&silent.stderr)), (Some(125), String::new()));
    let copy = directory.join("replay-record");
    fs::copy(env!("CARGO_BIN_EXE_replay-record"), &copy).unwrap();
    let mut without_analyzer = Command::new(&copy);
    without_analyzer.args(["--self-test", "/bin/true"]).env("REPLAY_LIBRARY", library().unwrap());
    let refused = without_analyzer.env("PATH", &directory).output().unwrap();
    assert_eq!(refused.status.code(), Some(125));
    let expected = format!("there is no replay-analyze beside {}", copy.display());
    assert!(text(&refused.stderr).contains(&expected), "{refused:?}");
    // A launcher that starts nothing.
    let nothing = run(&directory, &["--self-test", "no-such-mpirun"]).unwrap();
    assert!(nothing.status.code() == Some(127) || nothing.status.code() == Some(125), "{nothing:?}");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1, "only the copy is left");
}

#[test]
fn defaults_of_the_site_are_those_beside_the_programs() {
    let directory = fresh("site");
    let [bin, etc] = ["bin", "etc"].map(|name| directory.join(name));
    for folder in [&bin, &etc] {
        fs::create_dir(folder).unwrap();
    }
    let installed = bin.join("replay-record");
    fs::copy(env!("CARGO_BIN_EXE_replay-record"), &installed).unwrap();
    let file = etc.join("replay.conf");
    let Some(library) = library() else { return };
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&installed);
        command.args(arguments).current_dir(&directory).env("REPLAY_LIBRARY", &library);
        command.env_remove("REPLAY_DEPTH").output().unwrap()
    };
    fs::write(&file, "REPLAY_DEPTH=7\nREPLAY_HELP=help: someone@example.org # or\n").unwrap();
    let print = ["sh", "-c", "echo $REPLAY_DEPTH"];
    assert_eq!(text(&run(&print).stdout), "7\n");
    assert_eq!(text(&run(&[&["--depth", "3"][..], &print].concat()).stdout), "3\n");
    let experiment = directory.join("run");
    ring(&experiment, 2, 1);
    let completed = run(&["--finish-detached", experiment.to_str().unwrap()]);
    let help = "replay-record: help: someone@example.org\n";
    assert!(text(&completed.stderr).ends_with(help), "{completed:?}");
    fs::write(&file, "\nREPLAY_DEEP=7\n").unwrap();
    let refused = run(&print);
    assert_eq!((refused.status.code(), text(&refused.stdout)), (Some(125), String::new()));
    let expected =
        format!("{}: line 2: there is no variable \"REPLAY_DEEP\"", file.canonicalize().unwrap().display());
    assert!(text(&refused.stderr).contains(&expected), "{refused:?}");
    // What is recorded can be completed all the same.
    let again = directory.join("again");
    ring(&again, 2, 1);
    assert!(run(&["--finish", again.to_str().unwrap()]).status.success());
}

#[test]
fn slurm_passes_the_signal_on_to_ranks_that_its_launcher_has_started() {
    let directory = fresh("stop_after_srun");
    let write = |name: &str, script: &str| {
        use std::os::unix::fs::PermissionsExt;
        let path = directory.join(name);
        fs::write(&path, script).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    write("srun", "#!/bin/sh\necho $$ >process\ntrap 'exit 7' USR1\nwhile :; do sleep 0.1; done\n");
    write("scancel", "#!/bin/sh\necho \"$@\" >asked\nkill -USR1 $(cat process)\n");
    let Some(mut command) = launcher(&directory, &["--stop-after", "1s", "./srun", "app"]) else { return };
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
    let output = command.env("PATH", path).env("SLURM_JOB_ID", "17").output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert_eq!(fs::read_to_string(directory.join("asked")).unwrap(), "--signal=TERM 17\n");
}

#[test]
fn program_that_cannot_be_started_ends_as_in_a_shell() {
    let directory = fresh("cannot_start");
    let Some(output) = run(&directory, &["no-such-program"]) else { return };
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).starts_with("replay-record: no-such-program: cannot start the program"));
    fs::write(directory.join("text"), "x").unwrap();
    assert_eq!(run(&directory, &["./text"]).unwrap().status.code(), Some(126));
    for arguments in [&["--buffer", "1", "true"][..], &["--nonsense"], &[]] {
        assert_eq!(run(&directory, arguments).unwrap().status.code(), Some(125), "{arguments:?}");
    }
    let mut without = launcher(&directory, &["true"]).unwrap();
    let output = without.env("REPLAY_LIBRARY", "/nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(text(&output.stderr).contains("/nowhere"));
}

#[test]
fn help_that_cannot_be_written_is_reported_and_a_reader_that_goes_away_is_not() {
    let directory = fresh("help");
    for option in ["-h", "--help", "--version"] {
        let Some(mut command) = launcher(&directory, &[option]) else { return };
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{option}");
        let Ok(full) = fs::File::options().write(true).open("/dev/full") else { continue };
        let output = command.stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{option}");
        let message = text(&output.stderr);
        assert!(message.starts_with("replay-record: cannot write to standard output: No space"), "{message}");
    }
}

#[test]
fn diagnostics_tell_what_the_launcher_does() {
    let directory = fresh("diagnostics");
    let experiment = directory.join("run");
    ring(&experiment, 2, 1);
    let script = recorded(&experiment, "echo out");
    let Some(mut command) = launcher(&directory, &["--depth", "5", "sh", "-c", &script]) else { return };
    let output = command.env("REPLAY_LOG", "launcher=debug").output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "out\n".into()));
    let said = text(&output.stderr);
    for (part, count) in [
        ("(\"REPLAY_DEPTH\", \"5\")", 1),
        ("program started process=", 1),
        ("program ended end=Exit(0)", 1),
        ("recording noted directory=", 1),
        ("event file complete location=", 2),
        ("archive complete directory=", 1),
    ] {
        let lines = said.lines().filter(|line| line.contains(" DEBUG launcher::") && line.contains(part));
        assert_eq!(lines.count(), count, "{part}\n{said}");
    }
    let others: Vec<&str> = said.lines().filter(|line| !line.contains(" DEBUG launcher::")).collect();
    assert!(matches!(others[..], [line] if line.starts_with("replay-record: wrote run ")), "{said}");
}

#[test]
fn wrong_filter_of_diagnostics_is_told_and_nothing_is_started() {
    let directory = fresh("wrong_filter");
    for (arguments, status) in [(&["touch", "started"][..], 125), (&["--finish", "run"], 2)] {
        let Some(mut command) = launcher(&directory, arguments) else { return };
        let output = command.env("REPLAY_LOG", "launcher=loud").output().unwrap();
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{message}");
        assert!(
            message.starts_with("replay-record: REPLAY_LOG is \"launcher=loud\", expected "),
            "{message}"
        );
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn launcher_dies_of_the_signal_that_its_program_died_of() {
    let directory = fresh("dies_of_signal");
    for (name, number) in [("TERM", 15), ("KILL", 9), ("SEGV", 11), ("ABRT", 6), ("USR1", 10)] {
        let Some(output) = run(&directory, &["sh", "-c", &format!("kill -{name} $$")]) else { return };
        assert_eq!(output.status.signal(), Some(number), "{name}");
    }
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "no core dump, no note");
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), signal).unwrap();
}

#[test]
fn signals_are_passed_on() {
    let directory = fresh("passed_on");
    let script = "trap 'echo got; exit 7' TERM; trap 'echo one' USR1; echo ready > ready; while :; do sleep 0.01; done";
    let Some(mut command) = launcher(&directory, &["sh", "-c", script]) else { return };
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    wait_for("the program's start", || directory.join("ready").exists());
    send(&child, Signal::USR1);
    std::thread::sleep(Duration::from_millis(100));
    send(&child, Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(7), "one\ngot\n".into()));
}

#[test]
fn what_is_ignored_stays_ignored() {
    let directory = fresh("ignored");
    let binary = env!("CARGO_BIN_EXE_replay-record");
    let Some(library) = library() else { return };
    let script = format!("trap '' HUP; exec '{binary}' grep SigIgn /proc/self/status");
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(&directory)
        .env("REPLAY_LIBRARY", library)
        .output();
    let ignored = text(&output.unwrap().stdout);
    let bits = u64::from_str_radix(ignored.trim_start_matches("SigIgn:").trim(), 16).unwrap();
    assert_eq!(bits & 1, 1, "{ignored}");
}

#[test]
fn program_does_not_outlive_a_launcher_that_is_killed() {
    let directory = fresh("killed_launcher");
    let Some(mut command) = launcher(&directory, &["sh", "-c", "echo $$ > pid; exec sleep 100"]) else {
        return;
    };
    let mut child = command.spawn().unwrap();
    wait_for("the program's start", || {
        fs::read_to_string(directory.join("pid")).is_ok_and(|text| !text.is_empty())
    });
    send(&child, Signal::KILL);
    child.wait().unwrap();
    let process = fs::read_to_string(directory.join("pid")).unwrap();
    let status = PathBuf::from(format!("/proc/{}/stat", process.trim()));
    wait_for("the program's end", || {
        fs::read_to_string(&status).map_or(true, |status| status.contains(") Z"))
    });
}

#[test]
fn what_was_noted_is_completed() {
    let directory = fresh("front");
    let experiment = directory.join("run");
    let events = ring(&experiment, 4, 5);
    let Some(output) = run(&directory, &["sh", "-c", &recorded(&experiment, "echo out")]) else { return };
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "out\n".into()));
    let message = text(&output.stderr);
    assert!(message.starts_with("replay-record: wrote run (4 processes, 128 events, "), "{message}");
    assert_eq!(message.lines().count(), 1);
    assert_eq!(check(&experiment), events);
}

#[test]
fn program_that_died_is_completed_too() {
    let directory = fresh("front_died");
    let experiment = directory.join("run");
    ring(&experiment, 2, 5);
    let journal = layout::journal(&experiment, 1);
    let whole = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, &whole[..whole.rfind("{\"entry\":\"end\"").unwrap()]).unwrap();
    let Some(output) = run(&directory, &["sh", "-c", &recorded(&experiment, "kill -9 $$")]) else { return };
    assert_eq!(output.status.signal(), Some(9));
    let message = text(&output.stderr);
    assert!(
        message.contains(
            "1 of 2 processes came to their exit; rank 1 did not: killed, aborted, or ended by _exit; nothing"
        ),
        "{message}"
    );
    check(&experiment);
}

/// Starts a launcher as a rank of Open MPI's mpirun.
fn rank(directory: &Path, experiment: &Path, rank: u32, size: u32, end: &str) -> Option<Child> {
    let mut command = launcher(directory, &["sh", "-c", &recorded(experiment, end)])?;
    command.env("OMPI_COMM_WORLD_RANK", rank.to_string()).env("OMPI_COMM_WORLD_SIZE", size.to_string());
    Some(command.stderr(Stdio::piped()).spawn().unwrap())
}

#[test]
fn last_of_many_launchers_completes() {
    let directory = fresh("many");
    let experiment = directory.join("run");
    let events = ring(&experiment, 4, 5);
    let ranks: Vec<_> =
        (0..4).filter_map(|at| rank(&directory, &experiment, at, 4, &format!("sleep 0.{at}"))).collect();
    let outputs: Vec<_> = ranks.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let messages: Vec<_> =
        outputs.iter().map(|output| text(&output.stderr)).filter(|text| !text.is_empty()).collect();
    if outputs.is_empty() {
        return;
    }
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].contains("wrote run (4 processes"), "{messages:?}");
    assert_eq!(check(&experiment), events);
}

#[test]
fn launcher_in_front_of_mpirun_within_a_job_does_not_wait_for_others() {
    let directory = fresh("front_in_job");
    let experiment = directory.join("run");
    ring(&experiment, 4, 5);
    let Some(child) = rank(&directory, &experiment, 0, 1, "true") else { return };
    assert!(text(&child.wait_with_output().unwrap().stderr).contains("wrote run"));
    check(&experiment);
}

#[test]
fn archive_is_completed_although_a_launcher_was_killed() {
    let directory = fresh("launcher_killed");
    let experiment = directory.join("run");
    let events = ring(&experiment, 2, 5);
    // The recording is of a program that is dead, on this host.
    for number in 0..2 {
        let journal = layout::journal(&experiment, number);
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let text = fs::read_to_string(&journal).unwrap();
        fs::write(&journal, text.replace("nowhere", &host).replace("\"process\":8", "\"process\":4194304"))
            .unwrap();
    }
    let Some(killed) = rank(&directory, &experiment, 1, 2, "echo x > started; exec sleep 100") else {
        return;
    };
    wait_for("the start of rank 1", || directory.join("started").exists());
    let aborted = rank(&directory, &experiment, 0, 2, "exit 1").unwrap();
    send(&killed, Signal::KILL);
    // Their guardians hold the other ends of standard error; one of them completes.
    let outputs = [killed, aborted].map(|child| child.wait_with_output().unwrap());
    assert_eq!((outputs[0].status.signal(), outputs[1].status.code()), (Some(9), Some(1)));
    let message: String = outputs.iter().map(|output| text(&output.stderr)).collect();
    assert_eq!(message.matches("wrote run (2 processes").count(), 1, "{message}");
    assert_eq!(check(&experiment), events);
}

#[test]
fn finish_completes_what_was_left_and_says_so_with_its_status() {
    let directory = fresh("finish");
    let one = directory.join("one");
    ring(&one, 2, 5);
    let finish = |name: &str| {
        let output = run(&directory, &["--finish", name])?;
        Some((output.status.code().unwrap(), text(&output.stderr)))
    };
    let Some((status, message)) = finish("one") else { return };
    assert!(
        status == 0 && message.starts_with("replay-record: wrote one (2 processes, "),
        "{status}: {message}"
    );
    assert_eq!(finish("one"), Some((0, "replay-record: one is complete already\n".into())));
    let (status, message) = finish("nothing").unwrap();
    assert!(status == 2 && message.contains("nothing: there is neither"), "{status}: {message}");
    let lossy = directory.join("lossy");
    ring(&lossy, 2, 5);
    fs::write(layout::buffer(&lossy, 1), "x").unwrap();
    let (status, message) = finish("lossy").unwrap();
    assert!(status == 1 && message.contains("its buffer is of no use"), "{status}: {message}");
}

#[test]
fn program_that_still_records_is_left_alone() {
    let directory = fresh("still_running");
    let experiment = directory.join("run");
    ring(&experiment, 1, 5);
    let journal = layout::journal(&experiment, 0);
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let own = format!("\"process\":{}", std::process::id());
    let changed =
        fs::read_to_string(&journal).unwrap().replace("nowhere", &host).replace("\"process\":7", &own);
    fs::write(&journal, changed).unwrap();
    // A mapping for writing decides; one of this process's own, as the recorder makes them.
    let file = experiment.join(layout::RECORDING).join("mapped");
    let mapped = GrowingFile::create(&file, 1 << 20).unwrap();
    let refused = launcher::finish(&experiment, None).unwrap_err().to_string();
    assert!(refused.contains("still running: rank 0"), "{refused}");
    drop(mapped);
    // A reader does not write.
    fs::write(&file, vec![0; 1 << 20]).unwrap();
    let reading = otf2::FileBytes::open(&file).unwrap();
    assert!(launcher::finish(&experiment, None).is_ok());
    drop(reading);
}

#[test]
fn statically_linked_program_is_named_and_runs() {
    let directory = fresh("static");
    let source = directory.join("a.c");
    fs::write(&source, "int main(void) { return 5; }\n").unwrap();
    let built = Command::new("cc").args(["-static", "-o"]).arg(directory.join("a")).arg(&source).output();
    if !built.is_ok_and(|built| built.status.success()) {
        skip(Need::Compiler, "a statically linked program: the compiler cannot make one");
        return;
    }
    let Some(output) = run(&directory, &["./a"]) else { return };
    assert_eq!(output.status.code(), Some(5));
    assert!(text(&output.stderr).contains("./a is statically linked"), "{}", text(&output.stderr));
}
