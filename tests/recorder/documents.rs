//! Pages for users: the commands of the quick start and of the tutorial run, and what comes first in each
//! report of the tutorial is what comes first on its page; options that pages name exist.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use regex::Regex;
use skip::{Need, skip};

use crate::support::process::run;
use crate::support::record::clean;
use crate::support::turns::Turn;
use crate::support::{build, fresh, project};

/// How often the commands are run, if other programs of the machine change what is found.
const ATTEMPTS: usize = 5;

/// A command of a page, and what is printed below it.
#[derive(Debug)]
struct Example {
    command: String,
    output: String,
}

/// The commands of a page, in their order: lines that begin with `$`, with the indented lines below.
fn examples(page: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut is_below = false;
    for line in page.lines() {
        if let Some(command) = line.strip_prefix("    $ ") {
            found.push(Example { command: command.into(), output: String::new() });
            is_below = true;
        } else if is_below && (line.is_empty() || line.starts_with("    ")) {
            let output = &mut found.last_mut().unwrap().output;
            output.push_str(line.get(4..).unwrap_or_default());
            output.push('\n');
        } else {
            is_below = false;
        }
    }
    found
}

/// An installation in the folder `.local` of this one, as `make install PREFIX=$HOME/.local` makes it.
fn install(home: &Path) {
    let prefix = home.join(".local");
    for folder in ["bin", "include", "share/replay"] {
        fs::create_dir_all(prefix.join(folder)).unwrap();
    }
    // The recorder is found beside the file that the link leads to.
    let programs = [build::launcher(), build::viewer(), Path::new(env!("CARGO_BIN_EXE_replay-analyze"))];
    for program in programs {
        symlink(program, prefix.join("bin").join(program.file_name().unwrap())).unwrap();
    }
    symlink(project("measurement/include"), prefix.join("include/replay")).unwrap();
    symlink(project("tests/programs/tutorial"), prefix.join("share/replay/tutorial")).unwrap();
    symlink(project("tests/archives"), prefix.join("share/replay/archives")).unwrap();
}

/// Runs the commands of a page one after the other in one shell; returns what each has printed.
fn run_all(examples: &[Example], folder: &Path) -> Vec<String> {
    const END: &str = "=== end of the command ===";
    let commands = examples.iter().map(|example| format!("{}\necho '{END}'\n", example.command));
    let path = "export PATH=$HOME/.local/bin:$PATH";
    let script = format!("set -e\nexec 2>&1\n{path}\n{}", commands.collect::<String>());
    let mut shell = Command::new("sh");
    clean(&mut shell);
    shell.args(["-c", &script]).current_dir(folder);
    shell.envs([("HOME", folder.to_str().unwrap()), ("COLUMNS", "96"), ("LANG", "C.UTF-8")]);
    shell.envs([("OMPI_MCA_hwloc_base_binding_policy", "none"), ("OMPI_MCA_mpi_yield_when_idle", "1")]);
    let _turn = Turn::alone();
    let ended = run(&mut shell, folder);
    ended.expect_success();
    let mut printed: Vec<String> = ended.stdout.split(END).map(str::to_owned).collect();
    printed.pop();
    assert_eq!(printed.len(), examples.len());
    printed
}

/// The first finding of a screen of `replay-show`, and its kinds of waiting with a fifth of the time, the
/// largest first.
fn findings(screen: &str) -> (Option<&str>, Vec<&str>) {
    let first = screen.lines().find_map(|line| line.strip_prefix(" 1 ")?.split(": about").next());
    let times = screen.lines().skip_while(|line| *line != "Where time went").skip(1);
    let waiting = times.take_while(|line| !line.is_empty()).filter_map(|line| {
        let (name, values) = line.split_once("  ")?;
        let share: f64 = values.split('%').next()?.trim().parse().ok()?;
        ((name.starts_with("Wait") || name.starts_with("Late")) && share >= 20.0).then_some(name)
    });
    (first, waiting.collect())
}

/// Seconds and result of a program of the tutorial.
fn run_time(printed: &str) -> Option<(f64, &str)> {
    let line = printed.lines().find_map(|line| line.split_once(" steps in "))?.1;
    let (seconds, result) = line.split_once(" s, ")?;
    Some((seconds.parse().ok()?, result))
}

/// What is other than on the page.
fn differences(examples: &[Example], printed: &[String]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut times = Vec::new();
    let gain = Regex::new(r"≤ +[\d.]+ %.*without operations of many .* in residual/MPI_Allreduce").unwrap();
    for (example, printed) in examples.iter().zip(printed) {
        let command = &example.command;
        if command.starts_with("replay-record") {
            let (expected, found) = (run_time(&example.output).unwrap(), run_time(printed).unwrap());
            assert_eq!(expected.1, found.1, "{command}");
            times.push(found.0);
        } else if command.starts_with("replay-show run") {
            let (expected, found) = (findings(&example.output), findings(printed));
            // The last program has nothing that comes first each time.
            let is_last = command.ends_with("run5");
            if expected.1 != found.1 || (expected.0 != found.0 && !is_last) {
                wrong.push(format!("{command}: {found:?} instead of {expected:?}"));
            }
        } else if command.contains("--what-if") {
            assert!(gain.is_match(&example.output) && gain.is_match(printed), "{printed}");
        } else if command.starts_with("replay-show diff") {
            assert!(printed.contains("\n   waiting ") && printed.contains("−"), "{printed}");
        }
    }
    let [first, .., last] = times[..] else { panic!("{times:?}") };
    let is_faster = times[..4].is_sorted_by(|before, after| before > after);
    if times.len() != 5 || !is_faster || last > 0.7 * first {
        wrong.push(format!("run times are {times:?}"));
    }
    wrong
}

