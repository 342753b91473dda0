//! What rules find in groups (advice 5.3, step 4).
//!
//! Numbers are made of integers with + − × ÷, min and max only, and groups go by (rule, keys): the same bits everywhere.

mod group;

use crate::rows::Run;
use crate::rule::{Rule, Rules};
use crate::schema::Names;
use crate::template::{Format, Piece, Template, print};
use crate::totals::{Group, Totals};
use crate::{Gain, Type};
use group::{Values, reason};

/// What the caller knows when rows have been gone through.
#[derive(Clone, Copy)]
pub struct Context<'c> {
    /// Facts of the run.
    pub run: &'c Run,
    /// Names of what numbers stand for.
    pub names: &'c dyn Names,
    /// The culprit of the waits of a group, by rule and keys: the call path with most delay costs. Asked for rules with
    /// [`Rule::needs_cause`] only.
    pub cause: &'c dyn Fn(usize, &[i64]) -> Option<i64>,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("run", self.run).finish_non_exhaustive()
    }
}

/// What all rules find, in the order of rules and keys.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Outcome {
    /// Groups that fulfil `when`.
    pub findings: Vec<Finding>,
    /// Rules of which a group could not be judged.
    pub not_evaluated: Vec<NotEvaluated>,
    /// Rules with too many groups, by position: nothing is known of them.
    pub with_too_many_groups: Vec<usize>,
}

/// A group that fulfils `when` of a rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The rule's position in [`Rules::rules`].
    pub rule: usize,
    /// Values of the columns that make groups.
    pub keys: Vec<i64>,
    /// How many rows the group has.
    pub rows: u64,
    /// Severity, in ticks over all locations.
    pub severity: f64,
    /// The gain at most, in ticks, if the rule has an expression for it.
    pub gain: Option<f64>,
    /// Whether what its scenario saves is a bound only.
    pub is_bound: bool,
    /// The model's confidence, if the rule has one.
    pub confidence: Option<f64>,
    /// The culprit of the group's waits, if the rule needs it.
    pub cause: Option<i64>,
    /// The call path to change.
    pub change: Option<i64>,
    /// The title, filled in.
    pub title: String,
    /// The advice, filled in.
    pub advice: String,
    /// What it shows.
    pub shows: Vec<Shown>,
}

/// A value that a rule shows.
#[derive(Clone, PartialEq, Debug)]
pub struct Shown {
    /// The expression.
    pub label: String,
    /// Its type.
    pub kind: Type,
    /// Its value, times in ticks; `None` if it is absent.
    pub value: Option<f64>,
    /// The value as text.
    pub text: String,
}

/// A rule that could not be judged, as far as a value was not there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotEvaluated {
    /// The rule's position in [`Rules::rules`].
    pub rule: usize,
    /// How many groups; 0 if no row could be chosen.
    pub groups: usize,
    /// Why, of the first of them.
    pub reason: String,
}

impl Rules {
    /// Judges all groups.
    ///
    /// # Panics
    /// If the totals are of other rules.
    #[must_use]
    pub fn evaluate(&self, totals: &Totals, context: &Context<'_>) -> Outcome {
        assert_eq!(self.rules.len(), totals.rules.len(), "totals of the same rules");
        let mut outcome = Outcome::default();
        for (position, (rule, totals)) in self.rules.iter().zip(&totals.rules).enumerate() {
            if totals.has_too_many {
                outcome.with_too_many_groups.push(position);
                continue;
            }
            let before = outcome.findings.len();
            let mut failed: Option<NotEvaluated> = None;
            for group in totals.sorted() {
                match self.judge(position, rule, group, context) {
                    Ok(Some(finding)) => outcome.findings.push(finding),
                    Ok(None) => {}
                    Err(reason) => {
                        let new = NotEvaluated { rule: position, groups: 0, reason };
                        failed.get_or_insert(new).groups += 1;
                    }
                }
            }
            let has_found = outcome.findings.len() > before;
            if let (Some(column), None, false) = (totals.lacks, &failed, has_found) {
                let name = &self.schema.tables[rule.over.table].columns[column].name;
                failed =
                    Some(NotEvaluated { rule: position, groups: 0, reason: format!("{name} is not there") });
            }
            outcome.not_evaluated.extend(failed);
        }
        outcome
    }

    /// Judges a group: what it finds, if anything, or why that is not known.
    fn judge(
        &self,
        position: usize,
        rule: &Rule,
        group: &Group,
        context: &Context<'_>,
    ) -> Result<Option<Finding>, String> {
        let cause = if rule.needs_cause() { (context.cause)(position, &group.keys) } else { None };
        let values = Values::new(rule, group, context, cause);
        let explained = |absent| reason(&self.schema, rule, absent);
        if values.of(&rule.when).map_err(explained)? != 1.0 {
            return Ok(None);
        }
        let severity = values.of(&rule.severity).map_err(explained)?;
        let gain = match (rule.gain, &rule.gain_value) {
            (Some(Gain::Value), Some(code)) => Some(values.of(code).map_err(explained)?),
            _ => None,
        };
        let confidence =
            rule.confidence.as_ref().map(|code| values.of(code).map_err(explained)).transpose()?;
        let is_bound = rule.bound_if.as_ref().map(|code| values.of(code).map_err(explained)).transpose()?;
        let change = values.place(rule.change);
        let text = |template: &Template| filled(template, &values, context);
        let shown = |(label, code): &(String, crate::code::Code)| {
            let value = values.of(code).ok();
            let kind = code.kind();
            let ticks = context.run.ticks_per_second;
            let text = value.map(|value| print(value, kind, Format::Usual, ticks, context.names));
            let text = text.unwrap_or_else(|| UNKNOWN.to_owned());
            Shown { label: label.clone(), kind: kind.kind, value, text }
        };
        Ok(Some(Finding {
            rule: position,
            keys: group.keys.to_vec(),
            rows: group.rows,
            severity,
            gain,
            is_bound: is_bound == Some(1.0),
            confidence,
            cause,
            change,
            title: text(&rule.title),
            advice: text(&rule.advice),
            shows: rule.shows.iter().map(shown).collect(),
        }))
    }
}

/// What texts have in place of a value that is absent.
const UNKNOWN: &str = "unknown";

/// A text with its values.
fn filled(template: &Template, values: &Values<'_>, context: &Context<'_>) -> String {
    let mut text = String::new();
    for piece in &template.pieces {
        match piece {
            Piece::Plain(plain) => text.push_str(plain),
            Piece::Value(code, format) => match values.of(code) {
                Ok(value) => {
                    let ticks = context.run.ticks_per_second;
                    text.push_str(&print(value, code.kind(), *format, ticks, context.names));
                }
                Err(_) => text.push_str(UNKNOWN),
            },
        }
    }
    text
}
