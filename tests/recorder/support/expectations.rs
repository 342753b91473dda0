//! The table `tests/programs/expectations.txt`, and the comments in sources that it refers to.

use super::project;
use super::report::SourceLine;
use std::path::Path;

/// A line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Expectation {
    pub(crate) program: String,
    pub(crate) ranks: u32,
    pub(crate) arguments: Vec<String>,
    pub(crate) metric: String,
    /// End of the call path that waits.
    pub(crate) wait: String,
    pub(crate) waiting: Vec<usize>,
    pub(crate) factor: f64,
    /// End of the call path of the delay.
    pub(crate) delay: String,
    pub(crate) delaying: usize,
}

/// The table.
pub(crate) fn read() -> Vec<Expectation> {
    let text = std::fs::read_to_string(project("tests/programs/expectations.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let found: Vec<_> = lines.map(|line| expectation(line).unwrap_or_else(|| panic!("{line}"))).collect();
    assert!(found.len() >= 28, "the table is incomplete");
    found
}

fn expectation(line: &str) -> Option<Expectation> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [program, _, ranks, arguments, metric, wait, waiting, factor, delay, delaying] = words[..] else {
        return None;
    };
    let arguments = arguments.split(',').filter(|&argument| argument != "-");
    Some(Expectation {
        program: program.into(),
        ranks: ranks.parse().ok()?,
        arguments: arguments.map(str::to_owned).collect(),
        metric: metric.into(),
        wait: wait.into(),
        waiting: waiting.split(',').map(str::parse).collect::<Result<_, _>>().ok()?,
        factor: factor.parse().ok()?,
        delay: delay.into(),
        delaying: delaying.parse().ok()?,
    })
}

impl Expectation {
    /// File and line of the comment `HERE: <what>` in the program.
    pub(crate) fn here(&self, what: &str) -> SourceLine {
        here(&self.program, what)
    }
}

/// File and line of the comment `HERE: <what>` in a program.
pub(crate) fn here(program: &str, what: &str) -> SourceLine {
    let path = project("tests/programs").join(program);
    let text = std::fs::read_to_string(&path).unwrap();
    let comment = format!("HERE: {what}");
    let line = text.lines().position(|line| line.contains(&comment)).unwrap_or_else(|| panic!("{comment}"));
    let name = Path::new(program).file_name().unwrap().to_string_lossy();
    (name.into_owned(), line as u32 + 1)
}
