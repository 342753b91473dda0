//! The advice about traces, and about made-up runs.

use std::fmt::Write;
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

/// A rank of a made-up run, with the time at which it is.
pub(crate) struct Rank {
    pub(crate) number: u64,
    script: String,
    pub(crate) now: u64,
}

impl Rank {
    /// Works in a function for so long.
    pub(crate) fn work(&mut self, name: &str, ticks: u64) {
        let end = self.now + ticks;
        writeln!(self.script, " {} > {name} ; {end} <", self.now).unwrap();
        self.now = end;
    }

    /// Is in a call of MPI up to a time, with an event when it is entered, and one when it is left.
    pub(crate) fn call(&mut self, name: &str, [first, last]: [&str; 2], until: u64) {
        let event = |event: &str| if event.is_empty() { String::new() } else { format!(" {event} ;") };
        let (first, last) = (event(first), event(last));
        let last = if last.is_empty() { last } else { format!(" {until}{last}") };
        writeln!(self.script, " {} > {name} ;{first}{last} {until} <", self.now).unwrap();
        self.now = until;
    }

    pub(crate) fn barrier(&mut self, until: u64) {
        self.call("MPI_Barrier", ["begin", "end barrier"], until);
    }

    /// Does something within a function.
    pub(crate) fn within(&mut self, name: &str, inside: impl FnOnce(&mut Rank)) {
        writeln!(self.script, " {} > {name}", self.now).unwrap();
        inside(self);
        writeln!(self.script, " {} <", self.now).unwrap();
    }
}

/// A run of so many ranks in so many steps, each of which begins so long after the one before; `step` is told its number and its begin.
pub(crate) fn run(ranks: u64, (steps, period): (u64, u64), step: impl Fn(&mut Rank, u64, u64)) -> String {
    let mut script = String::from("program prog\n");
    for number in 0..ranks {
        let mut rank = Rank { number, script: String::new(), now: 0 };
        for at in 0..steps {
            rank.now = 100 + period * at;
            step(&mut rank, at, 100 + period * at);
        }
        let end = 100 + period * steps + 100;
        let (begin, steps) = (format!("rank {number}\n 0 > main ; 0 > MPI_Init ; 10 <\n"), rank.script);
        writeln!(script, "{begin}{steps} {end} > MPI_Finalize ; {} < ; {} <", end + 10, end + 10).unwrap();
    }
    script
}
