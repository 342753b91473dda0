//! A tree in a pane: which nodes are open, where the cursor is, what is selected, and which rows there are.

use std::collections::BTreeSet;

use cubex::Forest;

use crate::commands::tree::Sort;

/// Rows up to which a tree is open at first, level by level.
const OPEN: usize = 100;

/// A node before it is in a tree: its parent, which stands before it, and its name.
pub(super) type Node = (Option<usize>, String);

/// A row: a node and the number of nodes above it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub(super) node: usize,
    pub(super) depth: usize,
}

/// A tree in a pane.
#[derive(Debug)]
pub(super) struct Pane {
    names: Vec<String>,
    parents: Vec<Option<usize>>,
    forest: Forest,
    is_open: Vec<bool>,
    /// The node that keys are for.
    cursor: usize,
    marked: BTreeSet<usize>,
    /// The order of siblings.
    pub(super) sort: Sort,
    /// The first row on the screen.
    pub(super) top: usize,
    /// Rows on the screen, as it was drawn last.
    pub(super) height: usize,
}

impl Pane {
    /// A pane with a tree of which the upper levels are open.
    pub(super) fn new(nodes: Vec<Node>) -> Pane {
        let forest = Forest::new(nodes.iter().map(|(parent, _)| *parent));
        let (parents, names): (Vec<_>, Vec<_>) = nodes.into_iter().unzip();
        let cursor = forest.roots().first().copied().unwrap_or(0);
        let mut pane = Pane {
            is_open: vec![false; names.len()],
            names,
            parents,
            forest,
            cursor,
            marked: BTreeSet::new(),
            sort: Sort::Order,
            top: 0,
            height: 1,
        };
        let mut level = pane.forest.roots().to_vec();
        let mut rows = level.len();
        loop {
            let below: Vec<usize> =
                level.iter().flat_map(|&node| pane.forest.children(node)).copied().collect();
            rows += below.len();
            if below.is_empty() || rows > OPEN {
                return pane;
            }
            level.iter().for_each(|&node| pane.is_open[node] = true);
            level = below;
        }
    }

    /// Whether there is no node.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name of a node.
    pub(super) fn name(&self, node: usize) -> &str {
        self.names.get(node).map_or("", String::as_str)
    }

    /// The node above.
    pub(super) fn parent(&self, node: usize) -> Option<usize> {
        self.parents.get(node).copied().flatten()
    }

    /// Whether the nodes below are shown; `None` if there are none.
    pub(super) fn is_open(&self, node: usize) -> Option<bool> {
        (!self.forest.children(node).is_empty()).then(|| self.is_open[node])
    }

    /// Whether a node was selected together with others.
    pub(super) fn is_marked(&self, node: usize) -> bool {
        self.marked.contains(&node)
    }

    /// The node that keys are for.
    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    /// The nodes that are selected, ascending: those that are marked, else the one at the cursor.
    pub(super) fn selection(&self) -> Vec<usize> {
        if self.is_empty() {
            return Vec::new();
        }
        if self.marked.is_empty() { vec![self.cursor] } else { self.marked.iter().copied().collect() }
    }

    /// A node with all below it, ascending in the tree's order.
    pub(super) fn subtree(&self, node: usize) -> Vec<usize> {
        let mut found = vec![node];
        let mut at = 0;
        while let Some(&next) = found.get(at) {
            found.extend(self.forest.children(next));
            at += 1;
        }
        found.sort_unstable();
        found
    }

    /// The rows of nodes whose parents are open; `values` decide their order if it is that of values.
    pub(super) fn rows(&self, values: &[Option<f64>]) -> Vec<Row> {
        self.rows_where(values, |node| self.is_open[node])
    }

