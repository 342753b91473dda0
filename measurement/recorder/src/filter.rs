//! Which regions of the program are recorded: a filter file in Score-P's format.
//!
//! Blocks `SCOREP_REGION_NAMES_BEGIN` … `END` and `SCOREP_FILE_NAMES_BEGIN` … `END` hold rules `INCLUDE` and `EXCLUDE`
//! with patterns of the shell, of which the last one that matches decides; without one a region is recorded. `#` begins
//! a comment. (Score-P User Manual, "Filtering".)

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
}

impl Filter {
    /// Reads a filter file.
    ///
    /// Answers what is wrong with it, as a sentence.
    pub(crate) fn read(path: &Path) -> Result<Filter, String> {
        let text = std::fs::read_to_string(path).map_err(|cause| format!("{}: {cause}", path.display()))?;
        parse(&text).map_err(|cause| format!("{}: {cause}", path.display()))
    }

    /// Whether a region is recorded.
    pub(crate) fn admits(&self, name: &CStr, file: Option<&CStr>) -> bool {
        decide(&self.regions, name) && file.is_none_or(|file| decide(&self.files, file))
    }
}

fn decide(rules: &[Rule], name: &CStr) -> bool {
    // SAFETY: two strings.
    let matches = |rule: &&Rule| unsafe { libc::fnmatch(rule.pattern.as_ptr(), name.as_ptr(), 0) } == 0;
    rules.iter().rev().find(matches).is_none_or(|rule| rule.admits)
}

fn parse(text: &str) -> Result<Filter, String> {
    let mut filter = Filter::default();
    // Which block, and what the patterns of a line are for that has no keyword.
    let (mut block, mut admits) = (None, None);
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        for word in line.split_whitespace() {
            match word {
                "SCOREP_REGION_NAMES_BEGIN" => block = Some(&mut filter.regions),
                "SCOREP_FILE_NAMES_BEGIN" => block = Some(&mut filter.files),
                "SCOREP_REGION_NAMES_END" | "SCOREP_FILE_NAMES_END" => (block, admits) = (None, None),
                "INCLUDE" => admits = Some(true),
                "EXCLUDE" => admits = Some(false),
                // The name that linkers know: regions here have one name only.
                "MANGLED" => {}
                pattern => {
                    let (Some(rules), Some(admits), Ok(pattern)) =
                        (&mut block, admits, CString::new(pattern))
                    else {
                        return Err(format!("line {}: {word:?} belongs to no rule", number + 1));
                    };
                    rules.push(Rule { pattern, admits });
                }
            }
        }
    }
    Ok(filter)
}
