//! What scenarios that gain something change, in numbers: for advice (what-if 6.5).

use model::Ticks;

use super::changes::Paths;
use super::predict::Prediction;
use super::scenario::{Change, Place};
use super::workers::Network;
use crate::error::Error;
use crate::exchange::Exchange;

/// The least gain that is advice, as a share of the run time.
pub const WORTH: f64 = 0.01;

/// What a scenario changes. Times are ticks.
#[derive(Clone, PartialEq, Debug)]
pub enum Lever {
    /// Work in a call path, of a rank and its thread, or of the one with most of it.
    Work {
        /// Where.
        place: Place,
        /// As it is.
        now: Ticks,
        /// The mean of those that it is compared with.
        mean: Ticks,
    },
    /// Time of all in operations of many in a call path.
    Operations {
        /// Names of the call path with slashes between them.
        path: String,
        /// As it is.
        now: Ticks,
    },
    /// A message without data.
    Latency {
        /// As it is, and as it would be.
        now: Ticks,
        /// So many times as long.
        factor: f64,
    },
    /// The time of a byte.
    Byte {
        /// As it is.
        now: f64,
        /// So many times as long.
        factor: f64,
    },
    /// Bytes of the longest messages that do not wait for their receives; all would be.
    Eager {
        /// As it is, estimated.
        now: i64,
    },
    /// All time in MPI.
    Mpi {
        /// As it is.
        now: Ticks,
    },
}

/// The levers of predictions that gain enough and have one: position, lever.
///
/// # Errors
/// If a worker failed.
pub(super) fn levers(
    list: &[Prediction],
    run: Ticks,
    mpi: Ticks,
    (paths, network): (&Paths<'_>, &Network),
    exchange: &mut dyn Exchange,
) -> Result<Vec<(usize, Lever)>, Error> {
    let mut found = Vec::new();
    for (at, Prediction { scenario, ticks, .. }) in list.iter().enumerate() {
        // What several gain together is advised by its parts.
        let [change] = &scenario.changes[..] else { continue };
        if (run - ticks) as f64 <= WORTH * run as f64 {
            continue;
        }
        found.extend(lever(change, mpi, paths, network, exchange)?.map(|lever| (at, lever)));
    }
    Ok(found)
}

fn lever(
    change: &Change,
    mpi: Ticks,
    paths: &Paths<'_>,
    network: &Network,
    exchange: &mut dyn Exchange,
) -> Result<Option<Lever>, Error> {
    Ok(match change {
        Change::Ideal => Some(Lever::Mpi { now: mpi }),
        &Change::Latency(factor) => Some(Lever::Latency { now: network.eager.intercept, factor }),
        &Change::Bandwidth(factor) => {
            Some(Lever::Byte { now: network.eager.ticks_by_byte(), factor: 1.0 / factor })
        }
        Change::Eager(None) => Some(Lever::Eager { now: network.limit }),
        Change::Level(place) => {
            let of = paths.shares(place, exchange)?;
            Some(Lever::Work { place: place.clone(), now: of.most, mean: of.mean_of_all })
        }
        Change::Balance(path) => {
            let place = Place { path: path.clone(), rank: None };
            let of = paths.shares(&place, exchange)?;
            Some(Lever::Work { place, now: of.most, mean: of.mean_of_some })
        }
        Change::Remove(path) => {
            Some(Lever::Operations { path: path.clone(), now: paths.time_of_many(path, exchange)? })
        }
        _ => None,
    })
}
