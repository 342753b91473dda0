//! Reduction over ranks along a tree that is determined by the ranks alone.
//!
//! Sums of doubles depend on their order. A node of this tree covers 2^k ranks from a multiple of 2^k on; a
//! worker owns consecutive ranks, combines the nodes that it has completely, and sends the rest on. So the
//! result has the same bits for every number of workers, and no worker holds more than two nodes for each k.

/// Consecutive nodes, in the order of ranks.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RankTree<T> {
    nodes: Vec<Node<T>>,
}

/// Combined value of the ranks from `first` on.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Node<T> {
    pub(super) first: u64,
    /// Number of ranks that it covers: a power of two.
    pub(super) ranks: u64,
    pub(super) value: T,
}

impl<T> RankTree<T> {
    pub(super) fn new() -> RankTree<T> {
        RankTree { nodes: Vec::new() }
    }

    /// Appends the next ranks; `combine` gets the values of lower ranks and of higher ranks.
    pub(super) fn push(&mut self, mut node: Node<T>, combine: impl Fn(&mut T, &T)) {
        while let Some(mut left) = self.nodes.pop_if(|left| {
            left.ranks == node.ranks
                && left.first % (2 * left.ranks) == 0
                && left.first + left.ranks == node.first
        }) {
            combine(&mut left.value, &node.value);
            node = Node { ranks: 2 * left.ranks, ..left };
        }
        self.nodes.push(node);
    }

    pub(super) fn nodes(&self) -> &[Node<T>] {
        &self.nodes
    }

    /// Combined value of all ranks.
    pub(super) fn total(self, combine: impl Fn(&mut T, &T)) -> Option<T> {
        let mut nodes = self.nodes.into_iter().map(|node| node.value);
        let mut total = nodes.next()?;
        nodes.for_each(|value| combine(&mut total, &value));
        Some(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combine(left: &mut String, right: &String) {
        *left = format!("({left}{right})");
    }

    /// The nodes of the ranks of a worker.
    fn of(ranks: std::ops::Range<u64>) -> RankTree<String> {
        let mut tree = RankTree::new();
        ranks.for_each(|first| tree.push(Node { first, ranks: 1, value: first.to_string() }, combine));
        tree
    }

    #[test]
    fn any_grouping_of_ranks_is_combined_alike() {
        for ranks in 1..20 {
            let alone = of(0..ranks).total(combine).unwrap();
            for first in 0..ranks {
                for second in first..ranks {
                    let (mut tree, mut right) = (of(0..first), of(first..second));
                    of(second..ranks).nodes.into_iter().for_each(|node| right.push(node, combine));
                    right.nodes.into_iter().for_each(|node| tree.push(node, combine));
                    assert_eq!(tree.total(combine).unwrap(), alone, "{first} and {second} of {ranks}");
                }
            }
        }
    }

    #[test]
    fn complete_pairs_become_one_node() {
        let covered = |tree: &RankTree<String>| -> Vec<(u64, u64)> {
            tree.nodes().iter().map(|node| (node.first, node.ranks)).collect()
        };
        assert_eq!(covered(&of(3..11)), [(3, 1), (4, 4), (8, 2), (10, 1)]);
    }
}
