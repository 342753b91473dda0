//! Features of random traces: a test checks that everything that MPI allows occurs in some.

use std::collections::{BTreeMap, BTreeSet};

use model::CollectiveOp;
use model::attributes::NEIGHBORS_IN;

use crate::support::trace::{Members, Message, Step, Stream, Trace};

/// Features that have to occur.
pub(crate) const FEATURES: [&str; 44] = [
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
    "blocking probe",
    "probe that tells its message",
    "probe that finds nothing, in a trace that tells messages",
    "probe, in a trace that does not tell messages",
    "test in vain that tells its requests",
    "test in vain that tells nothing",
    "handle of MPI itself",
    "creation of a communicator",
    "disconnection",
    "handle of two groups",
    "collective of two groups",
    "rooted collective of two groups",
    "non-blocking collective of two groups",
    "non-blocking creation by two groups",
    "neighbourhood",
    "non-blocking neighbourhood",
    "persistent neighbourhood",
    "process that is its own neighbour",
    "persistent collective that tells its operation",
    "persistent collectives started in different orders",
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
            found.extend(of_two_groups(trace, step));
            if stream.thread > 0 && communicator(step).is_some() {
                found.insert("MPI on several threads");
            }
        }
        found.extend(of_neighbors(trace, stream));
        found.extend(of_polls(stream));
        found.extend(of_handles(stream));
    }
    found.extend(of_probes(&recorded));
    found.extend(of_starts(&recorded));
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
        Step::Enter(call) if call == "MPI_Probe" || call == "MPI_Mprobe" => "blocking probe",
        Step::Test(_) => "tested request",
        Step::Recording(false) => "recorder switched off",
        _ => return None,
    })
}

/// An event without its attributes.
fn plain(step: &Step) -> &Step {
    if let Step::WithAttributes(step, _) = step { step } else { step }
}

/// The communicator of a message or collective operation.
fn communicator(step: &Step) -> Option<&str> {
    match plain(step) {
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

/// Whether a call is a probe that does not wait.
fn is_iprobe(call: &str) -> bool {
    call == "MPI_Iprobe" || call == "MPI_Improbe"
}

/// The calls of a stream, each with the events between its enter and the next event that enters or leaves.
fn calls(stream: &Stream) -> impl Iterator<Item = (&str, Vec<&Step>)> {
    let events = stream.events.iter().enumerate();
    events.filter_map(|(at, (_, step))| {
        let Step::Enter(call) = step else { return None };
        let inside = || stream.events[at + 1..].iter().map(|(_, step)| step);
        let is_end = |step: &Step| matches!(plain(step), Step::Enter(_) | Step::Leave);
        let end = inside().position(is_end).map_or(usize::MAX, |end| end + 1);
        Some((call.as_str(), inside().take(end).collect()))
    })
}

/// The features of probes: in a trace in which one tells its message, others have found none.
fn of_probes(streams: &[&Stream]) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let probes = || {
        let calls = streams.iter().copied().flat_map(calls);
        calls.filter(|(call, _)| is_iprobe(call) || *call == "MPI_Probe" || *call == "MPI_Mprobe")
    };
    let tells = |steps: &[&Step]| matches!(steps.last(), Some(Step::WithAttributes(..)));
    if probes().any(|(_, steps)| tells(&steps)) {
        found.insert("probe that tells its message");
        if probes().any(|(call, steps)| is_iprobe(call) && !tells(&steps)) {
            found.insert("probe that finds nothing, in a trace that tells messages");
        }
    } else if probes().next().is_some() {
        found.insert("probe, in a trace that does not tell messages");
    }
    found
}

/// The features of tests that complete nothing.
fn of_polls(stream: &Stream) -> BTreeSet<&'static str> {
    let in_vain = calls(stream).filter(|(call, steps)| {
        let is_done = |step: &&&Step| {
            matches!(
                plain(step),
                Step::IsendComplete(_)
                    | Step::Irecv(..)
                    | Step::Imrecv { .. }
                    | Step::Cancel(_)
                    | Step::NonBlockingComplete { .. }
            )
        };
        call.starts_with("MPI_Test") && !steps.iter().any(|step| is_done(&step))
    });
    let is_test = |step: &&&Step| matches!(step, Step::Test(_));
    let of_call = |(_, steps): (&str, Vec<&Step>)| match steps.iter().any(|step| is_test(&step)) {
        true => "test in vain that tells its requests",
        false => "test in vain that tells nothing",
    };
    in_vain.map(of_call).collect()
}

