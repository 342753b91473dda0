//! Completeness of the documentation: it names every metric, wait state, finding, option and difference, and
//! no file, page or section that does not exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use patterns::{PATTERNS, Unit};
use regex::Regex;
use replay::coverage::Fate;
use replay::findings::Finding;

const METRICS: &str = include_str!("../docs/metrics.md");
const DIFFERENCES: &str = include_str!("../docs/differences.md");
const ARCHITECTURE: &str = include_str!("../docs/architecture.md");
const ROBUSTNESS: &str = include_str!("../docs/robustness.md");
const BENCHMARKS: &str = include_str!("../docs/benchmarks.md");
const README: &str = include_str!("../README.md");

/// The cells of the rows of all tables, without header rows.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix('|'));
    rows.map(|row| row.split('|').map(str::trim).collect()).collect()
}

/// The section of a text with this heading, up to the next heading of the same level.
fn section<'a>(text: &'a str, heading: &str) -> Option<&'a str> {
    let start = text.find(&format!("\n{heading}\n"))? + 1;
    let body = &text[start + heading.len()..];
    let level = heading.split(' ').next()?;
    Some(&body[..body.find(&format!("\n{level} ")).unwrap_or(body.len())])
}

/// Words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_metric_has_a_row_below_its_unit() {
    for metric in patterns::metrics() {
        let heading = match metric.unit {
            Unit::Seconds => "## Time",
            Unit::Occurrences => "## Counts",
            Unit::Bytes => "## Bytes",
            Unit::Scaled { .. } | Unit::State { .. } => {
                panic!("{}: only metrics of traces have units of their own", metric.id)
            }
        };
        let rows = rows(section(METRICS, heading).unwrap());
        let id = format!("`{}`", metric.id);
        let row = rows.iter().find(|row| row[0] == id);
        let row = row.unwrap_or_else(|| panic!("docs/metrics.md: no row for {id} in {heading}"));
        let name = row[1].trim_start_matches(['·', ' ']);
        assert_eq!(name, metric.name, "docs/metrics.md: name of {id}");
    }
}

#[test]
fn rows_of_metrics_are_in_the_order_and_depth_of_their_tree() {
    let metrics = patterns::metrics();
    for heading in ["## Time", "## Counts", "## Bytes"] {
        let mut above: Vec<&str> = Vec::new();
        for row in rows(section(METRICS, heading).unwrap()).iter().filter(|row| row[0].starts_with('`')) {
            let id = row[0].trim_matches('`');
            let metric = metrics.iter().find(|metric| metric.id == id);
            let metric = metric.unwrap_or_else(|| panic!("docs/metrics.md: there is no metric {id}"));
            above.truncate(row[1].matches('·').count());
            assert_eq!(above.last().copied(), metric.parent, "docs/metrics.md: place of {id}");
            above.push(id);
        }
    }
}

#[test]
fn every_pattern_has_a_section_that_names_its_metric_and_advises() {
    let wait_states = section(METRICS, "## Wait states").unwrap();
    for pattern in PATTERNS {
        let heading = format!("### {}", pattern.title);
        let text = section(wait_states, &heading);
        let text = text.unwrap_or_else(|| panic!("docs/metrics.md: no section \"{}\"", pattern.title));
        let metric = format!("`{}`", pattern.metric.id);
        for part in [metric.as_str(), "*What to do.*"] {
            assert!(text.contains(part), "docs/metrics.md: no {part} in \"{}\"", pattern.title);
        }
        let says_completion = text.contains("completion time, no wait state");
        assert_eq!(says_completion, !pattern.is_waiting, "docs/metrics.md: kind of \"{}\"", pattern.title);
    }
}

#[test]
fn every_finding_and_reason_of_coverage_has_a_row() {
    let rows = rows(section(METRICS, "## Coverage and findings").unwrap());
    for finding in Finding::ALL {
        let name = format!("`{}`", finding.name());
        // A reason of coverage may have the same name; its row has no class.
        let row = rows.iter().find(|row| row[0] == name && row.len() > 2);
        let row = row.unwrap_or_else(|| panic!("docs/metrics.md: no row for finding {name}"));
        assert_eq!(row[1], finding.class().name(), "docs/metrics.md: class of {name}");
    }
    for fate in Fate::ALL.iter().skip(1) {
        let name = format!("`{}`", fate.name());
        assert!(
            rows.iter().any(|row| row[0] == name && row.len() == 2),
            "docs/metrics.md: no row for {name}"
        );
    }
}

