//! Commands of a run: that which measures, and that which analyses.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;

use recording::scorep::{PROFILING, TRACING};

use crate::choices::{Choices, Mode};
use crate::launch::Launch;
use crate::multi_run::Configuration;
use crate::places::Places;
use crate::variables::Variables;

/// A command, and how its environment differs from ours.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) words: Vec<OsString>,
    pub(crate) set: Vec<(String, String)>,
    pub(crate) unset: Vec<String>,
}

/// As a line that a shell can run.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> = Vec::new();
        if !self.set.is_empty() || !self.unset.is_empty() {
            words.push("env".into());
            words.extend(self.unset.iter().flat_map(|name| ["-u".into(), name.clone()]));
            words.extend(self.set.iter().map(|(name, value)| format!("{name}={value}")));
        }
        words.extend(self.words.iter().map(|word| word.to_string_lossy().into_owned()));
        f.write_str(&shell_words::join(words))
    }
}

impl Step {
    /// Makes a command in the environment of a configuration. What the configuration says to scan and Score-P is in the words.
    fn new(words: Vec<OsString>, configuration: &Configuration) -> Step {
        let is_other = |name: &str| !name.starts_with("SCOREP_") && !name.starts_with("SCAN_");
        let set = configuration.set.iter().filter(|(name, _)| is_other(name));
        Step {
            words,
            set: set.map(|(name, value)| (name.clone(), value.clone())).collect(),
            unset: configuration.unset.iter().filter(|name| is_other(name)).cloned().collect(),
        }
    }

    /// The program without any measurement.
    pub(crate) fn plain(launch: &Launch, configuration: &Configuration) -> Step {
        Step::new(launch.with(&[]), configuration)
    }

    /// The program under our recorder. Each process starts it, so that no launcher has to pass on variables (site 4.2: `SCAN_SETENV`).
    /// Score-P in the program is switched off, whatever its variables say to scan.
    pub(crate) fn record(
        (launch, has_scorep): (&Launch, bool),
        choices: &Choices,
        directory: &Path,
        (places, configuration): (&Places, &Configuration),
    ) -> Step {
        let mut words: Vec<OsString> = Vec::new();
        if has_scorep {
            words.push("env".into());
            words.extend([PROFILING, TRACING].map(|switch| format!("{}=false", switch.name).into()));
        }
        words.extend([places.program("replay-record"), "-o".into(), launch.reached(directory).into()]);
        if choices.mode == Mode::Profile {
            // A profile as of --profile; what it says of the size of a trace is what `square -s` shows.
            words.push("--estimate".into());
        }
        if let Some(filter) = &choices.filter {
            words.extend(["--filter".into(), launch.reached(filter).into()]);
        }
        if let Some(counters) = choices.counters.as_ref().filter(|_| choices.mode == Mode::Trace) {
            words.extend(["--counters".into(), counters.into()]);
        }
        Step::new(launch.with(&words), configuration)
    }

    /// The program, instrumented with Score-P, with its variables, as scan sets them.
    pub(crate) fn with_scorep(
        launch: &Launch,
        choices: &Choices,
        directory: &Path,
        (variables, configuration): (&Variables, &Configuration),
    ) -> Step {
        let mut set: Variables = variables
            .iter()
            .filter(|(name, _)| name.starts_with("SCOREP_"))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        set.extend(chosen(launch, choices, directory));
        let words = set.iter().map(|(name, value)| OsString::from(format!("{name}={value}")));
        let words: Vec<OsString> = [OsString::from("env")].into_iter().chain(words).collect();
        Step::new(launch.with(&words), configuration)
    }

    /// The analyzer with the launcher of the program.
    pub(crate) fn analyze(
        launch: Option<&Launch>,
        choices: &Choices,
        directory: &Path,
        (scout, configuration): (&OsStr, &Configuration),
    ) -> Step {
        let mut words = launch.map_or(Vec::new(), |launch| launch.launcher.clone());
        words.push(scout.into());
        words.extend(choices.analyzer_options.iter().map(Into::into));
        let trace = directory.join("traces.otf2");
        words.push(launch.map_or(trace.clone(), |launch| launch.reached(&trace)).into());
        Step::new(words, configuration)
    }
}

