//! The table `node`: work that takes longer on one node than on others (advice 4.1, `node`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::Ticks;
use rules::Type;

use super::Known;
use super::culprits::Culprit;
use super::sums::{PathSums, WorkOfRank};
use super::table::{Field, Of, RowTable, RowsAre};
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::ids::ReportPath;
use crate::int::{to_u32, to_usize};
use crate::tools::Tools;
use crate::what_if::Nodes;
use crate::wire::{self, Wire, wire};

/// Call paths that are looked at: those with most work.
const LOOKED_AT: usize = 64;

/// Work of the ranks of a node in a call path.
#[derive(Clone, Copy, Debug, Default)]
struct OfNode {
    ranks: u64,
    work: Ticks,
    squares: i128,
}

wire!(OfNode { ranks, work, squares });

impl OfNode {
    fn add(&mut self, other: &OfNode) {
        self.ranks += other.ranks;
        self.work = self.work.saturating_add(other.work);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// The mean of its ranks, in ticks.
    #[expect(clippy::cast_precision_loss)]
    fn mean(&self) -> f64 {
        self.work as f64 / self.ranks.max(1) as f64
    }

    /// The mean of the squares of what its ranks differ from a value, in ticks².
    #[expect(clippy::cast_precision_loss)]
    fn squares_around(&self, value: f64) -> f64 {
        self.squares as f64 / self.ranks.max(1) as f64 - 2.0 * value * self.mean() + value * value
    }
}

/// A call path, by node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct NodeRow {
    path: ReportPath,
    region: u32,
    slowest: i64,
    nodes: i64,
    by_node: f64,
    slow: Ticks,
    usual: Ticks,
    of_all: f64,
    balance: Ticks,
}

/// The table.
pub(super) const BY_NODE: RowTable<NodeRow> = RowTable {
    name: "node",
    about: "a call path outside of MPI to which ranks of several nodes come",
    rows: RowsAre::Plain,
    site: |row| (row.path, row.region),
    fields: &[
        Field {
            name: "slowest",
            kind: Type::Text,
            about: "the node whose ranks take longest there, on average",
            of: Of::Whole(|it| it.slowest),
        },
        Field { name: "nodes", kind: Type::Count, about: "nodes", of: Of::Whole(|it| it.nodes) },
        Field {
            name: "by_node",
            kind: Type::Number,
            about: "the share of the variance between ranks that lies between nodes",
            of: Of::Number(|it| it.by_node),
        },
        Field {
            name: "slow",
            kind: Type::Time,
            about: "the time of a rank of that node, on average",
            of: Of::Whole(|it| it.slow),
        },
        Field {
            name: "usual",
            kind: Type::Time,
            about: "the median of such averages of all nodes",
            of: Of::Whole(|it| it.usual),
        },
        Field {
            name: "of_all",
            kind: Type::Number,
            about: "the share of this call path in all work",
            of: Of::Number(|it| it.of_all),
        },
        Field {
            name: "balance",
            kind: Type::Time,
            about: "what sharing it evenly saves on the critical path",
            of: Of::Whole(|it| it.balance),
        },
    ],
};

/// The rows, the same at all workers.
///
/// # Errors
/// If a worker failed.
pub(super) fn rows(
    tools: &Tools<'_>,
    known: Known<'_>,
    (work, sums, culprits): (&[WorkOfRank], &PathSums, &[Culprit]),
    exchange: &mut dyn Exchange,
) -> Result<Vec<NodeRow>, Error> {
    let mut chosen: Vec<&Culprit> = culprits.iter().filter(|it| it.sum.work > 0).collect();
    chosen.sort_by_key(|it| (Reverse(it.sum.work), it.path));
    chosen.truncate(LOOKED_AT);
    let of_trace = Nodes::of_trace(tools.trace);
    let that_ran = known.processes.iter().filter(|process| !process.has_not_run());
    let mut own = BTreeMap::<(u64, u64), OfNode>::new();
    for (process, of_rank) in that_ran.zip(work) {
        let Some(node) = of_trace.of(tools.trace.processes[process.number].locations.start) else { continue };
        for (at, culprit) in chosen.iter().enumerate() {
            // Ranks that do not come there count: they have no work.
            let work = of_rank.work.iter().find(|it| it.path == culprit.path).map_or(0, |it| it.work);
            let squares = i128::from(work) * i128::from(work);
            own.entry((at as u64, node.into())).or_default().add(&OfNode { ranks: 1, work, squares });
        }
    }
    let mut words = Batch::new();
    own.into_iter().for_each(|((at, node), of)| ((at, node), of).put(&mut words));
    let mut all = BTreeMap::<(u64, u64), OfNode>::new();
    for batch in share(exchange, words)? {
        for (key, of) in wire::all::<((u64, u64), OfNode)>(&batch) {
            all.entry(key).or_default().add(&of);
        }
    }
    let in_all: i128 = sums.0.iter().map(|sum| i128::from(sum.work)).sum();
    let row = |(at, culprit): (usize, &&Culprit)| {
        let nodes = all
            .range((at as u64, 0)..=(at as u64, u64::MAX))
            .map(|(&(_, node), of)| (to_u32(to_usize(node)), *of));
        row(culprit, known.paths.region(culprit.path), &nodes.collect::<Vec<_>>(), in_all)
    };
    Ok(chosen.iter().enumerate().filter_map(row).collect())
}

