//! Quantities of runs for services that follow them: of each the median, least and largest over the reports.

use super::source::Source;
use crate::error::Result;
use crate::overview::Overview;
use crate::values::Unit;
use patterns::PATTERNS;

/// A quantity over several runs.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Tracked {
    /// Its name: `run`, `waiting`, `coverage`, `findings.wrong`, or a metric.
    pub(super) name: String,
    /// `seconds`, `share`, `count`, …
    pub(super) unit: String,
    /// Median of the runs.
    pub(super) value: f64,
    /// The least.
    pub(super) least: f64,
    /// The largest.
    pub(super) most: f64,
}

/// The quantities of a report: name, unit and value. Times are means over threads, so that numbers of different sizes of
/// runs can be compared; `run` is the length of the longest one.
///
/// # Errors
/// If values cannot be read.
pub(super) fn of(source: &Source<'_>) -> Result<Vec<(String, String, f64)>> {
    let overview = Overview::new(source.opened, source.values)?;
    let run = &overview.run;
    #[expect(clippy::cast_precision_loss, reason = "a number of threads")]
    let threads = run.threads.max(1) as f64;
    let mut all = vec![("run".to_owned(), "seconds".to_owned(), run.length)];
    all.push(("mpi".to_owned(), "seconds".to_owned(), run.mpi / threads));
    if let Some(waiting) = run.waiting {
        all.push(("waiting".to_owned(), "seconds".to_owned(), waiting / threads));
    }
    if let Some(manifest) = &source.opened.manifest {
        let coverage = &manifest.summary.coverage;
        let time: f64 = coverage.iter().map(|coverage| coverage.seconds).sum();
        let analysed: f64 =
            coverage.iter().filter(|it| it.fate == "analysed").map(|coverage| coverage.seconds).sum();
        all.push(("coverage".to_owned(), "share".to_owned(), if time > 0.0 { analysed / time } else { 1.0 }));
        for class in ["note", "data loss", "wrong"] {
            let of_class = manifest.summary.findings.iter().filter(|finding| finding.class == class);
            #[expect(clippy::cast_precision_loss, reason = "a count")]
            let count = of_class.fold(0_u64, |sum, finding| sum.saturating_add(finding.count)) as f64;
            all.push((format!("findings.{}", class.replace(' ', "_")), "count".to_owned(), count));
        }
    }
    let waits: Vec<&str> =
        PATTERNS.iter().filter(|pattern| pattern.is_waiting).map(|pattern| pattern.metric.id).collect();
    for quantity in source.quantities(&waits)? {
        let Some(sum) = run.sum(source.values, &quantity)? else { continue };
        let is_named = all.iter().any(|(name, ..)| *name == quantity.name);
        if !is_named {
            let is_time = quantity.unit == Unit::Seconds && quantity.is_sum();
            let value = if is_time { sum / threads } else { sum };
            all.push((quantity.name.clone(), quantity.unit.name().to_owned(), value));
        }
    }
    Ok(all)
}

/// Quantities that all runs have, in the order of the first.
pub(super) fn over(runs: &[Vec<(String, String, f64)>]) -> Vec<Tracked> {
    let Some(first) = runs.first() else { return Vec::new() };
    let tracked = first.iter().filter_map(|(name, unit, _)| {
        let of_run = |run: &Vec<(String, String, f64)>| run.iter().find(|it| it.0 == *name).map(|it| it.2);
        let mut values: Vec<f64> = runs.iter().map(of_run).collect::<Option<_>>()?;
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let value = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        let (least, most) = (values[0], values[values.len() - 1]);
        Some(Tracked { name: name.clone(), unit: unit.clone(), value, least, most })
    });
    tracked.filter(|tracked| tracked.value.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_runs_have_a_median_and_a_range() {
        let run = |value: f64| vec![("run".to_owned(), "seconds".to_owned(), value)];
        let all = over(&[run(3.0), run(1.0), run(4.0), run(2.0)]);
        assert_eq!((all[0].value, all[0].least, all[0].most), (2.5, 1.0, 4.0));
        assert!(over(&[run(1.0), Vec::new()]).is_empty(), "what a run lacks is not compared");
    }
}
