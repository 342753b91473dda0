//! Functions of expressions (advice 5.2).

use super::{Checker, Over, Part};
use crate::code::{Code, Gather, Kind, Of, Op, Test};
use crate::glob;
use crate::parse::{Compare, NodeKind, Tree};
use crate::source::{Text, quoted};
use crate::suggest::suggestion;
use crate::{EventKind, Type};

/// Functions of a row, and whether they are also functions of a group.
const OF_ROWS: [(&str, bool); 9] = [
    ("abs", true),
    ("clamp", true),
    ("inside", false),
    ("matches", true),
    ("max", true),
    ("min", true),
    ("next_to", false),
    ("same", true),
    ("under", false),
];

/// Functions of a group.
const OF_GROUPS: [&str; 10] =
    ["count", "distinct", "max", "mean", "min", "most", "quantile", "series", "share", "sum"];

/// Columns that `next_to` looks at.
const NEIGHBOURS: [&str; 2] = ["previous_region", "next_region"];

/// A call with its arguments, and where it stands.
#[derive(Clone, Copy)]
struct Call<'c> {
    text: &'c Text,
    tree: &'c Tree,
    node: usize,
    name: &'c str,
    arguments: &'c [usize],
}

impl Checker<'_, '_> {
    /// A call of a function, or a column whose name looks like one.
    pub(super) fn call(
        &mut self,
        text: &Text,
        tree: &Tree,
        node: usize,
        name: &str,
        arguments: &[usize],
    ) -> Option<Part> {
        let call = Call { text, tree, node, name, arguments };
        if let [argument] = arguments
            && let NodeKind::Name(argument) = &tree.nodes[*argument].kind
        {
            let whole = format!("{name}({argument})");
            if let Some(column) = self.scope.table.column(&whole) {
                return self.column(text.place(tree.nodes[node].at.start), &whole, column);
            }
        }
        let of_rows = OF_ROWS.iter().find(|known| known.0 == name);
        let is_of_groups = OF_GROUPS.contains(&name);
        match (self.over, of_rows, is_of_groups) {
            // One argument: of all rows; several: of these values.
            (Over::Group, Some((_, true)), true) if arguments.len() == 1 => self.of_group(call),
            (Over::Row, Some(_), _) | (Over::Group, Some((_, true)), _) => self.of_values(call),
            (Over::Group, _, true) => self.of_group(call),
            (Over::Row, None, true) => self.refuse(call, "a function of groups, expected one of rows"),
            (Over::Group, Some(_), false) => self.refuse(call, "a function of rows, expected one of groups"),
            (_, None, false) => {
                let known: Vec<&str> = match self.over {
                    Over::Row => OF_ROWS.iter().map(|known| known.0).collect(),
                    Over::Group => OF_GROUPS.into_iter().chain(OF_ROWS.map(|known| known.0)).collect(),
                };
                let hint = suggestion(name, known);
                let place = text.place(tree.nodes[node].at.start);
                self.say(place, format!("unknown function {}{hint}", quoted(name)))
            }
        }
    }

    fn refuse(&mut self, call: Call<'_>, message: &str) -> Option<Part> {
        self.wrong(call.text, call.tree, call.node, message)
    }

    fn argument(&mut self, call: Call<'_>, number: usize) -> Option<Part> {
        self.node(call.text, call.tree, call.arguments[number])
    }

    /// Says if there is another number of arguments than there must be.
    fn has_arguments(&mut self, call: Call<'_>, count: usize, what: &str) -> Option<()> {
        if call.arguments.len() == count {
            return Some(());
        }
        let message = format!("{} arguments, expected {}({what})", call.arguments.len(), call.name);
        self.refuse(call, &message);
        None
    }

    /// Patterns among the arguments, from one on.
    fn patterns(&mut self, call: Call<'_>, from: usize) -> Option<Vec<String>> {
        let mut patterns = Vec::new();
        for &node in call.arguments.get(from..).unwrap_or_default() {
            match &call.tree.nodes[node].kind {
                NodeKind::Text(pattern) if pattern.len() <= glob::LONGEST => patterns.push(pattern.clone()),
                NodeKind::Text(_) => {
                    let message = format!("pattern of more than {} bytes", glob::LONGEST);
                    self.wrong(call.text, call.tree, node, &message)?;
                }
                _ => {
                    self.wrong(call.text, call.tree, node, "expected a pattern in quotes")?;
                }
            }
        }
        if patterns.is_empty() {
            self.refuse(call, "expected a pattern in quotes")?;
        }
        Some(patterns)
    }

