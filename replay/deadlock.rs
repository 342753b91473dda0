//! Deadlocks: processes that wait for each other in a circle at the end of the trace.
//!
//! At its end a hung program is in calls that never returned. The trace shows their partners only if they
//! send: a send is recorded when it starts, a receive or a collective operation when it is complete. So a
//! circle is found if its calls are sends, or wait for sends. A process that has posted a receive, or does so
//! in the same call (`MPI_Sendrecv`), may still be released: a trace can also end in the middle of an
//! exchange.

use std::collections::{BTreeMap, BTreeSet};

use patterns::matched::Completion;

use crate::error::Error;
use crate::exchange::{Batch, Exchange, gather};
use crate::findings::{Finding, Findings, cut};
use crate::ids::CallId;
use crate::matching::Matches;
use crate::trace::Trace;
use crate::walk::Walked;
use crate::wire::{self, Wire, wire};

/// The most processes of a circle that are named.
const NAMED: usize = 16;

/// The most bytes of the name of a call path here, as every process that hangs sends one.
const LONGEST_PLACE: usize = 300;

/// A process in a call that never returned.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Blocked {
    /// The time at which it entered the call.
    since: i64,
    /// Its location in the report.
    location: u32,
    /// The call path.
    place: String,
    /// The processes that it waits for.
    partners: BTreeSet<u32>,
}

wire!(Blocked { since, location, place, partners });

/// Finds circles of waiting processes and reports them as findings of worker 0.
///
/// # Errors
/// If a worker failed.
pub fn find(
    trace: &Trace,
    processes: &[Walked],
    matches: &[Matches],
    findings: &mut Findings,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    let mut batch = Batch::new();
    for (walked, matches) in processes.iter().zip(matches) {
        if let Some(blocked) = blocked(trace, walked, matches) {
            (walked.process.number, blocked).put(&mut batch);
        }
    }
    let mut waiting: BTreeMap<u32, Blocked> = BTreeMap::new();
    for batch in gather(exchange, batch)? {
        waiting.extend(wire::all::<(u32, Blocked)>(&batch));
    }
    for circle in circles(&waiting) {
        let first = &waiting[&circle[0]];
        findings.add(Finding::Deadlock, first.since, first.location as usize, || {
            let place = |process: &u32| {
                let blocked = &waiting[process];
                format!("{} in {}", trace.location_name(blocked.location as usize), blocked.place)
            };
            let mut places: Vec<String> = circle.iter().take(NAMED).map(place).collect();
            if circle.len() > NAMED {
                places.push(format!("{} others", circle.len() - NAMED));
            }
            places.push(place(&circle[0]));
            places.join(" waits for ")
        });
    }
    Ok(())
}

/// Returns the call of a process that never returned and waits for a receiver; if several threads are in such
/// calls, the last one.
fn blocked(trace: &Trace, walked: &Walked, matches: &Matches) -> Option<Blocked> {
    let operations = &walked.operations;
    // If the end of the events is missing, the call may have returned.
    if operations.has_open_receives || operations.has_unknown_end {
        return None;
    }
    let open = operations.calls.last_open()?;
    let waits_for_requests = matches!(open.site.completion, Completion::WaitOne | Completion::WaitMany);
    let sends = operations.sends.iter().enumerate();
    let partners: BTreeSet<u32> = sends
        .filter(|&(at, send)| matches.postings.is_alone(at) && !send.is_cancelled())
        .filter(|(_, send)| match send.completion {
            CallId::NONE => waits_for_requests,
            call => {
                let call = operations.call(call);
                call.never_returned && call.site.completion == Completion::BlockingSend
            }
        })
        .map(|(_, send)| operations.destination(send).peer)
        .collect();
    (!partners.is_empty()).then(|| Blocked {
        since: open.interval.enter,
        location: open.site.location,
        place: cut(trace.path_name(&walked.process.paths, open.site.path), LONGEST_PLACE),
        partners,
    })
}

/// Returns circles without common processes, each starting with its lowest process, the lowest circle first.
fn circles(waiting: &BTreeMap<u32, Blocked>) -> Vec<Vec<u32>> {
    let mut circles: Vec<Vec<u32>> = Vec::new();
    // Processes from which no circle can be reached other than those found.
    let mut done: BTreeSet<u32> = BTreeSet::new();
    let step = |process: u32, done: &BTreeSet<u32>| {
        let partners = &waiting.get(&process)?.partners;
        partners.iter().copied().find(|partner| waiting.contains_key(partner) && !done.contains(partner))
    };
    for &start in waiting.keys() {
        let (mut path, mut on_path) = (Vec::new(), BTreeSet::new());
        let mut next = Some(start).filter(|start| !done.contains(start));
        loop {
            let Some(process) = next else {
                // A dead end: go back to where another way may start.
                let Some(dead) = path.pop() else { break };
                on_path.remove(&dead);
                done.insert(dead);
                next = path.last().and_then(|&last| step(last, &done));
                continue;
            };
            if !on_path.insert(process) {
                let at = path.iter().position(|&known| known == process).unwrap_or(0);
                done.extend(&path);
                let mut circle = path.split_off(at);
                let lowest = (0..circle.len()).min_by_key(|&at| circle[at]).unwrap_or(0);
                circle.rotate_left(lowest);
                circles.push(circle);
                break;
            }
            path.push(process);
            next = step(process, &done);
        }
    }
    circles.sort();
    circles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(edges: &[(u32, &[u32])]) -> Vec<Vec<u32>> {
        let blocked = |partners: &[u32]| Blocked {
            since: 0,
            location: 0,
            place: String::new(),
            partners: partners.iter().copied().collect(),
        };
        circles(&edges.iter().map(|(process, partners)| (*process, blocked(partners))).collect())
    }

    #[test]
    fn two_that_send_to_each_other_are_a_circle() {
        assert_eq!(found(&[(0, &[1]), (1, &[0])]), [[0, 1]]);
    }

    #[test]
    fn those_that_wait_for_a_circle_do_not_belong_to_it() {
        assert_eq!(found(&[(0, &[2]), (1, &[3]), (2, &[1]), (3, &[2])]), [[1, 3, 2]]);
    }

    #[test]
    fn chain_to_a_process_that_goes_on_is_no_circle() {
        assert!(found(&[(0, &[1]), (1, &[2])]).is_empty());
    }

    #[test]
    fn circle_behind_a_dead_end_is_found() {
        assert_eq!(found(&[(0, &[1, 2]), (1, &[5]), (2, &[0])]), [[0, 2]]);
    }
}
