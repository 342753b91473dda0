//! Whether a condition can hold at a call site, as far as that is known before its rows are (advice 5.3).

use crate::Type;
use crate::code::{Code, Op};
use crate::machine::{are_different, divide, greatest, least};
use crate::parse::{Arithmetic, Compare};
use crate::rows::{ABSENT, Run};
use crate::schema::Names;
use crate::template::whole;

/// What is known of the rows of a call site: columns by position with the value that all of them have, or [`ABSENT`].
#[derive(Clone, Copy, Debug)]
pub struct Site<'s> {
    /// Columns and values.
    pub values: &'s [(usize, i64)],
}

/// Whether a condition may hold for some row of the site.
pub(crate) fn can_hold(code: &Code, site: &Site<'_>, run: &Run, names: &dyn Names) -> bool {
    let mut values: Vec<Option<f64>> = Vec::with_capacity(code.nodes.len());
    for (op, kind) in &code.nodes {
        let value = known(code, op, &values, (site, run, names));
        // Truth that is absent is false in rows, too.
        let value = value.map(|value| if kind.kind == Type::Bool && value.is_nan() { 0.0 } else { value });
        values.push(value);
    }
    values[code.root()] != Some(0.0)
}

/// The value of a node; NaN if it is absent, `None` if it depends on the row.
// Numbers of names are below 2^53.
#[allow(clippy::cast_precision_loss)]
fn known(
    code: &Code,
    op: &Op,
    values: &[Option<f64>],
    (site, run, names): (&Site<'_>, &Run, &dyn Names),
) -> Option<f64> {
    let truth = |is_true: bool| Some(f64::from(u8::from(is_true)));
    match op {
        Op::Constant(value) => Some(*value),
        Op::Seconds(seconds) => Some(seconds * run.ticks_per_second),
        Op::Run(fact) => Some(run.fact(*fact)),
        Op::Column(column) => {
            let (_, value) = site.values.iter().find(|(known, _)| known == column)?;
            Some(if *value == ABSENT { f64::NAN } else { *value as f64 })
        }
        Op::Named(of, test, is_wanted) => {
            let value = values[*of]?;
            if value.is_nan() {
                return truth(false);
            }
            let kind = code.nodes[*of].1;
            let name = names.name(kind.kind, kind.domain, whole(value));
            truth(name.is_some_and(|name| test.passes(&name)) == *is_wanted)
        }
        Op::In(of, list, is_wanted) => {
            let value = values[*of]?;
            truth(!value.is_nan() && list.iter().any(|&item| values[item] == Some(value)) == *is_wanted)
        }
        Op::Not(a) => truth(values[*a]? != 1.0),
        Op::And(a, b) => match (values[*a], values[*b]) {
            (Some(a), Some(b)) => truth(a == 1.0 && b == 1.0),
            (Some(one), None) | (None, Some(one)) if one != 1.0 => truth(false),
            _ => None,
        },
        Op::Or(a, b) => match (values[*a], values[*b]) {
            (Some(a), Some(b)) => truth(a == 1.0 || b == 1.0),
            (Some(1.0), None) | (None, Some(1.0)) => truth(true),
            _ => None,
        },
        Op::If(condition, a, b) => match values[*condition]? {
            1.0 => values[*a],
            _ => values[*b],
        },
        Op::Negative(a) => Some(-values[*a]?),
        Op::Absolute(a) => Some(values[*a]?.abs()),
        Op::Least(a, b) => Some(least(values[*a]?, values[*b]?)),
        Op::Greatest(a, b) => Some(greatest(values[*a]?, values[*b]?)),
        Op::Arithmetic(sign, a, b) => Some(arithmetic(*sign, values[*a]?, values[*b]?)),
        Op::Compare(compare, a, b) => truth(compares(*compare, values[*a]?, values[*b]?)),
        _ => None,
    }
}

/// The result of arithmetic; NaN if an operand is.
pub(crate) fn arithmetic(sign: Arithmetic, a: f64, b: f64) -> f64 {
    match sign {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide => divide(a, b),
    }
}

/// Whether a comparison holds; never with what is absent.
pub(crate) fn compares(compare: Compare, a: f64, b: f64) -> bool {
    match compare {
        Compare::Less => a < b,
        Compare::AtMost => a <= b,
        Compare::Equal => a == b,
        Compare::Different => are_different(a, b),
        Compare::AtLeast => a >= b,
        Compare::More => a > b,
    }
}
