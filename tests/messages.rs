//! Messages: those of `docs/messages.md` are in the sources, and those of files that speak to users are on the page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

const PAGE: &str = include_str!("../docs/messages.md");

/// Folders with sources of which the page has messages.
const FOLDERS: [&str; 9] = [
    "formats/new_directory/src",
    "formats/otf2/src",
    "import/src",
    "launched/src",
    "measurement/launcher/src",
    "measurement/recorder/src",
    "mpi_library/src",
    "replay",
    "site/src",
];

/// Sources of which each sentence is a message to users, so that all of them are on the page.
const ALL: [&str; 18] = [
    "formats/new_directory/src/lib.rs",
    "formats/otf2/src/archive.rs",
    "launched/src/misfits.rs",
    "measurement/launcher/src/launch.rs",
    "measurement/launcher/src/preload.rs",
    "measurement/launcher/src/self_test/mod.rs",
    "measurement/recorder/src/counters/choice.rs",
    "measurement/recorder/src/others.rs",
    "mpi_library/src/search.rs",
    "replay/agreement.rs",
    "replay/communicators.rs",
    "replay/exchange/mpi/carrier.rs",
    "replay/memory.rs",
    "replay/options.rs",
    "replay/report/target.rs",
    "replay/scratch.rs",
    "replay/show/src/opened.rs",
    "site/src/lib.rs",
];

/// Blanks in what is a sentence, not a part of one.
const SENTENCE: usize = 4;

/// Sentences in those sources that nobody sees: what the loader says is compared with the first, the second is a defect of ours.
const INTERNAL: [&str; 2] =
    ["cannot open shared object file: No such file or directory", "MPI counts in 31 bits"];

/// The strings of a source without its tests, with `…` for what is filled in.
fn strings(source: &str) -> Vec<String> {
    let product = source.split("#[cfg(test)]\nmod tests").next().unwrap();
    let code: String = product
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .fold(String::new(), |all, line| all + line + "\n");
    let string = Regex::new(r#""((?:[^"\\]|\\.|\\\n)*)""#).unwrap();
    let (continued, filled) = (Regex::new(r"\\\n\s*").unwrap(), Regex::new(r"\{[^{}]*\}").unwrap());
    let texts = string.captures_iter(&code).map(|found| {
        let text = continued.replace_all(&found[1], "").replace("\\\"", "\"");
        filled.replace_all(&text, "…").into_owned()
    });
    texts.collect()
}

/// The sources of a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(sources(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found.retain(|path| path.extension().is_some_and(|ending| ending == "rs"));
    found
}

/// The messages of the page: what is in backticks in the first cells of rows.
fn messages() -> Vec<&'static str> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.flat_map(|row| row.split(" | ").next().unwrap().split('`').step_by(2)).collect()
}

#[test]
fn messages_of_the_page_are_in_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = FOLDERS.iter().flat_map(|folder| sources(&root.join(folder)));
    let known: BTreeSet<String> =
        files.flat_map(|file| strings(&fs::read_to_string(file).unwrap())).collect();
    assert!(messages().len() > 50, "{}", messages().len());
    for message in messages() {
        // What ends with … goes on with one of several parts.
        let is_known = |text: &String| text == message || message.ends_with('…') && text.starts_with(message);
        assert!(known.iter().any(is_known), "docs/messages.md: no program says {message:?}");
    }
}

#[test]
fn sentences_to_users_are_on_the_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for file in ALL {
        for text in strings(&fs::read_to_string(root.join(file)).unwrap()) {
            if text.matches(' ').count() < SENTENCE || INTERNAL.contains(&text.as_str()) {
                continue;
            }
            count += 1;
            let begin = text.split(" …, …; …").next().unwrap();
            assert!(PAGE.contains(begin), "docs/messages.md: nothing about {text:?} of {file}");
        }
    }
    assert!(count > 25, "{count} sentences");
}

#[test]
fn strings_are_those_of_the_product() {
    let source = "// \"no\"\nf(\"a {b} \\\"c\\\" \\\n     d\");\n#[cfg(test)]\nmod tests { \"nor this\" }";
    assert_eq!(strings(source), ["a … \"c\" d"]);
}
