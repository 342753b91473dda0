//! Bounds of samples: no instance of a wait state is longer than the longest call of its kind (specification
//! 13.4, step 1).

use patterns::Within;
use patterns::matched::Interval;

use super::SUBJECTS;
use crate::error::Error;
use crate::exchange::{Exchange, broadcast, reduce};
use crate::ids::CallId;
use crate::operations::Operations;
use crate::options::Semantics;
use crate::walk::Walked;

/// The longest call by pattern, in ticks.
pub type Bounds = [u64; SUBJECTS.len()];

/// The bounds of the whole trace, on every worker; only the reference's estimate needs them.
///
/// # Errors
/// If a worker failed.
pub fn bounds(
    processes: &[Walked],
    semantics: Semantics,
    exchange: &mut dyn Exchange,
) -> Result<Option<Bounds>, Error> {
    if !semantics.estimates_quartiles() {
        return Ok(None);
    }
    let mut own: Bounds = [0; SUBJECTS.len()];
    for walked in processes {
        raise(&mut own, &of_operations(&walked.operations));
    }
    let mut all = reduce(exchange, own, |bounds| bounds.to_vec(), raise)?;
    let heard = broadcast(exchange, all.to_vec())?;
    raise(&mut all, &heard);
    Ok(Some(all))
}

/// Takes the maximum of each pair.
fn raise(bounds: &mut Bounds, others: &[u64]) {
    bounds.iter_mut().zip(others).for_each(|(bound, &other)| *bound = other.max(*bound));
}

fn of_operations(operations: &Operations) -> Bounds {
    let call = |id: CallId| length(operations.call(id).interval);
    let receive = operations.receives.iter().map(|receive| call(receive.call)).max();
    let send = operations.sends.iter().map(|send| call(send.call)).max();
    SUBJECTS.map(|subject| {
        let longest = match subject.within {
            Within::Receive => receive,
            Within::Send => send,
            Within::Collective(class) => {
                let of_class = operations.collectives.iter().filter(|it| it.class == Some(class));
                of_class.map(|it| length(Interval::new(it.begin, it.end))).max()
            }
            // The reference has none.
            Within::NonBlocking | Within::Stalled | Within::OneSided => None,
            Within::Barrier(class) => {
                let of_class = operations.barriers.iter().filter(|it| it.class == class);
                of_class.map(|it| length(it.visit)).max()
            }
            Within::Lock(class) => {
                let of_class = operations.locks.iter().filter(|it| it.class == class);
                of_class.map(|it| length(it.call)).max()
            }
        };
        longest.unwrap_or(0)
    })
}

fn length(interval: Interval) -> u64 {
    interval.leave.saturating_sub(interval.enter).max(0).unsigned_abs()
}
