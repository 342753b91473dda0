//! Instances of wait states in collective operations: total waiting, the longest wait, and its cause
//! (specification 13.2).
//!
//! One member represents all: rank 0 of the communicator; in N-to-1 operations the only one that can wait.

use std::cmp::Reverse;

use model::Ticks;
use patterns::matched::{CollectiveClass, Interval};

use super::awaited::Awaited;
use super::participation::Participation;
use crate::details::instances::{BothSides, NO_NUMBER, Threshold};
use crate::ids::{EventNumber, PathId};
use crate::int::to_u32;
use crate::operations::Place;
use crate::statistics::{Instance, SUBJECTS, SubjectId};
use crate::tools::Tools;

/// An instance of a pattern in a collective operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CollectiveWait {
    /// Position of the member that represents all.
    pub(super) speaker: usize,
    pub(super) subject: SubjectId,
    /// The instance; the representative has to add its call path.
    pub(super) instance: Instance,
    /// Both sides; `None` without details, and of instances that are not among the severest, so of nearly all.
    pub(super) both: Option<Box<BothSides>>,
}

/// The instances in an operation with these members, sorted by process; `threshold` has those of operations before.
pub(super) fn waits(
    tools: &Tools<'_>,
    awaited: &mut Awaited<'_>,
    threshold: &mut Threshold,
    waits: &mut Vec<CollectiveWait>,
) {
    let Tools { metrics, .. } = *tools;
    let Awaited { members, memberships, ranks, .. } = *awaited;
    waits.clear();
    let (Some(class), Some(ranks)) = (members[0].kind.class, ranks) else { return };
    for (pattern, rule) in metrics.at_collective(class) {
        let Some(subject) = pattern.subject else { continue };
        let (mut all, mut longest, mut who) = (0, 0, 0);
        for (at, (part, membership)) in members.iter().zip(memberships).enumerate() {
            let ticks = membership.member(class, part.begin, part.end).map_or(0, |member| rule(&member));
            if ticks > 0 {
                all = ticks.saturating_add(all);
                if ticks > longest {
                    (longest, who) = (ticks, at);
                }
            }
        }
        if all <= 0 {
            continue;
        }
        let Some(cause) = awaited.of(who) else { continue };
        let find = |process: u32| members.binary_search_by_key(&process, |part| part.process).ok();
        let (speaker, interval) = match class {
            CollectiveClass::AllToOne => (Some(who), &members[who..=who]),
            _ => (find(ranks[0]), members),
        };
        let Some(speaker) = speaker else { continue };
        let Participation { process, place: Place { path, .. }, .. } = members[speaker];
        let is_severe = tools.has_details && threshold.passes(subject, process, path, all);
        let both = is_severe.then(|| {
            let both = both_sides(members, who, cause, longest);
            // Others may have completed it long after all were there: nothing has caused that.
            let of_completion = BothSides {
                begin: members[who].end - longest,
                waits_at: EventNumber::NONE,
                cause_at: EventNumber::NONE,
                ..both
            };
            Box::new(if pattern.pattern.is_waiting { both } else { of_completion })
        });
        let begin =
            |part: &Participation| if SUBJECTS[subject].is_from_enter { part.enter } else { part.begin };
        let instance = Instance {
            duration: Reverse(all),
            process: members[who].process,
            enter: interval.iter().map(begin).min().unwrap_or(0),
            exit: interval.iter().map(|part| part.end).max().unwrap_or(0),
            path: PathId::default(),
            cause: members[cause].place,
        };
        waits.push(CollectiveWait { speaker, subject, instance, both });
    }
}

/// Both sides of the wait of a member, in ticks.
fn both_sides(members: &[Participation], who: usize, cause: usize, ticks: Ticks) -> BothSides {
    let (waiting, causing) = (&members[who], &members[cause]);
    BothSides {
        waiting: waiting.place,
        call: Interval::new(waiting.enter, waiting.leave),
        begin: waiting.begin,
        ticks,
        waits_at: waiting.ended,
        cause_call: Interval::new(causing.enter, causing.leave),
        cause_time: causing.begin,
        cause_at: causing.ended,
        communicator: waiting.communicator,
        tag: NO_NUMBER,
        bytes: waiting.sent.saturating_add(waiting.received),
        members: to_u32(members.len()),
        team: NO_NUMBER,
        pattern: None,
        entered: BothSides::entered(members.iter().map(|part| (part.enter, part.place.location))),
    }
}
