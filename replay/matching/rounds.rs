//! Rounds in which workers judge collective operations: the parts and answers of one round take the memory of those of the round
//! before. Memory that is touched for the first time takes longer than the judgement.

use super::collectives::{self, Numbers, operation_of};
use super::pairwise;
use super::participation::Participation;
use super::told::{Parts, Telling};
use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::groups::Groups;
use crate::int::{low, to_u64};
use crate::trace::Trace;
use crate::walk::Walked;

/// Parts that a worker judges in a round, about: one or two megabytes, so that the processor has them in its cache.
const PARTS: u64 = 1 << 13;

/// Rounds at most, about, as each takes two exchanges between all workers.
const MOST_ROUNDS: u32 = 256;

/// The blocking operations of this worker's processes, by the round in which they are judged: so many numbers k of each
/// communicator in each round.
#[derive(Debug)]
pub(crate) struct Rounds {
    count: usize,
    /// By process: the numbers of its operations, and their positions by round.
    of_processes: Vec<(Vec<Numbers>, Groups)>,
}

impl Rounds {
    /// Agrees with the other workers on rounds.
    ///
    /// # Errors
    /// If a worker failed.
    pub(crate) fn agree(
        trace: &Trace,
        processes: &[Walked],
        exchange: &mut dyn Exchange,
    ) -> Result<Rounds, Error> {
        let numbers: Vec<_> = processes.iter().map(|walked| collectives::numbers(trace, walked)).collect();
        let last = numbers.iter().flatten().map(|numbers| numbers.instance).max().unwrap_or(0);
        let told = share(exchange, vec![last.into()])?;
        let last = told.iter().map(|batch| low(batch[0])).max().unwrap_or(0);
        let of_worker = PARTS * to_u64(exchange.workers()) / to_u64(trace.world_size().max(1));
        let length = u32::try_from(of_worker).unwrap_or(u32::MAX).max(last / MOST_ROUNDS + 1);
        Ok(Rounds::of_length(trace, processes, numbers, length, last))
    }

    /// Rounds of so many numbers k, up to the one with the last number.
    fn of_length(
        trace: &Trace,
        processes: &[Walked],
        numbers: Vec<Vec<Numbers>>,
        length: u32,
        last: u32,
    ) -> Rounds {
        let count = last as usize / length as usize + 1;
        let of_process = |(walked, numbers): (&Walked, Vec<Numbers>)| {
            let operations = walked.operations.collectives.iter().zip(&numbers);
            let round = |(collective, numbers): (_, &Numbers)| {
                let round = (numbers.instance / length) as usize;
                (!pairwise::is_pairwise(trace, collective)).then_some(round.min(count - 1))
            };
            let positions = Groups::new(count, operations.map(round));
            (numbers, positions)
        };
        Rounds { count, of_processes: processes.iter().zip(numbers).map(of_process).collect() }
    }

    /// The number of rounds, the same for all workers.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Collects the parts of all members of the operations that this worker judges in a round.
    ///
    /// # Errors
    /// If a worker failed.
    pub(crate) fn collect(
        &self,
        round: usize,
        trace: &Trace,
        processes: &[Walked],
        exchange: &mut dyn Exchange,
    ) -> Result<Parts<Participation>, Error> {
        let mut telling = Telling::new(exchange);
        for (walked, (numbers, positions)) in processes.iter().zip(&self.of_processes) {
            collectives::tell(walked, numbers, positions.of(round), &mut telling);
        }
        telling.exchange(exchange, |part| (operation_of(trace, part, 0), part.process))
    }
}
