//! Header of a trace: its end, nodes, tasks with their threads; and the lines of communicators behind it.
//!
//! ```text
//! #Paraver (30/11/2026 at 12:00):5000_ns:2(4,4):1:2(1:1,1:2),1
//!          date                  end     nodes   tasks       communicators
//! c:1:1:2:1:2
//! ```
//!
//! In front of the tasks is the number of applications. A task has its number of threads and its node, a node its
//! number of processors, a communicator its application, its number, and its tasks. All count from 1.

use crate::error::{Fault, counted, excerpt};
use crate::fields::Fields;

/// How a trace begins.
const MAGIC: &[u8] = b"#Paraver (";

/// Threads that a trace can have: more than any machine runs of one program.
pub(crate) const MOST_THREADS: u64 = 1 << 20;

/// Times that a trace can have, in its unit: sums and differences of some are far from the largest number.
pub(crate) const LATEST: u64 = 1 << 60;

/// The first line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    /// Time of the end, in ticks.
    pub(crate) end: u64,
    /// Ticks per second, from the unit of times.
    pub(crate) ticks_per_second: u64,
    /// Number of nodes; 0 if the trace does not say on which nodes tasks were.
    pub(crate) nodes: u64,
    /// All tasks, in the order of ranks.
    pub(crate) tasks: Vec<Task>,
}

/// A task, which is a process with a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Task {
    /// Number of threads.
    pub(crate) threads: u32,
    /// Position of its node; 0 if it is not known.
    pub(crate) node: u32,
}

/// A line of a communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Communicator {
    /// A group of tasks, by position.
    Intra { number: u64, members: Vec<u32> },
    /// Two groups, of which operations are not known.
    Inter { number: u64 },
}

impl Header {
    /// Parses the first line.
    pub(crate) fn parse(line: &[u8]) -> Result<Header, Fault> {
        let missing = || Header::missing(&excerpt(line));
        let date = line.strip_prefix(MAGIC).ok_or_else(missing)?;
        let date = memchr::memchr(b')', date).ok_or_else(missing)?;
        let mut fields = Fields::new(line, MAGIC.len() + date + 1);
        let begin = fields.at() + 1;
        let end = fields.next("the end of the trace")?;
        if end > LATEST {
            return Err(Fault::new(
                begin,
                format_args!("found the end {end}, expected at most 2^60; write the trace anew"),
            ));
        }
        let ticks_per_second = unit(&mut fields)?;
        let nodes = nodes(&mut fields)?;
        let begin = fields.at() + 1;
        let applications = fields.next("the number of applications")?;
        if applications != 1 {
            return Err(Fault::new(
                begin,
                format_args!(
                    "found {}, expected 1; cut the trace with Paraver so that one is left",
                    counted(applications, "application")
                ),
            ));
        }
        let tasks = tasks(&mut fields, nodes)?;
        // The number of communicators, if it is there, is that of the lines that follow.
        Ok(Header { end, ticks_per_second, nodes, tasks })
    }

    /// The fault of a text that does not begin with a header.
    #[cold]
    pub(crate) fn missing(found: &str) -> Fault {
        let expected = "expected a header as \"#Paraver (30/11/2026 at 12:00):5000_ns:1(2):1:2(1:1,1:1)\"";
        let advice = "this is no trace of Paraver: give a FILE.prv or FILE.prv.gz";
        Fault::new(0, format_args!("found {found}, {expected}; {advice}"))
    }
}

/// The unit of times, as ticks per second. Without one they are microseconds.
fn unit(fields: &mut Fields<'_>) -> Result<u64, Fault> {
    if !fields.skip(b'_') {
        return Ok(1_000_000);
    }
    let at = fields.at();
    let per_second = match fields.rest() {
        [b'n', b's', ..] => 1_000_000_000,
        [b'u', b's', ..] => 1_000_000,
        [b'm', b's', ..] => 1000,
        other => {
            let message = format_args!(
                "found the unit {}, expected ns, us or ms; write the trace anew",
                excerpt(other)
            );
            return Err(Fault::new(at, message));
        }
    };
    fields.skip_bytes(2);
    Ok(per_second)
}

/// The number of nodes, with the number of processors of each behind it.
fn nodes(fields: &mut Fields<'_>) -> Result<u64, Fault> {
    let nodes = fields.next("the number of nodes")?;
    if !fields.skip(b'(') {
        return Ok(nodes.min(MOST_THREADS));
    }
    let at = fields.at();
    let mut listed = 0;
    while !fields.skip(b')') {
        if listed > 0 {
            fields.expect(b',', "the processors of the next node")?;
        }
        fields.number("the number of processors of a node")?;
        listed += 1;
    }
    if listed != nodes {
        return Err(Fault::new(
            at,
            format_args!(
                "found {}, expected {nodes}; the header is damaged: write the trace anew",
                counted(listed, "node")
            ),
        ));
    }
    Ok(nodes)
}

