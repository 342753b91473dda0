//! Names of what numbers in columns stand for.

use rules::{Names, Type};

use super::collectives::OPERATIONS;
use super::schema::{FILES, LINES, NODES, REGIONS};
use crate::ids::ReportPath;
use crate::report::names;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::what_if::ITSELF;

/// Names of call paths, regions and lines of a report.
#[derive(Debug)]
pub(super) struct ReportNames<'n> {
    pub(super) trace: &'n Trace,
    pub(super) paths: &'n ReportPaths,
}

/// The call path with this number in a column.
pub(super) fn numbered(paths: &ReportPaths, number: i64) -> Option<ReportPath> {
    let number = usize::try_from(number).ok().filter(|&number| number < paths.len())?;
    Some(ReportPath::new(number))
}

/// The names of a call path with slashes between them, without that of the program: processes may have it under other names.
pub(super) fn words(tools: &Tools<'_>, paths: &ReportPaths, path: ReportPath) -> String {
    let from_inside = std::iter::successors(Some(path), |&path| paths.parent(path));
    let mut names: Vec<&str> = from_inside.map(|path| tools.trace.region_name(paths.region(path))).collect();
    if names.len() > 1 {
        names.pop();
    }
    names.reverse();
    names.join("/")
}

/// The names of a call path alone: of what is called there it is told apart only where that is work, too.
pub(super) fn words_alone(tools: &Tools<'_>, paths: &ReportPaths, path: ReportPath) -> String {
    let calls_work =
        paths.all().any(|it| paths.parent(it) == Some(path) && !tools.trace.is_mpi(paths.region(it)));
    words(tools, paths, path) + if calls_work { ITSELF } else { "" }
}

impl Names for ReportNames<'_> {
    fn name(&self, kind: Type, domain: u16, number: i64) -> Option<String> {
        match (kind, domain) {
            (Type::Path, _) => Some(names::whole_path(self.trace, self.paths, numbered(self.paths, number)?)),
            (Type::Text, REGIONS) => {
                let region = u32::try_from(number).ok()?;
                Some(self.trace.region_name(region).to_owned())
            }
            (Type::Text, LINES) => self.line(number),
            (Type::Text, NODES) => {
                let tree = &self.trace.definitions.system_tree;
                Some(tree.get(usize::try_from(number).ok()?)?.name.clone())
            }
            (Type::Text, FILES) => {
                Some(self.trace.definitions.files.get(usize::try_from(number).ok()?)?.clone())
            }
            (Type::Operation, _) => Some((*OPERATIONS.get(usize::try_from(number).ok()?)?).to_owned()),
            _ => None,
        }
    }

    fn printed(&self, kind: Type, domain: u16, number: i64) -> Option<String> {
        match kind {
            Type::Path => Some(names::path(self.trace, self.paths, numbered(self.paths, number)?)),
            _ => self.name(kind, domain, number),
        }
    }

    fn line(&self, path: i64) -> Option<String> {
        names::site(self.trace, self.paths, numbered(self.paths, path)?)
    }
}
