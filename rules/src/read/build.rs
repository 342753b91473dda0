//! Checks a rule: looks up its names and makes code of its expressions.

use super::{Known, is_name, limits, missing, patterns, place_of, tree};
use crate::Type;
use crate::check::{self, Definition, Scope};
use crate::code::{Aggregate, Code, Gather, Of, Op, Test};
use crate::program::{compile, compile_condition};
use crate::rule::{Claims, Event, EventKind, Gain, Over, Place, Programs, Rule, Scenario, can_group};
use crate::schema::{Grouping, Schema, Table};
use crate::source::{Problems, Text, quoted};
use crate::suggest::suggestion;
use crate::template::Template;

/// Different values that a rule gathers of each group at most: groups may be many.
const MOST_GATHERED: usize = 32;

/// Makes a rule of what files say about it; `None` if anything is wrong with it.
pub(super) fn rule(
    (schema, events, defined): (&Schema, &[Event], &[Definition]),
    known: &Known,
    problems: &mut Problems,
) -> Option<Rule> {
    let raw = &known.raw;
    let before = problems.len();
    let Some(over) = &raw.over else {
        missing(place_of(known), "rule", "over", problems);
        return None;
    };
    let over = self::over(schema, events, over, problems)?;
    let table = &schema.tables[over.table];
    let mut scope = Scope {
        schema,
        table,
        events,
        defined,
        keys: Vec::new(),
        lets: Vec::new(),
        aggregates: Vec::new(),
        calls: Vec::new(),
        is_found: false,
        is_text: false,
        nodes: 0,
    };
    let filter = raw.filter.as_ref().and_then(|text| {
        let code = compiled(&mut scope, check::Over::Row, text, problems)?;
        of_type(code, Type::Bool, "where", text, problems)
    });
    let by = keys(table, &raw.by, problems);
    scope.keys.clone_from(&by);
    if raw.protects.is_some() && table.column("path").is_none() {
        problems.add(place_of(known), "\"protects\" needs rows with a call path");
    }
    let protects = raw.protects.as_ref().map(|texts| patterns(texts, problems));
    let filter = match (&protects, table.column("path")) {
        (Some(patterns), Some(path)) if !patterns.is_empty() => Some(outside(filter, path, patterns)),
        _ => filter,
    };
    let lets = lets(&mut scope, &raw.lets, problems);
    scope.is_found = true;
    let when = when(&mut scope, known, problems);
    let severity = needed(known, "severity", problems).and_then(|text| {
        let code = compiled(&mut scope, check::Over::Group, text, problems)?;
        of_type(code, Type::Time, "severity", text, problems)
    });
    let (gain, gain_value) = match raw.finds.get("most") {
        Some(text) => self::gain(&mut scope, text, problems),
        None => (None, None),
    };
    let confidence = raw.finds.get("confidence").and_then(|text| {
        let code = compiled(&mut scope, check::Over::Group, text, problems)?;
        of_type(code, Type::Number, "confidence", text, problems)
    });
    let bound_if = raw.finds.get("bound_if").and_then(|text| {
        let code = compiled(&mut scope, check::Over::Group, text, problems)?;
        of_type(code, Type::Bool, "bound_if", text, problems)
    });
    let claims = raw.finds.get("claims").map(|text| claims(text, problems)).unwrap_or_default();
    let weight = severity.as_ref().and_then(|code| weight(code, &lets, &scope.aggregates));
    let mut places = Places { table, by: &by, aggregates: &mut scope.aggregates, weight };
    let change = raw.finds.get("change").and_then(|text| places.change(text, problems));
    let scenario = raw.finds.get("scenario").and_then(|text| places.scenario(text, problems));
    let title = needed(known, "title", problems).map(|text| Template::read(&mut scope, text, problems));
    let advice = needed(known, "advice", problems).map(|text| Template::read(&mut scope, text, problems));
    let mut shows = Vec::new();
    for text in &raw.shows {
        if let Some(code) = compiled(&mut scope, check::Over::Group, text, problems) {
            shows.push((text.text.clone(), code));
        }
    }
    if scope.aggregates.len() > MOST_GATHERED {
        let message =
            format!("{} values of each group, expected at most {MOST_GATHERED}", scope.aggregates.len());
        problems.add(place_of(known), message);
    }
    if problems.len() > before {
        return None;
    }
    let programs = programs(filter.as_ref(), &scope.aggregates)
        .map_err(|message| problems.add(place_of(known), message))
        .ok()?;
    let (when, limits) = when?;
    let uses_ranks = scope.aggregates.iter().any(|aggregate| aggregate.gather == Gather::Series);
    Some(Rule {
        id: known.id.text.clone(),
        library: known.library.clone(),
        refines: raw.refines.iter().map(|text| text.text.clone()).collect(),
        over,
        filter,
        protects,
        by,
        aggregates: scope.aggregates,
        programs,
        rank: table.column("rank").filter(|_| uses_ranks),
        lets,
        when,
        limits,
        severity: severity?,
        gain,
        gain_value,
        scenario,
        bound_if,
        confidence,
        claims,
        change,
        title: title?,
        advice: advice?,
        shows,
    })
}

