//! Names and types of an expression (advice 5.2): makes code of a tree, or says what does not fit.

use crate::code::{Aggregate, Code, Gather, Kind, LINES, Of, Op, Test};
use crate::parse::{Arithmetic, Binary, Compare, NodeKind, Tree};
use crate::schema::{Grouping, Schema, Table};
use crate::source::{Place, Problems, Text, quoted};
use crate::suggest::suggestion;
use crate::{Event, Type};

mod calls;

/// Parts that the expressions of a rule have together at most, definitions put in: what a file can cost stays in proportion.
const MOST_NODES: usize = 1024;

/// What expressions of a rule can speak of.
pub(crate) struct Scope<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) table: &'a Table,
    pub(crate) events: &'a [Event],
    /// Definitions of all files.
    pub(crate) defined: &'a [Definition],
    /// Columns that make the groups.
    pub(crate) keys: Vec<usize>,
    /// Values of `let` so far.
    pub(crate) lets: Vec<(String, Kind)>,
    /// What is gathered for the rule so far.
    pub(crate) aggregates: Vec<Aggregate>,
    /// Functions of groups that the rule uses, for texts that name them without parentheses.
    pub(crate) calls: Vec<(Op, Kind)>,
    /// Whether `cause` and `line` have a meaning.
    pub(crate) is_found: bool,
    /// Whether functions may be named without parentheses, and `line` be used.
    pub(crate) is_text: bool,
    /// Parts so far.
    pub(crate) nodes: usize,
}

/// A name for an expression of one file.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) text: Text,
    pub(crate) tree: Tree,
}

/// Whether an expression is about a row or about a group of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Over {
    Row,
    Group,
}

/// Checks an expression. Adds what is wrong to the problems and returns `None` then.
pub(crate) fn check(
    scope: &mut Scope<'_>,
    over: Over,
    text: &Text,
    tree: &Tree,
    problems: &mut Problems,
) -> Option<Code> {
    let mut checker = Checker { scope, over, problems, code: Code::default(), defining: Vec::new() };
    checker.node(text, tree, tree.root)?;
    Some(checker.code)
}

struct Checker<'c, 's> {
    scope: &'c mut Scope<'s>,
    over: Over,
    problems: &'c mut Problems,
    code: Code,
    /// Definitions that are being put in, by position.
    defining: Vec<usize>,
}

/// An operand: its position in the code, and what it is.
#[derive(Clone, Copy, Debug)]
struct Part {
    at: usize,
    kind: Kind,
}

impl Checker<'_, '_> {
    fn push(&mut self, op: Op, kind: impl Into<Kind>) -> Part {
        let kind = kind.into();
        self.code.nodes.push((op, kind));
        Part { at: self.code.nodes.len() - 1, kind }
    }

    /// Adds a problem of a node, whose text is quoted; always `None`.
    fn wrong(&mut self, text: &Text, tree: &Tree, node: usize, message: &str) -> Option<Part> {
        let at = tree.nodes[node].at.clone();
        let message = format!("{message}: {}", quoted(&text.text[at.clone()]));
        self.problems.add(text.place(at.start), message);
        None
    }

    fn say(&mut self, place: Place, message: String) -> Option<Part> {
        self.problems.add(place, message);
        None
    }

