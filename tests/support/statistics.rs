//! Parser of the statistics beside a report.

use std::path::Path;

/// Statistics of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct PatternNumbers {
    pub(crate) name: String,
    /// Count, mean, median, minimum, maximum, sum; variance and two quartiles where they are given.
    pub(crate) numbers: Vec<f64>,
}

/// The text of the statistics beside a report.
pub(crate) fn text(report: &Path) -> String {
    std::fs::read_to_string(report.with_extension("stat")).unwrap()
}

/// The lines below the titles, with single spaces, without the empty ones.
pub(crate) fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect()
}

/// The numbers of each pattern.
pub(crate) fn read(report: &Path) -> Vec<PatternNumbers> {
    let lines = lines(&text(report)).into_iter().filter(|line| !line.starts_with('-'));
    lines
        .map(|line| {
            let mut words = line.split(' ');
            let name = words.next().unwrap().to_owned();
            PatternNumbers { name, numbers: words.map(|word| word.parse().unwrap()).collect() }
        })
        .collect()
}
