//! Classes of time: each tick of a location belongs to one. The walk knows the class of a region; a wait moves its ticks
//! from the class of its call to one of its own.
//!
//! A class is a sum of metrics less those of other classes, so its ticks are those of the report.

use details::manifest::Class;
use patterns::Pattern;

use crate::files_in_mpi::FilesInMpi;
use crate::formulas::{Formula, Formulas};
use crate::int::to_u32;
use crate::metrics::{Metrics, NumberedPattern};
use crate::severity::MetricId;
use crate::trace::{Artificial, Trace};

/// The number of a class.
pub type ClassId = u8;

/// A class that regions have, with the metrics whose time it is. Of several that hold for a region, the first counts.
struct Base {
    name: &'static str,
    title: &'static str,
    role: &'static str,
    colour: &'static str,
    metrics: &'static [&'static str],
}

/// Colours that are told apart with all kinds of colour vision (Okabe and Ito, <https://jfly.uni-koeln.de/color/>).
const GREY: &str = "#bbbbbb";
const LIGHT_GREY: &str = "#dddddd";
const BLUE: &str = "#0072b2";
const VERMILION: &str = "#d55e00";
const ORANGE: &str = "#e69f00";
const YELLOW: &str = "#f0e442";
const SKY_BLUE: &str = "#56b4e9";
const PURPLE: &str = "#cc79a7";
const GREEN: &str = "#009e73";
const BLACK: &str = "#000000";

const COMPUTE: ClassId = 0;
const NOT_RECORDED: ClassId = 1;
const OFFLOAD: ClassId = 2;
const MESSAGES: ClassId = 3;
/// Classes of which the time is a part of MPI's.
const MPI_PARTS: std::ops::RangeInclusive<ClassId> = MESSAGES..=7;
const MPI_OTHER: ClassId = 8;
/// The class of the time in the interfaces of threads.
pub const THREADS: ClassId = 9;
/// The class of idle threads.
pub(super) const IDLE: ClassId = 10;

/// Upper bound of the number of classes.
pub(super) const MOST_CLASSES: usize = 28;

const BASES: [Base; 12] = [
    Base { name: "compute", title: "Computation", role: "work", colour: GREY, metrics: &["comp"] },
    Base { name: "not_recorded", title: "Not recorded", role: "work", colour: LIGHT_GREY, metrics: &[] },
    Base {
        name: "offload",
        title: "Offload",
        role: "work",
        colour: GREEN,
        metrics: &["cuda_time", "opencl_time", "openacc_time", "hip_time"],
    },
    Base {
        name: "messages",
        title: "Messages",
        role: "communicate",
        colour: BLUE,
        metrics: &["mpi_point2point"],
    },
    Base {
        name: "collectives",
        title: "Collectives",
        role: "communicate",
        colour: BLUE,
        metrics: &["mpi_collective"],
    },
    Base {
        name: "synchronization",
        title: "Synchronization",
        role: "communicate",
        colour: BLUE,
        metrics: &["mpi_synchronization"],
    },
    Base {
        name: "one_sided",
        title: "One-sided",
        role: "communicate",
        colour: BLUE,
        metrics: &["mpi_rma_communication"],
    },
    Base { name: "files", title: "File I/O", role: "files", colour: PURPLE, metrics: &["mpi_io"] },
    Base { name: "mpi_other", title: "MPI, other", role: "communicate", colour: BLUE, metrics: &["mpi"] },
    Base {
        name: "threads",
        title: "Threads",
        role: "threads",
        colour: SKY_BLUE,
        metrics: &["omp_time", "pthread_time"],
    },
    Base {
        name: "idle",
        title: "Idle threads",
        role: "threads",
        colour: SKY_BLUE,
        metrics: &["omp_idle_threads"],
    },
    Base { name: "overhead", title: "Overhead", role: "tool", colour: BLACK, metrics: &["overhead"] },
];

/// Classes of waits that several patterns share, with the metrics of the calls around them.
const SHARED_WAITS: [Base; 4] = [
    Base {
        name: "thread_waits",
        title: "Waiting threads",
        role: WAIT,
        colour: YELLOW,
        metrics: &["omp_time", "pthread_time"],
    },
    Base {
        name: "handle_waits",
        title: "Waiting at communicators",
        role: WAIT,
        colour: ORANGE,
        metrics: &["mpi_mgmt_comm"],
    },
    Base {
        name: "one_sided_waits",
        title: "Waiting one-sided",
        role: WAIT,
        colour: ORANGE,
        metrics: &["mpi_mgmt_win", "mpi_rma_synchronization", "mpi_rma_communication"],
    },
    Base {
        name: "file_waits",
        title: "Waiting at files",
        role: WAIT,
        colour: ORANGE,
        metrics: &["mpi_mgmt_file", "mpi_io"],
    },
];

/// The role of classes of waits.
const WAIT: &str = "wait";

/// The time of the region in which recording is off, in the words of gates.
const OFF: &str = "time@**/MEASUREMENT OFF";

/// The classes of an analysis.
#[derive(Clone, Debug)]
pub struct Classes {
    /// By region: its class. Regions behind the end are programs.
    of_region: Vec<ClassId>,
    /// By metric: the class of its waits.
    of_wait: Vec<Option<WaitClass>>,
    files_in_mpi: FilesInMpi,
    /// All classes, for the manifest.
    list: Vec<Class>,
}

