//! Parser of scripts: a trace with the expected results of its analysis. `tests/golden/README.md` is the
//! manual.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::str::FromStr;

use model::{Paradigm, RegionRole, attributes};
use replay::Semantics;

use super::regions::{by_name, operation, properties};
use super::trace::{Context, Members, Message, Step, Stream, StreamKind, Trace};

/// A severity's metric, call path and location.
pub(crate) type Key = (String, String, usize);

/// A script: a trace with its expectations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) trace: Trace,
    /// Whether clocks are corrected.
    pub(crate) corrects_clocks: bool,
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
            let line = line.split('#').next().unwrap_or("").trim();
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

/// The remaining words of a line or statement.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        Some(word)
    }

    fn word(&mut self, what: &str) -> Result<&'a str, String> {
        self.next().ok_or_else(|| format!("{what} is missing"))
    }

    fn number<T: FromStr>(&mut self, what: &str) -> Result<T, String> {
        let word = self.word(what)?;
        word.parse().map_err(|_| format!("{word} is not a {what}"))
    }

    fn rest(&mut self) -> &'a str {
        std::mem::take(&mut self.rest).trim()
    }

    /// Pairs of a keyword and a value, up to the end.
    fn options(&mut self, known: &[&str]) -> Result<BTreeMap<&'a str, &'a str>, String> {
        let mut options = BTreeMap::new();
        while let Some(key) = self.next() {
            if !known.contains(&key) {
                return Err(format!("unknown word {key}, expected one of {known:?}"));
            }
            options.insert(key, self.word(key)?);
        }
        Ok(options)
    }
}

