//! The tables `matrix`, `sizes`, `collectives` and `last`: who communicates with whom, and how much.

use cubex::Cube;
use details::Table;

use super::Columns;
use crate::error::Result;

/// A pair of processes, or the rest of a destination.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pair {
    /// Number of the communicator; `None` if there are several.
    pub communicator: Option<u32>,
    /// The rank that sends; `None` for all that are not named.
    pub source: Option<usize>,
    /// The rank that receives.
    pub destination: Option<usize>,
    /// Messages.
    pub messages: i64,
    /// Bytes.
    pub bytes: i64,
    /// Ticks that the receiver waited, and how often.
    pub late_sender: i64,
    /// See `late_sender`.
    pub late_senders: i64,
    /// Ticks that the sender waited, and how often.
    pub late_receiver: i64,
    /// See `late_receiver`.
    pub late_receivers: i64,
}

/// Messages of a class of sizes, received at a call path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// The call path.
    pub cnode: Option<usize>,
    /// 0 for no bytes, else k for 2^(k-1) to 2^k - 1 bytes.
    pub class: u32,
    /// Messages.
    pub messages: i64,
    /// Bytes.
    pub bytes: i64,
    /// Ticks waited by receivers.
    pub late_sender: i64,
    /// Ticks waited by senders.
    pub late_receiver: i64,
    /// Messages without any wait, the least and the summed ticks that these took.
    pub timed: i64,
    /// See `timed`.
    pub fastest: i64,
    /// See `timed`.
    pub transfer: i64,
}

/// Collective operations of a function on a communicator.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Collective {
    /// Number of the communicator.
    pub communicator: Option<u32>,
    /// The function: a region of the report.
    pub region: Option<usize>,
    /// Operations.
    pub calls: i64,
    /// Calls of all members.
    pub members: i64,
    /// Bytes sent and received.
    pub bytes_out: i64,
    /// See `bytes_out`.
    pub bytes_in: i64,
    /// Ticks waited, and ticks of completion.
    pub waiting: i64,
    /// See `waiting`.
    pub completion: i64,
}

/// A process that came last to operations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Last {
    /// Number of the communicator.
    pub communicator: Option<u32>,
    /// The function: a region of the report.
    pub region: Option<usize>,
    /// The rank; `None` for all that are not named.
    pub process: Option<usize>,
    /// How often.
    pub times: i64,
    /// Ticks that all others waited for it.
    pub caused: i64,
}

fn communicators(columns: &Columns<'_>) -> Result<Vec<Option<u32>>> {
    Ok(columns.integers("communicator")?.into_iter().map(|number| u32::try_from(number).ok()).collect())
}

/// Reads the pairs. Ranks count the processes of the report, of which there are `processes`.
///
/// # Errors
/// If the table refers to what the report does not have.
pub fn pairs(processes: usize, table: &Table) -> Result<Vec<Pair>> {
    let columns = Columns::of("matrix", table);
    let communicators = communicators(&columns)?;
    let (sources, destinations) =
        (columns.positions("source", processes)?, columns.positions("destination", processes)?);
    let numbers = |name| columns.integers(name);
    let (messages, bytes) = (numbers("messages")?, numbers("bytes")?);
    let (late_sender, late_senders) = (numbers("late_sender")?, numbers("late_senders")?);
    let (late_receiver, late_receivers) = (numbers("late_receiver")?, numbers("late_receivers")?);
    let pair = |at: usize| Pair {
        communicator: communicators[at],
        source: sources[at],
        destination: destinations[at],
        messages: messages[at],
        bytes: bytes[at],
        late_sender: late_sender[at],
        late_senders: late_senders[at],
        late_receiver: late_receiver[at],
        late_receivers: late_receivers[at],
    };
    Ok((0..table.rows()).map(pair).collect())
}

/// Which processes have sent other messages than those that pairs know, by the table `processes`: partners have lost events,
/// or have not recorded them. Of these nobody knows who waited.
///
/// # Errors
/// If the table refers to what the report does not have.
pub fn partly_matched(pairs: &[Pair], processes: usize, table: &Table) -> Result<Vec<bool>> {
    let columns = Columns::of("processes", table);
    let (numbers, sent) = (columns.positions("process", processes)?, columns.integers("sent")?);
    let mut rest = vec![0_i64; processes];
    for (process, sent) in numbers.into_iter().zip(sent) {
        if let Some(rest) = process.and_then(|process| rest.get_mut(process)) {
            *rest = sent;
        }
    }
    for pair in pairs {
        if let Some(rest) = pair.source.and_then(|source| rest.get_mut(source)) {
            *rest = rest.saturating_sub(pair.messages);
        }
    }
    Ok(rest.into_iter().map(|rest| rest != 0).collect())
}

/// Reads the classes of sizes.
///
/// # Errors
/// If the table refers to what the report does not have.
pub fn sizes(cube: &Cube, table: &Table) -> Result<Vec<Size>> {
    let columns = Columns::of("sizes", table);
    let cnodes = columns.positions("cnode", cube.cnodes.len())?;
    let numbers = |name| columns.integers(name);
    let (classes, messages, bytes) = (numbers("class")?, numbers("messages")?, numbers("bytes")?);
    let (late_sender, late_receiver) = (numbers("late_sender")?, numbers("late_receiver")?);
    let (fastest, transfer) = (numbers("fastest")?, numbers("transfer")?);
    // Without this column: all messages for which nobody waited.
    let timed = if columns.has("timed") { numbers("timed")? } else { messages.clone() };
    let size = |at: usize| Size {
        cnode: cnodes[at],
        class: u32::try_from(classes[at]).unwrap_or(0).min(64),
        messages: messages[at],
        bytes: bytes[at],
        late_sender: late_sender[at],
        late_receiver: late_receiver[at],
        timed: timed[at],
        fastest: fastest[at],
        transfer: transfer[at],
    };
    Ok((0..table.rows()).map(size).collect())
}

/// Reads the collective operations.
///
/// # Errors
/// If the table refers to what the report does not have.
pub fn collectives(cube: &Cube, table: &Table) -> Result<Vec<Collective>> {
    let columns = Columns::of("collectives", table);
    let communicators = communicators(&columns)?;
    let regions = columns.positions("region", cube.regions.len())?;
    let numbers = |name| columns.integers(name);
    let (calls, members) = (numbers("calls")?, numbers("members")?);
    let (bytes_out, bytes_in) = (numbers("bytes_out")?, numbers("bytes_in")?);
    let (waiting, completion) = (numbers("waiting")?, numbers("completion")?);
    let collective = |at: usize| Collective {
        communicator: communicators[at],
        region: regions[at],
        calls: calls[at],
        members: members[at],
        bytes_out: bytes_out[at],
        bytes_in: bytes_in[at],
        waiting: waiting[at],
        completion: completion[at],
    };
    Ok((0..table.rows()).map(collective).collect())
}

/// Reads who came last.
///
/// # Errors
/// If the table refers to what the report does not have.
pub fn last(cube: &Cube, processes: usize, table: &Table) -> Result<Vec<Last>> {
    let columns = Columns::of("last", table);
    let communicators = communicators(&columns)?;
    let regions = columns.positions("region", cube.regions.len())?;
    let ranks = columns.positions("process", processes)?;
    let (times, caused) = (columns.integers("times")?, columns.integers("caused")?);
    let last = |at: usize| Last {
        communicator: communicators[at],
        region: regions[at],
        process: ranks[at],
        times: times[at],
        caused: caused[at],
    };
    Ok((0..table.rows()).map(last).collect())
}
