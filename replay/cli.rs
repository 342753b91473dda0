//! The command line. With `scout.rs` the only file that names clap.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Parser, ValueEnum};
use io_model::Thresholds;
use otf2::Io;
use replay::advice::{AdviceJson, AdviceOptions, WantedAdvice};
use replay::io::{IoOptions, OutputFile, SystemsTable, read_thresholds};
use replay::options::{INSTANCES, WINDOWS};
use replay::plan::{Form, Node};
use replay::scaling::ScalingKind;
use replay::short::{KEPT, ShortOptions};
use replay::{DetailsPlace, Focus, LoopChoice, MemoryLimit, Options, Semantics, WhatIf};
use rules::Source;

/// Find where the ranks of an MPI program waited for each other, and why.
///
/// Reads an OTF2 trace, as Score-P writes it, and writes a report for Cube's viewers.
/// Starts alone, or under mpirun with any number of processes:
///
///   replay-analyze exp.dir
///   mpirun -n 64 replay-analyze exp.dir
///
/// Exit status: 0 there is a report; 1 there is one, but the summary could not be printed, or the
/// trace lacks data (--strict); 2 there is none.
#[derive(Parser, Debug)]
#[command(name = "replay-analyze", version, verbatim_doc_comment, max_term_width = 100)]
#[command(group(ArgGroup::new("io_files").args(["io_model", "io_picture"]).multiple(true)))]
pub(crate) struct Cli {
    /// The experiment directory, or the anchor file (.otf2) of its trace
    #[arg(required_unless_present_any = ["check_rules", "print_rule", "io_ior", "manual"])]
    experiment: Option<PathBuf>,

    /// The report to write [default: trace.cubex in the experiment directory]
    #[arg(short, long, value_name = "FILE.cubex")]
    output: Option<PathBuf>,

    /// Follow the reference analyzer to the letter, or without its known defects
    #[arg(long, value_enum, default_value_t = SemanticsName::Corrected)]
    semantics: SemanticsName,

    /// Map event files, or read each in one piece
    ///
    /// Reading can be faster on parallel file systems; it takes the memory of the largest process's files.
    #[arg(long, value_enum, default_value_t = IoName::Map, hide_short_help = true)]
    io: IoName,

    /// Threads in each process [default: one under mpirun, else as many as there are cores to use]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,

    /// The MPI library to use under a launcher, or none [default: REPLAY_MPI, else the launcher's]
    ///
    /// By default that is the one that replay-analyze was built with, or else one that is found: by the loader, where the launcher is
    /// installed, by MPI_HOME and the variables of modules, beside mpirun. The environment variable REPLAY_MPI names one, too.
    #[arg(long, value_name = "LIBRARY", hide_short_help = true)]
    mpi: Option<PathBuf>,

    /// Memory for each process, such as 4G; what does not fit goes to a file
    ///
    /// That is lists of events. If what has to be in memory does not fit, the analysis ends at once and says how much it needs;
    /// with more output it tells at the start how much it takes at most.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory: Option<u64>,

    /// Directory of this file [default: REPLAY_SCRATCH, TMPDIR, or /tmp]
    #[arg(long, value_name = "DIR", requires = "memory")]
    scratch: Option<PathBuf>,

    /// Find wait states only: no delay costs, no critical path
    #[arg(long)]
    pub(crate) no_root_causes: bool,

    /// Write no statistics of wait states beside the report (trace.stat)
    ///
    /// One that an earlier analysis has left there is removed.
    #[arg(long, hide_short_help = true)]
    no_statistics: bool,

    /// Details for replay-show: in the report, in an archive beside it, or none [default: inside]
    ///
    /// Waiting over time, the longest waits with their causes, who talks to whom. With --semantics reference the default is none.
    #[arg(long, value_enum, value_name = "WHERE", hide_short_help = true)]
    details: Option<DetailsName>,

    /// The severest waits that the details list with both sides [default: 256]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16), hide_short_help = true)]
    details_instances: Option<u16>,

    /// Windows around the severest waits, in which the details have all calls and messages [default: 32]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16), hide_short_help = true)]
    details_windows: Option<u16>,

    /// Say what the program repeats, and which iterations are unlike the others; or do not look for that
    ///
    /// With --semantics reference it is not looked for.
    #[arg(long, value_enum, default_value_t = StructureName::Auto, hide_short_help = true)]
    structure: StructureName,