/// A condition that also holds only of rows whose path is not below one of the patterns.
fn outside(filter: Option<Code>, path: usize, patterns: &[String]) -> Code {
    let mut code = filter.unwrap_or_default();
    let mut push = |op: Op, kind: Type| {
        code.nodes.push((op, kind.into()));
        code.nodes.len() - 1
    };
    let column = push(Op::Column(path), Type::Path);
    let is_below = push(Op::Named(column, Test::under(patterns), true), Type::Bool);
    let is_outside = push(Op::Not(is_below), Type::Bool);
    if column > 0 {
        push(Op::And(column - 1, is_outside), Type::Bool);
    }
    code
}

/// Programs of a rule, or why one is too long; what is gathered is named in the message.
fn programs(filter: Option<&Code>, aggregates: &[Aggregate]) -> Result<Programs, String> {
    let filter =
        filter.map(compile_condition).transpose().map_err(|message| format!("`where` takes {message}"))?;
    let of_aggregate = |aggregate: &Aggregate| {
        Ok((compile(&aggregate.input)?, aggregate.weight.as_ref().map(compile).transpose()?))
    };
    let inputs: Result<Vec<_>, String> = aggregates.iter().map(of_aggregate).collect();
    let inputs = inputs.map_err(|message| format!("what is gathered takes {message}"))?;
    Ok(Programs { filter, inputs })
}

/// A text of `finds` that must be there.
fn needed<'k>(known: &'k Known, key: &str, problems: &mut Problems) -> Option<&'k Text> {
    let text = known.raw.finds.get(key);
    if text.is_none() && known.raw.has_finds {
        missing(place_of(known), "[rule.finds]", key, problems);
    }
    text
}

fn compiled(scope: &mut Scope<'_>, over: check::Over, text: &Text, problems: &mut Problems) -> Option<Code> {
    let tree = tree(text, problems)?;
    check::check(scope, over, text, &tree, problems)
}

fn of_type(code: Code, kind: Type, key: &str, text: &Text, problems: &mut Problems) -> Option<Code> {
    let found = code.kind().kind;
    if found == kind || kind.is_plain() && found.is_plain() {
        return Some(code);
    }
    let message = format!("\"{key}\" is {found}, expected {kind}: {}", quoted(&text.text));
    problems.add(text.start(), message);
    None
}

