//! Citations: every section and every oddity of the specification that a source cites exists in
//! `docs/specification.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

const SPECIFICATION: &str = include_str!("../docs/specification.md");
/// Folders with sources.
const SOURCES: [&str; 16] = [
    "replay",
    "patterns",
    "structure",
    "rules",
    "io",
    "formats",
    "measurement",
    "diagnostics",
    "launched",
    "mpi_library",
    "manual",
    "scan",
    "import",
    "site",
    "tests",
    "benches",
];

/// Numbers of the sections and oddities in the specification, and patterns of citations.
struct Headings {
    sections: BTreeSet<String>,
    oddities: BTreeSet<String>,
    /// Citation of sections; the first group has their numbers.
    section: Regex,
    number: Regex,
    oddity: Regex,
    /// Number of a section alone, without the name of the document.
    bare: Regex,
}

impl Headings {
    fn new() -> Headings {
        let all = |pattern: &str| {
            let pattern = Regex::new(pattern).unwrap();
            pattern.captures_iter(SPECIFICATION).map(|found| found[1].to_string()).collect()
        };
        let section = r"[Ss]pecification ((?:\d+(?:\.\d+)*(?:, and |, | and | to )?)+)";
        Headings {
            sections: all(r"(?m)^##+ (\d+(?:\.\d+)?) "),
            oddities: all(r"(?m)^\| (Q\d+) \|"),
            section: Regex::new(section).unwrap(),
            number: Regex::new(r"\d+(?:\.\d+)*").unwrap(),
            oddity: Regex::new(r"\bQ\d+\b").unwrap(),
            bare: Regex::new(r"\B\((\d{1,2}(?:\.\d{1,2})*)(?:, steps? [^)]*)?\)|§").unwrap(),
        }
    }

    /// Citations in a comment that do not exist in the specification.
    fn dangling(&self, comment: &str) -> Vec<String> {
        let cited = self.section.captures_iter(comment).flat_map(|found| {
            let numbers = found.get(1).unwrap().as_str();
            self.number.find_iter(numbers).map(|it| it.as_str().to_string()).collect::<Vec<_>>()
        });
        let sections = cited.filter(|section| !self.sections.contains(section));
        let oddities = self.oddity.find_iter(comment).map(|it| it.as_str().to_string());
        let oddities = oddities.filter(|oddity| !self.oddities.contains(oddity));
        let bare = self.bare.find_iter(comment).map(|it| it.as_str().to_string());
        sections.chain(oddities).chain(bare).collect()
    }
}

/// The comments of a source, each joined to one line.
fn comments(source: &str) -> Vec<String> {
    let mut comments = vec![String::new()];
    for line in source.lines() {
        let text =
            line.trim_start().strip_prefix("//").or_else(|| line.split_once(" // ").map(|(_, text)| text));
        match text {
            Some(text) => {
                let comment = comments.last_mut().unwrap();
                comment.push(' ');
                comment.push_str(text.trim_start_matches(['/', '!']).trim());
            }
            None => comments.push(String::new()),
        }
    }
    comments.retain(|comment| !comment.is_empty());
    comments
}

/// All files with an extension in a folder, recursively.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = entries.flat_map(|path| if path.is_dir() { files(&path, extension) } else { vec![path] });
    below.filter(|path| path.extension().is_some_and(|it| it == extension)).collect()
}

#[test]
fn every_section_and_oddity_that_a_source_cites_is_in_the_specification() {
    let headings = Headings::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources: Vec<PathBuf> = SOURCES.iter().flat_map(|folder| files(&root.join(folder), "rs")).collect();
    assert!(sources.len() > 300, "{} sources", sources.len());
    let mut dangling = Vec::new();
    for source in sources.iter().filter(|path| !path.ends_with("tests/citations.rs")) {
        for comment in comments(&fs::read_to_string(source).unwrap()) {
            for citation in headings.dangling(&comment) {
                dangling.push(format!("{}: {citation} in \"{}\"", source.display(), comment.trim()));
            }
        }
    }
    assert!(dangling.is_empty(), "{}", dangling.join("\n"));
}

#[test]
fn every_section_and_oddity_that_a_page_cites_is_in_the_specification() {
    let headings = Headings::new();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    // Specifications cite their own sections.
    let is_own = |path: &&PathBuf| {
        ["specification.md", "rest-of-mpi.md", "structure.md", "what-if.md"]
            .iter()
            .any(|own| path.ends_with(own))
    };
    for page in files(&docs, "md").iter().filter(|path| !is_own(path)) {
        let mut dangling = headings.dangling(&fs::read_to_string(page).unwrap().replace('\n', " "));
        // Pages number their own tables.
        dangling.retain(|citation| citation.trim_matches(['(', ')']).parse::<u32>().is_err());
        assert!(dangling.is_empty(), "{}: {dangling:?}", page.display());
    }
}

#[test]
fn every_section_of_what_if_that_a_source_cites_is_in_its_page() {
    let page = include_str!("../docs/what-if.md");
    let heading = Regex::new(r"(?m)^##+ (\d+(?:\.\d+)?) ").unwrap();
    let headings: BTreeSet<&str> =
        heading.captures_iter(page).map(|it| it.get(1).unwrap().as_str()).collect();
    let (citation, number) =
        (Regex::new(r"what-if ((?:\d+(?:\.\d+)*(?:, )?)+)").unwrap(), Regex::new(r"\d+(?:\.\d+)*").unwrap());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for source in files(&root.join("replay"), "rs") {
        for comment in comments(&fs::read_to_string(&source).unwrap()) {
            for cited in citation.captures_iter(&comment) {
                for section in number.find_iter(&cited[1]) {
                    count += 1;
                    assert!(
                        headings.contains(section.as_str()),
                        "{}: what-if {}",
                        source.display(),
                        section.as_str()
                    );
                }
            }
        }
    }
    assert!(count > 10, "{count} citations");
}

#[test]
fn citations_that_lead_nowhere_are_found() {
    let headings = Headings::new();
    for good in
        ["specification 7.2", "Specification 9.1 to 9.3 and 10", "(specification 15.2, the table)", "Q13"]
    {
        assert_eq!(headings.dangling(good), Vec::<String>::new(), "{good}");
    }
    for (bad, what) in [
        ("specification 7.9", "7.9"),
        ("(specification 7.1, 42)", "42"),
        ("counts as idle (7.2)", "(7.2)"),
        ("statistics (13)", "(13)"),
        ("as there (13.4, step 1)", "(13.4, step 1)"),
        ("§5", "§"),
        ("Q99", "Q99"),
    ] {
        assert_eq!(headings.dangling(bad), [what], "{bad}");
    }
    assert_eq!(comments("a(); // one\n/// two\n/// three\nb();"), [" one two three"]);
}