#[test]
fn commands_of_the_tutorial_find_what_it_says() {
    let Some(mpi) = build::mpi("tutorial") else { return };
    if !mpi.is_open_mpi || mpi.launcher != Path::new("mpirun") {
        skip(Need::System, "tutorial: its commands are for an mpirun of Open MPI, whose waiting ranks yield");
        return;
    }
    let page = fs::read_to_string(project("docs/tutorial.md")).unwrap();
    let examples = examples(&page);
    assert!(examples.len() > 20, "{examples:?}");
    let mut last = Vec::new();
    for _ in 0..ATTEMPTS {
        let folder = fresh("tutorial");
        install(&folder);
        last = differences(&examples, &run_all(&examples, &folder));
        if last.is_empty() {
            return;
        }
        println!("{last:?}");
    }
    panic!("{}", last.join("\n"));
}

#[test]
fn commands_of_the_quick_start_run() {
    let Some(mpi) = build::mpi("quick start") else { return };
    if mpi.launcher != Path::new("mpirun") {
        skip(Need::System, "quick start: its commands are for a launcher that is called mpirun");
        return;
    }
    let Some(program) = build::program(mpi, "tutorial/5_output.c") else { return };
    let page = fs::read_to_string(project("docs/quickstart.md")).unwrap();
    // Lines of code, and spans of code in the text.
    let code = page.lines().flat_map(|line| match line.strip_prefix("    ") {
        Some(command) => vec![command],
        None => line.split('`').skip(1).step_by(2).collect(),
    });
    let is_run = |command: &&str| {
        let programs = ["replay-record ", "replay-analyze ", "replay-show "];
        programs.iter().any(|program| command.starts_with(program)) && !command.contains("python3")
    };
    let commands = code.filter(is_run);
    let examples: Vec<Example> =
        commands.map(|command| Example { command: command.into(), output: String::new() }).collect();
    assert!(examples.len() > 10, "{examples:?}");
    let folder = fresh("quick_start");
    install(&folder);
    symlink(&program[0], folder.join("app")).unwrap();
    let printed = run_all(&examples, &folder);
    assert!(printed.last().unwrap().contains("mean per location"), "{printed:?}");
}

#[test]
fn findings_of_a_screen_are_told_apart() {
    let page = "Text.\n\n    $ replay-show run1\n    Do first\n     1 Send earlier: about 1 s\n     \
                2 Balance: about 2 s\n\n    \
                Where time went\n    Computation      42.6 %  5 s\n    Wait at N x N    41.0 %  5 s\n    \
                Late Sender      14.2 %  1 s\n\n    More\n\nText.\n    $ a\n    b\n";
    let examples = examples(page);
    let commands: Vec<&str> = examples.iter().map(|example| example.command.as_str()).collect();
    assert_eq!(commands, ["replay-show run1", "a"]);
    assert_eq!(examples[1].output, "b\n");
    assert_eq!(findings(&examples[0].output), (Some("Send earlier"), vec!["Wait at N x N"]));
    assert_eq!(run_time("40 steps in 3.97 s, last change 1\nx"), Some((3.97, "last change 1")));
    let other = examples[0].output.replace("Send earlier", "Balance");
    assert_ne!(findings(&examples[0].output), findings(&other));
}

/// Options that a program knows, with all its commands, by its `--help`.
fn options(program: &Path) -> BTreeSet<String> {
    let option = Regex::new(r"--[a-z][a-z-]*").unwrap();
    let help = |arguments: &[&str]| {
        let printed = Command::new(program).args(arguments).output().unwrap();
        String::from_utf8(printed.stdout).unwrap()
    };
    let mut texts = vec![help(&["--help"])];
    if program.ends_with("replay-show") {
        let commands = texts[0].lines().skip_while(|line| *line != "Commands:").skip(1);
        let commands = commands.map_while(|line| line.split_whitespace().next());
        texts.extend(commands.map(|command| help(&[command, "--help"])).collect::<Vec<_>>());
    }
    texts.iter().flat_map(|text| option.find_iter(text).map(|found| found.as_str().to_owned())).collect()
}

#[test]
fn options_that_pages_for_users_name_exist() {
    if build::mpi("options on pages").is_none() {
        return;
    }
    let programs = [build::launcher(), Path::new(env!("CARGO_BIN_EXE_replay-analyze")), build::viewer()];
    let known = programs.map(|program| (program.file_name().unwrap().to_str().unwrap(), options(program)));
    let mut count = 0;
    for page in ["quickstart", "tutorial", "migrate", "site", "faq"] {
        let text = fs::read_to_string(project(&format!("docs/{page}.md"))).unwrap();
        // Commands are spans of code, or lines of code.
        let spans = text.split('`').skip(1).step_by(2).filter(|span| !span.contains('\n'));
        let lines = text.lines().filter(|line| line.starts_with("    "));
        for command in spans.chain(lines) {
            let mut program = None;
            for word in command.split([' ', '|', ';', '(', ')', ',']) {
                if let Some(named) = known.iter().find(|it| it.0 == word) {
                    program = Some(named);
                } else if ["mpirun", "srun", "./app", "…", "#"].contains(&word) {
                    // What follows is for another program.
                    program = None;
                } else if let (Some((name, options)), true) = (program, word.starts_with("--")) {
                    let option = word.split('=').next().unwrap().trim_end_matches('.');
                    assert!(
                        options.contains(option),
                        "docs/{page}.md: {name} has no option {option}: {command}"
                    );
                    count += 1;
                }
            }
        }
    }
    assert!(count > 40, "{count} options");
}
