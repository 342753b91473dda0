//! Kinds of regions: for each the properties that the walk asks for, from names, roles and paradigms.

use model::mpi::{self, Class, Polling};
use model::{Paradigm, Region, RegionRole};
use patterns::matched::{BarrierClass, Completion, LockClass};

use super::accelerators::AcceleratorPart;
use crate::coverage::Fate;
use crate::options::Semantics;
use crate::walk::KnownAttributes;

/// The kind of a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RegionKind {
    /// An MPI call, whose operations are analysed.
    pub is_mpi: bool,
    /// `MPI_Init` or `MPI_Init_thread`.
    pub is_init: bool,
    /// `MPI_Finalize`.
    pub is_finalize: bool,
    /// An OpenMP parallel region.
    pub is_parallel: bool,
    /// A barrier of OpenMP.
    pub barrier: Option<BarrierClass>,
    /// The class of lock, if a lock is acquired in it.
    pub lock: Option<LockClass>,
    /// Waits until there is a message, and what it waits for is analysed.
    pub is_probe: bool,
    /// How it looks for something without waiting for it, if it does.
    pub polling: Option<Polling>,
    /// A collective operation among neighbours.
    pub is_neighborhood: bool,
    /// The first half of a collective transfer of a file (`MPI_File_write_all_begin`).
    pub begins_transfer: bool,
    /// What it does with epochs of a window, if its records do not say that.
    pub window_call: Option<WindowCall>,
    /// `MPI_Comm_disconnect`.
    pub is_disconnect: bool,
    /// Connects the process to others that may be outside of the trace.
    pub connects: bool,
    /// How it completes messages.
    pub completion: Completion,
    /// Whether it takes time for more than communication: it makes or frees something, or accesses a file.
    pub has_own_work: bool,
    /// Whether it completes messages and may go on for no other reason than that the other process is outside of MPI.
    pub may_stall: bool,
    /// Whether MPI moves on in it what other processes wait for; in reference semantics nobody asks.
    pub makes_progress: bool,
    /// The coverage of a call in which no operation was recorded.
    pub fate: Fate,
    /// The number of the phase that its outermost visits are, if these are wanted.
    pub phase: Option<u16>,
    /// Whether it may be the last one of a call path whose visits are windows of efficiencies.
    pub ends_phase_path: bool,
    /// Whether its visits are parts of events that rules are over.
    pub is_of_event: bool,
    /// What it has to do with streams of accelerators, if the trace has any.
    pub accelerator: Option<AcceleratorPart>,
}

/// What a call does with epochs of a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowCall {
    /// `MPI_Win_start`: begins an access epoch.
    Start,
    /// `MPI_Win_complete`: ends it.
    Complete,
    /// `MPI_Win_post`: begins an exposure epoch.
    Post,
    /// `MPI_Win_wait`: ends it.
    Wait,
    /// `MPI_Win_test`: ends it, if all origins have completed theirs.
    Test,
    /// `MPI_Win_flush` and its relatives: completes accesses.
    Flush,
}

impl WindowCall {
    /// Of the function with this plain name.
    fn of(name: &str) -> Option<WindowCall> {
        match name {
            "win_start" => Some(WindowCall::Start),
            "win_complete" => Some(WindowCall::Complete),
            "win_post" => Some(WindowCall::Post),
            "win_wait" => Some(WindowCall::Wait),
            "win_test" => Some(WindowCall::Test),
            _ if name.starts_with("win_flush") => Some(WindowCall::Flush),
            _ => None,
        }
    }
}

impl RegionKind {
    /// Whether entering or leaving it means more than time in a call, be it of MPI or not.
    #[inline]
    pub fn is_special(&self) -> bool {
        self.is_init
            | self.is_finalize
            | self.connects
            | self.is_parallel
            | self.barrier.is_some()
            | self.is_probe
            | self.polling.is_some()
            | self.phase.is_some()
            | self.ends_phase_path
            | self.is_of_event
            | self.accelerator.is_some()
            | matches!(self.window_call, Some(WindowCall::Flush | WindowCall::Wait))
    }

    /// Whether nothing about it is special but that it has to do with streams of accelerators.
    #[inline]
    pub fn is_only_of_accelerator(&self) -> bool {
        self.accelerator.is_some() && !self.is_mpi && !RegionKind { accelerator: None, ..*self }.is_special()
    }
}

/// Makes paradigm and source file agree on MPI: patterns use the file, and classes of time the paradigm.
pub(super) fn unify_mpi(region: &mut Region, semantics: Semantics) {
    let either = region.source_file == "MPI" || region.paradigm == Paradigm::MPI;
    if either && semantics.unifies_mpi() {
        region.source_file = "MPI".into();
        region.paradigm = Paradigm::MPI;
    }
}

