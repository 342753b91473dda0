//! Calls and messages of the trace beside a report, where an experiment directory is exported.
//!
//! The k-th message of a channel (communicator, sender, receiver, tag) is received by the k-th receive that was posted there,
//! as MPI demands.

use std::collections::BTreeMap;

use cubex::LocationGroupKind;
use model::{Definitions, GroupType, Members, Paradigm};
use otf2::{Archive, Event as Record};
use rustc_hash::FxHashMap;

use super::nested::{Call, append};
use super::{Events, Function, Message, nanoseconds};
use crate::commands::export::source::Source;
use crate::error::{Error, Result};

/// Calls, and ends of messages, that are read without `--large`: they are in memory together. Messages are counted from the
/// begin of the trace, whatever the window.
const MOST: usize = 4_000_000;

/// `GroupFlag` bit: ranks in events are ranks of the world already.
const GLOBAL_MEMBERS: u32 = 1;

/// The trace in the directory that was named; `None` if a file was named, or there is no trace in it.
pub(super) fn archive(source: &Source<'_>) -> Option<Archive> {
    let directory = source.args.files.first().filter(|path| path.is_dir())?;
    Archive::open(directory).ok()
}

/// One end of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct End {
    /// When the call begins that sends or posts.
    begin: i64,
    /// Position in the list of all ends, so that those of one time keep their order.
    order: usize,
    /// When the call ends that sends or completes.
    end: i64,
    location: usize,
    bytes: i64,
}

/// Communicator, ranks of sender and receiver, and tag.
type Channel = (u32, u64, u64, u32);

/// What is read.
#[derive(Default)]
struct Read {
    sends: BTreeMap<Channel, Vec<End>>,
    receives: BTreeMap<Channel, Vec<End>>,
    /// How many more calls and ends may be read.
    left: usize,
}

/// What definitions mean for events.
struct Ranks<'d> {
    definitions: &'d Definitions,
    /// Ranks by position of the location group.
    of_group: FxHashMap<usize, u64>,
}

