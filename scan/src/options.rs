//! The command line of scan, with a few options of our own (site 4.2).

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Parser};

/// Measure an MPI program with Replay, by the command line of Scalasca's scan
///
/// replay-scan -t mpirun -n 4 ./app records the program, analyses its trace with the same launcher, and leaves both in
/// scorep_app_4_trace. Programs need not be instrumented; those that are, with Score-P, are measured by it.
///
/// By the names scan, scalasca, square and skin, which are links in libexec/replay, it is what these are of Scalasca: put that folder
/// in front of PATH, and scripts for Scalasca run with Replay.
///
/// Exit status: 0 all was done, whatever the program's own status is, which is told; 1 nothing was started; 2 there is no experiment, or
/// a file cannot be read or written; 4 there is no trace, or no report of it. With -q the program's.
#[derive(Parser, Clone, Debug, Default)]
#[command(name = "replay-scan", version, verbatim_doc_comment, max_term_width = 100)]
#[command(override_usage = "replay-scan [OPTIONS] [LAUNCHER [OPTIONS]] PROGRAM [ARGUMENTS]...")]
pub(crate) struct Options {
    /// Count visits, time and bytes of each call path: profile.cubex, the default
    #[arg(short = 's')]
    pub(crate) profile: bool,

    /// Record a trace, and analyse it: trace.cubex
    #[arg(short = 't')]
    pub(crate) trace: bool,

    /// Run the program as it is
    #[arg(short = 'q', overrides_with_all = ["profile", "trace"])]
    pub(crate) nothing: bool,

    /// Analyse a trace that is there
    #[arg(short = 'a')]
    pub(crate) analyze: bool,

    /// The experiment directory [default: scorep_PROGRAM_RANKS_sum or _trace]
    #[arg(short = 'e', value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,

    /// Leave out what this file says, in Score-P's format
    #[arg(short = 'f', value_name = "FILE")]
    pub(crate) filter: Option<PathBuf>,

    /// Wait with the start as long as this file exists
    #[arg(short = 'l', value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,

    /// Print the commands that would run, as lines for a shell, and run nothing
    #[arg(short = 'n')]
    pub(crate) preview: bool,

    /// Say more
    #[arg(short = 'v', action = ArgAction::Count)]
    pub(crate) verbose: u8,

    /// Measure N times
    #[arg(short = 'R', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: u32,

    /// Measure with each configuration of this file: sections that begin with -, one for all with --, of lines NAME=VALUE
    #[arg(short = 'M', value_name = "FILE")]
    pub(crate) configurations: Vec<PathBuf>,

    /// Record programs that are instrumented with Score-P with Replay, too
    #[arg(long)]
    pub(crate) record: bool,

    /// Print the path of the analyzer for scan's variable SCAN_TRACE_ANALYZER, and do nothing else
    #[arg(long, exclusive = true)]
    pub(crate) scout: bool,

    /// Write manual pages and completions of shells below this directory, and do nothing else
    #[arg(long, value_name = "DIR", exclusive = true, hide = true)]
    pub(crate) manual: Option<PathBuf>,

    /// The program, or a launcher with one
    #[arg(value_name = "PROGRAM", trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parsed(line: &str) -> Options {
        Options::try_parse_from(["scan"].into_iter().chain(line.split_whitespace()))
            .unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn command_line_is_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn options_end_where_the_command_begins() {
        let options = parsed("-tv -e dir -f filter -R 3 mpirun -n 4 -t ./app -q -- x");
        assert!(options.trace && options.verbose == 1 && !options.nothing && options.repeat == 3);
        assert_eq!(options.command, ["mpirun", "-n", "4", "-t", "./app", "-q", "--", "x"]);
        assert_eq!((options.directory, options.filter), (Some("dir".into()), Some("filter".into())));
        assert_eq!(parsed("-s -- ./app").command, ["./app"]);
        assert_eq!(parsed("-M a -M b ./app").configurations.len(), 2);
    }

    #[test]
    fn last_of_contradicting_options_counts() {
        let modes = |line: &str| {
            let Options { profile, trace, nothing, .. } = parsed(line);
            [profile, trace, nothing]
        };
        assert_eq!(modes("-t -q a"), [false, false, true]);
        assert_eq!(modes("-q -t a"), [false, true, false]);
        assert_eq!(modes("-s -t a"), [true, true, false]);
    }

    #[test]
    fn repetitions_are_a_number() {
        for wrong in ["0", "x"] {
            assert!(Options::try_parse_from(["scan", "-R", wrong, "a"]).is_err());
        }
        assert!(Options::try_parse_from(["scan", "-x", "a"]).is_err());
    }
}
