//! A run replayed under other conditions with the times of all marks (what-if 3.3).

use model::Ticks;

use super::changes::Paths;
use super::forward::{Forward, Lanes, Times};
use super::lanes::{Lane, RowChanges};
use super::predict::TimedGraph;
use super::record_times::RecordTimes;
use super::scenario::Scenario;
use crate::causes::ComparedWork;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::findings::Findings;
use crate::int::to_u32;
use crate::relay;
use crate::tools::Tools;
use crate::walk::{Note, Pieces, WalkedProcess};

/// The times of all marks of a worker's locations in a scenario.
#[derive(Debug)]
pub struct Replayed<'g> {
    timed: &'g TimedGraph,
    lane: Lane,
    /// By location.
    changes: Vec<RowChanges>,
    /// By location and mark.
    times: Vec<Vec<Ticks>>,
    /// By location and mark: the latest start that it has waited for; [`Ticks::MIN`] for none.
    starts: Vec<Vec<Ticks>>,
}

impl TimedGraph {
    /// Bytes that the times of all marks take.
    pub fn bytes_of_times(&self) -> u64 {
        let marks = self.graph.locations.iter().map(|of| of.marks.list.len() as u64).sum::<u64>();
        // They are kept in lanes, and then without; and all marks are asked for.
        marks * (4 * size_of::<Ticks>() + size_of::<u32>()) as u64
    }

    /// Replays one scenario, with the times of all marks.
    ///
    /// # Errors
    /// If a worker failed, or the scenario names what is nowhere.
    pub fn replayed(
        &self,
        tools: &Tools<'_>,
        processes: &[WalkedProcess],
        (scenario, stretches): (&Scenario, &[ComparedWork]),
        exchange: &mut dyn Exchange,
    ) -> Result<Replayed<'_>, Error> {
        let paths = Paths::new(tools, processes, self, stretches);
        let (lane, changes) = paths.prepare(scenario, exchange)?;
        let lanes =
            Lanes::<1> { lanes: [lane], changes: changes.iter().map(|changes| [changes.clone()]).collect() };
        // What it finds was found when the run time was.
        let mut findings = Findings::default();
        let all = self.graph.locations.iter().map(|of| (0..to_u32(of.marks.list.len())).collect());
        let all: Vec<Vec<u32>> = all.collect();
        let mut forward = Forward::new(tools, self, &lanes, exchange.worker(), &mut findings);
        forward.watch(&all);
        relay::run(&mut forward, exchange);
        let plain = |of: Vec<Vec<Times<1>>>| {
            of.into_iter().map(|of| of.into_iter().map(|[time]| time).collect()).collect::<Vec<Vec<Ticks>>>()
        };
        let [times, starts] = forward.seen().map(plain);
        Ok(Replayed { timed: self, lane, changes, times, starts })
    }
}

impl Replayed<'_> {
    /// The times of the records of a location, by its position among those of the worker. Its process was walked with
    /// [pieces](crate::walk::Positions::Pieces).
    pub fn times<'r>(&'r self, at: usize, notes: &'r [Note], pieces: &'r Pieces) -> RecordTimes<'r> {
        let of = &self.timed.graph.locations[at];
        let scale = (self.lane, &self.changes[at], &self.timed.classes[at][..]);
        RecordTimes::new((of, &self.times[at], &self.starts[at]), scale, notes, pieces)
    }
}
