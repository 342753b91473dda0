//! The block *Advice* of the summary (advice 6).

use std::fmt;

use cubex::Attribute;
use details::advice::{
    AdviceFile, Advised as Entry, AdvisedAlso, AdvisedGain, AdvisedPlace, AdvisedRun, NotEvaluated, SCHEMA,
};

use super::names;
use super::summary::printable;
use crate::advice::{Advice, AdviceOptions, Advised, WantedAdvice};
use crate::coverage::{Coverage, Fate};
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;

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
        coverage: &Coverage,
        (advice, options): (&Advice, &AdviceOptions),
    ) -> AdviceSummary {
        AdviceSummary { file: file(tools, paths, coverage, advice), all: options.wanted == WantedAdvice::All }
    }
}

impl AdviceSummary {
    /// What is shown, as attributes of the report (advice 6).
    pub(super) fn attributes(&self) -> impl Iterator<Item = Attribute> {
        let shown = self.file.advice.iter().filter(|it| it.hidden.is_none());
        shown.zip(1..).flat_map(|(it, number)| {
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
fn file(tools: &Tools<'_>, paths: &ReportPaths, coverage: &Coverage, advice: &Advice) -> AdviceFile {
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
        hidden: it.hidden.map(|why| why.name().to_owned()),
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
            coverage: (coverage.total() > 0).then(|| coverage.share(Fate::Analysed)),
            least_percent: advice.least_percent,
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

/// The names of a place, with file and line.
fn in_words(place: &AdvisedPlace) -> String {
    match &place.line {
        Some(line) => format!("{} ({line})", place.path),
        None => place.path.clone(),
    }
}

impl fmt::Display for AdviceSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AdviceFile { advice, run, together, .. } = &self.file;
        let percent = |seconds: f64| 100.0 * seconds / run.seconds.max(f64::MIN_POSITIVE);
        let shown: Vec<&Entry> = advice.iter().filter(|it| self.all || it.hidden.is_none()).collect();
        if shown.is_empty() {
            let least = run.least_percent;
            return match advice.len() {
                0 => writeln!(
                    f,
                    "\nNo advice: none of the changes that were tried would save {least} % of the run."
                ),
                1 => writeln!(
                    f,
                    "\nNo advice that is sure enough; of low confidence: 1 change (--advice=all prints it)"
                ),
                several => writeln!(
                    f,
                    "\nNo advice that is sure enough; of low confidence: {several} changes (--advice=all prints them)"
                ),
            };
        }
        writeln!(f, "\nAdvice (of a run of {:.3} s; each by itself):", run.seconds)?;
        for (number, it) in shown.iter().enumerate() {
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
            for also in &it.also {
                let also_in = format!("{}: {}", also.title, in_words(&also.place));
                writeln!(f, "       or: {} ({:.3} s by itself)", printable(&also_in), also.expected)?;
            }
            if let Some(scenario) = &it.scenario {
                writeln!(f, "       check: --what-if={}", printable(scenario))?;
            }
        }
        if let Some(together) = *together {
            let of_together = advice.iter().filter(|it| it.hidden.is_none());
            let first = of_together.clone().count();
            let these = if first < shown.len() { format!("1 to {first}") } else { "all of these".to_owned() };
            let which = if of_together.clone().all(|it| it.gain.expected.is_some()) {
                these
            } else {
                format!("{these} that say \"about\"")
            };
            writeln!(f, "  {which} together: about {together:.3} s, {:.1} %", percent(together))?;
        }
        match advice.len() - shown.len() {
            0 => Ok(()),
            more => writeln!(f, "  {more} more with --advice=all"),
        }
    }
}
