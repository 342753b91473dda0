//! Parser of scripts: a trace with the expected results of its analysis. `tests/golden/README.md` is the
//! manual.

mod events;
mod offload;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::{Paradigm, RegionRole, attributes};
use replay::{Focus, Semantics};

use self::events::step;
use self::words::{Words, number};
use super::regions::{by_name, properties};
use super::trace::{Context, Members, Step, Stream, StreamKind, Trace};

/// A severity's metric, call path and location.
pub(crate) type Key = (String, String, usize);

/// A script: a trace with its expectations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) trace: Trace,
    /// Whether clocks are corrected.
    pub(crate) corrects_clocks: bool,
    /// What is counted.
    pub(crate) focus: Vec<Focus>,
    /// Expected severities, in ticks or counts.
    expected: Vec<(Vec<Semantics>, Key, i64)>,
    findings: Vec<(Vec<Semantics>, String, u64)>,
    statistics: Vec<(Vec<Semantics>, String)>,
    /// Semantics in which findings are not compared.
    any_findings: Vec<Semantics>,
    /// The metrics whose severities are all listed.
    pub(crate) metrics: BTreeSet<String>,
}

impl Case {
    /// Reads a script.
    pub(crate) fn read(path: &Path) -> Case {
        let text = std::fs::read_to_string(path).unwrap();
        Case::parse(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
    }

    /// Reads the text of a script.
    pub(crate) fn parse(text: &str) -> Result<Case, String> {
        let mut parser = Parser::default();
        for (at, line) in text.lines().enumerate() {
            // Visits have numbers such as solve#2.
            let comment = line.match_indices('#').map(|(at, _)| at);
            let mut comment = comment.filter(|&at| at == 0 || line[..at].ends_with(' '));
            let line = line[..comment.next().unwrap_or(line.len())].trim();
            if !line.is_empty() {
                parser.line(line).map_err(|problem| format!("line {}: {problem}: {line}", at + 1))?;
            }
        }
        Ok(parser.case)
    }

    /// All severities of the named metrics, in ticks or counts.
    pub(crate) fn severities(&self, semantics: Semantics) -> BTreeMap<Key, i64> {
        let of_these = self.expected.iter().filter(|(these, _, _)| these.contains(&semantics));
        of_these.map(|(_, key, value)| (key.clone(), *value)).collect()
    }

    /// The expected lines of the statistics; none if they are not compared.
    pub(crate) fn statistics(&self, semantics: Semantics) -> Vec<&str> {
        let of_these = self.statistics.iter().filter(|(these, _)| these.contains(&semantics));
        of_these.map(|(_, line)| line.as_str()).collect()
    }

    /// The expected findings with their counts; `None` if they are not compared.
    pub(crate) fn findings(&self, semantics: Semantics) -> Option<BTreeMap<String, u64>> {
        if self.any_findings.contains(&semantics) {
            return None;
        }
        let of_these = self.findings.iter().filter(|(these, _, _)| these.contains(&semantics));
        Some(of_these.map(|(_, name, count)| (name.clone(), *count)).collect())
    }
}

#[derive(Default)]
struct Parser {
    case: Case,
    /// Time of the previous event.
    now: u64,
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let mut words = Words { rest: line };
        let trace = &mut self.case.trace;
        match words.word("keyword")? {
            "resolution" => trace.resolution = words.number("resolution")?,
            "offset" => trace.offset = words.number("offset")?,
            "big-endian" => trace.big_endian = true,
            "uncounted" => trace.uncounted = true,
            "focus" => self.case.focus.push(Focus::parse(words.rest())?),
            "correct-clocks" => self.case.corrects_clocks = true,
            "program" => trace.program = Some(words.rest().into()),
            "comm" | "intercomm" => self.communicator(&mut words)?,
            "window" => {
                let (name, communicator) = (words.word("name")?, words.word("communicator")?);
                trace.windows.push((name.into(), communicator.into()));
            }
            "file" => {
                let name = words.word("name")?;
                trace.files.push((name.into(), words.next().map(str::to_owned)));
            }
            "stripe" => trace.file_properties.push((
                words.word("file")?.into(),
                "Stripe Size",
                words.number("bytes")?,
            )),
            "block" => {
                trace.file_properties.push((words.word("file")?.into(), "Block Size", words.number("bytes")?))
            }
            "region" => self.region(&mut words)?,
            "context" => self.context(&mut words)?,
            "rank" => self.stream(&mut words)?,
            "repeat" => self.repeat(&mut words)?,
            "expect" => self.expect(&mut words)?,
            "none" => self.case.metrics.extend(words.rest().split_whitespace().map(str::to_owned)),
            "finding" => self.finding(&mut words)?,
            "stat" => {
                let semantics = semantics(words.word("semantics")?)?;
                self.case.statistics.push((semantics, words.rest().to_owned()));
            }
            _ => {
                for statement in line.split(';').map(str::trim).filter(|it| !it.is_empty()) {
                    self.statement(statement)?;
                }
            }
        }
        Ok(())
    }

