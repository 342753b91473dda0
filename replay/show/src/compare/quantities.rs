//! Quantities of a comparison: the run, and what its time went to.

use super::changes::Compared;
use super::coverage::{self, needs_coverage};
use super::measure::Measure;
use super::reading::Reading;
use super::samples::{Change, median};
use super::side::{Side, visits};
use crate::overview::is_measured;
use crate::values::{Unit, WAITING};

/// Roles of classes in order, and what they are called.
const ROLES: [(&str, &str); 6] = [
    ("work", "work"),
    ("wait", WAITING),
    ("communicate", "communication"),
    ("files", "file access"),
    ("threads", "threads"),
    ("tool", "overhead"),
];

/// Something that is compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Compare {
    /// Its name for scripts.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Levels above it.
    pub depth: usize,
    /// The unit of the numbers.
    pub unit: Unit,
    /// Medians of both sides; `None` where it was not measured.
    pub medians: [Option<f64>; 2],
    /// Medians of its share of the run's time, from 0 to 1.
    pub shares: [Option<f64>; 2],
    /// The change, if both sides have it.
    pub change: Option<Change>,
}

impl Compare {
    /// Its largest share of the run on either side.
    pub fn largest_share(&self) -> f64 {
        self.shares.iter().flatten().copied().fold(0.0, f64::max)
    }
}

/// Seconds of a run over all locations, and those of the worst location if these are asked for.
type Source<'s> = &'s dyn Fn(&Reading<'_>) -> (Option<f64>, Option<f64>);

/// The run's time, and what it went to.
pub fn quantities(compared: &Compared<'_, '_>) -> Vec<Compare> {
    let is_max = compared.measure == Measure::Max;
    let most = |run: &Reading<'_>, metric: &str| {
        let row = if is_max { run.by_location(metric, None).ok().flatten() } else { None };
        row.map(|row| row.into_iter().fold(0.0, f64::max))
    };
    let mut all = vec![one(compared, "run", "run", 0, &|run| (Some(run.total), Some(run.length)))];
    if compared.sides.iter().all(|side| side.runs.iter().all(|run| run.start_up.is_some())) {
        all.push(one(compared, "start_up", "start-up and shutdown", 1, &|run| (run.start_up, None)));
    }
    for (role, title) in ROLES {
        let sum = |run: &Reading<'_>| {
            let mut own = run.classes.iter().filter(|class| class.role == role).peekable();
            match role {
                "wait" => run.waiting.filter(|_| run.coverage != Some(0.0)),
                // The report has no such time, or does not measure it.
                _ if own.peek().is_none() => is_known(run, &classes(compared.sides, role)).then_some(0.0),
                _ => Some(own.map(|class| class.seconds).sum()),
            }
        };
        let metric = match role {
            "work" => "comp",
            "wait" => WAITING,
            "files" => "mpi_io",
            "tool" => "overhead",
            _ => "",
        };
        let of_role = one(compared, title, title, 1, &|run| (sum(run), most(run, metric)));
        let mut classes = classes(compared.sides, role);
        if role != "wait" && classes.len() < 2 {
            classes.clear();
        }
        let mut parts: Vec<Compare> = classes
            .into_iter()
            .map(|(name, title)| {
                let seconds = |run: &Reading<'_>| {
                    let class = run.classes.iter().find(|class| class.name == name);
                    // What was not computed or measured is not what did not occur.
                    let is_wait = role == "wait" && name.starts_with("mpi_");
                    let is_unknown = !has_measured(run, &name) || is_wait && run.coverage == Some(0.0);
                    class.map(|class| class.seconds).or(if is_unknown { None } else { Some(0.0) })
                };
                one(compared, &name, &title, 2, &|run| (seconds(run), most(run, &name)))
            })
            .collect();
        let mut of_role = of_role;
        if ["communicate", "threads"].contains(&role) && compared.has_waiting_on_one_side() {
            // Communication is what is not known to be waiting.
            [&mut of_role].into_iter().chain(&mut parts).for_each(|it| it.change = None);
        }
        parts.sort_by(|one, other| {
            other.largest_share().total_cmp(&one.largest_share()).then(one.name.cmp(&other.name))
        });
        all.push(of_role);
        all.extend(parts);
    }
    // Measured on neither side, or 0 on both.
    all.retain(|it| it.depth == 0 || it.medians.iter().flatten().any(|&median| median != 0.0));
    all
}

/// Whether a run tells the time of a class.
fn has_measured(run: &Reading<'_>, class: &str) -> bool {
    is_measured(class, &|metric| run.metrics.contains_key(metric))
}

/// Whether a run tells the time of a role with these classes: of one at least, as parts that are not told are in others.
fn is_known(run: &Reading<'_>, classes: &[(String, String)]) -> bool {
    classes.is_empty() || classes.iter().any(|(name, _)| has_measured(run, name))
}

/// Names and titles of the classes of a role on either side.
fn classes(sides: [&Side<'_>; 2], role: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let runs = sides.into_iter().flat_map(|side| &side.runs);
    for class in runs.flat_map(|run| &run.classes).filter(|class| class.role == role) {
        if found.iter().all(|(name, _)| *name != class.name) {
            found.push((class.name.clone(), class.title.clone()));
        }
    }
    found
}

fn one(compared: &Compared<'_, '_>, name: &str, title: &str, depth: usize, source: Source<'_>) -> Compare {
    let measure = compared.measure;
    let samples = compared.sides.map(|side| {
        side.sample(|run| {
            let (sum, most) = source(run);
            measure.of(run, sum?, most, visits(run, None))
        })
    });
    let shares = compared.sides.map(|side| side.sample(|run| Some(source(run).0? / run.total)));
    // What was not measured may be the difference.
    let is_known = !needs_coverage(name) || compared.sides.into_iter().all(coverage::is_enough);
    let change = match &samples {
        [Some(a), Some(b)] if is_known => Some(compared.change(a, b, &Unit::Seconds, 1)),
        _ => None,
    };
    Compare {
        name: name.to_owned(),
        title: title.to_owned(),
        depth,
        unit: measure.unit(&Unit::Seconds),
        medians: samples.map(|sample| sample.map(|sample| median(&sample))),
        shares: shares.map(|sample| sample.map(|sample| median(&sample)).filter(|share| share.is_finite())),
        change,
    }
}

/// Metrics whose changes by call path are shown: together they are the time of the run, as far as a report has them.
pub fn metrics_of_changes(sides: [&Side<'_>; 2]) -> Vec<String> {
    let has = |name: &str| sides.iter().all(|side| side.metrics().contains(name));
    let mut names: Vec<String> = classes(sides, "wait").into_iter().map(|(name, _)| name).collect();
    names.extend(["comp", "mpi_io", "omp_idle_threads", "overhead"].map(str::to_owned));
    names.sort();
    names.retain(|name| has(name));
    if names.is_empty() && has("time") {
        names.push("time".to_owned());
    }
    names
}

/// Metrics that only one side has, sorted.
pub fn not_compared(sides: [&Side<'_>; 2]) -> [Vec<String>; 2] {
    let metrics = sides.map(Side::metrics);
    [0, 1].map(|at| {
        let missing = metrics[at].iter().filter(|name| !metrics[1 - at].contains(*name));
        let mut names: Vec<String> = missing.map(|&name| name.to_owned()).collect();
        names.sort();
        names
    })
}
