//! All runs of a command: its configurations and repetitions, or their preview.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use recording::scorep::PROFILING;

use crate::choices::{Choices, Mode, ignored_of_scorep, without_counters};
use crate::directory::Names;
use crate::error::{Error, NO_REPORT, Result, print, say};
use crate::launch::Launch;
use crate::measure::{Run, make_room};
use crate::multi_run::{self, Configuration};
use crate::options::Options;
use crate::places::Places;
use crate::program::Contents;
use crate::steps::Step;
use crate::variables::{self, Variables};

/// The file with all configurations, in the directory around the runs, as scan names it.
pub(crate) const CONFIGURATIONS: &str = "scalasca_run.cfg";

/// Runs a command as the options say; returns the exit status.
///
/// # Errors
/// If a run cannot be started, or leaves no experiment or no report.
pub(crate) fn run(options: &Options, places: &Places) -> Result<u8> {
    let outer = variables::of_this_process();
    let configurations = multi_run::read(&options.configurations, &outer)?;
    let is_of_file = !options.configurations.is_empty();
    let plans: Vec<Plan<'_>> = configurations
        .iter()
        .map(|configuration| Plan::new(options, configuration, &outer, is_of_file))
        .collect::<Result<_>>()?;
    let mut said = BTreeSet::new();
    for plan in &plans {
        let ignored = ignored_of_scorep(&plan.variables).filter(|_| options.verbose > 0);
        let of_scorep = without_counters(&plan.variables, &plan.choices).into_iter().chain(ignored);
        let of_scorep = of_scorep.filter(|_| plan.is_recorded());
        let remarks = plan.choices.remarks.iter().cloned().chain(of_scorep);
        remarks.filter(|remark| said.insert(remark.clone())).for_each(|remark| say(&remark));
    }
    let Some(first) = plans.first() else { return Ok(0) };
    let counts = (plans.len(), options.repeat as usize);
    let names = Names::new(&first.choices, &first.launch(), first.contents.has_openmp, counts.0, counts.1);
    let analyzer = match plans.iter().any(|plan| plan.choices.analyzes) {
        true => Some(places.scout().ok_or_else(|| Error::not_started(places.no_scout()))?),
        false => None,
    };
    if let (Some(around), false, false) = (names.around(), options.preview, options.analyze) {
        begin_several(&around, first, options)?;
    }
    let mut status = 0;
    for (configuration, plan) in plans.iter().enumerate() {
        for repetition in 0..counts.1 {
            let directory = names.of_run(plan.choices.mode, configuration, repetition);
            let run = plan.run(directory, (places, analyzer.as_deref(), options));
            if options.preview {
                run.steps().try_for_each(|step| print(&format!("{step}\n")))?;
                continue;
            }
            if plan.choices.mode == Mode::Nothing && names.around().is_none() {
                run.wait_for_lock();
                return Err(replace(&plan.plain()));
            }
            match run.carry_out() {
                // The others can do without it, as in scan.
                Err(error) if error.status == NO_REPORT && names.around().is_some() => {
                    say(&error);
                    status = NO_REPORT;
                }
                done => done?,
            }
        }
    }
    Ok(status)
}

/// A configuration with what follows from it.
#[derive(Debug)]
struct Plan<'o> {
    configuration: &'o Configuration,
    variables: Variables,
    choices: Choices,
    /// The command; an analysis may do without one.
    launch: Option<Launch>,
    contents: Contents,
    records_all: bool,
}