    fn node(&mut self, text: &Text, tree: &Tree, node: usize) -> Option<Part> {
        self.scope.nodes += 1;
        if self.scope.nodes > MOST_NODES {
            // Said once; what follows is not looked at.
            if self.scope.nodes == MOST_NODES + 1 {
                let message =
                    format!("expressions of a rule with more than {MOST_NODES} parts, definitions put in");
                self.problems.add(text.place(tree.nodes[node].at.start), message);
            }
            return None;
        }
        match &tree.nodes[node].kind {
            NodeKind::Number(value, Type::Time) => Some(self.push(Op::Seconds(*value), Type::Time)),
            NodeKind::Number(value, kind) => Some(self.push(Op::Constant(*value), *kind)),
            NodeKind::Text(_) => {
                self.wrong(text, tree, node, "a text is of use only beside a name or as an argument")
            }
            NodeKind::Name(name) => self.name(text, tree, node, name),
            NodeKind::Call(name, arguments) => self.call(text, tree, node, name, arguments),
            NodeKind::Not(operand) => {
                let operand = self.of_type(text, tree, *operand, Type::Bool, "not")?;
                Some(self.push(Op::Not(operand.at), Type::Bool))
            }
            NodeKind::Negative(operand) => {
                let part = self.node(text, tree, *operand)?;
                match part.kind.kind {
                    Type::Count => Some(self.push(Op::Negative(part.at), Type::Number)),
                    kind if kind.can_scale() => Some(self.push(Op::Negative(part.at), kind)),
                    kind => self.wrong(text, tree, node, &format!("no minus of a {kind}")),
                }
            }
            NodeKind::Binary(operator, left, right) => match operator {
                Binary::Or | Binary::And => {
                    let word = if *operator == Binary::Or { "or" } else { "and" };
                    let left = self.of_type(text, tree, *left, Type::Bool, word);
                    let right = self.of_type(text, tree, *right, Type::Bool, word);
                    let (left, right) = (left?.at, right?.at);
                    let op = if word == "or" { Op::Or(left, right) } else { Op::And(left, right) };
                    Some(self.push(op, Type::Bool))
                }
                Binary::Compare(compare) => self.compare(text, tree, node, *compare, (*left, *right)),
                Binary::Arithmetic(sign) => {
                    let (left, right) = (self.node(text, tree, *left), self.node(text, tree, *right));
                    let (left, right) = (left?, right?);
                    match result(*sign, left.kind.kind, right.kind.kind) {
                        Ok(kind) => Some(self.push(Op::Arithmetic(*sign, left.at, right.at), kind)),
                        Err(message) => self.wrong(text, tree, node, &message),
                    }
                }
            },
            NodeKind::In(operand, list) => self.one_of(text, tree, node, *operand, list),
            NodeKind::If(condition, yes, no) => {
                let condition = self.of_type(text, tree, *condition, Type::Bool, "if");
                let (yes, no) = (self.node(text, tree, *yes), self.node(text, tree, *no));
                let (condition, yes, no) = (condition?, yes?, no?);
                let Some(kind) = common(yes.kind, no.kind) else {
                    let message = format!("{} and {} from one if", yes.kind.kind, no.kind.kind);
                    return self.wrong(text, tree, node, &message);
                };
                Some(self.push(Op::If(condition.at, yes.at, no.at), kind))
            }
        }
    }

    /// An operand that must be of a type.
    fn of_type(&mut self, text: &Text, tree: &Tree, node: usize, kind: Type, word: &str) -> Option<Part> {
        let part = self.node(text, tree, node)?;
        if part.kind.kind != kind {
            let message = format!("\"{word}\" needs {kind}, found {}", part.kind.kind);
            return self.wrong(text, tree, node, &message);
        }
        Some(part)
    }

