//! Options of an analysis.

use std::ffi::OsString;
use std::path::PathBuf;

use otf2::Io;

use crate::advice::{AdviceOptions, WantedAdvice};
use crate::error::Error;
use crate::focus::Focus;
use crate::io::IoOptions;
use crate::scaling::ScalingKind;
use crate::short::ShortOptions;
use crate::solvers;
use crate::structure::LoopChoice;
use crate::what_if::WhatIf;
use rules::Source;

/// The definitions of wait states to follow. `docs/differences.md` lists how they differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Semantics {
    /// The reference's definitions without its known defects.
    #[default]
    Corrected,
    /// The reference's numbers, defects included, for comparisons.
    Reference,
}

impl Semantics {
    /// Returns the name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Semantics::Corrected => "corrected",
            Semantics::Reference => "reference",
        }
    }

    /// Returns the semantics of a name.
    pub fn named(name: &str) -> Option<Semantics> {
        [Semantics::Corrected, Semantics::Reference].into_iter().find(|it| it.name() == name)
    }
}

/// The place of a report's details: its manifest and tables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DetailsPlace {
    /// Members of the report.
    Inside,
    /// An archive of its own beside the report.
    Beside,
    /// None are made.
    Nowhere,
}

/// How many waits the details list by default.
pub const INSTANCES: usize = 256;

/// How many windows the details have by default.
pub const WINDOWS: usize = 32;

/// The memory limit of a process. The program's allocator has to be
/// [`scratch::Allocator`](crate::scratch::Allocator).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryLimit {
    /// Bytes of memory.
    pub bytes: u64,
    /// The directory of a file for lists that do not fit; by default that for temporary files, if a file is
    /// needed and possible.
    pub scratch: Option<PathBuf>,
}

/// The trace to analyse, how, and the place of the report.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// The experiment directory, or the anchor file of its archive.
    pub experiment: PathBuf,
    /// The report; by default `trace.cubex` in the experiment directory.
    pub report: Option<PathBuf>,
    /// Which definitions to follow.
    pub semantics: Semantics,
    /// How the event files come into memory.
    pub io: Io,
    /// Threads in each process, at least 1.
    pub threads: usize,
    /// The memory limit of each process; by default all available memory.
    pub memory: Option<MemoryLimit>,
    /// The most bytes that one worker brings together from others, to go from location to location without
    /// exchanging messages (see [`solvers`]). The report does not depend on it.
    pub together: u64,
    /// Search for root causes: delay costs, propagation, the critical path.
    pub causes: bool,
    /// Where details go; by default into the report, and nowhere with the reference's definitions, whose reports are
    /// for comparisons.
    pub details: Option<DetailsPlace>,
    /// How many of the severest waits the details list, besides those of the statistics.
    pub instances: usize,
    /// How many windows around waits the details have, at most.
    pub windows: usize,
    /// Look for the loops of the program. With the reference's definitions these are never looked for.
    pub structure: bool,
    /// What has the iterations; by default phases that the program names, or the loop with most time.
    pub choice: Option<LoopChoice>,
    /// What is counted: what lies in all of them; all of the run if there are none.
    pub focus: Vec<Focus>,
    /// Write an archive with those iterations that stand for all others.
    pub short: Option<ShortOptions>,
    /// Replay the run as it would have been under other conditions; not at all without.
    pub what_if: Option<WhatIf>,
    /// Whether and how advice is looked for.
    pub advice: AdviceOptions,
    /// Files of rules for advice, in addition to those of the program.
    pub rules: Vec<Source>,
    /// Reports of other sizes of the program, to be compared with.
    pub references: Vec<PathBuf>,
    /// What stays the same from size to size; by default what the sizes say.
    pub scaling: Option<ScalingKind>,
    /// Call paths whose visits are windows of efficiencies, as names in a row with slashes between them; if there are any, the run is
    /// replayed on an ideal network at least.
    pub phases: Vec<String>,
    /// Write the run as it would have been in the only scenario of these as an archive, to this directory. With a
    /// [`report`](Options::report) that is of the predicted run.
    pub predict: Option<PathBuf>,
    /// What is asked of the model of file I/O.
    pub io_model: IoOptions,
    /// Correct the times of events first, so that nothing is received before it was sent.
    pub clock_correction: bool,
    /// Replace a report that another program wrote.
    pub force: bool,
    /// Write the statistics of wait states beside the report.
    pub statistics: bool,
    /// A second name that the report gets in the experiment directory, when it is in place.
    pub link: Option<OsString>,
}