/// The features of handles that are created and released.
fn of_handles(stream: &Stream) -> BTreeSet<&'static str> {
    let of_call = |(call, steps): (&str, Vec<&Step>)| {
        let is_of_handle = |step: &&Step| {
            matches!(plain(step), Step::CollectiveEnd { operation: CollectiveOp(17 | 18), .. })
        };
        steps.iter().copied().find(|step| is_of_handle(step)).map(|_| match call {
            "MPI_Init" | "MPI_Init_thread" | "MPI_Finalize" => "handle of MPI itself",
            "MPI_Comm_disconnect" => "disconnection",
            _ => "creation of a communicator",
        })
    };
    calls(stream).filter_map(of_call).collect()
}

/// The features of operations on inter-communicators.
fn of_two_groups(trace: &Trace, step: &Step) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let name = communicator(step);
    let members = trace.communicators.iter().find(|it| Some(it.0.as_str()) == name).map(|it| &it.1);
    if let Some(Members::Sides(..)) = members {
        match plain(step) {
            Step::CollectiveEnd { operation: CollectiveOp(17 | 18), .. } => {
                found.insert("handle of two groups");
            }
            Step::CollectiveEnd { root, .. } => {
                found.insert("collective of two groups");
                found.extend(root.map(|_| "rooted collective of two groups"));
            }
            Step::NonBlockingComplete { operation: CollectiveOp(17), .. } => {
                found.insert("non-blocking creation by two groups");
            }
            Step::NonBlockingComplete { .. } => {
                found.insert("non-blocking collective of two groups");
            }
            _ => {}
        }
    }
    found
}

/// The features of operations among neighbours.
fn of_neighbors(trace: &Trace, stream: &Stream) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    // Requests that persistent operations have started.
    let mut started = BTreeSet::new();
    for (_, step) in &stream.events {
        let Step::WithAttributes(step, told) = step else { continue };
        let set = told.iter().find(|it| it.0 == NEIGHBORS_IN).map(|it| it.1 as usize - 2);
        match (&**step, set) {
            (Step::NonBlockingRequest(request), _) => _ = started.insert(*request),
            (Step::CollectiveEnd { .. }, Some(_)) => _ = found.insert("neighbourhood"),
            (Step::NonBlockingComplete { request, .. }, Some(_)) if started.contains(request) => {
                found.insert("persistent neighbourhood");
            }
            (Step::NonBlockingComplete { .. }, Some(_)) => _ = found.insert("non-blocking neighbourhood"),
            _ => {}
        }
        let is_own = |members: &Members| match members {
            Members::Ranks(ranks) => ranks.contains(&stream.rank.into()),
            Members::Sides(..) => false,
        };
        if set.is_some_and(|set| is_own(&trace.communicators[set].1)) {
            found.insert("process that is its own neighbour");
        }
    }
    found
}

/// The features of starts of persistent collective operations that tell which one is started. Processes have their own
/// requests for the same operations.
fn of_starts(streams: &[&Stream]) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    // By communicator: the numbers in the order of starts of each process.
    let mut orders: BTreeMap<&str, BTreeSet<Vec<u64>>> = BTreeMap::new();
    for stream in streams {
        let steps = || stream.events.iter().map(|(_, step)| step);
        let of_request = |request: u64| {
            steps().find_map(|step| match plain(step) {
                Step::NonBlockingComplete { request: of, communicator, .. } if *of == request => {
                    Some(communicator.as_str())
                }
                _ => None,
            })
        };
        let mut starts: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for step in steps() {
            if let Step::WithAttributes(step, told) = step
                && let Step::NonBlockingRequest(request) = **step
            {
                found.insert("persistent collective that tells its operation");
                if let Some(communicator) = of_request(request) {
                    starts.entry(communicator).or_default().push(told[0].1);
                }
            }
        }
        starts.into_iter().for_each(|(name, order)| _ = orders.entry(name).or_default().insert(order));
    }
    let differ = |orders: &BTreeSet<Vec<u64>>| {
        let sorted = orders.iter().map(|order| {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted
        });
        sorted.collect::<BTreeSet<_>>().len() < orders.len()
    };
    if orders.values().any(differ) {
        found.insert("persistent collectives started in different orders");
    }
    found
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
        match plain(step) {
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