    fn communicator(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let name = words.word("name")?.to_owned();
        let list = |text: &str| -> Result<Vec<u64>, String> {
            text.split_whitespace()
                .map(|rank| rank.parse().map_err(|_| format!("{rank} is no rank")))
                .collect()
        };
        let ranks = words.rest();
        let members = match ranks.split_once('|') {
            Some((a, b)) => Members::Sides(list(a)?, list(b)?),
            None => Members::Ranks(list(ranks)?),
        };
        self.case.trace.communicators.push((name, members));
        Ok(())
    }

    fn region(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let name = words.quoted("name")?;
        let mut is = properties(name);
        let options = words.options(&["paradigm", "role", "file", "line", "flag"])?;
        if let Some(paradigm) = options.get("paradigm") {
            is.paradigm = by_name(paradigm, Paradigm, Paradigm::name).ok_or("unknown paradigm")?;
        }
        if let Some(role) = options.get("role") {
            is.role = by_name(role, RegionRole, RegionRole::name).ok_or("unknown role")?;
        }
        if let Some(file) = options.get("file") {
            is.file = (*file).into();
        }
        if let Some(line) = options.get("line") {
            is.line = line.parse().map_err(|_| "no line")?;
        }
        if let Some(flag) = options.get("flag") {
            is.flags =
                ["", "dynamic", "phase"].iter().position(|known| known == flag).ok_or("unknown flag")? as u32;
        }
        self.case.trace.regions.insert(name.into(), is);
        Ok(())
    }

    fn context(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let (name, region) = (words.word("name")?.to_owned(), words.word("region")?.to_owned());
        let options = words.options(&["in", "line"])?;
        let line = options.get("line").map(|line| line.parse().map_err(|_| "no line")).transpose()?;
        let parent = options.get("in").map(|&parent| parent.to_owned());
        self.case.trace.contexts.push(Context { name, region, parent, line });
        Ok(())
    }

    fn stream(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let mut stream = Stream::new(words.number("rank")?);
        while let Some(word) = words.next() {
            match word {
                "thread" => stream.thread = words.number("thread")?,
                "id" => stream.id = Some(words.number("id")?),
                "gpu" => (stream.thread, stream.kind) = (words.number("gpu")?, StreamKind::Accelerator),
                "metric" => (stream.thread, stream.kind) = (words.number("metric")?, StreamKind::Metric),
                "device" => stream.device = words.number("device")?,
                "program" => stream.program = Some(words.word("program")?.into()),
                "node" => stream.node = Some(words.word("node")?.into()),
                "clock" => stream.clock.push((words.number("time")?, words.number("offset")?)),
                "mapped" => stream.mapped = true,
                "missing" => stream.missing = true,
                "cut" => stream.cut = words.number("number of bytes")?,
                _ => return Err(format!("unknown word {word}")),
            }
        }
        self.case.trace.streams.push(stream);
        self.now = 0;
        Ok(())
    }

    /// `repeat TIMES every TICKS: statements`
    fn repeat(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let (head, body) = words.rest().split_once(':').ok_or("no colon")?;
        let mut words = Words { rest: head };
        let times: u64 = words.number("number of times")?;
        let every: u64 = number(&words.options(&["every"])?, "every", 0)?;
        let streams = self.case.trace.streams.len();
        let first = self.case.trace.streams.get(streams.wrapping_sub(1)).ok_or("no rank yet")?.events.len();
        for statement in body.split(';').map(str::trim).filter(|it| !it.is_empty()) {
            self.statement(statement)?;
        }
        let stream = &mut self.case.trace.streams[streams - 1];
        let body: Vec<_> = stream.events[first..].to_vec();
        for turn in 1..times {
            stream.events.extend(body.iter().map(|(time, step)| (time + turn * every, step.clone())));
        }
        self.now += (times - 1) * every;
        Ok(())
    }

    /// An event, with its time unless that is the time of the previous event.
    fn statement(&mut self, statement: &str) -> Result<(), String> {
        let mut words = Words { rest: statement };
        let mut word = words.word("event")?;
        if let Ok(time) = word.parse() {
            self.now = time;
            word = words.word("event")?;
        }
        let step = match word {
            "with" => {
                let (known, event) = words.rest().split_once(": ").ok_or("no colon")?;
                let known = attributes(&mut self.case.trace, &mut Words { rest: known })?;
                let mut words = Words { rest: event };
                Step::WithAttributes(Box::new(step(words.word("event")?, &mut words)?), known)
            }
            word if offload::WORDS.contains(&word) => {
                let stream = self.case.trace.streams.last().ok_or("no rank yet")?;
                offload::step(word, &mut words, stream.rank)?
            }
            word => step(word, &mut words)?,
        };
        let stream = self.case.trace.streams.last_mut().ok_or("no rank yet")?;
        stream.at(self.now, step);
        match words.next() {
            Some(word) => Err(format!("unexpected {word}")),
            None => Ok(()),
        }
    }

