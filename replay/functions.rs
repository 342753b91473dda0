//! Functions of the program: groups of call paths of the report that lie in the same function.
//!
//! All call sites of one function are one place for users, and so are the functions of runtime libraries that
//! it calls (`memcpy`, `clock_gettime`), although samples split such a place into many call paths.

use rustc_hash::FxHashMap;

use crate::ids::ReportPath;
use crate::report_paths::{Node, ReportPaths};
use crate::trace::Trace;

/// A function of the program on a call path: the number of the first call path of the report in that
/// function.
pub type Function = ReportPath;

/// The function of each call path of the report.
#[derive(Clone, Debug)]
pub struct Functions {
    /// The function of each call path.
    of: Vec<Function>,
}

impl Functions {
    /// Groups the call paths of the report, given as parent and region; a root has no parent.
    pub fn new(trace: &Trace, paths: &[Node]) -> Functions {
        let mut of: Vec<Function> = Vec::with_capacity(paths.len());
        let mut known: FxHashMap<(Function, u32), Function> = FxHashMap::default();
        for (at, &Node { parent, region, .. }) in paths.iter().enumerate() {
            let outer = of.get(parent.index()).copied();
            of.push(match outer.filter(|_| trace.is_of_runtime_library(region)) {
                Some(outer) => outer,
                None => *known.entry((outer.unwrap_or(Function::NONE), region)).or_insert(Function::new(at)),
            });
        }
        Functions { of }
    }

    /// Returns the function of a call path.
    pub fn of(&self, path: ReportPath) -> Function {
        self.of[path.index()]
    }

    /// Returns, by call path, whether MPI is called in its function or below.
    pub fn calls_mpi(&self, trace: &Trace, paths: &ReportPaths) -> Vec<bool> {
        let mut calls = vec![false; self.of.len()];
        // Parents stand before their children.
        for path in paths.all().rev() {
            if let Some(parent) = paths.parent(path) {
                calls[parent.index()] |= calls[path.index()] || trace.is_mpi(paths.region(path));
            }
        }
        let mut of_functions = vec![false; calls.len()];
        for (&function, &calls) in self.of.iter().zip(&calls) {
            of_functions[function.index()] |= calls;
        }
        self.of.iter().map(|&function| of_functions[function.index()]).collect()
    }
}
