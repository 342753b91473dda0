//! Call paths of the report by those of a process, found by what the report says of each: region and call site.
//!
//! The report's paths are those of all processes, merged; without walking all of them again only their descriptions are known.

use cubex::{Cube, Region};
use rustc_hash::FxHashMap;

use crate::call_tree::NO_SITE;
use crate::ids::{PathId, ReportPath};
use crate::report::region;
use crate::trace::{Artificial, Trace};
use crate::walk::WalkedProcess;

/// No call path above.
const NOTHING: usize = usize::MAX;

/// What tells siblings of the call tree from each other: the number of a region, file and line of the call.
type Key = (usize, Option<usize>, String, Option<u32>);

/// The call paths of a report by their parents.
#[derive(Debug)]
pub(super) struct PathsOfReport {
    /// For each region of the trace that call paths have, the first region of the report with its description.
    regions: FxHashMap<String, usize>,
    /// Call paths by the one above, region and call site; of equal ones the first.
    paths: FxHashMap<Key, usize>,
    /// The root, if there is one only, as in reports of this program.
    root: Option<usize>,
    /// The region of the root.
    root_region: Option<usize>,
}

impl PathsOfReport {
    /// The call paths of a report.
    pub(super) fn new(report: &Cube) -> PathsOfReport {
        let mut regions: FxHashMap<String, usize> = FxHashMap::default();
        let first: Vec<usize> = (0..)
            .zip(&report.regions)
            .map(|(at, region)| *regions.entry(description(region)).or_insert(at))
            .collect();
        let mut paths = FxHashMap::default();
        for (at, cnode) in report.cnodes.iter().enumerate() {
            let above = cnode.parent.map_or(NOTHING, |parent| parent.0);
            let region = first.get(cnode.region.0).copied();
            paths.entry((above, region, cnode.module.clone(), cnode.line)).or_insert(at);
        }
        let mut roots = (0..).zip(&report.cnodes).filter(|(_, cnode)| cnode.parent.is_none());
        let root = roots.next().filter(|_| roots.next().is_none());
        let root_region = root.and_then(|(_, cnode)| first.get(cnode.region.0).copied());
        PathsOfReport { regions, paths, root: root.map(|(at, _)| at), root_region }
    }

    /// The call paths of the report that those of a process are, by position; none where the report has no such path.
    pub(super) fn numbers(&self, trace: &Trace, process: &WalkedProcess) -> Vec<ReportPath> {
        let mut regions: FxHashMap<u32, Option<usize>> = FxHashMap::default();
        let mut found: Vec<Option<usize>> = Vec::with_capacity(process.paths.len());
        for path in &process.paths {
            let find = || self.regions.get(&description(&region(trace, path.region))).copied();
            let region = *regions.entry(path.region).or_insert_with(find);
            let site = (path.site != NO_SITE).then(|| &trace.sites[path.site as usize]);
            let file = site.map_or(String::new(), |(file, _)| file.clone());
            let line = site.map(|(_, line)| *line).filter(|&line| line > 0);
            let is_unnamed = path.region == trace.artificial(Artificial::Program);
            found.push(match path.parent {
                // All processes have one root: their program, or what stands for several.
                PathId::NONE if is_unnamed || region.is_some() && region == self.root_region => self.root,
                PathId::NONE => {
                    let above = self.root.unwrap_or(NOTHING);
                    self.paths.get(&(above, region, file, line)).copied()
                }
                above => {
                    let above = found[above.index()];
                    above.and_then(|above| self.paths.get(&(above, region, file, line)).copied())
                }
            });
        }
        found.into_iter().map(|path| path.map_or(ReportPath::NONE, ReportPath::new)).collect()
    }
}

/// What a report says of a region, as one text.
fn description(region: &Region) -> String {
    let Region { name, mangled_name, module, begin_line, end_line, paradigm, role, description, .. } = region;
    let parts = [name, mangled_name, module, paradigm, role, description].map(String::as_str);
    // Names may have any letters but this one, which XML does not allow.
    format!("{}\u{0}{begin_line:?}\u{0}{end_line:?}", parts.join("\u{0}"))
}
