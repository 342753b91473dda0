//! What a run is to be: options of the command line, and variables of scan and Score-P, which count less (site 4.2).

use std::fs::File;
use std::path::PathBuf;

use recording::scorep::{PROFILING, TRACING};

use crate::error::{Error, Result};
use crate::options::Options;
use crate::variables::{Variables, get, is_true, number};

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Nothing: the program runs as it is.
    Nothing,
    /// Visits, time and bytes by call path.
    Profile,
    /// Events, which are analysed.
    Trace,
}

/// Variables of scan that have no use here.
const NOT_NEEDED: [&str; 5] =
    ["SCAN_MPI_RANKS", "SCAN_SETENV", "SCAN_MPI_REDIRECT", "SCAN_ESCAPE", "SCAN_TRACE_FILESYS"];

/// Variables of Score-P that are followed.
const FOLLOWED: [&str; 8] = [
    "SCOREP_EXPERIMENT_DIRECTORY",
    "SCOREP_FILTERING_FILE",
    TRACING.name,
    PROFILING.name,
    "SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY",
    METRICS[0],
    METRICS[1],
    METRICS[2],
];

/// Variables of Score-P for counters: those of the processor, what is between them, and what the system counts of a process.
const METRICS: [&str; 3] = ["SCOREP_METRIC_PAPI", "SCOREP_METRIC_PAPI_SEP", "SCOREP_METRIC_RUSAGE"];

/// What a run is to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Choices {
    pub(crate) mode: Mode,
    /// Whether there is a measurement, otherwise the analysis of one alone.
    pub(crate) measures: bool,
    /// Whether the profile of Score-P is wanted.
    pub(crate) has_profile: bool,
    /// Whether the trace is analysed.
    pub(crate) analyzes: bool,
    /// The experiment directory, if it has a name.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) filter: Option<PathBuf>,
    /// Counters of the recorder, as it takes them.
    pub(crate) counters: Option<String>,
    /// Options of the analyzer.
    pub(crate) analyzer_options: Vec<String>,
    /// Whether events are removed after their analysis.
    pub(crate) cleans: bool,
    /// Whether an existing directory is removed, and after how many seconds.
    pub(crate) overwrites: Option<u64>,
    /// For how many seconds an experiment is waited for.
    pub(crate) wait: u64,
    /// What there is to say about variables.
    pub(crate) remarks: Vec<String>,
}

impl Choices {
    /// Makes them for a configuration; `is_of_file` says whether that comes from a file, which alone says what is measured.
    ///
    /// # Errors
    /// If options of the analyzer are no words, or there is no such filter.
    pub(crate) fn new(options: &Options, variables: &Variables, is_of_file: bool) -> Result<Choices> {
        let text = |name: &str| get(variables, name);
        let is = |name: &str| is_true(variables, name);
        let mut has_profile = is(PROFILING.name).unwrap_or(PROFILING.default);
        let mut has_trace = is(TRACING.name).unwrap_or(TRACING.default);
        let is_asked = options.profile || options.trace || options.nothing;
        let mut remarks = Vec::new();
        if is_asked && is_of_file {
            remarks.push("-s, -t and -q are ignored with -M: its file says what is measured".to_owned());
        } else if is_asked {
            has_profile = (has_profile && !options.nothing) || options.profile;
            has_trace = (has_trace && !options.nothing) || options.trace;
        }
        let mode = match (options.analyze || has_trace, has_profile) {
            (true, _) => Mode::Trace,
            (false, true) => Mode::Profile,
            (false, false) => Mode::Nothing,
        };
        let analyzer = text("SCAN_TRACE_ANALYZER");
        if let Some(other) = analyzer.filter(|name| *name != "none") {
            remarks.push(format!("SCAN_TRACE_ANALYZER={other} is ignored: replay-analyze is the analyzer"));
        }
        let filter = options.filter.clone().or_else(|| text("SCOREP_FILTERING_FILE").map(PathBuf::from));
        if let Some(path) = filter.as_deref().filter(|_| !options.analyze) {
            File::open(path).map_err(|cause| Error::io(path, "read the filter", cause))?;
        }
        let directory =
            options.directory.clone().or_else(|| text("SCOREP_EXPERIMENT_DIRECTORY").map(PathBuf::from));
        let analyzer_options = shell_words::split(text("SCAN_ANALYZE_OPTS").unwrap_or_default())
            .map_err(|error| Error::not_started(format!("SCAN_ANALYZE_OPTS: {error}")))?;
        let overwrites = is("SCAN_OVERWRITE").unwrap_or(false)
            || is("SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY").unwrap_or(false);
        if options.verbose > 0 {
            remarks.extend(ignored(variables));
        }
        Ok(Choices {
            mode,
            measures: !options.analyze,
            has_profile,
            analyzes: mode == Mode::Trace && analyzer != Some("none"),
            directory,
            filter,
            counters: counters(variables).unwrap_or_default(),
            analyzer_options,
            cleans: is("SCAN_CLEAN").unwrap_or(false),
            overwrites: overwrites.then(|| number(variables, "SCAN_OVERWRITE")),
            wait: number(variables, "SCAN_WAIT"),
            remarks,
        })
    }
}

