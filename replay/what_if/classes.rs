//! Classes of exclusive time by call path (what-if 2.1).

use model::{Paradigm, RegionRole, mpi};

use crate::call_tree::CallPath;
use crate::ids::PathId;
use crate::trace::{Artificial, Trace};

/// Class of the time of a call path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowClass {
    /// `u`: work, outside of MPI and of what threads wait for.
    Work,
    /// `n`: calls of MPI that cannot wait for others, and all other time in MPI.
    Mpi,
    /// `k`: MPI whose waiting is not modelled.
    Kept,
    /// `k`: recording switched off, flushes of the recorder.
    Recorder,
    /// `k`: `MPI_Init`.
    Init,
    /// `k`: `MPI_Finalize`.
    Finalize,
    /// `o`: the runtime of threads.
    Threads,
}

impl RowClass {
    /// Whether it is work.
    pub fn is_work(self) -> bool {
        self == RowClass::Work
    }

    /// The class of each call path of a process: that of the outermost call of MPI on it, or of its own region.
    pub fn of_paths(trace: &Trace, paths: &[CallPath]) -> Vec<RowClass> {
        let mut classes: Vec<RowClass> = Vec::with_capacity(paths.len());
        for path in paths {
            let above = match path.parent {
                PathId::NONE => None,
                parent => Some(classes[parent.index()]),
            };
            classes.push(match above {
                // What happens inside of a call of MPI is the call's.
                Some(RowClass::Mpi) => RowClass::Mpi,
                Some(RowClass::Init) => RowClass::Init,
                Some(RowClass::Finalize) => RowClass::Finalize,
                Some(RowClass::Kept) => RowClass::Kept,
                Some(RowClass::Recorder) => RowClass::Recorder,
                _ => of_region(trace, path.region),
            });
        }
        classes
    }
}

fn of_region(trace: &Trace, region: u32) -> RowClass {
    if trace.is_of_recorder(region) || region == trace.artificial(Artificial::MeasurementOff) {
        return RowClass::Recorder;
    }
    let (Some(kind), Some(defined)) =
        (trace.kinds.get(region as usize), trace.definitions.regions.get(region as usize))
    else {
        return RowClass::Work;
    };
    if kind.is_init {
        return RowClass::Init;
    }
    if kind.is_finalize {
        return RowClass::Finalize;
    }
    if kind.is_mpi {
        let name = if defined.canonical_name.is_empty() { &defined.name } else { &defined.canonical_name };
        return if is_kept(&mpi::plain(name)) { RowClass::Kept } else { RowClass::Mpi };
    }
    let is_runtime = match (defined.paradigm, defined.role) {
        (Paradigm::PTHREAD, _) => true,
        // What a thread does in a loop or a section is work, whether or not a function of the program is called for it.
        (Paradigm::OPENMP, role) => !matches!(
            role,
            RegionRole::PARALLEL
                | RegionRole::LOOP
                | RegionRole::WORKSHARE
                | RegionRole::SECTIONS
                | RegionRole::SECTION
                | RegionRole::SINGLE
                | RegionRole::SINGLE_SBLOCK
                | RegionRole::MASTER
                | RegionRole::CRITICAL_SBLOCK
                | RegionRole::ORDERED_SBLOCK
                | RegionRole::TASK
        ),
        _ => false,
    };
    if is_runtime { RowClass::Threads } else { RowClass::Work }
}

/// Whether a function of MPI, by its plain name, takes as long as it did: access to files, windows, other programs, and the release
/// of communicators, in which processes may wait for each other and need not.
fn is_kept(name: &str) -> bool {
    ["file_", "win_", "register_", "comm_spawn", "comm_accept", "comm_connect", "comm_free"]
        .iter()
        .any(|kept| name.starts_with(kept))
}
