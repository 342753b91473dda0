//! Scenarios: what is different about the run, as the user says it (what-if 3.2).

use std::fmt;

/// What is different: all of its changes together.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// The words of the user.
    text: String,
    /// Its changes, in the order of the words.
    pub changes: Vec<Change>,
}

/// What is asked for.
#[derive(Clone, PartialEq, Debug)]
pub enum WhatIf {
    /// What is usually worth a try, sorted by what it gains (what-if 3.4).
    Standard,
    /// These scenarios.
    Scenarios(Vec<Scenario>),
}

impl WhatIf {
    /// Whether a scenario is about what root causes have found.
    pub fn needs_causes(&self) -> bool {
        let is_of_causes = |change: &Change| matches!(change, Change::Without(_));
        match self {
            WhatIf::Standard => false,
            WhatIf::Scenarios(scenarios) => scenarios.iter().any(|it| it.changes.iter().any(is_of_causes)),
        }
    }

    /// The least size from which on standard sends wait for their receives in any scenario.
    pub(super) fn rendezvous(&self) -> Option<u64> {
        match self {
            WhatIf::Standard => None,
            WhatIf::Scenarios(scenarios) => scenarios.iter().filter_map(Scenario::rendezvous).min(),
        }
    }

    /// An ideal network, and nothing else.
    pub fn ideal() -> WhatIf {
        WhatIf::Scenarios(vec![Scenario::of(Change::Ideal.to_string(), Change::Ideal)])
    }

    /// The only scenario; `None` if there is not exactly one.
    pub fn only(&self) -> Option<&Scenario> {
        match self {
            WhatIf::Scenarios(scenarios) => scenarios.first().filter(|_| scenarios.len() == 1),
            WhatIf::Standard => None,
        }
    }

    /// Reads scenarios with commas between them; a scenario is changes with `+` between them. Commas and `+` in brackets
    /// belong to names of functions. Without any it is the standard set.
    ///
    /// # Errors
    /// A message that says what was found, and what is expected.
    pub fn parse(text: &str) -> Result<WhatIf, String> {
        match text {
            "" => Ok(WhatIf::Standard),
            text => split(text, ',')
                .into_iter()
                .map(Scenario::parse)
                .collect::<Result<_, _>>()
                .map(WhatIf::Scenarios),
        }
    }
}

/// A change.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// None.
    Same,
    /// All calls of MPI take as long as the fitted lines have it.
    Fitted,
    /// MPI takes no time but waiting.
    Ideal,
    /// The fitted latency of messages is so many times as long.
    Latency(f64),
    /// So many times as many bytes pass in the same time.
    Bandwidth(f64),
    /// Each message takes so many microseconds longer.
    Add(f64),
    /// Standard sends up to so many bytes do not wait for their receives; all without.
    Eager(Option<u64>),
    /// Operations of many at these call paths do not take place.
    Remove(String),
    /// Messages that are sent at these call paths are given away as soon as their sender has heard of others.
    EarlySend(String),
    /// Work takes so many times as long.
    Cpu(f64, Place),
    /// Work above the mean of all locations is gone.
    Level(Place),
    /// The same of the call path and the location with most work above that mean.
    LevelAuto,
    /// Work is shared evenly by those that have some.
    Balance(String),
    /// The delays that root causes have found there are gone.
    Without(Place),
    /// What is received there is awaited at the next call of MPI.
    Overlap(String),
    /// No stretch of work there is longer than usual.
    Quiet(String),
    /// Standard sends of more bytes wait for their receives.
    Rendezvous(u64),
    /// Processes are on other nodes, named in a file.
    Mapping(String),
}

/// Call paths, and a location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Names of a call path in a row, with slashes between them; all call paths if empty.
    pub path: String,
    /// A rank, and its thread; all without.
    pub rank: Option<(u32, u32)>,
}

impl Scenario {
    /// Of one change.
    pub(super) fn of(text: String, change: Change) -> Scenario {
        Scenario { text, changes: vec![change] }
    }

    /// From which size on standard sends wait for their receives that do not in the run; `None` if it does not say so.
    pub(super) fn rendezvous(&self) -> Option<u64> {
        self.changes.iter().rev().find_map(|change| match change {
            Change::Rendezvous(bytes) => Some(*bytes),
            _ => None,
        })
    }

