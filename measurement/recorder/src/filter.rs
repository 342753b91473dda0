//! Which regions of the program are recorded: a filter file in Score-P's format.
//!
//! Blocks `SCOREP_REGION_NAMES_BEGIN` … `END` and `SCOREP_FILE_NAMES_BEGIN` … `END` hold rules `INCLUDE` and `EXCLUDE`
//! with patterns of the shell, of which the last one that matches decides; without one a region is recorded. Behind
//! `MANGLED` patterns are for the names that linkers know. `#` begins a comment. (Score-P User Manual, "Filtering".)

use std::ffi::{CStr, CString};
use std::path::Path;

/// The rules, in their order.
#[derive(Default)]
pub(crate) struct Filter {
    regions: Vec<Rule>,
    files: Vec<Rule>,
}

struct Rule {
    pattern: CString,
    admits: bool,
    /// Whether it is for the name that linkers know.
    is_mangled: bool,
}

impl Filter {
    /// Reads a filter file.
    ///
    /// Answers what is wrong with it, as a sentence.
    pub(crate) fn read(path: &Path) -> Result<Filter, String> {
        let text = std::fs::read_to_string(path).map_err(|cause| format!("{}: {cause}", path.display()))?;
        parse(&text).map_err(|cause| format!("{}: {cause}", path.display()))
    }

    /// Whether it admits whatever there is.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.regions.is_empty() && self.files.is_empty()
    }

    /// Whether a region is recorded, which linkers know by another name perhaps.
    pub(crate) fn admits(&self, name: &CStr, mangled: &CStr, file: Option<&CStr>) -> bool {
        decide(&self.regions, name, mangled) && file.is_none_or(|file| decide(&self.files, file, file))
    }
}

fn decide(rules: &[Rule], name: &CStr, mangled: &CStr) -> bool {
    let matches = |rule: &&Rule| {
        let name = if rule.is_mangled { mangled } else { name };
        // SAFETY: two strings.
        unsafe { libc::fnmatch(rule.pattern.as_ptr(), name.as_ptr(), 0) == 0 }
    };
    rules.iter().rev().find(matches).is_none_or(|rule| rule.admits)
}

fn parse(text: &str) -> Result<Filter, String> {
    let mut filter = Filter::default();
    // Which block, and what the patterns of a line are for that has no keyword.
    let (mut block, mut admits, mut is_mangled) = (None, None, false);
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        for word in line.split_whitespace() {
            match word {
                "SCOREP_REGION_NAMES_BEGIN" => block = Some(&mut filter.regions),
                "SCOREP_FILE_NAMES_BEGIN" => block = Some(&mut filter.files),
                "SCOREP_REGION_NAMES_END" | "SCOREP_FILE_NAMES_END" => (block, admits) = (None, None),
                "INCLUDE" | "EXCLUDE" => (admits, is_mangled) = (Some(word == "INCLUDE"), false),
                "MANGLED" => is_mangled = true,
                pattern => {
                    let (Some(rules), Some(admits), Ok(pattern)) =
                        (&mut block, admits, CString::new(pattern))
                    else {
                        return Err(format!("line {}: {word:?} belongs to no rule", number + 1));
                    };
                    rules.push(Rule { pattern, admits, is_mangled });
                }
            }
        }
    }
    Ok(filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "SCOREP_REGION_NAMES_BEGIN EXCLUDE *\n INCLUDE main step_* # all steps\n EXCLUDE MANGLED _Z*\n\
        SCOREP_REGION_NAMES_END\nSCOREP_FILE_NAMES_BEGIN\nEXCLUDE */lib/*\nSCOREP_FILE_NAMES_END";

    #[test]
    fn last_rule_that_matches_decides() {
        let filter = parse(FILE).unwrap();
        let admits = |name: &CStr, mangled, file| filter.admits(name, mangled, file);
        assert!(admits(c"main", c"main", None) && admits(c"step_1", c"step_1", Some(c"/src/a.c")));
        assert!(!admits(c"other", c"other", None));
        assert!(!admits(c"step_2", c"_Z6step_2v", None));
        assert!(!admits(c"main", c"main", Some(c"/src/lib/a.c")));
        assert!(!filter.is_empty() && parse("# nothing").unwrap().is_empty());
    }

    #[test]
    fn word_outside_of_rules_is_named() {
        for bad in ["main", "SCOREP_REGION_NAMES_BEGIN\nmain", "INCLUDE main"] {
            let problem = parse(bad).err().unwrap();
            assert!(problem.contains("\"main\" belongs to no rule"), "{problem}");
        }
    }
}
