//! Scenarios: what is different about the run, as the user says it (what-if 3.2).

use std::fmt;
use std::ops::RangeInclusive;

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

    /// Whether events have another order in any scenario.
    pub fn reorders(&self) -> bool {
        let reorders = |scenario: &Scenario| scenario.changes.iter().any(Change::is_of_order);
        matches!(self, WhatIf::Scenarios(scenarios) if scenarios.iter().any(reorders))
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
    /// Between operations of all ranks, work is shared evenly by all ranks.
    Spread(String),
    /// Receives are posted before their messages are sent.
    Posted(String),
    /// Messages arrive although the other side is outside of MPI.
    Progress(String),
    /// What is received there is received in the order in which it is sent, each with what follows until the next receive.
    Arrival(String),
    /// What is received there comes in so many parts, and so does the work in front and behind.
    Split(String, u32),
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

    /// Its changes to the order of events, as the user would write them; empty without any.
    pub(super) fn reordering(&self) -> String {
        let texts: Vec<String> =
            self.changes.iter().filter(|it| it.is_of_order()).map(Change::to_string).collect();
        texts.join("+")
    }

    /// All changes of several together.
    pub(crate) fn together(scenarios: &[&Scenario]) -> Scenario {
        let texts: Vec<&str> = scenarios.iter().map(|scenario| scenario.text.as_str()).collect();
        let changes = scenarios.iter().flat_map(|scenario| scenario.changes.clone());
        Scenario { text: texts.join("+"), changes: changes.collect() }
    }

    /// Reads one scenario.
    ///
    /// # Errors
    /// A message that says what was found, and what is expected.
    pub fn parse(text: &str) -> Result<Scenario, String> {
        let changes = split(text, '+').into_iter().map(Change::parse).collect::<Result<Vec<_>, _>>()?;
        check(text, &changes)?;
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
            Change::Remove(path) => write!(f, "remove={}", quoted(path)),
            Change::EarlySend(path) => write!(f, "early-send={}", quoted(path)),
            Change::Cpu(factor, place) => write!(f, "cpu={factor}@{place}"),
            Change::Level(place) => write!(f, "level={place}"),
            Change::LevelAuto => f.write_str("level=auto"),
            Change::Balance(path) => write!(f, "balance={}", quoted(path)),
            Change::Without(place) => write!(f, "without={place}"),
            Change::Overlap(path) => write!(f, "overlap={}", quoted(path)),
            Change::Quiet(path) => write!(f, "quiet={}", quoted(path)),
            Change::Rendezvous(bytes) => write!(f, "rendezvous={bytes}"),
            Change::Mapping(file) => write!(f, "mapping={}", quoted(file)),
            Change::Spread(path) => write!(f, "spread={}", quoted(path)),
            Change::Posted(path) => write!(f, "posted={}", quoted(path)),
            Change::Progress(path) => write!(f, "progress={}", quoted(path)),
            Change::Arrival(path) => write!(f, "arrival={}", quoted(path)),
            Change::Split(path, parts) => write!(f, "split={}:{parts}", quoted(path)),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rank {
            None => f.write_str(&quoted(&self.path)),
            Some((rank, 0)) => write!(f, "{}@{rank}", quoted(&self.path)),
            Some((rank, thread)) => write!(f, "{}@{rank}:{thread}", quoted(&self.path)),
        }
    }
}

/// The forms of changes, for messages.
const FORMS: &str = "same, fitted, ideal, latency=F, bandwidth=F, add=MICROSECONDS, eager=all or eager=BYTES, remove=PATH, \
                     early-send=PATH, cpu=F@PATH@RANK, level=PATH@RANK, level=auto, balance=PATH, without=PATH@RANK, \
                     overlap=PATH, quiet=PATH, rendezvous=BYTES, mapping=FILE, spread=PATH, posted=PATH, progress=PATH, arrival=PATH, split=PATH:PARTS";

impl Change {
    /// Its name, if it is one of the network.
    fn name_in_network(&self) -> Option<&'static str> {
        match self {
            Change::Ideal => Some("ideal"),
            Change::Fitted => Some("fitted"),
            Change::Latency(_) => Some("latency"),
            Change::Bandwidth(_) => Some("bandwidth"),
            Change::Add(_) => Some("add"),
            Change::Eager(_) => Some("eager"),
            Change::Rendezvous(_) => Some("rendezvous"),
            Change::Mapping(_) => Some("mapping"),
            _ => None,
        }
    }

    /// Whether events have another order, or there are more of them.
    pub fn is_of_order(&self) -> bool {
        matches!(self, Change::Arrival(_) | Change::Split(..))
    }

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
            path => Ok(plain(path)),
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
                Ok(Change::Cpu(factor(name, by)?, Place::parse(place)))
            }
            ("level", Some("auto")) => Ok(Change::LevelAuto),
            ("level", Some(value)) => Ok(Change::Level(Place::parse(value))),
            ("balance", Some(value)) => path(value).map(Change::Balance),
            ("without", Some(value)) => Ok(Change::Without(Place::parse(value))),
            ("overlap", Some(value)) => path(value).map(Change::Overlap),
            ("quiet", Some(value)) => Ok(Change::Quiet(plain(value))),
            ("quiet", None) => Ok(Change::Quiet(String::new())),
            ("rendezvous", Some(value)) => match value.parse() {
                Ok(bytes) => Ok(Change::Rendezvous(bytes)),
                Err(_) => Err(format!("rendezvous={value}: expected a whole number of bytes")),
            },
            ("mapping", Some("") | None) => {
                Err("mapping needs a file with the name of a node in each line, one for each rank".into())
            }
            ("mapping", Some(file)) => Ok(Change::Mapping(plain(file))),
            ("spread", Some(value)) => path(value).map(Change::Spread),
            ("posted", Some(value)) => path(value).map(Change::Posted),
            ("progress", Some(value)) => path(value).map(Change::Progress),
            ("arrival", Some(value)) => path(value).map(Change::Arrival),
            ("split", Some(value)) => {
                let parts =
                    value.rsplit_once(':').and_then(|(path, parts)| Some((path, parts.parse().ok()?)));
                match parts {
                    Some((of, parts)) if PARTS.contains(&parts) => Ok(Change::Split(path(of)?, parts)),
                    _ => Err(format!(
                        "split={value}: expected PATH:PARTS with 2 to 64 parts, such as solve/MPI_Recv:4"
                    )),
                }
            }
            _ => Err(format!("{text} is no scenario; there are {FORMS}")),
        }
    }
}

