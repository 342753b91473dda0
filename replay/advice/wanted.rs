//! What is asked of advice: whether it is looked for, from which gain on, what of it is printed, and where else it goes.

use std::path::PathBuf;

/// The least gain that is advice, in per cent of the run (advice 3.2).
const LEAST: f64 = 1.0;

/// Whether advice is looked for, and what of it is printed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum WantedAdvice {
    /// With the standard set of scenarios and root causes only; what is worth being shown.
    #[default]
    WithStandard,
    /// Not at all.
    Never,
    /// What is worth being shown.
    Shown,
    /// All that was found.
    All,
}

/// Where advice goes besides the report and the summary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AdviceJson {
    /// The caller prints it in place of the summary.
    Printed,
    /// This file.
    File(PathBuf),
}

/// What is asked of advice.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AdviceOptions {
    /// Whether it is looked for, and what of it is printed.
    pub wanted: WantedAdvice,
    /// The least gain, in per cent of the run; 1 without.
    pub from: Option<f64>,
    /// The bytes of the member of the report once more.
    pub json: Option<AdviceJson>,
}

impl AdviceOptions {
    /// The least gain, in per cent of the run.
    pub fn least_percent(&self) -> f64 {
        self.from.unwrap_or(LEAST)
    }

    /// The file that gets the bytes of the member.
    pub fn file(&self) -> Option<&PathBuf> {
        match &self.json {
            Some(AdviceJson::File(path)) => Some(path),
            Some(AdviceJson::Printed) | None => None,
        }
    }

    /// The first option that has no effect unless advice is looked for.
    pub(crate) fn dependent_option(&self) -> Option<&'static str> {
        let from = self.from.is_some().then_some("--advice-from");
        from.or(self.json.is_some().then_some("--advice-json"))
    }
}
