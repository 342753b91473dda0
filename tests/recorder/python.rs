//! Python programs: their functions are on call paths, as Python itself has them, with file and line.

use crate::support::archive::{self, paths, samples};
use crate::support::expectations;
use crate::support::record::{Invocation, Subject, analyze};
use std::collections::BTreeSet;

#[test]
fn call_paths_are_those_that_python_sees() {
    let Some(subject) = Subject::new("python_paths", "python/paths.py", 2, &[]) else { return };
    let ended = subject.run_recorded(Invocation::InFront);
    ended.expect_success();
    assert!(!ended.stderr.contains("not on call paths"), "{}", ended.stderr);
    assert_eq!(archive::refusal(&subject.experiment), None);
    analyze(&subject.experiment, &subject.folder).expect_success();
    let paths = paths(&subject.experiment);
    for path in &paths {
        // MPI_Finalize is called after the end of Python, and so are mpi4py's queries before it.
        let roots =
            ["/<module> (", "/Thread._bootstrap (", "/MPI_", "/__pyx_f_6mpi4py_3MPI_atexit", "/[MPI."];
        assert!(roots.iter().any(|root| path.starts_with(root)), "{path}");
        // Functions of replay.py are not the program's.
        assert!(!path.contains("_Named"), "{path}");
    }
    let mut found: BTreeSet<&str> =
        paths.iter().filter_map(|path| path.strip_suffix("/MPI_Barrier")).collect();

    let lines = |word: &str| -> BTreeSet<&str> {
        ended.stdout.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' ')).collect()
    };
    let expected = lines("path");
    assert!(expected.len() >= 67, "{}", ended.stdout);
    // Between these two there are functions of the C library.
    let (before, behind) = (lines("before"), lines("behind"));
    for (before, behind) in before.iter().zip(&behind) {
        let inner = behind.strip_prefix(before).unwrap();
        let is_right = |path: &&str| {
            let between = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(inner));
            between.is_some_and(|between| !between.is_empty() && !between.contains(".py:"))
        };
        let mixed =
            found.iter().copied().find(is_right).unwrap_or_else(|| panic!("{before} {inner}: {found:#?}"));
        found.remove(mixed);
    }
    let lacking: Vec<_> = expected.difference(&found).collect();
    let wrong: Vec<_> = found.difference(&expected).collect();
    assert!(lacking.is_empty() && wrong.is_empty(), "lacking {lacking:#?}, wrong {wrong:#?}");
}

#[test]
fn samples_name_the_functions_that_compute() {
    let Some(subject) = Subject::new("python_samples", "python/busy.py", 1, &[]) else { return };
    let subject = subject.option("--sample=100");
    subject.run_recorded(Invocation::InFront).expect_success();
    assert_eq!(archive::refusal(&subject.experiment), None);
    let (_, begin) = expectations::here("python/busy.py", "begin");
    let (_, end) = expectations::here("python/busy.py", "end");
    let samples = samples(&subject.experiment);
    let count = |outer: &str| -> u64 {
        let is_there = |path: &str| {
            let inner = path.strip_prefix(outer).and_then(|path| path.split("/add (").nth(1));
            let line =
                inner.and_then(|inner| inner.split(')').next()?.rsplit(':').next()?.parse::<u32>().ok());
            line.is_some_and(|line| (begin..=end).contains(&line))
        };
        samples.iter().filter(|(path, _)| is_there(path)).map(|(_, count)| count).sum()
    };
    // Of 15 for each thread.
    assert!(count("/<module> (") >= 5, "{samples:#?}");
    assert!(count("/Thread._bootstrap (") >= 5, "{samples:#?}");
}
