//! The call paths of the report: those of all processes merged, parents before children and siblings
//! together.

use crate::call_tree::{CallPath, CallTree, NO_SITE, merge_all};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::functions::Functions;
use crate::ids::{PathId, ReportPath};
use crate::trace::{Artificial, Trace};
use crate::walk::WalkedProcess;

/// A call path of the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// The path that it was entered from; none at a root.
    pub parent: ReportPath,
    /// Position among the regions of the [`Trace`].
    pub region: u32,
    /// Position in [`Trace::sites`], or [`NO_SITE`].
    pub site: u32,
}

/// The call paths of the report, numbered in preorder.
#[derive(Clone, Debug)]
pub struct ReportPaths {
    /// All call paths, in preorder.
    pub nodes: Vec<Node>,
    /// For each process of this worker, the report's call path by the process's.
    pub numbers: Vec<Vec<ReportPath>>,
    /// The functions of the call paths.
    pub functions: Functions,
}

impl ReportPaths {
    /// Merges the call trees of all processes.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn unify<'p>(
        trace: &Trace,
        processes: impl Iterator<Item = &'p WalkedProcess> + Clone,
        exchange: &mut dyn Exchange,
    ) -> Result<ReportPaths, Error> {
        // The root of a process without a program of its own, until all programs are known: the events of its
        // main thread are lost, or none of them names the program.
        let unnamed = trace.artificial(Artificial::Program);
        let merge = |tree: &mut CallTree, paths: &[CallPath]| {
            let names_program =
                |path: &CallPath| path.parent == PathId::NONE && trace.is_program(path.region);
            let above = match paths.is_empty() || paths.iter().any(names_program) {
                true => PathId::NONE,
                false => tree.enter(PathId::NONE, unnamed, NO_SITE),
            };
            tree.merge_below(above, paths)
        };
        let mut own = CallTree::default();
        for process in processes.clone() {
            merge(&mut own, &process.paths);
        }
        let mut tree = merge_all(own, exchange)?;
        let mut merged: Vec<Vec<PathId>> =
            processes.map(|process| merge(&mut tree, &process.paths)).collect();
        // One root: the program, if all processes that name one name the same.
        let roots: Vec<u32> = tree.roots().map(|root| tree.paths()[root.index()].region).collect();
        let named: Vec<u32> = roots.iter().copied().filter(|&root| root != unnamed).collect();
        let root = match named[..] {
            [program] if trace.is_program(program) => program,
            _ => unnamed,
        };
        if roots != [root] {
            let (below, places) = tree.below_root(root, unnamed);
            tree = below;
            merged.iter_mut().flatten().for_each(|path| *path = places[path.index()]);
        }
        let order = tree.preorder();
        let mut positions = vec![ReportPath::NONE; order.len()];
        for (at, &path) in order.iter().enumerate() {
            positions[path.index()] = ReportPath::new(at);
        }
        let of_report = |of: Vec<PathId>| of.into_iter().map(|path| positions[path.index()]).collect();
        let numbers = merged.into_iter().map(of_report).collect();
        // No step searches for paths after this, and there may be very many.
        let tree = tree.into_paths();
        let node = |&path: &PathId| {
            let CallPath { parent, region, site } = tree[path.index()];
            Node { parent: positions.get(parent.index()).copied().unwrap_or(ReportPath::NONE), region, site }
        };
        let nodes: Vec<Node> = order.iter().map(node).collect();
        let functions = Functions::new(trace, &nodes);
        Ok(ReportPaths { nodes, numbers, functions })
    }

    /// Returns the number of call paths.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no call path.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns all call paths: parents come before their children.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = ReportPath> + use<> {
        ReportPath::default().until(ReportPath::new(self.nodes.len()))
    }

    /// Returns the region of a call path.
    pub fn region(&self, path: ReportPath) -> u32 {
        self.nodes[path.index()].region
    }

    /// Returns the call site of a call path, or [`NO_SITE`].
    pub fn site(&self, path: ReportPath) -> u32 {
        self.nodes[path.index()].site
    }

    /// Returns the call path at or above another one whose function belongs to the program itself, not to a
    /// library called by it.
    pub fn own_path(&self, trace: &Trace, mut path: ReportPath) -> ReportPath {
        while trace.is_of_runtime_library(self.region(path)) {
            let Some(parent) = self.parent(path) else { break };
            path = parent;
        }
        path
    }

    /// Returns the parent of a call path; a root has none.
    pub fn parent(&self, path: ReportPath) -> Option<ReportPath> {
        Some(self.nodes[path.index()].parent).filter(|parent| !parent.is_none())
    }
}
