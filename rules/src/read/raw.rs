//! Contents of a file as they stand there: keys and texts, no names looked up yet (advice 5.1).

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::examples::{self, RawExample};
use super::fields::Fields;
use super::{MOST_EVENTS, MOST_RULES};
use crate::source::{Place, Problems, Source, Text, quoted};

/// The format of files that is understood.
const FORMAT: u64 = 1;

/// The longest file, in bytes (advice 5.3).
const LONGEST: usize = 1 << 20;

/// Signs of TOML in a file at most: line ends, `=`, `,`, dots, brackets, braces, backslashes. The time that a file takes to read is
/// in proportion to them, and the largest file would take seconds.
const MOST_SIGNS: usize = 1 << 16;

/// Names of `define` in a file at most.
const MOST_DEFINED: usize = 1024;

/// Values of `let` in a rule at most.
pub(super) const MOST_LETS: usize = 64;

/// Values of lists at most.
const MOST_LISTED: usize = 64;

/// Columns that make groups at most.
const MOST_KEYS: usize = 8;

const FILE_KEYS: [&str; 7] = ["format", "library", "define", "event", "rule", "set", "example"];
const EVENT_KEYS: [&str; 5] = ["id", "region", "begin", "end", "match"];
const RULE_KEYS: [&str; 8] = ["id", "refines", "over", "where", "by", "protects", "let", "finds"];
const SET_KEYS: [&str; 6] = ["off", "where", "protects", "let", "finds", "when"];

/// Keys of `finds` whose values are one text.
pub(super) const FINDS: [&str; 10] =
    ["when", "severity", "most", "scenario", "bound_if", "confidence", "claims", "change", "title", "advice"];

/// All that a file says.
#[derive(Default, Debug)]
pub(super) struct RawFile {
    pub(super) library: Option<String>,
    pub(super) defined: Vec<(Text, Text)>,
    pub(super) events: Vec<RawEvent>,
    pub(super) rules: Vec<RawRule>,
    pub(super) sets: Vec<RawSet>,
    pub(super) examples: Vec<RawExample>,
}

/// An event.
#[derive(Debug)]
pub(super) struct RawEvent {
    pub(super) place: Place,
    pub(super) id: Option<Text>,
    pub(super) region: Option<Vec<Text>>,
    pub(super) begin: Option<Vec<Text>>,
    pub(super) end: Option<Vec<Text>>,
    pub(super) matching: Option<Text>,
}

/// A rule.
#[derive(Clone, Debug)]
pub(super) struct RawRule {
    pub(super) place: Place,
    pub(super) id: Option<Text>,
    pub(super) refines: Vec<Text>,
    pub(super) over: Option<Text>,
    pub(super) filter: Option<Text>,
    pub(super) by: Vec<Text>,
    pub(super) protects: Option<Vec<Text>>,
    pub(super) lets: Vec<(Text, Text)>,
    pub(super) has_finds: bool,
    pub(super) finds: BTreeMap<&'static str, Text>,
    pub(super) shows: Vec<Text>,
    /// Constants of `when` that a set replaces: what they are compared with, and the new ones.
    pub(super) limits: Vec<(Text, Text)>,
}

/// What a file changes of a rule.
#[derive(Debug)]
pub(super) struct RawSet {
    pub(super) id: Text,
    pub(super) is_off: Option<bool>,
    pub(super) filter: Option<Text>,
    pub(super) protects: Option<Vec<Text>>,
    pub(super) lets: Vec<(Text, Text)>,
    pub(super) finds: BTreeMap<&'static str, Text>,
    pub(super) shows: Option<Vec<Text>>,
    pub(super) limits: Vec<(Text, Text)>,
}

