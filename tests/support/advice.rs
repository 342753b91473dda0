//! The advice about made-up runs.

use std::path::Path;

use cubex::Report;
use details::advice::{ADVICE, AdviceFile};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{DetailsPlace, Options, Semantics, WhatIf};
use rules::Source;

use super::parse::Case;
use super::{in_memory, options, write};

/// The advice about a trace with these rules beside those of the program, by so many workers.
fn advice(experiment: &Path, rules: &[Source], threads: usize) -> AdviceFile {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let options = Options {
        what_if: Some(WhatIf::parse("").unwrap()),
        details: Some(DetailsPlace::Nowhere),
        structure: false,
        rules: rules.to_vec(),
        threads,
        ..options(experiment, &report, Semantics::Corrected)
    };
    replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
    let bytes = Report::open(&report).unwrap().member(ADVICE).unwrap().unwrap();
    AdviceFile::parse(&bytes).unwrap()
}

/// The same of a script, for any number of workers.
pub(crate) fn of_script(script: &str, rules: &[Source]) -> AdviceFile {
    let directory = in_memory();
    write::write(&Case::parse(script).unwrap().trace, directory.path());
    let experiment = directory.path().join("traces.otf2");
    let alone = advice(&experiment, rules, 1);
    for threads in [2, 3] {
        assert_eq!(advice(&experiment, rules, threads), alone, "{threads} workers");
    }
    alone
}
