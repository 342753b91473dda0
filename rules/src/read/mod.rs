//! Reads files of rules and checks them: every error of every file is found, not only the first one (advice 5.3).

mod build;
mod changes;
mod examples;
mod fields;
mod limits;
mod raw;
mod refines;
mod sets;

use std::collections::BTreeMap;

use crate::check::Definition;
use crate::rule::{Event, EventKind, Matching, Rule, Rules};
use crate::schema::Schema;
use crate::source::{Place, Problem, Problems, Source, Text, quoted};
use crate::suggest::suggestion;
use crate::{example, glob, parse};
pub(crate) use examples::{Cell, RawCase, RawExample};
use raw::{RawEvent, RawFile, RawRule, missing};

/// Rules of all files at most (advice 5.3).
const MOST_RULES: usize = 256;

/// Events of all files at most (advice 5.3).
const MOST_EVENTS: usize = 32;

/// Ways to find the begin of an end.
const MATCHES: [&str; 3] = ["fifo", "lifo", "parameter:NAME"];

/// Reads rules from files. Their order has no influence on what is found.
///
/// # Errors
/// If there is anything wrong in them: all of it, by file and place, as far as one may want to read it.
pub fn read(sources: &[Source], schema: &Schema) -> Result<Rules, Vec<Problem>> {
    read_with(sources, schema, &|_| None)
}

/// What else is wrong with a rule, for those who are to make something of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Objection {
    /// The key of the rule that is to be changed; the rule as a whole if it has no such key.
    pub key: &'static str,
    /// What was found and what was expected, in one line.
    pub message: String,
}

/// The same, with what a caller has against a rule that is right otherwise.
///
/// # Errors
/// As [`read()`].
pub fn read_with(
    sources: &[Source],
    schema: &Schema,
    judge: &dyn Fn(&Rule) -> Option<Objection>,
) -> Result<Rules, Vec<Problem>> {
    read_all(sources, schema, judge).map(|read| read.rules)
}

/// All that files say, once it was found right.
pub(crate) struct Read {
    pub(crate) rules: Rules,
    /// Examples, with the positions of their rules.
    pub(crate) examples: Vec<(usize, RawExample)>,
    defined: Vec<Definition>,
    raws: BTreeMap<String, Known>,
}

/// The same as [`read_with()`], with examples, and with what is needed to change conditions.
pub(crate) fn read_all(
    sources: &[Source],
    schema: &Schema,
    judge: &dyn Fn(&Rule) -> Option<Objection>,
) -> Result<Read, Vec<Problem>> {
    let mut problems = Problems::default();
    let files: Vec<RawFile> =
        sources.iter().enumerate().map(|(file, source)| raw::read(file, source, &mut problems)).collect();
    let events = events(&files, &mut problems);
    let defined = definitions(&files, &mut problems);
    let mut raws = rules_of(&files, &mut problems);
    sets::apply((sources, &files), &mut raws, &mut problems);
    refines::check(&raws, &mut problems);
    let mut rules = Vec::new();
    for raw in raws.values().filter(|raw| !raw.is_off) {
        if problems.is_full() {
            break;
        }
        let rule = build::rule((schema, &events, &defined), raw, &mut problems);
        if let Some(Objection { key, message }) = rule.as_ref().and_then(judge) {
            let text = match key {
                "where" => raw.raw.filter.as_ref(),
                key => raw.raw.finds.get(key),
            };
            problems.add(text.unwrap_or(&raw.id).start(), message);
        }
        rules.extend(rule);
    }
    let rules = Rules { schema: schema.clone(), rules, events };
    let (mut examples, mut rows) = (Vec::new(), 0);
    for example in files.into_iter().flat_map(|file| file.examples) {
        let Some(known) = raws.get(&example.rule.text) else {
            let hint = suggestion(&example.rule.text, raws.keys().map(String::as_str));
            let message = format!("unknown rule {}{hint}", quoted(&example.rule.text));
            problems.add(example.rule.start(), message);
            continue;
        };
        // Nothing can be said of a rule that is off, or wrong.
        if let Some(at) = rules.rules.iter().position(|rule| rule.id == known.id.text) {
            example::check(&rules, &rules.rules[at], &example, &mut rows, &mut problems);
            examples.push((at, example));
        }
    }
    match problems.finish(sources) {
        found if found.is_empty() => Ok(Read { rules, examples, defined, raws }),
        found => Err(found),
    }
}

impl Read {
    /// Each change of a condition of a rule, by its position: where, in words, and the rule with it if that is right.
    pub(crate) fn changes(&self, rule: usize) -> Vec<(Place, String, Option<Rule>)> {
        let known = &self.raws[&self.rules.rules[rule].id];
        let changed = |raw: RawRule| {
            let known = Known { raw, ..known.clone() };
            let of = (&self.rules.schema, &self.rules.events[..], &self.defined[..]);
            build::rule(of, &known, &mut Problems::default())
        };
        changes::of_rule(&known.raw).into_iter().map(|it| (it.place, it.what, changed(it.raw))).collect()
    }
}

/// A rule of a file.
#[derive(Clone, Debug)]
struct Known {
    raw: RawRule,
    id: Text,
    library: Option<String>,
    is_off: bool,
    /// Values of `let` in its own file; those that sets add come behind them.
    own_lets: usize,
}

