//! Filter files in Score-P's format: which regions of the program are recorded.
//!
//! Blocks `SCOREP_REGION_NAMES_BEGIN` … `SCOREP_REGION_NAMES_END` and `SCOREP_FILE_NAMES_BEGIN` …
//! `SCOREP_FILE_NAMES_END` hold rules `INCLUDE` and `EXCLUDE` with patterns of the shell. Patterns behind
//! `MANGLED` are matched with the names that linkers know. `#` starts a comment. (Score-P User Manual,
//! "Filtering".)

use std::path::Path;

/// A pattern, and whether the names that match it are recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilterRule {
    /// A pattern of the shell, without NUL.
    pub pattern: String,
    /// Whether names that match are recorded.
    pub admits: bool,
    /// Whether it is for mangled names.
    pub is_mangled: bool,
}

/// The rules of a filter file, in their order.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct FilterRules {
    /// For names of regions.
    pub regions: Vec<FilterRule>,
    /// For names of source files.
    pub files: Vec<FilterRule>,
}

/// The two kinds of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BlockKind {
    Regions,
    Files,
}

impl BlockKind {
    fn begin(self) -> &'static str {
        match self {
            BlockKind::Regions => "SCOREP_REGION_NAMES_BEGIN",
            BlockKind::Files => "SCOREP_FILE_NAMES_BEGIN",
        }
    }

    fn end(self) -> &'static str {
        match self {
            BlockKind::Regions => "SCOREP_REGION_NAMES_END",
            BlockKind::Files => "SCOREP_FILE_NAMES_END",
        }
    }
}

/// Reads a filter file.
///
/// # Errors
/// The problem, as a sentence with the file and the line.
pub fn read(path: &Path) -> Result<FilterRules, String> {
    let text = std::fs::read_to_string(path).map_err(|cause| format!("{}: {cause}", path.display()))?;
    parse(&text).map_err(|(line, problem)| format!("{}: line {line}: {problem}", path.display()))
}

/// Parses the text of a filter file; an error has the number of its line.
fn parse(text: &str) -> Result<FilterRules, (usize, String)> {
    let mut rules = FilterRules::default();
    // The block with the line in which it starts, and the rule that patterns without a keyword belong to.
    let (mut block, mut admits, mut is_mangled) = (None, None, false);
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |problem: String| Err((number, problem));
        let line = line.split('#').next().unwrap_or_default();
        for word in line.split_whitespace() {
            if let Some(kind) =
                [BlockKind::Regions, BlockKind::Files].into_iter().find(|kind| kind.begin() == word)
            {
                if let Some((open, at)) = block {
                    return wrong(format!(
                        "{word} inside of the block of line {at}: {} is missing",
                        BlockKind::end(open)
                    ));
                }
                block = Some((kind, number));
            } else if let Some(kind) =
                [BlockKind::Regions, BlockKind::Files].into_iter().find(|kind| kind.end() == word)
            {
                match block {
                    Some((open, _)) if open == kind => (block, admits, is_mangled) = (None, None, false),
                    Some((open, at)) => {
                        return wrong(format!("{word} ends the block of line {at}: expected {}", open.end()));
                    }
                    None => return wrong(format!("{word} without {}", kind.begin())),
                }
            } else if matches!(word, "INCLUDE" | "EXCLUDE" | "MANGLED") && block.is_none() {
                return wrong(format!(
                    "{word} outside of a block: expected {} or {}",
                    BlockKind::Regions.begin(),
                    BlockKind::Files.begin()
                ));
            } else if matches!(word, "INCLUDE" | "EXCLUDE") {
                (admits, is_mangled) = (Some(word == "INCLUDE"), false);
            } else if word == "MANGLED" {
                is_mangled = true;
            } else {
                let (Some((kind, _)), Some(admits), false) = (block, admits, word.contains('\0')) else {
                    return wrong(format!("{word:?} belongs to no rule"));
                };
                let rule = FilterRule { pattern: word.into(), admits, is_mangled };
                match kind {
                    BlockKind::Regions => rules.regions.push(rule),
                    BlockKind::Files => rules.files.push(rule),
                }
            }
        }
    }
    match block {
        Some((open, at)) => Err((at, format!("{} without {}", open.begin(), open.end()))),
        None => Ok(rules),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_those_of_their_block_in_their_order() {
        let text = "SCOREP_REGION_NAMES_BEGIN EXCLUDE *\n INCLUDE main step_* # all\n EXCLUDE MANGLED _Z*\n \
                    SCOREP_REGION_NAMES_END\nSCOREP_FILE_NAMES_BEGIN\nEXCLUDE */lib/*\nSCOREP_FILE_NAMES_END";
        let rule =
            |pattern: &str, admits, is_mangled| FilterRule { pattern: pattern.into(), admits, is_mangled };
        let regions =
            [("*", false), ("main", true), ("step_*", true)].map(|(name, admits)| rule(name, admits, false));
        let regions = [&regions[..], &[rule("_Z*", false, true)]].concat();
        assert_eq!(parse(text), Ok(FilterRules { regions, files: vec![rule("*/lib/*", false, false)] }));
        assert_eq!(parse("# nothing"), Ok(FilterRules::default()));
    }

    #[test]
    fn word_outside_of_rules_is_named() {
        for (bad, line) in [("main", 1), ("SCOREP_REGION_NAMES_BEGIN\nmain", 2)] {
            assert_eq!(parse(bad), Err((line, "\"main\" belongs to no rule".into())));
        }
        assert!(parse("\nINCLUDE main").unwrap_err().1.starts_with("INCLUDE outside of a block"));
    }

    #[test]
    fn block_without_its_end_is_named_with_its_line() {
        let of = |text: &str| parse(text).unwrap_err();
        let missing = "SCOREP_REGION_NAMES_BEGIN without SCOREP_REGION_NAMES_END";
        assert_eq!(of("# \nSCOREP_REGION_NAMES_BEGIN\nEXCLUDE *\n"), (2, missing.into()));
        let other = "SCOREP_FILE_NAMES_END ends the block of line 1: expected SCOREP_REGION_NAMES_END";
        assert_eq!(of("SCOREP_REGION_NAMES_BEGIN\nSCOREP_FILE_NAMES_END"), (2, other.into()));
        let inside =
            "SCOREP_FILE_NAMES_BEGIN inside of the block of line 1: SCOREP_REGION_NAMES_END is missing";
        assert_eq!(of("SCOREP_REGION_NAMES_BEGIN\n\nSCOREP_FILE_NAMES_BEGIN"), (3, inside.into()));
        let alone = "SCOREP_FILE_NAMES_END without SCOREP_FILE_NAMES_BEGIN";
        assert_eq!(of("SCOREP_FILE_NAMES_END"), (1, alone.into()));
    }

    #[test]
    fn file_that_cannot_be_read_is_named() {
        assert!(read(Path::new("/nowhere/filter")).unwrap_err().starts_with("/nowhere/filter: "));
    }
}