    /// All changes of several together.
    pub(super) fn together(scenarios: &[&Scenario]) -> Scenario {
        let texts: Vec<&str> = scenarios.iter().map(|scenario| scenario.text.as_str()).collect();
        let changes = scenarios.iter().flat_map(|scenario| scenario.changes.clone());
        Scenario { text: texts.join("+"), changes: changes.collect() }
    }

    /// Reads one scenario.
    ///
    /// # Errors
    /// A message that says what was found, and what is expected.
    pub fn parse(text: &str) -> Result<Scenario, String> {
        let changes = split(text, '+').into_iter().map(Change::parse).collect::<Result<_, _>>()?;
        Ok(Scenario { text: text.to_owned(), changes })
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Change {
    /// Writes it as the user would.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Same => f.write_str("same"),
            Change::Fitted => f.write_str("fitted"),
            Change::Ideal => f.write_str("ideal"),
            Change::Latency(factor) => write!(f, "latency={factor}"),
            Change::Bandwidth(factor) => write!(f, "bandwidth={factor}"),
            Change::Add(microseconds) => write!(f, "add={microseconds}"),
            Change::Eager(None) => f.write_str("eager=all"),
            Change::Eager(Some(bytes)) => write!(f, "eager={bytes}"),
            Change::Remove(path) => write!(f, "remove={path}"),
            Change::EarlySend(path) => write!(f, "early-send={path}"),
            Change::Cpu(factor, place) => write!(f, "cpu={factor}@{place}"),
            Change::Level(place) => write!(f, "level={place}"),
            Change::LevelAuto => f.write_str("level=auto"),
            Change::Balance(path) => write!(f, "balance={path}"),
            Change::Without(place) => write!(f, "without={place}"),
            Change::Overlap(path) => write!(f, "overlap={path}"),
            Change::Quiet(path) => write!(f, "quiet={path}"),
            Change::Rendezvous(bytes) => write!(f, "rendezvous={bytes}"),
            Change::Mapping(file) => write!(f, "mapping={file}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rank {
            None => f.write_str(&self.path),
            Some((rank, 0)) => write!(f, "{}@{rank}", self.path),
            Some((rank, thread)) => write!(f, "{}@{rank}:{thread}", self.path),
        }
    }
}

/// The forms of changes, for messages.
const FORMS: &str = "same, fitted, ideal, latency=F, bandwidth=F, add=MICROSECONDS, eager=all or eager=BYTES, remove=PATH, \
                     early-send=PATH, cpu=F@PATH@RANK, level=PATH@RANK, level=auto, balance=PATH, without=PATH@RANK, \
                     overlap=PATH, quiet=PATH, rendezvous=BYTES, mapping=FILE";

impl Change {
    /// Whether the gain is an upper bound: work vanishes that has to be done somewhere, or data that is needed.
    pub fn is_bound(&self) -> bool {
        matches!(
            self,
            Change::Level(_)
                | Change::LevelAuto
                | Change::Remove(_)
                | Change::EarlySend(_)
                | Change::Without(_)
                | Change::Overlap(_)
                | Change::Quiet(_)
        )
    }

