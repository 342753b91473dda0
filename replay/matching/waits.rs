//! What a collective operation costs all its members together, who waits longest, and for whom (specification 13.2).
//!
//! One member speaks for all: rank 0 of the communicator; where only one can wait (N to 1), that one.

use std::cmp::Reverse;

use patterns::matched::CollectiveClass;

use super::Membership;
use super::collectives::Part;
use crate::communicators::Participants;
use crate::metrics::Metrics;
use crate::statistics::{Instance, SUBJECTS, SubjectId, Within};
use crate::trace::Trace;

/// An instance of a pattern in a collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wait {
    /// The member that speaks for all: its position among the members.
    pub(super) speaker: usize,
    pub(super) subject: SubjectId,
    /// The speaker has to fill in its call path.
    pub(super) instance: Instance,
}

/// The instances in an operation with these members, sorted by process.
pub(super) fn waits(
    trace: &Trace,
    metrics: &Metrics,
    members: &[Part],
    memberships: &[Membership],
) -> Vec<Wait> {
    let mut waits = Vec::new();
    let Some(class) = members[0].class else { return waits };
    let Some(Participants::Ranks(ranks)) = trace.communicators.get(members[0].communicator as usize) else {
        return waits;
    };
    for (pattern, rule) in &metrics.at_collective {
        let Some(subject) = pattern.subject.filter(|&at| SUBJECTS[at].within == Within::Collective(class))
        else {
            continue;
        };
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
        let Some(cause) = cause(class, ranks, members, memberships, who).filter(|_| all > 0) else {
            continue;
        };
        let cause = members[cause].place;
        let find = |process: u32| members.binary_search_by_key(&process, |part| part.process).ok();
        let (speaker, interval) = match class {
            CollectiveClass::AllToOne => (Some(who), &members[who..=who]),
            _ => (find(ranks[0]), members),
        };
        let Some(speaker) = speaker else { continue };
        let begin = |part: &Part| if SUBJECTS[subject].is_from_enter { part.enter } else { part.begin };
        let instance = Instance {
            duration: Reverse(all),
            process: members[who].process,
            enter: interval.iter().map(begin).min().unwrap_or(0),
            exit: interval.iter().map(|part| part.end).max().unwrap_or(0),
            path: 0,
            cause,
        };
        waits.push(Wait { speaker, subject, instance });
    }
    waits
}

/// The position of the member that this one waits for: the root, or the last that the class of the operation has to wait for; of equals
/// the lowest rank.
pub(super) fn cause(
    class: CollectiveClass,
    ranks: &[u32],
    members: &[Part],
    memberships: &[Membership],
    who: usize,
) -> Option<usize> {
    let Membership::Synchronising { last_begin, .. } = memberships[who] else { return None };
    let find = |process: &u32| members.binary_search_by_key(process, |part| part.process).ok();
    let is_cause = |&at: &usize| match class {
        CollectiveClass::OneToAll => ranks.get(members[at].root as usize) == Some(&members[at].process),
        CollectiveClass::AllToOne | CollectiveClass::Scan => {
            members[at].sent > 0 && members[at].begin == last_begin
        }
        _ => memberships[at] != Membership::Independent && members[at].begin == last_begin,
    };
    let mut candidates = (0..members.len()).filter(is_cause);
    let (first, others) = (candidates.next(), candidates.next());
    if others.is_none() { first } else { ranks.iter().filter_map(find).find(is_cause) }
}