fn barrier_class(region: &Region) -> Option<BarrierClass> {
    match (region.paradigm, region.role) {
        (Paradigm::OPENMP, RegionRole::BARRIER) => Some(BarrierClass::Explicit),
        (Paradigm::OPENMP, RegionRole::IMPLICIT_BARRIER) => Some(BarrierClass::Implicit),
        _ => None,
    }
}

/// Returns the class of lock of a region. Metrics of OpenMP are for regions of OpenMP only
/// (specification 3.3), where everything but critical sections counts as the lock API (specification 11.3).
fn lock_class(region: &Region) -> Option<LockClass> {
    match (region.paradigm, region.role) {
        (Paradigm::OPENMP, RegionRole::CRITICAL | RegionRole::CRITICAL_SBLOCK) => Some(LockClass::Critical),
        (Paradigm::OPENMP, _) => Some(LockClass::OpenMp),
        (Paradigm::PTHREAD, _) => match region.name.strip_prefix("pthread_")? {
            "mutex_lock" | "mutex_trylock" => Some(LockClass::Mutex),
            name if name.starts_with("cond_") => Some(LockClass::Condition),
            _ => None,
        },
        _ => None,
    }
}

/// What the kinds of regions depend on, besides their properties.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub(super) semantics: Semantics,
    pub(super) attributes: Option<KnownAttributes>,
    /// Whether one-sided communication has records.
    pub(super) has_windows: bool,
}

/// Returns the kind of a region.
pub(super) fn kind(region: &Region, context: Context) -> RegionKind {
    let Context { semantics, .. } = context;
    // Where paradigm and role do not decide, the names given by instrumenters do, as in the reference.
    let is_openmp = region.paradigm == Paradigm::OPENMP || region.source_file == "OMP";
    let is_parallel =
        (is_openmp && region.role == RegionRole::PARALLEL) || region.name.starts_with("!$omp parallel");
    if region.source_file != "MPI" {
        let (barrier, lock) = (barrier_class(region), lock_class(region));
        return RegionKind { is_parallel, barrier, lock, ..RegionKind::default() };
    }
    let name = if region.canonical_name.is_empty() { &region.name } else { &region.canonical_name };
    let name = mpi::plain(name);
    let class = mpi::class_of_plain(&name);
    RegionKind {
        is_mpi: true,
        is_init: class == Class::Init,
        is_finalize: class == Class::Finalize,
        is_parallel,
        barrier: None,
        lock: None,
        has_own_work: has_own_work(class),
        may_stall: completes_messages(&name, class) && semantics.replays_all_of_mpi(),
        makes_progress: mpi::makes_progress(&name) && semantics.replays_all_of_mpi(),
        is_probe: class == Class::Probe && semantics.replays_all_of_mpi(),
        polling: Polling::of_plain(&name).filter(|_| semantics.replays_all_of_mpi()),
        is_neighborhood: name.starts_with("neighbor_") || name.starts_with("ineighbor_"),
        begins_transfer: name.starts_with("file_") && name.ends_with("_begin"),
        window_call: WindowCall::of(&name).filter(|_| semantics.replays_all_of_mpi()),
        is_disconnect: name == "comm_disconnect",
        connects: connects(&name) && semantics.replays_all_of_mpi(),
        phase: None,
        ends_phase_path: false,
        is_of_event: false,
        accelerator: None,
        fate: match semantics.replays_all_of_mpi() {
            true => fate_beyond_reference(&name, (region.role, class), context),
            false => None,
        }
        .unwrap_or_else(|| fate(region.role, &name, class)),
        completion: match class {
            Class::BlockingSend => Completion::BlockingSend,
            Class::WaitOne => Completion::WaitOne,
            Class::WaitMany => Completion::WaitMany,
            Class::Test => Completion::Test,
            Class::SendReceive if semantics.replays_all_of_mpi() => Completion::SendReceive,
            _ if name.starts_with("file_") && name.ends_with("_end") => Completion::SplitTransfer,
            _ => Completion::Other,
        },
    }
}

/// Whether a function sends or receives messages, or completes requests, and does not return before (MPI 4.1, 3.4 and 3.7).
fn completes_messages(name: &str, class: Class) -> bool {
    matches!(class, Class::BlockingSend | Class::SendReceive | Class::WaitOne | Class::WaitMany)
        || matches!(name, "recv" | "recv_c" | "mrecv" | "mrecv_c")
}

