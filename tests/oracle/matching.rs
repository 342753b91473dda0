//! Matching of messages and of collective operations.
//!
//! The k-th send of a channel pairs with its k-th receive; the k-th operation on a communicator is the same
//! on all members. If something was not recorded and the numbers differ, only the operations before the gap
//! are matched. The same holds if a recorder was switched off and operations after that contradict each
//! other.

use std::collections::BTreeSet;

use otf2::{ROOT_SELF, ROOT_THIS_GROUP};
use replay::Semantics;

use super::needs::Class;
use super::operations::{Channel, Operations, Part, Series};
use super::world::{Group, World};

/// Number of the operations of each side that certainly match: `sides` has the positions of each side's
/// operations and its gap.
fn sure(sides: &[(Vec<usize>, Option<usize>)]) -> usize {
    let recorded = |side: &(Vec<usize>, Option<usize>)| side.0.len();
    if sides.iter().all(|side| recorded(side) == recorded(&sides[0])) {
        return recorded(&sides[0]);
    }
    before_gaps(sides)
}

/// Number of the operations of each side before all gaps.
fn before_gaps(sides: &[(Vec<usize>, Option<usize>)]) -> usize {
    let before_gap = |(orders, gap): &(Vec<usize>, Option<usize>)| match gap {
        Some(gap) => orders.iter().filter(|&order| order < gap).count(),
        None => orders.len(),
    };
    sides.iter().map(before_gap).min().unwrap_or(0)
}

/// The messages, as indices of send and receive.
pub(crate) fn messages(operations: &Operations, semantics: Semantics) -> Vec<(usize, usize)> {
    let channels: BTreeSet<Channel> = operations.receives.iter().map(|receive| receive.channel).collect();
    channels.into_iter().flat_map(|channel| of_channel(operations, semantics, channel).0).collect()
}

/// Number of messages behind a gap of a process whose recorder was switched off.
pub(crate) fn unverified(operations: &Operations) -> usize {
    let channels: BTreeSet<Channel> = operations.receives.iter().map(|receive| receive.channel).collect();
    let of_channel = |channel: Channel| {
        let (pairs, before) = of_channel(operations, Semantics::Corrected, channel);
        let was_off = operations.were_off[channel.source] || operations.were_off[channel.destination];
        if was_off { pairs.len() - before } else { 0 }
    };
    channels.into_iter().map(of_channel).sum()
}

/// The messages of a channel, and the number of them before all gaps.
fn of_channel(
    operations: &Operations,
    semantics: Semantics,
    channel: Channel,
) -> (Vec<(usize, usize)>, usize) {
    // Specification 2.4: a cancelled send is not matched.
    let sends: Vec<usize> = (0..operations.sends.len())
        .filter(|&at| operations.sends[at].channel == channel && !operations.sends[at].is_cancelled)
        .collect();
    let mut receives: Vec<usize> =
        (0..operations.receives.len()).filter(|&at| operations.receives[at].channel == channel).collect();
    // Specification 5: the reference matches receives in order of completion. MPI says: in order of posting.
    let order = |receive: usize| match semantics {
        Semantics::Reference => operations.receives[receive].done.order,
        Semantics::Corrected => operations.receives[receive].claimed.order,
    };
    receives.sort_by_key(|&receive| order(receive));
    let is_early = |&(send, receive): &(&usize, &usize)| {
        operations.receives[*receive].done.time < operations.sends[*send].at.time
    };
    let sent = sends.iter().map(|&send| operations.sends[send].at.order).collect();
    // A receive is before a gap if it was complete by then, whenever it was posted.
    let received = receives.iter().map(|&receive| operations.receives[receive].done.order).collect();
    let sides = [(sent, operations.gaps[channel.source]), (received, operations.gaps[channel.destination])];
    let were_off = [channel.source, channel.destination].map(|process| operations.were_off[process]);
    let (mut count, before) = (sure(&sides), before_gaps(&sides));
    if semantics == Semantics::Corrected
        && were_off.contains(&true)
        && sends.iter().zip(&receives).take(count).skip(before).any(|pair| is_early(&pair))
    {
        count = before;
    }
    (sends.into_iter().zip(receives).take(count).collect(), before)
}

/// An operation of all members of a communicator.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    /// The members' parts by rank. Of an operation among neighbours some may be missing.
    pub(crate) parts: Vec<Option<Part>>,
    /// Number of members in the first group of an inter-communicator.
    pub(crate) side: Option<usize>,
}

impl Instance {
    /// The part of some member.
    pub(crate) fn any(&self) -> &Part {
        self.parts.iter().flatten().next().expect("an operation that some member has recorded")
    }

    pub(crate) fn is_among_neighbors(&self) -> bool {
        self.any().is_among_neighbors
    }
}

/// The operations that match, and what does not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matched {
    pub(crate) instances: Vec<Instance>,
    /// Numbers of operations that not all members have recorded, whose members disagree, and whose numbers are unsure.
    pub(crate) incomplete: usize,
    /// The same of operations on files.
    pub(crate) incomplete_files: usize,
    pub(crate) contradicting: usize,
    pub(crate) after_gap: usize,
    /// Number of operations that a process has recorded that is no member.
    pub(crate) outside: usize,
}

