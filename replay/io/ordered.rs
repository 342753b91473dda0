//! Where ordered transfers begin (io.md 3.2): what all ranks did at the shared pointers of files, to all workers.

use std::collections::BTreeMap;

use io_model::{SharedStep, SharedSteps, Walk, ordered_offsets};

use super::exchange::{all, put};
use crate::communicators::Participants;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::int::to_u32;
use crate::trace::Trace;

/// What processes did at a shared pointer, by number of the process.
type OfProcesses = BTreeMap<u32, Vec<SharedStep>>;

/// Tells the walks of processes where their ordered transfers begin; what some member of a communicator has not told is unknown.
///
/// # Errors
/// If a worker failed.
pub(super) fn place(
    walks: &mut [(usize, &mut Walk)],
    trace: &Trace,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let mut handles: BTreeMap<u64, OfProcesses> = BTreeMap::new();
    for (process, steps) in all_steps(walks, exchange)? {
        for (handle, steps) in steps {
            handles.entry(handle).or_default().insert(process, steps);
        }
    }
    for (handle, processes) in &handles {
        let Some((members, steps)) = members(trace, *handle, processes) else { continue };
        let offsets = ordered_offsets(&steps);
        for (process, walk) in &mut *walks {
            if let Some(at) = members.iter().position(|member| *member == to_u32(*process)) {
                walk.place_ordered(*handle, &offsets[at]);
            }
        }
    }
    Ok(())
}

/// The steps of the processes of all workers.
fn all_steps(
    walks: &[(usize, &mut Walk)],
    exchange: &mut dyn Exchange,
) -> Result<Vec<(u32, SharedSteps)>, Error> {
    let mut batch = Batch::new();
    let own = walks.iter().map(|(process, walk)| (to_u32(*process), walk.shared_steps()));
    own.filter(|(_, steps)| !steps.is_empty()).for_each(|of_process| put(&mut batch, &of_process));
    Ok(all(&share(exchange, batch)?).collect())
}

/// The members of the communicator that has opened a handle, by rank, and their steps; `None` if one of them has none.
fn members<'s>(
    trace: &'s Trace,
    handle: u64,
    processes: &'s OfProcesses,
) -> Option<(Vec<u32>, Vec<&'s [SharedStep]>)> {
    let members = match trace.communicators.get(trace.file_handle(usize::try_from(handle).ok()?) as usize)? {
        // Each process has a handle of its own then.
        Participants::Myself => match processes.keys().next() {
            Some(process) if processes.len() == 1 => vec![*process],
            _ => return None,
        },
        others => others.processes()?.to_vec(),
    };
    let steps =
        members.iter().map(|member| processes.get(member).map(Vec::as_slice)).collect::<Option<_>>()?;
    Some((members, steps))
}
