//! The truth about a delay, as the delayed rank prints it: see `tests/programs/culprits/shape.h`.

use std::collections::HashMap;

/// The output of a run.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    /// The ways in which the place was reached.
    pub(crate) ways: Vec<Way>,
    /// Time of the other ranks in MPI, summed up, in seconds.
    pub(crate) others: f64,
}

/// A way in which the place was reached. Paths are functions, from `main` on.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Way {
    /// Those that were active at the place.
    pub(crate) place: Vec<String>,
    /// The line of the place.
    pub(crate) line: u32,
    /// The MPI functions before and after it.
    pub(crate) calls: [String; 2],
    /// How many functions were active from the one call to the other.
    pub(crate) common: usize,
    /// How many functions both calls have in common, by where they were called from.
    pub(crate) sites: usize,
    /// The same, by name.
    pub(crate) names: usize,
    /// The last callee of each of these functions that led into MPI; `None` if there was none yet.
    pub(crate) last: Vec<Option<String>>,
    /// The delay in this way, in seconds.
    pub(crate) seconds: f64,
}

impl Truth {
    /// Reads the output of a shape.
    ///
    /// # Panics
    /// If a line lacks a word.
    pub(crate) fn parse(stdout: &str) -> Truth {
        let of = |kind: &str| {
            let lines = stdout.lines().filter_map(|line| line.strip_prefix(kind));
            lines
                .map(|line| Words(line.split_whitespace().filter_map(|word| word.split_once('=')).collect()))
                .collect()
        };
        let (delays, others): (Vec<Words<'_>>, Vec<Words<'_>>) = (of("DELAY "), of("OTHERS "));
        Truth {
            ways: delays.iter().map(Way::new).collect(),
            others: others.iter().map(|words| words.number::<f64>("seconds")).sum(),
        }
    }

    /// The delay of the rank in seconds.
    pub(crate) fn delay(&self) -> f64 {
        self.ways.iter().map(|way| way.seconds).sum()
    }

    /// The share of the delay in ways of which this holds.
    pub(crate) fn share(&self, holds: impl Fn(&Way) -> bool) -> f64 {
        self.ways.iter().filter(|way| holds(way)).map(|way| way.seconds).sum::<f64>() / self.delay()
    }

    /// The ways that take the most time: each may be the costliest one.
    pub(crate) fn largest(&self) -> impl Iterator<Item = &Way> {
        let largest = self.ways.iter().map(|way| way.seconds).fold(0.0, f64::max);
        self.ways.iter().filter(move |way| way.seconds >= 0.5 * largest)
    }
}

impl Way {
    fn new(words: &Words<'_>) -> Way {
        let path = |name: &str| words.text(name).split('/').map(str::to_owned).collect::<Vec<_>>();
        let call = |name: &str| path(name).pop().unwrap_or_default();
        Way {
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
