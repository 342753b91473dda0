//! The statistics file for viewers (specification 13.1); `docs/statistics.md` describes the format.

use cubex::{CnodeId, LocationId, PatternInstance, PatternStatistics, statistics_text};

use crate::ids::ReportPath;
use crate::statistics::{Instance, PatternTotal, SUBJECTS};
use crate::trace::Trace;

/// Extension of the file's name; the rest is the report's.
pub(super) const EXTENSION: &str = "stat";

/// Returns the text of the file: the patterns that occurred. Ticks become seconds here.
pub(super) fn text(trace: &Trace, totals: &[PatternTotal]) -> String {
    let clock = &trace.definitions.clock;
    let seconds = |ticks: f64| ticks / clock.resolution as f64;
    let instance = |(instance, cause): &(Instance<ReportPath>, ReportPath)| PatternInstance {
        cnode: CnodeId(instance.path.index()),
        enter: clock.seconds(i128::from(instance.enter)),
        exit: clock.seconds(i128::from(instance.exit)),
        duration: clock.seconds(i128::from(instance.duration.0)),
        rank: trace.processes[instance.process as usize].rank.unwrap_or(instance.process).into(),
        cause: Some((LocationId(instance.cause.location as usize), CnodeId(cause.index()))),
    };
    let occurred = SUBJECTS.iter().zip(totals).filter(|(_, total)| total.moments.count > 0);
    let patterns: Vec<PatternStatistics> = occurred
        .map(|(subject, PatternTotal { moments, quartiles, severest })| {
            let count = moments.count;
            let variance = moments.variance() / (clock.resolution as f64 * clock.resolution as f64);
            PatternStatistics {
                name: subject.metric.into(),
                count,
                mean: seconds(moments.sum as f64 / count as f64),
                median: seconds(quartiles[1]),
                minimum: seconds(moments.minimum as f64),
                maximum: seconds(moments.maximum as f64),
                sum: seconds(moments.sum as f64),
                variance: (count >= 2).then_some(variance),
                quartiles: (count >= 5).then(|| [quartiles[0], quartiles[2]].map(seconds)),
                instances: severest.iter().map(instance).collect(),
            }
        })
        .collect();
    statistics_text(&patterns)
}
