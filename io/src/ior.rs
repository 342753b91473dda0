//! Command lines of IOR that reproduce a phase (io.md 4.8).
//!
//! IOR writes for each segment and each rank a block in requests: request j of segment i of rank p is at i·N·b + p·b + j·t; with a
//! file for each rank at i·b + j·t. Blocks are multiples of requests, and these of 8 bytes.

use std::collections::BTreeSet;
use std::fmt;

use crate::access::{Kind, Layer};
use crate::mode::Mode;
use crate::phase::Phase;
use crate::simple::{Flushes, Manner};

/// A run of IOR for one operation of a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// Whether IOR goes through MPI-IO; through POSIX else.
    pub is_mpi: bool,
    /// Whether it reads or writes.
    pub kind: Kind,
    /// `-N`: ranks that move data.
    pub tasks: u64,
    /// `-b`: bytes of a block.
    pub block: u64,
    /// `-t`: bytes of a request.
    pub transfer: u64,
    /// `-s`: blocks of each rank.
    pub segments: u64,
    /// `-c`: collective calls.
    pub collective: bool,
    /// `-F`: a file for each rank.
    pub per_process: bool,
    /// `-z`: requests out of order.
    pub random: bool,
    /// `-C`: ranks read what others wrote.
    pub reorder: bool,
    /// `-e`: the file is flushed at the end; `-Y`: behind each request.
    pub flushes: Flushes,
    /// Caches, room and hints.
    pub manner: Manner,
}

impl Command {
    /// The same as writing, which makes the file that is read.
    pub fn writing(&self) -> Command {
        Command { kind: Kind::Write, reorder: false, ..self.clone() }
    }

    /// Assignments of hints, each with a blank behind it.
    pub(crate) fn hints(&self) -> String {
        let hints = self.manner.hints.iter().flat_map(|hints| hints.split(';'));
        let assigned = hints.filter_map(|hint| hint.split_once('='));
        assigned.map(|(key, value)| quoted(key.trim(), value.trim()) + " ").collect()
    }

    /// Options but for the file.
    pub(crate) fn arguments(&self) -> String {
        let api = if self.is_mpi { "MPIIO" } else { "POSIX" };
        let Command { tasks, block, transfer, segments, .. } = self;
        let writes = self.kind == Kind::Write;
        let options = [
            (self.collective, " -c"),
            (self.per_process, " -F"),
            (self.random, " -z"),
            (self.reorder, " -C"),
            (writes && self.flushes == Flushes::Some, " -e"),
            (writes && self.flushes == Flushes::Each, " -Y"),
            (self.manner.direct && !self.is_mpi, " --posix.odirect"),
            (self.manner.preallocated && self.is_mpi, " --mpiio.preallocate"),
            (writes, " -w"),
            (!writes, " -r"),
        ];
        let set: String = options.iter().filter(|(holds, _)| *holds).map(|(_, option)| *option).collect();
        format!("-a {api} -N {tasks} -b {block} -t {transfer} -s {segments}{set} -k")
    }
}

/// One line for a shell; the file is `FILE`.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ior {} -o FILE", self.hints(), self.arguments())
    }
}

/// The assignment of a hint for a shell, in which nothing of the value is special.
fn quoted(key: &str, value: &str) -> String {
    let name: String = key.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-/:,".contains(it);
    let value = match value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', r"'\''")),
    };
    format!("IOR_HINT__MPI__{name}={value}")
}

/// The part of the bytes of a phase that a line may miss or add without a remark: one in so many.
const NEAR: u64 = 100;