/// Returns the fate of the time of an MPI call that recorded no operation: calls that cannot wait for others
/// count as analysed. Names of functions on windows start with `win_`, on files with `file_`, including those
/// of future functions (MPI 4.0, 2.2).
fn fate(role: RegionRole, name: &str, class: Class) -> Fate {
    match (role, class) {
        (RegionRole::RMA, _) => Fate::OneSided,
        _ if name.starts_with("win_") => Fate::OneSided,
        (RegionRole::FILE_IO | RegionRole::FILE_IO_METADATA, _) => Fate::FileAccess,
        _ if name.starts_with("file_") => Fate::FileAccess,
        (
            RegionRole::BARRIER
            | RegionRole::COLL_ONE2ALL
            | RegionRole::COLL_ALL2ONE
            | RegionRole::COLL_ALL2ALL
            | RegionRole::COLL_OTHER,
            _,
        ) => Fate::OtherCollective,
        (_, Class::Probe) => Fate::Probe,
        (_, Class::CommunicatorTogether) => Fate::OtherCollective,
        // Score-P gives accumulate and its relatives OTF2's role for atomic operations.
        (RegionRole::ATOMIC, _) => Fate::OneSided,
        _ => Fate::Analysed,
    }
}

/// The same for calls of which the reference replays nothing; `None` for others.
fn fate_beyond_reference(name: &str, (role, class): (RegionRole, Class), context: Context) -> Option<Fate> {
    let Context { attributes, has_windows, .. } = context;
    let is_persistent = (name.ends_with("_init") || name.ends_with("_init_c"))
        && COLLECTIVES.iter().any(|it| name.starts_with(it));
    match class {
        Class::Probe => Some(Fate::Analysed),
        _ if has_windows && fate(role, name, class) == Fate::OneSided => Some(Fate::Analysed),
        _ if name.starts_with("file_") && is_of_one_process(name, class) => Some(Fate::Analysed),
        _ if connects(name) => Some(Fate::OutsideProcesses),
        // To initialize them may block by the standard, but the trace says nothing of that (rest of MPI 7.1).
        _ if is_persistent && attributes.is_some_and(|known| known.tells_persistent_operations()) => {
            Some(Fate::Analysed)
        }
        _ if is_persistent => Some(Fate::PersistentCollective),
        _ if name.starts_with("neighbor_") || name.starts_with("ineighbor_") => Some(Fate::Neighborhood),
        _ => None,
    }
}

/// Whether a function takes time for more than communication.
fn has_own_work(class: Class) -> bool {
    matches!(
        class,
        Class::CommunicatorAlone
            | Class::CommunicatorTogether
            | Class::Window
            | Class::FileAlone
            | Class::FileTogether
            | Class::FileRead
            | Class::FileWrite
            | Class::FileReadTogether
            | Class::FileWriteTogether
    )
}

/// Whether a function connects the process to others that may be outside of the trace (MPI 4.1, 11.8 and 11.9).
fn connects(name: &str) -> bool {
    ["comm_spawn", "comm_accept", "comm_connect", "comm_join"].iter().any(|it| name.starts_with(it))
}

/// Whether a process calls a function on a file by itself, and the function returns when it is done: nobody else can hold it up
/// (MPI 4.1, 14.4). Processes take turns with shared pointers.
fn is_of_one_process(name: &str, class: Class) -> bool {
    let is_started = name.starts_with("file_iread") || name.starts_with("file_iwrite");
    match class {
        Class::FileRead | Class::FileWrite => !is_started && !name.contains("_shared"),
        _ => name.starts_with("file_get_") || name == "file_seek" || name == "file_delete",
    }
}

/// Beginnings of the names of collective operations that can be persistent (MPI 4.1, section 6.13).
const COLLECTIVES: [&str; 10] = [
    "allgather",
    "allreduce",
    "alltoall",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "neighbor_",
    "reduce",
    "sca",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn region_is_of_mpi_by_paradigm_or_file_unless_the_reference_is_followed() {
        let region = Region { name: "MPI_Wait".into(), paradigm: Paradigm::MPI, ..Region::default() };
        let is_mpi = |semantics| {
            let mut region = Region { canonical_name: region.name.clone(), ..region.clone() };
            unify_mpi(&mut region, semantics);
            kind(&region, Context { semantics, attributes: None, has_windows: false }).is_mpi
        };
        assert!(is_mpi(Semantics::Corrected));
        assert!(!is_mpi(Semantics::Reference));
    }

    #[test]
    fn calls_that_look_for_a_completion_poll_unless_the_reference_is_followed() {
        let region = Region {
            name: "MPI_Request_get_status".into(),
            source_file: "MPI".into(),
            paradigm: Paradigm::MPI,
            ..Region::default()
        };
        let polling =
            |semantics| kind(&region, Context { semantics, attributes: None, has_windows: false }).polling;
        assert_eq!(polling(Semantics::Corrected), Some(Polling::Status));
        assert_eq!(polling(Semantics::Reference), None);
    }
}
