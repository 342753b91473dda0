//! Links: events that cannot have happened before others (specification 15.2, the table of logical sends and
//! receives).
//!
//! A message links its send with its receive. An operation of many members, such as a barrier, links each of
//! them with a [meeting](super::meetings): as many links as members, instead of one for each pair.

use model::Ticks;
use otf2::ROOT_SELF;
use patterns::matched::CollectiveClass;

use super::meetings::{Meetings, Member};
use crate::communicators::{GroupSides, Participants};
use crate::error::Error;
use crate::exchange::batch::{BatchReader, halves, pair};
use crate::exchange::{Batch, Exchange};
use crate::findings::Findings;
use crate::ids::{EventNumber, RecordNumber};
use crate::int::high;
use crate::journal::{RecordSpot, Spot};
use crate::matching::{
    Matches, OneSidedMatches, Operation, Participation, Rounds, SendFacts, Verdict, match_epochs,
    match_messages, pairwise,
};
use crate::operations::{Barrier, Operations, Receive, TeamEvent, TeamEventKind};
use crate::tools::Tools;
use crate::walk::Walked;
use crate::wire::{self, Half, Wire, wire};

/// Time that is not known yet: before all times.
pub(super) const NOT_YET: Ticks = Ticks::MIN;

/// The other side of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Side {
    /// An event; its position is the number of its record.
    Event(RecordSpot),
    /// A seat in a meeting.
    Seat { worker: u32, number: u32 },
}

/// Mark of seats in batches: no trace has so many locations.
const SEAT: u64 = 1 << 63;

impl Side {
    /// The worker that owns it.
    pub(super) fn worker(self, tools: &Tools<'_>) -> usize {
        match self {
            Side::Event(spot) => tools.owner_of(spot.location),
            Side::Seat { worker, .. } => worker as usize,
        }
    }

    fn location(self) -> Option<u32> {
        match self {
            Side::Event(spot) => Some(spot.location),
            Side::Seat { .. } => None,
        }
    }
}

impl Wire for Side {
    fn put(&self, batch: &mut Batch) {
        match *self {
            Side::Event(spot) => spot.put(batch),
            Side::Seat { worker, number } => batch.push(SEAT | pair(worker, number)),
        }
    }

    fn get(reader: &mut BatchReader<'_>) -> Side {
        let (worker, number) = halves(reader.word());
        match pair(worker, 0) & SEAT {
            0 => Side::Event(Spot { location: worker, position: RecordNumber::of_half(number) }),
            seat => Side::Seat { worker: worker ^ high(seat), number },
        }
    }
}

/// Role of an event in a link. The order is that of processing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Role {
    /// The event is not before the other side.
    Receive,
    /// The other side is not before the event.
    Send,
}

/// Kind of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum LinkKind {
    /// A message, or a collective operation.
    Message,
    /// Threads of a process that start or await each other.
    Threads,
    /// Order of threads of a process, which have one clock.
    Order,
}

impl Half for Role {
    fn to_half(self) -> u32 {
        self as u32
    }

    fn of_half(half: u32) -> Role {
        [Role::Receive, Role::Send][half as usize]
    }
}

impl Half for LinkKind {
    fn to_half(self) -> u32 {
        self as u32
    }

    fn of_half(half: u32) -> LinkKind {
        [LinkKind::Message, LinkKind::Threads, LinkKind::Order][half as usize]
    }
}

/// One side of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Link {
    /// The event at this side.
    pub(super) spot: RecordSpot,
    pub(super) role: Role,
    pub(super) kind: LinkKind,
    pub(super) other: Side,
}

impl Link {
    /// Location of the earlier event; `None` if it is a meeting.
    pub(super) fn first(&self) -> Option<u32> {
        match self.role {
            Role::Send => Some(self.spot.location),
            Role::Receive => self.other.location(),
        }
    }

    /// Location of the later event; `None` if it is a meeting.
    pub(super) fn second(&self) -> Option<u32> {
        match self.role {
            Role::Send => self.other.location(),
            Role::Receive => Some(self.spot.location),
        }
    }
}

wire!(Link { spot, [role, kind], other });

