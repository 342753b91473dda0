//! The paragraph of a self-test.

use super::expected::Found;
use std::path::Path;

/// Columns of a line.
const WIDTH: usize = 100;

/// What the paragraph says.
#[cfg_attr(test, derive(Clone))]
pub(super) struct Facts<'a> {
    /// Number of processes.
    pub(super) processes: &'a str,
    /// What the MPI library says of itself, and its path.
    pub(super) mpi: (&'a str, &'a str),
    /// Who has started the processes.
    pub(super) launcher: String,
    /// Path of the recorder.
    pub(super) recorder: &'a Path,
    /// Path of the analyzer, and whether the launcher has started it.
    pub(super) analyzer: (&'a Path, bool),
    /// What the report says.
    pub(super) found: Found,
    /// Sentences about the archive.
    pub(super) recording: String,
    /// Sentences about the machine.
    pub(super) system: String,
    /// The experiment directory, if it stays.
    pub(super) kept: Option<&'a Path>,
}

impl Facts<'_> {
    /// Returns the paragraph in lines that are not longer than need be.
    pub(super) fn paragraph(&self) -> String {
        let Found { compared, differences, late_senders: (waited, made), hosts, findings } = &self.found;
        let outcome = match differences.len() {
            0 => format!("all {compared} counts are as expected"),
            count => format!("{count} of {compared} counts differ: {}", differences.join(", ")),
        };
        let findings = if findings.is_empty() { "none".to_owned() } else { findings.join(", ") };
        let (analyzer, is_by_launcher) = (self.analyzer.0.display(), self.analyzer.1);
        let by = if is_by_launcher { "by the launcher" } else { "alone" };
        let kept = self.kept.map_or(String::new(), |path| format!(" Experiment: {}.", path.display()));
        let shorter = match *waited < made / 2.0 {
            true => " (those that come late themselves, as with more processes than cores, wait less)",
            false => "",
        };
        let text = format!(
            "Self-test of replay-record {}: {outcome}. {} processes on {hosts} host{}, started by {}; MPI: {} ({}). Late senders: \
             they slept {made:.3} s, receivers waited {waited:.3} s{shorter}. Findings: {findings}. Recorder: {}. Analyzer: {analyzer}, started {by}. {} {}{kept}",
            env!("CARGO_PKG_VERSION"),
            self.processes,
            if *hosts == 1 { "" } else { "s" },
            self.launcher,
            self.mpi.0,
            self.mpi.1,
            self.recorder.display(),
            self.recording,
            self.system,
        );
        wrapped(&text)
    }
}

/// Returns a text with its words in lines.
fn wrapped(text: &str) -> String {
    let (mut lines, mut length) = (String::new(), 0);
    for word in text.split_whitespace() {
        let columns = word.chars().count();
        let is_new = length > 0 && length + 1 + columns > WIDTH;
        lines.push_str(if is_new {
            "\n"
        } else if length > 0 {
            " "
        } else {
            ""
        });
        length = if is_new || length == 0 { columns } else { length + 1 + columns };
        lines.push_str(word);
    }
    lines + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_in_lines_of_bounded_length() {
        let text = "word ".repeat(60) + &"x".repeat(150);
        let lines = wrapped(&text);
        assert_eq!(lines.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
        let lengths: Vec<usize> = lines.lines().map(str::len).collect();
        assert_eq!(lengths, [99, 99, 99, 150]);
    }

    #[test]
    fn what_differs_comes_first_and_names_the_experiment() {
        let found = Found {
            compared: 18,
            differences: vec!["MPI_Send 0 instead of 1".into()],
            hosts: 1,
            ..Found::default()
        };
        let facts = Facts {
            processes: "2",
            mpi: ("Some MPI 1", "/lib/libmpi.so"),
            launcher: "mpirun -n 2".into(),
            recorder: Path::new("/r.so"),
            analyzer: (Path::new("/a"), true),
            found,
            recording: "Clock: 5 ticks a second.".into(),
            system: "System: x.".into(),
            kept: Some(Path::new("/run")),
        };
        let text = facts.paragraph().replace('\n', " ");
        assert!(
            text.contains(": 1 of 18 counts differ: MPI_Send 0 instead of 1. 2 processes on 1 host, "),
            "{text}"
        );
        assert!(text.ends_with("System: x. Experiment: /run. "), "{text}");
        let waits = |waited: f64| Found { late_senders: (waited, 0.05), ..facts.found.clone() };
        let of = |waited| Facts { found: waits(waited), ..facts.clone() }.paragraph().replace('\n', " ");
        assert!(
            of(0.06).contains("Late senders: they slept 0.050 s, receivers waited 0.060 s. Findings: none")
        );
        assert!(of(0.0).contains("receivers waited 0.000 s (those that come late themselves, "));
    }
}
