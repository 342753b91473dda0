//! Cost model: predicts an analysis on a machine from measurements on one core.

use std::fmt;

/// Fitted costs. Times are seconds of a core of the machine that measured.
pub(crate) struct Model {
    /// Of each phase: name, seconds per event, seconds per rank.
    pub(crate) seconds: Vec<(String, f64, f64)>,
    /// Bytes of a process for the definitions, per rank.
    pub(crate) definitions: f64,
    /// Bytes of a worker per event and per rank of its own.
    pub(crate) memory: (f64, f64),
    /// Bytes of the report per rank.
    pub(crate) report: f64,
    /// Traffic: numbers of workers with their rounds, and messages and bytes per event.
    pub(crate) traffic: Vec<(f64, f64, f64, f64)>,
    /// Bytes per event in a file.
    pub(crate) event: f64,
}

/// Performance of a cluster: assumptions, not measurements.
pub(crate) struct Machine {
    /// Seconds per message between nodes.
    latency: f64,
    /// Bytes per second into a node.
    network: f64,
    /// Bytes per second of the file system, for all nodes together and for one writer.
    files: f64,
    writer: f64,
    /// Files looked up or opened per second, by all nodes together.
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

/// An analysis to be predicted.
pub(crate) struct Run {
    pub(crate) ranks: f64,
    pub(crate) events: f64,
    pub(crate) nodes: f64,
    /// Processes per node.
    pub(crate) processes: f64,
    /// Threads per process.
    pub(crate) threads: f64,
}

/// File operations per rank: one file is looked up and opened, two are opened.
const FILES: f64 = 3.0;

impl Model {
    /// Seconds for definitions, for files, for the phases between walk and root causes, for exchanges, for
    /// the report.
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

    /// Seconds for the traffic between workers: in each round all processes exchange the lengths of their
    /// messages, then send those that are not empty.
    fn exchange(&self, run: &Run, machine: &Machine) -> f64 {
        let processes = run.nodes * run.processes;
        if processes < 2.0 {
            return 0.0;
        }
        // The number of partners of a worker is about constant; rounds grow with the logarithm.
        let &(workers, rounds, messages, bytes) = self.traffic.last().expect("traffic was counted");
        let rounds = rounds * processes.log2().max(1.0) / workers.log2();
        let lengths = rounds * (machine.latency * processes.log2() + 8.0 * processes / machine.network);
        let of_a_worker = messages / workers * machine.latency * run.threads;
        // Blocks of neighbours: the traffic out of a block is its edge. Here all traffic is assumed to leave
        // the node.
        lengths + of_a_worker + bytes * run.events / run.nodes / machine.network
    }

    /// Peak memory of a node in bytes.
    pub(crate) fn memory(&self, run: &Run) -> f64 {
        let (event, rank) = self.memory;
        self.definitions * run.ranks * run.processes + (event * run.events + rank * run.ranks) / run.nodes
    }
}