    /// `expect SEMANTICS METRIC PATH @LOCATION VALUE @LOCATION VALUE …`
    fn expect(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let these = semantics(words.word("semantics")?)?;
        let metric = words.word("metric")?.to_owned();
        let rest = words.rest();
        let (path, values) = rest.split_once(" @").ok_or("no location")?;
        self.case.metrics.insert(metric.clone());
        for value in values.split('@') {
            let mut words = Words { rest: value };
            let key = (metric.clone(), path.trim().to_owned(), words.number("location")?);
            self.case.expected.push((these.clone(), key, words.number("value")?));
        }
        Ok(())
    }

    fn finding(&mut self, words: &mut Words<'_>) -> Result<(), String> {
        let these = semantics(words.word("semantics")?)?;
        let rest = words.rest();
        if rest == "any" {
            self.case.any_findings = these;
            return Ok(());
        }
        let (name, count) =
            rest.strip_prefix('"').and_then(|rest| rest.split_once('"')).ok_or("no name in quotes")?;
        let count = count.trim().parse().map_err(|_| "no count")?;
        self.case.findings.push((these, name.into(), count));
        Ok(())
    }
}

/// Attributes of an event. Communicators are numbered as in [`Trace::communicators`], behind the world and that of a process
/// alone.
fn attributes(trace: &mut Trace, words: &mut Words<'_>) -> Result<Vec<(&'static str, u64)>, String> {
    let mut known = Vec::new();
    while let Some(word) = words.next() {
        known.push(match word {
            "unrecorded" => (attributes::UNRECORDED, words.number("value")?),
            "posted" => (attributes::POSTED, words.number("value")?),
            "disordered" => (attributes::DISORDERED, 1),
            "counted" => (attributes::COUNTED, 1),
            "whole" => (attributes::COUNTED, 2),
            "source" => (attributes::PROBE_SOURCE, words.number("value")?),
            "tag" => (attributes::PROBE_TAG, words.number("value")?),
            "comm" => (attributes::PROBE_COMM, communicator(trace, words.word("communicator")?)?),
            "in" => (attributes::NEIGHBORS_IN, communicator(trace, words.word("communicator")?)?),
            "out" => (attributes::NEIGHBORS_OUT, communicator(trace, words.word("communicator")?)?),
            "persistent" => (attributes::PERSISTENT_OPERATION, words.number("value")?),
            "partitioned" => (attributes::PARTITIONED, words.number("value")?),
            "file" => {
                let name = words.word("file")?;
                let at = trace.files.iter().position(|(known, _)| known == name);
                (attributes::FILE, at.ok_or_else(|| format!("no file {name}"))? as u64)
            }
            "offset" => ("Offset", words.number("value")?),
            "view" => ("View", words.number("value")?),
            "etype" => ("ViewEtype", words.number("value")?),
            "size" => ("ViewSize", words.number("value")?),
            "extent" => ("ViewExtent", words.number("value")?),
            "pieces" => ("ViewPieces", words.number("value")?),
            "file-size" => ("FileSize", words.number("value")?),
            "type" | "hints" => {
                // Semicolons end statements.
                trace.texts.push(words.word("text")?.replace('|', ";"));
                (if word == "type" { "ViewType" } else { "Hints" }, trace.texts.len() as u64 - 1)
            }
            _ => return Err(format!("unknown attribute {word}")),
        });
    }
    Ok(known)
}

/// The number of a communicator in attributes.
fn communicator(trace: &Trace, name: &str) -> Result<u64, String> {
    match ["world", "self"].into_iter().position(|known| known == name) {
        Some(at) => Ok(at as u64),
        None => {
            let at = trace.communicators.iter().position(|known| known.0 == name);
            at.map(|at| at as u64 + 2).ok_or(format!("no communicator {name}"))
        }
    }
}

fn semantics(word: &str) -> Result<Vec<Semantics>, String> {
    match word {
        "both" => Ok(vec![Semantics::Reference, Semantics::Corrected]),
        "reference" => Ok(vec![Semantics::Reference]),
        "corrected" => Ok(vec![Semantics::Corrected]),
        _ => Err(format!("{word} is neither both, reference nor corrected")),
    }
}
