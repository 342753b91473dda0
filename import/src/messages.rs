//! Messages of a task: how they lie in the spool, and in which communicators they are, so that the k-th send of each
//! channel belongs to the k-th receive that is posted there.
//!
//! A trace pairs both ends itself, without the communicator. The analysis pairs by communicator, sender, receiver, tag
//! and order. All messages are in the communicator of all tasks, but for those that overtake another one with their tag:
//! these are in further communicators, in as few as possible. Both tasks compute the same, as both see all messages of
//! a channel.

use std::io;

use rustc_hash::FxHashMap;

use crate::records::{Message, Thread};
use crate::spool::{Spool, put, take};

/// A message with what follows from the others of its channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Paired {
    pub(crate) message: Message,
    /// The number of the communicator; 0 is that of all messages in order.
    pub(crate) layer: u32,
    /// Whether several threads receive on the channel: their receives are in the order of posting only if it is recorded.
    pub(crate) is_shared: bool,
}

/// Appends a message.
pub(crate) fn encode(message: &Message, bytes: &mut Vec<u8>) {
    let Message { sender, receiver, sent, send_end, posted, completed, bytes: size, tag } = *message;
    for number in [
        sender.task.into(),
        sender.thread.into(),
        receiver.task.into(),
        receiver.thread.into(),
        sent,
        send_end - sent,
        completed,
        completed - posted,
        size,
        tag.into(),
    ] {
        put(number, bytes);
    }
}

fn decode(bytes: &mut &[u8]) -> Option<Message> {
    let mut number = || take(bytes);
    let small = |number: u64| u32::try_from(number).ok();
    let sender = Thread { task: small(number()?)?, thread: small(number()?)? };
    let receiver = Thread { task: small(number()?)?, thread: small(number()?)? };
    let sent = number()?;
    let send_end = sent + number()?;
    let completed = number()?;
    let posted = completed.saturating_sub(number()?);
    let (size, tag) = (number()?, small(number()?)?);
    Some(Message { sender, receiver, sent, send_end, posted, completed, bytes: size, tag })
}

/// Reads the messages of a task, in the order in which they are sent.
pub(crate) fn read(spool: &Spool, stream: usize) -> io::Result<Vec<Paired>> {
    let mut messages = Vec::new();
    let mut blocks = spool.blocks(stream);
    let mut buffer = Vec::new();
    while blocks.next(&mut buffer)? {
        let mut left = buffer.as_slice();
        while let Some(message) = decode(&mut left) {
            messages.push(Paired { message, layer: 0, is_shared: false });
        }
    }
    // Those of one time keep the order of the trace.
    messages.sort_by_key(|paired| (paired.message.sent, paired.message.sender.thread));
    pair(&mut messages);
    Ok(messages)
}

/// Messages of a sender, a receiver and a tag.
#[derive(Debug)]
struct Channel {
    /// The thread that receives the first one.
    receiver: u32,
    is_shared: bool,
    /// By communicator: where the last message was posted; these times decrease.
    posted: Vec<(u64, u32)>,
}

/// Finds the communicator of each message, in the order in which they are sent.
fn pair(messages: &mut [Paired]) {
    let mut channels: FxHashMap<(u32, u32, u32), Channel> = FxHashMap::default();
    for paired in &mut *messages {
        let Message { sender, receiver, posted, tag, .. } = paired.message;
        let channel = channels.entry((sender.task, receiver.task, tag)).or_insert_with(|| Channel {
            receiver: receiver.thread,
            is_shared: false,
            posted: Vec::new(),
        });
        channel.is_shared |= channel.receiver != receiver.thread;
        let place = (posted, receiver.thread);
        let layer = channel.posted.partition_point(|&last| last > place);
        match channel.posted.get_mut(layer) {
            Some(last) => *last = place,
            None => channel.posted.push(place),
        }
        paired.layer = u32::try_from(layer).unwrap_or(u32::MAX);
    }
    for paired in messages {
        let Message { sender, receiver, tag, .. } = paired.message;
        paired.is_shared =
            channels.get(&(sender.task, receiver.task, tag)).is_some_and(|channel| channel.is_shared);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(sent: u64, posted: u64, tag: u32) -> Message {
        let receiver = Thread { task: 1, thread: 0 };
        Message { receiver, sent, send_end: sent, posted, completed: posted + 5, tag, ..Message::default() }
    }

    fn layers(messages: &[Message]) -> Vec<u32> {
        let mut spool = Spool::new(tempfile::tempfile().unwrap(), 1);
        for message in messages {
            let mut item = Vec::new();
            encode(message, &mut item);
            spool.push(0, &item).unwrap();
        }
        let read = read(&spool, 0).unwrap();
        assert_eq!(read.len(), messages.len());
        read.iter().map(|paired| paired.layer).collect()
    }

    #[test]
    fn messages_that_overtake_others_are_in_another_communicator() {
        assert_eq!(layers(&[message(1, 10, 0), message(2, 20, 0), message(3, 20, 0)]), [0, 0, 0]);
        assert_eq!(
            layers(&[message(1, 30, 0), message(2, 20, 0), message(3, 10, 0), message(4, 40, 0)]),
            [0, 1, 2, 0]
        );
        assert_eq!(layers(&[message(1, 30, 0), message(2, 20, 1)]), [0, 0], "another tag");
        assert_eq!(layers(&[message(2, 30, 0), message(1, 20, 0)]), [0, 0], "in the order of sending");
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let thread = |task, thread| Thread { task, thread };
        let whole = Message {
            sender: thread(u32::MAX, 3),
            receiver: thread(7, 1 << 20),
            sent: 1 << 60,
            send_end: 1 << 60,
            posted: 0,
            completed: 1 << 59,
            bytes: u64::MAX,
            tag: u32::MAX,
        };
        let mut item = Vec::new();
        encode(&whole, &mut item);
        assert_eq!(decode(&mut item.as_slice()), Some(whole));
        assert_eq!(decode(&mut item[..10].as_ref()), None);
    }
}
