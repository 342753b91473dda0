//! `chrome`: events in the Trace Event Format, as JSON
//! (<https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>).
//!
//! Complete events (`X`) for calls and waits, metadata (`M`), counters (`C`), and flows (`s`, `f`) for messages and from
//! causes to waits. Times are microseconds with three decimals. A location has two threads: one of calls, one of waits,
//! since a wait may reach over the ends of calls.

use std::io::Write;

use super::Remarks;
use super::events::{Event, Events, Message, Series, Wait, What, counters, from_tables};
use super::source::Source;
use super::text::{json_number, json_string, name};
use crate::error::Result;
use crate::paths;

/// Writes events.
///
/// # Errors
/// If the report has none, or the output cannot be written.
pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> Result<Remarks> {
    let (events, remarks) = from_tables(source)?;
    let mut list = List { out, is_empty: true };
    list.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
    metadata(source, &events, &mut list)?;
    for series in counters(source)? {
        counter(source, &series, &mut list)?;
    }
    for (event, leave) in events.events.iter().zip(leaves(&events)) {
        add(source, &events, event, leave, &mut list)?;
    }
    list.out.write_all(b"\n]}\n")?;
    Ok(remarks)
}

/// A list of JSON objects that is being written.
struct List<'o> {
    out: &'o mut dyn Write,
    is_empty: bool,
}

impl List<'_> {
    fn push(&mut self, object: &str) -> Result<()> {
        if !self.is_empty {
            self.out.write_all(b",\n")?;
        }
        self.is_empty = false;
        Ok(self.out.write_all(object.as_bytes())?)
    }
}

/// Nanoseconds as microseconds with three decimals.
fn time(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let nanoseconds = nanoseconds.unsigned_abs();
    format!("{sign}{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}

/// Numbers of the threads of calls and of waits; speedscope and others take 0 for none.
fn threads(location: usize) -> (usize, usize) {
    (2 * location + 1, 2 * location + 2)
}

/// Names of processes and threads that have events.
fn metadata(source: &Source<'_>, events: &Events, list: &mut List<'_>) -> Result<()> {
    let mut has_events = vec![false; events.places.len()];
    let mut has_waits = has_events.clone();
    for event in &events.events {
        has_events[event.location] = true;
        has_waits[event.location] |= matches!(event.what, What::WaitBegin(_));
    }
    for (at, place) in events.places.iter().enumerate().filter(|(at, _)| has_events[*at]) {
        let pid = place.process + 1;
        let (calls, waits) = threads(at);
        let named = |kind: &str, tid: usize, text: &str| {
            let text = json_string(&name(text));
            format!(
                "{{\"ph\":\"M\",\"name\":\"{kind}\",\"pid\":{pid},\"tid\":{tid},\"args\":{{\"name\":{text}}}}}"
            )
        };
        list.push(&named("process_name", calls, &place.process_name))?;
        list.push(&named("thread_name", calls, &place.thread_name))?;
        if has_waits[at] {
            list.push(&named("thread_name", waits, &format!("{} waits", source.location_name(at))))?;
        }
        list.push(&format!(
            "{{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{pid},\"tid\":{calls},\
             \"args\":{{\"sort_index\":{pid}}}}}"
        ))?;
    }
    Ok(())
}

/// A counter, at a process of its own for each node.
fn counter(source: &Source<'_>, series: &Series, list: &mut List<'_>) -> Result<()> {
    let cube = source.cube();
    let node = series.node.and_then(|node| cube.system_tree_nodes.get(node)).map(|node| node.name.as_str());
    let pid = cube.location_groups.len() + 2 + series.node.map_or(0, |node| node + 1);
    let title = json_string(&name(node.unwrap_or("all ranks")));
    list.push(&format!(
        "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{pid},\"tid\":0,\"args\":{{\"name\":{title}}}}}"
    ))?;
    for &(at, value) in &series.points {
        list.push(&format!(
            "{{\"ph\":\"C\",\"name\":\"{}\",\"pid\":{pid},\"tid\":0,\"ts\":{},\"args\":{{\"{}\":{}}}}}",
            series.name,
            time(at),
            series.unit,
            json_number(value)
        ))?;
    }
    Ok(())
}

/// For each event that enters a call, when the call ends; `None` for others. Calls are written where they begin: of two
/// with the same times, viewers take the first for the outer one.
fn leaves(events: &Events) -> Vec<Option<i64>> {
    let mut leaves = vec![None; events.events.len()];
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); events.places.len()];
    for (at, event) in events.events.iter().enumerate() {
        match event.what {
            What::Enter { .. } => open[event.location].push(at),
            What::Leave => {
                if let Some(enter) = open[event.location].pop() {
                    leaves[enter] = Some(event.time);
                }
            }
            _ => {}
        }
    }
    leaves
}

