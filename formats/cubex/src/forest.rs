//! Trees stored as parent positions: child lists, and the two orders in which Cube numbers rows.
//!
//! No function recurses; a tree may be as deep as it has nodes. A parent position outside the forest counts
//! as none, and parents must precede their children (the writer checks this, the reader establishes it).

use crate::{CnodeId, Cube, MetricKind};

/// Children and roots of a forest, each list in ascending order.
#[derive(Debug)]
pub struct Forest {
    roots: Vec<usize>,
    /// All children, by parent.
    children: Vec<usize>,
    /// Offset of each node's children in `children`; one more for the end.
    begins: Vec<usize>,
}

/// One step of a walk through a forest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To a node, before its children.
    Enter(usize),
    /// From a node, after its children.
    Leave(usize),
}

impl Forest {
    /// The forest in which the n-th node has the n-th parent.
    pub fn new(parents: impl ExactSizeIterator<Item = Option<usize>>) -> Forest {
        let nodes = parents.len();
        let parents: Vec<Option<usize>> = parents.map(|parent| parent.filter(|&at| at < nodes)).collect();
        let mut begins = vec![0; nodes + 1];
        for &parent in parents.iter().flatten() {
            count(&mut begins, parent + 1);
        }
        let mut sum = 0;
        for begin in &mut begins {
            sum += *begin;
            *begin = sum;
        }
        let (mut children, mut roots) = (vec![0; sum], Vec::new());
        // Offset of each node's next child.
        let mut next = begins.clone();
        for (node, parent) in parents.into_iter().enumerate() {
            match parent {
                Some(parent) => {
                    let at = count(&mut next, parent);
                    children.get_mut(at).into_iter().for_each(|child| *child = node);
                }
                None => roots.push(node),
            }
        }
        Forest { roots, children, begins }
    }

    /// The call tree of a report.
    #[must_use]
    pub fn of_cnodes(cube: &Cube) -> Forest {
        Forest::new(cube.cnodes.iter().map(|cnode| cnode.parent.map(|parent| parent.0)))
    }

    /// Nodes without a parent.
    #[must_use]
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The children of a node; none if it does not exist.
    #[must_use]
    pub fn children(&self, node: usize) -> &[usize] {
        let begin = |node: usize| self.begins.get(node).copied().unwrap_or(self.children.len());
        self.children.get(begin(node)..begin(node.saturating_add(1))).unwrap_or(&[])
    }

    /// Depth-first traversal: enters and leaves every node, its children between the two.
    pub fn walk(&self) -> impl Iterator<Item = Step> {
        let mut pending: Vec<Step> = self.roots.iter().rev().map(|&root| Step::Enter(root)).collect();
        std::iter::from_fn(move || {
            let step = pending.pop()?;
            if let Step::Enter(node) = step {
                pending.push(Step::Leave(node));
                pending.extend(self.children(node).iter().rev().map(|&child| Step::Enter(child)));
            }
            Some(step)
        })
    }

    /// Deep order: every node directly before its subtree.
    pub(crate) fn deep(&self) -> Vec<usize> {
        self.walk().filter_map(|step| if let Step::Enter(node) = step { Some(node) } else { None }).collect()
    }

    /// Wide order. Not breadth first: the children of a node stand together, directly before the descendants
    /// of the first of them, then those of the second, and so on.
    pub(crate) fn wide(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.children.len() + self.roots.len());
        for &root in &self.roots {
            order.push(root);
            let mut pending = vec![root];
            while let Some(node) = pending.pop() {
                order.extend_from_slice(self.children(node));
                pending.extend(self.children(node).iter().rev());
            }
        }
        order
    }

    /// The call paths in the order in which rows of a metric of this kind are numbered.
    pub(crate) fn row_order(&self, kind: MetricKind) -> Vec<CnodeId> {
        let order = match kind {
            MetricKind::Inclusive | MetricKind::Simple | MetricKind::PrederivedInclusive => self.wide(),
            _ => self.deep(),
        };
        order.into_iter().map(CnodeId).collect()
    }
}

/// Increments a counter and returns its old value.
fn count(counters: &mut [usize], at: usize) -> usize {
    let Some(counter) = counters.get_mut(at) else { return 0 };
    *counter += 1;
    *counter - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0(1(2(3),4(5,6(7),8),9),10), the shape of the specification's example.
    fn example() -> Forest {
        let parents: [Option<usize>; 11] =
            [None, Some(0), Some(1), Some(2), Some(1), Some(4), Some(4), Some(6), Some(4), Some(1), Some(0)];
        Forest::new(parents.into_iter())
    }

    #[test]
    fn preorder_numbers_make_deep_order_ascending() {
        assert_eq!(example().deep(), (0..11).collect::<Vec<_>>());
    }

    #[test]
    fn wide_order_keeps_siblings_together() {
        assert_eq!(example().wide(), [0, 1, 10, 2, 4, 9, 3, 5, 6, 8, 7]);
    }

    #[test]
    fn several_roots_are_finished_one_by_one() {
        let forest = Forest::new([None, None, Some(0), Some(1)].into_iter());
        assert_eq!(forest.wide(), [0, 2, 1, 3]);
        assert_eq!(forest.deep(), [0, 2, 1, 3]);
    }

    #[test]
    fn walk_leaves_what_it_enters() {
        let forest = Forest::new([None, Some(0)].into_iter());
        let steps: Vec<Step> = forest.walk().collect();
        assert_eq!(steps, [Step::Enter(0), Step::Enter(1), Step::Leave(1), Step::Leave(0)]);
    }
}