#[test]
fn every_difference_is_named() {
    let corrected = section(DIFFERENCES, "## Corrected and reference semantics").unwrap();
    let first_cells = rows(corrected);
    for name in ["Order of matching", "Q5", "Q6", "MPI regions", "Q7", "Q13", "Q15", "Q19", "`MPI_Alltoallv`"]
    {
        assert!(
            first_cells.iter().any(|row| row[0].starts_with(name)),
            "docs/differences.md: no row for {name} among the corrections"
        );
    }
    let kept = rows(section(DIFFERENCES, "## Oddities that both semantics keep").unwrap());
    for name in ["Q1", "Q3", "Q4", "Q8"] {
        assert!(kept.iter().any(|row| row[0].starts_with(name)), "docs/differences.md: {name} is not kept");
    }
    let both = section(DIFFERENCES, "## Differences in both semantics").unwrap();
    let topics = [
        "integers",
        "stored exclusive",
        "absent, instead of zero",
        "one root of the call tree",
        "numbered by (rank, thread)",
        "Artificial regions",
        "`Replay::Coverage::…`",
        "`Replay::Findings::…`",
    ];
    for topic in topics {
        assert!(both.contains(topic), "docs/differences.md: nothing about \"{topic}\"");
    }
    assert!(section(DIFFERENCES, "## Traces that the reference refuses").is_some());
}

#[test]
fn metrics_that_are_said_not_to_be_computed_are_not_computed() {
    let metrics = patterns::metrics();
    let rows = rows(section(DIFFERENCES, "## Metrics that are not computed").unwrap());
    for row in rows.iter().skip(1) {
        // Names behind a semicolon are computed instead.
        for id in quoted(row[1].split(';').next().unwrap()) {
            assert!(metrics.iter().all(|metric| metric.id != id), "docs/differences.md: {id} is computed");
        }
    }
}

#[test]
fn every_option_is_in_the_readme() {
    let help = Command::new(env!("CARGO_BIN_EXE_replay-analyze")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let options = help.lines().filter_map(|line| {
        let line = line.trim_start();
        line.starts_with('-').then(|| line.split([' ', ',', '[']).find(|word| word.starts_with("--")))?
    });
    let options: Vec<&str> = options.collect();
    assert!(options.len() > 5, "{help}");
    for option in options {
        assert!(README.contains(&format!("{option}`")) || README.contains(&format!("{option} ")), "{option}");
    }
}

#[test]
fn example_in_the_readme_is_what_the_analyzer_prints() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_replay-analyze"))
        .arg("-o")
        .arg(folder.path().join("trace.cubex"))
        .arg("tests/archives/imbalance_chain.4")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let summary = String::from_utf8(output.stdout).unwrap();
    assert!(summary.lines().count() > 10, "{summary}");
    let report = folder.path().join("trace.cubex").display().to_string();
    let summary = summary.replace(&report, "target/demo/trace.cubex");
    for line in summary.lines().filter(|line| !line.is_empty()) {
        assert!(README.contains(&format!("\n    {line}\n")), "README.md: no line \"{line}\"");
    }
}

#[test]
fn every_pattern_of_generated_traces_has_a_row() {
    let rows = rows(section(BENCHMARKS, "## Making traces").unwrap());
    let named: Vec<&str> =
        rows.iter().flat_map(|row| quoted(row[0])).filter(|it| !it.starts_with('-')).collect();
    let patterns: Vec<&str> = generate::PATTERNS.iter().map(|pattern| pattern.name).collect();
    assert_eq!(named, patterns, "docs/benchmarks.md: patterns");
}

#[test]
fn readme_asks_for_the_version_of_rust_that_is_needed() {
    let version = env!("CARGO_PKG_RUST_VERSION");
    assert!(README.contains(&format!("Rust ({version} or newer)")), "README.md: needs Rust {version}");
}

#[test]
fn files_that_are_named_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let documents = [
        ("README.md", README),
        ("docs/architecture.md", ARCHITECTURE),
        ("docs/robustness.md", ROBUSTNESS),
        ("docs/benchmarks.md", BENCHMARKS),
    ];
    for (document, text) in documents {
        for name in quoted(text) {
            let is_path = name.contains('/') && (name.ends_with('/') || name.ends_with(".rs"));
            if is_path && !name.contains(['*', '<', ' ', '\n']) && !name.starts_with("target/") {
                // The tour of the analyzer uses paths within its folder.
                let exists = root.join(name).exists() || root.join("replay").join(name).exists();
                assert!(exists, "{document} names {name}, which does not exist");
            }
        }
    }
}