impl Place {
    /// Reads `PATH`, `PATH@RANK` or `PATH@RANK:THREAD`. What follows another `@` is part of a name.
    fn parse(text: &str) -> Place {
        let rank = |text: &str| {
            let (rank, thread) = text.split_once(':').unwrap_or((text, "0"));
            Some((rank.parse().ok()?, thread.parse().ok()?))
        };
        match text.rsplit_once('@').and_then(|(path, at)| Some((path, rank(at)?))) {
            Some((path, rank)) => Place { path: plain(path), rank: Some(rank) },
            None => Place { path: plain(text), rank: None },
        }
    }
}

/// A name with `\` before what would separate scenarios or changes.
fn quoted(name: &str) -> String {
    let mut quoted = String::with_capacity(name.len());
    for letter in name.chars() {
        if matches!(letter, ',' | '+' | '\\') {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted
}

/// The name without these.
fn plain(quoted: &str) -> String {
    let mut letters = quoted.chars();
    let mut name = String::with_capacity(quoted.len());
    while let Some(letter) = letters.next() {
        name.push(if letter == '\\' { letters.next().unwrap_or(letter) } else { letter });
    }
    name
}

/// Checks that changes do not contradict each other: those of work and of call paths add up, those of the network exclude each other.
fn check(text: &str, changes: &[Change]) -> Result<(), String> {
    let of_network: Vec<(&str, String)> =
        changes.iter().filter_map(|change| Some((change.name_in_network()?, change.to_string()))).collect();
    for (at, (name, change)) in of_network.iter().enumerate() {
        for (other, before) in &of_network[..at] {
            if name == other || are_exclusive(name, other) || are_exclusive(other, name) {
                return Err(format!("{text}: {before} and {change} exclude each other; choose one of them"));
            }
        }
    }
    if changes.iter().any(Change::is_of_order) && changes.iter().any(|it| matches!(it, Change::Without(_))) {
        return Err(format!(
            "{text}: without= knows delays of the run as it was, not in another order of events"
        ));
    }
    Ok(())
}

/// Whether nothing of the second change of the network is left with the first one.
fn are_exclusive(one: &str, other: &str) -> bool {
    match one {
        "ideal" | "fitted" => !matches!(other, "eager" | "rendezvous"),
        "eager" => other == "rendezvous",
        _ => false,
    }
}

/// In how many parts a message may come.
const PARTS: RangeInclusive<u32> = 2..=64;

/// The largest factor: no replayed time gets out of the range of numbers.
const LARGEST: f64 = 1e6;

fn factor(name: &str, value: &str) -> Result<f64, String> {
    let number = value.parse::<f64>().ok().filter(|number| (0.0..=LARGEST).contains(number));
    number.ok_or_else(|| format!("{name}={value}: expected a number from 0 to 1,000,000, such as 0.5"))
}

/// Splits a text at a separator that is in no bracket.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0_usize);
    let mut is_quoted = false;
    for (at, letter) in text.char_indices() {
        if std::mem::take(&mut is_quoted) {
            continue;
        }
        match letter {
            '\\' => is_quoted = true,
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
    fn names_with_separators_are_read_as_they_are_written() {
        for (name, rank) in
            [("w,rk", Some((2, 0))), ("a+b\\c", None), ("!$omp parallel @hybrid.c:10", Some((0, 1)))]
        {
            let change = Change::Level(Place { path: name.into(), rank });
            let written = format!("{change},same");
            let scenarios = list(&written);
            assert_eq!((&scenarios[0].changes, scenarios.len()), (&vec![change], 2), "{written}");
        }
        let change = Change::Balance("!$omp for @a.c:7".into());
        assert_eq!(list(&change.to_string())[0].changes, [change]);
        let place = Place { path: "f @a.c:7".into(), rank: None };
        assert_eq!(list("cpu=2@f @a.c:7")[0].changes, [Change::Cpu(2.0, place)]);
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
            ("ideal+add=10", "exclude each other"),
            ("latency=2+cpu=0.5+latency=3", "latency=2 and latency=3"),
            ("rendezvous=0+eager=all", "exclude each other"),
            ("remove=", "call path"),
            ("overlap=", "call path"),
            ("rendezvous=all", "whole number"),
            ("mapping=", "node"),
            ("split=solve", "PATH:PARTS"),
            ("split=a::b:1", "2 to 64"),
            ("split=:4", "call path"),
            ("arrival", "is no scenario"),
            ("arrival=a+without=b@0", "another order"),
            ("ideal,", "is no scenario"),
        ] {
            let error = WhatIf::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
