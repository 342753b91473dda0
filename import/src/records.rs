//! Records of a trace, a line each: states, events and communications.
//!
//! ```text
//! 1:cpu:application:task:thread:begin:end:state
//! 2:cpu:application:task:thread:time:type:value[:type:value…]
//! 3:cpu:application:task:thread:logical:physical:cpu:application:task:thread:logical:physical:size:tag
//! ```
//!
//! The first half of a communication is the sender's, the second one the receiver's. Logical is the time at which the
//! program sends or posts, physical the one at which its call is over.

use crate::error::{Fault, excerpt};
use crate::fields::Fields;
use crate::header::{LATEST, Task};

/// A record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Record<'t> {
    /// A state, a comment or an empty line, which are not needed.
    Skipped,
    /// Values of types of events, at a time of a thread.
    Event { thread: Thread, time: u64, values: Values<'t> },
    /// A message with both ends.
    Message(Message),
    /// The line of a communicator.
    Communicator,
}

/// A thread: its task, and its position among the threads of that, both from 0 on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Thread {
    pub(crate) task: u32,
    pub(crate) thread: u32,
}

/// A message. Times are in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Message {
    pub(crate) sender: Thread,
    pub(crate) receiver: Thread,
    /// When it is sent, and when the sender's call is over.
    pub(crate) sent: u64,
    pub(crate) send_end: u64,
    /// When the receive is posted, and when it is complete.
    pub(crate) posted: u64,
    pub(crate) completed: u64,
    pub(crate) bytes: u64,
    pub(crate) tag: u32,
}

/// Types and values of an event that have not been parsed yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'t>(Fields<'t>);

impl Values<'_> {
    /// The next type with its value.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<(u64, u64)>, Fault> {
        if self.0.is_at_end() {
            return Ok(None);
        }
        let kind = self.0.next("the type of an event")?;
        self.0.expect(b':', "the value of an event")?;
        let at = self.0.at();
        let value = self.0.signed("the value of an event")?;
        // Some programs write values without sign, others with one: both are 64 bits.
        let bits = u64::try_from(value).or_else(|_| i64::try_from(value).map(i64::cast_unsigned));
        let wrong =
            |_| Fault::new(at, "found a value below -2^63, expected one of 64 bits; write the trace anew");
        Ok(Some((kind, bits.map_err(wrong)?)))
    }
}

/// Parses a line of a trace with these tasks.
#[inline]
pub(crate) fn parse<'t>(line: &'t [u8], tasks: &[Task]) -> Result<Record<'t>, Fault> {
    match line {
        [b'1', b':', ..] | [b'#', ..] | [] => Ok(Record::Skipped),
        [b'2', b':', ..] => {
            let mut fields = Fields::new(line, 1);
            let thread = thread(&mut fields, tasks)?;
            let time = time(&mut fields, "the time of an event")?;
            Ok(Record::Event { thread, time, values: Values(fields) })
        }
        [b'3', b':', ..] => message(line, tasks).map(Record::Message),
        [b'c' | b'C' | b'i' | b'I', b':', ..] => Ok(Record::Communicator),
        _ => Err(Fault::new(
            0,
            format_args!(
                "found {}, expected a record (1:, 2:, 3: or c:); the file is damaged: write the trace anew",
                excerpt(line)
            ),
        )),
    }
}

/// The thread of a record: processor, application, task and thread.
#[inline]
fn thread(fields: &mut Fields<'_>, tasks: &[Task]) -> Result<Thread, Fault> {
    fields.next("the processor")?;
    let at = fields.at() + 1;
    let application = fields.next("the application")?;
    let task = fields.next("the task")?;
    let thread = fields.next("the thread")?;
    let position = usize::try_from(task).ok().and_then(|task| task.checked_sub(1));
    let known = position.and_then(|position| tasks.get(position)).filter(|_| application == 1);
    if let Some(known) = known
        && (1..=u64::from(known.threads)).contains(&thread)
        && let (Ok(task), Ok(thread)) = (u32::try_from(task), u32::try_from(thread))
    {
        return Ok(Thread { task: task - 1, thread: thread - 1 });
    }
    Err(unknown(at, (application, task, thread), tasks))
}

#[cold]
fn unknown(at: usize, (application, task, thread): (u64, u64, u64), tasks: &[Task]) -> Fault {
    let count = tasks.len();
    Fault::new(
        at,
        format_args!(
            "found application {application}, task {task}, thread {thread}, expected those of the header: application 1 with \
             tasks 1 to {count}; the trace is damaged or was put together of several: write it anew"
        ),
    )
}