/// A number among options, or a default.
fn number<T: FromStr>(options: &BTreeMap<&str, &str>, key: &str, default: T) -> Result<T, String> {
    options
        .get(key)
        .map_or(Ok(default), |value| value.parse().map_err(|_| format!("{value} is not a number")))
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
            "correct-clocks" => self.case.corrects_clocks = true,
            "program" => trace.program = Some(words.rest().into()),
            "comm" | "intercomm" => self.communicator(&mut words)?,
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
        let name = words.word("name")?;
        let mut is = properties(name);
        let options = words.options(&["paradigm", "role", "file"])?;
        if let Some(paradigm) = options.get("paradigm") {
            is.paradigm = by_name(paradigm, Paradigm, Paradigm::name).ok_or("unknown paradigm")?;
        }
        if let Some(role) = options.get("role") {
            is.role = by_name(role, RegionRole, RegionRole::name).ok_or("unknown role")?;
        }
        if let Some(file) = options.get("file") {
            is.file = (*file).into();
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
                "program" => stream.program = Some(words.word("program")?.into()),
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
                let (known, event) = words.rest().split_once(':').ok_or("no colon")?;
                let known = attributes(&self.case.trace, &mut Words { rest: known })?;
                let mut words = Words { rest: event };
                Step::WithAttributes(Box::new(step(words.word("event")?, &mut words)?), known)
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
fn attributes(trace: &Trace, words: &mut Words<'_>) -> Result<Vec<(&'static str, u64)>, String> {
    let mut known = Vec::new();
    let communicator = |name: &str| match ["world", "self"].into_iter().position(|known| known == name) {
        Some(at) => Ok(at as u64),
        None => {
            let at = trace.communicators.iter().position(|known| known.0 == name);
            at.map(|at| at as u64 + 2).ok_or(format!("no communicator {name}"))
        }
    };
    while let Some(word) = words.next() {
        known.push(match word {
            "unrecorded" => (attributes::UNRECORDED, words.number("value")?),
            "posted" => (attributes::POSTED, words.number("value")?),
            "disordered" => (attributes::DISORDERED, 1),
            "counted" => (attributes::COUNTED, 1),
            "source" => (attributes::PROBE_SOURCE, words.number("value")?),
            "tag" => (attributes::PROBE_TAG, words.number("value")?),
            "comm" => (attributes::PROBE_COMM, communicator(words.word("communicator")?)?),
            "in" => (attributes::NEIGHBORS_IN, communicator(words.word("communicator")?)?),
            "out" => (attributes::NEIGHBORS_OUT, communicator(words.word("communicator")?)?),
            "persistent" => (attributes::PERSISTENT_OPERATION, words.number("value")?),
            "partitioned" => (attributes::PARTITIONED, words.number("value")?),
            _ => return Err(format!("unknown attribute {word}")),
        });
    }
    Ok(known)
}

fn semantics(word: &str) -> Result<Vec<Semantics>, String> {
    match word {
        "both" => Ok(vec![Semantics::Reference, Semantics::Corrected]),
        "reference" => Ok(vec![Semantics::Reference]),
        "corrected" => Ok(vec![Semantics::Corrected]),
        _ => Err(format!("{word} is neither both, reference nor corrected")),
    }
}

/// Parses an event; `words` holds everything behind its first word.
fn step(word: &str, words: &mut Words<'_>) -> Result<Step, String> {
    let region = |words: &mut Words<'_>| match words.rest() {
        "" => Err("region is missing".to_owned()),
        name => Ok(name.to_owned()),
    };
    Ok(match word {
        ">" => Step::Enter(region(words)?),
        "<" => match words.rest() {
            "" => Step::Leave,
            name => Step::LeaveRegion(name.into()),
        },
        "send" => Step::Send(message(words, None)?.0),
        "recv" => Step::Recv(message(words, None)?.0),
        "isend" => message(words, Some("req")).map(|(message, request)| Step::Isend(message, request))?,
        "irecv" => message(words, Some("req")).map(|(message, request)| Step::Irecv(message, request))?,
        "probe" => message(words, Some("msg")).map(|(message, id)| Step::Probe(message, id))?,
        "sent" => Step::IsendComplete(words.number("request")?),
        "post" => Step::IrecvRequest(words.number("request")?),
        "test" => Step::Test(words.number("request")?),
        "cancel" => Step::Cancel(words.number("request")?),
        "mrecv" => {
            let message = words.number("message")?;
            Step::Mrecv { message, bytes: number(&words.options(&["bytes"])?, "bytes", BYTES)? }
        }
        "mpost" => {
            let message = words.number("message")?;
            Step::ImrecvRequest { message, request: number(&words.options(&["req"])?, "req", 0)? }
        }
        "imrecv" => {
            let request = words.number("request")?;
            Step::Imrecv { request, bytes: number(&words.options(&["bytes"])?, "bytes", BYTES)? }
        }
        "created" => Step::CommCreate(words.word("communicator")?.to_owned()),
        "begin" => Step::CollectiveBegin,
        "end" => {
            let name = words.word("operation")?;
            let operation = operation(name).ok_or_else(|| format!("unknown operation {name}"))?;
            let options = words.options(&["root", "sent", "received", "comm"])?;
            Step::CollectiveEnd {
                operation,
                root: root(&options)?,
                sent: number(&options, "sent", 0)?,
                received: number(&options, "received", 0)?,
                communicator: options.get("comm").unwrap_or(&"world").to_string(),
            }
        }
        "istart" => Step::NonBlockingRequest(words.number("request")?),
        "idone" => {
            let name = words.word("operation")?;
            let operation = operation(name).ok_or_else(|| format!("unknown operation {name}"))?;
            let options = words.options(&["req", "root", "sent", "received", "comm"])?;
            Step::NonBlockingComplete {
                operation,
                root: root(&options)?,
                sent: number(&options, "sent", 0)?,
                received: number(&options, "received", 0)?,
                communicator: options.get("comm").unwrap_or(&"world").to_string(),
                request: number(&options, "req", 0)?,
            }
        }
        "fork" => Step::Fork,
        "join" => Step::Join,
        "team" => Step::TeamBegin,
        "team-end" => Step::TeamEnd,
        "task-create" | "task-switch" | "task-complete" => {
            let task = words.number("task")?;
            let creator = number(&words.options(&["of"])?, "of", 0)?;
            match word {
                "task-create" => Step::TaskCreate(creator, task),
                "task-switch" => Step::TaskSwitch(creator, task),
                _ => Step::TaskComplete(creator, task),
            }
        }
        "acquire" | "release" => {
            let lock = words.number("lock")?;
            let options = words.options(&["order", "model"])?;
            let order = number(&options, "order", 0)?;
            let model = match options.get("model") {
                Some(model) => by_name(model, Paradigm, Paradigm::name).ok_or("unknown model")?,
                None => Paradigm::OPENMP,
            };
            match word {
                "acquire" => Step::Acquire { model, lock, order },
                _ => Step::Release { model, lock, order },
            }
        }
        "on" => Step::Recording(true),
        "off" => Step::Recording(false),
        "flush" => Step::Flush { until: words.number("time")? },
        "ctx>" => {
            let name = words.word("context")?.to_owned();
            Step::ContextEnter(name, number(&words.options(&["unwind"])?, "unwind", 2)?)
        }
        "ctx<" => Step::ContextLeave(words.word("context")?.into()),
        "sample" => {
            let name = words.word("context")?.to_owned();
            Step::Sample(name, number(&words.options(&["unwind"])?, "unwind", 1)?)
        }
        "metric" => Step::Metric(words.number("value")?),
        _ => return Err(format!("unknown event {word}")),
    })
}

/// The root among options, if there is one.
fn root(options: &BTreeMap<&str, &str>) -> Result<Option<u32>, String> {
    options.get("root").map(|root| root.parse().map_err(|_| "no root".to_owned())).transpose()
}

/// Default length of a message in bytes.
const BYTES: u64 = 8;

/// Peer and properties of a message, and the number that `key` names.
fn message(words: &mut Words<'_>, key: Option<&str>) -> Result<(Message, u64), String> {
    let peer = words.number("rank")?;
    let known: Vec<&str> = ["tag", "bytes", "comm"].into_iter().chain(key).collect();
    let options = words.options(&known)?;
    let message = Message {
        peer,
        tag: number(&options, "tag", 0)?,
        bytes: number(&options, "bytes", BYTES)?,
        communicator: options.get("comm").unwrap_or(&"world").to_string(),
    };
    match key {
        Some(key) if !options.contains_key(key) => Err(format!("{key} is missing")),
        Some(key) => Ok((message, number(&options, key, 0)?)),
        None => Ok((message, 0)),
    }
}
