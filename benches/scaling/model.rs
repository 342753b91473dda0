//! The model: what an analysis takes on a machine, from what was measured on one core.

use std::fmt;

/// What was measured. Times are seconds of a core of the machine that measured.
pub(crate) struct Model {
    /// Of each phase: its name, seconds for an event, seconds for a rank.
    pub(crate) seconds: Vec<(String, f64, f64)>,
    /// Bytes that a process takes for the definitions of a rank, of all ranks.
    pub(crate) definitions: f64,
    /// Bytes that a worker takes for an event and for a rank of its own.
    pub(crate) memory: (f64, f64),
    /// Bytes of the report for a rank.
    pub(crate) report: f64,
    /// Numbers of workers, with the rounds, the messages and the bytes an event of what they told each other.
    pub(crate) told: Vec<(f64, f64, f64, f64)>,
    /// Bytes of an event in a file.
    pub(crate) event: f64,
}

/// What a cluster can do: nothing of it could be measured here.
pub(crate) struct Machine {
    /// Seconds of a message between nodes.
    latency: f64,
    /// Bytes a second into a node.
    network: f64,
    /// Bytes a second of the file system, for all nodes together and for one writer.
    files: f64,
    writer: f64,
    /// Files that are looked up or opened in a second, by all nodes together.
    opened: f64,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine { latency: 2e-6, network: 10e9, files: 50e9, writer: 1e9, opened: 20e3 }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { latency, network, files, writer, opened } = self;
        write!(
            f,
            "Assumed: a message takes {:.0} µs, a node receives {:.0} GB/s; the file system reads {:.0} GB/s, one process \
             writes {:.0} GB/s; {opened} files are opened in a second.",
            latency * 1e6,
            network / 1e9,
            files / 1e9,
            writer / 1e9
        )
    }
}

/// An analysis.
pub(crate) struct Run {
    pub(crate) ranks: f64,
    pub(crate) events: f64,
    pub(crate) nodes: f64,
    /// On a node.
    pub(crate) processes: f64,
    /// In a process.
    pub(crate) threads: f64,
}

/// Files of a rank: one is looked up and opened, two are opened.
const FILES: f64 = 3.0;

impl Model {
    /// Seconds for reading definitions, for files, for all between walk and root causes, for exchanges, for the report.
    pub(crate) fn time(&self, run: &Run, machine: &Machine) -> [f64; 5] {
        let workers = run.nodes * run.processes * run.threads;
        let of = |is_it: fn(&str) -> bool| {
            let (event, rank) = self
                .seconds
                .iter()
                .filter(|(name, ..)| is_it(name))
                .fold((0.0, 0.0), |sum, (_, event, rank)| (sum.0 + event, sum.1 + rank));
            event * run.events + rank * run.ranks
        };
        // Every process reads all definitions.
        let open = of(|name| name == "open");
        let files = FILES * run.ranks / machine.opened + run.events * self.event / machine.files;
        let work = of(|name| name != "open" && name != "report") / workers;
        let report = of(|name| name == "report").max(self.report * run.ranks / machine.writer);
        [open, files, work, self.exchange(run, machine), report]
    }

    /// Seconds for what workers tell each other: in each round all processes tell all others how much they have for them, then
    /// messages go to those that get something.
    fn exchange(&self, run: &Run, machine: &Machine) -> f64 {
        let processes = run.nodes * run.processes;
        if processes < 2.0 {
            return 0.0;
        }
        // A worker talks to about as many others however many there are; rounds grow with the logarithm.
        let &(workers, rounds, messages, bytes) = self.told.last().expect("traffic was counted");
        let rounds = rounds * processes.log2().max(1.0) / workers.log2();
        let lengths = rounds * (machine.latency * processes.log2() + 8.0 * processes / machine.network);
        let of_a_worker = messages / workers * machine.latency * run.threads;
        // Blocks of neighbours: what leaves a block is its edge. Here all that was told is taken to leave the node.
        lengths + of_a_worker + bytes * run.events / run.nodes / machine.network
    }

    /// Bytes of a node at most.
    pub(crate) fn memory(&self, run: &Run) -> f64 {
        let (event, rank) = self.memory;
        self.definitions * run.ranks * run.processes + (event * run.events + rank * run.ranks) / run.nodes
    }
}