/// Finds the links of all events of this worker's locations, in the order of events, and the meetings that it
/// owns. Findings about operations are dropped: operations are matched again with corrected times.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    tools: &Tools<'_>,
    processes: &[Walked],
    exchange: &mut dyn Exchange,
) -> Result<(Vec<Link>, Meetings), Error> {
    let trace = tools.trace;
    let mut links = Links { outgoing: vec![Batch::new(); exchange.workers()], tools };
    let mut meetings = Meetings::new(exchange.worker());
    let unreported = &mut Findings::default();
    let (mut matches, paused) = match_messages(tools, processes, false, unreported, exchange)?;
    if !trace.definitions.windows.is_empty() && trace.semantics.replays_all_of_mpi() {
        match_epochs(tools, processes, &mut matches, unreported, exchange)?;
    }
    for (walked, matches) in processes.iter().zip(matches) {
        links.messages(&walked.operations, &matches);
        links.probes(&walked.operations, &matches);
        links.exposures(&walked.operations, &matches.one_sided);
        links.threads_in_mpi(&walked.operations, &matches);
        links.teams(&walked.operations.teams, &mut meetings);
        links.barriers(&walked.operations.barriers, &mut meetings);
    }
    let rounds = Rounds::agree(trace, processes, exchange)?;
    for round in 0..rounds.count() {
        let parts = rounds.collect(round, trace, processes, exchange)?;
        parts.for_each(|members| {
            let operation = Operation::new(trace, members, &paused);
            // Members of some operations may have left before others began.
            if let Verdict::Sound(class, ranks) = operation.check(unreported)
                && !members[0].kind.is_soft()
                && !members[0].kind.is_closed()
            {
                let begun = |at: usize| {
                    let Participation { place, begun, .. } = members[at];
                    Spot { location: place.location, position: begun.record() }
                };
                links.collective(&operation, class, ranks, begun, &mut meetings);
            }
        });
    }
    drop(rounds);
    let parts = pairwise::collect(trace, processes, exchange)?;
    parts.for_each(|parts| {
        let members: Vec<Participation> = parts.iter().map(|part| part.part).collect();
        if members[0].kind.class() == Some(CollectiveClass::Neighborhood) {
            return links.single_neighbors(parts);
        }
        let operation = Operation::new(trace, &members, &paused);
        let Verdict::Sound(class, ranks) = operation.check(unreported) else { return };
        if members[0].kind.is_soft() || members[0].kind.is_closed() {
            return;
        }
        let begun = |at: usize| parts[at].requested.spot.record();
        match trace.communicators.get(members[0].communicator as usize) {
            Some(Participants::Sides(sides)) => {
                links.between(&operation, class, sides, begun, &mut meetings);
            }
            _ => links.collective(&operation, class, ranks, begun, &mut meetings),
        }
    });
    drop(parts);
    let told = exchange.exchange(links.outgoing)?;
    let mut links: Vec<Link> = told.iter().flat_map(|batch| wire::all(batch)).collect();
    links.sort_unstable();
    Ok((links, meetings))
}

/// Links to be sent to the owners of their events.
struct Links<'a> {
    outgoing: Vec<Batch>,
    tools: &'a Tools<'a>,
}

