//! Volumes of collective operations: how many bytes a process sends and receives, counted as in Score-P:
//! those that it would send and receive if each process communicated with each directly, itself included;
//! data in place (`MPI_IN_PLACE`) are not sent to itself.
//!
//! Each function has the name of the blocking operation and reads the arguments that all its variants start
//! with.

use model::CollectiveOp;

use crate::channels::Channel;
use crate::communicators::Communicator;
use crate::mpi::{self, handle_at, in_place};
use crate::neighborhoods::{NeighborGroups, Neighborhood};
use crate::process::Process;

/// No root (OTF2's `CollectiveRoot`).
pub(crate) const ROOT_NONE: u32 = u32::MAX;
/// The process itself is the root, in an inter-communicator.
const ROOT_SELF: u32 = u32::MAX - 1;
/// The root is another process of the own group, in an inter-communicator.
const ROOT_THIS_GROUP: u32 = u32::MAX - 2;

/// The part of one process in a collective operation.
#[derive(Clone, Copy)]
pub(crate) struct Volume {
    /// The operation.
    pub(crate) operation: CollectiveOp,
    /// Number of the communicator.
    pub(crate) communicator: u32,
    /// Rank of the root, or one of OTF2's special values.
    pub(crate) root: u32,
    /// Bytes that the process sends.
    pub(crate) sent: u64,
    /// Bytes that the process receives.
    pub(crate) received: u64,
    /// The neighbours, if it is among neighbours.
    pub(crate) neighbors: Option<NeighborGroups>,
}

impl Volume {
    /// Returns the operations that it is counted with: those among neighbours are counted by themselves.
    pub(crate) fn channel(&self) -> Channel {
        match self.neighbors {
            None => Channel::Collective(self.communicator),
            Some(_) => Channel::Neighborhood(self.communicator),
        }
    }
}

/// The input of a volume: the process, the arguments of a call that the program makes, and whether counts in
/// arrays are `MPI_Count`.
type VolumeInput<'a> = (&'a Process, &'a [usize], bool);

struct RootRole {
    reference: u32,
    is_me: bool,
    /// Whether the process neither sends nor receives.
    is_idle: bool,
}

fn root(communicator: &Communicator, root: usize) -> RootRole {
    let root = root as i32;
    if !communicator.is_inter() {
        return RootRole {
            reference: root as u32,
            is_me: root as u32 == communicator.rank(),
            is_idle: false,
        };
    }
    if root == mpi::root() {
        return RootRole { reference: ROOT_SELF, is_me: true, is_idle: false };
    }
    if root == mpi::proc_null() {
        return RootRole { reference: ROOT_THIS_GROUP, is_me: false, is_idle: true };
    }
    RootRole { reference: root as u32, is_me: false, is_idle: false }
}

/// Number of processes that one process sends to: all, but not itself if its data are in place.
fn partners(communicator: &Communicator, buffer: usize) -> u64 {
    u64::from(communicator.size()) - u64::from(buffer == in_place())
}

fn rootless(
    (process, _, _): VolumeInput<'_>,
    operation: CollectiveOp,
    communicator: usize,
    volume: impl FnOnce(&Communicator) -> (u64, u64),
) -> Option<Volume> {
    let communicator = process.communicators.find(communicator)?;
    let (sent, received) = volume(communicator);
    let communicator = communicator.number();
    Some(Volume { operation, communicator, root: ROOT_NONE, sent, received, neighbors: None })
}

fn rooted(
    (process, _, _): VolumeInput<'_>,
    operation: CollectiveOp,
    (root_argument, communicator): (usize, usize),
    volume: impl FnOnce(&Communicator, bool) -> (u64, u64),
) -> Option<Volume> {
    let communicator = process.communicators.find(communicator)?;
    let root = root(communicator, root_argument);
    let (sent, received) = if root.is_idle { (0, 0) } else { volume(communicator, root.is_me) };
    let communicator = communicator.number();
    Some(Volume { operation, communicator, root: root.reference, sent, received, neighbors: None })
}

/// An operation among neighbours. It counts as an all-to-all operation with separate counts, which is what
/// readers take it for that do not look at the neighbours.
fn among_neighbors(
    (process, _, _): VolumeInput<'_>,
    operation: CollectiveOp,
    handle: usize,
    volume: impl FnOnce(&Neighborhood) -> (u64, u64),
) -> Option<Volume> {
    let communicator = process.communicators.find(handle)?;
    let neighborhood = process.neighborhoods.of(process, communicator, handle)?;
    let (sent, received) = volume(neighborhood);
    let (communicator, neighbors) = (communicator.number(), Some(neighborhood.groups));
    Some(Volume { operation, communicator, root: ROOT_NONE, sent, received, neighbors })
}

