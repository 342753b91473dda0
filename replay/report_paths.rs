//! The call paths of the report: those of all processes merged, parents before children and siblings
//! together.

use crate::call_tree::{CallPath, CallTree, NO_PATH, NO_SITE, merge_all};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::functions::Functions;
use crate::int::to_u32;
use crate::trace::{Artificial, Trace};
use crate::walk::WalkedProcess;

/// The call paths of the report, numbered in preorder.
#[derive(Clone, Debug)]
pub struct ReportPaths {
    /// The call paths, with numbers of their own.
    pub tree: Vec<CallPath>,
    /// The number in the tree by the number in the report.
    pub order: Vec<u32>,
    /// The number in the report by the number in the tree.
    pub positions: Vec<u32>,
    /// For each process of this worker, the number in the report by the number in the process.
    pub numbers: Vec<Vec<u32>>,
    /// The functions of the call paths.
    pub functions: Functions,
}

impl ReportPaths {
    /// Merges the call trees of all processes.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn unify(
        trace: &Trace,
        processes: &[WalkedProcess],
        exchange: &mut dyn Exchange,
    ) -> Result<ReportPaths, Error> {
        // The root of a process without a program of its own, until all programs are known: the events of its
        // main thread are lost, or none of them names the program.
        let unnamed = trace.artificial(Artificial::Program);
        let merge = |tree: &mut CallTree, paths: &[CallPath]| {
            let names_program = |path: &CallPath| path.parent == NO_PATH && trace.is_program(path.region);
            let above = match paths.is_empty() || paths.iter().any(names_program) {
                true => NO_PATH,
                false => tree.enter(NO_PATH, unnamed, NO_SITE),
            };
            tree.merge_below(above, paths)
        };
        let mut own = CallTree::default();
        for process in processes {
            merge(&mut own, &process.paths);
        }
        let mut tree = merge_all(own, exchange)?;
        let mut numbers: Vec<Vec<u32>> =
            processes.iter().map(|process| merge(&mut tree, &process.paths)).collect();
        // One root: the program, if all processes that name one name the same.
        let roots: Vec<u32> = tree.roots().map(|root| tree.paths()[root as usize].region).collect();
        let named: Vec<u32> = roots.iter().copied().filter(|&root| root != unnamed).collect();
        let root = match named[..] {
            [program] if trace.is_program(program) => program,
            _ => unnamed,
        };
        if roots != [root] {
            let (below, places) = tree.below_root(root, unnamed);
            tree = below;
            numbers.iter_mut().flatten().for_each(|path| *path = places[*path as usize]);
        }
        let order = tree.preorder();
        let mut positions = vec![0; order.len()];
        for (at, &path) in order.iter().enumerate() {
            positions[path as usize] = to_u32(at);
        }
        numbers.iter_mut().flatten().for_each(|path| *path = positions[*path as usize]);
        // No step searches for paths after this, and there may be very many.
        let tree = tree.into_paths();
        let in_order = order.iter().map(|&path| &tree[path as usize]);
        let functions = Functions::new(
            trace,
            in_order.map(|path| (positions.get(path.parent as usize).copied(), path.region)),
        );
        Ok(ReportPaths { tree, order, positions, numbers, functions })
    }

    /// Returns the number of call paths.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no call path.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns the region of a call path, by its number in the report.
    pub fn region(&self, path: u32) -> u32 {
        self.tree[self.order[path as usize] as usize].region
    }

    /// Returns the call path at or above another one whose function belongs to the program itself, not to a
    /// library called by it.
    pub fn own_path(&self, trace: &Trace, mut path: u32) -> u32 {
        while trace.is_of_runtime_library(self.region(path)) {
            let Some(parent) = self.parent(path) else { break };
            path = parent;
        }
        path
    }

    /// Returns the parents by numbers of the report; parents come before their children. The root is its own
    /// parent.
    pub fn parents(&self) -> Vec<u32> {
        (0..to_u32(self.order.len())).map(|path| self.parent(path).unwrap_or(path)).collect()
    }

    /// Returns the parent of a call path by numbers of the report; a root has none.
    pub fn parent(&self, path: u32) -> Option<u32> {
        let parent = self.tree[self.order[path as usize] as usize].parent;
        self.positions.get(parent as usize).copied()
    }
}
