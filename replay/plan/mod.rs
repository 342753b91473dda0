//! What to ask a batch system for, to analyze a trace (`--plan`): nodes, processes, threads, memory and time, from the definitions and
//! the sizes of the files alone (site 2.4).
//!
//! ```text
//!   size of the trace ─┐
//!                      ├─► plan ─► form: text, directives of a batch system, variables, JSON
//!   node ──────────────┘
//! ```

mod forms;
mod node;
mod size;

pub use forms::{Asking, Form};
pub use node::Node;
pub use size::Size;

use crate::error::Error;
use crate::options::Options;

/// Plans the analysis of a trace with some options on nodes of a kind; answers the plan in a form.
///
/// # Errors
/// If there is no archive, its definitions are wrong, or they do not fit into a node.
pub fn plan(options: &Options, node: &Node, form: Form) -> Result<String, Error> {
    let size = Size::of(options)?;
    let plan = Plan::new(&size, node)?;
    Ok(plan.to_text(form, &Asking { size: &size, experiment: &options.experiment }))
}

/// An event on one core, in nanoseconds: twice what it takes alone (`docs/scaling.md`), as all cores of a node share its memory.
const EVENT: u128 = 146;
/// What a rank adds to the work that is divided among cores, in nanoseconds.
const RANK: u128 = 52_000;
/// What a rank adds to that which every process, or one for all, does: definitions, exchanges, the report.
const RANK_FOR_ALL: u128 = 2_600 + 150_000 + 14_000;
/// Bytes that file systems read in a nanosecond.
const READ: u128 = 5;
/// Bytes of definitions of a rank, which each process has.
const DEFINITIONS: u128 = 459;
/// Nodes are added as long as their cores would be busy for longer than this, in nanoseconds.
const PATIENCE: u128 = 60_000_000_000;
/// Time limits are multiples of so many minutes.
const MINUTES: u64 = 5;

/// What an analysis needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Nodes.
    pub nodes: u64,
    /// Processes on each of them.
    pub processes: u64,
    /// Threads in each process.
    pub threads: u64,
    /// How long it takes, about, in seconds; at least 1.
    pub seconds: u64,
    /// The time to ask for, in minutes.
    pub minutes: u64,
    /// Memory of each node as most programs need it, in bytes.
    pub usual: u64,
    /// Memory of each node that is always enough, in bytes.
    pub most: u64,
    /// Memory of each node to ask for: half as much again as `usual`, in bytes.
    pub memory: u64,
    /// Nodes of which the memory is always enough.
    pub always: u64,
    /// What one node would need, if the memory of one is not enough for most programs.
    pub on_one_node: Option<OnOneNode>,
}

/// What an analysis needs whose lists go to a disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OnOneNode {
    /// The value of `--memory` for each process, in bytes.
    pub memory: u64,
    /// Bytes on the disk as most programs need them, and at most.
    pub disk: [u64; 2],
}

impl Plan {
    /// Plans the analysis of a trace on nodes of a kind.
    ///
    /// # Errors
    /// If the definitions alone do not fit into a node.
    pub fn new(size: &Size, node: &Node) -> Result<Plan, Error> {
        let [ranks, events, bytes] = [size.ranks, size.events, size.bytes].map(u128::from);
        let [cores, domains, memory] = [node.cores, node.domains, node.memory].map(u128::from);
        let (most, usual) = (u128::from(size.most), u128::from(size.most) / 4);
        let definitions = ranks * DEFINITIONS;
        // A process for each NUMA domain, unless their definitions would take half of the memory.
        let room_of = |processes: u128| (memory * 4 / 5).checked_sub(processes * definitions);
        let enough = |processes: &u128| room_of(*processes).is_some_and(|room| room >= memory * 2 / 5);
        let Some(most_processes) = (1..=domains).rev().find(enough) else {
            return Err(Error::new(format!(
                "a node of {} has no room for the definitions of {ranks} ranks: name larger ones with --node",
                forms::gigabytes(node.memory)
            )));
        };
        let room = room_of(most_processes).unwrap_or(1).max(1);
        let work = events * EVENT + ranks * RANK;
        let by_time = work.div_ceil(cores * PATIENCE).clamp(1, ranks.div_ceil(cores).max(1));
        let by_memory = (3 * usual).div_ceil(2 * room).max(1);
        let nodes = by_memory.max(by_time);
        let (processes, threads) = workers(ranks, nodes, (most_processes, cores));
        let workers = (nodes * processes * threads).min(ranks).max(1);
        let nanoseconds = RANK_FOR_ALL * ranks + work / workers + bytes / READ;
        let seconds = ((nanoseconds + 500_000_000) / 1_000_000_000).max(1);
        // Shares of nodes differ by a quarter.
        let of_node = |all: u128| (5 * all).div_ceil(4 * nodes) + processes * definitions;
        let beside = |all: u128| nearest(all.saturating_sub(memory * 4 / 5));
        Ok(Plan {
            nodes: nearest(nodes),
            processes: nearest(processes),
            threads: nearest(threads),
            seconds: nearest(seconds),
            minutes: nearest(3 * seconds).div_ceil(60 * MINUTES).saturating_mul(MINUTES),
            usual: nearest(of_node(usual)),
            most: nearest(of_node(most)),
            memory: nearest((3 * usual).div_ceil(2 * nodes) + processes * definitions),
            always: nearest((5 * most).div_ceil(4 * room).max(1)),
            on_one_node: (by_memory > 1).then(|| OnOneNode {
                memory: nearest(memory * 4 / 5 / most_processes),
                disk: [beside(usual), beside(most)],
            }),
        })
    }
}

