//! Which calls of MPI complete something, from the operations that the walk has found (what-if 2.1).

use patterns::matched::CollectiveClass;

use super::near::partition_point_near;
use crate::ids::{EventNumber, JournalPosition};
use crate::walk::{Note, Noted, Walked};

/// Of the leave of a call of MPI: what the call has completed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Completes {
    /// Nothing; also of other events.
    Nothing,
    /// Receives, and what else there may be.
    Receives,
    /// Something, but no receives.
    Others,
}

/// The positions in the journal of events of a thread that complete something.
#[derive(Clone, Default)]
pub(super) struct Completing {
    receives: Vec<JournalPosition>,
    others: Vec<JournalPosition>,
}

/// By thread: where something is completed.
pub(super) fn completing(walked: &Walked) -> Vec<Completing> {
    let operations = &walked.operations;
    let first = walked.process.range().start;
    let mut found = vec![Completing::default(); walked.process.locations.len()];
    for receive in operations.receives.iter().filter(|receive| { receive.position } != EventNumber::NONE) {
        let of = &mut found[operations.site(receive.call).location as usize - first];
        of.receives.push({ receive.position }.in_journal());
    }
    let mut add = |location: u32, position: EventNumber| {
        if position != EventNumber::NONE {
            found[location as usize - first].others.push(position.in_journal());
        }
    };
    let is_modelled = |class: Option<CollectiveClass>| {
        !matches!(
            class,
            Some(CollectiveClass::Init | CollectiveClass::FileHandling | CollectiveClass::FileTransfer)
        )
    };
    for send in &operations.sends {
        if let Some(call) = operations.calls.find(send.completion) {
            add(call.site.location, send.completed);
        }
    }
    for collective in operations.collectives.iter().filter(|it| is_modelled(it.class)) {
        add(operations.site(collective.call).location, collective.position);
    }
    for done in operations.nonblocking.iter().filter_map(|it| it.done).filter(|it| is_modelled(it.class)) {
        add(operations.site(done.call).location, done.position);
    }
    for probe in &operations.probes {
        add(operations.site(probe.call).location, probe.position);
    }
    found
}

/// For each note: if it is the leave of a call, what that has completed.
pub(super) fn leaves(notes: &[Note], completing: &mut Completing) -> Vec<Completes> {
    let Completing { receives, others } = completing;
    receives.sort_unstable();
    others.sort_unstable();
    let mut next = [0; 2];
    let mut entered = JournalPosition::default();
    let of = |note: &Note| match note.what {
        Noted::Enter(_) => {
            entered = note.position;
            Completes::Nothing
        }
        Noted::Leave => {
            let mut has = |kind: usize, positions: &[JournalPosition]| {
                let first = partition_point_near(positions, next[kind], |&position| position < entered);
                next[kind] = first;
                positions.get(first).is_some_and(|&position| position < note.position)
            };
            match (has(0, receives), has(1, others)) {
                (true, _) => Completes::Receives,
                (false, true) => Completes::Others,
                (false, false) => Completes::Nothing,
            }
        }
        _ => Completes::Nothing,
    };
    notes.iter().map(of).collect()
}