impl<'d> Ranks<'d> {
    fn new(definitions: &'d Definitions) -> Ranks<'d> {
        let is_world = |group: &&model::Group| {
            group.kind == GroupType::COMM_LOCATIONS && group.paradigm == Paradigm::MPI
        };
        let members = definitions.groups.iter().find(is_world).map_or(&[][..], |group| &group.members);
        let mut of_group = FxHashMap::default();
        for (rank, &reference) in (0..).zip(members) {
            if let Some(location) = definitions.locations.find(reference) {
                of_group.entry(location.group).or_insert(rank);
            }
        }
        Ranks { definitions, of_group }
    }

    /// The rank in the world of a peer, by its rank in a communicator.
    fn peer(&self, own: u64, communicator: u32, rank: u32) -> Option<u64> {
        let groups = &self.definitions.groups;
        let group = match self.definitions.communicators.find(communicator.into())?.members {
            Members::Group(group) => groups.get(group)?,
            // Ranks count on the other side.
            Members::Inter(a, b) => {
                let (a, b) = (groups.get(a)?, groups.get(b)?);
                if a.members.contains(&own) { b } else { a }
            }
        };
        match group.kind {
            GroupType::COMM_SELF => (rank == 0).then_some(own),
            _ if group.flags & GLOBAL_MEMBERS != 0 => Some(rank.into()),
            _ => group.members.get(usize::try_from(rank).ok()?).copied(),
        }
    }
}

/// Adds the calls of the selected locations in a time span, and returns the messages between them.
///
/// # Errors
/// If the trace cannot be read, or has more events than fit into memory.
pub(super) fn add(
    source: &Source<'_>,
    archive: &Archive,
    (begin, end): (i64, i64),
    events: &mut Events,
) -> Result<Vec<Message>> {
    let definitions = archive.definitions().map_err(wrong)?;
    let functions = definitions.regions.iter().map(|region| Function {
        name: region.name.clone(),
        category: match region.paradigm {
            Paradigm::MPI => "mpi",
            Paradigm::OPENMP => "omp",
            _ => "user",
        },
    });
    events.functions = functions.collect();
    let ranks = Ranks::new(&definitions);
    let places = places(source, &ranks);
    let most = if source.args.large { usize::MAX } else { MOST };
    let mut read = Read { left: most, ..Read::default() };
    for (position, &(location, rank)) in &places {
        if !source.locations[location] {
            continue;
        }
        let reference = definitions.locations.reference(*position);
        let calls = read_location(archive, &ranks, reference, (location, rank), (begin, end), &mut read)?;
        append(calls, location, |region| region, &mut events.events);
    }
    Ok(paired(read))
}

/// Locations of the report and ranks, by position of the location in the trace: the k-th thread of a rank is the same in
/// both.
fn places(source: &Source<'_>, ranks: &Ranks<'_>) -> BTreeMap<usize, (usize, u64)> {
    let cube = source.cube();
    let mut of_rank: BTreeMap<u64, std::collections::VecDeque<usize>> = BTreeMap::new();
    for (at, location) in cube.locations.iter().enumerate() {
        let group = &cube.location_groups[location.group.0];
        if group.kind == LocationGroupKind::Process {
            of_rank.entry(group.rank).or_default().push_back(at);
        }
    }
    let locations = ranks.definitions.locations.iter().enumerate();
    let known = locations.filter_map(|(position, location)| {
        let rank = *ranks.of_group.get(&location.group)?;
        Some((position, (of_rank.get_mut(&rank)?.pop_front()?, rank)))
    });
    known.collect()
}

fn wrong(error: otf2::Error) -> Error {
    Error::new(error.to_string())
}

/// A call that has not ended.
struct Open {
    enter: i64,
    region: usize,
    /// Ends of messages in it: whether they are sent, their channel, and their place there.
    ends: Vec<(bool, Channel, usize)>,
}

/// Reads a location: calls, and the ends of messages.
fn read_location(
    archive: &Archive,
    ranks: &Ranks<'_>,
    reference: u64,
    (location, rank): (usize, u64),
    (begin, end): (i64, i64),
    read: &mut Read,
) -> Result<Vec<Call>> {
    let clock = &ranks.definitions.clock;
    let mut local = archive.local_definitions(reference).map_err(wrong)?;
    let file = archive.event_file(reference).map_err(wrong)?;
    let mut cursor = archive.events(&file);
    let mut calls = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut posted: FxHashMap<u64, i64> = FxHashMap::default();
    let mut last = 0;
    let regions = &ranks.definitions.regions;
    let contexts = &ranks.definitions.calling_contexts;
    while let Some(record) = cursor.next().map_err(wrong)? {
        let ticks = i128::from(local.clock.correct(record.time)) - i128::from(clock.global_offset);
        let ticks = i64::try_from(ticks).unwrap_or(i64::MAX);
        let time = nanoseconds(ticks, clock.resolution);
        last = time;
        let now = open.last().map_or(time, |call| call.enter);
        match record.event.map(&local.mappings) {
            Record::Enter { region } => {
                let region = regions.position(region.into());
                open.extend(region.map(|region| Open { enter: time, region, ends: Vec::new() }));
            }
            Record::CallingContextEnter { calling_context, .. } => {
                let region = contexts.find(calling_context.into()).map(|context| context.region);
                open.extend(region.map(|region| Open { enter: time, region, ends: Vec::new() }));
            }
            Record::Leave { .. } | Record::CallingContextLeave { .. } => {
                let depth = i64::try_from(open.len()).unwrap_or(i64::MAX) - 1;
                let Some(call) = open.pop() else { continue };
                close(call, time, depth, (begin, end), &mut calls, read);
            }
            Record::MpiSend { receiver, communicator, msg_tag, msg_length }
            | Record::MpiIsend { receiver, communicator, msg_tag, msg_length, .. } => {
                let Some(peer) = ranks.peer(rank, communicator, receiver) else { continue };
                let channel = (communicator, rank, peer, msg_tag);
                read.left = read.left.saturating_sub(1);
                push(&mut read.sends, true, channel, (now, time, location, msg_length), &mut open);
            }
            Record::MpiIrecvRequest { request_id } => {
                posted.insert(request_id, now);
            }
            Record::MpiRecv { sender, communicator, msg_tag, msg_length } => {
                let Some(peer) = ranks.peer(rank, communicator, sender) else { continue };
                let channel = (communicator, peer, rank, msg_tag);
                read.left = read.left.saturating_sub(1);
                push(&mut read.receives, false, channel, (now, time, location, msg_length), &mut open);
            }
            Record::MpiIrecv { sender, communicator, msg_tag, msg_length, request_id } => {
                let Some(peer) = ranks.peer(rank, communicator, sender) else { continue };
                let channel = (communicator, peer, rank, msg_tag);
                let post = posted.remove(&request_id).unwrap_or(now);
                read.left = read.left.saturating_sub(1);
                push(&mut read.receives, false, channel, (post, time, location, msg_length), &mut open);
            }
            _ => {}
        }
        if read.left == 0 {
            return Err(Error::new(format!(
                "{}: more than {MOST} calls and messages; --window and --ranks make them fewer, --large reads \
                 them all into memory",
                archive.anchor_path().display()
            )));
        }
    }
    while let Some(call) = open.pop() {
        let depth = i64::try_from(open.len()).unwrap_or(i64::MAX);
        close(call, last, depth, (begin, end), &mut calls, read);
    }
    Ok(calls)
}

/// Keeps an end of a message; it ends with the call that it is in.
fn push(
    ends: &mut BTreeMap<Channel, Vec<End>>,
    is_sent: bool,
    channel: Channel,
    (begin, end, location, bytes): (i64, i64, usize, u64),
    open: &mut [Open],
) {
    let all = ends.entry(channel).or_default();
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    all.push(End { begin, order: all.len(), end, location, bytes });
    if let Some(call) = open.last_mut() {
        call.ends.push((is_sent, channel, all.len() - 1));
    }
}

/// Ends a call, and the messages in it.
fn close(
    call: Open,
    time: i64,
    depth: i64,
    (begin, end): (i64, i64),
    calls: &mut Vec<Call>,
    read: &mut Read,
) {
    for (is_sent, channel, at) in call.ends {
        let ends = if is_sent { &mut read.sends } else { &mut read.receives };
        if let Some(of_message) = ends.get_mut(&channel).and_then(|ends| ends.get_mut(at)) {
            of_message.end = time;
        }
    }
    if call.enter <= end && time >= begin && time >= call.enter {
        let (enter, leave) = (call.enter.max(begin), time.min(end));
        read.left = read.left.saturating_sub(1);
        calls.push(Call { enter, leave, key: call.region, depth });
    }
}

/// Messages of all channels.
fn paired(read: Read) -> Vec<Message> {
    let mut messages = Vec::new();
    for (channel, mut sends) in read.sends {
        let Some(mut receives) = read.receives.get(&channel).cloned() else { continue };
        sends.sort_unstable();
        receives.sort_unstable();
        messages.extend(sends.iter().zip(&receives).map(|(send, receive)| Message {
            source: send.location,
            destination: receive.location,
            send_enter: send.begin,
            send_leave: send.end,
            post: receive.begin,
            receive_leave: receive.end,
            bytes: send.bytes,
            tag: channel.3.into(),
            communicator: channel.0.into(),
        }));
    }
    messages
}
