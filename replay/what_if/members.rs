//! Dependencies of operations of many members (what-if 2.4).

use model::{CollectiveOp, Ticks};
use patterns::matched::CollectiveClass;

use super::dependencies::DependencyKind;
use super::goals::Goal;
use super::graph::{Graph, Meeting, Seat};
use super::messages::{call_at, completion_at};
use crate::communicators::Participants;
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::findings::Findings;
use crate::ids::EventNumber;
use crate::int::to_u32;
use crate::journal::{EventSpot, Spot};
use crate::matching::{Matches, Operation, Participation, Rounds, Verdict, pairwise};
use crate::tools::Tools;
use crate::walk::Walked;
use crate::wire::{self, Half, Wire, wire};

/// Stands for no seat: nobody waits for the member, and it waits for nobody.
const NO_SEAT: u32 = u32::MAX;

/// What the worker that judges an operation tells one of its members.
#[derive(Clone, Copy, Debug)]
struct Invitation {
    /// The event that starts it, at its location.
    begun: EventSpot,
    /// The event that ends it.
    ended: EventSpot,
    worker: u32,
    seat: u32,
    manner: Manner,
    /// The least number of steps in which all members hear of each other, and the bytes that the member moves.
    steps: u8,
    bytes: u64,
}

wire!(Invitation { begun, ended, [worker, seat], [manner, steps], bytes });

/// How a member takes part.
#[derive(Clone, Copy, Debug)]
struct Manner {
    /// Whether others wait for its begin, and whether it waits for others.
    sends: bool,
    receives: bool,
    /// Whether its waiting is not modelled.
    is_kept: bool,
    /// Whether all processes of the trace are members.
    is_of_all: bool,
}

impl Half for Manner {
    fn to_half(self) -> u32 {
        let Manner { sends, receives, is_kept, is_of_all } = self;
        [sends, receives, is_kept, is_of_all].into_iter().fold(0, |bits, bit| bits << 1 | u32::from(bit))
    }

    fn of_half(bits: u32) -> Manner {
        let [sends, receives, is_kept, is_of_all] = [8, 4, 2, 1].map(|bit| bits & bit != 0);
        Manner { sends, receives, is_kept, is_of_all }
    }
}

/// What a member that waits tells the worker that judges.
#[derive(Clone, Copy, Debug)]
struct Reply {
    seat: u32,
    location: u32,
    number: u32,
}

wire!(Reply { [seat, location], number });

/// A member as its class has it.
struct Attendance {
    begun: EventSpot,
    ended: EventSpot,
    sends: bool,
    receives: bool,
    steps: u8,
    bytes: u64,
}

/// Adds the dependencies of collective operations of all kinds.
///
/// # Errors
/// If a worker failed.
pub(super) fn link(
    tools: &Tools<'_>,
    processes: &[Walked],
    matches: &[Matches],
    graph: &mut Graph,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let trace = tools.trace;
    let nobody = Default::default();
    let paused = matches.first().map_or(&nobody, |matches| &*matches.paused);
    // What is odd about operations was said when they were matched.
    let unreported = &mut Findings::default();
    let rounds = Rounds::agree(trace, processes, exchange)?;
    for round in 0..rounds.count() {
        let parts = rounds.collect(round, trace, processes, exchange)?;
        let mut hall = Hall::new(tools, graph, exchange);
        parts.for_each(|members| {
            let operation = Operation::new(trace, members, paused);
            let spots = |at: usize| {
                let part = &members[at];
                let ended = Spot { location: part.place.location, position: part.ended };
                (ended, ended)
            };
            hall.meet(&operation, &spots, unreported);
        });
        drop(parts);
        hall.invite_all(exchange)?;
    }
    drop(rounds);
    let parts = pairwise::collect(trace, processes, exchange)?;
    let mut hall = Hall::new(tools, graph, exchange);
    parts.for_each(|parts| {
        let members: Vec<Participation> = parts.iter().map(|part| part.part).collect();
        let operation = Operation::new(trace, &members, paused);
        let spots = |at: usize| {
            let part = &parts[at];
            (part.requested.spot, Spot { location: part.part.place.location, position: part.part.ended })
        };
        hall.meet(&operation, &spots, unreported);
    });
    drop(parts);
    hall.invite_all(exchange)
}

