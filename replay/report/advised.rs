//! The block *Advice* of the summary (advice 6).

use std::fmt;

use details::advice::{
    AdviceFile, Advised as Entry, AdvisedAlso, AdvisedEvidence, AdvisedGain, AdvisedPlace, AdvisedRun,
    NotEvaluated, SCHEMA,
};

use rules::{Shown, Type};

use super::names;
use super::summary::printable;
use crate::advice::{Advice, Advised};
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;

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

/// Writes a text in lines, as long as words allow.
fn write_wrapped(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    const COLUMNS: usize = 110;
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > COLUMNS {
            writeln!(f, "       {line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(f, "       {line}")
}

/// The word for a confidence.
fn word(confidence: f64) -> &'static str {
    match confidence {
        0.7.. => "high",
        0.4.. => "fair",
        _ => "low",
    }
}

/// The names of a place, with file and line.
fn in_words(place: &AdvisedPlace) -> String {
    match &place.line {
        Some(line) => format!("{} ({line})", place.path),
        None => place.path.clone(),
    }
}

impl fmt::Display for AdviceSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AdviceFile { advice, run, together, .. } = &self.0;
        let percent = |seconds: f64| 100.0 * seconds / run.seconds.max(f64::MIN_POSITIVE);
        if advice.is_empty() {
            return writeln!(
                f,
                "\nNo advice: none of the changes that were tried would save 1 % of the run."
            );
        }
        writeln!(f, "\nAdvice (of a run of {:.3} s; each by itself):", run.seconds)?;
        for (number, it) in advice.iter().enumerate() {
            let (how, seconds) =
                it.gain.expected.map_or(("at most", it.gain.most), |expected| ("about", expected));
            writeln!(
                f,
                "  {}. {how} {seconds:.3} s, {:.1} %   {}: {}   [{}]",
                number + 1,
                percent(seconds),
                it.title,
                printable(&in_words(&it.place)),
                word(it.confidence)
            )?;
            write_wrapped(f, &printable(&it.text))?;
            if !it.evidence.is_empty() {
                let values = it.evidence.iter().map(|shown| format!("{} {}", shown.name, shown.text));
                write_wrapped(f, &printable(&values.collect::<Vec<_>>().join(", ")))?;
            }
            if let Some(library) = &it.library {
                writeln!(f, "       rule: {} for {}", it.rule, printable(library))?;
            }
            for also in &it.also {
                let also_in = format!("{}: {}", also.title, in_words(&also.place));
                writeln!(f, "       or: {} ({:.3} s by itself)", printable(&also_in), also.expected)?;
            }
            if let Some(scenario) = &it.scenario {
                writeln!(f, "       check: --what-if={}", printable(scenario))?;
            }
        }
        if let Some(together) = *together {
            let which = if advice.iter().all(|it| it.gain.expected.is_some()) {
                "all of these"
            } else {
                "all of these that say \"about\""
            };
            writeln!(f, "  {which} together: about {together:.3} s, {:.1} %", percent(together))?;
        }
        Ok(())
    }
}
