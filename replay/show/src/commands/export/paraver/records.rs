//! Records of the trace: states (`1:`), events (`2:`) and messages (`3:`), sorted by time.

use std::collections::BTreeSet;

use super::mpi::{kind_and_state, value};
use super::{CAUSE, CRITICAL, FUNCTION, Object, Objects, WAIT_STATE};
use crate::commands::export::events::{Events, Stretch, What};

/// State of time without MPI, and of time that no window has.
const RUNNING: u32 = 1;
const DISABLED: u32 = 14;

/// A line of the trace with its time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Record {
    time: i64,
    pub(super) text: String,
}

/// What occurs in the trace, and needs labels.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Used {
    /// Functions of MPI: type, and position of the function.
    pub(super) mpi: BTreeSet<(u32, usize)>,
    /// Other functions.
    pub(super) functions: BTreeSet<usize>,
    /// Metrics of waits.
    pub(super) metrics: BTreeSet<usize>,
}

/// What a location does, while records are made.
#[derive(Clone, Default)]
struct Doing {
    /// Functions, the innermost last.
    stack: Vec<usize>,
    /// Since when it is in its state.
    since: i64,
}

/// Makes the records, sorted by time; of one time, states come first and messages last.
pub(super) fn records(events: &Events, critical: &[Stretch], objects: &Objects) -> (Used, Vec<Record>) {
    let mut used = Used::default();
    let mut records = Vec::new();
    let mut doing = vec![Doing::default(); events.places.len()];
    let mut has_calls = vec![false; events.places.len()];
    for event in &events.events {
        has_calls[event.location] |= matches!(event.what, What::Enter { .. });
    }
    for event in &events.events {
        let (location, time) = (event.location, event.time.max(0));
        let object = objects.of[location];
        let now = &mut doing[location];
        match event.what {
            What::Enter { function } => {
                state(events, now, object, time, &mut records);
                let (kind, value) = kind_and_value(events, function, &mut used);
                push_event(object, time, &[(kind, value)], &mut records);
                now.stack.push(function);
            }
            What::Leave => {
                state(events, now, object, time, &mut records);
                let Some(function) = now.stack.pop() else { continue };
                let (kind, _) = kind_and_value(events, function, &mut used);
                // A function of the program is left to the one around it; a call of MPI ends.
                let around = now.stack.last().map(|&above| kind_and_value(events, above, &mut used));
                let value = around.filter(|around| around.0 == kind && kind == FUNCTION);
                push_event(object, time, &[(kind, value.map_or(0, |around| around.1))], &mut records);
            }
            What::WaitBegin(wait) => {
                used.metrics.extend(wait.metric);
                let metric = wait.metric.map_or(1, |metric| metric as u64 + 1);
                let cause = wait.cause.map_or(0, |cause| cause as u64 + 1);
                push_event(object, time, &[(WAIT_STATE, metric), (CAUSE, cause)], &mut records);
            }
            What::WaitEnd(..) => {
                push_event(object, time, &[(WAIT_STATE, 0), (CAUSE, 0)], &mut records);
            }
            What::Receive(_, message) => {
                let (from, to) = (objects.of[message.source], object);
                let sent = message.send_leave.clamp(message.send_enter, message.receive_leave);
                // Without a time of the post the receive begins when it ends.
                let post = message.post.min(message.receive_leave).max(0);
                records.push(Record {
                    time: message.send_enter.max(0),
                    text: format!(
                        "3:{}:1:{}:{}:{}:{}:{}:1:{}:{}:{}:{}:{}:{}",
                        from.cpu,
                        from.task,
                        from.thread,
                        message.send_enter.max(0),
                        sent.max(0),
                        to.cpu,
                        to.task,
                        to.thread,
                        post,
                        message.receive_leave.max(0),
                        message.bytes.max(0),
                        message.tag.max(0)
                    ),
                });
            }
            What::Send(..) | What::Cause(..) => {}
        }
    }
    for (location, now) in doing.iter_mut().enumerate().filter(|(at, _)| has_calls[*at]) {
        state(events, now, objects.of[location], events.end.max(now.since), &mut records);
    }
    add_critical(critical, objects, &mut records);
    records.sort_by_key(|record| (record.time, record.text.as_bytes().first().copied()));
    (used, records)
}

/// Ends the state that a location is in.
fn state(events: &Events, now: &mut Doing, object: Object, time: i64, records: &mut Vec<Record>) {
    let number = match now.stack.last().map(|&function| &events.functions[function]) {
        None => DISABLED,
        Some(function) if function.category == "mpi" => kind_and_state(&function.name).1,
        Some(_) => RUNNING,
    };
    if time > now.since {
        let Object { cpu, task, thread } = object;
        let begin = now.since;
        let text = format!("1:{cpu}:1:{task}:{thread}:{begin}:{time}:{number}");
        records.push(Record { time: begin, text });
        now.since = time;
    }
}

/// Type and value of the event of a function.
fn kind_and_value(events: &Events, function: usize, used: &mut Used) -> (u32, u64) {
    let described = &events.functions[function];
    if described.category == "mpi" {
        let kind = kind_and_state(&described.name).0;
        used.mpi.insert((kind, function));
        (kind, value(&described.name, function))
    } else {
        used.functions.insert(function);
        (FUNCTION, function as u64 + 1)
    }
}

fn push_event(object: Object, time: i64, values: &[(u32, u64)], records: &mut Vec<Record>) {
    let Object { cpu, task, thread } = object;
    let mut text = format!("2:{cpu}:1:{task}:{thread}:{time}");
    values.iter().for_each(|(kind, value)| text += &format!(":{kind}:{value}"));
    records.push(Record { time, text });
}

/// Events where the critical path comes to a location, and where it leaves it.
fn add_critical(critical: &[Stretch], objects: &Objects, records: &mut Vec<Record>) {
    let mut last: Vec<i64> = vec![i64::MIN; objects.of.len()];
    for stretch in critical {
        let object = objects.of[stretch.location];
        let (begin, end) = (stretch.begin.max(0), stretch.end.max(0));
        if begin < last[stretch.location] {
            continue;
        }
        last[stretch.location] = end;
        push_event(object, begin, &[(CRITICAL, 1)], records);
        push_event(object, end, &[(CRITICAL, 0)], records);
    }
}
