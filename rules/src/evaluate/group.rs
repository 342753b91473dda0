//! Values of expressions about a group.
//!
//! A value that is absent passes on why. Of `and` and `or` one operand may decide without the other: only what is needed must
//! be there (advice 5.2).

use super::Context;
use crate::Type;
use crate::code::{Code, Of, Op};
use crate::gathered::{Gathered, loose, middle};
use crate::machine::{greatest, least};
use crate::parse::Arithmetic;
use crate::rows::ABSENT;
use crate::rule::{Place, Rule};
use crate::schema::{Grouping, Schema};
use crate::site::{arithmetic, compares};
use crate::template::whole;
use crate::totals::Group;

/// Why a value is absent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Absent {
    /// A fact of the run.
    Fact(usize),
    /// A column that makes groups, by position among them.
    Key(usize),
    /// An aggregate without any value, by position.
    Empty(&'static str, usize),
    /// A quotient with zero below.
    Division,
    /// A number larger than any.
    TooLarge,
    /// The culprit.
    Cause,
    /// No place to change, hence no line.
    Line,
}

type Value = Result<f64, Absent>;

/// Values of a group.
pub(super) struct Values<'g> {
    rule: &'g Rule,
    group: &'g Group,
    context: &'g Context<'g>,
    cause: Option<i64>,
    /// Of `let`, in order.
    lets: Vec<Value>,
}

impl<'g> Values<'g> {
    /// Values of a group, those of `let` worked out.
    pub(super) fn new(
        rule: &'g Rule,
        group: &'g Group,
        context: &'g Context<'g>,
        cause: Option<i64>,
    ) -> Values<'g> {
        let mut values = Values { rule, group, context, cause, lets: Vec::new() };
        for (_, code) in &rule.lets {
            let value = values.of(code);
            values.lets.push(value);
        }
        values
    }

    /// The value of an expression; truth is 1 or 0.
    pub(super) fn of(&self, code: &Code) -> Value {
        let mut values: Vec<Value> = Vec::with_capacity(code.nodes.len());
        for (op, _) in &code.nodes {
            let value = self.node(code, op, &values);
            values.push(value);
        }
        values[code.root()]
    }

    /// The call path at a place.
    pub(super) fn place(&self, place: Option<Place>) -> Option<i64> {
        match place? {
            Place::Key(key) => self.key(key),
            Place::Most(position) => self.aggregate(Of::Most, position).ok().map(whole),
            Place::Cause => self.cause,
        }
    }

    fn key(&self, key: usize) -> Option<i64> {
        self.group.keys.get(key).copied().filter(|&key| key != ABSENT)
    }

    // Numbers of names and of rows are below 2^53.
    #[allow(clippy::cast_precision_loss)]
    fn node(&self, code: &Code, op: &Op, values: &[Value]) -> Value {
        let truth = |is_true: bool| Ok(f64::from(u8::from(is_true)));
        match op {
            Op::Constant(value) => Ok(*value),
            Op::Seconds(seconds) => Ok(seconds * self.context.run.ticks_per_second),
            Op::Run(fact) => match self.context.run.fact(*fact) {
                value if value.is_nan() => Err(Absent::Fact(*fact)),
                value => Ok(value),
            },
            Op::Key(key) => self.key(*key).map(|key| key as f64).ok_or(Absent::Key(*key)),
            Op::Let(position) => self.lets[*position],
            Op::Cause => self.cause.map(|path| path as f64).ok_or(Absent::Cause),
            Op::Line => self.place(self.rule.change).map(|path| path as f64).ok_or(Absent::Line),
            Op::Rows => Ok(self.group.rows as f64),
            Op::Aggregate(of, position) => self.aggregate(*of, *position),
            Op::Named(of, test, is_wanted) => {
                let kind = code.nodes[*of].1;
                let name = self.context.names.name(kind.kind, kind.domain, whole(values[*of]?));
                truth(name.is_some_and(|name| test.passes(&name)) == *is_wanted)
            }
            Op::In(of, list, is_wanted) => {
                let value = values[*of]?;
                truth(list.iter().any(|&item| values[item] == Ok(value)) == *is_wanted)
            }
            Op::Not(a) => truth(values[*a]? == 0.0),
            Op::And(a, b) => match (values[*a], values[*b]) {
                (Ok(0.0), _) | (_, Ok(0.0)) => truth(false),
                (Ok(_), b) => b,
                (absent, _) => absent,
            },
            Op::Or(a, b) => match (values[*a], values[*b]) {
                (Ok(1.0), _) | (_, Ok(1.0)) => truth(true),
                (Ok(_), b) => b,
                (absent, _) => absent,
            },
            Op::If(condition, a, b) => match values[*condition]? {
                1.0 => values[*a],
                _ => values[*b],
            },
            Op::Negative(a) => Ok(-values[*a]?),
            Op::Absolute(a) => Ok(values[*a]?.abs()),
            Op::Least(a, b) => Ok(least(values[*a]?, values[*b]?)),
            Op::Greatest(a, b) => Ok(greatest(values[*a]?, values[*b]?)),
            Op::Arithmetic(sign, a, b) => {
                let (a, b) = (values[*a]?, values[*b]?);
                match arithmetic(*sign, a, b) {
                    value if value.is_finite() => Ok(value),
                    _ if *sign == Arithmetic::Divide && b == 0.0 => Err(Absent::Division),
                    _ => Err(Absent::TooLarge),
                }
            }
            Op::Compare(compare, a, b) => {
                let (a, b) = (values[*a]?, values[*b]?);
                truth(compares(*compare, a, b))
            }
            Op::Column(_) => unreachable!("code about groups has no columns of rows"),
        }
    }

    /// The value of an aggregate.
    #[allow(clippy::cast_precision_loss)]
    fn aggregate(&self, of: Of, position: usize) -> Value {
        let kind = self.rule.aggregates[position].input.kind().kind;
        let empty = Err(Absent::Empty(of.name(), position));
        match (of, &self.group.gathered[position]) {
            (_, Gathered::Sum { count: 0, .. }) => empty,
            (Of::Sum, Gathered::Sum { sum, .. }) => Ok(loose(*sum, kind)),
            (_, Gathered::Sum { sum, count }) => Ok(loose(*sum, kind) / *count as f64),
            (Of::Least, Gathered::Extremes(Some((least, _)))) => Ok(*least),
            (Of::Greatest, Gathered::Extremes(Some((_, greatest)))) => Ok(*greatest),
            (_, Gathered::Share { yes, count }) if *count > 0 => Ok(*yes as f64 / *count as f64),
            (_, Gathered::Distinct(values)) => Ok(values.len() as f64),
            (_, Gathered::Most(weights)) => {
                // Of several as heavy the first one by number, whatever came first.
                let mut heaviest = None;
                for (value, weight) in weights {
                    if heaviest.is_none_or(|(_, most)| *weight > most) {
                        heaviest = Some((*value as f64, *weight));
                    }
                }
                heaviest.map_or(empty, |(value, _)| Ok(value))
            }
            (Of::Quantile(share), Gathered::Histogram(classes)) => {
                quantile(classes, share, kind).map_or(empty, Ok)
            }
            (_, Gathered::Series { yes, runs }) if *runs > 0 => Ok(*yes as f64 / *runs as f64),
            _ => empty,
        }
    }
}