/// Iterates over the positions of the neighbours that are processes.
fn positions(neighbors: &[bool]) -> impl Iterator<Item = usize> {
    (0..).zip(neighbors).filter(|&(_, &is_process)| is_process).map(|(at, _)| at)
}

/// Returns the sum of the counts of the neighbours that are processes.
///
/// # Safety
/// The array has a count for each neighbour.
unsafe fn sum_of_neighbors(counts: usize, neighbors: &[bool], wide: bool) -> i64 {
    // SAFETY: the caller guarantees it.
    positions(neighbors).map(|at| unsafe { count_at(counts, at, wide) }).sum()
}

/// Returns the count at a position of an array.
///
/// # Safety
/// The array has such an element.
unsafe fn count_at(array: usize, at: usize, wide: bool) -> i64 {
    // SAFETY: the caller guarantees it.
    unsafe { if wide { *(array as *const i64).add(at) } else { (*(array as *const i32).add(at)).into() } }
}

/// Returns the sum of an array of counts.
///
/// # Safety
/// The array has a count for each process of the communicator, or of the remote group.
unsafe fn sum(counts: usize, communicator: &Communicator, wide: bool) -> i64 {
    // SAFETY: the caller guarantees it.
    (0..communicator.size() as usize).map(|at| unsafe { count_at(counts, at, wide) }).sum()
}

/// `MPI_Barrier`: (communicator)
pub(crate) fn barrier(input: VolumeInput<'_>) -> Option<Volume> {
    rootless(input, CollectiveOp::BARRIER, input.1[0], |_| (0, 0))
}

/// `MPI_Bcast`: (buffer, count, type, root, communicator)
pub(crate) fn bcast(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, _) = input;
    rooted(input, CollectiveOp::BCAST, (a[3], a[4]), |communicator, is_root| {
        let bytes = process.mpi.bytes(a[1] as i64, a[2]);
        let sent = if is_root { bytes * u64::from(communicator.size()) } else { 0 };
        (sent, if is_root && communicator.is_inter() { 0 } else { bytes })
    })
}

/// `MPI_Gather`: (send buffer, count, type, receive buffer, count, type, root, communicator)
pub(crate) fn gather(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, _) = input;
    rooted(input, CollectiveOp::GATHER, (a[6], a[7]), |communicator, is_root| {
        let sends = a[0] != in_place() && !(is_root && communicator.is_inter());
        let sent = if sends { process.mpi.bytes(a[1] as i64, a[2]) } else { 0 };
        let received = || process.mpi.bytes(a[4] as i64, a[5]) * partners(communicator, a[0]);
        (sent, if is_root { received() } else { 0 })
    })
}

/// `MPI_Gatherv`: (send buffer, count, type, receive buffer, counts, displacements, type, root, communicator)
pub(crate) fn gatherv(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, wide) = input;
    rooted(input, CollectiveOp::GATHERV, (a[7], a[8]), |communicator, is_root| {
        let sends = a[0] != in_place() && !(is_root && communicator.is_inter());
        let sent = if sends { process.mpi.bytes(a[1] as i64, a[2]) } else { 0 };
        // SAFETY: the root passes a count for each process.
        let received = || unsafe {
            let own = if a[0] == in_place() { count_at(a[4], communicator.rank() as usize, wide) } else { 0 };
            process.mpi.bytes(sum(a[4], communicator, wide) - own, a[6])
        };
        (sent, if is_root { received() } else { 0 })
    })
}

/// `MPI_Scatter`: (send buffer, count, type, receive buffer, count, type, root, communicator)
pub(crate) fn scatter(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, _) = input;
    rooted(input, CollectiveOp::SCATTER, (a[6], a[7]), |communicator, is_root| {
        let receives = a[3] != in_place() && !(is_root && communicator.is_inter());
        let received = if receives { process.mpi.bytes(a[4] as i64, a[5]) } else { 0 };
        let sent = || process.mpi.bytes(a[1] as i64, a[2]) * partners(communicator, a[3]);
        (if is_root { sent() } else { 0 }, received)
    })
}

/// `MPI_Scatterv`: (send buffer, counts, displacements, type, receive buffer, count, type, root,
/// communicator)
pub(crate) fn scatterv(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, wide) = input;
    rooted(input, CollectiveOp::SCATTERV, (a[7], a[8]), |communicator, is_root| {
        let receives = a[4] != in_place() && !(is_root && communicator.is_inter());
        let received = if receives { process.mpi.bytes(a[5] as i64, a[6]) } else { 0 };
        // SAFETY: the root passes a count for each process.
        let sent = || unsafe {
            let own = if a[4] == in_place() { count_at(a[1], communicator.rank() as usize, wide) } else { 0 };
            process.mpi.bytes(sum(a[1], communicator, wide) - own, a[3])
        };
        (if is_root { sent() } else { 0 }, received)
    })
}