/// Rules of all files by id.
fn rules_of(files: &[RawFile], problems: &mut Problems) -> BTreeMap<String, Known> {
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    let all = files.iter().flat_map(|file| file.rules.iter().map(|raw| (raw, &file.library)));
    for (raw, library) in all {
        let Some(id) = &raw.id else {
            missing(raw.place, "rule", "id", problems);
            continue;
        };
        if !is_rule_id(&id.text) {
            let message =
                format!("id {}, expected PREFIX/NAME of letters, digits, - and _", quoted(&id.text));
            problems.add(id.start(), message);
        } else if known.contains_key(&id.text) {
            problems.add(id.start(), format!("rule {} is there twice", quoted(&id.text)));
        } else if known.len() == MOST_RULES {
            problems.add(id.start(), format!("more than {MOST_RULES} rules in all files"));
            break;
        } else {
            let rule = Known {
                raw: raw.clone(),
                id: id.clone(),
                library: library.clone(),
                is_off: false,
                own_lets: raw.lets.len(),
            };
            known.insert(id.text.clone(), rule);
        }
    }
    known
}

fn is_rule_id(id: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    id.len() <= 128 && id.split_once('/').is_some_and(|(prefix, name)| is_word(prefix) && is_word(name))
}

/// Whether a text can be a name in expressions.
fn is_name(text: &str) -> bool {
    parse::parse(text)
        .is_ok_and(|tree| matches!(&tree.nodes[tree.root].kind, parse::NodeKind::Name(name) if name == text))
        && !text.contains('.')
}

/// Events of all files by id.
fn events(files: &[RawFile], problems: &mut Problems) -> Vec<Event> {
    let mut events: BTreeMap<String, Event> = BTreeMap::new();
    for raw in files.iter().flat_map(|file| &file.events) {
        let Some(id) = &raw.id else {
            missing(raw.place, "event", "id", problems);
            continue;
        };
        if !is_name(&id.text) {
            problems.add(id.start(), format!("id {}, expected a name", quoted(&id.text)));
        } else if events.contains_key(&id.text) {
            problems.add(id.start(), format!("event {} is there twice", quoted(&id.text)));
        } else if events.len() == MOST_EVENTS {
            problems.add(id.start(), format!("more than {MOST_EVENTS} events in all files"));
            break;
        } else if let Some(kind) = event_kind(raw, problems) {
            events.insert(id.text.clone(), Event { id: id.text.clone(), kind });
        }
    }
    events.into_values().collect()
}

fn event_kind(raw: &RawEvent, problems: &mut Problems) -> Option<EventKind> {
    match (&raw.region, &raw.begin, &raw.end) {
        (Some(regions), None, None) => {
            if let Some(matching) = &raw.matching {
                problems.add(matching.start(), "\"match\" is of use with \"begin\" and \"end\" only");
            }
            Some(EventKind::Visits { regions: patterns(regions, problems) })
        }
        (None, Some(begin), Some(end)) => Some(EventKind::Pairs {
            begin: patterns(begin, problems),
            end: patterns(end, problems),
            matching: matching(raw.matching.as_ref(), problems)?,
        }),
        _ => {
            problems.add(raw.place, "event with neither \"region\" alone nor both \"begin\" and \"end\"");
            None
        }
    }
}

fn matching(text: Option<&Text>, problems: &mut Problems) -> Option<Matching> {
    let Some(text) = text else { return Some(Matching::Fifo) };
    match (text.text.as_str(), text.text.strip_prefix("parameter:")) {
        ("fifo", _) => Some(Matching::Fifo),
        ("lifo", _) => Some(Matching::Lifo),
        (_, Some(name)) if !name.is_empty() => Some(Matching::Parameter(name.to_owned())),
        _ => {
            let hint = suggestion(&text.text, MATCHES);
            let message = format!("match {}, expected {}{hint}", quoted(&text.text), MATCHES.join(", "));
            problems.add(text.start(), message);
            None
        }
    }
}

/// Patterns of names, none of them longer than there is a use for.
fn patterns(texts: &[Text], problems: &mut Problems) -> Vec<String> {
    for text in texts {
        if text.text.len() > glob::LONGEST {
            problems.add(text.start(), format!("pattern of more than {} bytes", glob::LONGEST));
        }
    }
    texts.iter().map(|text| text.text.clone()).collect()
}

/// Definitions of all files; each is for the expressions of its file only.
fn definitions(files: &[RawFile], problems: &mut Problems) -> Vec<Definition> {
    let mut defined = Vec::new();
    for (name, text) in files.iter().flat_map(|file| &file.defined) {
        if problems.is_full() {
            break;
        }
        if !is_name(&name.text) {
            problems.add(name.start(), format!("{} is no name for an expression", quoted(&name.text)));
        } else if let Some(tree) = tree(text, problems) {
            defined.push(Definition { name: name.text.clone(), text: text.clone(), tree });
        }
    }
    defined
}

/// Reads an expression.
fn tree(text: &Text, problems: &mut Problems) -> Option<parse::Tree> {
    match parse::parse(&text.text) {
        Ok(tree) => Some(tree),
        Err(wrong) => {
            problems.add(text.place(wrong.at), wrong.message);
            None
        }
    }
}

/// Where problems of a rule as a whole are.
fn place_of(known: &Known) -> Place {
    known.id.start()
}
