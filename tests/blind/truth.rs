//! Ground truth about a delay, as the delayed rank prints it: see `tests/programs/culprits/shape.h`.

use std::collections::HashMap;

/// The output of a run.
#[derive(Clone, Debug)]
pub(crate) struct GroundTruth {
    /// The call paths on which the delay was reached.
    pub(crate) paths: Vec<DelayPath>,
    /// Time of the other ranks in MPI, summed up, in seconds.
    pub(crate) others: f64,
}

/// A call path on which the delay was reached. Paths are lists of functions, from `main` on.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DelayPath {
    /// The functions that were active at the delay.
    pub(crate) place: Vec<String>,
    /// The line of the delay.
    pub(crate) line: u32,
    /// The MPI functions before and after the delay.
    pub(crate) calls: [String; 2],
    /// Number of functions that were active from the one call to the other.
    pub(crate) common: usize,
    /// Number of functions that both calls have in common, compared by call site.
    pub(crate) sites: usize,
    /// Number of functions that both calls have in common, compared by name.
    pub(crate) names: usize,
    /// The last callee of each of these functions that led into MPI; `None` if there was none yet.
    pub(crate) last: Vec<Option<String>>,
    /// The delay on this path, in seconds.
    pub(crate) seconds: f64,
}

impl GroundTruth {
    /// Reads the output of a shape.
    ///
    /// # Panics
    /// If a line lacks a word.
    pub(crate) fn parse(stdout: &str) -> GroundTruth {
        let of = |kind: &str| {
            let lines = stdout.lines().filter_map(|line| line.strip_prefix(kind));
            lines
                .map(|line| Words(line.split_whitespace().filter_map(|word| word.split_once('=')).collect()))
                .collect()
        };
        let (delays, others): (Vec<Words<'_>>, Vec<Words<'_>>) = (of("DELAY "), of("OTHERS "));
        GroundTruth {
            paths: delays.iter().map(DelayPath::new).collect(),
            others: others.iter().map(|words| words.number::<f64>("seconds")).sum(),
        }
    }

    /// The delay of the rank in seconds.
    pub(crate) fn delay(&self) -> f64 {
        self.paths.iter().map(|path| path.seconds).sum()
    }

    /// The share of the delay on paths that satisfy a condition.
    pub(crate) fn share(&self, holds: impl Fn(&DelayPath) -> bool) -> f64 {
        self.paths.iter().filter(|path| holds(path)).map(|path| path.seconds).sum::<f64>() / self.delay()
    }

    /// The paths with the largest delays: each may be the costliest one.
    pub(crate) fn largest(&self) -> impl Iterator<Item = &DelayPath> {
        let largest = self.paths.iter().map(|path| path.seconds).fold(0.0, f64::max);
        self.paths.iter().filter(move |path| path.seconds >= 0.5 * largest)
    }
}

impl DelayPath {
    fn new(words: &Words<'_>) -> DelayPath {
        let path = |name: &str| words.text(name).split('/').map(str::to_owned).collect::<Vec<_>>();
        let call = |name: &str| path(name).pop().unwrap_or_default();
        DelayPath {
            place: path("place"),
            line: words.number("line"),
            calls: [call("before"), call("after")],
            common: words.number("common"),
            sites: words.number("sites"),
            names: words.number("names"),
            last: path("last").into_iter().map(|name| Some(name).filter(|name| name != "-")).collect(),
            seconds: words.number("seconds"),
        }
    }
}

/// Words `NAME=VALUE`.
struct Words<'a>(HashMap<&'a str, &'a str>);

impl Words<'_> {
    fn text(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", self.0))
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> T {
        self.text(name).parse().unwrap_or_else(|_| panic!("{name} is no number in {:?}", self.0))
    }
}