/// A call path by node; `None` if all ranks are on one.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
fn row(culprit: &Culprit, region: u32, nodes: &[(u32, OfNode)], in_all: i128) -> Option<NodeRow> {
    if nodes.len() < 2 {
        return None;
    }
    let mut all = OfNode::default();
    nodes.iter().for_each(|(_, of)| all.add(of));
    let mean = all.mean();
    let between = |(_, of): &(u32, OfNode)| of.ranks as f64 * (of.mean() - mean).powi(2);
    let between = nodes.iter().map(between).sum::<f64>() / all.ranks as f64;
    let variance = all.squares_around(mean);
    let mut means: Vec<f64> = nodes.iter().map(|(_, of)| of.mean()).collect();
    means.sort_by(f64::total_cmp);
    let slow = means[means.len() - 1];
    // Of an even number of nodes the lower one in the middle: of two, the other one.
    let usual = means[(means.len() - 1) / 2];
    let (slowest, _) = nodes.iter().rev().max_by(|one, other| one.1.mean().total_cmp(&other.1.mean()))?;
    Some(NodeRow {
        path: culprit.path,
        region,
        slowest: i64::from(*slowest),
        nodes: nodes.len() as i64,
        by_node: if variance > 0.0 { (between / variance).min(1.0) } else { 0.0 },
        slow: slow as Ticks,
        usual: usual as Ticks,
        of_all: culprit.sum.work as f64 / in_all.max(1) as f64,
        balance: culprit.balance,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::sums::Sum;

    /// Work of ranks by node.
    fn by_node(nodes: &[&[Ticks]]) -> Option<NodeRow> {
        let of = |work: &[Ticks]| OfNode {
            ranks: work.len() as u64,
            work: work.iter().sum(),
            squares: work.iter().map(|&work| i128::from(work) * i128::from(work)).sum(),
        };
        let nodes: Vec<(u32, OfNode)> = (5..).zip(nodes.iter().map(|work| of(work))).collect();
        let work = nodes.iter().map(|(_, of)| of.work).sum();
        let sum = Sum { work, ..Sum::default() };
        let (of_ranks, balance, is_comparable) = (4, 7, true);
        let culprit = Culprit { path: ReportPath::new(3), sum, of_ranks, balance, is_comparable };
        row(&culprit, 1, &nodes, 2 * i128::from(work))
    }

    #[test]
    fn node_whose_ranks_take_longer_has_all_of_the_variance() {
        let row = by_node(&[&[100, 100], &[120, 120]]).unwrap();
        assert_eq!((row.slowest, row.nodes, row.slow, row.usual), (6, 2, 120, 100));
        assert!((row.by_node - 1.0).abs() < 1e-9 && (row.of_all - 0.5).abs() < 1e-9, "{row:?}");
    }

    #[test]
    fn ranks_that_differ_on_each_node_alike_have_none_of_it_between_nodes() {
        let row = by_node(&[&[100, 120], &[120, 100], &[100, 120]]).unwrap();
        assert!(row.by_node.abs() < 1e-9 && row.slow == row.usual, "{row:?}");
        assert!(by_node(&[&[0, 0], &[0, 0]]).unwrap().by_node.abs() < 1e-9);
    }

    #[test]
    fn ranks_of_one_node_have_no_row() {
        assert_eq!(by_node(&[&[100, 120]]), None);
    }
}