/// Processes of each node, and threads of each: as many workers as there are ranks, if there are fewer than cores, and then fewer
/// threads first. What one domain has cores for is one process.
fn workers(ranks: u128, nodes: u128, (processes, cores): (u128, u128)) -> (u128, u128) {
    let of_node = ranks.div_ceil(nodes).max(1);
    let threads = (cores / processes).max(1);
    if of_node <= threads {
        return (1, of_node);
    }
    let processes = processes.min(of_node);
    (processes, of_node.div_ceil(processes).min(threads))
}

/// The number, or the largest that there is.
fn nearest(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: Node = Node { cores: 128, domains: 8, memory: 256_000_000_000 };

    fn size(ranks: u64, events: u64, bytes: u64) -> Size {
        Size { ranks, events, bytes, most: 8 * bytes + (ranks << 13) }
    }

    /// The table of site 2.4.
    #[test]
    fn plans_are_those_of_the_specification() {
        let gigabytes = |bytes: u64| (bytes as f64 / 1e8).round() / 10.0;
        for (ranks, events, bytes, form, usual, most, always, seconds) in [
            (64, 6_400_000, 80_000_000, (1, 8, 8), 0.2, 0.8, 1, 1),
            (1024, 100_000_000, 1_250_000_000, (1, 8, 16), 3.1, 12.5, 1, 1),
            (16_384, 1_000_000_000, 12_500_000_000, (1, 8, 16), 31.4, 125.2, 1, 6),
            (1024, 10_000_000_000, 125_000_000_000, (2, 8, 16), 156.3, 625.0, 7, 31),
            (131_072, 10_000_000_000, 125_000_000_000, (2, 8, 16), 156.9, 626.2, 7, 53),
        ] {
            let plan = Plan::new(&size(ranks, events, bytes), &NODE).unwrap();
            assert_eq!((plan.nodes, plan.processes, plan.threads), form, "{plan:?}");
            assert_eq!((gigabytes(plan.usual), gigabytes(plan.most)), (usual, most), "{plan:?}");
            assert_eq!((plan.always, plan.seconds), (always, seconds), "{plan:?}");
        }
    }

    #[test]
    fn one_node_is_told_what_it_needs_where_several_are_planned() {
        let plan = Plan::new(&size(1024, 10_000_000_000, 125_000_000_000), &NODE).unwrap();
        let one = plan.on_one_node.unwrap();
        assert_eq!(one.memory, 25_600_000_000);
        assert_eq!(one.disk.map(|bytes| bytes / 1_000_000_000), [45, 795]);
        let plan = Plan::new(&size(64, 6_400_000, 80_000_000), &NODE).unwrap();
        assert_eq!((plan.on_one_node, plan.minutes), (None, 5));
    }

    #[test]
    fn there_are_as_many_workers_as_ranks_or_cores_with_fewer_threads_first() {
        let of = |ranks, nodes| workers(ranks, nodes, (8, 128));
        assert_eq!([of(1, 1), of(4, 1), of(16, 1), of(17, 1)], [(1, 1), (1, 4), (1, 16), (8, 3)]);
        assert_eq!([of(64, 1), of(1 << 20, 1), of(20, 4), of(3, 7)], [(8, 8), (8, 16), (1, 5), (1, 1)]);
        assert_eq!(workers(1 << 20, 1, (8, 4)), (8, 1));
    }

    #[test]
    fn time_takes_more_nodes_only_as_long_as_there_are_ranks_for_them() {
        let nodes = |ranks, events| Plan::new(&size(ranks, events, 0), &NODE).unwrap().nodes;
        assert_eq!(nodes(10_000, 1_000_000_000_000), 20);
        assert_eq!(nodes(200, 1_000_000_000_000), 2);
    }

    #[test]
    fn definitions_that_do_not_fit_are_refused_and_large_ones_take_fewer_processes() {
        let small = Node { memory: 100_000_000, ..NODE };
        assert!(Plan::new(&size(10_000_000, 0, 0), &small).is_err());
        assert_eq!(Plan::new(&size(20_000, 0, 0), &small).unwrap().processes, 4);
        let largest = Size { ranks: u64::MAX >> 12, events: u64::MAX, bytes: u64::MAX, most: u64::MAX };
        assert!(Plan::new(&largest, &NODE).is_err());
        let many = Plan::new(&Size { ranks: 1, ..largest }, &NODE).unwrap();
        assert!(many.nodes > 1_000_000, "{many:?}");
    }
}