/// Returns what was chosen, as variables of Score-P.
pub(crate) fn chosen(launch: &Launch, choices: &Choices, directory: &Path) -> Variables {
    let is = |is_so: bool| is_so.to_string();
    let text = |path: &Path| launch.reached(path).to_string_lossy().into_owned();
    let mut chosen = Variables::from([
        (PROFILING.name.into(), is(choices.has_profile)),
        (TRACING.name.into(), is(choices.mode == Mode::Trace)),
        ("SCOREP_EXPERIMENT_DIRECTORY".into(), text(directory)),
    ]);
    if let Some(filter) = &choices.filter {
        chosen.insert("SCOREP_FILTERING_FILE".into(), text(filter));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::variables::of;
    use clap::Parser;

    /// The commands of a run as lines, with `program` for the path of each program of ours.
    struct Lines {
        launch: Launch,
        choices: Choices,
        variables: Variables,
        configuration: Configuration,
    }

    impl Lines {
        fn new(line: &str, variables: &[(&str, &str)]) -> Lines {
            let words = shell_words::split(line).unwrap();
            let options = Options::try_parse_from(["scan".to_owned()].into_iter().chain(words)).unwrap();
            let variables = of(variables);
            let launch = Launch::parse(&options.command, &variables, |word| word == "./app").unwrap();
            let choices = Choices::new(&options, &variables, false).unwrap();
            Lines { launch, choices, variables, configuration: Configuration::default() }
        }

        fn record(&self) -> String {
            let with = (&Places::of(Path::new("/nowhere/replay-scan")), &self.configuration);
            Step::record((&self.launch, false), &self.choices, Path::new("d"), with).to_string()
        }

        fn with_scorep(&self) -> String {
            let with = (&self.variables, &self.configuration);
            Step::with_scorep(&self.launch, &self.choices, Path::new("d"), with).to_string()
        }

        fn analyze(&self) -> String {
            let with = (OsStr::new("/l/scout.replay"), &self.configuration);
            Step::analyze(Some(&self.launch), &self.choices, Path::new("d"), with).to_string()
        }
    }

    #[test]
    fn recorder_is_started_by_each_process() {
        let lines = Lines::new("mpirun -n 4 ./app 'a b' x", &[]);
        assert_eq!(lines.record(), "mpirun -n 4 replay-record -o d --estimate ./app 'a b' x");
        assert_eq!(Step::plain(&lines.launch, &lines.configuration).to_string(), "mpirun -n 4 ./app 'a b' x");
        assert_eq!(Lines::new("-t ./app", &[]).record(), "replay-record -o d ./app");
        let filter = Lines::new("-t -f /dev/null srun ./app", &[]);
        assert_eq!(filter.record(), "srun replay-record -o d --filter /dev/null ./app");
        let several = Lines::new("-t mpirun -n 1 ./app : -n 2 ./b", &[]);
        assert_eq!(several.record(), "replay-record -o d mpirun -n 1 ./app : -n 2 ./b");
        assert!(Lines::new("-t mpirun -wdir / ./app", &[]).record().contains(" -o /"));
        let with = (&Places::of(Path::new("/nowhere/replay-scan")), &lines.configuration);
        let off = Step::record((&lines.launch, true), &lines.choices, Path::new("d"), with).to_string();
        assert!(
            off.contains(
                "-n 4 env 'SCOREP_ENABLE_PROFILING=false' 'SCOREP_ENABLE_TRACING=false' replay-record"
            ),
            "{off}"
        );
    }

    #[test]
    fn analyzer_has_the_launcher_and_the_options_of_scan() {
        let lines =
            Lines::new("-t mpirun -n 4 ./app", &[("SCAN_ANALYZE_OPTS", "--time-correct --memory 4G")]);
        assert_eq!(lines.analyze(), "mpirun -n 4 /l/scout.replay --time-correct --memory 4G d/traces.otf2");
        assert_eq!(Lines::new("-t ./app", &[]).analyze(), "/l/scout.replay d/traces.otf2");
        let around = Lines::new("-t mpirun -n 4 taskset -c 1 ./app", &[("SCAN_TARGET", "./app")]);
        assert_eq!(around.analyze(), "mpirun -n 4 taskset -c 1 /l/scout.replay d/traces.otf2");
        let configuration = Configuration::default();
        let alone = Step::analyze(None, &lines.choices, Path::new("d"), ("s".as_ref(), &configuration));
        assert_eq!(alone.to_string(), "s --time-correct --memory 4G d/traces.otf2");
    }

    #[test]
    fn instrumented_program_gets_variables_of_scorep() {
        let lines =
            Lines::new("-t -f /dev/null mpirun -n 4 ./app", &[("SCOREP_TOTAL_MEMORY", "1G"), ("HOME", "/h")]);
        assert_eq!(
            lines.with_scorep(),
            "mpirun -n 4 env 'SCOREP_ENABLE_PROFILING=true' 'SCOREP_ENABLE_TRACING=true' 'SCOREP_EXPERIMENT_DIRECTORY=d' \
             'SCOREP_FILTERING_FILE=/dev/null' 'SCOREP_TOTAL_MEMORY=1G' ./app"
        );
    }

    #[test]
    fn counters_of_papi_are_asked_of_the_recorder() {
        let record = |list| Lines::new("-t ./app", &[("SCOREP_METRIC_PAPI", list)]).record();
        assert_eq!(record("PAPI_TOT_INS"), "replay-record -o d --counters PAPI_TOT_INS ./app");
        assert_eq!(record("PAPI_FP_OPS"), "replay-record -o d ./app");
    }

    #[test]
    fn configuration_is_the_environment_of_the_commands() {
        let mut lines = Lines::new("-t mpirun -n 4 ./app", &[]);
        lines.configuration.set =
            of(&[("OMP_NUM_THREADS", "4"), ("SCOREP_ENABLE_TRACING", "true"), ("MODE", "a b")]);
        lines.configuration.unset = vec!["LEVEL".into(), "SCAN_CLEAN".into()];
        assert_eq!(
            lines.record(),
            "env -u LEVEL 'MODE=a b' 'OMP_NUM_THREADS=4' mpirun -n 4 replay-record -o d ./app"
        );
        assert!(
            lines
                .analyze()
                .starts_with("env -u LEVEL 'MODE=a b' 'OMP_NUM_THREADS=4' mpirun -n 4 /l/scout.replay")
        );
    }
}