#[inline]
fn time(fields: &mut Fields<'_>, what: &str) -> Result<u64, Fault> {
    let at = fields.at() + 1;
    let time = fields.next(what)?;
    if time > LATEST {
        return Err(Fault::new(
            at,
            format_args!("found the time {time}, expected at most 2^60; write the trace anew"),
        ));
    }
    Ok(time)
}

fn message(line: &[u8], tasks: &[Task]) -> Result<Message, Fault> {
    let mut fields = Fields::new(line, 1);
    let sender = thread(&mut fields, tasks)?;
    let sent = time(&mut fields, "the time of a send")?;
    let send_end = time(&mut fields, "the end of a send")?;
    let receiver = thread(&mut fields, tasks)?;
    let posted = time(&mut fields, "the time at which a receive is posted")?;
    let completed = time(&mut fields, "the end of a receive")?;
    let bytes = signed(&mut fields, "the size of a message")?;
    let at = fields.at() + 1;
    let tag = signed(&mut fields, "the tag of a message")?;
    // Tags are numbers of 32 bits, which Extrae writes without sign.
    let tag = u32::try_from(tag).or_else(|_| i32::try_from(tag).map(i32::cast_unsigned));
    let tag =
        tag.map_err(|_| Fault::new(at, "found a larger tag, expected one of 32 bits; write the trace anew"))?;
    // Extrae writes sizes as numbers of 32 bits with sign, so that those of 2 GiB and more are negative.
    let wrapped =
        u64::try_from(bytes).or_else(|_| i32::try_from(bytes).map(|bytes| bytes.cast_unsigned().into()));
    let bytes = wrapped.unwrap_or(0);
    Ok(Message { sender, receiver, sent, send_end, posted, completed, bytes, tag })
}

fn signed(fields: &mut Fields<'_>, what: &str) -> Result<i128, Fault> {
    fields.expect(b':', what)?;
    fields.signed(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASKS: [Task; 2] = [Task { threads: 1, node: 0 }, Task { threads: 2, node: 0 }];

    #[test]
    fn events_have_types_and_values() {
        let Ok(Record::Event { thread, time, mut values }) =
            parse(b"2:9:1:2:2:77:50000001:3:42000050:-1", &TASKS)
        else {
            panic!("no event")
        };
        assert_eq!((thread, time), (Thread { task: 1, thread: 1 }, 77));
        assert_eq!(values.next().unwrap(), Some((50_000_001, 3)));
        assert_eq!(values.next().unwrap(), Some((42_000_050, u64::MAX)));
        assert_eq!(values.next().unwrap(), None);
    }

    #[test]
    fn messages_have_both_ends() {
        let Ok(Record::Message(message)) =
            parse(b"3:1:1:1:1:10:12:2:1:2:1:5:20:-2147483648:4294967295", &TASKS)
        else {
            panic!("no message")
        };
        assert_eq!((message.sender.task, message.receiver.task), (0, 1));
        assert_eq!([message.sent, message.send_end, message.posted, message.completed], [10, 12, 5, 20]);
        assert_eq!((message.bytes, message.tag), (1 << 31, u32::MAX));
    }

    #[test]
    fn wrong_records_are_refused_with_their_place() {
        for (line, at, what) in [
            ("2:1:1:3:1:0:1:1", 4, "found application 1, task 3, thread 1"),
            ("2:1:2:1:1:0:1:1", 4, "application 2"),
            ("2:1:1:1:2:0:1:1", 4, "thread 2"),
            ("2:1:1:1:0:0:1:1", 4, "thread 0"),
            ("2:1:1:1:1:x:1:1", 10, "found \"x:1:1\", expected the time of an event"),
            ("2:1:1:1:1:1152921504606846977:1:1", 10, "at most 2^60"),
            ("3:1:1:1:1:0:0:1:1:1:1:0:0:8:9999999999", 28, "larger tag"),
            ("4:1", 0, "expected a record"),
        ] {
            let fault = parse(line.as_bytes(), &TASKS).map(|_| ()).unwrap_err();
            assert!(fault.message.contains(what), "{}", fault.message);
            assert_eq!(fault.at, at, "{line}");
        }
        assert!(matches!(parse(b"1:what", &TASKS), Ok(Record::Skipped)));
    }
}
