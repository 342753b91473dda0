//! Command line, configuration file and environment: one table, that of `recording`, for all of them.

use crate::Error;
use crate::jobscripts;
use crate::self_test;
use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use recording::settings::{EventRecords, Settings, VARIABLES, Variable};
use std::ffi::OsString;
use std::path::PathBuf;

/// The task of a command line.
#[derive(Clone, PartialEq, Debug)]
pub enum Task {
    /// Run a program and record it.
    Record {
        /// The program and its arguments.
        command: Vec<OsString>,
        /// Variables for the recorder that the environment does not have, or has with other values.
        variables: Vec<(&'static str, String)>,
        /// All settings.
        settings: Box<Settings>,
    },
    /// Record and analyse the program of the self-test.
    SelfTest {
        /// The launcher that starts it, with its options; empty if this process is one of those that a launcher has started.
        launcher: Vec<OsString>,
        /// Variables for the recorder, as above.
        variables: Vec<(&'static str, String)>,
        /// All settings.
        settings: Box<Settings>,
    },
    /// Be the program of the self-test, and write to a file which MPI that is.
    SelfTestProgram(PathBuf),
    /// Complete archives.
    Finish {
        /// The experiment directories.
        directories: Vec<PathBuf>,
        /// The event records of the archives, if not those that were chosen for the recordings.
        records: Option<EventRecords>,
    },
    /// Complete an archive, as the launcher itself does at the end of a program.
    FinishDetached(PathBuf),
    /// Guard a launcher that has this note.
    Guard(PathBuf),
    /// Write manual pages and completions of shells below a directory.
    Manual(PathBuf),
    /// Print a text.
    Print(String),
}

const AFTER_HELP: &str = "\
replay-record mpirun -n 4 ./app and mpirun -n 4 replay-record ./app do the same. \
With Open MPI on several nodes, use the second if mpirun has options -x.

The exit status is that of the program; 125 if replay-record fails before it starts the program, \
126 if the program cannot be executed, 127 if there is no such program. \
If the program dies of a signal, so does replay-record.

With --finish: 0 if all archives are complete, 1 if something that was recorded is lost, 2 if one is not complete. \
With --self-test: 0 if all is as expected, 1 if it is not, 125 if the test could not begin.";

/// The variable that `--estimate` sets, too.
const PROFILE: &str = "REPLAY_PROFILE";

/// Returns the definition of the command line.
pub fn command() -> Command {
    let mut command = Command::new("replay-record")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Runs an MPI program and records it: leaves an experiment directory with an OTF2 archive")
        .override_usage("replay-record [OPTIONS] [--] PROGRAM [ARGUMENTS]...\n       replay-record --finish DIR...\n       mpirun -n 2 replay-record --self-test")
        .after_help(AFTER_HELP)
        .arg(
            Arg::new("command")
                .value_name("PROGRAM")
                .help("The program, or mpirun with one, and its arguments")
                .value_parser(value_parser!(OsString))
                .num_args(1..)
                .trailing_var_arg(true)
                .required_unless_present_any([
                    "finish",
                    "jobscript",
                    "self-test",
                    self_test::PROGRAM,
                    "finish-detached",
                    "guard",
                    "manual",
                ]),
        )
        .arg(
            Arg::new("finish")
                .long("finish")
                .value_name("DIR")
                .help("Complete the archives of programs that were killed together with replay-record")
                .value_parser(value_parser!(PathBuf))
                .num_args(1..)
                .conflicts_with("command"),
        )
        .arg(
            Arg::new("jobscript")
                .long("jobscript")
                .value_name("NAME")
                .help("Print a script for a batch system, to be copied and changed, such as slurm-record-analyze; list prints all names")
                .conflicts_with_all(["command", "finish"]),
        )
        .arg(
            Arg::new("self-test")
                .long("self-test")
                .action(ArgAction::SetTrue)
                .help("Record a small program with the MPI at hand, analyse it, compare the result with what it must be, and print a paragraph for a report of errors; PROGRAM, if there is one, is the launcher alone: mpirun -n 2")
                .conflicts_with_all(["finish", "jobscript"]),
        )
        .arg(hidden(self_test::PROGRAM))
        .arg(hidden("finish-detached"))
        .arg(hidden("guard"))
        .arg(hidden("manual"))
        .arg(
            Arg::new("config")
                .long("config")
                .value_name("FILE")
                .help("Read variables from FILE: lines NAME=VALUE, # begins a comment; options and environment count more")
                .value_parser(value_parser!(PathBuf)),
        );
    for variable in VARIABLES {
        command = command.arg(option(variable));
    }
    command.arg(
        Arg::new("estimate")
            .long("estimate")
            .action(ArgAction::SetTrue)
            .help("Do not record, but say how large a full trace of this run would be and what would save most of it; the same as --profile=estimate. Leaves nothing unless there is --output")
            .conflicts_with_all(["finish", PROFILE]),
    )
}

/// Returns an option for the launcher's own use.
fn hidden(name: &'static str) -> Arg {
    let arg = Arg::new(name).long(name).hide(true).value_parser(value_parser!(PathBuf));
    arg.conflicts_with_all(["command", "finish"])
}

/// Returns the option of a variable: `--clock-interval` for `REPLAY_CLOCK_INTERVAL`.
fn option(variable: &'static Variable) -> Arg {
    let long = long(variable);
    let default = if variable.default.is_empty() { "none" } else { variable.default };
    let arg = Arg::new(variable.name)
        .long(long)
        .value_name("VALUE")
        .help(format!("{} [{}; default: {default}]", variable.meaning, variable.name))
        .value_parser(NonEmptyStringValueParser::new())
        .allow_hyphen_values(true)
        .action(ArgAction::Set);
    match variable.name {
        "REPLAY_OUTPUT" => arg.short('o').value_name("DIR"),
        // Without a value it means 1; a value needs its equals sign, as the program comes next.
        PROFILE | "REPLAY_NO_ARGUMENTS" | "REPLAY_ANONYMOUS" => {
            arg.num_args(0..=1).require_equals(true).default_missing_value("1")
        }
        _ => arg,
    }
}

fn long(variable: &Variable) -> String {
    variable.name.trim_start_matches("REPLAY_").to_ascii_lowercase().replace('_', "-")
}

/// Returns what is wrong with a variable, by the name of its option if the user has set it so.
fn as_it_was_said(problem: String, is_option: impl Fn(&str) -> bool) -> String {
    let (name, rest) = problem.split_once(' ').unwrap_or_default();
    match VARIABLES.iter().find(|variable| variable.name == name && is_option(name)) {
        Some(variable) => format!("--{} {rest}", long(variable)),
        None => problem,
    }
}

/// Returns the task of the command line, checked. `environment` looks up a variable; `site` has the defaults of the site, or what is
/// wrong with them.
///
/// # Errors
/// If the configuration file or the defaults cannot be read, or a value is impossible.
pub fn task(
    matches: &ArgMatches,
    environment: impl Fn(&str) -> Option<String>,
    site: Result<&site::Variables, &str>,
) -> Result<Task, Error> {
    if let Some(directory) = matches.get_one::<PathBuf>("finish-detached") {
        return Ok(Task::FinishDetached(directory.clone()));
    }
    if let Some(note) = matches.get_one::<PathBuf>("guard") {
        return Ok(Task::Guard(note.clone()));
    }
    if let Some(directory) = matches.get_one::<PathBuf>("manual") {
        return Ok(Task::Manual(directory.clone()));
    }
    if let Some(introduction) = matches.get_one::<PathBuf>(self_test::PROGRAM) {
        return Ok(Task::SelfTestProgram(introduction.clone()));
    }
    if let Some(name) = matches.get_one::<String>("jobscript") {
        return jobscripts::find(name).map(Task::Print);
    }
    let file = match matches.get_one::<PathBuf>("config") {
        Some(path) => site::Variables::read(path).map_err(Error::new)?,
        None => site::Variables::default(),
    };
    file.check(is_of_recorder).map_err(Error::new)?;
    let no_defaults = site::Variables::default();
    let site = match site {
        Ok(site) => site,
        // What was recorded has to be completed, whatever the site has written meanwhile.
        Err(_) if matches.contains_id("finish") => &no_defaults,
        Err(problem) => return Err(Error::new(problem)),
    };
    let option = |name: &str| match name {
        PROFILE if matches.get_flag("estimate") => Some("estimate".to_string()),
        _ => matches.get_one::<String>(name).cloned(),
    };
    let refused = |problem: String| Error::new(as_it_was_said(problem, |name| option(name).is_some()));
    let is_self_test = matches.get_flag("self-test");
    let value = |name: &str| {
        let in_file = || file.get(name).or_else(|| site.get(name)).map(str::to_owned);
        let chosen = option(name).or_else(|| environment(name)).or_else(in_file);
        if is_self_test { self_test::value(name, chosen) } else { chosen }
    };
    if let Some(directories) = matches.get_many::<PathBuf>("finish") {
        let records = value("REPLAY_RECORDS").filter(|value| !value.is_empty());
        let records = records.map(|value| EventRecords::read(&value)).transpose().map_err(refused)?;
        return Ok(Task::Finish { directories: directories.cloned().collect(), records });
    }
    let settings = Settings::read(value).map_err(refused)?;
    if let Some(filter) = &settings.filter {
        recording::filter::read(filter).map_err(Error::new)?;
    }
    let mut variables = Vec::new();
    for variable in VARIABLES {
        let Some(mut value) = value(variable.name).filter(|value| !value.is_empty()) else { continue };
        // Ranks need not run in the directory of the launcher.
        if ["REPLAY_OUTPUT", "REPLAY_FILTER"].contains(&variable.name)
            && let Ok(absolute) = std::path::absolute(&value)
            && let Some(absolute) = absolute.to_str()
        {
            value = absolute.to_string();
        }
        variables.push((variable.name, value));
    }
    let command = matches.get_many::<OsString>("command").into_iter().flatten().cloned().collect();
    let settings = Box::new(settings);
    Ok(match is_self_test {
        true => Task::SelfTest { launcher: command, variables, settings },
        false => Task::Record { command, variables, settings },
    })
}

/// Whether there is a variable of the recorder with this name.
fn is_of_recorder(name: &str) -> bool {
    VARIABLES.iter().any(|variable| variable.name == name)
}

/// Reads the defaults of the site.
///
/// # Errors
/// If they cannot be read, or name a variable that no program has.
pub fn site_defaults() -> Result<&'static site::Variables, String> {
    let site = site::Variables::of_site().map_err(str::to_owned)?;
    site.check(|name| is_of_recorder(name) || site::OTHERS.contains(&name))?;
    Ok(site)
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::settings::ProfileMode;
    use std::fs;
    use std::path::Path;

    fn asked(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Task, String> {
        let all = std::iter::once("replay-record").chain(arguments.iter().copied());
        let matches = command().try_get_matches_from(all).map_err(|error| error.to_string())?;
        let get =
            |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, v)| v.to_string());
        task(&matches, get, Ok(&site::Variables::default())).map_err(|error| error.to_string())
    }