/// `MPI_Allgather`: (send buffer, count, type, receive buffer, count, type, communicator)
pub(crate) fn allgather(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, _) = input;
    rootless(input, CollectiveOp::ALLGATHER, a[6], |communicator| {
        let received = process.mpi.bytes(a[4] as i64, a[5]);
        // In place the count and type to send are those to receive.
        let sent = if a[0] == in_place() { received } else { process.mpi.bytes(a[1] as i64, a[2]) };
        let partners = partners(communicator, a[0]);
        (sent * partners, received * partners)
    })
}

/// `MPI_Allgatherv`: (send buffer, count, type, receive buffer, counts, displacements, type, communicator)
pub(crate) fn allgatherv(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, wide) = input;
    rootless(input, CollectiveOp::ALLGATHERV, a[7], |communicator| {
        let is_in_place = a[0] == in_place();
        // SAFETY: the program passes a count for each process.
        let (all, own) = unsafe {
            let own = if is_in_place { count_at(a[4], communicator.rank() as usize, wide) } else { 0 };
            (sum(a[4], communicator, wide), own)
        };
        let sent =
            if is_in_place { process.mpi.bytes(own, a[6]) } else { process.mpi.bytes(a[1] as i64, a[2]) };
        let received = process.mpi.bytes(all - own, a[6]);
        (sent * partners(communicator, a[0]), received)
    })
}

/// `MPI_Alltoall`: (send buffer, count, type, receive buffer, count, type, communicator)
pub(crate) fn alltoall(input: VolumeInput<'_>) -> Option<Volume> {
    Some(Volume { operation: CollectiveOp::ALLTOALL, ..allgather(input)? })
}

/// `MPI_Alltoallv`: (send buffer, counts, displacements, type, receive buffer, counts, displacements, type,
/// communicator)
pub(crate) fn alltoallv(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, wide) = input;
    rootless(input, CollectiveOp::ALLTOALLV, a[8], |communicator| {
        let is_in_place = a[0] == in_place();
        // SAFETY: the program passes a count for each process, to send only if that is not in place.
        unsafe {
            let own = if is_in_place { count_at(a[5], communicator.rank() as usize, wide) } else { 0 };
            let received = process.mpi.bytes(sum(a[5], communicator, wide) - own, a[7]);
            let sent = || process.mpi.bytes(sum(a[1], communicator, wide), a[3]);
            (if is_in_place { received } else { sent() }, received)
        }
    })
}

/// `MPI_Alltoallw`: (send buffer, counts, displacements, types, receive buffer, counts, displacements, types,
/// communicator)
pub(crate) fn alltoallw(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, wide) = input;
    rootless(input, CollectiveOp::ALLTOALLW, a[8], |communicator| {
        let is_in_place = a[0] == in_place();
        let bytes = |counts: usize, types: usize| -> u64 {
            (0..communicator.size() as usize)
                .filter(|&at| !(is_in_place && at == communicator.rank() as usize))
                // SAFETY: the program passes a type for each member.
                .map(|at| unsafe { process.mpi.bytes(count_at(counts, at, wide), handle_at(types, at)) })
                .sum()
        };
        let received = bytes(a[5], a[7]);
        (if is_in_place { received } else { bytes(a[1], a[3]) }, received)
    })
}

/// `MPI_Allreduce`: (send buffer, receive buffer, count, type, operation, communicator)
pub(crate) fn allreduce(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, _) = input;
    rootless(input, CollectiveOp::ALLREDUCE, a[5], |communicator| {
        let bytes = process.mpi.bytes(a[2] as i64, a[3]) * partners(communicator, a[0]);
        (bytes, bytes)
    })
}

/// `MPI_Reduce`: (send buffer, receive buffer, count, type, operation, root, communicator)
pub(crate) fn reduce(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, _) = input;
    rooted(input, CollectiveOp::REDUCE, (a[5], a[6]), |communicator, is_root| {
        let bytes = process.mpi.bytes(a[2] as i64, a[3]);
        let sends = a[0] != in_place() && !(is_root && communicator.is_inter());
        let received = if is_root { bytes * partners(communicator, a[0]) } else { 0 };
        (if sends { bytes } else { 0 }, received)
    })
}

/// `MPI_Reduce_scatter`: (send buffer, receive buffer, counts, type, operation, communicator)
pub(crate) fn reduce_scatter(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, wide) = input;
    rootless(input, CollectiveOp::REDUCE_SCATTER, a[5], |communicator| {
        // The counts are those of the own group.
        let members = if communicator.is_inter() {
            communicator.rank() as usize + 1
        } else {
            communicator.size() as usize
        };
        // SAFETY: the program passes a count for each process of the own group, of which these are some.
        let count = |at| unsafe { count_at(a[2], at, wide) };
        let all: i64 = (0..members).map(count).sum();
        let own = count(communicator.rank() as usize);
        let kept = if a[0] == in_place() { own } else { 0 };
        let received = process.mpi.bytes(own, a[3]) * partners(communicator, a[0]);
        (process.mpi.bytes(all - kept, a[3]), received)
    })
}

