//! What MPI does with files in its calls: functions of the C library whose time is that of the call (io 5.2).

use crate::call_tree::CallPath;
use crate::ids::PathId;
use crate::int::to_u32;
use crate::trace::Trace;

/// Regions by position; empty where the reference is followed, which does not tell such functions apart.
#[derive(Clone, Default, Debug)]
pub struct FilesInMpi {
    /// Whether a region is a function of the C library for files.
    functions: Vec<bool>,
    /// Whether it is a call of MPI.
    calls: Vec<bool>,
}

impl FilesInMpi {
    /// Of the regions of a trace.
    pub fn new(trace: &Trace) -> FilesInMpi {
        if !trace.semantics.replays_all_of_mpi() {
            return FilesInMpi::default();
        }
        let with = |select: fn(&model::Region) -> bool| {
            (0..to_u32(trace.region_count())).map(|at| select(trace.region(at))).collect()
        };
        FilesInMpi { functions: with(patterns::is_file_function), calls: with(patterns::is_mpi_call) }
    }

    /// Returns the call of MPI that does something with files at a call path, of which these are the regions from the inside out; `None`
    /// if there is none, or the innermost region is another one.
    pub fn call(&self, mut regions: impl Iterator<Item = u32>) -> Option<u32> {
        let is = |list: &[bool], region: u32| list.get(region as usize) == Some(&true);
        regions.next().filter(|&own| is(&self.functions, own))?;
        regions.find(|&region| is(&self.calls, region))
    }
}

/// Returns the regions on a call path, from the inside out.
pub fn regions_of(paths: &[CallPath], path: PathId) -> impl Iterator<Item = u32> + Clone {
    let outer = |&path: &PathId| Some(paths[path.index()].parent).filter(|&parent| parent != PathId::NONE);
    std::iter::successors(Some(path), outer).map(|path| paths[path.index()].region)
}