    fn rows_where(&self, values: &[Option<f64>], is_open: impl Fn(usize) -> bool) -> Vec<Row> {
        let size = |node: usize| values.get(node).copied().flatten().unwrap_or(f64::NEG_INFINITY);
        let sorted = |siblings: &[usize]| {
            let mut siblings = siblings.to_vec();
            match self.sort {
                Sort::Order => {}
                Sort::Name => siblings.sort_by(|&a, &b| self.names[a].cmp(&self.names[b])),
                Sort::Value => siblings.sort_by(|&a, &b| size(b).total_cmp(&size(a))),
            }
            siblings
        };
        let mut rows = Vec::new();
        let mut pending: Vec<Row> =
            sorted(self.forest.roots()).into_iter().rev().map(|node| Row { node, depth: 0 }).collect();
        while let Some(row) = pending.pop() {
            rows.push(row);
            if is_open(row.node) {
                let below = sorted(self.forest.children(row.node)).into_iter().rev();
                pending.extend(below.map(|node| Row { node, depth: row.depth + 1 }));
            }
        }
        rows
    }

    /// The rows on the screen, with the cursor among them.
    pub(super) fn window(&mut self, rows: &[Row], height: usize) -> std::ops::Range<usize> {
        self.height = height;
        let at = rows.iter().position(|row| row.node == self.cursor).unwrap_or(0);
        self.top = self.top.min(at).max((at + 1).saturating_sub(height)).min(rows.len().saturating_sub(1));
        // No empty lines below while there are rows above.
        self.top = self.top.min(rows.len().saturating_sub(height));
        self.top..(self.top + height).min(rows.len())
    }

    /// Moves the cursor by so many rows, as far as there are any.
    pub(super) fn move_by(&mut self, values: &[Option<f64>], by: isize) {
        let rows = self.rows(values);
        let at = rows.iter().position(|row| row.node == self.cursor).unwrap_or(0);
        let to = at.saturating_add_signed(by).min(rows.len().saturating_sub(1));
        if let Some(row) = rows.get(to) {
            self.cursor = row.node;
        }
    }

    /// Opens the node at the cursor; if it is open already, goes to the first one below.
    pub(super) fn go_in(&mut self, values: &[Option<f64>]) {
        match self.is_open(self.cursor) {
            Some(false) => self.is_open[self.cursor] = true,
            Some(true) => self.move_by(values, 1),
            None => {}
        }
    }

    /// Closes the node at the cursor; if it is closed already, goes to the one above.
    pub(super) fn go_out(&mut self) {
        match (self.is_open(self.cursor), self.parent(self.cursor)) {
            (Some(true), _) => self.is_open[self.cursor] = false,
            (_, Some(parent)) => self.cursor = parent,
            _ => {}
        }
    }

    /// Opens or closes the node at the cursor.
    pub(super) fn toggle(&mut self) {
        if self.is_open(self.cursor).is_some() {
            self.is_open[self.cursor] = !self.is_open[self.cursor];
        }
    }

    /// Selects the node at the cursor besides others, or no longer.
    pub(super) fn mark(&mut self) {
        if !self.is_empty() && !self.marked.remove(&self.cursor) {
            self.marked.insert(self.cursor);
        }
    }

    /// Selects nothing but the node at the cursor.
    pub(super) fn unmark(&mut self) {
        self.marked.clear();
    }