    /// Both operands of a comparison, constants on either side taken for what the other side is.
    fn compare(
        &mut self,
        text: &Text,
        tree: &Tree,
        node: usize,
        compare: Compare,
        (left, right): (usize, usize),
    ) -> Option<Part> {
        let is_equality = matches!(compare, Compare::Equal | Compare::Different);
        let is_constant = |node: usize| match &tree.nodes[node].kind {
            NodeKind::Text(_) => true,
            NodeKind::Name(name) => self.is_operation(text.file, name),
            _ => false,
        };
        let (value, constant) = match (is_constant(left), is_constant(right)) {
            (false, true) => (left, right),
            (true, false) => (right, left),
            _ => {
                let (a, b) = (self.node(text, tree, left), self.node(text, tree, right));
                let (a, b) = (a?, b?);
                let is_rank = |this: Part, node: usize| {
                    this.kind.kind == Type::Rank || is_whole_number(&tree.nodes[node].kind)
                };
                let are_ranks = is_rank(a, left) && is_rank(b, right);
                if common(a.kind, b.kind).is_none() && !are_ranks {
                    let message = match a.kind.kind == b.kind.kind {
                        true => "names of different things compared".to_owned(),
                        false => format!("{} compared with {}", a.kind.kind, b.kind.kind),
                    };
                    return self.wrong(text, tree, node, &message);
                }
                let has_order =
                    !matches!(a.kind.kind, Type::Bool | Type::Path | Type::Operation | Type::Text);
                if !is_equality && !has_order {
                    let message = format!("a {} is neither less nor more than another", a.kind.kind);
                    return self.wrong(text, tree, node, &message);
                }
                return Some(self.push(Op::Compare(compare, a.at, b.at), Type::Bool));
            }
        };
        let value = self.node(text, tree, value)?;
        if !is_equality {
            let message = format!("a {} is neither less nor more than a name", value.kind.kind);
            return self.wrong(text, tree, node, &message);
        }
        self.is_one_of(text, tree, value, &[constant], compare == Compare::Equal)
    }

    /// Whether a name can only be that of an operation.
    fn is_operation(&self, file: usize, name: &str) -> bool {
        self.scope.schema.operations.iter().any(|known| known == name)
            && self.scope.table.column(name).is_none()
            && self.scope.lets.iter().all(|known| known.0 != name)
            && self.definition(file, name).is_none()
    }

    /// A value and the list behind `in`.
    fn one_of(
        &mut self,
        text: &Text,
        tree: &Tree,
        node: usize,
        value: usize,
        list: &[usize],
    ) -> Option<Part> {
        let value = self.node(text, tree, value)?;
        if value.kind.kind == Type::Bool {
            return self.wrong(text, tree, node, "a bool is in no list");
        }
        self.is_one_of(text, tree, value, list, true)
    }

    /// Whether a value is one of constants, or is there and none of them.
    fn is_one_of(
        &mut self,
        text: &Text,
        tree: &Tree,
        value: Part,
        list: &[usize],
        is_wanted: bool,
    ) -> Option<Part> {
        let mut names = Vec::new();
        let mut numbers = Vec::new();
        let mut is_wrong = false;
        for &node in list {
            let constant = &tree.nodes[node].kind;
            match (value.kind.kind, constant) {
                (Type::Text | Type::Path, NodeKind::Text(name)) => names.push(name.clone()),
                (Type::Operation, NodeKind::Text(name) | NodeKind::Name(name)) => {
                    let operations = &self.scope.schema.operations;
                    match operations.iter().position(|known| known == name) {
                        // Positions of operations are small.
                        #[allow(clippy::cast_precision_loss)]
                        Some(operation) => {
                            numbers.push(self.push(Op::Constant(operation as f64), Type::Operation).at);
                        }
                        None => {
                            let known = operations.iter().map(String::as_str);
                            let hint = suggestion(name, known);
                            let place = text.place(tree.nodes[node].at.start);
                            self.say(place, format!("unknown operation {}{hint}", quoted(name)));
                            is_wrong = true;
                        }
                    }
                }
                (Type::Rank, constant) if is_whole_number(constant) => {
                    numbers.push(self.node(text, tree, node)?.at);
                }
                (kind, NodeKind::Number(_, other)) if common(kind.into(), (*other).into()).is_some() => {
                    numbers.push(self.node(text, tree, node)?.at);
                }
                (kind, constant) => {
                    let other = match constant {
                        NodeKind::Text(_) => "a text",
                        NodeKind::Number(_, other) => other.name(),
                        _ => "a name",
                    };
                    self.wrong(text, tree, node, &format!("{kind} compared with {other}"));
                    is_wrong = true;
                }
            }
        }
        if is_wrong {
            return None;
        }
        Some(match names.is_empty() {
            true => self.push(Op::In(value.at, numbers, is_wanted), Type::Bool),
            false => self.push(Op::Named(value.at, Test::Is(names), is_wanted), Type::Bool),
        })
    }

