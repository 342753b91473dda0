//! The neighbours of the process in topologies of communicators (MPI 4.0, chapter 8).
//!
//! They are asked for once for each communicator, by the first operation among them: duplicates have the
//! topology of their original, and most topologies are never used so. All functions for it are local.

use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, Ordering};

use recording::attributes::{GROUP, NEIGHBORS_IN, NEIGHBORS_OUT};

use crate::communicators::Communicator;
use crate::key;
use crate::levels::Zeroed;
use crate::mpi::{self, Mpi};
use crate::process::Process;
use crate::shared::Shared;

/// Numbers of the groups of neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct NeighborGroups {
    /// Those that the process receives from.
    pub(crate) incoming: u32,
    /// Those that it sends to.
    pub(crate) outgoing: u32,
}

impl NeighborGroups {
    /// Returns the attributes of the end of an operation among these neighbours.
    pub(crate) fn attributes(self) -> [(u32, u8, u64); 2] {
        [(NEIGHBORS_IN, GROUP, self.incoming.into()), (NEIGHBORS_OUT, GROUP, self.outgoing.into())]
    }
}

/// The neighbours of the process in a topology. In the order of the buffers: whether each is a process, or
/// `MPI_PROC_NULL`, as behind the border of a grid.
pub(crate) struct Neighborhood {
    pub(crate) incoming: Vec<bool>,
    pub(crate) outgoing: Vec<bool>,
    pub(crate) groups: NeighborGroups,
}

// SAFETY: zero bytes are a null pointer.
unsafe impl Zeroed for AtomicPtr<Neighborhood> {}

/// All neighbourhoods of the process, each once: they are never freed, as calls may still use them while
/// another thread frees a communicator.
pub(crate) struct Neighborhoods {
    known: Shared<AtomicPtr<Neighborhood>>,
}

impl Neighborhoods {
    pub(crate) const fn new() -> Neighborhoods {
        Neighborhoods { known: Shared::new() }
    }

    /// Returns the neighbourhood in a communicator that has this handle; `None` without a topology.
    #[inline]
    pub(crate) fn of(
        &self,
        process: &Process,
        communicator: &Communicator,
        handle: usize,
    ) -> Option<&'static Neighborhood> {
        let asked = communicator.neighborhood.load(Ordering::Acquire);
        // SAFETY: the pointer is null or comes from a box that is never freed, complete when it was stored.
        unsafe { asked.as_ref() }.or_else(|| self.ask(process, communicator, handle))
    }

    #[cold]
    fn ask(
        &self,
        process: &Process,
        communicator: &Communicator,
        handle: usize,
    ) -> Option<&'static Neighborhood> {
        let (incoming, outgoing) = ranks(&process.mpi, handle)?;
        let group = |ranks: &[c_int]| {
            let mut members = process.communicators.in_world(&process.mpi, handle, &processes(ranks))?;
            members.sort_unstable();
            members.dedup();
            Some(process.groups.number(process, &members))
        };
        let groups = NeighborGroups { incoming: group(&incoming)?, outgoing: group(&outgoing)? };
        let exist = |ranks: &[c_int]| ranks.iter().map(|&rank| rank >= 0).collect::<Vec<_>>();
        let neighborhood = Neighborhood { incoming: exist(&incoming), outgoing: exist(&outgoing), groups };
        let place = self.known.get_or_insert(neighborhood.key(), |place| {
            place.store(Box::into_raw(Box::new(neighborhood)), Ordering::Release);
        })?;
        let known = place.load(Ordering::Acquire);
        communicator.neighborhood.store(known, Ordering::Release);
        // SAFETY: as above.
        unsafe { known.as_ref() }
    }
}

impl Neighborhood {
    fn key(&self) -> u64 {
        let NeighborGroups { incoming, outgoing } = self.groups;
        let exist =
            |all: &[bool]| key::of_words(&all.iter().map(|&is_one| is_one.into()).collect::<Vec<_>>());
        key::of(&[incoming.into(), outgoing.into(), exist(&self.incoming), exist(&self.outgoing)])
    }
}

/// Returns the neighbours that are processes.
fn processes(ranks: &[c_int]) -> Vec<c_int> {
    ranks.iter().copied().filter(|&rank| rank >= 0).collect()
}

/// Returns the ranks of the neighbours in a communicator that the process receives from, and of those that it
/// sends to, in the order of the buffers; negative numbers for none. `None` without a topology.
fn ranks(mpi: &Mpi, handle: usize) -> Option<(Vec<c_int>, Vec<c_int>)> {
    let room = |count: c_int| vec![0; count.max(0) as usize];
    let mut topology: c_int = 0;
    // SAFETY: the program passes the communicator to a call that it is making; all results are writable, and
    // vectors have as many elements as there are neighbours.
    unsafe {
        (mpi.topo_test)(handle, &mut topology);
        if topology == mpi::cartesian() {
            let mut dimensions = 0;
            (mpi.cartdim_get)(handle, &mut dimensions);
            let mut both = Vec::new();
            for dimension in 0..dimensions {
                let (mut before, mut behind) = (mpi::proc_null(), mpi::proc_null());
                (mpi.cart_shift)(handle, dimension, 1, &mut before, &mut behind);
                both.extend([before, behind]);
            }
            return Some((both.clone(), both));
        }
        if topology == mpi::graph() {
            let (mut rank, mut count) = (0, 0);
            (mpi.comm_rank)(handle, &mut rank);
            (mpi.graph_neighbors_count)(handle, rank, &mut count);
            let mut both = room(count);
            (mpi.graph_neighbors)(handle, rank, count, both.as_mut_ptr());
            return Some((both.clone(), both));
        }
        if topology == mpi::DIST_GRAPH {
            let (mut incoming, mut outgoing, mut has_weights) = (0, 0, 0);
            (mpi.dist_graph_neighbors_count)(handle, &mut incoming, &mut outgoing, &mut has_weights);
            let (mut sources, mut destinations) = (room(incoming), room(outgoing));
            let (mut of_sources, mut of_destinations) = (room(incoming), room(outgoing));
            (mpi.dist_graph_neighbors)(
                handle,
                incoming,
                sources.as_mut_ptr(),
                of_sources.as_mut_ptr(),
                outgoing,
                destinations.as_mut_ptr(),
                of_destinations.as_mut_ptr(),
            );
            return Some((sources, destinations));
        }
    }
    None
}