/// The collective operations on communicators of several members: the k-th one of a series belongs to the k-th ones of the
/// others (rest of MPI 4.2). Non-blocking ones count by their requests. Where a request never completes, its communicator is
/// unknown, so that the numbers of all later ones are unsure.
pub(crate) fn instances(operations: &Operations, world: &World, semantics: Semantics) -> Matched {
    let mut matched = Matched::default();
    let all: BTreeSet<(usize, Series)> =
        operations.parts.iter().map(|part| (part.told.communicator, part.series)).collect();
    for (communicator, series) in all {
        let Some(members) = world.members(communicator).filter(|members| members.len() > 1) else { continue };
        let side = match &world.communicators[communicator] {
            Group::Two(a, _) => Some(a.len()),
            _ => None,
        };
        // The reference does not match them.
        if side.is_some() && semantics == Semantics::Reference {
            continue;
        }
        let of_member = |&process: &usize| -> Vec<Part> {
            let is_this = |part: &&Part| {
                (part.process, part.told.communicator, part.series) == (process, communicator, series)
            };
            let mut parts: Vec<Part> = operations.parts.iter().filter(is_this).copied().collect();
            parts.sort_by_key(Part::order);
            // Rest of MPI 10: of threads that are in operations at once the first one to begin.
            if semantics == Semantics::Corrected && series.is_blocking() {
                parts.sort_by_key(|part| part.begun.time);
            }
            parts
        };
        let of_members: Vec<Vec<Part>> = members.iter().map(of_member).collect();
        let side_of = |(&process, parts): (&usize, &Vec<Part>)| {
            let open = operations.never_completed[process].filter(|_| !series.is_blocking());
            let unsure = [operations.gaps[process], open].into_iter().flatten().min();
            (parts.iter().map(Part::order).collect(), unsure)
        };
        let sides: Vec<(Vec<usize>, Option<usize>)> = members.iter().zip(&of_members).map(side_of).collect();
        let longest = of_members.iter().map(Vec::len).max().unwrap_or(0);
        let is_equal = of_members.iter().all(|parts| parts.len() == longest);
        let before_gap = |(orders, gap): &(Vec<usize>, Option<usize>)| {
            gap.map(|gap| orders.iter().filter(|&&order| order < gap).count())
        };
        let sure = sides.iter().filter_map(before_gap).min().filter(|_| !is_equal).unwrap_or(longest);
        let outsiders = (0..world.processes).filter(|process| !members.contains(process));
        let of_outsiders = outsiders.map(|process| of_member(&process).len()).max().unwrap_or(0);
        matched.outside += of_outsiders;
        for number in of_outsiders..longest {
            let parts: Vec<Option<Part>> =
                of_members.iter().map(|parts| parts.get(number).copied()).collect();
            let instance = Instance { parts, side };
            let is_complete = instance.parts.iter().all(Option::is_some);
            // Among neighbours the others are not affected by who lacks it (rest of MPI 5.2).
            let is_partial = !is_complete && instance.is_among_neighbors();
            let is_unsure = match is_partial {
                true => {
                    let present = sides.iter().zip(&instance.parts).filter(|(_, part)| part.is_some());
                    present.filter_map(|(side, _)| before_gap(side)).any(|sure| number >= sure)
                }
                false => number >= sure,
            };
            let missing =
                if is_partial { instance.missing_neighbors(world) } else { usize::from(!is_complete) };
            match instance.any().class {
                Some(Class::FileHandling | Class::FileTransfer) => matched.incomplete_files += missing,
                _ => matched.incomplete += missing,
            }
            if !is_complete && !is_partial {
                continue;
            }
            if is_unsure {
                matched.after_gap += usize::from(missing == 0);
            } else if !agree(&instance) {
                matched.contradicting += 1;
            } else {
                matched.instances.push(instance);
            }
        }
    }
    matched
}

/// Rest of MPI 10: number of operations that a thread begins while another thread is in one of the same set of processes.
pub(crate) fn at_once(operations: &Operations) -> usize {
    let mut parts: Vec<&Part> = operations.parts.iter().filter(|part| part.series.is_blocking()).collect();
    parts.sort_by_key(|part| part.begun.time);
    let key = |part: &Part| (part.process, part.told.communicator);
    let is_in_another = |(at, this): (usize, &&Part)| {
        let before = parts[..at].iter().filter(|before| key(before) == key(this));
        // Of equals the last one.
        let last = before.max_by_key(|before| before.ended.time);
        last.is_some_and(|last| {
            this.begun.time < last.ended.time && this.ended.location != last.ended.location
        })
    };
    parts.iter().enumerate().filter(|it| is_in_another(*it)).count()
}

/// Whether all members have the same operation with the same root.
fn agree(instance: &Instance) -> bool {
    let parts: Vec<Part> = instance.parts.iter().flatten().copied().collect();
    let what = |part: &Part| (part.told.operation, part.is_among_neighbors);
    if parts.iter().any(|part| what(part) != what(&parts[0])) {
        return false;
    }
    let Some(side) = instance.side else {
        return parts.iter().all(|part| part.told.root == parts[0].told.root);
    };
    // Rest of MPI 7.2: one is the root, the others of its group say that it is in their group, those of the other group say
    // who it is.
    if parts.iter().all(|part| part.told.root.is_none()) {
        return true;
    }
    let mut roots = (0..parts.len()).filter(|&rank| parts[rank].told.root == Some(ROOT_SELF));
    let (Some(root), None) = (roots.next(), roots.next()) else { return false };
    let in_group = if root < side { root } else { root - side };
    parts.iter().enumerate().all(|(rank, part)| {
        let expected = match ((rank < side) == (root < side), rank == root) {
            (_, true) => ROOT_SELF,
            (true, false) => ROOT_THIS_GROUP,
            (false, false) => in_group as u32,
        };
        part.told.root == Some(expected)
    })
}
