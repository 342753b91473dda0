//! The second walk over the processes of windows: their calls there, and the messages between them.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

use model::Ticks;
use otf2::Archive;
use patterns::matched::ReceivedMessage;

use super::plan::{Plan, Window};
use super::rows::{MessageRow, Rows};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::ids::{PathId, ReportPath};
use crate::int::to_u32;
use crate::matching::{self, Matches};
use crate::tools::Tools;
use crate::walk::{self, Walked, WalkedProcess, WindowCalls};

/// Messages of a window that are kept.
pub(super) const MOST_MESSAGES: usize = 4096;

/// Reads what this worker's locations did in windows. `numbers` returns the call paths of the report that those of a process
/// are, by position.
///
/// # Errors
/// If a worker failed, or memory gets short.
pub(in crate::details) fn read<'n>(
    archive: &Archive,
    tools: &Tools<'_>,
    numbers: impl Fn(&WalkedProcess) -> Cow<'n, [ReportPath]>,
    plan: &Plan,
    exchange: &mut dyn Exchange,
) -> Result<Rows, Error> {
    let trace = tools.trace;
    let is_mpi: Arc<[bool]> = trace.kinds.iter().map(|kind| kind.is_mpi).collect();
    let mut rows = Rows::new(plan);
    let mut walked = Vec::new();
    let locations = plan.windows.iter().flat_map(|window| &window.locations);
    let mut processes: Vec<usize> = locations.map(|&location| tools.process_of(location)).collect();
    processes.sort_unstable();
    processes.dedup();
    for &process in processes.iter().filter(|&&process| tools.owners.of(process) == exchange.worker()) {
        let of_process = trace.processes[process].locations.clone();
        let windows = |location: usize| plan.of_location(to_u32(location)).map(|(_, window)| window.time());
        let calls = |location: usize| WindowCalls::new(windows(location).collect(), Arc::clone(&is_mpi));
        let files = walk::open(archive, trace, process)?;
        let calls: Vec<WindowCalls> = of_process.clone().map(calls).collect();
        let (again, calls) = walk::walk_again(archive, trace, tools.metrics, &files, calls, tools.memory)?;
        let numbers = numbers(&again.process);
        for (location, calls) in of_process.zip(calls) {
            for ((window, _), kept) in plan.of_location(to_u32(location)).zip(calls.kept) {
                let of_report = |path: PathId| numbers.get(path.index()).copied().unwrap_or(ReportPath::NONE);
                rows.add_calls(window, to_u32(location), kept, of_report);
            }
        }
        walked.push(again);
    }
    let is_wanted = |process: usize| processes.binary_search(&process).is_ok();
    let matches = matching::match_again(tools, &walked, is_wanted, exchange)?;
    for (walked, matches) in walked.iter().zip(&matches) {
        for (number, window) in plan.windows.iter().enumerate() {
            messages(tools, walked, matches, window, &mut rows.messages[number]);
        }
    }
    Ok(rows)
}

/// Adds the messages that a process received in a window from locations of the window.
fn messages(
    tools: &Tools<'_>,
    walked: &Walked,
    matches: &Matches,
    window: &Window,
    into: &mut Vec<MessageRow>,
) {
    let operations = &walked.operations;
    if !walked.process.locations.iter().any(|location| window.has(to_u32(location.location))) {
        return;
    }
    for (at, receive) in operations.receives.iter().enumerate() {
        let call = operations.call(receive.call);
        if !window.has(call.site.location) {
            continue;
        }
        let Some(send) = matches.sends.get(at).filter(|send| window.has(send.place.location)) else {
            continue;
        };
        let post = operations.posting(to_u32(at)).enter;
        let is_in = |begin: Ticks, end: Ticks| begin < window.end && end > window.begin;
        if !is_in(send.call.enter, send.call.leave) && !is_in(post, call.interval.leave) {
            continue;
        }
        let envelope = operations.source(receive);
        let message = ReceivedMessage {
            sent: send.time,
            send: send.call,
            receive: call.interval,
            completion: call.site.completion,
            source: envelope.rank,
            bytes: send.bytes,
        };
        let waits = tools.metrics.at_late_message.iter().map(|(_, rule)| rule(&message));
        into.push(MessageRow {
            source: send.place.location,
            destination: call.site.location,
            send_enter: send.call.enter,
            send_leave: send.call.leave,
            post,
            receive_leave: call.interval.leave,
            bytes: send.bytes,
            tag: envelope.tag,
            communicator: envelope.communicator,
            ticks: waits.max().unwrap_or(0).max(0),
        });
        if into.len() >= 2 * MOST_MESSAGES {
            prune(into);
        }
    }
}

/// Leaves out messages beyond the limit; those that were waited for longest stay.
pub(super) fn prune(messages: &mut Vec<MessageRow>) {
    messages.sort_unstable_by_key(|message| (Reverse(message.ticks), *message));
    messages.truncate(MOST_MESSAGES);
}
