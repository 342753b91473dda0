//! What of a trace is not in the archive, or not as it was: counted, and said once in the end.

use std::fmt;

/// Numbers of what was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Remarks {
    /// Calls that end without a begin.
    pub without_begin: u64,
    /// Calls that have no end.
    pub without_end: u64,
    /// Ends of messages that lie in no call of MPI.
    pub outside: u64,
    /// Messages that are over before they begin.
    pub backward: u64,
    /// Messages that are received in another order than they are sent.
    pub overtaking: u64,
    /// Collective operations whose communicator is not in the header, without the task, or between two groups.
    pub unknown_communicator: u64,
    /// Collective operations with a root that no task says to be.
    pub without_root: u64,
    /// Non-blocking collective operations, of which the completion is not known.
    pub non_blocking: u64,
    /// Functions of MPI without a label, or with one that no function of MPI has.
    pub unknown_functions: u64,
    /// Events and messages that are later than the end that the header says.
    pub behind_end: u64,
    /// The last time of the trace, and the end that the header says, if that is much later.
    pub cut: Option<(u64, u64)>,
}

impl fmt::Display for Remarks {
    /// A line for each that was found.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (
                self.without_begin,
                "call ends without a begin and is",
                "calls end without a begin and are",
                " left out: the trace was cut",
            ),
            (self.without_end, "call has no end: it ends", "calls have no end: they end", " with the trace"),
            (
                self.outside,
                "end of messages (each message has four) lies",
                "ends of messages (each message has four) lie",
                " in no call of MPI: the analysis only counts these messages",
            ),
            (
                self.backward,
                "message is received before it is sent",
                "messages are received before they are sent",
                ": clocks were wrong; see replay-analyze --clock-correction",
            ),
            (
                self.overtaking,
                "message overtakes another one with its tag and has a communicator of its",
                "messages overtake others with their tag and have communicators of their",
                " own",
            ),
            (
                self.unknown_communicator,
                "collective operation has a communicator between two groups, or one that the header does not have: it is a call",
                "collective operations have a communicator between two groups, or one that the header does not have: they are calls",
                " only",
            ),
            (
                self.without_root,
                "collective operation has no root in the trace and is a call",
                "collective operations have no root in the trace and are calls",
                " only",
            ),
            (
                self.non_blocking,
                "collective operation is non-blocking or among neighbours, of which traces do not say enough: it is a call",
                "collective operations are non-blocking or among neighbours, of which traces do not say enough: they are calls",
                " only",
            ),
            (
                self.unknown_functions,
                "function of MPI has no name in the .pcf, or one that MPI does not have: the analysis does not know what it does",
                "functions of MPI have no name in the .pcf, or one that MPI does not have: the analysis does not know what they do",
                "",
            ),
            (
                self.behind_end,
                "event or message is",
                "events and messages are",
                " behind the end that the header says: the trace ends with the last one",
            ),
        ];
        let counts = all.iter().filter(|line| line.0 > 0).map(|&(count, one, many, rest)| {
            let what = if count == 1 { one } else { many };
            format!("{count} {what}{rest}")
        });
        let cut = self.cut.map(|(last, end)| {
            format!("records end at {last}, the header says {end}: the file may be cut; compare it with where it is from")
        });
        let lines: Vec<String> = counts.chain(cut).collect();
        f.write_str(&lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_found_is_said() {
        assert_eq!(Remarks::default().to_string(), "");
        let remarks = Remarks { without_end: 2, without_root: 1, ..Remarks::default() };
        let lines: Vec<String> = remarks.to_string().lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("2 calls have no end"));
        assert!(lines[1].starts_with("1 collective operation has no root"));
    }
}