    fn parse(text: &str) -> Result<Change, String> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let path = |value: &str| match value {
            "" => Err(format!("{name} needs a call path, as names with slashes between them")),
            path => Ok(path.to_owned()),
        };
        match (name, value) {
            ("same", None) => Ok(Change::Same),
            ("fitted", None) => Ok(Change::Fitted),
            ("ideal", None) => Ok(Change::Ideal),
            ("latency", Some(value)) => Ok(Change::Latency(factor(name, value)?)),
            ("bandwidth", Some(value)) => match factor(name, value)? {
                0.0 => {
                    Err("bandwidth=0: a network without bandwidth moves nothing; choose a factor above 0"
                        .into())
                }
                factor => Ok(Change::Bandwidth(factor)),
            },
            ("add", Some(value)) => Ok(Change::Add(factor(name, value)?)),
            ("eager", Some("all")) => Ok(Change::Eager(None)),
            ("eager", Some(value)) => match value.parse() {
                Ok(bytes) => Ok(Change::Eager(Some(bytes))),
                Err(_) => Err(format!("eager={value}: expected all, or a whole number of bytes")),
            },
            ("remove", Some(value)) => path(value).map(Change::Remove),
            ("early-send", Some(value)) => path(value).map(Change::EarlySend),
            ("cpu", Some(value)) => {
                let (by, place) = value.split_once('@').map_or((value, ""), |(by, place)| (by, place));
                Ok(Change::Cpu(factor(name, by)?, Place::parse(place)?))
            }
            ("level", Some("auto")) => Ok(Change::LevelAuto),
            ("level", Some(value)) => Place::parse(value).map(Change::Level),
            ("balance", Some(value)) => path(value).map(Change::Balance),
            ("without", Some(value)) => Place::parse(value).map(Change::Without),
            ("overlap", Some(value)) => path(value).map(Change::Overlap),
            ("quiet", Some(value)) => Ok(Change::Quiet(value.to_owned())),
            ("quiet", None) => Ok(Change::Quiet(String::new())),
            ("rendezvous", Some(value)) => match value.parse() {
                Ok(bytes) => Ok(Change::Rendezvous(bytes)),
                Err(_) => Err(format!("rendezvous={value}: expected a whole number of bytes")),
            },
            ("mapping", Some("") | None) => {
                Err("mapping needs a file with the name of a node in each line, one for each rank".into())
            }
            ("mapping", Some(file)) => Ok(Change::Mapping(file.to_owned())),
            _ => Err(format!("{text} is no scenario; there are {FORMS}")),
        }
    }
}

impl Place {
    fn parse(text: &str) -> Result<Place, String> {
        let (path, rank) = match text.rsplit_once('@') {
            Some((path, rank)) => (path, Some(rank)),
            None => (text, None),
        };
        let rank = rank.map(|rank| {
            let (rank, thread) = rank.split_once(':').unwrap_or((rank, "0"));
            Some((rank.parse().ok()?, thread.parse().ok()?))
        });
        match rank {
            Some(None) => Err(format!("{text}: expected PATH@RANK or PATH@RANK:THREAD, such as solve@3")),
            rank => Ok(Place { path: path.to_owned(), rank: rank.flatten() }),
        }
    }
}

/// The largest factor: no replayed time gets out of the range of numbers.
const LARGEST: f64 = 1e6;

fn factor(name: &str, value: &str) -> Result<f64, String> {
    let number = value.parse::<f64>().ok().filter(|number| (0.0..=LARGEST).contains(number));
    number.ok_or_else(|| format!("{name}={value}: expected a number from 0 to 1,000,000, such as 0.5"))
}

/// Splits a text at a separator that is in no bracket.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '<' | '{' => depth += 1,
            ')' | ']' | '>' | '}' => depth = depth.saturating_sub(1),
            _ if letter == separator && depth == 0 => {
                parts.push(&text[begin..at]);
                begin = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<Scenario> {
        match WhatIf::parse(text).unwrap() {
            WhatIf::Standard => Vec::new(),
            WhatIf::Scenarios(scenarios) => scenarios,
        }
    }

    #[test]
    fn scenarios_are_changes_with_plus_and_commas_between_them() {
        let scenarios = list("ideal,level=main/work@2+eager=all,cpu=0.5@f(int, int)@1:3");
        assert_eq!(scenarios[0].changes, [Change::Ideal]);
        let level = Change::Level(Place { path: "main/work".into(), rank: Some((2, 0)) });
        assert_eq!(scenarios[1].changes, [level, Change::Eager(None)]);
        let cpu = Change::Cpu(0.5, Place { path: "f(int, int)".into(), rank: Some((1, 3)) });
        assert_eq!((scenarios[2].changes.as_slice(), scenarios.len()), (&[cpu][..], 3));
        assert_eq!(scenarios[2].to_string(), "cpu=0.5@f(int, int)@1:3");
    }

    #[test]
    fn wrong_scenario_gets_a_message_with_what_was_found_and_expected() {
        for (text, part) in [
            ("fast", "fast is no scenario"),
            ("latency=-1", "from 0 to"),
            ("cpu=1e300", "1,000,000"),
            ("add=nan", "from 0 to"),
            ("bandwidth=0", "above 0"),
            ("eager=some", "bytes"),
            ("level=work@x", "PATH@RANK"),
            ("remove=", "call path"),
            ("overlap=", "call path"),
            ("rendezvous=all", "whole number"),
            ("mapping=", "node"),
            ("ideal,", "is no scenario"),
        ] {
            let error = WhatIf::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