    /// Functions whose value depends on their arguments only.
    fn of_values(&mut self, call: Call<'_>) -> Option<Part> {
        match call.name {
            "inside" => self.inside(call),
            "under" => {
                let patterns = self.patterns(call, 0)?;
                let path = self.path(call)?;
                Some(self.push(Op::Named(path.at, Test::under(&patterns), true), Type::Bool))
            }
            "next_to" => {
                let patterns = self.patterns(call, 0)?;
                let mut tests = Vec::new();
                for name in NEIGHBOURS {
                    let Some(column) = self.scope.table.column(name) else {
                        return self.refuse(call, "rows of this table have no neighbours");
                    };
                    let place = call.text.place(call.tree.nodes[call.node].at.start);
                    let column = self.column(place, name, column)?;
                    tests.push(
                        self.push(Op::Named(column.at, Test::Fits(patterns.clone()), true), Type::Bool),
                    );
                }
                Some(self.push(Op::Or(tests[0].at, tests[1].at), Type::Bool))
            }
            "matches" => {
                self.has_arguments(call, 2, "column, \"pattern\"")?;
                let name = self.argument(call, 0)?;
                if !matches!(name.kind.kind, Type::Path | Type::Operation | Type::Text) {
                    let message =
                        format!("matches needs a path, an operation or a text, found {}", name.kind.kind);
                    return self.refuse(call, &message);
                }
                let patterns = self.patterns(call, 1)?;
                Some(self.push(Op::Named(name.at, Test::Fits(patterns), true), Type::Bool))
            }
            "same" => {
                self.has_arguments(call, 2, "column, column")?;
                let (left, right) = (self.argument(call, 0), self.argument(call, 1));
                let (left, right) = (left?, right?);
                if super::common(left.kind, right.kind).is_none() {
                    let message = format!("{} compared with {}", left.kind.kind, right.kind.kind);
                    return self.refuse(call, &message);
                }
                Some(self.push(Op::Compare(Compare::Equal, left.at, right.at), Type::Bool))
            }
            "abs" => {
                self.has_arguments(call, 1, "number")?;
                let part = self.argument(call, 0)?;
                match part.kind.kind.can_scale() {
                    true => Some(self.push(Op::Absolute(part.at), part.kind)),
                    false => self.refuse(call, &format!("abs needs a number, found {}", part.kind.kind)),
                }
            }
            "clamp" => {
                self.has_arguments(call, 3, "number, least, most")?;
                let parts = self.alike(call)?;
                let kind = parts[0].kind;
                let kind = super::common(super::common(kind, parts[1].kind)?, parts[2].kind)?;
                let raised = self.push(Op::Greatest(parts[0].at, parts[1].at), kind);
                Some(self.push(Op::Least(raised.at, parts[2].at), kind))
            }
            // min and max
            _ => {
                if call.arguments.len() < 2 {
                    self.has_arguments(call, 2, "number, number")?;
                }
                let parts = self.alike(call)?;
                let mut whole = parts[0];
                for part in &parts[1..] {
                    let kind = super::common(whole.kind, part.kind)?;
                    whole = match call.name {
                        "min" => self.push(Op::Least(whole.at, part.at), kind),
                        _ => self.push(Op::Greatest(whole.at, part.at), kind),
                    };
                }
                Some(whole)
            }
        }
    }

    /// Arguments that must be numbers with the same unit.
    fn alike(&mut self, call: Call<'_>) -> Option<Vec<Part>> {
        let parts: Vec<Option<Part>> =
            (0..call.arguments.len()).map(|number| self.argument(call, number)).collect();
        let parts: Vec<Part> = parts.into_iter().collect::<Option<_>>()?;
        for part in &parts {
            let kind = part.kind.kind;
            if !kind.can_scale() && kind != Type::Instant {
                self.refuse(call, &format!("{} needs numbers, found {kind}", call.name))?;
            }
            if super::common(parts[0].kind, part.kind).is_none() {
                self.refuse(call, &format!("{} compared with {kind}", parts[0].kind.kind))?;
            }
        }
        Some(parts)
    }

    /// The path of the row.
    fn path(&mut self, call: Call<'_>) -> Option<Part> {
        match self.scope.table.column("path") {
            Some(column) => {
                let place = call.text.place(call.tree.nodes[call.node].at.start);
                self.column(place, "path", column)
            }
            None => self.refuse(call, "rows of this table have no call path"),
        }
    }

    /// Whether the call path leads through a region of an event.
    fn inside(&mut self, call: Call<'_>) -> Option<Part> {
        self.has_arguments(call, 1, "event")?;
        let NodeKind::Name(name) = &call.tree.nodes[call.arguments[0]].kind else {
            return self.refuse(call, "expected inside(event)");
        };
        let events = self.scope.events;
        let place = call.text.place(call.tree.nodes[call.arguments[0]].at.start);
        match events.iter().find(|event| event.id() == name) {
            None => {
                let hint = suggestion(name, events.iter().map(super::Event::id));
                self.say(place, format!("unknown event {}{hint}", quoted(name)))
            }
            Some(event) => match event.kind() {
                EventKind::Visits { regions } => {
                    let patterns = regions.clone();
                    let path = self.path(call)?;
                    Some(self.push(Op::Named(path.at, Test::Part(patterns), true), Type::Bool))
                }
                EventKind::Pairs { .. } => {
                    let message = format!("inside needs an event with `region`, {} is a pair", quoted(name));
                    self.say(place, message)
                }
            },
        }
    }

