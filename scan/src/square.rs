//! Scalasca's square: shows a report, or how large a trace would be (site 4.2).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;

use crate::error::{Error, Result, print};
use crate::places::Places;
use crate::run::{CONFIGURATIONS, replace};
use crate::steps::Step;

/// Reports of an experiment, the best first.
const REPORTS: [&str; 4] = ["trace.cubex", "scout.cubex", "profile.cubex", "summary.cubex"];

/// Where the table of an estimate begins in the output of replay-record, and what is behind it.
const BEGIN: &str = "replay-record: a full trace of this run would have";
const BEHIND: &str = "replay-record: wrote ";

/// Show the report of an experiment with replay-show, by the command line of Scalasca's square
///
/// Reports are not made anew here, so that options about their making have no effect.
#[derive(Parser, Debug)]
#[command(name = "square", version, verbatim_doc_comment)]
struct Options {
    /// Print how large a trace would be, and what would save most of it, of an experiment that was measured with -s
    #[arg(short = 's')]
    estimates: bool,

    /// No: a filter changes an estimate if the program is measured with it, scan -s -f FILE
    #[arg(short = 'f', value_name = "FILE")]
    filter: Option<PathBuf>,

    /// No: there is no scorer
    #[arg(short = 'x', value_name = "OPTIONS", allow_hyphen_values = true)]
    scorer: Option<String>,

    /// No effect: reports are as they were written
    #[arg(short = 'F')]
    _forces: bool,

    /// No effect: there is no metric to be left out
    #[arg(short = 'n')]
    _leaves_out_idle_threads: bool,

    /// No effect: no report is made that could be checked
    #[arg(short = 'c', value_name = "LEVEL", value_parser = ["none", "quick", "full"])]
    _check: Option<String>,

    /// No effect: reports of several runs are not merged
    #[arg(short = 'S', value_name = "HOW", value_parser = ["mean", "merge"])]
    _summaries: Option<String>,

    /// No effect: likewise
    #[arg(short = 'T', value_name = "HOW", value_parser = ["mean", "merge"])]
    _traces: Option<String>,

    /// No effect: nothing is left to be done for each run
    #[arg(short = 'A')]
    _all: bool,

    /// No effect: likewise
    #[arg(short = 'I')]
    _ignores_checks: bool,

    /// No effect: there is nothing more to say
    #[arg(short = 'v')]
    _verbose: bool,

    /// The experiment directory, or a report
    #[arg(value_name = "DIR")]
    experiment: PathBuf,
}

/// Shows what a command line of square asks for, or prints the command if it is a preview; returns what clap says if it is wrong.
///
/// # Errors
/// If there is nothing to show.
pub(crate) fn show(
    words: &[OsString],
    is_preview: bool,
    places: &Places,
) -> std::result::Result<Result<()>, clap::Error> {
    let options = Options::try_parse_from([OsString::from("square")].iter().chain(words))?;
    Ok(match refused(&options) {
        Some(error) => Err(error),
        None if options.estimates => print_estimate(&options.experiment),
        None => {
            let words = vec![places.program("replay-show"), report(&options.experiment).into()];
            let step = Step { words, set: Vec::new(), unset: Vec::new() };
            if is_preview { print(&format!("{step}\n")) } else { Err(replace(&step)) }
        }
    })
}

/// Returns why a command line is refused: what it asks for would otherwise silently be missing.
fn refused(options: &Options) -> Option<Error> {
    let shown = options.experiment.display();
    // Without -s there is nothing that Scalasca's square would filter.
    if let Some(filter) = options.filter.as_ref().filter(|_| options.estimates) {
        let filter = filter.display();
        return Some(Error::not_started(format!(
            "-f {filter}: an estimate that was made cannot be filtered: measure with scan -s -f {filter}, and look at that one"
        )));
    }
    if let Some(scorer) = &options.scorer {
        return Some(Error::not_started(format!(
            "-x {scorer}: there is no scorer with options: square -s {shown} prints the estimate as it was made"
        )));
    }
    options.experiment.join(CONFIGURATIONS).exists().then(|| {
        Error::not_started(format!(
            "{shown} has several runs, whose reports are not merged: name one of the directories in it, or compare two with replay-show diff"
        ))
    })
}

/// Returns the report of an experiment, or the experiment, of which replay-show says what is wrong.
fn report(experiment: &Path) -> PathBuf {
    let reports = REPORTS.iter().map(|name| experiment.join(name));
    reports.into_iter().find(|path| path.is_file()).unwrap_or_else(|| experiment.into())
}

fn print_estimate(experiment: &Path) -> Result<()> {
    if !experiment.is_dir() {
        let experiment = experiment.display();
        return Err(Error::no_experiment(format!("{experiment}: there is no such directory")));
    }
    let log = experiment.join("scorep.log");
    let text = fs::read(&log).map_err(|cause| Error::io(&log, "read how large a trace would be", cause))?;
    let table = estimate(&String::from_utf8_lossy(&text)).ok_or_else(|| {
        Error::no_experiment(format!(
            "{}: it does not say how large a trace would be: measure the program with -s, or with replay-record --estimate",
            log.display()
        ))
    })?;
    print(&table)
}

/// Returns the table of an estimate in the output of a run, as it was printed.
fn estimate(log: &str) -> Option<String> {
    let lines =
        log.lines().skip_while(|line| !line.starts_with(BEGIN)).take_while(|line| !line.starts_with(BEHIND));
    let lines: Vec<&str> = lines.filter_map(|line| line.strip_prefix("replay-record: ")).collect();
    (!lines.is_empty()).then(|| lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_line_is_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn options_are_done_have_no_effect_or_are_refused() {
        let of = |line: &str| Options::try_parse_from(["square"].into_iter().chain(line.split(' ')));
        let refusal = |line: &str| refused(&of(line).unwrap()).map(|error| error.to_string());
        for line in ["-s x", "-F -v -n -A -I -c full -S mean -T merge x", "-f filter x"] {
            assert_eq!(refusal(line), None, "{line}");
        }
        assert!(refusal("-s -f filter x").unwrap().contains("measure with scan -s -f filter"));
        assert!(refusal("-s -x -r x").unwrap().starts_with("-x -r: there is no scorer"));
        assert!(of("-c much x").is_err() && of("-S sum x").is_err() && of("-z x").is_err());
        let several = tempfile::tempdir().unwrap();
        fs::write(several.path().join(CONFIGURATIONS), "").unwrap();
        assert!(refusal(several.path().to_str().unwrap()).unwrap().contains("has several runs"));
    }

    #[test]
    fn table_is_what_the_recorder_has_printed() {
        let log = "out\nreplay-record: 1 of 2\nreplay-record: a full trace of this run would have 5 events\nlate\n\
                   replay-record: the run took 1 s\nreplay-record: wrote x\nstatus 0";
        assert_eq!(
            estimate(log).unwrap(),
            "a full trace of this run would have 5 events\nthe run took 1 s\n"
        );
        assert_eq!(estimate("out\nreplay-record: wrote x\n"), None);
    }

    #[test]
    fn best_report_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(report(folder.path()), folder.path());
        for name in ["summary.cubex", "profile.cubex", "trace.cubex"] {
            fs::write(folder.path().join(name), "").unwrap();
            assert_eq!(report(folder.path()), folder.path().join(name));
        }
        assert_eq!(report(Path::new("/x/a.cubex")), Path::new("/x/a.cubex"));
    }
}
