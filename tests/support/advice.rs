//! The advice about traces, and about made-up runs.

use std::path::Path;

use cubex::Report;
use details::advice::{ADVICE, AdviceFile};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{DetailsPlace, Options, Semantics, WhatIf};
use rules::Source;

use super::parse::Case;
use super::{in_memory, options, write};

/// Options of an analysis that looks for advice, and for little else.
pub(crate) fn asking(experiment: &Path, report: &Path) -> Options {
    Options {
        what_if: Some(WhatIf::parse("").unwrap()),
        details: Some(DetailsPlace::Nowhere),
        structure: false,
        ..options(experiment, report, Semantics::Corrected)
    }
}

/// The advice of an analysis with these options, and the bytes of the member.
pub(crate) fn of(options: &Options) -> (AdviceFile, Vec<u8>) {
    replay::analyze(options, &mut Solo, &mut Progress::silent()).unwrap();
    let report = Report::open(options.report.as_ref().unwrap()).unwrap();
    let bytes = report.member(ADVICE).unwrap().unwrap();
    (AdviceFile::parse(&bytes).unwrap(), bytes)
}

/// The advice about a trace with these rules beside those of the program, by so many workers.
fn with_rules(experiment: &Path, rules: &[Source], threads: usize) -> AdviceFile {
    let directory = in_memory();
    let asked = asking(experiment, &directory.path().join("trace.cubex"));
    of(&Options { rules: rules.to_vec(), threads, ..asked }).0
}

/// The same of a script, for any number of workers.
pub(crate) fn of_script(script: &str, rules: &[Source]) -> AdviceFile {
    let directory = in_memory();
    write::write(&Case::parse(script).unwrap().trace, directory.path());
    let experiment = directory.path().join("traces.otf2");
    let alone = with_rules(&experiment, rules, 1);
    for threads in [2, 3] {
        assert_eq!(with_rules(&experiment, rules, threads), alone, "{threads} workers");
    }
    alone
}
