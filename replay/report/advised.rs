//! The block *Advice* of the summary (advice 6).

use std::fmt;

use details::advice::{
    AdviceFile, Advised as Entry, AdvisedAlso, AdvisedGain, AdvisedPlace, AdvisedRun, NotEvaluated, SCHEMA,
};
use details::advice_words::{COLUMNS, Words};

use super::names;
use super::summary::printable;
use crate::advice::{Advice, Advised};
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::wire::Half;

/// Advice in words, as the member of the report has it.
#[derive(Clone, PartialEq, Debug)]
pub struct AdviceSummary(pub AdviceFile);

impl AdviceSummary {
    pub(super) fn new(tools: &Tools<'_>, paths: &ReportPaths, advice: &Advice) -> AdviceSummary {
        AdviceSummary(file(tools, paths, advice))
    }
}

/// The member of the report.
fn file(tools: &Tools<'_>, paths: &ReportPaths, advice: &Advice) -> AdviceFile {
    let seconds = |ticks: f64| ticks / tools.trace.definitions.clock.resolution as f64;
    let place = |path: ReportPath| AdvisedPlace {
        cnode: Some(path.to_half()),
        line: names::site(tools.trace, paths, path),
        path: names::path(tools.trace, paths, path),
        region: tools.trace.region_name(paths.region(path)).to_owned(),
    };
    let entry = |it: &Advised| Entry {
        also: it
            .also
            .iter()
            .map(|also| AdvisedAlso {
                expected: seconds(also.expected as f64),
                place: place(also.path),
                rule: also.rule.clone(),
                scenario: also.scenario.as_ref().map(ToString::to_string),
                title: also.title.clone(),
            })
            .collect(),
        confidence: it.confidence,
        gain: AdvisedGain {
            by: it.by.to_owned(),
            expected: it.expected.map(|ticks| seconds(ticks as f64)),
            most: seconds(it.most as f64),
        },
        place: place(it.path),
        rule: it.rule.clone(),
        scenario: it.scenario.as_ref().map(ToString::to_string),
        seconds: seconds(it.severity),
        share: it.severity / (advice.bounds.all as f64).max(1.0),
        text: it.text.clone(),
        title: it.title.clone(),
    };
    AdviceFile {
        advice: advice.list.iter().map(entry).collect(),
        not_evaluated: advice
            .not_evaluated
            .iter()
            .map(|(rule, why)| NotEvaluated { rule: rule.clone(), why: why.clone() })
            .collect(),
        run: AdvisedRun {
            conserve_bound: seconds(advice.bounds.conserve as f64),
            locations: advice.bounds.threads,
            seconds: seconds(advice.bounds.run as f64),
            wait_bound: seconds(advice.bounds.wait as f64),
        },
        schema: SCHEMA.to_owned(),
        together: advice.together.map(|ticks| seconds(ticks as f64)),
    }
}

impl fmt::Display for AdviceSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        Words { file: &self.0, columns: COLUMNS, printable }.fmt(f)
    }
}
