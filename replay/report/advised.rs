//! The block *Advice* of the summary (advice 6).

use std::fmt;

use details::advice::{
    AdviceFile, Advised as Entry, AdvisedAlso, AdvisedGain, AdvisedPlace, AdvisedRun, NotEvaluated, SCHEMA,
};

use super::names;
use super::summary::printable;
use crate::advice::{Advice, Advised};
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;

/// Advice in words, each by itself.
#[derive(Clone, PartialEq, Debug)]
pub struct AdviceSummary {
    /// The run, in seconds.
    pub run: f64,
    /// The member of the report.
    pub file: AdviceFile,
    /// Best first.
    pub list: Vec<AdviceLine>,
    /// What all of it together saves, in seconds; `None` without two.
    pub together: Option<f64>,
}

/// A change that is advised, in words.
#[derive(Clone, PartialEq, Debug)]
pub struct AdviceLine {
    /// The rule.
    pub rule: String,
    /// What is the matter, and what to do.
    pub title: String,
    /// What to do.
    pub text: String,
    /// The place to change, with file and line.
    pub place: String,
    /// What it saves as replayed, and at most, in seconds.
    pub expected: Option<f64>,
    /// At most.
    pub most: f64,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// The scenario that was replayed.
    pub scenario: Option<String>,
    /// Other advice that this one makes worthless, with what each would save by itself, in seconds.
    pub also: Vec<(String, f64)>,
}

impl AdviceSummary {
    pub(super) fn new(tools: &Tools<'_>, paths: &ReportPaths, advice: &Advice) -> AdviceSummary {
        let seconds = |ticks: i64| ticks as f64 / tools.trace.definitions.clock.resolution as f64;
        let place = |path: ReportPath| {
            let name = names::path(tools.trace, paths, path);
            match names::site(tools.trace, paths, path) {
                Some(line) => format!("{name} ({line})"),
                None => name,
            }
        };
        let line = |it: &Advised| AdviceLine {
            rule: it.rule.clone(),
            title: it.title.clone(),
            text: it.text.clone(),
            place: place(it.path),
            expected: it.expected.map(seconds),
            most: seconds(it.most),
            confidence: it.confidence,
            scenario: it.scenario.as_ref().map(ToString::to_string),
            also: it
                .also
                .iter()
                .map(|also| (format!("{}: {}", also.title, place(also.path)), seconds(also.expected)))
                .collect(),
        };
        AdviceSummary {
            run: seconds(advice.bounds.run),
            file: file(tools, paths, advice),
            list: advice.list.iter().map(line).collect(),
            together: advice.together.map(seconds),
        }
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

impl fmt::Display for AdviceSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |seconds: f64| 100.0 * seconds / self.run.max(f64::MIN_POSITIVE);
        if self.list.is_empty() {
            return writeln!(
                f,
                "\nNo advice: none of the changes that were tried would save 1 % of the run."
            );
        }
        writeln!(f, "\nAdvice (of a run of {:.3} s; each by itself):", self.run)?;
        for (number, it) in self.list.iter().enumerate() {
            let (how, seconds) = it.expected.map_or(("at most", it.most), |expected| ("about", expected));
            writeln!(
                f,
                "  {}. {how} {seconds:.3} s, {:.1} %   {}: {}   [{}]",
                number + 1,
                percent(seconds),
                it.title,
                printable(&it.place),
                word(it.confidence)
            )?;
            write_wrapped(f, &printable(&it.text))?;
            for (also, seconds) in &it.also {
                writeln!(f, "       or: {} ({seconds:.3} s by itself)", printable(also))?;
            }
            if let Some(scenario) = &it.scenario {
                writeln!(f, "       check: --what-if={}", printable(scenario))?;
            }
        }
        if let Some(together) = self.together {
            let which = if self.list.iter().all(|it| it.expected.is_some()) {
                "all of these"
            } else {
                "all of these that say \"about\""
            };
            writeln!(f, "  {which} together: about {together:.3} s, {:.1} %", percent(together))?;
        }
        Ok(())
    }
}
