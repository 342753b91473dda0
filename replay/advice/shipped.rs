//! The rules that are part of the program, and those of users.

use rules::{Problem, Rules, Source};

use super::candidates::problem;
use super::schema::schema;
use crate::error::Error;

/// Files of rules, by name.
const FILES: [(&str, &str); 5] = [
    ("work.toml", include_str!("rules/work.toml")),
    ("p2p.toml", include_str!("rules/p2p.toml")),
    ("sync.toml", include_str!("rules/sync.toml")),
    ("rma.toml", include_str!("rules/rma.toml")),
    ("omp.toml", include_str!("rules/omp.toml")),
];

/// The rules of the program together with those of a user's files.
///
/// # Errors
/// If there are errors in files: all of them.
///
/// # Panics
/// If one of the program's own has an error: a test reads them all.
pub fn rules(files: &[Source]) -> Result<Rules, Error> {
    read(files).map_err(Error::new)
}

/// All that is wrong in files of rules, in words; `None` if nothing is.
pub fn check(files: &[Source]) -> Option<String> {
    read(files).err()
}

fn read(files: &[Source]) -> Result<Rules, String> {
    let own = FILES.iter().map(|&(name, text)| Source::new(name, text));
    let all: Vec<Source> = own.chain(files.iter().cloned()).collect();
    let texts =
        |problems: Vec<Problem>| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let rules = rules::read(&all, &schema()).map_err(texts)?;
    match rules.rules().iter().filter_map(problem).collect::<Vec<_>>() {
        problems if problems.is_empty() => Ok(rules),
        problems => Err(problems.join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use rules::Rule;

    use super::*;

    #[test]
    fn rules_of_the_program_are_read_without_errors() {
        assert_eq!(check(&[]), None);
        assert!(rules(&[]).unwrap().rules().len() >= 16);
    }

    #[test]
    fn examples_of_the_documentation_are_read_without_errors() {
        let page = include_str!("../../docs/rules.md");
        let examples =
            page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
        let files: Vec<Source> = examples
            .map(|text| match text.contains("format = 1") {
                true => Source::new("example.toml", text),
                false => Source::new("part.toml", format!("format = 1\n{text}")),
            })
            .collect();
        assert_eq!((files.len(), check(&files)), (2, None));
    }

    #[test]
    fn documentation_lists_the_numbers_of_rules_that_can_be_set() {
        let page = include_str!("../../docs/rules.md");
        let rules = rules(&[]).unwrap();
        let numbers = |rule: &Rule| {
            let each = rule.limits().iter().map(|(name, number)| format!("`{name}` {number}"));
            format!("| `{}` | {} |\n", rule.id(), each.collect::<Vec<_>>().join(", "))
        };
        let lines: String = rules.rules().iter().map(numbers).collect();
        assert!(page.contains(&lines), "{lines}");
    }

    #[test]
    fn errors_of_files_are_listed_with_line_and_column() {
        let file = Source::new("mine.toml", "format = 1\n[[rule]]\nid = 'a/b'\nover = 'plaice'\n");
        let found = check(&[file]).unwrap();
        assert!(found.contains("mine.toml:4:"), "{found}");
    }
}
