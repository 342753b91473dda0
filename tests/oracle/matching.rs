//! Matching of messages and of collective operations.
//!
//! The k-th send of a channel pairs with its k-th receive; the k-th operation on a communicator is the same
//! on all members. If something was not recorded and the numbers differ, only the operations before the gap
//! are matched. The same holds if a recorder was switched off and operations after that contradict each
//! other.

use std::collections::BTreeSet;

use replay::Semantics;

use super::operations::{Channel, Collective, Operations};
use super::read::{Group, World};

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

/// The collective operations on communicators of several members: indices of the members' operations, by
/// rank.
pub(crate) fn instances(operations: &Operations, world: &World) -> Vec<Vec<usize>> {
    let mut instances = Vec::new();
    for (communicator, group) in world.communicators.iter().enumerate() {
        let Group::One(members) = group else { continue };
        if members.len() < 2 {
            continue;
        }
        let of_member = |&process: &usize| -> Vec<usize> {
            let is_this = |one: &Collective| one.process == process && one.communicator == communicator;
            (0..operations.collectives.len()).filter(|&at| is_this(&operations.collectives[at])).collect()
        };
        let all: Vec<Vec<usize>> = members.iter().map(of_member).collect();
        let orders = |of: &[usize]| of.iter().map(|&one| operations.collectives[one].end.order).collect();
        let sides: Vec<(Vec<usize>, Option<usize>)> =
            members.iter().zip(&all).map(|(&process, of)| (orders(of), operations.gaps[process])).collect();
        for number in 0..sure(&sides) {
            let instance: Vec<usize> = all.iter().map(|of_member| of_member[number]).collect();
            if agree(operations, &instance) {
                instances.push(instance);
            }
        }
    }
    instances
}

/// The non-blocking collective operations on communicators of several members (rest of MPI 4.2): indices of the members'
/// parts, by rank. The k-th request belongs to the k-th one of the others. Where a request never completes, its
/// communicator is unknown, so that the numbers of all later ones are unsure.
pub(crate) fn nonblocking(operations: &Operations, world: &World) -> Vec<Vec<usize>> {
    let mut instances = Vec::new();
    for (communicator, group) in world.communicators.iter().enumerate() {
        let Group::One(members) = group else { continue };
        if members.len() < 2 {
            continue;
        }
        let order = |at: usize| operations.nonblocking[at].request.order;
        let of_member = |&process: &usize| -> Vec<usize> {
            let is_this = |at: &usize| {
                let one = &operations.nonblocking[*at];
                one.process == process && one.communicator == communicator
            };
            let mut all: Vec<usize> = (0..operations.nonblocking.len()).filter(is_this).collect();
            all.sort_by_key(|&at| order(at));
            all
        };
        let all: Vec<Vec<usize>> = members.iter().map(of_member).collect();
        let unsure = |process: usize| {
            let first = [operations.gaps[process], operations.never_completed[process]];
            first.into_iter().flatten().min()
        };
        let side = |(&process, of): (&usize, &Vec<usize>)| {
            (of.iter().map(|&at| order(at)).collect(), unsure(process))
        };
        let sides: Vec<(Vec<usize>, Option<usize>)> = members.iter().zip(&all).map(side).collect();
        for number in 0..sure(&sides) {
            let instance: Vec<usize> = all.iter().map(|of_member| of_member[number]).collect();
            let what = |&at: &usize| (operations.nonblocking[at].operation, operations.nonblocking[at].root);
            if instance.iter().all(|at| what(at) == what(&instance[0])) {
                instances.push(instance);
            }
        }
    }
    instances
}

/// Whether all members have the same operation with the same root.
fn agree(operations: &Operations, instance: &[usize]) -> bool {
    let what = |&one: &usize| (operations.collectives[one].operation, operations.collectives[one].root);
    instance.iter().all(|one| what(one) == what(&instance[0]))
}