/// Returns the counters that are wanted, as our recorder takes them; a problem if it has not all of them.
pub(crate) fn counters(variables: &Variables) -> std::result::Result<Option<String>, String> {
    let [papi, separator, _] = METRICS;
    let Some(list) = get(variables, papi) else { return Ok(None) };
    let list = list.replace(get(variables, separator).unwrap_or(","), ",");
    recording::counters::parse(&list)?;
    Ok(Some(list))
}

/// Returns what there is to say about counters that our recorder is asked for, but does not have.
pub(crate) fn without_counters(variables: &Variables, choices: &Choices) -> Vec<String> {
    let [papi, _, usage] = METRICS;
    let unknown = match counters(variables) {
        Err(problem) => Some(format!("{papi} is ignored: it has {problem}")),
        Ok(Some(_)) if choices.mode == Mode::Profile => {
            Some(format!("{papi} is ignored: counters are in traces (-t), not in profiles"))
        }
        Ok(_) => None,
    };
    let usage = get(variables, usage).map(|_| {
        format!("{usage} is ignored: replay-record has what threads have used in all, by their ends")
    });
    unknown.into_iter().chain(usage).collect()
}

/// Returns lines about variables of scan that are ignored.
fn ignored(variables: &Variables) -> impl Iterator<Item = String> {
    let set = NOT_NEEDED.iter().filter(|name| get(variables, name).is_some());
    set.map(|name| format!("{name} is not needed and ignored"))
}