impl Links<'_> {
    fn put(&mut self, link: Link) {
        link.put(&mut self.outgoing[self.tools.owner_of(link.spot.location)]);
    }

    /// Links two events.
    fn pair(&mut self, first: RecordSpot, then: RecordSpot, kind: LinkKind) {
        self.put(Link { spot: first, role: Role::Send, kind, other: Side::Event(then) });
        self.put(Link { spot: then, role: Role::Receive, kind, other: Side::Event(first) });
    }

    /// Links sends with the ends of receives.
    fn messages(&mut self, operations: &Operations, matches: &Matches) {
        for (receive, send) in operations.receives.iter().zip(matches.sends.iter()) {
            let Some(send) = send else { continue };
            let sent = Spot { location: send.place.location, position: send.position.record() };
            let location = operations.site(receive.call).location;
            let received = Spot { location, position: receive.position.record() };
            self.pair(sent, received, LinkKind::Message);
        }
    }

    /// Links sends with the ends of the probes that have found their messages.
    fn probes(&mut self, operations: &Operations, matches: &Matches) {
        for (probe, found) in operations.probes.iter().zip(matches.probed(operations)) {
            if let Some((_, send)) = found {
                let sent = Spot { location: send.place.location, position: send.position.record() };
                let location = operations.site(probe.call).location;
                let left = Spot { location, position: probe.position.record() };
                self.pair(sent, left, LinkKind::Message);
            }
        }
    }

    /// Links calls that complete access epochs with the ends of the calls that wait for that (rest of MPI 15).
    fn exposures(&mut self, operations: &Operations, matches: &OneSidedMatches) {
        for (epoch, origins) in operations.one_sided.exposure_epochs.iter().zip(&matches.origins) {
            let Some(wait) = epoch.wait.filter(|_| epoch.blocks) else { continue };
            let Some(left) = operations.left(wait.call) else { continue };
            let left = Spot { location: operations.site(wait.call).location, position: left.record() };
            let ends = origins.iter().filter_map(|(_, origin)| origin.as_ref()?.entered);
            for entered in ends.filter(|entered| entered.location != left.location) {
                self.pair(entered.record(), left, LinkKind::Message);
            }
        }
    }

    /// Links starts of members of an operation among neighbours with the ends of those that receive from them alone: where there
    /// are several, the trace does not say who has sent something.
    fn single_neighbors(&mut self, parts: &[pairwise::Part]) {
        for part in parts.iter().filter(|part| part.part.received > 0) {
            let Some([neighbor]) = self.tools.trace.groups.get(&part.sources).map(|group| &group[..]) else {
                continue;
            };
            let neighbor = parts.binary_search_by_key(neighbor, |part| part.part.process);
            if let Some(neighbor) = neighbor.ok().map(|at| &parts[at])
                && neighbor.part.process != part.part.process
            {
                let end = Spot { location: part.part.place.location, position: part.part.ended.record() };
                self.pair(neighbor.requested.spot.record(), end, LinkKind::Message);
            }
        }
    }

    /// Links the communication events of a process's threads, in their order: threads have one clock.
    /// Otherwise a thread could seem to use a request before another thread has started it. If a message
    /// between them shows that their clocks differ, there is no order.
    fn threads_in_mpi(&mut self, operations: &Operations, matches: &Matches) {
        let Some(first) = operations.order.first() else { return };
        let process = self.tools.process_of(first.location);
        let is_wrong = |(receive, send): (&Receive, Option<SendFacts>)| {
            send.is_some_and(|send| {
                send.time > receive.time && self.tools.process_of(send.place.location) == process
            })
        };
        if operations.receives.iter().zip(matches.sends.iter()).any(is_wrong) {
            return;
        }
        for pair in operations.order.windows(2).filter(|pair| pair[0].location != pair[1].location) {
            self.pair(pair[0].record(), pair[1].record(), LinkKind::Order);
        }
    }

    /// Adds a meeting with these members, unless none sends or none receives.
    fn meeting(&mut self, members: &[Member], in_turn: bool, kind: LinkKind, meetings: &mut Meetings) {
        if !members.iter().any(|member| member.sends) || !members.iter().any(|member| member.receives) {
            return;
        }
        for (member, seat) in members.iter().zip(meetings.add(members, in_turn)) {
            let link = |spot, role| Link { spot, role, kind, other: seat };
            if member.sends {
                self.put(link(member.begin, Role::Send));
            }
            // Where a trace ends within a call, its end is not an event of its own.
            if member.receives && !(member.sends && member.begin == member.end) {
                self.put(link(member.end, Role::Receive));
            }
        }
    }

    /// Links starts of members with the fork before, and the join with their ends.
    fn teams(&mut self, events: &[TeamEvent], meetings: &mut Meetings) {
        let mut events = events.to_vec();
        events.sort_by_key(|event| (event.team, event.kind));
        let is_start = |event: &TeamEvent| matches!(event.kind, TeamEventKind::Fork | TeamEventKind::Begin);
        for meeting in events.chunk_by(|a, b| (a.team, is_start(a)) == (b.team, is_start(b))) {
            let member = |event: &TeamEvent| Member {
                begin: event.spot.record(),
                end: event.spot.record(),
                sends: matches!(event.kind, TeamEventKind::Fork | TeamEventKind::End),
                receives: matches!(event.kind, TeamEventKind::Begin | TeamEventKind::Join),
            };
            let members: Vec<Member> = meeting.iter().map(member).collect();
            self.meeting(&members, false, LinkKind::Threads, meetings);
        }
    }

    /// Links the leave events of a barrier of threads with all enter events.
    fn barriers(&mut self, visits: &[Barrier], meetings: &mut Meetings) {
        let is_known = |visit: &&Barrier| visit.last.is_some() && visit.position != EventNumber::NONE;
        let mut visits: Vec<&Barrier> = visits.iter().filter(is_known).collect();
        visits.sort_by_key(|visit| (visit.last, visit.location));
        for meeting in visits.chunk_by(|a, b| a.last == b.last) {
            let spot = |visit: &Barrier, position: EventNumber| Spot {
                location: visit.location,
                position: position.record(),
            };
            let member = |visit: &&Barrier| Member {
                begin: spot(visit, visit.entered),
                end: spot(visit, visit.position),
                sends: true,
                receives: true,
            };
            let members: Vec<Member> = meeting.iter().map(member).collect();
            self.meeting(&members, false, LinkKind::Threads, meetings);
        }
    }

    /// Links the ends of members of an operation on an inter-communicator with the starts of those of the other side that they
    /// wait for (rest of MPI 7.2); `begun` is the start of the member at a position.
    fn between(
        &mut self,
        operation: &Operation<'_>,
        class: CollectiveClass,
        sides: &GroupSides,
        begun: impl Fn(usize) -> RecordSpot,
        meetings: &mut Meetings,
    ) {
        for sends_first in [true, false] {
            let member = |(at, part): (usize, &Participation)| {
                let is_root = part.root == ROOT_SELF;
                let (gives, gets) = match class {
                    CollectiveClass::OneToAll => (is_root, part.root != ROOT_SELF && part.received > 0),
                    CollectiveClass::AllToOne => (part.sent > 0, is_root),
                    CollectiveClass::AllToAll => (part.sent > 0, part.received > 0),
                    _ => (true, true),
                };
                let is_sender = sides.is_in_first(part.process) == sends_first;
                let end = Spot { location: part.place.location, position: part.ended.record() };
                Member { begin: begun(at), end, sends: gives && is_sender, receives: gets && !is_sender }
            };
            let members: Vec<Member> = operation.members.iter().enumerate().map(member).collect();
            self.meeting(&members, false, LinkKind::Message, meetings);
        }
    }

    /// Links the end of a collective operation with the starts of the members that data comes from; `begun` is the start of the
    /// member at a position.
    fn collective(
        &mut self,
        operation: &Operation<'_>,
        class: CollectiveClass,
        ranks: Option<&[u32]>,
        begun: impl Fn(usize) -> RecordSpot,
        meetings: &mut Meetings,
    ) {
        let root = ranks.and_then(|ranks| operation.root(ranks)).map(|root| root.process);
        let member = |(at, part): (usize, &Participation)| {
            let is_root = Some(part.process) == root;
            let (gives, gets) = (part.sent > 0, part.received > 0);
            let (sends, receives) = match class {
                CollectiveClass::Init
                | CollectiveClass::Finalize
                | CollectiveClass::Barrier
                | CollectiveClass::Handle
                | CollectiveClass::Disconnect
                | CollectiveClass::Neighborhood
                | CollectiveClass::WindowCreation
                | CollectiveClass::WindowRelease
                | CollectiveClass::Fence
                | CollectiveClass::FileHandling
                | CollectiveClass::FileTransfer => (true, true),
                CollectiveClass::OneToAll => (gives && is_root, gets && !is_root),
                CollectiveClass::AllToOne => (gives, gets && is_root),
                CollectiveClass::AllToAll | CollectiveClass::Scan => (gives, gets),
            };
            let end = Spot { location: part.place.location, position: part.ended.record() };
            Member { begin: begun(at), end, sends, receives }
        };
        let mut members: Vec<Member> = operation.members.iter().enumerate().map(member).collect();
        let in_turn = class == CollectiveClass::Scan;
        if let Some(ranks) = ranks.filter(|_| in_turn) {
            members = operation.by_rank(ranks).into_iter().map(|at| members[at]).collect();
            // A member without a sender before it does not wait.
            let first = members.iter().position(|member| member.sends).unwrap_or(members.len());
            members[..first].iter_mut().for_each(|member| member.receives = false);
        }
        self.meeting(&members, in_turn, LinkKind::Message, meetings);
    }
}