/// Adds the dependency of a member, and its goal.
fn attend(graph: &mut Graph, invitation: Invitation) -> Option<Reply> {
    let Invitation { begun, ended, worker, seat, manner, steps, bytes } = invitation;
    let Manner { sends, receives, is_kept, is_of_all } = manner;
    let completion = completion_at(graph, ended.location, ended.position);
    if let Some(completion) = completion {
        graph.of(ended.location).marks.completions.change(completion, |it| {
            it.is_of_many = true;
            it.is_kept |= is_kept;
            it.is_of_all |= is_of_all;
        });
    }
    if sends {
        // A start that is unknown would block all others: it is at the begin of its location.
        let start = call_at(graph, begun.location, begun.position).unwrap_or(0);
        graph.of(begun.location).goals.push(start, Goal::Seat { worker, number: seat });
    }
    if !receives {
        return None;
    }
    let of = graph.of(ended.location);
    let number = of.depend(completion?, DependencyKind::Together, bytes, 1);
    of.dependencies.change(number, |it| it.steps = steps);
    Some(Reply { seat, location: ended.location, number })
}

/// The meetings of a worker while it invites their members.
struct Hall<'a> {
    tools: &'a Tools<'a>,
    graph: &'a mut Graph,
    outgoing: Vec<Batch>,
    me: usize,
}

