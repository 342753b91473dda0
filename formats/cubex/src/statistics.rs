//! Statistics of wait states: the text file beside a report that viewers read, `trace.stat` beside
//! `trace.cubex`.
//!
//! A line of titles; then for each pattern a line of numbers, a line for each of its severest instances, and
//! an empty line. Viewers read lines by position; fields behind the rank of an instance are our extension,
//! which they ignore.

use std::fmt::Write;

use crate::{CnodeId, LocationId};

/// The first line, with the titles of the columns.
pub const STATISTICS_TITLES: &str = "PatternName               Count      Mean    Median      Minimum      Maximum      \
                                     Sum     Variance    Quartil25    Quartil75";

/// Keywords in front of the location and the call path that caused the wait. No other program writes them.
pub const CAUSE_WORDS: [&str; 2] = ["causing_location:", "causing_cnode:"];

/// Statistics of the instances of a pattern; times in seconds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PatternStatistics {
    /// Unique name of its metric.
    pub name: String,
    /// Number of instances.
    pub count: u64,
    /// Mean severity.
    pub mean: f64,
    /// Median severity.
    pub median: f64,
    /// Smallest severity.
    pub minimum: f64,
    /// Largest severity.
    pub maximum: f64,
    /// Sum of the severities.
    pub sum: f64,
    /// Variance, of two or more instances.
    pub variance: Option<f64>,
    /// Lower and upper quartile, of five or more instances.
    pub quartiles: Option<[f64; 2]>,
    /// The severest instances, in descending order.
    pub instances: Vec<PatternInstance>,
}

/// An instance of a pattern; times in seconds since the start of the trace.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PatternInstance {
    /// The call path that waited.
    pub cnode: CnodeId,
    /// Start of the operation.
    pub enter: f64,
    /// End of the operation.
    pub exit: f64,
    /// Waiting time.
    pub duration: f64,
    /// The rank that waited.
    pub rank: u64,
    /// The location and the call path that caused the wait.
    pub cause: Option<(LocationId, CnodeId)>,
}

/// Returns the text of the file.
#[must_use]
pub fn statistics_text(patterns: &[PatternStatistics]) -> String {
    let mut text = format!("{STATISTICS_TITLES}\n");
    for pattern in patterns {
        let PatternStatistics { name, count, mean, median, minimum, maximum, sum, .. } = pattern;
        // Writing to a string cannot fail.
        let _ = write!(text, "{name:<26} {count:>9} {mean:.7} {median:.7}");
        let _ = write!(text, " {minimum:.10} {maximum:.10} {sum:.10}");
        for number in pattern.variance.iter().chain(pattern.quartiles.iter().flatten()) {
            let _ = write!(text, " {number:.10}");
        }
        text.push('\n');
        for PatternInstance { cnode, enter, exit, duration, rank, cause } in &pattern.instances {
            let _ = write!(text, "- cnode {} enter: {enter:.10} exit: {exit:.10}", cnode.0);
            let _ = write!(text, " duration: {duration:.10} rank: {rank}");
            if let Some((location, cnode)) = cause {
                let [of_location, of_cnode] = CAUSE_WORDS;
                let _ = write!(text, " {of_location} {} {of_cnode} {}", location.0, cnode.0);
            }
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_has_its_numbers_in_a_line_its_instances_below_and_an_empty_line() {
        let instance = PatternInstance {
            cnode: CnodeId(7),
            enter: 0.382_484_162_3,
            exit: 0.5,
            duration: 0.061_438_579_8,
            rank: 3,
            cause: Some((LocationId(2), CnodeId(9))),
        };
        let pattern = PatternStatistics {
            name: "mpi_barrier_wait".into(),
            count: 9,
            mean: 0.020_218_4,
            median: 0.020_115_1,
            minimum: 0.020_044_153_1,
            maximum: 0.020_680_064_9,
            sum: 0.181_965_912_4,
            variance: Some(0.000_000_060_9),
            quartiles: Some([0.020_046_405_4, 0.020_202_440_9]),
            instances: vec![instance],
        };
        let text = statistics_text(&[pattern]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1..],
            [
                "mpi_barrier_wait                   9 0.0202184 0.0201151 0.0200441531 0.0206800649 0.1819659124 \
                 0.0000000609 0.0200464054 0.0202024409",
                "- cnode 7 enter: 0.3824841623 exit: 0.5000000000 duration: 0.0614385798 rank: 3 causing_location: 2 \
                 causing_cnode: 9",
                "",
            ]
        );
    }

    #[test]
    fn few_instances_have_no_variance_and_no_quartiles() {
        let pattern = PatternStatistics { name: "mpi_latesender".into(), count: 1, ..Default::default() };
        let text = statistics_text(&[pattern]);
        assert!(text.ends_with(
            "\nmpi_latesender                     1 0.0000000 0.0000000 0.0000000000 0.0000000000 0.0000000000\n\n"
        ));
    }
}