/// Commands for each operation of the pattern of a phase, and remarks on what they do not reproduce, sorted. There are none if no data
/// moves. `reads_others` says that most bytes read were written by other ranks.
pub fn commands(phase: &Phase, reads_others: bool) -> (Vec<Command>, Vec<String>) {
    if phase.np == 0 {
        return (Vec::new(), vec!["moves nothing".to_owned()]);
    }
    let mut remarks = BTreeSet::new();
    let accesses = phase.key.pattern.iter().zip(phase.positions.iter().cycle());
    let mut commands = Vec::new();
    for (access, position) in accesses {
        let transfer = position.rs.div_ceil(8).saturating_mul(8);
        let (block, segments) = match position.block {
            Some(requests) => (transfer.saturating_mul(requests), phase.rep / requests),
            None => (transfer.saturating_mul(phase.rep), 1),
        };
        if phase.mode == Mode::Strided && (phase.holes || position.block.is_none()) {
            remarks.insert("approximated: contiguous blocks instead of a stride".to_owned());
        }
        if transfer != position.rs {
            remarks.insert(format!("{} rounded up to {transfer}", position.rs));
        }
        let moved = phase.np.saturating_mul(phase.rep).saturating_mul(transfer);
        if moved.abs_diff(position.bytes) > position.bytes / NEAR {
            remarks.insert(format!("moves {moved} bytes, the phase {}", position.bytes));
        }
        if access.layer == Layer::Isoc {
            remarks.insert("buffered in the program: reproduced without the buffer".to_owned());
        }
        // T_MD is of reads and writes alone (io.md 4.7), what IOR measures with these options is not.
        if access.kind == Kind::Write && phase.flushes != Flushes::None {
            let option = if phase.flushes == Flushes::Each { "-Y" } else { "-e" };
            remarks.insert(format!("IOR times the flushes of {option}, t_md is without them"));
        }
        commands.push(Command {
            is_mpi: access.layer == Layer::Mpi,
            kind: access.kind,
            tasks: phase.np,
            block,
            transfer,
            segments,
            collective: access.collective,
            per_process: phase.per_process,
            random: phase.mode == Mode::Random && !access.collective && phase.rep > 1,
            reorder: reads_others && access.kind == Kind::Read,
            flushes: phase.flushes,
            manner: phase.manner.clone(),
        });
    }
    (commands, remarks.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::files::Files;
    use crate::phase::phases;
    use crate::stream::Stream;
    use crate::tests::write;

    #[test]
    fn flushes_that_the_line_has_and_the_time_of_the_phase_has_not_are_remarked() {
        let files = || Files::new(vec!["out".to_owned()], &BTreeMap::from([(0, BTreeSet::from([0]))]));
        let made = |flushed: [bool; 2]| {
            let mut stream = Stream::new(0, 0, 4);
            for (at, is_flushed) in (0..).zip(flushed) {
                stream.push(write(at, 4096 * at, 4096));
                if is_flushed {
                    stream.flush();
                }
            }
            let (commands, remarks) = commands(&phases(stream.finish(), &files())[0], false);
            (commands[0].flushes, remarks)
        };
        let remark = |option| vec![format!("IOR times the flushes of {option}, t_md is without them")];
        assert_eq!(made([false, true]), (Flushes::Some, remark("-e")));
        assert_eq!(made([true, true]), (Flushes::Each, remark("-Y")));
        assert_eq!(made([false, false]), (Flushes::None, Vec::new()));
    }

    #[test]
    fn options_and_hints_are_those_of_the_phase() {
        let manner =
            Manner { direct: true, preallocated: true, hints: Some("cb_nodes=2; x y=it's".to_owned()) };
        let write = Command {
            is_mpi: true,
            kind: Kind::Write,
            tasks: 2,
            block: 16,
            transfer: 8,
            segments: 1,
            collective: true,
            per_process: true,
            random: true,
            reorder: true,
            flushes: Flushes::Each,
            manner,
        };
        let hints = r"IOR_HINT__MPI__cb_nodes=2 IOR_HINT__MPI__x_y='it'\''s' ";
        let options = "ior -a MPIIO -N 2 -b 16 -t 8 -s 1 -c -F -z -C -Y --mpiio.preallocate -w -k -o FILE";
        assert_eq!(write.to_string(), format!("{hints}{options}"));
        let read = Command {
            is_mpi: false,
            kind: Kind::Read,
            manner: Manner { hints: None, ..write.manner.clone() },
            ..write
        };
        assert_eq!(
            read.to_string(),
            "ior -a POSIX -N 2 -b 16 -t 8 -s 1 -c -F -z -C --posix.odirect -r -k -o FILE"
        );
        assert!(!read.writing().reorder && read.writing().kind == Kind::Write);
    }
}