fn add(
    source: &Source<'_>,
    events: &Events,
    event: &Event,
    leave: Option<i64>,
    list: &mut List<'_>,
) -> Result<()> {
    let location = event.location;
    let pid = events.places[location].process + 1;
    let (calls, waits) = threads(location);
    match event.what {
        What::Enter { function } => {
            let Some(leave) = leave else { return Ok(()) };
            let function = &events.functions[function];
            let (title, category) = (json_string(&name(&function.name)), function.category);
            let (begin, length) = (time(event.time), time(leave - event.time));
            list.push(&format!(
                "{{\"ph\":\"X\",\"name\":{title},\"cat\":\"{category}\",\"pid\":{pid},\"tid\":{calls},\
                 \"ts\":{begin},\"dur\":{length}}}"
            ))?;
        }
        What::WaitBegin(wait) => {
            let (begin, length) = (time(wait.begin), time(wait.end - wait.begin));
            let (title, arguments) = wait_text(source, &wait);
            list.push(&format!(
                "{{\"ph\":\"X\",\"name\":{title},\"cat\":\"wait\",\"pid\":{pid},\"tid\":{waits},\
                 \"ts\":{begin},\"dur\":{length},\"args\":{{{arguments}}}}}"
            ))?;
        }
        What::Send(number, message) => {
            let arguments = message_text(&message);
            list.push(&flow("s", "message", number, (pid, calls), event.time, &arguments))?;
        }
        What::Receive(number, message) => {
            // Within the call: at its very end it would already be outside.
            let within = (event.time - 1).max(message.send_enter);
            let arguments = message_text(&message);
            list.push(&flow("f", "message", number, (pid, calls), within, &arguments))?;
        }
        What::Cause(number, _) => list.push(&flow("s", "cause", number, (pid, calls), event.time, ""))?,
        What::WaitEnd(number, wait) if wait.has_arrow() => {
            let within = (event.time - 1).max(wait.begin);
            list.push(&flow("f", "cause", number, (pid, waits), within, ""))?;
        }
        What::Leave | What::WaitEnd(..) => {}
    }
    Ok(())
}

fn flow(
    phase: &str,
    kind: &str,
    number: u64,
    (pid, tid): (usize, usize),
    at: i64,
    arguments: &str,
) -> String {
    // Bound to the slice around it, not to the next one.
    let binding = if phase == "f" { ",\"bp\":\"e\"" } else { "" };
    format!(
        "{{\"ph\":\"{phase}\",\"name\":\"{kind}\",\"cat\":\"{kind}\",\"id\":{number}{binding},\
         \"pid\":{pid},\"tid\":{tid},\"ts\":{},\"args\":{{{arguments}}}}}",
        time(at)
    )
}

fn message_text(message: &Message) -> String {
    let Message { bytes, tag, communicator, .. } = message;
    format!("\"bytes\":{bytes},\"tag\":{tag},\"communicator\":{communicator}")
}

/// Name and arguments of a wait.
fn wait_text(source: &Source<'_>, wait: &Wait) -> (String, String) {
    let title = json_string(&name(&source.metric_title(wait.metric)));
    let mut arguments = format!("\"ticks\":{}", wait.ticks);
    if let Some(cause) = wait.cause {
        arguments += &format!(",\"cause\":{}", json_string(&source.location_name(cause)));
    }
    if let Some(cnode) = wait.cnode {
        let path = paths::path(source.cube(), cubex::CnodeId(cnode));
        arguments += &format!(",\"call path\":{}", json_string(&path));
    }
    if wait.bytes >= 0 {
        arguments += &format!(",\"bytes\":{}", wait.bytes);
    }
    (title, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_microseconds_with_three_decimals() {
        assert_eq!(
            (time(0), time(1_234_567), time(-5)),
            ("0.000".into(), "1234.567".into(), "-0.005".into())
        );
    }
}