impl Options {
    /// Returns the default options.
    pub fn new(experiment: impl Into<PathBuf>) -> Options {
        Options {
            experiment: experiment.into(),
            report: None,
            semantics: Semantics::default(),
            io: Io::default(),
            threads: 1,
            memory: None,
            together: solvers::TOGETHER,
            causes: true,
            details: None,
            instances: INSTANCES,
            windows: WINDOWS,
            structure: true,
            choice: None,
            focus: Vec::new(),
            short: None,
            what_if: None,
            advice: AdviceOptions::default(),
            rules: Vec::new(),
            references: Vec::new(),
            scaling: None,
            phases: Vec::new(),
            predict: None,
            io_model: IoOptions::default(),
            clock_correction: false,
            force: false,
            statistics: true,
            link: None,
        }
    }

    /// Returns under which other conditions the run is replayed: efficiencies of phases need an ideal network at least.
    pub fn replayed(&self) -> Option<WhatIf> {
        let ideal = || (!self.phases.is_empty()).then(WhatIf::ideal);
        self.what_if.clone().or_else(ideal)
    }

    /// Returns whether advice is looked for.
    pub fn looks_for_advice(&self) -> bool {
        match self.advice.wanted {
            WantedAdvice::WithStandard => self.what_if == Some(WhatIf::Standard) && self.causes,
            WantedAdvice::Never => false,
            WantedAdvice::Shown | WantedAdvice::All => true,
        }
    }

    /// Returns whether the report is that of the predicted run.
    pub fn reports_predicted(&self) -> bool {
        self.predict.is_some() && self.report.is_some()
    }

    /// Checks that options go together.
    ///
    /// # Errors
    /// A message that says what to leave out.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.short.is_some() && !self.has_structure() {
            return Err(Error::new(
                "--short needs the loops of the program: leave out --structure none, --semantics reference and --focus",
            ));
        }
        if self.short.is_some() && self.clock_correction {
            return Err(Error::new("--short copies times as they are: leave out --clock-correction"));
        }
        self.check_advice()?;
        if self.io_model.is_wanted() && !self.focus.is_empty() {
            return Err(Error::new(
                "--io-model and --io-picture are about all of the run: leave out --focus",
            ));
        }
        if self.what_if.as_ref().is_some_and(WhatIf::needs_causes) && !self.causes {
            return Err(Error::new(
                "--what-if=without=PATH takes delays from the root causes: leave out --no-root-causes",
            ));
        }
        let Some(choice) = self.choice.as_ref().filter(|_| !self.has_iterations()) else { return Ok(()) };
        let is_unknown = self.focus.is_empty() || !self.semantics.replays_all_of_mpi();
        Err(Error::new(match is_unknown {
            true => format!(
                "--loop {choice} needs the loops of the program: leave out --structure none and --semantics reference"
            ),
            false => format!(
                "--loop {choice} says what --focus iterations=I-J counts, and no such focus is given: leave it out"
            ),
        }))
    }

    /// Checks that options of advice go together with the others.
    fn check_advice(&self) -> Result<(), Error> {
        if self.looks_for_advice() {
            return match (self.causes, self.focus.is_empty()) {
                (false, _) => Err(Error::new("--advice needs root causes: leave out --no-root-causes")),
                (_, false) => Err(Error::new("--advice is about all of the run: leave out --focus")),
                _ => Ok(()),
            };
        }
        let rules = (!self.rules.is_empty()).then_some("--rules");
        match rules.or(self.advice.dependent_option()) {
            Some(option) => Err(Error::new(format!(
                "{option} needs advice: give --advice, or --what-if without scenarios, and leave out --no-root-causes"
            ))),
            None => Ok(()),
        }
    }

    /// Returns whether loops are looked for, and shown: a part of a run has none of its own.
    pub fn has_structure(&self) -> bool {
        self.structure && self.semantics.replays_all_of_mpi() && self.focus.is_empty()
    }

    /// Returns whether iterations are needed, to be shown or to be counted.
    pub fn has_iterations(&self) -> bool {
        self.has_structure()
            || self.semantics.replays_all_of_mpi() && self.focus.iter().any(Focus::has_iterations)
    }

    /// Returns where details go. Those of a part of a run would mix what is counted with what is not.
    pub fn details_place(&self) -> DetailsPlace {
        if !self.focus.is_empty() {
            return DetailsPlace::Nowhere;
        }
        self.details.unwrap_or(match self.semantics {
            Semantics::Corrected => DetailsPlace::Inside,
            Semantics::Reference => DetailsPlace::Nowhere,
        })
    }
}
