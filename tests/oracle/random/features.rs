//! Features of random traces: a test checks that everything that MPI allows occurs in some.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::trace::{Members, Message, Step, Stream, Trace};

/// Features that have to occur.
pub(crate) const FEATURES: [&str; 24] = [
    "receives completed in another order than posted",
    "matched probe",
    "wildcard",
    "MPI on several threads",
    "sub-communicator",
    "inter-communicator",
    "process by itself",
    "persistent request",
    "cancelled send",
    "cancelled receive",
    "tested request",
    "recorder switched off",
    "missing file",
    "no file of a thread without events",
    "thread numbers that are not those of locations",
    "deadlock",
    "non-blocking collective",
    "persistent collective",
    "collective of one process",
    "collectives completed in another order than requested",
    "collective completed by the call that requests it",
    "collective completed by a test",
    "message and collective completed by one call",
    "collective never completed",
];

/// The features of a trace. Wildcards and deadlocks are not visible in single events.
pub(crate) fn features(trace: &Trace, has_wildcards: bool, is_hung: bool) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    if has_wildcards {
        found.insert("wildcard");
    }
    if is_hung {
        found.insert("deadlock");
    }
    for stream in trace.streams.iter().filter(|stream| stream.missing) {
        found.insert(match stream.events.is_empty() {
            true => "no file of a thread without events",
            false => "missing file",
        });
    }
    if trace.streams.iter().any(|stream| stream.id.is_some_and(|id| id != stream.thread)) {
        found.insert("thread numbers that are not those of locations");
    }
    let recorded: Vec<&Stream> = trace.streams.iter().filter(|stream| !stream.missing).collect();
    for stream in &recorded {
        for (_, step) in &stream.events {
            found.extend(of_step(step));
            found.extend(communicator(step).and_then(|name| of_communicator(trace, name)));
            if stream.thread > 0 && communicator(step).is_some() {
                found.insert("MPI on several threads");
            }
        }
    }
    for rank in 0..recorded.iter().map(|stream| stream.rank + 1).max().unwrap_or(0) {
        let of_rank = recorded.iter().filter(|stream| stream.rank == rank);
        let mut steps: Vec<&(u64, Step)> = of_rank.flat_map(|stream| &stream.events).collect();
        steps.sort_by_key(|(time, _)| *time);
        found.extend(of_requests(steps.iter().map(|(_, step)| step)));
        found.extend(of_collectives(steps.into_iter().map(|(_, step)| step)));
    }
    found
}

fn of_step(step: &Step) -> Option<&'static str> {
    Some(match step {
        Step::Probe(..) => "matched probe",
        Step::Enter(call) if call.starts_with("MPI_Start") => "persistent request",
        Step::Test(_) => "tested request",
        Step::Recording(false) => "recorder switched off",
        _ => return None,
    })
}

/// The communicator of a message or collective operation.
fn communicator(step: &Step) -> Option<&str> {
    match step {
        Step::Send(message)
        | Step::Isend(message, _)
        | Step::Recv(message)
        | Step::Irecv(message, _)
        | Step::Probe(message, _) => Some(&message.communicator),
        Step::CollectiveEnd { communicator, .. } | Step::NonBlockingComplete { communicator, .. } => {
            Some(communicator)
        }
        _ => None,
    }
}

fn of_communicator(trace: &Trace, name: &str) -> Option<&'static str> {
    if name == "self" {
        return Some("process by itself");
    }
    let known = trace.communicators.iter().find(|it| it.0 == name);
    known.map(|(_, members)| match members {
        Members::Ranks(_) => "sub-communicator",
        Members::Sides(..) => "inter-communicator",
    })
}

/// The features of a process's requests, in the order of time.
fn of_requests<'a>(steps: impl Iterator<Item = &'a Step>) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    // Active requests, with the position of posting; none for a send.
    let mut requests: BTreeMap<u64, Option<usize>> = BTreeMap::new();
    // Positions of posting of the completed receives, by communicator, source and tag.
    let mut complete: BTreeMap<(&str, u32, u32), Vec<usize>> = BTreeMap::new();
    for (at, step) in steps.enumerate() {
        match step {
            Step::Isend(_, request) => {
                requests.insert(*request, None);
            }
            Step::IrecvRequest(request) => {
                requests.insert(*request, Some(at));
            }
            Step::Irecv(Message { communicator, peer, tag, .. }, request) => {
                if let Some(Some(posted)) = requests.remove(request) {
                    complete.entry((communicator, *peer, *tag)).or_default().push(posted);
                }
            }
            Step::Cancel(request) => match requests.remove(request) {
                Some(None) => _ = found.insert("cancelled send"),
                Some(Some(_)) => _ = found.insert("cancelled receive"),
                None => {}
            },
            _ => {}
        }
    }
    if complete.values().any(|posted| !posted.is_sorted()) {
        found.insert("receives completed in another order than posted");
    }
    found
}

/// The features of a process's non-blocking collective operations, in the order of time.
fn of_collectives<'a>(steps: impl Iterator<Item = &'a Step>) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    // Active requests, with the position of the request and the number of the call.
    let mut active: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
    // Positions of the requests of completed operations, by communicator.
    let mut complete: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let (mut call, mut name, mut done) = (0, "", [false; 2]);
    for (at, step) in steps.enumerate() {
        match step {
            Step::Enter(region) => (call, name, done) = (at, region, [false; 2]),
            Step::NonBlockingRequest(request) => {
                found.insert("non-blocking collective");
                if name.starts_with("MPI_Start") {
                    found.insert("persistent collective");
                }
                active.insert(*request, (at, call));
            }
            Step::NonBlockingComplete { communicator, request, .. } => {
                let Some((position, requesting)) = active.remove(request) else { continue };
                complete.entry(communicator).or_default().push(position);
                done[1] = true;
                if requesting == call {
                    found.insert("collective completed by the call that requests it");
                }
                if name.starts_with("MPI_Test") {
                    found.insert("collective completed by a test");
                }
                if communicator == "self" {
                    found.insert("collective of one process");
                }
            }
            Step::Irecv(..) | Step::IsendComplete(_) => done[0] = true,
            _ => {}
        }
        if done == [true; 2] && name.starts_with("MPI_Wait") {
            found.insert("message and collective completed by one call");
        }
    }
    if !active.is_empty() {
        found.insert("collective never completed");
    }
    if complete.values().any(|requests| !requests.is_sorted()) {
        found.insert("collectives completed in another order than requested");
    }
    found
}