/// The tasks of the only application.
fn tasks(fields: &mut Fields<'_>, nodes: u64) -> Result<Vec<Task>, Fault> {
    let at = fields.at() + 1;
    let count = fields.next("the number of tasks")?;
    if count == 0 {
        return Err(Fault::new(at, "found no task, expected one or more; there is nothing to import"));
    }
    fields.expect(b'(', "the tasks")?;
    let mut tasks: Vec<Task> = Vec::new();
    let mut all: u64 = 0;
    while !fields.skip(b')') {
        if !tasks.is_empty() {
            fields.expect(b',', "the next task")?;
        }
        let at = fields.at();
        let threads = fields.number("the number of threads of a task")?;
        all = all.saturating_add(threads.max(1));
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        if all > MOST_THREADS {
            let message = format_args!(
                "found more than {MOST_THREADS} threads, which cannot be imported; cut the trace with Paraver"
            );
            return Err(Fault::new(at, message));
        }
        let mut node = 0;
        if fields.skip(b':') {
            let at = fields.at();
            let number = fields.number("the node of a task")?;
            if number > nodes.max(1) {
                let message = format_args!(
                    "found node {number}, expected 1 to {nodes}; the header is damaged: write the trace anew"
                );
                return Err(Fault::new(at, message));
            }
            node = number.saturating_sub(1);
        }
        tasks.push(Task { threads, node: u32::try_from(node).unwrap_or(0) });
    }
    if tasks.len() as u64 != count {
        let found = counted(tasks.len() as u64, "task");
        return Err(Fault::new(
            at,
            format_args!("found {found}, expected {count}; the header is damaged: write the trace anew"),
        ));
    }
    Ok(tasks)
}

/// Parses the line of a communicator (`c:`) or of one between two groups (`i:`).
pub(crate) fn communicator(line: &[u8], tasks: usize) -> Result<Communicator, Fault> {
    let mut fields = Fields::new(line, 1);
    fields.next("the application of a communicator")?;
    let number = fields.next("the number of a communicator")?;
    if line.first().is_some_and(|first| first.eq_ignore_ascii_case(&b'i')) {
        return Ok(Communicator::Inter { number });
    }
    let at = fields.at() + 1;
    let count = fields.next("the number of tasks of a communicator")?;
    let mut members: Vec<u32> = Vec::new();
    let mut is_member = vec![false; tasks];
    while !fields.is_at_end() {
        let at = fields.at() + 1;
        let task = fields.next("a task of a communicator")?;
        let position = usize::try_from(task).ok().and_then(|task| task.checked_sub(1));
        let Some((position, known)) = position.and_then(|at| Some((at, is_member.get_mut(at)?))) else {
            let message = format_args!(
                "found task {task} in a communicator, expected 1 to {tasks}; write the trace anew"
            );
            return Err(Fault::new(at, message));
        };
        if std::mem::replace(known, true) {
            let message = format_args!(
                "found task {task} twice in a communicator, expected it once; write the trace anew"
            );
            return Err(Fault::new(at, message));
        }
        members.push(u32::try_from(position).unwrap_or(u32::MAX));
    }
    if members.len() as u64 != count || members.is_empty() {
        let found = counted(members.len() as u64, "task");
        let message = format_args!(
            "found {found} of a communicator, expected {count}, at least one; write the trace anew"
        );
        return Err(Fault::new(at, message));
    }
    Ok(Communicator::Intra { number, members })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(line: &str) -> (usize, String) {
        let fault = Header::parse(line.as_bytes()).unwrap_err();
        (fault.at, fault.message)
    }

    #[test]
    fn header_has_end_unit_nodes_and_tasks() {
        let header =
            Header::parse(b"#Paraver (30/11/2026 at 12:00):5000_ns:2(4,8):1:3(1:1,2:2,1:2),4").unwrap();
        let task = |threads, node| Task { threads, node };
        let tasks = vec![task(1, 0), task(2, 1), task(1, 1)];
        assert_eq!(header, Header { end: 5000, ticks_per_second: 1_000_000_000, nodes: 2, tasks });
        let old = Header::parse(b"#Paraver (1/1/99 at 1:00):77:0:1:2(1:1,1:1)").unwrap();
        assert_eq!((old.end, old.ticks_per_second, old.nodes, old.tasks.len()), (77, 1_000_000, 0, 2));
    }

    #[test]
    fn what_is_wrong_in_a_header_is_said_with_its_place() {
        assert!(fault("1:1:1").1.contains("no trace of Paraver"));
        assert!(fault("#Paraver (x):5_s:1(1):1:1(1:1)").1.contains("found the unit \"s:1(1):"));
        assert_eq!(
            fault("#Paraver (x):5_ns:2(1):1:1(1:1)").1.split(';').next(),
            Some("found 1 node, expected 2")
        );
        let two = fault("#Paraver (x):5_ns:1(1):2:1(1:1):1(1:1)");
        assert_eq!(two.0, 23);
        assert!(two.1.starts_with("found 2 applications, expected 1; "), "{}", two.1);
        assert!(fault("#Paraver (x):5_ns:1(1):1:1(4000000000:1)").1.contains("more than 1048576 threads"));
        assert!(fault("#Paraver (x):5_ns:1(1):1:2(1:1)").1.contains("found 1 task, expected 2"));
        assert!(fault("#Paraver (x):5_ns:1(1):1:1(1:9)").1.contains("found node 9"));
        assert!(fault("#Paraver (x):5_ns:1(1):1:1(1:1").1.contains("the end of the line"));
    }

    #[test]
    fn communicators_have_their_tasks_once() {
        let parsed = communicator(b"c:1:7:2:2:1", 2).unwrap();
        assert_eq!(parsed, Communicator::Intra { number: 7, members: vec![1, 0] });
        assert_eq!(communicator(b"i:1:9:1:1:2:1", 2).unwrap(), Communicator::Inter { number: 9 });
        for (wrong, what) in [
            (&b"c:1:7:2:2:2"[..], "twice"),
            (b"c:1:7:2:2:3", "found task 3"),
            (b"c:1:7:3:1:2", "found 2 tasks"),
            (b"c:1:7:0", "found 0 tasks"),
            (b"c:1:7:1:0", "found task 0"),
        ] {
            let message = communicator(wrong, 2).unwrap_err().message;
            assert!(message.contains(what), "{message}");
        }
    }
}