    /// Goes to the next node, or the one before, whose name contains a text in letters of any case, also one that is not
    /// shown; returns whether there is any. `also_here` says whether the node at the cursor counts.
    pub(super) fn find(
        &mut self,
        values: &[Option<f64>],
        text: &str,
        is_forward: bool,
        also_here: bool,
    ) -> bool {
        let text = text.to_lowercase();
        let all = self.rows_where(values, |_| true);
        let here = all.iter().position(|row| row.node == self.cursor).unwrap_or(0);
        let count = all.len();
        let first = usize::from(!also_here);
        let mut places = (first..count + first).map(|step| match is_forward {
            true => (here + step) % count,
            false => (here + count * 2 - step) % count,
        });
        let is_it = |&at: &usize| self.names[all[at].node].to_lowercase().contains(&text);
        let Some(found) = places.find(is_it) else { return false };
        self.cursor = all[found].node;
        let mut above = self.parent(self.cursor);
        while let Some(node) = above {
            self.is_open[node] = true;
            above = self.parent(node);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a(b(c, d), e)`, of which all is open.
    fn pane() -> Pane {
        let nodes = [(None, "a"), (Some(0), "b"), (Some(1), "c"), (Some(1), "Deep"), (Some(0), "e")];
        Pane::new(nodes.map(|(parent, name)| (parent, name.to_owned())).into())
    }

    fn names(pane: &Pane, values: &[Option<f64>]) -> String {
        pane.rows(values).iter().map(|row| format!("{}{} ", row.depth, pane.name(row.node))).collect()
    }

    #[test]
    fn closed_nodes_hide_those_below() {
        let mut pane = pane();
        assert_eq!(names(&pane, &[]), "0a 1b 2c 2Deep 1e ");
        pane.move_by(&[], 1);
        pane.toggle();
        assert_eq!(names(&pane, &[]), "0a 1b 1e ");
        pane.go_out();
        assert_eq!(pane.name(pane.cursor()), "a");
        pane.go_in(&[]);
        pane.go_in(&[]);
        assert_eq!(names(&pane, &[]), "0a 1b 2c 2Deep 1e ");
    }

    #[test]
    fn siblings_are_sorted_below_their_parents() {
        let mut pane = pane();
        pane.sort = Sort::Value;
        let values = [1.0, 0.1, 0.02, 0.08, 0.9].map(Some);
        assert_eq!(names(&pane, &values), "0a 1e 1b 2Deep 2c ");
        pane.sort = Sort::Name;
        assert_eq!(names(&pane, &values), "0a 1b 2Deep 2c 1e ");
    }

    #[test]
    fn large_trees_are_open_as_far_as_rows_are_few() {
        let wide = (0..200).map(|at| (Some(0), format!("{at}")));
        let pane = Pane::new([(None, "root".to_owned())].into_iter().chain(wide).collect());
        assert_eq!(pane.rows(&[]).len(), 1);
    }

    #[test]
    fn search_finds_what_is_hidden_and_goes_round() {
        let mut pane = pane();
        pane.toggle();
        assert!(pane.find(&[], "deep", true, true));
        assert_eq!(pane.name(pane.cursor()), "Deep");
        assert_eq!(names(&pane, &[]), "0a 1b 2c 2Deep 1e ");
        assert!(pane.find(&[], "E", true, false) && pane.name(pane.cursor()) == "e");
        assert!(pane.find(&[], "e", true, false) && pane.name(pane.cursor()) == "Deep");
        assert!(pane.find(&[], "e", false, false) && pane.name(pane.cursor()) == "e");
        assert!(!pane.find(&[], "x", true, true) && pane.name(pane.cursor()) == "e");
    }

    #[test]
    fn cursor_stays_on_the_screen() {
        let mut pane = pane();
        let rows = pane.rows(&[]);
        pane.move_by(&[], 4);
        assert_eq!(pane.window(&rows, 2), 3..5);
        pane.move_by(&[], -2);
        assert_eq!(pane.window(&rows, 2), 2..4);
        assert_eq!(pane.window(&rows, 10), 0..5);
        assert_eq!(pane.window(&rows, 0).len(), 0);
        assert_eq!(Pane::new(Vec::new()).window(&[], 3), 0..0);
    }

    #[test]
    fn empty_trees_do_no_harm() {
        let mut pane = Pane::new(Vec::new());
        pane.move_by(&[], 1);
        pane.go_in(&[]);
        pane.go_out();
        pane.toggle();
        pane.mark();
        assert!(!pane.find(&[], "", true, true) && pane.selection().is_empty() && pane.rows(&[]).is_empty());
    }
}