impl<'o> Plan<'o> {
    fn new(
        options: &Options,
        configuration: &'o Configuration,
        outer: &Variables,
        is_of_file: bool,
    ) -> Result<Plan<'o>> {
        let variables = configuration.applied(outer);
        let choices = Choices::new(options, &variables, is_of_file)?;
        let needs_none = options.analyze && options.command.is_empty();
        if needs_none && choices.directory.is_none() {
            return Err(Error::not_started(
                "-a needs -e DIR, or the command that was measured, whose name the directory has",
            ));
        }
        let launch = match needs_none {
            true => None,
            // What the launcher starts is the analyzer.
            false if options.analyze && choices.directory.is_some() => {
                Some(Launch::parse_any(&options.command, &variables, is_program)?)
            }
            false => Some(Launch::parse(&options.command, &variables, is_program)?),
        };
        let file = launch.as_ref().filter(|launch| !launch.program.is_empty()).and_then(find);
        if let (Some(launch), None, true) = (&launch, &file, choices.measures) {
            let program = launch.program.to_string_lossy();
            return Err(Error::not_started(format!(
                "{program}: there is no such program; if it is the value of an option of the launcher, put -- before the program, or \
                 name it with SCAN_TARGET"
            )));
        }
        let contents = file.map(|file| Contents::read(&file)).unwrap_or_default();
        let plan = Plan { configuration, variables, choices, launch, contents, records_all: options.record };
        // Before anything is started, and in a preview, too. Score-P reads it itself.
        if let Some(filter) = plan.choices.filter.as_deref().filter(|_| plan.is_recorded()) {
            recording::filter::read(filter).map_err(Error::no_experiment)?;
        }
        Ok(plan)
    }

    /// Returns the command, an empty one if there is none.
    fn launch(&self) -> Launch {
        self.launch.clone().unwrap_or_default()
    }

    /// Whether our recorder is used.
    fn is_recorded(&self) -> bool {
        self.choices.measures && self.choices.mode != Mode::Nothing && !self.has_scorep()
    }

    fn has_scorep(&self) -> bool {
        self.contents.is_instrumented && !self.records_all
    }

    fn plain(&self) -> Step {
        Step::plain(&self.launch(), self.configuration)
    }

    /// Returns a run into a directory.
    fn run<'r>(
        &'r self,
        directory: PathBuf,
        (places, analyzer, options): (&Places, Option<&Path>, &'r Options),
    ) -> Run<'r> {
        let (launch, choices) = (self.launch(), &self.choices);
        let measure = match choices.mode {
            _ if !choices.measures => None,
            Mode::Nothing => Some(self.plain()),
            _ if self.has_scorep() => {
                Some(Step::with_scorep(&launch, choices, &directory, (&self.variables, self.configuration)))
            }
            _ => {
                let launch = (&launch, self.contents.is_instrumented);
                Some(Step::record(launch, choices, &directory, (places, self.configuration)))
            }
        };
        let analyze = analyzer.filter(|_| choices.analyzes).map(|scout| {
            Step::analyze(self.launch.as_ref(), choices, &directory, (scout.as_os_str(), self.configuration))
        });
        let mut chosen = crate::steps::chosen(&launch, choices, &directory);
        if !self.has_scorep() {
            // Our recorder makes a profile or a trace.
            chosen.insert(PROFILING.name.into(), (choices.mode == Mode::Profile).to_string());
        }
        Run {
            directory,
            measure,
            analyze,
            choices,
            chosen,
            lock: options.lock.as_deref(),
            is_verbose: options.verbose > 0,
        }
    }
}

/// Makes the directory around several runs, with what all of them are.
fn begin_several(around: &Path, first: &Plan<'_>, options: &Options) -> Result<()> {
    make_room(around, &first.choices)?;
    fs::create_dir(around).map_err(|cause| Error::io(around, "make the directory", cause))?;
    let mut text = String::new();
    for file in &options.configurations {
        text +=
            &fs::read_to_string(file).map_err(|cause| Error::io(file, "read the configurations", cause))?;
    }
    let path = around.join(CONFIGURATIONS);
    fs::write(&path, text).map_err(|cause| Error::io(&path, "write the file", cause))
}

/// Whether a word could be executed.
fn is_program(word: &OsStr) -> bool {
    let is_executable = |path: PathBuf| {
        fs::metadata(path).is_ok_and(|status| status.is_file() && status.permissions().mode() & 0o111 != 0)
    };
    launcher::find(word).is_some_and(is_executable)
}

/// Returns the path of the program, where its processes find it.
fn find(launch: &Launch) -> Option<PathBuf> {
    let path = launcher::find(&launch.program)?;
    let there = launch.directory.iter().map(|directory| directory.join(&path));
    there.chain([path.clone()]).find(|path| path.is_file())
}

/// Becomes a command: only its failure returns.
pub(crate) fn replace(step: &Step) -> Error {
    let [program, arguments @ ..] = &step.words[..] else { return Error::not_started("there is no program") };
    let mut command = Command::new(program);
    command.args(arguments).envs(step.set.iter().map(|(name, value)| (name, value)));
    for name in &step.unset {
        command.env_remove(name);
    }
    let cause = command.exec();
    Error::not_started(format!("{}: cannot start the program: {cause}", program.to_string_lossy()))
}
