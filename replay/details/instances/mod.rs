//! Table `instances`: the severest waits of the run, each with both sides.
//!
//! The statistics (`docs/statistics.md`) list the five longest instances of a wait state, of each call path only the
//! longest. The table has these, and of the 64 longest of each wait state the longest, until it is full. Which ones follows
//! from the order of [`Instance`] alone, so candidates can be dropped wherever enough better ones are known.
//!
//! | file | content |
//! |---|---|
//! | `candidates` | the candidates of a worker, found together with the samples |
//! | `select` | the selection at worker 0, which all workers learn |
//! | `table` | the rows |
//! | `threshold` | which instances a worker that judges operations has to describe |

mod candidates;
mod select;
mod table;
mod threshold;

use model::Ticks;
use patterns::matched::Interval;

use crate::ids::EventNumber;
use crate::operations::Place;
use crate::statistics::Instance;
use crate::wire::{Wire, wire};

pub use candidates::SevereWaits;
pub use select::{Selected, SelectedWait};
pub(super) use table::{NO_TICKS, WaitRow, columns, table};
pub use threshold::Threshold;

/// Stands in a column for a number that there is not.
pub const NO_NUMBER: u32 = u32::MAX;

/// Locations of a collective operation that are remembered, half of them the first to enter and half of them the last.
pub const ENTERED: usize = 6;

/// Both sides of a wait. The location and the call path of the cause are those of its [`Instance`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BothSides {
    /// Where it waits; in a collective operation the member that waits longest.
    pub waiting: Place,
    /// The call that it waits in.
    pub call: Interval,
    /// Since when: the begin of a collective operation, else the enter of the call that is charged.
    pub begin: Ticks,
    /// How long it waits.
    pub ticks: Ticks,
    /// The event that waits, in the journal of its location; none if it has no root causes.
    pub waits_at: EventNumber,
    /// The call of the cause.
    pub cause_call: Interval,
    /// When the cause was there: the enter of its call, in a collective operation its begin, of a lock its release.
    pub cause_time: Ticks,
    /// The event that is waited for, in the journal of its location; none as for `waits_at`.
    pub cause_at: EventNumber,
    /// Position of the communicator in the definitions, or [`NO_NUMBER`].
    pub communicator: u32,
    /// The tag of a message, or [`NO_NUMBER`].
    pub tag: u32,
    /// Bytes of a message; of a collective operation those that the waiting member sent and received.
    pub bytes: u64,
    /// Members of a collective operation, threads of a barrier; 0 for messages and locks.
    pub members: u32,
    /// The team of a barrier of threads, as root causes number it, or [`NO_NUMBER`].
    pub team: u32,
    /// Position in [`Metrics::patterns`](crate::metrics::Metrics::patterns) of the pattern that the whole wait is, where the
    /// statistics have it together with others.
    pub pattern: Option<u32>,
    /// Locations of members of a collective operation, or [`NO_NUMBER`]: the last to enter, then the first, both
    /// beginning with the outermost.
    pub entered: [u32; ENTERED],
}

wire!(BothSides {
    waiting,
    call,
    begin,
    ticks,
    [waits_at, cause_at],
    cause_call,
    cause_time,
    [communicator, tag],
    bytes,
    [members, team],
    pattern,
    entered,
});

/// A member of an operation: the time of its enter, and its location.
type Entry = (Ticks, u32);

impl BothSides {
    /// The last and the first of some members to enter, each with the time and its location.
    pub fn entered(members: impl Iterator<Item = Entry>) -> [u32; ENTERED] {
        const HALF: usize = ENTERED / 2;
        let mut entered = [NO_NUMBER; ENTERED];
        let (mut first, mut last): (Vec<Entry>, Vec<Entry>) = Default::default();
        for member in members {
            if last.len() < HALF || member > last[last.len() - 1] {
                last.insert(last.partition_point(|other| *other > member), member);
                last.truncate(HALF);
            }
            if first.len() < HALF || member < first[first.len() - 1] {
                first.insert(first.partition_point(|other| *other < member), member);
                first.truncate(HALF);
            }
        }
        let (of_last, of_first) = entered.split_at_mut(HALF);
        of_last.iter_mut().zip(last).for_each(|(place, (_, location))| *place = location);
        of_first.iter_mut().zip(first).for_each(|(place, (_, location))| *place = location);
        entered
    }
}

/// An instance with both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate<P> {
    /// The instance, as the statistics have it; `path` is that of the member that speaks for all.
    pub instance: Instance<P>,
    /// Both sides.
    pub both: BothSides,
    /// The process that speaks for all.
    pub speaker: u32,
}

impl<P: Copy> Candidate<P> {
    /// Key of the order: that of instances, and of equal ones that of their waits. A message may overtake several others
    /// at once.
    fn key(&self) -> (Instance<P>, impl Ord + use<P>) {
        let BothSides { begin, waits_at, cause_time, cause_at, communicator, tag, bytes, .. } = self.both;
        (self.instance, (begin, waits_at, cause_time, cause_at, communicator, tag, bytes))
    }
}

impl<P> Wire for Candidate<P>
where
    Instance<P>: Wire,
{
    fn put(&self, batch: &mut crate::exchange::Batch) {
        self.instance.put(batch);
        self.both.put(batch);
        self.speaker.put(batch);
    }

    fn get(reader: &mut crate::exchange::batch::BatchReader<'_>) -> Self {
        Candidate { instance: Wire::get(reader), both: Wire::get(reader), speaker: Wire::get(reader) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Both sides of a wait that nothing is known of.
    pub(crate) const NOTHING: BothSides = BothSides {
        waiting: Place { location: 3, path: crate::ids::PathId::NONE },
        call: Interval::new(-4, 9),
        begin: -4,
        ticks: 7,
        waits_at: EventNumber::NONE,
        cause_call: Interval::new(3, 5),
        cause_time: 3,
        cause_at: EventNumber::NONE,
        communicator: NO_NUMBER,
        tag: 8,
        bytes: u64::MAX,
        members: 0,
        team: NO_NUMBER,
        pattern: Some(9),
        entered: [NO_NUMBER, 1, 2, 3, 4, 5],
    };

    #[test]
    fn sides_survive_the_way_to_another_worker() {
        assert_eq!(crate::wire::one::<BothSides>(&crate::wire::batch_of([&NOTHING])), NOTHING);
    }

    #[test]
    fn the_last_and_the_first_to_enter_are_remembered() {
        let members = [(5, 0), (3, 1), (9, 2), (3, 3), (9, 4)];
        assert_eq!(BothSides::entered(members.into_iter()), [4, 2, 0, 1, 3, 0]);
        assert_eq!(
            BothSides::entered([(5, 7)].into_iter()),
            [7, NO_NUMBER, NO_NUMBER, 7, NO_NUMBER, NO_NUMBER]
        );
    }
}
