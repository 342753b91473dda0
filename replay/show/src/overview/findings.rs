//! Whether the numbers can be believed: coverage and findings.

use crate::opened::Opened;

/// The attribute with the share of the MPI time that was analysed.
const COVERAGE: &str = "Replay::Coverage::analysed";

/// What attributes with such shares begin with.
const PREFIX: &str = "Replay::Coverage::";

/// The member with findings, of reports without manifest.
const FINDINGS: &str = "findings.tsv";

/// A finding about the trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// `note`, `data loss` or `wrong`.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Number of occurrences.
    pub count: u64,
    /// Its meaning.
    pub meaning: String,
}

/// The share of the MPI time that was analysed; `None` if the report does not say.
pub fn coverage(opened: &Opened) -> Option<f64> {
    if let Some(manifest) = &opened.manifest {
        let fates = &manifest.summary.coverage;
        let all: f64 = fates.iter().map(|fate| fate.seconds).sum();
        let analysed: f64 =
            fates.iter().filter(|fate| fate.fate == "analysed").map(|fate| fate.seconds).sum();
        if all > 0.0 {
            return Some(analysed / all);
        }
    }
    let attribute = opened.cube().attributes.iter().find(|attribute| attribute.key == COVERAGE)?;
    attribute.value.parse().ok().filter(|share| (0.0..=1.0).contains(share))
}

/// The part of the MPI time that the analysis understands without calling it waiting.
const NOT_EXPLAINED: &str = "time in MPI that is not explained";

/// Whether all waiting in MPI is known: no time was left out for another reason than that it is not explained.
pub(super) fn is_analysed(opened: &Opened) -> bool {
    let is_other = |fate: &str| fate != "analysed" && fate != NOT_EXPLAINED;
    if let Some(manifest) = &opened.manifest {
        let fates = &manifest.summary.coverage;
        return !fates.is_empty() && fates.iter().all(|fate| !is_other(&fate.fate) || fate.seconds <= 0.0);
    }
    let attributes = opened.cube().attributes.iter();
    let mut fates = attributes.filter_map(|it| Some((it.key.strip_prefix(PREFIX)?, &it.value))).peekable();
    fates.peek().is_some() && fates.all(|(fate, share)| !is_other(fate) || share.parse() == Ok(0.0))
}

/// Findings about the trace; `None` if the report does not say.
pub fn findings(opened: &Opened) -> Option<Vec<Finding>> {
    if let Some(manifest) = &opened.manifest {
        let findings = manifest.summary.findings.iter();
        return Some(
            findings
                .map(|finding| Finding {
                    class: finding.class.clone(),
                    name: finding.name.clone(),
                    count: finding.count,
                    meaning: finding.meaning.clone(),
                })
                .collect(),
        );
    }
    let text = opened.report.member(FINDINGS).ok().flatten()?;
    let text = String::from_utf8_lossy(&text);
    let rows = text.lines().skip(1).filter_map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
        [name, class, count, _, _, _, meaning] => {
            let (class, name, meaning) = (class.to_owned(), name.to_owned(), meaning.to_owned());
            Some(Finding { class, name, count: count.parse().ok()?, meaning })
        }
        _ => None,
    });
    Some(rows.collect())
}