    #[test]
    fn command_line_is_consistent() {
        command().debug_assert();
        let help = command().render_long_help().to_string();
        for variable in VARIABLES {
            assert!(
                help.contains(variable.name) && help.contains(&format!("--{}", long(variable))),
                "{help}"
            );
        }
    }

    #[test]
    fn options_end_where_the_program_begins() {
        let Ok(Task::Record { command, variables, settings }) =
            asked(&["--depth", "3", "mpirun", "-n", "4", "--depth", "x", "--", "a"], &[])
        else {
            panic!("no program")
        };
        assert_eq!(command, ["mpirun", "-n", "4", "--depth", "x", "--", "a"]);
        assert_eq!(variables, [("REPLAY_DEPTH", "3".to_string())]);
        assert_eq!(settings.depth, 3);
        let Ok(Task::Record { command, .. }) = asked(&["--", "-x", "y"], &[]) else { panic!("no program") };
        assert_eq!(command, ["-x", "y"]);
        assert!(asked(&[], &[]).is_err());
    }

    #[test]
    fn option_counts_more_than_environment_and_that_more_than_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("replay.conf");
        fs::write(&file, "# all\nREPLAY_DEPTH = 1\nREPLAY_SAMPLE=2 # two\n\nREPLAY_BUFFER=2M\n").unwrap();
        let file = file.to_str().unwrap();
        let environment = [("REPLAY_DEPTH", "5"), ("REPLAY_SAMPLE", "6")];
        let Ok(Task::Record { settings, variables, .. }) =
            asked(&["--config", file, "--depth=9", "a"], &environment)
        else {
            panic!("no program")
        };
        assert_eq!((settings.depth, settings.sample, settings.buffer), (9, 6, 2 << 20));
        assert_eq!(variables.len(), 3);
    }

    #[test]
    fn profile_needs_no_value_and_estimate_is_a_profile() {
        let profile = |arguments: &[&str]| match asked(arguments, &[("REPLAY_PROFILE", "0")]) {
            Ok(Task::Record { command, settings, .. }) if command == ["a"] => Some(settings.profile),
            _ => None,
        };
        assert_eq!(profile(&["a"]), Some(ProfileMode::No));
        assert_eq!(profile(&["--profile", "a"]), Some(ProfileMode::Report));
        assert_eq!(profile(&["--profile=0", "a"]), Some(ProfileMode::No));
        assert_eq!(profile(&["--estimate", "a"]), Some(ProfileMode::Estimate));
        assert_eq!(profile(&["--profile=2", "a"]), None);
        assert_eq!(profile(&["--estimate", "--profile", "a"]), None);
    }

    #[test]
    fn file_has_variables_of_the_recorder() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("replay.conf");
        fs::write(&file, "REPLAY_DEPTH=1\nREPLAY_MPI=x\n").unwrap();
        let refused = asked(&["--config", file.to_str().unwrap(), "a"], &[]).unwrap_err();
        assert!(refused.ends_with("replay.conf: line 2: there is no variable \"REPLAY_MPI\""), "{refused}");
        assert!(asked(&["--config", "/nowhere", "a"], &[]).unwrap_err().contains("/nowhere"));
    }

    #[test]
    fn defaults_of_the_site_count_less_than_all_else() {
        let directory = tempfile::tempdir().unwrap();
        let [own, of_site] = ["own.conf", "replay.conf"].map(|name| directory.path().join(name));
        fs::write(&own, "REPLAY_DEPTH=2\n").unwrap();
        fs::write(&of_site, "REPLAY_DEPTH=1\nREPLAY_SAMPLE=3\nREPLAY_BUFFER=2M\nREPLAY_ANONYMOUS=1\n")
            .unwrap();
        let site = site::Variables::read(&of_site).unwrap();
        let arguments = ["replay-record", "--config", own.to_str().unwrap(), "--buffer", "4M", "a"];
        let matches = command().try_get_matches_from(arguments).unwrap();
        let environment = |name: &str| (name == "REPLAY_SAMPLE").then(|| "5".to_owned());
        let Ok(Task::Record { settings, variables, .. }) = task(&matches, environment, Ok(&site)) else {
            panic!("no program")
        };
        assert_eq!((settings.depth, settings.sample, settings.buffer), (2, 5, 4 << 20));
        assert!(settings.anonymous && !settings.arguments && variables.len() == 4, "{variables:?}");
        let refused = task(&matches, environment, Err("it is wrong")).unwrap_err();
        assert_eq!(refused.to_string(), "it is wrong");
        // Recordings are completed all the same.
        let matches = command().try_get_matches_from(["replay-record", "--finish", "a"]).unwrap();
        assert!(task(&matches, environment, Err("it is wrong")).is_ok());
    }

    #[test]
    fn arguments_and_names_are_left_out_if_that_is_asked_for() {
        let of = |arguments: &[&str]| match asked(arguments, &[]) {
            Ok(Task::Record { command, settings, .. }) if command == ["a"] => {
                Some((settings.arguments, settings.anonymous))
            }
            _ => None,
        };
        assert_eq!(of(&["a"]), Some((true, false)));
        assert_eq!(of(&["--no-arguments", "a"]), Some((false, false)));
        assert_eq!(of(&["--anonymous", "a"]), Some((false, true)));
        assert_eq!(of(&["--no-arguments=0", "--anonymous=0", "a"]), Some((true, false)));
        assert_eq!(of(&["--anonymous=yes", "a"]), None);
    }

    #[test]
    fn values_are_checked_before_anything_starts() {
        assert!(asked(&["--buffer", "1", "a"], &[]).unwrap_err().starts_with("--buffer is \"1\", "));
        assert!(asked(&["a"], &[("REPLAY_CLOCK", "sun")]).unwrap_err().contains("REPLAY_CLOCK"));
        let of_both = asked(&["--clock", "moon", "a"], &[("REPLAY_CLOCK", "sun")]);
        assert!(of_both.unwrap_err().starts_with("--clock is \"moon\", expected auto, "));
        assert!(asked(&["--counters", "luck", "a"], &[]).unwrap_err().starts_with("--counters has "));
        assert!(asked(&["--filter", "/nowhere", "a"], &[]).unwrap_err().contains("/nowhere"));
        let directory = tempfile::tempdir().unwrap();
        let filter = directory.path().join("filter");
        fs::write(&filter, "\nSCOREP_REGION_NAMES_BEGIN\nEXCLUDE *\n").unwrap();
        let refused = asked(&["--filter", filter.to_str().unwrap(), "a"], &[]).unwrap_err();
        assert!(refused.contains("filter: line 2: SCOREP_REGION_NAMES_BEGIN without"), "{refused}");
    }

    #[test]
    fn archives_get_the_records_that_are_asked_for_now() {
        let records = |arguments: &[&str], environment: &[(&str, &str)]| match asked(arguments, environment) {
            Ok(Task::Finish { records, .. }) => Some(records),
            _ => None,
        };
        assert_eq!(records(&["--finish", "a"], &[("REPLAY_RECORDS", "")]), Some(None));
        let plain = Some(Some(EventRecords::EnterLeave));
        assert_eq!(records(&["--finish", "a", "--records", "enter-leave"], &[]), plain);
        assert_eq!(records(&["--finish", "a"], &[("REPLAY_RECORDS", "enter-leave")]), plain);
        let both = [("REPLAY_RECORDS", "enter-leave")];
        let contexts = records(&["--records=calling-contexts", "--finish", "a"], &both);
        assert_eq!(contexts, Some(Some(EventRecords::CallingContexts)));
        let wrong = asked(&["--finish", "a", "--records", "all"], &[]).unwrap_err();
        assert!(wrong.contains("--records is \"all\", expected calling-contexts or enter-leave"), "{wrong}");
    }

    #[test]
    fn self_test_needs_no_program_and_chooses_its_settings() {
        let environment = [("REPLAY_PROFILE", "1"), ("REPLAY_CLOCK", "monotonic")];
        let Ok(Task::SelfTest { launcher, variables, settings }) = asked(&["--self-test"], &environment)
        else {
            panic!("no self-test")
        };
        assert!(launcher.is_empty() && settings.profile == ProfileMode::No && settings.counters.len() == 3);
        assert!(variables.contains(&("REPLAY_CLOCK", "monotonic".into())), "{variables:?}");
        let Ok(Task::SelfTest { launcher, .. }) = asked(&["--self-test", "mpirun", "-n", "2"], &[]) else {
            panic!("no self-test")
        };
        assert_eq!(launcher, ["mpirun", "-n", "2"]);
        assert!(asked(&["--self-test", "--finish", "x"], &[]).is_err());
        let program = Task::SelfTestProgram("f".into());
        assert_eq!(asked(&["--self-test-program", "f"], &[]), Ok(program));
    }

    #[test]
    fn scripts_are_printed_by_name() {
        let Ok(Task::Print(script)) = asked(&["--jobscript", "slurm-analyze"], &[]) else {
            panic!("no script")
        };
        assert!(script.starts_with("#!/bin/bash\n"));
        assert!(asked(&["--jobscript", "x"], &[]).unwrap_err().contains("slurm-analyze"));
    }

    #[test]
    fn output_is_absolute_and_finish_takes_directories() {
        let Ok(Task::Record { variables, .. }) = asked(&["-o", "x", "a"], &[]) else { panic!("no program") };
        assert!(Path::new(&variables[0].1).is_absolute());
        let directories = vec!["a".into(), "b".into()];
        assert_eq!(asked(&["--finish", "a", "b"], &[]), Ok(Task::Finish { directories, records: None }));
        assert!(asked(&["--finish"], &[]).is_err());
    }
}
