//! Several threads of a process in collective operations on one communicator, window or file at once. MPI forbids it (MPI
//! 4.1, 11.6.2): which operation is which instance is unknown, and the order of begin is taken (rest of MPI 10).

use rustc_hash::FxHashMap;

use crate::findings::{Finding, Findings};
use crate::int::to_u32;
use crate::operations::{Collective, WORLD_AT_FINALIZE, WORLD_AT_INIT};
use crate::trace::Trace;
use crate::walk::Walked;

/// Returns the positions of the blocking operations of a process in the order of their begins; `None` if that is the order in
/// which they are, as in processes with one thread.
pub(super) fn order_of_begins(trace: &Trace, walked: &Walked) -> Option<Vec<u32>> {
    let collectives = &walked.operations.collectives;
    if !has_threads(trace, walked) || collectives.is_sorted_by_key(|collective| collective.begin) {
        return None;
    }
    let mut order: Vec<u32> = (0..to_u32(collectives.len())).collect();
    order.sort_by_key(|&at| collectives[at as usize].begin);
    Some(order)
}

/// Whether several threads may be in operations at once, and are looked at.
fn has_threads(trace: &Trace, walked: &Walked) -> bool {
    walked.process.locations.len() > 1 && trace.semantics.replays_all_of_mpi()
}

/// Counts operations that begin while another thread is in one on the same communicator, window or file.
pub(super) fn check(trace: &Trace, walked: &Walked, findings: &mut Findings) {
    if !has_threads(trace, walked) {
        return;
    }
    let operations = &walked.operations;
    let order = order_of_begins(trace, walked);
    let location = |of: &Collective| operations.site(of.call).location;
    // By communicator, the operation that ends last.
    let mut last: FxHashMap<u32, &Collective> = FxHashMap::default();
    for at in 0..operations.collectives.len() {
        let this = &operations.collectives[order.as_ref().map_or(at, |order| order[at] as usize)];
        if [WORLD_AT_INIT, WORLD_AT_FINALIZE].contains(&this.communicator) {
            continue;
        }
        let before = last.entry(this.communicator).or_insert(this);
        if this.begin < before.end && location(this) != location(before) {
            findings.add(Finding::ConcurrentCommunicator, this.begin, location(this) as usize, || {
                trace.set_name(this.communicator)
            });
        }
        if this.end >= before.end {
            *before = this;
        }
    }
}
