//! Upper bounds of sends: the corrected time of the receive, less the minimum time of a message
//! (specification 15.2).

use model::Ticks;

use super::links::{Role, Side};
use super::meetings::Meetings;
use super::way::{Least, LocationShift};
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange};
use crate::int::truncated;
use crate::tools::Tools;
use crate::wire::Wire;

/// Sets the upper bound of each send of all locations, from `first` on, the earliest of several, after the
/// forward pass.
///
/// # Errors
/// If a worker failed.
pub(super) fn set(
    tools: &Tools<'_>,
    first: u32,
    ways: &mut [LocationShift],
    mut meetings: Meetings,
    least: Least,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    meetings.turn_back();
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    for way in &mut *ways {
        way.told.fill(Ticks::MAX);
        for link in way.links.iter().filter(|link| link.role == Role::Receive) {
            let received = way.times[link.spot.position.index()];
            let limit = received.saturating_sub(truncated(least.of(link).ceil()));
            (link.other, limit).put(&mut outgoing[link.other.worker(tools)]);
        }
    }
    receive_limits(&exchange.exchange(outgoing)?, first, ways, &mut meetings);
    // Only now are all ends of every meeting known.
    let mut outgoing = vec![Batch::new(); exchange.workers()];
    meetings.limits(|spot, limit| {
        let to = Side::Event(spot);
        (to, limit).put(&mut outgoing[to.worker(tools)]);
    });
    receive_limits(&exchange.exchange(outgoing)?, first, ways, &mut meetings);
    Ok(())
}

fn receive_limits(batches: &[Batch], first: u32, ways: &mut [LocationShift], meetings: &mut Meetings) {
    for batch in batches {
        let mut reader = BatchReader::new(batch);
        while !reader.is_empty() {
            match Wire::get(&mut reader) {
                (Side::Event(spot), limit) => {
                    ways[(spot.location - first) as usize].limit(spot.position, limit)
                }
                (Side::Seat { number, .. }, limit) => meetings.end(number, limit),
            }
        }
    }
}