/// All pages: those in the root of the project, in `docs/`, and those of parts of the project, relative to the root.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["", "docs", "jobscripts", "fuzz", "tests/archives", "tests/golden", "tests/programs"];
    let formats = ["formats/cubex", "formats/details", "formats/otf2"];
    let below = folders.iter().chain(&formats).flat_map(|folder| {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        entries.map(|entry| Path::new(folder).join(entry.unwrap().file_name())).collect::<Vec<_>>()
    });
    let mut pages: Vec<PathBuf> =
        below.filter(|path| path.extension().is_some_and(|it| it == "md")).collect();
    pages.sort();
    pages
}

/// The lines of a page that are no code.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    page.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_fence && !is_code && !line.starts_with("    ")
    })
}

/// Where the links of a page lead to, but those to the network.
pub(crate) fn links(page: &str) -> Vec<String> {
    let (code, link) = (Regex::new("`[^`]*`").unwrap(), Regex::new(r"\]\(([^)\s]+)\)").unwrap());
    let lines = prose(page).map(|line| code.replace_all(line, "code").into_owned());
    let found =
        lines.flat_map(|line| link.captures_iter(&line).map(|it| it[1].to_owned()).collect::<Vec<_>>());
    found.filter(|target| !target.contains("://")).collect()
}

/// The names by which links refer to the headings of a page.
fn anchors(page: &str) -> BTreeSet<String> {
    let link = Regex::new(r"\[([^\]]*)\]\([^)]*\)").unwrap();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose(page).filter(|line| line.starts_with('#'));
    let names = headings.map(|line| {
        let text = link.replace_all(line.trim_start_matches('#').trim(), "$1").to_lowercase();
        let kept = text.chars().filter(|&sign| sign.is_alphanumeric() || " -_".contains(sign));
        let name: String = kept.map(|sign| if sign == ' ' { '-' } else { sign }).collect();
        let before = seen.entry(name.clone()).or_default();
        *before += 1;
        if *before == 1 { name } else { format!("{name}-{}", *before - 1) }
    });
    names.collect()
}

/// A path without `.` and `..`.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

#[test]
fn every_link_leads_to_a_file_and_a_section() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    let mut wrong = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(root.join(&page)).unwrap();
        for link in links(&text) {
            count += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => page.clone(),
                path => normal(&page.parent().unwrap().join(path)),
            };
            if !root.join(&target).exists() {
                wrong.push(format!("{}: {link}: there is no such file", page.display()));
            } else if !anchor.is_empty()
                && !anchors(&std::fs::read_to_string(root.join(&target)).unwrap()).contains(anchor)
            {
                wrong.push(format!("{}: {link}: there is no such section", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 500, "{count} links");
}

#[test]
fn links_and_sections_are_found() {
    let page = "# A `b/c`: d\n\n[x](y.md#z) `[not](this)`\n\n    [nor](this)\n\n```text\n# nor [this](one)\n```\n## A b/c: d\n";
    assert_eq!(links(page), ["y.md#z"]);
    assert_eq!(anchors(page), BTreeSet::from(["a-bc-d".to_owned(), "a-bc-d-1".to_owned()]));
    assert_eq!(normal(Path::new("docs/../jobscripts/./README.md")), Path::new("jobscripts/README.md"));
}

#[test]
fn every_page_is_in_the_book_and_in_the_readme() {
    let book: BTreeSet<String> = links(include_str!("../docs/SUMMARY.md")).into_iter().collect();
    let readme = section(README, "## Documents").unwrap();
    for page in pages().iter().filter(|page| page.starts_with("docs") && !page.ends_with("SUMMARY.md")) {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(book.contains(name), "docs/SUMMARY.md: no {name}");
        assert!(readme.contains(&format!("](docs/{name})")), "README.md: no docs/{name} in \"Documents\"");
    }
}

#[test]
fn changes_of_the_tutorial_are_those_between_its_programs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/tutorial");
    let programs = ["1_late.c", "2_early.c", "3_shares.c", "4_residual.c", "5_output.c"];
    let page = include_str!("../docs/tutorial.md");
    let shown: Vec<Vec<&str>> = page
        .split("```diff\n")
        .skip(1)
        .map(|text| text.split("```").next().unwrap().trim_end().lines().map(str::trim_end).collect())
        .collect();
    assert_eq!(shown.len(), programs.len() - 1);
    for (pair, shown) in programs.windows(2).zip(shown) {
        let diff = Command::new("diff").arg("-U2").args(pair).current_dir(&folder).output().unwrap();
        let diff = String::from_utf8(diff.stdout).unwrap();
        // The first two lines have names and times of the files.
        let lines: Vec<&str> = diff.trim_end().lines().skip(2).map(str::trim_end).collect();
        assert_eq!(lines, shown, "docs/tutorial.md: {pair:?}");
    }
}

