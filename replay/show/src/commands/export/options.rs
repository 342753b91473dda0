//! Arguments of `export`, and which format takes which of them.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::error::{Error, Result};

/// Bytes of an export without `--large`.
const LIMIT: u64 = 512 << 20;

/// Arguments of `export`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The format
    #[arg(value_enum, hide_possible_values = true)]
    pub format: Format,

    /// The report, or an experiment directory; some formats take several
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Where to write it: a file, for parquet, csv and paraver a directory [default: standard output]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// Metrics by unique name, with commas between them
    #[arg(short, long = "metric", value_name = "LIST", value_delimiter = ',')]
    pub metric: Vec<String>,

    /// Only these ranks, such as 0,4-7
    #[arg(long, value_name = "LIST")]
    pub ranks: Option<String>,

    /// Only events of this time, in seconds since the begin of the trace, such as 1.5-2
    #[arg(long, value_name = "A-B")]
    pub window: Option<String>,

    /// Only events around the K severest waits
    #[arg(long, value_name = "K")]
    pub instances: Option<usize>,

    /// Values of each location instead of their sums
    #[arg(long)]
    pub per_location: bool,

    /// A parameter of the runs, for extrap
    #[arg(long, value_name = "NAME=VALUE")]
    pub param: Vec<String>,

    /// Write more than 512 MB if it has to be
    #[arg(long)]
    pub large: bool,
}

/// Formats.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Folded stacks: a call path and its nanoseconds a line.
    Folded,
    /// Profiles of speedscope.
    Speedscope,
    /// Trace events of Chrome.
    Chrome,
    /// Everything in one object.
    Json,
    /// Everything as files of comma-separated values.
    Csv,
    /// Everything as Parquet files.
    Parquet,
    /// A trace for Perfetto's user interface.
    Perfetto,
    /// A trace for Paraver.
    Paraver,
    /// Call trees for hatchet and Thicket.
    Hatchet,
    /// Values of several runs for Extra-P.
    Extrap,
    /// Quantities for Bencher.
    Bmf,
    /// Quantities for github-action-benchmark.
    GithubBenchmark,
    /// Quantities as OpenMetrics, for GitLab.
    #[value(name = "openmetrics")]
    OpenMetrics,
    /// Enters and leaves, as Pipit reads them.
    EventsCsv,
    /// Graphs of the structure for Graphviz.
    Dot,
    /// Graphs of the structure as a picture.
    Svg,
    /// Graphs, loops and words of the structure.
    StructureJson,
    /// The order of all calls.
    #[value(name = "t-efg")]
    TemporalGraph,
}

/// Which options a format takes, beside those that all take.
#[derive(Clone, Copy, Debug, Default)]
struct Takes {
    /// Several reports.
    several: bool,
    /// Whether it is a directory.
    directory: bool,
    metric: bool,
    ranks: bool,
    events: bool,
    per_location: bool,
    param: bool,
}

impl Format {
    /// The name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }

    fn takes(self) -> Takes {
        let none = Takes::default();
        match self {
            Format::Folded => Takes { metric: true, ranks: true, per_location: true, ..none },
            Format::Speedscope => Takes { metric: true, ranks: true, ..none },
            Format::Json => Takes { metric: true, ranks: true, ..none },
            Format::Csv | Format::Parquet => Takes { directory: true, metric: true, ranks: true, ..none },
            Format::Chrome | Format::Perfetto | Format::EventsCsv => {
                Takes { ranks: true, events: true, ..none }
            }
            Format::Paraver => Takes { directory: true, ranks: true, events: true, ..none },
            Format::Hatchet => Takes { metric: true, ranks: true, ..none },
            Format::Extrap => Takes { several: true, metric: true, param: true, ..none },
            Format::Bmf | Format::GithubBenchmark | Format::OpenMetrics => {
                Takes { several: true, metric: true, ..none }
            }
            Format::Dot | Format::Svg | Format::StructureJson | Format::TemporalGraph => none,
        }
    }
}

impl Args {
    /// Checks that the format takes all options that are given.
    ///
    /// # Errors
    /// If it does not.
    pub(super) fn check(&self) -> Result<()> {
        let takes = self.format.takes();
        let given = [
            ("more than one report", self.files.len() > 1, takes.several),
            ("-m", !self.metric.is_empty(), takes.metric),
            ("--ranks", self.ranks.is_some(), takes.ranks),
            ("--window", self.window.is_some(), takes.events),
            ("--instances", self.instances.is_some(), takes.events),
            ("--per-location", self.per_location, takes.per_location),
            ("--param", !self.param.is_empty(), takes.param),
        ];
        let name = self.format.name();
        if let Some((option, ..)) = given.iter().find(|(_, is_given, is_taken)| *is_given && !is_taken) {
            return Err(Error::new(format!("export {name} does not take {option}")));
        }
        if takes.directory && self.out().is_none() {
            return Err(Error::new(format!("export {name} writes several files: name a directory with -o")));
        }
        Ok(())
    }

    /// The file or directory to write; `None` for standard output.
    pub(super) fn out(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// Bytes that may be written.
    pub(super) fn limit(&self) -> u64 {
        if self.large { u64::MAX } else { LIMIT }
    }

    /// Begin and end of the window, in seconds.
    ///
    /// # Errors
    /// If it is none.
    pub(super) fn window(&self) -> Result<Option<(f64, f64)>> {
        let Some(text) = &self.window else { return Ok(None) };
        let ends =
            text.split_once('-').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
        match ends {
            Some((begin, end)) if begin >= 0.0 && end > begin => Ok(Some((begin, end))),
            _ => Err(Error::new(format!(
                "--window {text}: expected two times in seconds, the earlier one first, such as 1.5-2"
            ))),
        }
    }

    /// The ranks that are selected; `None` for all.
    ///
    /// # Errors
    /// If it is no list of ranks.
    pub(super) fn rank_ranges(&self) -> Result<Option<Vec<(u64, u64)>>> {
        let Some(text) = &self.ranks else { return Ok(None) };
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last).then_some((first, last))
        };
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        ranges.map(Some).ok_or_else(|| {
            Error::new(format!("--ranks {text}: expected numbers and ranges with commas, such as 0,4-7"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(window: Option<&str>, ranks: Option<&str>) -> Args {
        Args {
            format: Format::Folded,
            files: Vec::new(),
            output: None,
            metric: Vec::new(),
            ranks: ranks.map(str::to_owned),
            window: window.map(str::to_owned),
            instances: None,
            per_location: false,
            param: Vec::new(),
            large: false,
        }
    }

    #[test]
    fn windows_are_two_times() {
        assert_eq!(args(Some("0.5-2"), None).window(), Ok(Some((0.5, 2.0))));
        assert_eq!(args(None, None).window(), Ok(None));
        for wrong in ["", "2-1", "1", "-1-2", "a-b", "nan-nan", "1-1"] {
            assert!(args(Some(wrong), None).window().is_err(), "{wrong}");
        }
    }

    #[test]
    fn ranks_are_numbers_and_ranges() {
        assert_eq!(args(None, Some("0,4-7")).rank_ranges(), Ok(Some(vec![(0, 0), (4, 7)])));
        for wrong in ["", "1,", "3-1", "x", "-1"] {
            assert!(args(None, Some(wrong)).rank_ranges().is_err(), "{wrong}");
        }
    }
}
