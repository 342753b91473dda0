//! Comparison of reports with `--focus` with a second implementation (`tests/oracle`) that clips intervals at windows (structure 3.4),
//! on real archives and random traces.
//!
//! `REPLAY_SEED=N` starts with another trace, `REPLAY_TRACES=N` sets the number of random ones.

use std::path::Path;

use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{DetailsPlace, Options, Semantics};

use crate::oracle::analyze_focused;
use crate::oracle::focus::Focus;
use crate::oracle::random::program;
use crate::oracle::read::read;
use crate::oracle::script::script;
use crate::second_implementation::{report_differences, variable};
use crate::support::random::Random;
use crate::support::report::Table;
use crate::support::trace::Trace;
use crate::support::{self, in_memory, random_tasks, write};

/// Number of windows of each archive.
const WINDOWS: usize = 20;

/// Number of random traces, unless `REPLAY_TRACES` is set.
const TRACES: u64 = 100;

/// An archive, as far as windows are drawn from it.
struct Clocked {
    resolution: u64,
    /// Begin and length of the trace.
    begin: i64,
    length: i64,
    /// Times of events since the begin that are inside of the trace.
    times: Vec<i64>,
}

impl Clocked {
    fn open(experiment: &Path) -> Clocked {
        let clock = otf2::Archive::open(experiment).unwrap().definitions().unwrap().clock;
        let (begin, length) = (clock.global_offset as i64, clock.length as i64);
        let (locations, _) = read(experiment, Semantics::Corrected);
        let events = locations.iter().flat_map(|location| &location.events);
        let times = events.map(|event| event.time - begin).filter(|time| (0..length).contains(time));
        Clocked { resolution: clock.resolution, begin, length, times: times.collect() }
    }

    /// A time in ticks since the begin, and what names it: often that of an event, as it matters on which side of a border that is.
    fn moment(&self, random: &mut Random) -> (i64, String) {
        if random.chance(10) {
            let percent = random.below(100);
            let share = percent as f64 * 0.01;
            return ((share * self.length as f64).round() as i64, format!("{percent}%"));
        }
        let ticks = match random.chance(60) && !self.times.is_empty() {
            true => (random.pick(&self.times) + random.pick(&[0, 0, 1, -1])).clamp(0, self.length - 1),
            false => random.below(self.length as usize) as i64,
        };
        (ticks, format!("{}s", ticks as f64 / self.resolution as f64))
    }

    /// One or more windows, and the focus that asks for them.
    fn focus(&self, random: &mut Random) -> (Focus, String) {
        let count = random.pick(&[1, 1, 1, 2, 3]);
        let (windows, names): (Vec<_>, Vec<_>) = (0..count).map(|_| self.window(random)).unzip();
        (Focus::new(windows), format!("time={}", names.join(",")))
    }

    fn window(&self, random: &mut Random) -> ((i64, i64), String) {
        let (a, b) = (self.moment(random), self.moment(random));
        let (from, to) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        let is_open = random.below(10);
        // With wrong clocks a few events may lie before the begin; these belong to its tick.
        let begin = if from.0 == 0 || is_open == 0 { i64::MIN } else { self.begin + from.0 };
        let end = if from.0 == to.0 || is_open == 1 { i64::MAX } else { self.begin + to.0 };
        let [from, to] = [(begin == i64::MIN, from.1), (end == i64::MAX, to.1)]
            .map(|(is_open, name)| if is_open { String::new() } else { name });
        match (begin, end) {
            // "-" alone is none.
            (i64::MIN, i64::MAX) => ((begin, end), "0-".into()),
            _ => ((begin, end), format!("{from}-{to}")),
        }
    }
}

/// What was compared.
#[derive(Default)]
struct Comparison {
    windows: usize,
    values: usize,
    problems: Vec<String>,
}

impl Comparison {
    /// Compares both implementations on some windows of an experiment.
    fn windows(&mut self, name: &str, experiment: &Path, semantics: &[Semantics], random: &mut Random) {
        let clocked = Clocked::open(experiment);
        let directory = in_memory();
        let report = directory.path().join("r.cubex");
        for &semantics in semantics {
            let (focus, text) = clocked.focus(random);
            let want = analyze_focused(experiment, semantics, focus);
            let found = match focused(experiment, &report, semantics, &text) {
                Ok(table) => report_differences((&table, &report), clocked.resolution, semantics, &want),
                Err(error) => vec![format!("no report: {error}")],
            };
            self.windows += 1;
            self.values += want.severities.len() + want.costs.len();
            self.problems.extend(found.into_iter().map(|it| format!("{name}: --focus {text}: {it}")));
        }
    }

    fn trace(&mut self, name: &str, trace: &Trace, random: &mut Random) {
        let directory = in_memory();
        write::write(trace, directory.path());
        let known = self.problems.len();
        self.windows(name, directory.path(), &[Semantics::Corrected; 2], random);
        if self.problems.len() > known {
            let kept = directory.keep();
            std::fs::write(kept.join("script.trace"), script(trace)).unwrap();
            self.problems.push(format!("{name} is kept: {}", kept.display()));
        }
    }

    fn expect_equality(&self) {
        eprintln!("{} windows, {} values", self.windows, self.values);
        let count = self.problems.len();
        assert!(count == 0, "{count} differ\n{}", self.problems[..count.min(200)].join("\n"));
    }
}

fn focused(experiment: &Path, report: &Path, semantics: Semantics, focus: &str) -> Result<Table, String> {
    let focus = vec![replay::Focus::parse(focus)?];
    let details = Some(DetailsPlace::Nowhere);
    let options = Options { focus, details, ..support::options(experiment, report, semantics) };
    let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent());
    outcome.map_err(|error| error.to_string())?;
    Ok(Table::read(report))
}

#[test]
fn windows_of_archives_have_the_values_of_the_second_implementation() {
    let (mut comparison, mut random) = (Comparison::default(), Random::new(710));
    for path in support::archives() {
        comparison.windows(&support::name(&path), &path, &[Semantics::Corrected; WINDOWS], &mut random);
    }
    comparison.expect_equality();
}

#[test]
fn windows_of_random_traces_have_the_values_of_the_second_implementation() {
    let (seed, traces) = (variable("REPLAY_SEED", 0), variable("REPLAY_TRACES", TRACES));
    let mut comparison = Comparison::default();
    for seed in seed..seed + traces {
        let mut random = Random::new(seed);
        comparison.trace(&format!("program {seed}"), &program(seed).0, &mut random);
        comparison.trace(&format!("trace {seed}"), &support::random::trace(seed), &mut random);
        comparison.trace(&format!("tasks {seed}"), &random_tasks::trace(seed, false), &mut random);
    }
    comparison.expect_equality();
}