/// The table that a rule is over.
fn over(schema: &Schema, events: &[Event], text: &Text, problems: &mut Problems) -> Option<Over> {
    let (name, event) = match text.text.split_once(':') {
        Some((name, event)) => (name, Some(event)),
        None => (text.text.as_str(), None),
    };
    let Some(table) = schema.tables.iter().position(|table| table.name == name) else {
        let names: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
        let hint = suggestion(name, names.iter().copied());
        let message = format!("unknown table {}{hint}", quoted(name));
        problems.add(
            text.start(),
            if hint.is_empty() { format!("{message}, expected {}", names.join(", ")) } else { message },
        );
        return None;
    };
    let message = match (&schema.tables[table].grouping, event) {
        (Grouping::Plain | Grouping::Groups(_), None) => return Some(Over { table, event: None }),
        (Grouping::Plain | Grouping::Groups(_), Some(_)) => {
            format!("table \"{name}\" is not one of an event")
        }
        (Grouping::Visits | Grouping::Pairs, None) => format!("expected \"{name}:EVENT\""),
        (rows, Some(id)) => match events.iter().position(|event| event.id() == id) {
            None => {
                let hint = suggestion(id, events.iter().map(Event::id));
                format!("unknown event {}{hint}", quoted(id))
            }
            Some(event) => match (rows, events[event].kind()) {
                (Grouping::Visits, EventKind::Visits { .. }) | (Grouping::Pairs, EventKind::Pairs { .. }) => {
                    return Some(Over { table, event: Some(event) });
                }
                (Grouping::Visits, _) => format!("event \"{id}\" is a pair, expected one with \"region\""),
                _ => format!("event \"{id}\" is visits of regions, expected one with \"begin\" and \"end\""),
            },
        },
    };
    problems.add(text.start(), message);
    None
}

/// Columns that make groups.
fn keys(table: &Table, by: &[Text], problems: &mut Problems) -> Vec<usize> {
    if let Grouping::Groups(names) = &table.grouping {
        if let Some(text) = by.first() {
            problems.add(
                text.start(),
                format!("a row of table \"{}\" is a group already, expected no `by`", table.name),
            );
        }
        return names.iter().filter_map(|name| table.column(name)).collect();
    }
    let mut keys = Vec::new();
    for text in by {
        match table.column(&text.text) {
            None => {
                let hint = suggestion(&text.text, table.columns.iter().map(|column| column.name.as_str()));
                problems.add(text.start(), format!("unknown column {}{hint}", quoted(&text.text)));
            }
            Some(column) if !can_group(table.columns[column].kind) => {
                let kind = table.columns[column].kind;
                let message = format!(
                    "groups by {kind}, expected a column of rank, path, operation, text, bool, count or bytes"
                );
                problems.add(text.start(), message);
            }
            Some(column) if keys.contains(&column) => {
                problems.add(text.start(), format!("column {} is there twice", quoted(&text.text)));
            }
            Some(column) => keys.push(column),
        }
    }
    keys
}

fn lets(scope: &mut Scope<'_>, raw: &[(Text, Text)], problems: &mut Problems) -> Vec<(String, Code)> {
    let mut lets = Vec::new();
    for (name, text) in raw {
        if !is_name(&name.text) {
            problems.add(name.start(), format!("{} is no name for an expression", quoted(&name.text)));
        } else if scope.table.column(&name.text).is_some() {
            problems.add(name.start(), format!("{} is a column already", quoted(&name.text)));
        } else if let Some(code) = compiled(scope, check::Over::Group, text, problems) {
            scope.lets.push((name.text.clone(), code.kind()));
            lets.push((name.text.clone(), code));
        }
    }
    lets
}

/// The condition, with numbers that sets replace, and names and texts of all numbers that may be.
fn when(
    scope: &mut Scope<'_>,
    known: &Known,
    problems: &mut Problems,
) -> Option<(Code, Vec<(String, String)>)> {
    let text = needed(known, "when", problems)?;
    let mut tree = tree(text, problems)?;
    let limits = limits::replace(scope, (known, text), &mut tree, problems);
    let code = check::check(scope, check::Over::Group, text, &tree, problems)?;
    Some((of_type(code, Type::Bool, "when", text, problems)?, limits))
}