/// Returns a line about variables of Score-P that our recorder ignores, if there are some.
pub(crate) fn ignored_of_scorep(variables: &Variables) -> Option<String> {
    let names = variables.keys().map(String::as_str).filter(|name| name.starts_with("SCOREP_"));
    let others: Vec<&str> =
        names.filter(|name| !FOLLOWED.contains(name) && get(variables, name).is_some()).collect();
    let what = match &others[..] {
        [] => return None,
        [one] => format!("{one} is ignored"),
        several => format!("{} are ignored", several.join(", ")),
    };
    Some(format!("{what}: replay-record --help has the options of the recorder"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::of;
    use clap::Parser;

    fn chosen(line: &str, variables: &[(&str, &str)]) -> Choices {
        let options = Options::try_parse_from(["scan"].into_iter().chain(line.split_whitespace())).unwrap();
        Choices::new(&options, &of(variables), false).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn options_count_more_than_variables() {
        let mode = |line: &str, variables: &[(&str, &str)]| chosen(line, variables).mode;
        assert_eq!(mode("a", &[]), Mode::Profile);
        assert_eq!(mode("-s a", &[]), Mode::Profile);
        assert_eq!(mode("-t a", &[]), Mode::Trace);
        assert_eq!(mode("-s -t a", &[]), Mode::Trace);
        assert_eq!(mode("-q a", &[("SCOREP_ENABLE_TRACING", "true")]), Mode::Nothing);
        assert_eq!(mode("a", &[("SCOREP_ENABLE_TRACING", "true")]), Mode::Trace);
        assert_eq!(mode("a", &[("SCOREP_ENABLE_PROFILING", "false")]), Mode::Nothing);
        assert_eq!(mode("-s a", &[("SCOREP_ENABLE_PROFILING", "false")]), Mode::Profile);
        assert_eq!(chosen("-e x a", &[("SCOREP_EXPERIMENT_DIRECTORY", "y")]).directory, Some("x".into()));
        assert_eq!(chosen("a", &[("SCOREP_EXPERIMENT_DIRECTORY", "y")]).directory, Some("y".into()));
    }

    #[test]
    fn file_of_configurations_alone_says_what_is_measured() {
        let options = Options::try_parse_from(["scan", "-t", "a"]).unwrap();
        let choices = Choices::new(&options, &of(&[]), true).unwrap();
        assert!(choices.mode == Mode::Profile && choices.remarks[0].contains("ignored with -M"));
    }

    #[test]
    fn trace_is_analysed_unless_the_user_says_no() {
        assert!(
            chosen("-t a", &[]).analyzes && chosen("-a -e x", &[]).analyzes && !chosen("-s a", &[]).analyzes
        );
        assert!(!chosen("-t a", &[("SCAN_TRACE_ANALYZER", "none")]).analyzes);
        let other = chosen("-t a", &[("SCAN_TRACE_ANALYZER", "/opt/scout.mpi")]);
        assert!(other.analyzes && other.remarks[0].contains("/opt/scout.mpi is ignored"), "{other:?}");
        assert!(!chosen("-a -e x", &[]).measures);
    }

    #[test]
    fn variables_of_scan_mean_the_same() {
        let all = [
            ("SCAN_CLEAN", "1"),
            ("SCAN_OVERWRITE", "5"),
            ("SCAN_WAIT", "3"),
            ("SCAN_ANALYZE_OPTS", "--a 'b c'"),
        ];
        let choices = chosen("-t a", &all);
        assert!(choices.cleans);
        assert_eq!((choices.overwrites, choices.wait), (Some(5), 3));
        assert_eq!(choices.analyzer_options, ["--a", "b c"]);
        assert_eq!(chosen("a", &[("SCAN_OVERWRITE", "true")]).overwrites, Some(0));
        assert_eq!(chosen("a", &[("SCAN_OVERWRITE", "0")]).overwrites, None);
        assert_eq!(chosen("a", &[("SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY", "true")]).overwrites, Some(0));
    }

    #[test]
    fn what_is_ignored_is_said_if_asked() {
        let variables = [
            ("SCAN_MPI_RANKS", "4"),
            ("SCOREP_TOTAL_MEMORY", "1G"),
            ("SCOREP_VERBOSE", "1"),
            ("SCOREP_METRIC_PAPI", "x"),
            ("SCOREP_METRIC_RUSAGE", "all"),
        ];
        assert!(chosen("a", &variables).remarks.is_empty());
        assert_eq!(chosen("-v a", &variables).remarks, ["SCAN_MPI_RANKS is not needed and ignored"]);
        let others = ignored_of_scorep(&of(&variables)).unwrap();
        assert!(others.starts_with("SCOREP_TOTAL_MEMORY, SCOREP_VERBOSE are ignored: "), "{others}");
        let one = ignored_of_scorep(&of(&[("SCOREP_METRIC_PERF", "cycles")])).unwrap();
        assert!(one.starts_with("SCOREP_METRIC_PERF is ignored: "), "{one}");
        assert_eq!(ignored_of_scorep(&of(&[("SCOREP_ENABLE_TRACING", "1"), ("SCOREP_VERBOSE", "")])), None);
        let without = |line: &str, variables: &[(&str, &str)]| {
            without_counters(&of(variables), &chosen(line, variables))
        };
        let lines = without("-t a", &variables);
        assert!(
            lines[0].starts_with("SCOREP_METRIC_PAPI is ignored: it has x, expected cycles, "),
            "{lines:?}"
        );
        assert!(lines[1].starts_with("SCOREP_METRIC_RUSAGE is ignored: "), "{lines:?}");
        assert!(without("-t a", &[]).is_empty());
        let papi = [("SCOREP_METRIC_PAPI", "PAPI_TOT_INS")];
        assert!(without("-t a", &papi).is_empty());
        assert!(without("-s a", &papi)[0].ends_with("counters are in traces (-t), not in profiles"));
    }

    #[test]
    fn counters_of_papi_are_those_of_the_recorder() {
        let variables =
            [("SCOREP_METRIC_PAPI", "PAPI_TOT_INS:PAPI_TOT_CYC"), ("SCOREP_METRIC_PAPI_SEP", ":")];
        assert_eq!(counters(&of(&variables)), Ok(Some("PAPI_TOT_INS,PAPI_TOT_CYC".into())));
        assert_eq!(counters(&of(&[])), Ok(None));
    }

    #[test]
    fn filter_has_to_be_there() {
        let options = Options::try_parse_from(["scan", "-f", "/nowhere", "a"]).unwrap();
        let error = Choices::new(&options, &of(&[]), false).unwrap_err();
        assert!(
            error.status == 2 && error.to_string().starts_with("/nowhere: cannot read the filter"),
            "{error}"
        );
        let wrong = Choices::new(&Options::default(), &of(&[("SCAN_ANALYZE_OPTS", "'")]), false).unwrap_err();
        assert!(wrong.status == 1 && wrong.to_string().starts_with("SCAN_ANALYZE_OPTS"), "{wrong}");
    }
}