    /// Take the iterations of this loop: its name, such as 2.1, a function, or phase=FUNCTION
    ///
    /// Names are those that replay-show structure prints; of a function it is the innermost loop around all calls of MPI below it.
    /// phase=FUNCTION takes its visits as iterations. By default these are phases that the program names (regions with OTF2's flag
    /// for phases or dynamic regions) if they have half of the time, else the loop with most time.
    #[arg(long = "loop", value_name = "LOOP", value_parser = LoopChoice::parse, hide_short_help = true)]
    choice: Option<LoopChoice>,

    /// Count a part of the run only: time=A-B, iterations=I-J, phase=NAME or loop=ID
    ///
    /// Such as time=12.5s-13s, time=20%-30%, iterations=3-5 (or first, last, outliers, cluster=K), phase=step, phase=step#2-4.
    /// Several unite with commas; what lies in all is counted if the option is given more than once. Everything is still
    /// matched and judged: causes before the part are charged where they are. The report has no details.
    #[arg(long, value_name = "WHAT", value_parser = Focus::parse, hide_short_help = true, conflicts_with = "details")]
    focus: Vec<Focus>,
    /// Write an archive with a few iterations of the main loop that stand for all others
    ///
    /// These, MPI_Init and MPI_Finalize are all that it has; recording is off elsewhere. The directory must not exist.
    /// Not with --clock-correction, as times stay as they are.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["clock_correction", "focus"], hide_short_help = true)]
    short: Option<PathBuf>,

