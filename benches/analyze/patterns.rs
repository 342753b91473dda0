//! What the ranks of a generated trace do.

use model::CollectiveOp;
use otf2::Event;

use crate::generate::{ALLREDUCE, IRECV, ISEND, Location, RECV, SEND, WAITALL, WORK};

/// What the ranks of a trace do together.
#[derive(Clone, Copy)]
pub(crate) enum Pattern {
    /// Work and messages with both neighbours in a ring, non-blocking, and a reduction now and then.
    Stencil,
    /// Ranks 0 and 1 work in turn, and each waits for the other one's message.
    PingPong,
    /// Rank 0 gives work to all others, then waits for their results one by one.
    Master,
}

impl Pattern {
    /// The pattern with this name.
    pub(crate) fn find(name: &str) -> Option<Pattern> {
        match name {
            "stencil" => Some(Pattern::Stencil),
            "ping-pong" => Some(Pattern::PingPong),
            "master" => Some(Pattern::Master),
            _ => None,
        }
    }

    /// Writes the events of a rank, so that all ranks together have about `wanted` of them. Answers how many messages it
    /// sends.
    pub(crate) fn run(
        self,
        location: &mut Location,
        rank: u32,
        ranks: u32,
        wanted: u64,
    ) -> Result<u64, otf2::Error> {
        match self {
            Pattern::Stencil => stencil(location, rank, ranks, wanted / u64::from(ranks)),
            Pattern::PingPong => ping_pong(location, rank, wanted / 16),
            Pattern::Master if rank == 0 => master(location, ranks, wanted / 14 / u64::from(ranks - 1)),
            Pattern::Master => worker(location, rank, ranks, wanted / 14 / u64::from(ranks - 1)),
        }
    }
}

/// Work from one time to another.
fn work(location: &mut Location, begin: u64, end: u64) -> Result<(), otf2::Error> {
    location.at(begin, Event::Enter { region: WORK })?;
    location.at(end, Event::Leave { region: WORK })
}

/// A message that is sent from one time on.
fn send(location: &mut Location, begin: u64, receiver: u32) -> Result<(), otf2::Error> {
    location.at(begin, Event::Enter { region: SEND })?;
    let send = Event::MpiSend { receiver, communicator: 0, msg_tag: 0, msg_length: 64 };
    location.at(begin + 5, send)?;
    location.at(begin + 10, Event::Leave { region: SEND })
}

/// A message that is received at one time; the call begins at once.
fn receive(location: &mut Location, end: u64, sender: u32) -> Result<(), otf2::Error> {
    location.event(1, Event::Enter { region: RECV })?;
    location.at(end, Event::MpiRecv { sender, communicator: 0, msg_tag: 0, msg_length: 64 })?;
    location.event(1, Event::Leave { region: RECV })
}

fn ping_pong(location: &mut Location, rank: u32, rounds: u64) -> Result<u64, otf2::Error> {
    let start = |round: u64| 10_000 + 2100 * round;
    match rank {
        0 => {
            for begin in (0..rounds).map(start) {
                work(location, begin, begin + 1000)?;
                send(location, begin + 1000, 1)?;
                receive(location, begin + 2090, 1)?;
            }
        }
        1 => {
            for begin in (0..rounds).map(start) {
                receive(location, begin + 1020, 0)?;
                work(location, begin + 1030, begin + 2060)?;
                send(location, begin + 2060, 0)?;
            }
        }
        _ => return Ok(0),
    }
    Ok(rounds)
}

/// When a round of the master begins.
fn round_start(round: u64, ranks: u32) -> u64 {
    20_000 + round * (200 * u64::from(ranks) + 1000)
}

/// When the master sends to a worker, and when the worker sends its result.
fn exchange(begin: u64, rank: u32, ranks: u32) -> (u64, u64) {
    let sent = begin + 50 * u64::from(rank);
    (sent, sent + 100 * u64::from(ranks))
}

fn master(location: &mut Location, ranks: u32, rounds: u64) -> Result<u64, otf2::Error> {
    for begin in (0..rounds).map(|round| round_start(round, ranks)) {
        for rank in 1..ranks {
            send(location, exchange(begin, rank, ranks).0, rank)?;
        }
        for rank in 1..ranks {
            receive(location, exchange(begin, rank, ranks).1 + 20, rank)?;
        }
    }
    Ok(rounds * u64::from(ranks - 1))
}

fn worker(location: &mut Location, rank: u32, ranks: u32, rounds: u64) -> Result<u64, otf2::Error> {
    for begin in (0..rounds).map(|round| round_start(round, ranks)) {
        let (sent, result) = exchange(begin, rank, ranks);
        receive(location, sent + 20, 0)?;
        work(location, sent + 30, result)?;
        send(location, result, 0)?;
    }
    Ok(rounds)
}

/// Work, both messages to and from both neighbours, and a reduction every tenth time, until there are enough events.
/// Answers how many messages it sends.
fn stencil(location: &mut Location, rank: u32, ranks: u32, wanted: u64) -> Result<u64, otf2::Error> {
    let (left, right) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
    let (communicator, msg_length) = (0, 8192);
    let steps = wanted / 21;
    for step in 0..steps {
        // Everyone is slow in turn, so that the others wait.
        let work = if step % u64::from(ranks) == u64::from(rank) { 9000 } else { 2000 };
        location.event(100, Event::Enter { region: WORK })?;
        location.event(work, Event::Leave { region: WORK })?;
        let request = 4 * step;
        location.call(IRECV, &[Event::MpiIrecvRequest { request_id: request }])?;
        location.call(IRECV, &[Event::MpiIrecvRequest { request_id: request + 1 }])?;
        for (number, (receiver, msg_tag)) in [(left, 1), (right, 2)].into_iter().enumerate() {
            let request_id = request + 2 + number as u64;
            location.call(
                ISEND,
                &[Event::MpiIsend { receiver, communicator, msg_tag, msg_length, request_id }],
            )?;
        }
        location.call(
            WAITALL,
            &[
                Event::MpiIsendComplete { request_id: request + 2 },
                Event::MpiIsendComplete { request_id: request + 3 },
                Event::MpiIrecv { sender: right, communicator, msg_tag: 1, msg_length, request_id: request },
                Event::MpiIrecv {
                    sender: left,
                    communicator,
                    msg_tag: 2,
                    msg_length,
                    request_id: request + 1,
                },
            ],
        )?;
        if step % 10 == 0 {
            let end = Event::MpiCollectiveEnd {
                collective_op: CollectiveOp::ALLREDUCE,
                communicator,
                root: otf2::ROOT_NONE,
                size_sent: 8,
                size_received: 8,
            };
            location.call(ALLREDUCE, &[Event::MpiCollectiveBegin {}, end])?;
        }
    }
    Ok(2 * steps)
}
