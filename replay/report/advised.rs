//! Advice in the report: the member, attributes, and what is printed of it (advice 6).

use std::fmt;

use cubex::Attribute;
use details::advice::{
    AdviceFile, Advised as Entry, AdvisedAlso, AdvisedEvidence, AdvisedGain, AdvisedPlace, AdvisedRun,
    NotEvaluated, SCHEMA,
};
use details::advice_words::{COLUMNS, Words, place as in_words};
use rules::{Shown, Type};

use super::names;
use super::summary::printable;
use crate::advice::{Advice, AdviceOptions, Advised, WantedAdvice};
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::wire::Half;

/// Advice in words, as the member of the report has it.
#[derive(Clone, PartialEq, Debug)]
pub struct AdviceSummary {
    /// The member.
    pub file: AdviceFile,
    /// Whether all of it is printed, with what is usually not shown.
    pub all: bool,
}

impl AdviceSummary {
    pub(super) fn new(
        tools: &Tools<'_>,
        paths: &ReportPaths,
        (advice, options): (&Advice, &AdviceOptions),
    ) -> AdviceSummary {
        AdviceSummary { file: file(tools, paths, advice), all: options.wanted == WantedAdvice::All }
    }

    /// What is shown, as attributes of the report (advice 6).
    pub(super) fn attributes(&self) -> impl Iterator<Item = Attribute> {
        self.file.shown().zip(1..).flat_map(|(it, number)| {
            let facts = [
                ("rule", it.rule.clone()),
                ("place", in_words(&it.place)),
                ("most", format!("{:.9}", it.gain.most)),
                ("confidence", format!("{:.3}", it.confidence)),
            ];
            facts.map(|(name, value)| Attribute::new(format!("Replay::Advice::{number}::{name}"), value))
        })
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
        evidence: it.evidence.iter().map(|shown| evidence(shown, seconds)).collect(),
        gain: AdvisedGain {
            by: it.by.to_owned(),
            expected: it.expected.map(|ticks| seconds(ticks as f64)),
            most: seconds(it.most as f64),
        },
        hidden: it.hidden.map(|why| why.name().to_owned()),
        library: it.library.clone(),
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
            certain: advice.trust.certain,
            coverage: advice.trust.analysed,
            has_findings: advice.trust.has_findings,
            least_percent: advice.least_percent,
            locations: advice.bounds.threads,
            seconds: seconds(advice.bounds.run as f64),
            wait_bound: seconds(advice.bounds.wait as f64),
        },
        schema: SCHEMA.to_owned(),
        together: advice.together.map(|ticks| seconds(ticks as f64)),
    }
}

/// A value that a rule shows.
fn evidence(shown: &Shown, seconds: impl Fn(f64) -> f64) -> AdvisedEvidence {
    let value = match shown.kind {
        Type::Path | Type::Operation | Type::Text => None,
        Type::Time | Type::Instant => shown.value.map(seconds),
        // Bytes by ticks.
        Type::Rate => shown.value.map(|rate| rate / seconds(1.0)),
        _ => shown.value,
    };
    AdvisedEvidence { name: shown.label.clone(), text: shown.text.clone(), value }
}

impl fmt::Display for AdviceSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        let (file, all) = (&self.file, self.all);
        Words { file, all, option: "--advice=all", columns: COLUMNS, printable }.fmt(f)
    }
}
