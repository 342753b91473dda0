//! The filter of the program's regions: the rules of a filter file, of which the last one that matches
//! decides; without one a region is recorded.

use std::ffi::{CStr, CString};
use std::path::Path;

use recording::filter;

/// The rules, in their order.
#[derive(Default)]
pub(crate) struct Filter {
    regions: Vec<CompiledRule>,
    files: Vec<CompiledRule>,
}

struct CompiledRule {
    pattern: CString,
    admits: bool,
    /// Whether it is for mangled names.
    is_mangled: bool,
}

impl From<filter::FilterRules> for Filter {
    fn from(rules: filter::FilterRules) -> Filter {
        // Patterns have no NUL.
        let rule = |rule: filter::FilterRule| {
            let pattern = CString::new(rule.pattern).ok()?;
            Some(CompiledRule { pattern, admits: rule.admits, is_mangled: rule.is_mangled })
        };
        let list = |rules: Vec<filter::FilterRule>| rules.into_iter().filter_map(rule).collect();
        Filter { regions: list(rules.regions), files: list(rules.files) }
    }
}

impl Filter {
    /// Reads a filter file.
    ///
    /// An error is a sentence.
    pub(crate) fn read(path: &Path) -> Result<Filter, String> {
        filter::read(path).map(Filter::from)
    }

    /// Whether it admits every region.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.regions.is_empty() && self.files.is_empty()
    }

    /// Whether a region is recorded; `mangled` is its name for linkers, which may be the same.
    pub(crate) fn admits(&self, name: &CStr, mangled: &CStr, file: Option<&CStr>) -> bool {
        decide(&self.regions, name, mangled) && file.is_none_or(|file| decide(&self.files, file, file))
    }
}

fn decide(rules: &[CompiledRule], name: &CStr, mangled: &CStr) -> bool {
    let matches = |rule: &&CompiledRule| {
        let name = if rule.is_mangled { mangled } else { name };
        // SAFETY: both strings end with a NUL.
        unsafe { libc::fnmatch(rule.pattern.as_ptr(), name.as_ptr(), 0) == 0 }
    };
    rules.iter().rev().find(matches).is_none_or(|rule| rule.admits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(pattern: &str, admits: bool, is_mangled: bool) -> filter::FilterRule {
        filter::FilterRule { pattern: pattern.into(), admits, is_mangled }
    }

    #[test]
    fn last_rule_that_matches_decides() {
        let regions = vec![
            rule("*", false, false),
            rule("main", true, false),
            rule("step_*", true, false),
            rule("_Z*", false, true),
        ];
        let files = vec![rule("*/lib/*", false, false)];
        let filter = Filter::from(filter::FilterRules { regions, files });
        let admits = |name: &CStr, mangled, file| filter.admits(name, mangled, file);
        assert!(admits(c"main", c"main", None) && admits(c"step_1", c"step_1", Some(c"/src/a.c")));
        assert!(!admits(c"other", c"other", None));
        assert!(!admits(c"step_2", c"_Z6step_2v", None));
        assert!(!admits(c"main", c"main", Some(c"/src/lib/a.c")));
        assert!(!filter.is_empty() && Filter::default().is_empty());
    }
}