/// Reads a file.
pub(super) fn read(file: usize, source: &Source, problems: &mut Problems) -> RawFile {
    let start = Place { file, at: 0 };
    if source.text.len() > LONGEST {
        problems.add(start, format!("file of {} bytes, expected at most {LONGEST}", source.text.len()));
        return RawFile::default();
    }
    let is_sign =
        |byte: &u8| matches!(byte, b'\n' | b'\r' | b'.' | b'=' | b',' | b'[' | b']' | b'{' | b'}' | b'\\');
    let signs = source.text.bytes().filter(is_sign).count();
    if signs > MOST_SIGNS {
        let message = format!(
            "file with {signs} lines, =, commas, dots, brackets and backslashes, expected at most {MOST_SIGNS}"
        );
        problems.add(start, message);
        return RawFile::default();
    }
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    for error in errors {
        let at = error.span().map_or(0, |span| span.start);
        problems.add(Place { file, at }, error.message());
    }
    let fields = Fields::new(file, &source.text, &table);
    fields.check_keys(&FILE_KEYS, problems);
    match fields.number("format", problems) {
        Some((FORMAT, _)) => {}
        Some((other, place)) => {
            problems
                .add(place, format!("format {other}, expected {FORMAT}: the file is for another version"));
            return RawFile::default();
        }
        None if fields.has("format") => {}
        None => problems.add(start, format!("no \"format\", expected format = {FORMAT}")),
    }
    let sets = fields.table("set", problems).map(|sets| sets.named_tables(problems)).unwrap_or_default();
    RawFile {
        library: fields.text("library", problems).map(|text| text.text).filter(|name| !name.is_empty()),
        defined: (fields.table("define", problems))
            .map(|defined| defined.expressions(MOST_DEFINED, problems))
            .unwrap_or_default(),
        events: (fields.tables("event", MOST_EVENTS, problems).iter())
            .map(|fields| event(fields, problems))
            .collect(),
        rules: fields
            .tables("rule", MOST_RULES, problems)
            .iter()
            .map(|fields| rule(fields, problems))
            .collect(),
        sets: sets.into_iter().take(MOST_RULES).map(|(id, fields)| set(id, &fields, problems)).collect(),
        examples: examples::read(&fields, problems),
    }
}

fn event(fields: &Fields<'_>, problems: &mut Problems) -> RawEvent {
    fields.check_keys(&EVENT_KEYS, problems);
    RawEvent {
        place: fields.place(),
        id: fields.text("id", problems),
        region: fields.texts("region", MOST_LISTED, problems),
        begin: fields.texts("begin", MOST_LISTED, problems),
        end: fields.texts("end", MOST_LISTED, problems),
        matching: fields.text("match", problems),
    }
}

fn rule(fields: &Fields<'_>, problems: &mut Problems) -> RawRule {
    fields.check_keys(&RULE_KEYS, problems);
    let found = fields.table("finds", problems);
    if !fields.has("finds") {
        problems.add(fields.place(), "rule without [rule.finds]");
    }
    let has_finds = found.is_some();
    let (finds, shows) = found.map(|found| finds(&found, problems)).unwrap_or_default();
    RawRule {
        place: fields.place(),
        id: fields.text("id", problems),
        refines: fields.texts("refines", MOST_LISTED, problems).unwrap_or_default(),
        over: fields.text("over", problems),
        filter: fields.expression("where", problems),
        by: fields.texts("by", MOST_KEYS, problems).unwrap_or_default(),
        protects: fields.texts("protects", MOST_LISTED, problems),
        lets: lets(fields, problems),
        has_finds,
        finds,
        shows: shows.unwrap_or_default(),
        limits: Vec::new(),
    }
}

fn lets(fields: &Fields<'_>, problems: &mut Problems) -> Vec<(Text, Text)> {
    fields.table("let", problems).map(|lets| lets.expressions(MOST_LETS, problems)).unwrap_or_default()
}

/// Texts by key, and the list of `shows`.
type Finds = (BTreeMap<&'static str, Text>, Option<Vec<Text>>);

fn finds(fields: &Fields<'_>, problems: &mut Problems) -> Finds {
    let known: Vec<&str> = FINDS.into_iter().chain(["shows"]).collect();
    fields.check_keys(&known, problems);
    let mut finds = BTreeMap::new();
    for key in FINDS {
        if let Some(text) = fields.expression(key, problems) {
            finds.insert(key, text);
        }
    }
    (finds, fields.texts("shows", MOST_LISTED, problems))
}

fn set(id: Text, fields: &Fields<'_>, problems: &mut Problems) -> RawSet {
    fields.check_keys(&SET_KEYS, problems);
    let found = fields.table("finds", problems);
    let (finds, shows) = found.map(|found| finds(&found, problems)).unwrap_or_default();
    let limits = fields.table("when", problems).map(|when| when.expressions(MOST_LETS, problems));
    RawSet {
        id,
        is_off: fields.flag("off", problems),
        filter: fields.expression("where", problems),
        protects: fields.texts("protects", MOST_LISTED, problems),
        lets: lets(fields, problems),
        finds,
        shows,
        limits: limits.unwrap_or_default(),
    }
}

/// Says that a key that must be there is not.
pub(super) fn missing(place: Place, what: &str, key: &str, problems: &mut Problems) {
    problems.add(place, format!("{what} without {}", quoted(key)));
}
