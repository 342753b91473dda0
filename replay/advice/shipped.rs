//! The rules that are part of the program, and those of users.

use std::path::Path;

use rules::{Problem, Rules, Source, Tried, suggestion};
use sha2::{Digest, Sha256};

use super::candidates::objection;
use super::schema::schema;
use crate::error::Error;

/// Files of rules, by name.
const FILES: [(&str, &str); 9] = [
    ("work.toml", include_str!("rules/work.toml")),
    ("p2p.toml", include_str!("rules/p2p.toml")),
    ("master.toml", include_str!("rules/master.toml")),
    ("record.toml", include_str!("rules/record.toml")),
    ("size.toml", include_str!("rules/size.toml")),
    ("sync.toml", include_str!("rules/sync.toml")),
    ("rma.toml", include_str!("rules/rma.toml")),
    ("omp.toml", include_str!("rules/omp.toml")),
    ("io.toml", include_str!("rules/io.toml")),
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

/// Names of files of rules with hashes of what is in them, whatever the order of the files; `None` without any. A report that has
/// this, and the version of the program, tells what its advice depends on.
pub fn named(files: &[Source]) -> Option<String> {
    let named = |file: &Source| {
        let name = Path::new(&file.name).file_name().unwrap_or_default().to_string_lossy();
        let hash: String =
            Sha256::digest(file.text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{name} {hash}")
    };
    let mut all: Vec<String> = files.iter().map(named).collect();
    all.sort();
    (!all.is_empty()).then(|| all.join(", "))
}

/// A rule of the program as a file of rules, with what can be set of it.
///
/// # Errors
/// If there is none with this name: which one may be meant, or all of them.
///
/// # Panics
/// As [`rules()`].
pub fn print(id: &str) -> Result<String, String> {
    let rules = rules(&[]).expect("rules of the program are right");
    let Some(rule) = rules.rules().iter().find(|rule| rule.id() == id) else {
        let ids: Vec<&str> = rules.rules().iter().map(rules::Rule::id).collect();
        return Err(match suggestion(id, ids.iter().copied()) {
            hint if hint.is_empty() => format!("no rule {id:?}, expected one of {}", ids.join(", ")),
            hint => format!("no rule {id:?}{hint}"),
        });
    };
    let mut text = format!(
        "# A rule of replay-analyze {}. A copy needs an id of its own. Without a copy it is changed by lines such as these:\n\
         # [set.\"{id}\"]\n# off = true\n",
        env!("CARGO_PKG_VERSION")
    );
    for (name, number) in rule.limits() {
        text += &format!("# when.{} = \"{number}\"\n", key(name));
    }
    let own = format!("id = \"{id}\"");
    let is_own = |part: &&str| part.lines().any(|line| line == own);
    let file = FILES.iter().map(|(_, file)| parts(file)).find(|parts| parts.iter().any(is_own));
    let parts = file.into_iter().flatten().filter(|part| !part.starts_with("[[rule]]") || is_own(part));
    Ok(text + parts.collect::<String>().trim_end() + "\n")
}

/// Parts of a file: what stands in front of the first table, and each table with those that belong to it.
fn parts(file: &str) -> Vec<&str> {
    let begins = file.match_indices("\n[").map(|(at, _)| at + 1);
    let begins: Vec<usize> = begins.filter(|&at| !file[at..].starts_with("[rule.")).collect();
    let ends = begins.iter().copied().chain([file.len()]);
    [0].into_iter().chain(begins.iter().copied()).zip(ends).map(|(begin, end)| &file[begin..end]).collect()
}

/// A name as a key of TOML.
fn key(name: &str) -> String {
    if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() }
}

/// Checks files of rules, and tries their examples: changes of conditions that no example notices, and how many cases there are, in words;
/// nothing without examples.
///
/// # Errors
/// If there are errors in files, or rules do not do what examples say: all of it.
pub fn check(files: &[Source]) -> Result<String, String> {
    let schema = schema();
    let tried = rules::try_examples(&all(files), &schema, &|rule| objection(rule, &schema));
    let Tried { cases, failed, unnoticed, .. } = tried.map_err(lines)?;
    if !failed.is_empty() {
        return Err(lines(failed));
    }
    Ok(match (cases, unnoticed.len()) {
        (0, _) => String::new(),
        (_, 0) => format!("{cases} cases of examples: as expected\n"),
        (_, some) => {
            let lines = lines(unnoticed);
            format!(
                "{lines}\n{cases} cases of examples: as expected; changes of conditions that none of them notices: {some}\n"
            )
        }
    })
}

fn read(files: &[Source]) -> Result<Rules, String> {
    let schema = schema();
    rules::read_with(&all(files), &schema, &|rule| objection(rule, &schema)).map_err(lines)
}

/// The program's own files with others.
fn all(files: &[Source]) -> Vec<Source> {
    FILES.iter().map(|&(name, text)| Source::new(name, text)).chain(files.iter().cloned()).collect()
}

fn lines(problems: Vec<Problem>) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use rules::Rule;

    use super::*;

    #[test]
    fn rules_of_the_program_are_read_without_errors() {
        assert_eq!(check(&[]), Ok(String::new()));
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
        // The page has what is said of its example.
        let said = check(&files).unwrap().replace("example.toml", "mylib.toml");
        assert!(files.len() == 4 && page.contains(&said), "{said}");
    }

    #[test]
    fn files_are_named_with_the_hashes_of_sha256sum_in_one_order() {
        let (a, b) = (Source::new("/x/b.toml", "abc"), Source::new("a.toml", ""));
        let text = "a.toml e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855, \
                    b.toml ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(named(&[a.clone(), b.clone()]).as_deref(), Some(text));
        assert_eq!(named(&[b, a]).as_deref(), Some(text));
        assert_eq!(named(&[]), None);
    }

    #[test]
    fn rule_that_is_printed_can_be_copied_under_another_name_and_set() {
        for rule in rules(&[]).unwrap().rules() {
            let id = rule.id();
            let printed = print(id).unwrap();
            let copy =
                Source::new("copy.toml", printed.replace(&format!("id = \"{id}\""), "id = \"my/copy\""));
            let copied = rules(&[copy]).unwrap();
            let copied = copied.rules().iter().find(|rule| rule.id() == "my/copy").unwrap();
            assert_eq!(copied.limits(), rule.limits());
            assert_eq!(
                (copied.gain(), copied.scenario(), copied.claims()),
                (rule.gain(), rule.scenario(), rule.claims())
            );
            let sets: Vec<&str> =
                printed.lines().filter_map(|line| line.strip_prefix("# ")).skip(1).collect();
            let set =
                Source::new("set.toml", format!("format = 1\n{}", sets.join("\n").replace("true", "false")));
            assert_eq!(rules(&[set]).unwrap(), rules(&[]).unwrap());
        }
    }

    #[test]
    fn rule_that_is_not_there_is_refused_with_one_that_may_be_meant_or_all() {
        assert_eq!(
            print("sync/barier").unwrap_err(),
            "no rule \"sync/barier\", did you mean \"sync/barrier\"?"
        );
        let all = print("x").unwrap_err();
        assert!(
            all.starts_with("no rule \"x\", expected one of io/metadata, ") && all.ends_with("work/static"),
            "{all}"
        );
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
    fn each_rule_of_the_program_has_examples_that_notice_each_change_of_its_conditions() {
        let examples = FILES.map(|(name, _)| {
            let file = format!("{}/replay/advice/rules/examples/{name}", env!("CARGO_MANIFEST_DIR"));
            Source::new(name, std::fs::read_to_string(file).unwrap())
        });
        let schema = schema();
        let tried = rules::try_examples(&all(&examples), &schema, &|_| None).map_err(lines).unwrap();
        assert_eq!(lines(tried.failed), "");
        assert_eq!(lines(tried.unnoticed), "");
        assert!(tried.without.is_empty(), "{:?}", tried.without);
    }

    #[test]
    fn errors_of_files_are_listed_with_line_and_column() {
        let file = Source::new("mine.toml", "format = 1\n[[rule]]\nid = 'a/b'\nover = 'plaice'\n");
        let found = check(&[file]).unwrap_err();
        assert!(found.contains("mine.toml:4:"), "{found}");
    }
}
