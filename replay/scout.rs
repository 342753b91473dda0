//! The command line of Scalasca's trace analyzer, scout, which `replay-analyze` has when it is called by such a name: so `scan` can
//! start it (site 4.1).

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Arg, ArgAction, Command, CommandFactory, FromArgMatches};

use crate::cli::Cli;

const NO_ROOT_CAUSE: &str = "no-rootcause";
const NO_CRITICAL_PATH: &str = "no-critical-path";

/// Why an option of scout alone changes nothing.
const ONLY_BOTH: &str = "--no-rootcause and --no-critical-path save something together only: root causes and the critical path are \
                         computed at once";

/// Returns the name that `scan` wants the report to have, if a program with this name is scout: that up to the first dot.
pub(crate) fn link(program: &OsStr) -> Option<OsString> {
    let name = Path::new(program).file_name()?.to_str()?;
    let name = name.split('.').next().filter(|name| name.starts_with("scout"))?;
    Some(format!("{name}.cubex").into())
}

/// Reads the command line, whose report gets this second name.
///
/// # Errors
/// As clap does.
pub(crate) fn try_parse(
    words: impl IntoIterator<Item = OsString>,
    link: OsString,
) -> Result<Cli, clap::Error> {
    let matches = command().try_get_matches_from(words)?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    cli.link = Some(link);
    let asked = [NO_ROOT_CAUSE, NO_CRITICAL_PATH].map(|name| matches.get_flag(name));
    match asked {
        [true, true] => cli.no_root_causes = true,
        [false, false] => {}
        _ if cli.no_root_causes => {}
        _ => cli.remark = Some(ONLY_BOTH),
    }
    Ok(cli)
}

/// Returns the definition of the command line: that of `replay-analyze`, with scout's options. Of options that contradict each other
/// the last one counts, and none is wrong twice, as in scout.
fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        let arg = Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
        arg.help_heading("Options of scout")
    };
    Cli::command()
        .args_override_self(true)
        .mut_arg("clock_correction", |arg| arg.visible_alias("time-correct"))
        .mut_arg("no_root_causes", |arg| arg.visible_alias("single-pass"))
        .arg(flag("no-time-correct", "Do not correct clocks, the default").overrides_with("clock_correction"))
        .arg(
            flag("statistics", "Write statistics of wait states, the default")
                .overrides_with("no_statistics"),
        )
        .arg(flag("rootcause", "Find root causes, the default").overrides_with(NO_ROOT_CAUSE))
        .arg(flag(NO_ROOT_CAUSE, "Do not find root causes, if there is --no-critical-path, too"))
        .arg(flag("critical-path", "Find the critical path, the default").overrides_with(NO_CRITICAL_PATH))
        .arg(flag(NO_CRITICAL_PATH, "Do not find the critical path, if there is --no-rootcause, too"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(options: &str) -> Cli {
        let words = ["scout.replay"].into_iter().chain(options.split_whitespace()).chain(["exp/traces.otf2"]);
        try_parse(words.map(Into::into), "scout.cubex".into()).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn scout_is_known_by_its_name() {
        let link = |name: &str| link(name.as_ref());
        assert_eq!(link("/opt/libexec/replay/scout.replay"), Some("scout.cubex".into()));
        assert_eq!(link("scout-new.mpi.x"), Some("scout-new.cubex".into()));
        assert_eq!(link("/scout.d/replay-analyze"), None);
        assert_eq!(link(""), None);
    }

    #[test]
    fn command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn options_of_scout_are_those_of_the_analyzer() {
        let options = |line: &str| asked(line).options(1);
        let plain = options("");
        assert!(plain.causes && plain.statistics && !plain.clock_correction && !plain.force);
        assert_eq!(plain.experiment, Path::new("exp/traces.otf2"));
        assert_eq!(plain.link, Some("scout.cubex".into()));
        assert!(options("--time-correct").clock_correction);
        assert!(!options("--time-correct --no-time-correct").clock_correction);
        assert!(options("--no-time-correct --time-correct --time-correct").clock_correction);
        assert!(!options("--single-pass").causes);
        assert!(!options("--no-statistics").statistics && options("--no-statistics --statistics").statistics);
        assert!(asked("-v").verbose && asked("--verbose").verbose);
        // Own options pass.
        let own = options("--force --memory 1G --no-root-causes");
        assert!(own.force && own.memory.is_some() && !own.causes);
    }

    #[test]
    fn root_causes_are_left_out_with_the_critical_path_only() {
        let both = asked("--no-critical-path --no-rootcause");
        assert!(!both.options(1).causes && both.remark.is_none());
        for alone in
            ["--no-rootcause", "--no-critical-path", "--no-rootcause --no-critical-path --critical-path"]
        {
            let asked = asked(alone);
            assert!(asked.options(1).causes && asked.remark == Some(ONLY_BOTH), "{alone}");
        }
        assert!(asked("--single-pass --no-rootcause").remark.is_none());
    }

    #[test]
    fn what_scout_does_not_know_is_an_error() {
        let words = ["scout.replay", "--no-such-option", "x"].map(Into::into);
        assert!(try_parse(words, "scout.cubex".into()).is_err());
    }
}