impl<'a> Hall<'a> {
    fn new(tools: &'a Tools<'_>, graph: &'a mut Graph, exchange: &dyn Exchange) -> Hall<'a> {
        Hall { tools, graph, outgoing: vec![Batch::new(); exchange.workers()], me: exchange.worker() }
    }

    /// Sends the invitations, and hears where members wait.
    fn invite_all(self, exchange: &mut dyn Exchange) -> Result<(), Error> {
        let mut replies = vec![Batch::new(); exchange.workers()];
        for batch in exchange.exchange(self.outgoing)? {
            for invitation in wire::all::<Invitation>(&batch) {
                if let Some(reply) = attend(self.graph, invitation) {
                    reply.put(&mut replies[invitation.worker as usize]);
                }
            }
        }
        for batch in exchange.exchange(replies)? {
            for Reply { seat, location, number } in wire::all::<Reply>(&batch) {
                self.graph.meetings.seats[seat as usize].waits = Some((location, number));
            }
        }
        Ok(())
    }

    /// Judges an operation and invites its members; `spots` are the events that start and end a member.
    fn meet(
        &mut self,
        operation: &Operation<'_>,
        spots: &dyn Fn(usize) -> (EventSpot, EventSpot),
        unreported: &mut Findings,
    ) {
        let members = operation.members;
        let class = members[0].kind.class();
        if matches!(
            class,
            Some(CollectiveClass::Init | CollectiveClass::FileHandling | CollectiveClass::FileTransfer)
        ) {
            return;
        }
        let of = self.tools.trace.communicators.get(members[0].communicator as usize);
        let (class, ranks) = match (operation.check(unreported), of) {
            (Verdict::Unmatched, _) => return self.keep(operation, spots),
            (_, Some(Participants::Sides(_))) => return self.keep(operation, spots),
            (Verdict::Sound(class, ranks), _) => (Some(class), ranks),
            // Nothing obliges anybody to wait, such as where a handle is freed; it may have been so all the same.
            (Verdict::Independent, Some(Participants::Ranks(ranks))) if ranks.len() > 1 => {
                (None, Some(&ranks[..]))
            }
            (Verdict::Independent, _) => return,
        };
        let is_observed = members[0].kind.is_soft()
            || matches!(
                class,
                None | Some(
                    CollectiveClass::Handle
                        | CollectiveClass::Disconnect
                        | CollectiveClass::WindowCreation
                        | CollectiveClass::WindowRelease
                        | CollectiveClass::Fence
                        | CollectiveClass::Neighborhood
                )
            );
        if is_observed && !have_synchronised(members) {
            return self.keep(operation, spots);
        }
        let root = ranks.and_then(|ranks| operation.root(ranks)).map(|root| root.process);
        let steps = u8::try_from(members.len().next_power_of_two().ilog2()).unwrap_or(u8::MAX);
        let role = |at: usize| {
            let part = &members[at];
            let is_root = Some(part.process) == root;
            let (gives, gets) = (part.sent > 0, part.received > 0);
            let (sends, receives) = match class {
                _ if is_observed => (true, true),
                Some(CollectiveClass::OneToAll) => (is_root, gets && !is_root),
                Some(CollectiveClass::AllToOne) => (gives, is_root),
                Some(CollectiveClass::AllToAll | CollectiveClass::Scan) => (gives, gets),
                _ => (true, true),
            };
            let (begun, ended) = spots(at);
            Attendance { begun, ended, sends, receives, steps, bytes: moved(part) }
        };
        let in_turn = class == Some(CollectiveClass::Scan);
        let order = match ranks.filter(|_| in_turn) {
            Some(ranks) => operation.by_rank(ranks),
            None => (0..members.len()).collect(),
        };
        let mut roles: Vec<Attendance> = order.into_iter().map(role).collect();
        let first = roles.iter().position(|role| role.sends).unwrap_or(roles.len());
        if in_turn {
            // A member without anybody that gives up to itself waits for nobody.
            roles[..first].iter_mut().for_each(|role| role.receives = false);
        } else if first == roles.len() {
            roles.iter_mut().for_each(|role| role.receives = false);
        }
        let is_of_all = members.len() == self.tools.trace.processes.len();
        let meetings = &mut self.graph.meetings;
        let meeting = to_u32(meetings.list.len());
        let senders = to_u32(roles.iter().filter(|role| role.sends).count());
        meetings.list.push(Meeting { first: to_u32(meetings.seats.len()), in_turn, senders });
        for role in roles {
            let seat = to_u32(self.graph.meetings.seats.len());
            self.graph.meetings.seats.push(Seat { meeting, waits: None, sends: role.sends });
            self.invite(role, seat, (false, is_of_all));
        }
    }

    fn invite(&mut self, attendance: Attendance, seat: u32, (is_kept, is_of_all): (bool, bool)) {
        let Attendance { begun, ended, sends, receives, steps, bytes } = attendance;
        let owner = self.tools.owner_of(ended.location);
        let worker = to_u32(self.me);
        let manner = Manner { sends, receives, is_kept, is_of_all };
        let invitation = Invitation { begun, ended, worker, seat, manner, steps, bytes };
        invitation.put(&mut self.outgoing[owner]);
    }

    /// The members of an operation take as long as they did.
    fn keep(&mut self, operation: &Operation<'_>, spots: &dyn Fn(usize) -> (EventSpot, EventSpot)) {
        for at in 0..operation.members.len() {
            let (begun, ended) = spots(at);
            let nothing = Attendance { begun, ended, sends: false, receives: false, steps: 0, bytes: 0 };
            self.invite(nothing, NO_SEAT, (true, false));
        }
    }
}

/// Whether nobody has left before the last one has entered.
fn have_synchronised(members: &[Participation]) -> bool {
    let entered = members.iter().map(|part| part.begun_at()).max().unwrap_or(Ticks::MIN);
    members.iter().all(|part| part.left_at() >= entered && part.ended != EventNumber::NONE)
}

/// The bytes that pass a member at least (what-if 3.2): once those of a result that it gives to or gets from one, twice those of one
/// that all get of all, and all that it moves to and from the others.
fn moved(part: &Participation) -> u64 {
    match part.kind.operation() {
        CollectiveOp::BARRIER => 0,
        CollectiveOp::REDUCE => part.sent,
        CollectiveOp::ALLREDUCE => part.sent.saturating_mul(2),
        _ => part.sent.max(part.received),
    }
}