/// What bounds the gain: a word, or an expression.
fn gain(scope: &mut Scope<'_>, text: &Text, problems: &mut Problems) -> (Option<Gain>, Option<Code>) {
    if let Some((_, gain)) = Gain::WORDS.iter().find(|known| known.0 == text.text) {
        return (Some(*gain), None);
    }
    if is_name(&text.text)
        && scope.lets.iter().all(|known| known.0 != text.text)
        && scope.table.column(&text.text).is_none()
    {
        let words = Gain::WORDS.map(|known| known.0);
        let hint = suggestion(&text.text, words);
        let message = format!(
            "unknown gain {}, expected {} or an expression{hint}",
            quoted(&text.text),
            words.join(", ")
        );
        problems.add(text.start(), message);
        return (None, None);
    }
    let code = compiled(scope, check::Over::Group, text, problems)
        .and_then(|code| of_type(code, Type::Time, "most", text, problems));
    (code.as_ref().map(|_| Gain::Value), code)
}

fn claims(text: &Text, problems: &mut Problems) -> Claims {
    let found = Claims::WORDS.iter().find(|known| known.0 == text.text);
    if found.is_none() {
        let words = Claims::WORDS.map(|known| known.0);
        let message = format!("claims {}, expected {}", quoted(&text.text), words.join(", "));
        problems.add(text.start(), message);
    }
    found.map(|known| known.1).unwrap_or_default()
}

/// What severity sums up of each row, to find the call path with most of it.
fn weight(severity: &Code, lets: &[(String, Code)], aggregates: &[Aggregate]) -> Option<Code> {
    severity.nodes.iter().find_map(|(op, _)| match op {
        Op::Aggregate(Of::Sum, position) => Some(aggregates[*position].input.clone()),
        // One uses those before it only: this comes to an end.
        Op::Let(position) => weight(&lets[*position].1, &lets[..*position], aggregates),
        _ => None,
    })
}

/// Call paths that a group has.
struct Places<'r> {
    table: &'r Table,
    by: &'r [usize],
    aggregates: &'r mut Vec<Aggregate>,
    /// What is heaviest at the path of a group that has several.
    weight: Option<Code>,
}

impl Places<'_> {
    fn find(&mut self, name: &str) -> Option<Place> {
        if name == "cause" {
            return Some(Place::Cause);
        }
        let column =
            self.table.column(name).filter(|&column| self.table.columns[column].kind == Type::Path)?;
        if let Some(key) = self.by.iter().position(|&key| key == column) {
            return Some(Place::Key(key));
        }
        let one = || Code { nodes: vec![(Op::Constant(1.0), Type::Count.into())] };
        let aggregate = Aggregate {
            gather: Gather::Most,
            input: Code { nodes: vec![(Op::Column(column), Type::Path.into())] },
            weight: Some(self.weight.clone().unwrap_or_else(one)),
        };
        let known = self.aggregates.iter().position(|known| *known == aggregate);
        Some(Place::Most(known.unwrap_or_else(|| {
            self.aggregates.push(aggregate);
            self.aggregates.len() - 1
        })))
    }

    fn change(&mut self, text: &Text, problems: &mut Problems) -> Option<Place> {
        let place = self.find(&text.text);
        if place.is_none() {
            problems.add(text.start(), self.unknown(&text.text));
        }
        place
    }

    fn unknown(&self, name: &str) -> String {
        let paths = self.table.columns.iter().filter(|column| column.kind == Type::Path);
        let known: Vec<&str> = paths.map(|column| column.name.as_str()).chain(["cause"]).collect();
        format!("{} is no call path, expected {}", quoted(name), known.join(" or "))
    }

    /// `WORD`, `WORD=PLACE` or `WORD=PLACE:REST`; what is no place is left as it is if it is no column, either.
    fn scenario(&mut self, text: &Text, problems: &mut Problems) -> Option<Scenario> {
        let (word, target) = text.text.split_once('=').unwrap_or((&text.text, ""));
        if word.is_empty() || !word.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
            let message = format!("scenario {}, expected NAME=PLACE", quoted(&text.text));
            problems.add(text.start(), message);
            return None;
        }
        let (name, rest) = target.split_once(':').unwrap_or((target, ""));
        let place = self.find(name);
        if place.is_none() && self.table.column(name).is_some() {
            problems.add(text.place(word.len() + 1), self.unknown(name));
            return None;
        }
        let rest = if place.is_some() { rest } else { target };
        Some(Scenario { word: word.to_owned(), place, rest: rest.to_owned() })
    }
}
