//! What file I/O costs the others, in words (io.md 5.4).

use std::fmt;

use super::culprits::{self, Culprits};
use super::file_io::name;
use super::names;
use super::summary::{Part, printable};
use crate::causes;
use crate::fraction::{self, whole_part};
use crate::io::FileCosts;
use crate::report_paths::ReportPaths;
use crate::trace::Trace;

/// Least share of the time of all locations that must be waited for I/O, to be told.
const LEAST: f64 = 0.01;

/// How long others wait for file I/O.
#[derive(Clone, PartialEq, Debug)]
pub struct FileWaiting {
    /// For all of it, in seconds.
    pub seconds: f64,
    /// The same as a share of the time of all locations.
    pub share: f64,
    /// The calls of one rank on one file that cost most.
    pub most: CostlyFile,
}

/// What the calls of one rank on one file cost the others.
#[derive(Clone, PartialEq, Debug)]
pub struct CostlyFile {
    /// Name of the rank.
    pub rank: String,
    /// Name of the function that costs most.
    pub function: String,
    /// Path of the file; `None` if it is unknown.
    pub file: Option<String>,
    /// How long others wait, in seconds.
    pub seconds: f64,
    /// The kind of waiting that costs most.
    pub kind: &'static str,
    /// Where others wait, and who, if that was looked for.
    pub victims: Option<Part>,
    /// Time of the calls on the critical path, in seconds.
    pub critical: f64,
}

impl FileWaiting {
    /// Puts costs in words; `None` if they are less than a hundredth of the time of all locations, `run`, in seconds.
    pub(super) fn new(
        (trace, paths): (&Trace, &ReportPaths),
        costs: &[FileCosts],
        (found, told): (&causes::Culprits, &Culprits<'_>),
        run: f64,
    ) -> Option<FileWaiting> {
        let most = costs.first()?;
        let all = costs.iter().fold(0, |sum: i128, it| sum.saturating_add(it.costs));
        let seconds = |shares: i128| trace.definitions.clock.seconds(shares) / fraction::ONE;
        if seconds(all) < LEAST * run || run <= 0.0 {
            return None;
        }
        let function = paths.functions.of(most.path);
        let is_it = |(which, named): &(usize, &causes::Named)| {
            named.culprit.function == function && found.members.has(*which, most.location)
        };
        // Who waits was looked for only for the places that cost most, which may be several ranks together.
        let named = found.named.iter().enumerate().find(is_it);
        let named = named.filter(|(which, _)| found.members.of(*which).count() == 1).map(|(_, named)| named);
        let victims = named
            .and_then(|named| Some(culprits::victims(trace, named.victims.as_ref()?, named.culprit.costs)));
        let file = most.file.and_then(|at| trace.definitions.files.get(at as usize));
        let rank = trace.location_name(trace.processes[most.process as usize].locations.start);
        Some(FileWaiting {
            seconds: seconds(all),
            share: seconds(all) / run,
            most: CostlyFile {
                rank,
                function: names::function(trace.region_name(paths.region(most.path))),
                file: file.cloned(),
                seconds: seconds(most.costs),
                kind: told.kind(most.class),
                victims,
                critical: trace.definitions.clock.seconds(whole_part(most.critical).into()),
            },
        })
    }
}

impl FileWaiting {
    /// How long others wait for all of it.
    pub(super) fn all(&self) -> String {
        format!("others wait {:.3} s for it, {:.1} % of the time", self.seconds, 100.0 * self.share)
    }
}

impl fmt::Display for CostlyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CostlyFile { rank, function, file, seconds, kind, victims, critical } = self;
        let file = file.as_ref().map_or("a file that is not known".to_owned(), |file| name(file));
        let function = printable(function);
        write!(
            f,
            "{rank}'s I/O on {file}, above all in {function}, makes others wait {seconds:.3} s: {kind}"
        )?;
        if let Some(victims) = victims {
            write!(f, " {victims}")?;
        }
        if *critical > 0.0 { write!(f, "; it is {critical:.3} s of the critical path") } else { Ok(()) }
    }
}