    fn definition(&self, file: usize, name: &str) -> Option<usize> {
        self.scope
            .defined
            .iter()
            .position(|definition| definition.text.file == file && definition.name == name)
    }

    /// What a name means: a value of `let`, a column, a definition, or a fact of the run.
    fn name(&mut self, text: &Text, tree: &Tree, node: usize, name: &str) -> Option<Part> {
        let place = text.place(tree.nodes[node].at.start);
        if self.over == Over::Group {
            if let Some(known) = self.scope.lets.iter().position(|known| known.0 == name) {
                let kind = self.scope.lets[known].1;
                return Some(self.push(Op::Let(known), kind));
            }
            if name == "cause" && self.scope.is_found {
                return Some(self.push(Op::Cause, Type::Path));
            }
        }
        if let Some(column) = self.scope.table.column(name) {
            return self.column(place, name, column);
        }
        if let Some(definition) = self.definition(text.file, name) {
            return self.defined(place, definition);
        }
        if let Some(fact) = name.strip_prefix("run.") {
            let run = &self.scope.schema.run;
            if let Some(known) = run.iter().position(|column| column.name == fact) {
                let kind = Kind { kind: run[known].kind, domain: run[known].domain };
                return Some(self.push(Op::Run(known), kind));
            }
        }
        if self.scope.is_text && name == "line" {
            return Some(self.push(Op::Line, Kind { kind: Type::Text, domain: LINES }));
        }
        if let Some(found) = self.named_call(name) {
            return match found {
                Ok((op, kind)) => Some(self.push(op, kind)),
                Err(count) => self.say(
                    place,
                    format!("\"{name}\" without parentheses, but the rule uses {count} of it, expected one"),
                ),
            };
        }
        let hint = self.suggestion(text.file, name);
        self.say(place, format!("unknown name {}{hint}", quoted(name)))
    }

    /// In texts a function without parentheses: the only use of it in the rule, or how many there are.
    fn named_call(&self, name: &str) -> Option<Result<(Op, Kind), usize>> {
        if !self.scope.is_text {
            return None;
        }
        if name == "count" {
            return Some(Ok((Op::Rows, Type::Count.into())));
        }
        let uses: Vec<_> = self
            .scope
            .calls
            .iter()
            .filter(|(op, _)| matches!(op, Op::Aggregate(of, _) if of.name() == name))
            .collect();
        match uses.as_slice() {
            [] => None,
            [only] => Some(Ok((*only).clone())),
            several => Some(Err(several.len())),
        }
    }

    fn column(&mut self, place: Place, name: &str, column: usize) -> Option<Part> {
        let about = &self.scope.table.columns[column];
        let kind = Kind { kind: about.kind, domain: about.domain };
        if self.over == Over::Row {
            return Some(self.push(Op::Column(column), kind));
        }
        if let Some(key) = self.scope.keys.iter().position(|&key| key == column) {
            return Some(self.push(Op::Key(key), kind));
        }
        if let Grouping::Groups(_) = self.scope.table.grouping {
            let input = Code { nodes: vec![(Op::Column(column), kind)] };
            let aggregate = self.aggregate(Gather::Extremes, input, None);
            return Some(self.push(Op::Aggregate(Of::Greatest, aggregate), kind));
        }
        if self.scope.is_text && name == "line" {
            return Some(self.push(Op::Line, Kind { kind: Type::Text, domain: LINES }));
        }
        let message = format!(
            "column {} differs from row to row: expected sum({name}), mean({name}) and the like, or \"{name}\" in `by`",
            quoted(name)
        );
        self.say(place, message)
    }

