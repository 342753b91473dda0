//! Scalasca's square: shows a report, or how large a trace would be (site 4.2).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;

use crate::error::{Error, Result, print};
use crate::places::Places;
use crate::run::replace;
use crate::steps::Step;

/// Reports of an experiment, the best first.
const REPORTS: [&str; 4] = ["trace.cubex", "scout.cubex", "profile.cubex", "summary.cubex"];

/// Where the table of an estimate begins in the output of replay-record, and what is behind it.
const BEGIN: &str = "replay-record: a full trace of this run would have";
const BEHIND: &str = "replay-record: wrote ";

/// Show the report of an experiment with replay-show, by the command line of Scalasca's square
#[derive(Parser, Debug)]
#[command(name = "square", version)]
struct Options {
    /// Print how large a trace would be, and what would save most of it, of an experiment that was measured with -s
    #[arg(short = 's')]
    estimates: bool,

    /// Show reports as they are: nothing has to be remapped
    #[arg(short = 'F')]
    _forces: bool,

    /// Print the command, and run nothing
    #[arg(short = 'n')]
    preview: bool,

    /// Say more: there is nothing more to say
    #[arg(short = 'v')]
    _verbose: bool,

    /// The experiment directory, or a report
    #[arg(value_name = "DIR")]
    experiment: PathBuf,
}

/// Shows what a command line of square asks for; returns what clap says if it is wrong.
///
/// # Errors
/// If there is nothing to show.
pub(crate) fn show(words: &[OsString], places: &Places) -> std::result::Result<Result<()>, clap::Error> {
    let options = Options::try_parse_from([OsString::from("square")].iter().chain(words))?;
    Ok(match options.estimates {
        true => print_estimate(&options.experiment),
        false => {
            let words = vec![places.program("replay-show"), report(&options.experiment).into()];
            let step = Step { words, set: Vec::new(), unset: Vec::new() };
            if options.preview { print(&format!("{step}\n")) } else { Err(replace(&step)) }
        }
    })
}

/// Returns the report of an experiment, or the experiment, of which replay-show says what is wrong.
fn report(experiment: &Path) -> PathBuf {
    let reports = REPORTS.iter().map(|name| experiment.join(name));
    reports.into_iter().find(|path| path.is_file()).unwrap_or_else(|| experiment.into())
}

fn print_estimate(experiment: &Path) -> Result<()> {
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
