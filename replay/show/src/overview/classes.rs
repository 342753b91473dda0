//! Classes of time: where it went.

use cubex::CnodeId;
use details::manifest::Class;

use super::Run;
use super::communication::has_other_requests;
use crate::error::{Result, or_obstacle};
use crate::opened::Opened;
use crate::paths::Glob;
use crate::places;
use crate::values::Values;

/// A class with its time.
#[derive(Clone, PartialEq, Debug)]
pub struct ClassTime {
    /// Its name, such as `late_sender`.
    pub name: String,
    /// Its title, such as `Late Sender`.
    pub title: String,
    /// `work`, `communicate`, `files`, `wait`, `threads` or `tool`.
    pub role: String,
    /// Seconds.
    pub seconds: f64,
    /// The share of all classes, from 0 to 1.
    pub share: f64,
}

/// Name, title, role, metrics added and subtracted: classes of reports that do not say which they have.
type Known = (&'static str, &'static str, &'static str, &'static [&'static str], &'static [&'static str]);

/// The class of messages, and its title if it has requests of other operations, too.
const MESSAGES: &str = "messages";
const REQUESTS: &str = "Messages, requests";

/// The class of the program's own work.
const COMPUTE: &str = "compute";

const KNOWN: [Known; 9] = [
    (COMPUTE, "Computation", "work", &["comp"], &[]),
    ("offload", "Offload", "work", &["cuda_time", "opencl_time", "openacc_time", "hip_time"], &[]),
    (MESSAGES, "Messages", "communicate", &["mpi_point2point"], &["mpi_latesender", "mpi_latereceiver"]),
    (
        "collectives",
        "Collectives",
        "communicate",
        &["mpi_collective"],
        &["mpi_earlyreduce", "mpi_earlyscan", "mpi_latebroadcast", "mpi_wait_nxn"],
    ),
    ("synchronization", "Synchronization", "communicate", &["mpi_synchronization"], &["mpi_barrier_wait"]),
    ("files", "File I/O", "files", &["mpi_io"], &[]),
    (
        "mpi_other",
        "MPI, other",
        "communicate",
        &["mpi"],
        &["mpi_point2point", "mpi_collective", "mpi_synchronization", "mpi_io"],
    ),
    (
        "threads",
        "Threads",
        "threads",
        &["omp_time", "pthread_time"],
        &[
            "omp_ebarrier_wait",
            "omp_ibarrier_wait",
            "omp_lock_contention_critical",
            "omp_lock_contention_api",
            "pthread_lock_contention_mutex_lock",
            "pthread_lock_contention_conditional",
        ],
    ),
    ("idle", "Idle threads", "threads", &["omp_idle_threads"], &[]),
];

/// Metrics of classes of manifests, which are none of the above and have no metric of their name.
const FURTHER: [(&str, &[&str]); 1] = [("one_sided", &["mpi_rma_communication"])];

/// Whether a report that has some metrics tells how much time there is in a class: what it does not measure is unknown, not 0.
pub fn is_measured(class: &str, has: &dyn Fn(&str) -> bool) -> bool {
    if !has("mpi") && !has("comp") {
        return OF_PARADIGMS.contains(&class);
    }
    let known = KNOWN.iter().map(|known| (known.0, known.3)).chain(FURTHER).find(|(name, _)| *name == class);
    let is_metric = || patterns::metrics().iter().any(|metric| metric.id == class);
    match known {
        Some((_, metrics)) => metrics.iter().any(|metric| has(metric)),
        None => has(class) || !is_metric(),
    }
}

/// Classes that the paradigms of functions tell, in a profile without metrics for them.
const OF_PARADIGMS: [&str; 8] =
    [COMPUTE, MESSAGES, "collectives", "synchronization", "files", "mpi_other", "threads", "overhead"];

/// Roles of regions of OpenMP in which the program works.
const WORK_OF_OPENMP: [&str; 8] =
    ["parallel", "loop", "sections", "section", "single", "single sblock", "master", "task"];

/// Where recorded time went, the most first; classes without any are left out.
///
/// # Errors
/// If values cannot be read.
pub fn classes(opened: &Opened, values: &Values<'_>, run: &Run) -> Result<Vec<ClassTime>> {
    let of_manifest = opened.manifest.as_ref().map(|manifest| &manifest.classes);
    let listed = match of_manifest.filter(|list| !list.is_empty() && list.iter().all(is_understood)) {
        Some(classes) => classes.clone(),
        None if values.find("mpi").is_some() || values.find("comp").is_some() => known(),
        None => return by_paradigm(values, run),
    };
    let mut times = Vec::new();
    for class in listed {
        let mut seconds = 0.0;
        for (names, sign) in [(&class.adds, 1.0), (&class.subtracts, -1.0)] {
            for name in names {
                seconds += sign * sum(values, run, name)?;
            }
        }
        let Class { name, title, role, .. } = class;
        times.push(ClassTime { name, title, role, seconds, share: 0.0 });
    }
    if opened.manifest.is_some() {
        leave_out_start(run, &mut times);
    }
    name_requests(values, run, &mut times);
    Ok(largest(times))
}

/// Whether the parts of metrics that a class names are globs.
fn is_understood(class: &Class) -> bool {
    let mut globs = class.adds.iter().chain(&class.subtracts).filter_map(|name| name.split_once('@'));
    globs.all(|(_, glob)| Glob::parse(glob).is_ok())
}

/// Takes from the computation what lies before `MPI_Init` or after `MPI_Finalize`: metrics have no times, but the run has.
fn leave_out_start(run: &Run, times: &mut [ClassTime]) {
    let all: f64 = times.iter().map(|class| class.seconds).sum();
    let outside = all - run.with_idle;
    if let Some(compute) =
        times.iter_mut().find(|class| class.name == COMPUTE).filter(|it| it.seconds > outside)
    {
        compute.seconds -= outside;
    }
}

/// The sum of a metric, or of a part of it: `METRIC@GLOB`.
fn sum(values: &Values<'_>, run: &Run, name: &str) -> Result<f64> {
    let Some((metric, glob)) = name.split_once('@') else { return run.sum_of(values, name) };
    let selected = Glob::parse(glob)?.select(values);
    let Some(quantity) = values.find(metric) else { return Ok(0.0) };
    let row = values.by_location(&quantity, &|cnode| run.is_between[cnode.0] && selected[cnode.0]);
    let is_thread = places::threads(values.cube());
    let row = or_obstacle(row)?.unwrap_or_default();
    Ok(row.iter().zip(is_thread).filter(|(_, is_thread)| *is_thread).map(|(value, _)| value).sum())
}

/// The classes of reports that do not say which they have: those above, and the waits of all patterns.
fn known() -> Vec<Class> {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let class = |&(name, title, role, adds, subtracts): &Known| Class {
        name: name.into(),
        title: title.into(),
        role: role.into(),
        adds: names(adds),
        subtracts: names(subtracts),
        ..Class::default()
    };
    let mut classes: Vec<Class> = KNOWN.iter().map(class).collect();
    let waits: Vec<&str> = KNOWN.iter().flat_map(|known| known.4.iter().copied()).collect();
    for pattern in patterns::PATTERNS.iter().filter(|pattern| waits.contains(&pattern.metric.id)) {
        classes.push(Class {
            name: pattern.metric.id.into(),
            title: pattern.title.into(),
            role: "wait".into(),
            adds: vec![pattern.metric.id.into()],
            ..Class::default()
        });
    }
    let name = "overhead".to_owned();
    classes.push(Class {
        title: "Overhead".into(),
        role: "tool".into(),
        adds: vec![name.clone()],
        name,
        ..Class::default()
    });
    classes
}

/// Profiles that have no metrics for it: time by the programming model of functions.
fn by_paradigm(values: &Values<'_>, run: &Run) -> Result<Vec<ClassTime>> {
    let cube = values.cube();
    let Some(time) = values.find("time") else { return Ok(Vec::new()) };
    let Ok(totals) = or_obstacle(values.totals(&time, &places::threads(cube)))? else {
        return Ok(Vec::new());
    };
    let mut times: Vec<ClassTime> = Vec::new();
    for (at, seconds) in totals.exclusive.iter().enumerate().filter(|(at, _)| run.is_between[*at]) {
        let region = &cube.regions[cube.cnodes[CnodeId(at).0].region.0];
        let (name, title, role) = match region.paradigm.as_str() {
            "mpi" => match region.role.as_str() {
                "point2point" => (MESSAGES, "Messages", "communicate"),
                "one2all" | "all2one" | "all2all" | "other collective" => {
                    ("collectives", "Collectives", "communicate")
                }
                "barrier" => ("synchronization", "Synchronization", "communicate"),
                "file io" | "file io metadata" => ("files", "File I/O", "files"),
                _ => ("mpi_other", "MPI, other", "communicate"),
            },
            // Loops and parallel regions of OpenMP are the program's work; the rest is synchronisation.
            "openmp" if WORK_OF_OPENMP.contains(&region.role.as_str()) => ("compute", "Computation", "work"),
            "openmp" | "pthread" => ("threads", "Threads", "threads"),
            "measurement" if region.role != "artificial" => ("overhead", "Overhead", "tool"),
            "io" => ("files", "File I/O", "files"),
            _ => ("compute", "Computation", "work"),
        };
        match times.iter_mut().find(|class| class.name == name) {
            Some(class) => class.seconds += seconds,
            None => times.push(ClassTime {
                name: name.into(),
                title: title.into(),
                role: role.into(),
                seconds: *seconds,
                share: 0.0,
            }),
        }
    }
    name_requests(values, run, &mut times);
    Ok(largest(times))
}

/// Names the class of messages for what it has: time in calls that wait for requests counts there, whatever these are of.
fn name_requests(values: &Values<'_>, run: &Run, times: &mut [ClassTime]) {
    if has_other_requests(values, run) {
        times
            .iter_mut()
            .filter(|class| class.name == MESSAGES)
            .for_each(|class| class.title = REQUESTS.into());
    }
}

fn largest(mut times: Vec<ClassTime>) -> Vec<ClassTime> {
    times.retain(|class| class.seconds != 0.0);
    let all: f64 = times.iter().map(|class| class.seconds).sum();
    for class in &mut times {
        class.share = if all > 0.0 { class.seconds / all } else { 0.0 };
    }
    times.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    times
}
