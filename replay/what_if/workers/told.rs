//! What a worker of the analysis tells the others of the masters that it has found.

use super::formula::Formula;
use super::master::{Master, Policy, PolicyKind, Unknown};
use crate::exchange::Batch;
use crate::exchange::batch::BatchReader;
use crate::wire::{Half, Halves, Wire, wire};

wire!(Formula { constant, shared, work });

wire!(Policy { kind, first, chunks, now, best });

wire!(Master {
    rank,
    workers,
    sends_in,
    receives_in,
    tasks,
    iterations,
    service,
    latency,
    by_byte,
    work,
    bytes_there,
    bytes_back,
    units,
    unit_mean,
    unit_deviation,
    measured,
    idle,
    last,
    times,
    best,
    unknown,
    formula,
    policies,
});

impl Wire for PolicyKind {
    fn put(&self, batch: &mut Batch) {
        // A number of batches is 1 at least.
        let code: u64 = match *self {
            PolicyKind::Predictive => 0,
            PolicyKind::Adjusting => u64::MAX,
            PolicyKind::Fixed { batches } => batches,
        };
        code.put(batch);
    }

    fn get(reader: &mut BatchReader<'_>) -> PolicyKind {
        match u64::get(reader) {
            0 => PolicyKind::Predictive,
            u64::MAX => PolicyKind::Adjusting,
            batches => PolicyKind::Fixed { batches },
        }
    }
}

/// All reasons, in the order of their numbers.
const REASONS: [Unknown; 5] =
    [Unknown::Service, Unknown::Noise, Unknown::Tasks, Unknown::Iterations, Unknown::Replay];

impl Half for Unknown {
    fn to_half(self) -> u32 {
        self as u32
    }

    fn of_half(half: u32) -> Unknown {
        REASONS[half as usize]
    }
}

impl Wire for Unknown {
    fn put(&self, batch: &mut Batch) {
        Halves(*self, 0_u32).put(batch);
    }

    fn get(reader: &mut BatchReader<'_>) -> Unknown {
        let Halves(unknown, 0_u32 | 1..) = Wire::get(reader);
        unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire;

    #[test]
    fn masters_come_back_as_they_were() {
        let policy = |kind| Policy { kind, first: 3, chunks: 9, now: 70, best: 60 };
        let kinds = [PolicyKind::Fixed { batches: 4 }, PolicyKind::Predictive, PolicyKind::Adjusting];
        let master = Master {
            rank: 2,
            workers: vec![0, 1, 3],
            sends_in: "main/MPI_Send".into(),
            receives_in: "main/MPI_Recv".into(),
            tasks: 12,
            iterations: 2,
            service: Some(5),
            latency: 1,
            by_byte: 0.5,
            work: 100,
            bytes_there: 8,
            bytes_back: 4,
            units: 12,
            unit_mean: 8.3,
            unit_deviation: 0.1,
            measured: 90,
            idle: 7,
            last: 8,
            times: vec![(1, 100), (2, 50)],
            best: (2, 50),
            unknown: None,
            formula: Some(Formula { constant: 1.0, shared: 2.0, work: 3.0 }),
            policies: kinds.map(policy).to_vec(),
        };
        for unknown in REASONS.into_iter().map(Some).chain([None]) {
            let master = Master { unknown, ..master.clone() };
            assert_eq!(wire::all::<Master>(&wire::batch_of([&master])).collect::<Vec<_>>(), [master]);
        }
    }
}