    /// Code of an argument that is about rows.
    fn of_each_row(&mut self, call: Call<'_>, number: usize) -> Option<Code> {
        let mut rows = Checker {
            scope: &mut *self.scope,
            over: Over::Row,
            problems: &mut *self.problems,
            code: Code::default(),
            defining: self.defining.clone(),
        };
        rows.argument(call, number)?;
        Some(rows.code)
    }

    /// Functions that gather something from the rows of a group.
    fn of_group(&mut self, call: Call<'_>) -> Option<Part> {
        let (of, count, what) = match call.name {
            "count" => {
                self.has_arguments(call, 0, "")?;
                return Some(self.push(Op::Rows, Type::Count));
            }
            "sum" => (Of::Sum, 1, "number"),
            "mean" => (Of::Mean, 1, "number"),
            "min" => (Of::Least, 1, "number"),
            "max" => (Of::Greatest, 1, "number"),
            "share" => (Of::Share, 1, "condition"),
            "distinct" => (Of::Distinct, 1, "column"),
            "most" => (Of::Most, 2, "column, weight"),
            "series" => (Of::Series, 1, "condition"),
            _ => (Of::Quantile(self.fraction(call)?), 2, "number, 0.5"),
        };
        self.has_arguments(call, count, what)?;
        let input = self.of_each_row(call, 0)?;
        let kind = input.kind();
        let Some(kind) = result(of, kind) else {
            let message = format!("{} needs {}, found {}", of.name(), needed(of), kind.kind);
            return self.refuse(call, &message);
        };
        let weight = match of {
            Of::Most => {
                let weight = self.of_each_row(call, 1)?;
                if !weight.kind().kind.can_scale() {
                    let message = format!("most needs a weight, found {}", weight.kind().kind);
                    return self.refuse(call, &message);
                }
                Some(weight)
            }
            _ => None,
        };
        if of == Of::Series && self.scope.table.column("rank").is_none() {
            return self.refuse(call, "rows of this table have no rank");
        }
        let aggregate = self.aggregate(Gather::from(of), input, weight);
        let used = (Op::Aggregate(of, aggregate), kind);
        if !self.scope.calls.contains(&used) {
            self.scope.calls.push(used.clone());
        }
        Some(self.push(used.0, kind))
    }

    /// The second argument of `quantile`.
    fn fraction(&mut self, call: Call<'_>) -> Option<f64> {
        self.has_arguments(call, 2, "number, 0.5")?;
        match &call.tree.nodes[call.arguments[1]].kind {
            NodeKind::Number(value, Type::Number | Type::Count) if *value <= 1.0 => Some(*value),
            _ => {
                self.wrong(call.text, call.tree, call.arguments[1], "expected a number from 0 to 1")?;
                None
            }
        }
    }
}

/// What a function of a group makes of an input; `None` if it can make nothing of it.
fn result(of: Of, input: Kind) -> Option<Kind> {
    let is_amount = matches!(input.kind, Type::Time | Type::Bytes | Type::Count | Type::Number | Type::Rate);
    let result = match of {
        Of::Sum if is_amount && input.kind != Type::Rate => input,
        // The mean of counts is no whole number.
        Of::Mean if input.kind == Type::Count => Type::Number.into(),
        Of::Mean | Of::Quantile(_) if is_amount => input,
        Of::Least | Of::Greatest if is_amount || matches!(input.kind, Type::Instant | Type::Rank) => input,
        Of::Share | Of::Series if input.kind == Type::Bool => Type::Number.into(),
        Of::Distinct if input.kind.is_name() || matches!(input.kind, Type::Count | Type::Bytes) => {
            Type::Count.into()
        }
        Of::Most if input.kind.is_name() => input,
        _ => return None,
    };
    Some(result)
}

/// What messages say that a function of a group takes.
fn needed(of: Of) -> &'static str {
    match of {
        Of::Sum => "time, bytes, count or number",
        Of::Mean | Of::Quantile(_) => "time, bytes, count, number or rate",
        Of::Least | Of::Greatest => "a number or a rank",
        Of::Share | Of::Series => "a condition",
        Of::Distinct => "rank, path, operation, text, count or bytes",
        Of::Most => "rank, path, operation or text",
    }
}