/// The class in which a share of the rows ends.
#[allow(clippy::cast_precision_loss)]
fn quantile(classes: &std::collections::BTreeMap<i16, u64>, share: f64, kind: Type) -> Option<f64> {
    let rows: u64 = classes.values().sum();
    let wanted = share * rows as f64;
    let mut below = 0;
    let class = classes.iter().find(|(_, count)| {
        below += **count;
        below as f64 >= wanted
    });
    class.or_else(|| classes.iter().next_back()).map(|(class, _)| middle(*class, kind))
}

/// Says why a value is absent.
pub(super) fn reason(schema: &Schema, rule: &Rule, absent: Absent) -> String {
    let table = &schema.tables[rule.over.table];
    match absent {
        Absent::Fact(fact) => format!("run.{} is not there", schema.run[fact].name),
        Absent::Key(key) => format!("{} is not there", table.columns[rule.by[key]].name),
        Absent::Division => "a division by zero".to_owned(),
        Absent::TooLarge => "a number that is too large".to_owned(),
        Absent::Cause => "the cause is not known".to_owned(),
        Absent::Line => "the line is not known".to_owned(),
        Absent::Empty(function, position) => {
            let nodes = &rule.aggregates[position].input.nodes;
            match (nodes.as_slice(), &table.grouping) {
                ([(Op::Column(column), _)], Grouping::Groups(_)) => {
                    format!("{} is not there", table.columns[*column].name)
                }
                ([(Op::Column(column), _)], _) => {
                    format!("{function} of {}, which no row has", table.columns[*column].name)
                }
                _ => format!("{function} of no rows"),
            }
        }
    }
}