/// The first sentence of a source's documentation, as markdown in one line.
fn purpose(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let text = lines.join(" ");
    let sentence = text.split_once(". ").map_or(text.as_str(), |(first, _)| first);
    let sentence = sentence.trim_end_matches(['.', ':']);
    // Rustdoc links are replaced by their text, since they do not work here.
    let mut plain = String::new();
    let mut rest = sentence;
    while let Some((before, link)) = rest.split_once('[') {
        let (name, behind) = link.split_once(']').unwrap_or((link, ""));
        let behind = match behind.strip_prefix('(') {
            Some(target) => target.split_once(')').map_or("", |(_, behind)| behind),
            None => behind,
        };
        plain.extend([before, name]);
        rest = behind;
    }
    plain.push_str(rest);
    plain.replace('|', "\\|")
}

/// All sources in a folder, recursively, in order: files before folders.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort_by_key(|path| (path.is_dir(), path.clone()));
    let below = paths.into_iter().flat_map(|path| match path.is_dir() {
        true => sources(&path),
        false => vec![path],
    });
    below.filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}

/// The text of the page that lists all files.
fn list_of_files() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut page = "# Files\n\nThe first line of each source; `make files` writes this page.\n".to_string();
    for folder in [
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
        "benches",
        "tests",
    ] {
        let mut before = None;
        for path in sources(&root.join(folder)) {
            let path = path.strip_prefix(root).unwrap();
            let purpose = purpose(&std::fs::read_to_string(root.join(path)).unwrap());
            let folder = path.parent().unwrap().to_str().unwrap();
            if before.as_deref() != Some(folder) {
                page.push_str(&format!("\n## `{folder}/`\n\n| file | what |\n|---|---|\n"));
                before = Some(folder.to_string());
            }
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(
                !purpose.is_empty(),
                "{} does not begin with a line //! that says what it is",
                path.display()
            );
            page.push_str(&format!("| `{name}` | {purpose} |\n"));
        }
    }
    page
}

#[test]
fn list_of_files_is_that_of_the_sources() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/files.md");
    let list = list_of_files();
    if std::env::var_os("REPLAY_WRITE").is_some() {
        std::fs::write(&path, &list).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written == list, "docs/files.md is not that of the sources: make files writes it");
}

#[test]
fn tour_names_every_file_and_folder_of_the_analyzer() {
    let tour = section(ARCHITECTURE, "## Where things are").unwrap();
    let named: Vec<&str> = quoted(tour).collect();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("replay")).unwrap() {
        let entry = entry.unwrap();
        let slash = if entry.path().is_dir() { "/" } else { "" };
        let name = format!("{}{slash}", entry.file_name().to_str().unwrap());
        assert!(named.contains(&name.as_str()), "docs/architecture.md: no `{name}` in \"Where things are\"");
    }
}

#[test]
fn semantics_are_asked_for_in_one_file() {
    let replay = Path::new(env!("CARGO_MANIFEST_DIR")).join("replay");
    // The last two name the option, and what it is.
    let may = ["reference.rs", "cli.rs", "options.rs"].map(|name| replay.join(name));
    for path in sources(&replay).into_iter().filter(|path| !may.contains(path)) {
        let text = std::fs::read_to_string(&path).unwrap();
        let product = text.split("#[cfg(test)]").next().unwrap();
        let asks = product.contains("Semantics::Reference") || product.contains("Semantics::Corrected");
        assert!(!asks, "{}: decisions by semantics belong to replay/reference.rs", path.display());
    }
}