/// The class of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitClass {
    /// Its own.
    pub own: ClassId,
    /// The class of its call, from which its ticks are taken.
    pub from: ClassId,
}

impl Classes {
    /// Determines the class of each region, and of the waits of each pattern.
    pub fn new(trace: &Trace, metrics: &Metrics, formulas: &Formulas) -> Classes {
        let is_in = |class: &Base, region| {
            let metrics = class.metrics.iter().filter_map(|id| metrics.find(id));
            metrics.into_iter().any(|metric| selects(formulas, metric, region))
        };
        let of_region = |region: u32| {
            if region == trace.artificial(Artificial::MeasurementOff) {
                return NOT_RECORDED;
            }
            // All that is in no other class is computation, as for its metric.
            let others = (1..).zip(&BASES[1..]);
            others.into_iter().find(|(_, class)| is_in(class, region)).map_or(COMPUTE, |(at, _)| at)
        };
        let mut classes = Classes {
            of_region: (0..to_u32(trace.region_count())).map(of_region).collect(),
            of_wait: vec![None; metrics.list.len()],
            files_in_mpi: formulas.files_in_mpi().clone(),
            list: BASES.iter().map(Base::describe).collect(),
        };
        // Traces without HIP lack its metric.
        classes.list[usize::from(OFFLOAD)].adds.retain(|id| metrics.find(id).is_some());
        classes.list[usize::from(NOT_RECORDED)].adds.push(OFF.into());
        classes.list[usize::from(COMPUTE)].subtracts.push(OFF.into());
        for part in MPI_PARTS {
            let part = classes.list[usize::from(part)].adds.clone();
            classes.list[usize::from(MPI_OTHER)].subtracts.extend(part);
        }
        for pattern in metrics.patterns.iter().filter(|pattern| pattern.is_outermost_waiting) {
            classes.add_waits(metrics, pattern);
        }
        classes
    }

    /// Adds the class of a pattern's waits.
    fn add_waits(&mut self, metrics: &Metrics, pattern: &NumberedPattern) {
        let Some(from) = nearest(metrics, pattern.metric, &BASES) else { return };
        let shared = nearest(metrics, pattern.metric, &SHARED_WAITS);
        let shared = shared.map(|at| SHARED_WAITS[usize::from(at)].describe());
        let class = shared
            .map_or_else(|| of_pattern(pattern.pattern, from), |class| Class { adds: Vec::new(), ..class });
        let known = self.list.iter().position(|known| known.name == class.name);
        let own = known.unwrap_or_else(|| {
            self.list.push(class);
            self.list.len() - 1
        });
        let id = pattern.pattern.metric.id;
        self.list[own].adds.push(id.into());
        self.list[usize::from(from)].subtracts.push(id.into());
        self.of_wait[pattern.metric] = ClassId::try_from(own).ok().map(|own| WaitClass { own, from });
    }

    /// Returns the class of a call path, given by its regions from the inside out: that of its own region, or of the call of MPI that does
    /// something with files there.
    pub fn of_path(&self, mut regions: impl Iterator<Item = u32> + Clone) -> ClassId {
        let region = self.files_in_mpi.call(regions.clone()).or_else(|| regions.next());
        region.and_then(|region| self.of_region.get(region as usize).copied()).unwrap_or(COMPUTE)
    }

    /// Returns the class of the waits of a metric, if it is waiting that no other metric contains.
    pub fn of_wait(&self, metric: MetricId) -> Option<WaitClass> {
        self.of_wait[metric]
    }

    /// Returns all classes, by number.
    pub fn list(&self) -> &[Class] {
        &self.list
    }
}

impl Base {
    fn describe(&self) -> Class {
        Class {
            name: self.name.into(),
            title: self.title.into(),
            role: self.role.into(),
            colour: self.colour.into(),
            adds: self.metrics.iter().map(|&metric| metric.into()).collect(),
            subtracts: Vec::new(),
        }
    }
}

/// Returns the class of the waits of a pattern of MPI.
fn of_pattern(pattern: &Pattern, from: ClassId) -> Class {
    Class {
        name: pattern.metric.id.into(),
        title: pattern.title.into(),
        role: WAIT.into(),
        colour: if from == MESSAGES { VERMILION } else { ORANGE }.into(),
        adds: Vec::new(),
        subtracts: Vec::new(),
    }
}

/// Returns the class of regions that a metric lies in: that of the nearest metric above, as a position in a list.
fn nearest(metrics: &Metrics, metric: MetricId, classes: &[Base]) -> Option<ClassId> {
    let is_of = |class: &Base, id: &str| class.metrics.contains(&id);
    let mut id = Some(metrics.list[metric].id);
    while let Some(at) = id {
        if let Some((class, _)) = (0..).zip(classes).find(|(_, class)| is_of(class, at)) {
            return Some(class);
        }
        id = metrics.list.iter().find(|metric| metric.id == at).and_then(|metric| metric.parent);
    }
    None
}

/// Whether the time of a region belongs to a metric.
fn selects(formulas: &Formulas, metric: MetricId, region: u32) -> bool {
    match formulas.of(metric) {
        Formula::Selected(_, regions) => regions.holds(region),
        Formula::Sum(parts) => parts.iter().any(|&part| selects(formulas, part, region)),
        Formula::Measured | Formula::Shares | Formula::Rest(..) => false,
    }
}
