//! Constructs and functions of OpenMP on call paths: what the recorder writes for programs that use GCC's
//! libgomp.
//!
//! The kind of a node of [`mod@crate::paths`] is [`OPENMP`] plus the construct's
//! position in [`CONSTRUCTS`]. Names are those of Score-P, which the launcher completes with file and line.

use model::RegionRole;

use crate::paths::{OPENMP, PathNode};

/// Address that a node has as its target, which is the place of a construct in the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// 0: it is a function of the runtime, whatever the place of the call.
    Nothing,
    /// The function that the compiler has made of the body of a parallel region, or of a task.
    Body,
    /// The return address of the call of the runtime.
    Call,
}

/// A construct or a function of OpenMP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Construct {
    /// Its name, without its place.
    pub name: &'static str,
    /// Its role in OTF2 (`OTF2_RegionRole`).
    pub role: RegionRole,
    /// The target of its nodes.
    pub target: Target,
}

macro_rules! constructs {
    ($($(#[$doc:meta])* $number:literal $constant:ident: $name:literal, $role:ident, $target:ident;)*) => {
        $(
            $(#[$doc])*
            pub const $constant: u32 = OPENMP + $number;
        )*

        /// All constructs, by their kinds behind [`OPENMP`].
        pub const CONSTRUCTS: &[Construct] = &[
            $(Construct { name: $name, role: RegionRole::$role, target: Target::$target },)*
        ];

        #[cfg(test)]
        const NUMBERS: &[u32] = &[$($number),*];
    };
}

constructs! {
    /// A team is forked and joined in it, by the thread that has met a parallel region.
    0 FORK: "GOMP_parallel", WRAPPER, Nothing;
    /// A parallel region, in each thread of its team.
    1 PARALLEL: "!$omp parallel", PARALLEL, Body;
    /// The barrier at the end of a parallel region.
    2 LAST_BARRIER: "!$omp implicit barrier", IMPLICIT_BARRIER, Body;
    /// The barrier at the end of a worksharing construct.
    3 IMPLICIT_BARRIER: "!$omp implicit barrier", IMPLICIT_BARRIER, Call;
    /// A barrier.
    4 BARRIER: "!$omp barrier", BARRIER, Call;
    /// A critical section, with the wait for it.
    5 CRITICAL: "!$omp critical", CRITICAL, Call;
    /// The time in which a thread has the critical section.
    6 CRITICAL_BLOCK: "!$omp critical sblock", CRITICAL_SBLOCK, Call;
    /// An atomic operation that the processor cannot do.
    7 ATOMIC: "!$omp atomic", ATOMIC, Call;
    /// `omp_set_lock`.
    8 SET_LOCK: "omp_set_lock", WRAPPER, Nothing;
    /// `omp_unset_lock`.
    9 UNSET_LOCK: "omp_unset_lock", WRAPPER, Nothing;
    /// `omp_test_lock`.
    10 TEST_LOCK: "omp_test_lock", WRAPPER, Nothing;
    /// `omp_set_nest_lock`.
    11 SET_NEST_LOCK: "omp_set_nest_lock", WRAPPER, Nothing;
    /// `omp_unset_nest_lock`.
    12 UNSET_NEST_LOCK: "omp_unset_nest_lock", WRAPPER, Nothing;
    /// `omp_test_nest_lock`.
    13 TEST_NEST_LOCK: "omp_test_nest_lock", WRAPPER, Nothing;
    /// A task, while it runs.
    14 TASK: "!$omp task", TASK, Body;
    /// The wait for the tasks that a task, or a thread of a team, has created.
    15 TASK_WAIT: "!$omp taskwait", TASK_WAIT, Call;
}

/// Returns the construct of a node; `None` if it is of something else.
pub fn construct(node: &PathNode) -> Option<&'static Construct> {
    CONSTRUCTS.get(usize::try_from(node.kind.checked_sub(OPENMP)?).ok()?)
}

/// First number of the communicators of teams in the events of a process, behind all that it may have of MPI: that of a
/// team is so much plus the number of its threads.
pub const TEAMS: u32 = 1 << 30;

/// The largest number of threads of a team that is recorded.
pub const LARGEST_TEAM: u32 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_positions_and_kinds_of_other_nodes_are_no_constructs() {
        assert!(NUMBERS.iter().copied().eq(0..CONSTRUCTS.len() as u32));
        let of = |kind| construct(&PathNode { target: 0, parent: 0, kind });
        assert_eq!(of(BARRIER).map(|construct| construct.name), Some("!$omp barrier"));
        assert_eq!([of(0), of(OPENMP - 1), of(OPENMP + 1000)], [None; 3]);
    }
}