    /// Puts a definition in.
    fn defined(&mut self, place: Place, definition: usize) -> Option<Part> {
        let defined = self.scope.defined;
        let Definition { name, text, tree } = &defined[definition];
        if self.defining.contains(&definition) {
            return self.say(place, format!("definition {} uses itself", quoted(name)));
        }
        self.defining.push(definition);
        let part = match self.defining.len() > crate::parse::MOST_DEPTH {
            true => {
                self.say(place, format!("definitions nested more than {} deep", crate::parse::MOST_DEPTH))
            }
            false => self.node(text, tree, tree.root),
        };
        self.defining.pop();
        part
    }

    /// The nearest name that could stand here.
    fn suggestion(&self, file: usize, name: &str) -> String {
        let schema = self.scope.schema;
        let facts: Vec<String> = schema.run.iter().map(|column| format!("run.{}", column.name)).collect();
        let columns = self.scope.table.columns.iter().map(|column| column.name.as_str());
        let lets = self.scope.lets.iter().map(|known| known.0.as_str());
        let defined = self.scope.defined.iter().filter(|known| known.text.file == file);
        let defined = defined.map(|known| known.name.as_str());
        let facts = facts.iter().map(String::as_str);
        let operations = schema.operations.iter().map(String::as_str);
        suggestion(name, columns.chain(lets).chain(defined).chain(facts).chain(operations))
    }

    /// The position of an aggregate, the same for the same one.
    fn aggregate(&mut self, gather: Gather, input: Code, weight: Option<Code>) -> usize {
        let aggregate = Aggregate { gather, input, weight };
        let known = self.scope.aggregates.iter().position(|known| *known == aggregate);
        known.unwrap_or_else(|| {
            self.scope.aggregates.push(aggregate);
            self.scope.aggregates.len() - 1
        })
    }
}

/// The type of a value that is one of two kinds.
fn common(left: Kind, right: Kind) -> Option<Kind> {
    match left == right {
        true => Some(left),
        false if left.kind.is_plain() && right.kind.is_plain() => Some(Type::Number.into()),
        false => None,
    }
}

/// Whether a node is a number that a rank can have.
fn is_whole_number(node: &NodeKind) -> bool {
    matches!(node, NodeKind::Number(_, Type::Count))
}

/// The type of an arithmetic result, or what is wrong with the operands.
fn result(sign: Arithmetic, left: Type, right: Type) -> Result<Type, String> {
    use Type::{Bytes, Count, Instant, Number, Rate, Time};
    let (word, result) = match sign {
        Arithmetic::Add | Arithmetic::Subtract => {
            let result = match (left, right) {
                (Instant, Instant) if sign == Arithmetic::Subtract => Some(Time),
                (Count, Count) if sign == Arithmetic::Subtract => Some(Number),
                (left, right) if left == right && left.can_scale() => Some(left),
                (left, right) if left.is_plain() && right.is_plain() => Some(Number),
                _ => None,
            };
            (if sign == Arithmetic::Add { "added to" } else { "less" }, result)
        }
        Arithmetic::Multiply => {
            let result = match (left, right) {
                (Count, Count) => Some(Count),
                (left, right) if left.is_plain() && right.is_plain() => Some(Number),
                (left, right) if left.is_plain() && right.can_scale() => Some(right),
                (left, right) if right.is_plain() && left.can_scale() => Some(left),
                _ => None,
            };
            ("times", result)
        }
        Arithmetic::Divide => {
            let result = match (left, right) {
                (Bytes, Time) => Some(Rate),
                (Time | Bytes | Rate, right) if left == right => Some(Number),
                (left, right) if left.is_plain() && right.is_plain() => Some(Number),
                (left, right) if right.is_plain() && left.can_scale() => Some(left),
                _ => None,
            };
            ("divided by", result)
        }
    };
    result.ok_or_else(|| format!("{left} {word} {right}"))
}
