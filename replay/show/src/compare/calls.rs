//! The call tree of one side of a comparison: call paths of all its runs, each once.

use std::collections::HashMap;

use cubex::{Cube, Forest};

/// A call path of a side.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Call {
    /// The caller, which stands before it.
    pub parent: Option<usize>,
    /// Name of the function.
    pub name: String,
    /// Its programming model, such as `mpi`.
    pub paradigm: String,
    /// Source file of the function; may be empty.
    pub file: String,
    /// First line of the function, then line of the call.
    pub lines: (Option<u32>, Option<u32>),
}

/// The call paths of a report, at the positions of its cnodes.
pub fn of_report(cube: &Cube) -> Vec<Call> {
    let call = |cnode: &cubex::Cnode| {
        let region = cube.regions.get(cnode.region.0);
        Call {
            parent: cnode.parent.map(|parent| parent.0),
            name: region.map_or(String::new(), |region| region.name.clone()),
            paradigm: region.map_or(String::new(), |region| region.paradigm.clone()),
            file: region.map_or(String::new(), |region| region.module.clone()),
            lines: (region.and_then(|region| region.begin_line), cnode.line),
        }
    };
    cube.cnodes.iter().map(call).collect()
}

/// The call paths of a side.
#[derive(Debug)]
pub struct Calls {
    /// Call paths, callers first.
    pub list: Vec<Call>,
    /// Who calls whom.
    pub forest: Forest,
}

impl Calls {
    /// Joins the call paths of several runs; returns for each run where its call paths are. Of one caller, the n-th call
    /// of equal function, paradigm, file and lines is the same in all runs; if they go by their names, all calls of equal
    /// function and paradigm are one, as in a log.
    pub fn join(runs: &[Vec<Call>], is_by_name: bool) -> (Calls, Vec<Vec<usize>>) {
        let mut list: Vec<Call> = Vec::new();
        let mut known = HashMap::new();
        let mut places = Vec::with_capacity(runs.len());
        for run in runs {
            let mut seen: HashMap<Call, usize> = HashMap::new();
            let mut own: Vec<usize> = Vec::with_capacity(run.len());
            for call in run {
                // Callers stand before, so they have a place.
                let parent = call.parent.and_then(|parent| own.get(parent)).copied();
                let mut call = Call { parent, ..call.clone() };
                if is_by_name {
                    (call.file, call.lines) = (String::new(), (None, None));
                }
                let mut occurrence = 0;
                if !is_by_name {
                    let count = seen.entry(call.clone()).or_default();
                    (occurrence, *count) = (*count, *count + 1);
                }
                let place = *known.entry((call.clone(), occurrence)).or_insert_with(|| {
                    list.push(call);
                    list.len() - 1
                });
                own.push(place);
            }
            places.push(own);
        }
        let forest = Forest::new(list.iter().map(|call| call.parent));
        (Calls { list, forest }, places)
    }

    /// The names of a call path from the root on.
    pub fn names(&self, call: usize) -> Vec<&str> {
        let mut names = Vec::new();
        let mut next = Some(call);
        while let Some(call) = next.and_then(|at| self.list.get(at)) {
            names.push(call.name.as_str());
            next = call.parent;
        }
        names.reverse();
        names
    }

    /// Call paths that are selected, or lie below one.
    pub fn with_those_below(&self, mut selected: Vec<bool>) -> Vec<bool> {
        for (at, call) in self.list.iter().enumerate() {
            selected[at] |= call.parent.is_some_and(|parent| selected[parent]);
        }
        selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_share_call_paths() {
        let call = |name: &str, parent| Call { name: name.into(), parent, ..Call::default() };
        let one = vec![call("main", None), call("f", Some(0)), call("f", Some(0))];
        let other = vec![call("main", None), call("g", Some(0)), call("f", Some(0))];
        let (calls, places) = Calls::join(&[one.clone(), other.clone()], false);
        assert_eq!(places, [vec![0, 1, 2], vec![0, 3, 1]]);
        assert_eq!(Calls::join(&[one, other], true).1, [vec![0, 1, 1], vec![0, 2, 1]]);
        assert_eq!(calls.names(3), ["main", "g"]);
        assert_eq!(calls.with_those_below(vec![false, true, false, false]), [false, true, false, false]);
        assert_eq!(calls.with_those_below(vec![true, false, false, false]), [true; 4]);
    }
}