    /// Iterations of the short archive, at most [default: 10]
    #[arg(
        long,
        value_name = "K",
        requires = "short",
        value_parser = clap::value_parser!(u16).range(1..),
        hide_short_help = true
    )]
    keep: Option<u16>,

    /// Keep all that is in no iteration of the main loop in the short archive
    #[arg(long, requires = "short", hide_short_help = true)]
    keep_outside: bool,

    /// Say how long the run would have taken under other conditions [default: what is usually worth a try]
    ///
    /// Who waits for whom is kept, when is computed anew. Scenarios have commas between them, and the changes of one have +:
    /// same, fitted, ideal (MPI takes no time but waiting), latency=F, bandwidth=F, add=MICROSECONDS to each message, eager=all or
    /// eager=BYTES, remove=PATH (operations of many), early-send=PATH, cpu=F@PATH@RANK (work takes F times as long), level=PATH@RANK
    /// (work above the mean of all is gone), level=auto, balance=PATH, spread=PATH (work shared evenly in each phase), without=PATH@RANK
    /// (without the delays that root causes name), overlap=PATH (awaited later), quiet=PATH (without long stretches of work),
    /// posted=PATH, progress=PATH, arrival=PATH (receives in the order of arrival), split=PATH:PARTS, rendezvous=BYTES, mapping=FILE.
    /// PATH is names of a call path in a row, with slashes between them; RANK may be RANK:THREAD; \\ before a comma or + in a name.
    #[arg(
        long,
        value_name = "SCENARIOS",
        value_parser = WhatIf::parse,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with = "focus",
        hide_short_help = true
    )]
    what_if: Option<WhatIf>,

    /// Say which changes of the program save time, without the standard set of scenarios [default: shown]
    ///
    /// The run is replayed with what rules find only, which takes less time than --what-if without scenarios; that looks for advice,
    /// too. shown: what is sure enough, five at most; all: also what is not. Needs root causes.
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "shown",
        conflicts_with = "focus",
        hide_short_help = true
    )]
    advice: Option<AdviceName>,

    /// Look for no advice, with --what-if without scenarios either
    #[arg(
        long,
        conflicts_with_all = ["advice", "advice_from", "advice_json", "rules"],
        hide_short_help = true
    )]
    no_advice: bool,

    /// The least gain that is advice, in per cent of the run [default: 1]
    #[arg(long, value_name = "PERCENT", value_parser = percent, hide_short_help = true)]
    advice_from: Option<f64>,

    /// Write advice for programs to this file, too: the bytes of advice.json in the report
    ///
    /// - is standard output, in place of the summary.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    advice_json: Option<PathBuf>,

    /// Look for advice by the rules of these files, too
    ///
    /// These are files of docs/rules.md, in addition to the rules of the program. They come behind EXPERIMENT. With --advice, or
    /// --what-if without scenarios. Files that the environment variable REPLAY_RULES names, with colons between them, are read in
    /// front of these wherever advice is looked for.
    #[arg(long, value_name = "FILE", value_parser = rules_file, num_args = 1.., hide_short_help = true)]
    pub(crate) rules: Vec<Source>,

    /// Check files of rules, and do nothing else: all errors with file, line and column
    #[arg(long, value_name = "FILE", value_parser = rules_file, num_args = 1.., exclusive = true, hide_short_help = true)]
    pub(crate) check_rules: Vec<Source>,

    /// Print a rule of the program as a file of rules, to be copied and changed, and do nothing else
    #[arg(long, value_name = "RULE", exclusive = true, hide_short_help = true)]
    pub(crate) print_rule: Option<String>,

    /// Compare with reports of other sizes of the program: speed-up, and which efficiencies are lost; from five sizes on, how they grow
    ///
    /// These are reports of replay-analyze, one of each number of ranks, none of the trace's. They come behind EXPERIMENT.
    #[arg(long = "reference", value_name = "REPORT", num_args = 1.., conflicts_with = "focus", hide_short_help = true)]
    references: Vec<PathBuf>,

    /// Whether the problem stays the same from size to size, or that of each rank [default: what the work of the sizes says]
    #[arg(long, value_enum, value_name = "KIND", requires = "references", hide_short_help = true)]
    scaling: Option<ScalingName>,

    /// Say the efficiencies of the visits of a call path, too; may be given several times
    ///
    /// PATH is the last names of the call path in a row, with slashes between them. Its k-th visits by all ranks are a window. The run
    /// is replayed on an ideal network for that, with or without --what-if.
    #[arg(long, value_name = "PATH", value_parser = phase_path, conflicts_with = "focus", hide_short_help = true)]
    phase: Vec<String>,

    /// Write the run as it would have been in the scenario of --what-if as an archive
    ///
    /// All records are those of the trace, with other times. With --output the report is that of the predicted run. The directory
    /// must not exist. Not with --clock-correction: wrong clocks stay as wrong as they are.
    #[arg(
        long,
        value_name = "DIR",
        requires = "what_if",
        conflicts_with_all = ["clock_correction", "short"],
        hide_short_help = true
    )]
    predict: Option<PathBuf>,

    /// Write the phases of file I/O to this file: .tsv a table, .json all of the model, .sh lines of IOR; may be given several times
    ///
    /// A phase is what ranks repeat on a file without much communication in between: who reads or writes how much, in which pattern,
    /// and how long that takes.
    #[arg(long, value_name = "FILE", value_parser = OutputFile::of_model, conflicts_with = "focus", hide_short_help = true)]
    io_model: Vec<OutputFile>,

    /// Draw the bytes that ranks read and write over time, and where in the file with most of them
    #[arg(long, value_name = "FILE.svg", value_parser = OutputFile::of_picture, conflicts_with = "focus", hide_short_help = true)]
    io_picture: Option<OutputFile>,

    /// Calls of a rank that communicate, at most, between two operations of a phase of file I/O [default: 4]
    #[arg(long, value_name = "G", requires = "io_files", hide_short_help = true)]
    io_gap: Option<u64>,

    /// Least share of the run, or of all bytes, of a phase of file I/O that the summary lists, in per cent [default: 1]
    #[arg(long, value_name = "PERCENT", value_parser = percent, requires = "io_files", hide_short_help = true)]
    io_relevance: Option<f64>,

    /// From which numbers on file I/O is told as inefficient: a JSON object with some of the names of docs/io.md
    #[arg(long, value_name = "FILE.json", value_parser = read_thresholds, requires = "io_files", hide_short_help = true)]
    io_thresholds: Option<Thresholds>,

    /// Estimate the time of file I/O on other systems from what IOR measured there; may be given several times
    ///
    /// Tables are tab separated, with the columns system, api, op, np, t, MiB_s and others of docs/io.md.
    #[arg(long, value_name = "TABLE.tsv", value_parser = SystemsTable::read, requires = "io_files", hide_short_help = true)]
    io_systems: Vec<SystemsTable>,

    /// Print the lines of such a table from what IOR has written (-O summaryFormat=JSON), and do nothing else
    ///
    /// The system has the name of the file without its extension.
    #[arg(long, value_name = "FILE.json", value_parser = SystemsTable::of_ior, exclusive = true, hide_short_help = true)]
    pub(crate) io_ior: Option<SystemsTable>,

    /// Write manual pages and completions of shells below this directory, and do nothing else
    #[arg(long, value_name = "DIR", exclusive = true, hide = true)]
    pub(crate) manual: Option<PathBuf>,

    /// Estimate phases of several operations by the mean of their bandwidths
    #[arg(long, requires = "io_systems", hide_short_help = true)]
    io_mean: bool,

    /// Say how many nodes, processes, threads, how much memory and time this analysis needs, and do nothing else
    ///
    /// In words, as directives of a batch system with a line that starts the analysis, as variables of the shell, or as JSON. Reads
    /// definitions and sizes of files only.
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        hide_short_help = true
    )]
    plan: Option<FormName>,

    /// The nodes that --plan is for: cores, domains of memory (NUMA), memory, such as 128c,8n,256G [default: this machine]
    #[arg(long, value_name = "NODE", value_parser = Node::parse, requires = "plan", hide_short_help = true)]
    node: Option<Node>,

    /// Correct clocks first, so that nothing is received before it was sent
    #[arg(long)]
    clock_correction: bool,

    /// Replace a report that another program wrote
    #[arg(long)]
    force: bool,

    /// Exit with status 1 if the trace lacks data
    #[arg(long)]
    pub(crate) strict: bool,

    /// Complete the recording first, if it was not: its program was killed together with replay-record
    #[arg(long, hide_short_help = true, conflicts_with = "plan")]
    pub(crate) finish: bool,

    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print more: what the trace consists of, and which worker has what
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// A second name of the report in the experiment directory, for who has called the program by another name.
    #[arg(skip)]
    pub(crate) link: Option<OsString>,

    /// What there is to say about options of another program that are taken.
    #[arg(skip)]
    pub(crate) remark: Option<&'static str>,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum SemanticsName {
    Corrected,
    Reference,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum FormName {
    Text,
    Slurm,
    Pbs,
    Lsf,
    Flux,
    Shell,
    Json,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum IoName {
    Map,
    Read,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum DetailsName {
    Inside,
    Beside,
    None,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum StructureName {
    /// Unless memory is limited and short
    Auto,
    /// Not at all
    None,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum AdviceName {
    /// What is sure enough, five at most
    Shown,
    /// All that was found
    All,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum ScalingName {
    /// The problem stays the same
    Strong,
    /// That of each rank does
    Weak,
}

impl Cli {
    /// The form of the plan that is asked for, and the nodes that it is for; `None` if there is to be an analysis.
    pub(crate) fn plan(&self) -> Option<(Form, Node)> {
        let form = match self.plan? {
            FormName::Text => Form::Text,
            FormName::Slurm => Form::Slurm,
            FormName::Pbs => Form::Pbs,
            FormName::Lsf => Form::Lsf,
            FormName::Flux => Form::Flux,
            FormName::Shell => Form::Shell,
            FormName::Json => Form::Json,
        };
        Some((form, self.node.unwrap_or_else(Node::this_machine)))
    }

    /// Returns the number of threads of a process, if the user gives one.
    pub(crate) fn threads(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }

    /// Returns the options of the analysis, with so many threads of this process.
    pub(crate) fn options(&self, threads: usize) -> Options {
        Options {
            report: self.output.clone(),
            semantics: match self.semantics {
                SemanticsName::Corrected => Semantics::Corrected,
                SemanticsName::Reference => Semantics::Reference,
            },
            io: match self.io {
                IoName::Map => Io::Map,
                IoName::Read => Io::Read,
            },
            threads,
            memory: self.memory.map(|bytes| {
                let scratch =
                    self.scratch.clone().or_else(|| site::variable("REPLAY_SCRATCH").map(PathBuf::from));
                MemoryLimit { bytes, scratch }
            }),
            causes: !self.no_root_causes,
            details: self.details.map(|place| match place {
                DetailsName::Inside => DetailsPlace::Inside,
                DetailsName::Beside => DetailsPlace::Beside,
                DetailsName::None => DetailsPlace::Nowhere,
            }),
            instances: self.details_instances.map_or(INSTANCES, usize::from),
            windows: self.details_windows.map_or(WINDOWS, usize::from),
            structure: self.structure == StructureName::Auto,
            choice: self.choice.clone(),
            focus: self.focus.clone(),
            short: self.short.as_ref().map(|directory| ShortOptions {
                directory: directory.clone(),
                keep: self.keep.map_or(KEPT, usize::from),
                keep_outside: self.keep_outside,
            }),
            what_if: self.what_if.clone(),
            advice: self.advice_options(),
            rules: self.rules.clone(),
            references: self.references.clone(),
            scaling: self.scaling.map(|kind| match kind {
                ScalingName::Strong => ScalingKind::Strong,
                ScalingName::Weak => ScalingKind::Weak,
            }),
            phases: self.phase.clone(),
            predict: self.predict.clone(),
            io_model: self.io_options(),
            clock_correction: self.clock_correction,
            force: self.force,
            statistics: !self.no_statistics,
            link: self.link.clone(),
            ..Options::new(self.experiment.clone().unwrap_or_default())
        }
    }

    /// Whether advice for programs is printed in place of the summary.
    pub(crate) fn prints_advice_json(&self) -> bool {
        self.advice_json.as_ref().is_some_and(|path| path.as_os_str() == "-")
    }

    /// What is asked of the model of file I/O.
    fn io_options(&self) -> IoOptions {
        IoOptions {
            files: self.io_model.iter().chain(&self.io_picture).cloned().collect(),
            gap: self.io_gap.unwrap_or(IoOptions::default().gap),
            relevance: self.io_relevance.map_or(IoOptions::default().relevance, |percent| percent / 100.0),
            thresholds: self.io_thresholds.clone().unwrap_or_default(),
            systems: self.io_systems.iter().flat_map(|table| table.0.clone()).collect(),
            by_mean: self.io_mean,
        }
    }

    /// What is asked of advice.
    fn advice_options(&self) -> AdviceOptions {
        AdviceOptions {
            wanted: match self.advice {
                _ if self.no_advice => WantedAdvice::Never,
                None => WantedAdvice::WithStandard,
                Some(AdviceName::Shown) => WantedAdvice::Shown,
                Some(AdviceName::All) => WantedAdvice::All,
            },
            from: self.advice_from,
            json: self.advice_json.as_ref().map(|path| match self.prints_advice_json() {
                true => AdviceJson::Printed,
                false => AdviceJson::File(path.clone()),
            }),
        }
    }
}

/// The MPI library that is to be used, if the command line or the environment names one. The command line may be wrong, which is
/// said when MPI has started.
pub(crate) fn mpi_library(cli: Option<&Cli>) -> Option<PathBuf> {
    cli.and_then(|cli| cli.mpi.clone()).or_else(|| site::variable("REPLAY_MPI").map(PathBuf::from))
}

/// Reads a number of per cent, such as 0.5 or 0.5%.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    let number = number.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
    number.ok_or_else(|| "expected per cent of the run, from 0 to 100, such as 0.5".into())
}

/// Reads the last names of a call path.
fn phase_path(text: &str) -> Result<String, String> {
    match text.trim_matches('/') {
        "" => Err("expected names of a call path with slashes between them, such as main/solve".into()),
        path => Ok(path.into()),
    }
}

/// Reads a file of rules.
fn rules_file(path: &str) -> Result<Source, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read the file: {error}"))?;
    Ok(Source::new(path, text))
}

/// The environment variable that names files of rules.
pub(crate) const REPLAY_RULES: &str = "REPLAY_RULES";

/// Reads the files of rules that the environment names.
pub(crate) fn rules_of_environment() -> Result<Vec<Source>, String> {
    let value = site::variable(REPLAY_RULES).unwrap_or_default();
    let files = std::env::split_paths(&value).filter(|file| !file.as_os_str().is_empty());
    let read = |file: PathBuf| {
        let name = file.display().to_string();
        let source = std::fs::read_to_string(&file).map(|text| Source::new(&*name, text));
        source.map_err(|error| format!("{REPLAY_RULES}: cannot read {name}: {error}"))
    };
    files.map(read).collect()
}

/// Reads a number of bytes, with K, M, G or T for powers of 1,024.
fn bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) =
        text.split_at(text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len()));
    let unit = unit.to_ascii_uppercase();
    let power = match unit.strip_suffix("IB").or(unit.strip_suffix('B')).unwrap_or(&unit) {
        _ if digits.is_empty() => None,
        "" => Some(0),
        "K" => Some(10),
        "M" => Some(20),
        "G" => Some(30),
        "T" => Some(40),
        _ => None,
    };
    let power = power.ok_or("a size is a whole number of bytes, or one with K, M, G or T, such as 4G")?;
    let size = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << power));
    size.ok_or("larger than any memory".into())
}
