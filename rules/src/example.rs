//! Examples: rows that a file gives, and whether a rule finds something in them. They are how a rule is tested without a trace.

mod cases;

use crate::Context;
use crate::read::{Objection, Read, read_all};
use crate::rows::{Rows, Values};
use crate::rule::{Rule, Rules};
use crate::schema::Schema;
use crate::source::{Problem, Problems, Source, quoted};
use cases::Case;
pub(crate) use cases::check;

/// What trying all examples has shown.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Tried {
    /// How many cases there are.
    pub cases: usize,
    /// Cases in which a rule does something else.
    pub failed: Vec<Problem>,
    /// Changes of conditions that no case notices, of rules with examples.
    pub unnoticed: Vec<Problem>,
    /// Rules without any, by id.
    pub without: Vec<String>,
}

/// Tries all examples of files, each with its rule and with each change of the rule's condition: a number half or twice as large, a
/// comparison turned round, `not` left out.
///
/// # Errors
/// As [`crate::read_with()`].
pub fn try_examples(
    sources: &[Source],
    schema: &Schema,
    judge: &dyn Fn(&Rule) -> Option<Objection>,
) -> Result<Tried, Vec<Problem>> {
    let read = read_all(sources, schema, judge)?;
    let (mut failed, mut unnoticed) = (Problems::default(), Problems::default());
    let (mut without, mut count) = (Vec::new(), 0);
    for (position, rule) in read.rules.rules.iter().enumerate() {
        let of_rule = read.examples.iter().filter(|(of, _)| *of == position);
        let cases: Vec<Case> =
            of_rule.flat_map(|(_, example)| Case::all(&read.rules, rule, example)).collect();
        let mut alone = Rules { rules: vec![rule.clone()], ..read.rules.clone() };
        count += cases.len();
        for case in &cases {
            if let Some(message) = case.contradiction(&alone) {
                failed.add(case.place, format!("rule {} {message}", quoted(&rule.id)));
            }
        }
        match cases.is_empty() {
            true => without.push(rule.id.clone()),
            false => find_unnoticed(&read, (position, &mut alone), &cases, &mut unnoticed),
        }
    }
    let (failed, unnoticed) = (failed.finish(sources), unnoticed.finish(sources));
    Ok(Tried { cases: count, failed, unnoticed, without })
}

/// Changes of a rule's condition that none of its cases notices.
fn find_unnoticed(
    read: &Read,
    (position, alone): (usize, &mut Rules),
    cases: &[Case],
    unnoticed: &mut Problems,
) {
    for (place, what, changed) in read.changes(position) {
        // A change that makes no rule is noticed by whoever reads it.
        let Some(changed) = changed else { continue };
        alone.rules = vec![changed];
        if cases.iter().all(|case| case.contradiction(alone).is_none()) {
            unnoticed.add(place, format!("no example notices if {what}"));
        }
    }
}

impl Case {
    /// How the only rule of `alone` contradicts the case, in words; `None` if it does as expected.
    fn contradiction(&self, alone: &Rules) -> Option<String> {
        let columns: Vec<Values<'_>> = self.columns();
        let mut totals = alone.totals();
        let rows = Rows { count: self.rows, columns: &columns };
        alone.scanner(alone.rules[0].over, &self.run).add(rows, None, &self.known, &mut totals);
        let context = Context { run: &self.run, names: &self.known, cause: &|_, _| None };
        let outcome = alone.evaluate(&totals, &context);
        match (outcome.findings.is_empty(), self.finds) {
            (true, _) if let [unjudged, ..] = &outcome.not_evaluated[..] => {
                Some(format!("cannot be judged: {}", unjudged.reason))
            }
            (true, true) => Some("finds nothing".to_owned()),
            (false, false) => Some("finds something".to_owned()),
            _ => None,
        }
    }
}
