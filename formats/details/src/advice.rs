//! What to change first, and what that saves: the member `advice.json`, in a report for which it was looked for.
//!
//! New keys may come; none changes its meaning within a schema.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::member;

/// The name of the member.
pub const ADVICE: &str = "advice.json";

/// The schema that this version writes.
pub const SCHEMA: &str = "replay-advice/1";

/// What is advised, and what bounds it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AdviceFile {
    /// Best first, each by itself: what the summary shows, then what it shows only if asked for all.
    pub advice: Vec<Advised>,
    /// Rules that could not be judged, in the order of their names.
    pub not_evaluated: Vec<NotEvaluated>,
    /// The run.
    pub run: AdvisedRun,
    /// `replay-advice/1`.
    pub schema: String,
    /// Seconds that all of it that is shown and could be replayed saves together; null with fewer than two.
    pub together: Option<f64>,
}

impl AdviceFile {
    /// What the summary shows.
    pub fn shown(&self) -> impl Iterator<Item = &Advised> {
        self.advice.iter().filter(|it| it.hidden.is_none())
    }
}

/// A rule that could not be judged.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NotEvaluated {
    /// The rule.
    pub rule: String,
    /// Why.
    pub why: String,
}

/// Facts of the run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AdvisedRun {
    /// The share of waiting that is longer than the error of the clocks; null if nobody waits.
    pub certain: Option<f64>,
    /// Seconds that are saved at most by moving work between ranks.
    pub conserve_bound: f64,
    /// The share of the time in MPI that was analysed; null if there is no such time.
    pub coverage: Option<f64>,
    /// Whether data are missing, or contradict each other, which halves all confidence.
    pub has_findings: bool,
    /// The least gain that is advice, in per cent of the run.
    pub least_percent: f64,
    /// Threads of all ranks.
    pub locations: u64,
    /// From the first end of `MPI_Init` to the last begin of `MPI_Finalize`.
    pub seconds: f64,
    /// Seconds that are saved at most without moving work between ranks: all waiting.
    pub wait_bound: f64,
}

/// A change that is advised.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Advised {
    /// Other advice that saves little once this one was followed.
    pub also: Vec<AdvisedAlso>,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// Further values that the rule shows.
    pub evidence: Vec<AdvisedEvidence>,
    /// What it saves.
    pub gain: AdvisedGain,
    /// Why the summary does not show it: `beyond five`, or `low confidence`; null if it does.
    pub hidden: Option<String>,
    /// The library that the rule's file is about; null for rules of the program.
    pub library: Option<String>,
    /// Where.
    pub place: AdvisedPlace,
    /// The rule, `PREFIX/NAME`.
    pub rule: String,
    /// What was replayed, as `--what-if` takes it; null if it cannot be.
    pub scenario: Option<String>,
    /// Seconds of waiting, or of calls, that it explains, over all locations.
    pub seconds: f64,
    /// Those as a share of the time of all locations.
    pub share: f64,
    /// What to do.
    pub text: String,
    /// What is the matter.
    pub title: String,
}

/// A value that a rule shows.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AdvisedEvidence {
    /// The expression, as the rule has it.
    pub name: String,
    /// The value with its unit; `unknown` if it is not there.
    pub text: String,
    /// The value, times in seconds, truth as 0 or 1; null if it is not there, or a name.
    pub value: Option<f64>,
}

/// What a change saves, in seconds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AdvisedGain {
    /// What bounds it: `edges`, `wait`, `path`, `conserve`, `calls`, `rule`, or `replay` where no bound is as large as what was replayed.
    pub by: String,
    /// As replayed; null if it cannot be.
    pub expected: Option<f64>,
    /// At most.
    pub most: f64,
}

/// A place to change.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AdvisedPlace {
    /// Its number in the call tree of the report; null if it has none.
    pub cnode: Option<u32>,
    /// File and line of the call; null if the trace does not tell.
    pub line: Option<String>,
    /// Its call path, with slashes between names.
    pub path: String,
    /// The function that it ends with.
    pub region: String,
}

/// Other advice that saves little once the first was followed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AdvisedAlso {
    /// Seconds that it saves by itself, as replayed, or at most where there is no scenario.
    pub expected: f64,
    /// Where.
    pub place: AdvisedPlace,
    /// The rule.
    pub rule: String,
    /// What was replayed; null if it cannot be.
    pub scenario: Option<String>,
    /// What is the matter.
    pub title: String,
}

impl AdviceFile {
    /// Reads the member.
    ///
    /// # Errors
    /// If it is no JSON of this form, or of another schema.
    pub fn parse(bytes: &[u8]) -> Result<AdviceFile> {
        member::parse(ADVICE, bytes, SCHEMA, |read: &AdviceFile| &read.schema)
    }

    /// The bytes of the member.
    pub fn to_bytes(&self) -> Vec<u8> {
        member::to_bytes(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_comes_back_as_it_was_and_another_schema_is_refused() {
        let advised = Advised { rule: "work/static".into(), confidence: 0.9, ..Advised::default() };
        let file = AdviceFile { schema: SCHEMA.into(), advice: vec![advised], ..AdviceFile::default() };
        assert_eq!(AdviceFile::parse(&file.to_bytes()), Ok(file.clone()));
        let other = AdviceFile { schema: "replay-advice/9".into(), ..file };
        assert!(AdviceFile::parse(&other.to_bytes()).unwrap_err().to_string().contains("advice/9"));
    }
}