/// `MPI_Reduce_scatter_block`: (send buffer, receive buffer, count, type, operation, communicator)
pub(crate) fn reduce_scatter_block(input: VolumeInput<'_>) -> Option<Volume> {
    Some(Volume { operation: CollectiveOp::REDUCE_SCATTER_BLOCK, ..allreduce(input)? })
}

/// `MPI_Scan`: (send buffer, receive buffer, count, type, operation, communicator)
pub(crate) fn scan(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, _) = input;
    rootless(input, CollectiveOp::SCAN, a[5], |communicator| {
        let bytes = process.mpi.bytes(a[2] as i64, a[3]);
        let own = u64::from(a[0] != in_place());
        let (rank, size) = (u64::from(communicator.rank()), u64::from(communicator.size()));
        ((size - rank - 1 + own) * bytes, (rank + own) * bytes)
    })
}

/// `MPI_Exscan`: (send buffer, receive buffer, count, type, operation, communicator)
pub(crate) fn exscan(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, _) = input;
    rootless(input, CollectiveOp::EXSCAN, a[5], |communicator| {
        let bytes = process.mpi.bytes(a[2] as i64, a[3]);
        let (rank, size) = (u64::from(communicator.rank()), u64::from(communicator.size()));
        ((size - rank - 1) * bytes, rank * bytes)
    })
}

/// `MPI_Neighbor_allgather`: (send buffer, count, type, receive buffer, count, type, communicator)
pub(crate) fn neighbor_allgather(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, _) = input;
    among_neighbors(input, CollectiveOp::ALLTOALLV, a[6], |neighborhood| {
        let number = |neighbors| positions(neighbors).count() as u64;
        let (sent, received) = (process.mpi.bytes(a[1] as i64, a[2]), process.mpi.bytes(a[4] as i64, a[5]));
        (sent * number(&neighborhood.outgoing), received * number(&neighborhood.incoming))
    })
}

/// `MPI_Neighbor_allgatherv`: (send buffer, count, type, receive buffer, counts, displacements, type,
/// communicator)
pub(crate) fn neighbor_allgatherv(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, wide) = input;
    among_neighbors(input, CollectiveOp::ALLTOALLV, a[7], |neighborhood| {
        let sent = process.mpi.bytes(a[1] as i64, a[2]) * positions(&neighborhood.outgoing).count() as u64;
        // SAFETY: the program passes a count for each neighbour.
        let received = unsafe { sum_of_neighbors(a[4], &neighborhood.incoming, wide) };
        (sent, process.mpi.bytes(received, a[6]))
    })
}

/// `MPI_Neighbor_alltoall`: (send buffer, count, type, receive buffer, count, type, communicator)
pub(crate) fn neighbor_alltoall(input: VolumeInput<'_>) -> Option<Volume> {
    neighbor_allgather(input)
}

/// `MPI_Neighbor_alltoallv`: (send buffer, counts, displacements, type, receive buffer, counts,
/// displacements, type, communicator)
pub(crate) fn neighbor_alltoallv(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, wide) = input;
    among_neighbors(input, CollectiveOp::ALLTOALLV, a[8], |neighborhood| {
        // SAFETY: the program passes a count for each neighbour.
        let (sent, received) = unsafe {
            (
                sum_of_neighbors(a[1], &neighborhood.outgoing, wide),
                sum_of_neighbors(a[5], &neighborhood.incoming, wide),
            )
        };
        (process.mpi.bytes(sent, a[3]), process.mpi.bytes(received, a[7]))
    })
}

/// `MPI_Neighbor_alltoallw`: (send buffer, counts, displacements, types, receive buffer, counts,
/// displacements, types, communicator)
pub(crate) fn neighbor_alltoallw(input: VolumeInput<'_>) -> Option<Volume> {
    let (process, a, wide) = input;
    among_neighbors(input, CollectiveOp::ALLTOALLW, a[8], |neighborhood| {
        let bytes = |neighbors: &[bool], counts: usize, types: usize| -> u64 {
            positions(neighbors)
                // SAFETY: the program passes a count and a type for each neighbour.
                .map(|at| unsafe { process.mpi.bytes(count_at(counts, at, wide), handle_at(types, at)) })
                .sum()
        };
        (bytes(&neighborhood.outgoing, a[1], a[3]), bytes(&neighborhood.incoming, a[5], a[7]))
    })
}
