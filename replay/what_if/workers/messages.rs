//! The messages of a process in the order of its time, and the stretches between operations of all (what-if 6.1).

use model::Ticks;

use crate::communicators::Participants;
use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::ids::{EventNumber, PathId};
use crate::int::to_u32;
use crate::journal::{JournalSpot, Spot};
use crate::matching::{Matches, instances};
use crate::tools::Tools;
use crate::walk::Walked;

/// A message as one of its sides has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Message {
    /// The stretch between operations of all in which it was sent or received.
    pub stretch: u32,
    /// The process at the other side.
    pub peer: u32,
    /// Whether it was sent here.
    pub is_send: bool,
    /// Its length.
    pub bytes: u64,
    /// The begin and the end of the call that sends, or of the one that completes the receive.
    pub begin: Ticks,
    pub end: Ticks,
    /// The event of its send.
    pub sent: JournalSpot,
    /// The event of this side, if it is in the journal.
    pub here: Option<JournalSpot>,
    /// The call path of the call, in the tree of this process.
    pub path: PathId,
}

impl Message {
    /// When this side is over, or begins.
    fn time(&self) -> Ticks {
        if self.is_send { self.begin } else { self.end }
    }
}

/// The matched messages of a process with others, in the order of time; all are in stretch 0 without borders.
pub(super) fn of_process(walked: &Walked, matches: &Matches, borders: &[Ticks]) -> Vec<Message> {
    let operations = &walked.operations;
    let number = to_u32(walked.process.number);
    let mut messages = Vec::with_capacity(operations.sends.len() + operations.receives.len());
    for (at, send) in operations.sends.iter().enumerate() {
        let peer = operations.destinations.list()[send.envelope()].peer;
        if { send.position } == EventNumber::NONE || peer == number || matches.postings.is_alone(at) {
            continue;
        }
        let call = operations.call(send.call);
        let sent = Spot { location: call.site.location, position: { send.position }.in_journal() };
        messages.push(Message {
            stretch: 0,
            peer,
            is_send: true,
            bytes: send.bytes,
            begin: call.interval.enter,
            end: call.interval.leave,
            sent,
            here: Some(sent),
            path: call.site.path,
        });
    }
    for (receive, facts) in operations.receives.iter().zip(matches.sends.iter()) {
        let peer = operations.sources.list()[receive.envelope()].peer;
        let Some(facts) = facts.filter(|facts| facts.position != EventNumber::NONE && peer != number) else {
            continue;
        };
        let call = operations.call(receive.call);
        let position = { receive.position };
        let location = call.site.location;
        messages.push(Message {
            stretch: 0,
            peer,
            is_send: false,
            bytes: facts.bytes,
            begin: call.interval.enter,
            end: call.interval.leave,
            sent: Spot { location: facts.place.location, position: facts.position.in_journal() },
            here: (position != EventNumber::NONE).then(|| Spot { location, position: position.in_journal() }),
            path: call.site.path,
        });
    }
    messages.sort_by_key(Message::time);
    for message in &mut messages {
        message.stretch = to_u32(borders.partition_point(|&border| border <= message.time()));
    }
    messages
}

/// Where blocking operations of all processes end, for each process of this worker; none if these have not taken part in equally
/// many.
///
/// # Errors
/// If a worker failed.
pub(super) fn borders(
    tools: &Tools<'_>,
    processes: &[Walked],
    exchange: &mut dyn Exchange,
) -> Result<Vec<Vec<Ticks>>, Error> {
    let is_of_all = |communicator: u32| {
        let participants = tools.trace.communicators.get(communicator as usize);
        matches!(participants, Some(Participants::Ranks(ranks)) if ranks.len() == tools.trace.processes.len())
    };
    let of = |walked: &Walked| {
        let instances = instances(tools.trace, walked);
        let ends = walked.operations.collectives.iter().zip(instances);
        let mut ends: Vec<Ticks> = ends
            .filter(|(_, instance)| instance.is_some_and(|(communicator, _)| is_of_all(communicator)))
            .map(|(collective, _)| collective.end)
            .collect();
        ends.sort_unstable();
        ends
    };
    let mut all: Vec<Vec<Ticks>> = processes.iter().map(of).collect();
    let counts = || all.iter().map(|ends| ends.len() as u64);
    let told = share(exchange, vec![counts().min().unwrap_or(u64::MAX), counts().max().unwrap_or(0)])?;
    let least = told.iter().map(|words| words[0]).min();
    let most = told.iter().map(|words| words[1]).max();
    if least != most {
        all.iter_mut().for_each(Vec::clear);
    }
    Ok(all)
}
