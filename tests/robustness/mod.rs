//! Defects of the files of an archive, each with its outcome: `docs/robustness.md` in rows that run.
//!
//! A row describes a defect, makes an archive with it, and has the expected result of the analysis. The page
//! is written by the tests: `REPLAY_WRITE_DOCS=1 cargo test robustness`.

mod anchor;
mod chunks;
mod counters;
mod definitions;
mod events;
mod kinds;
mod local;
mod make;
mod offload;
mod one_sided;
mod records;
mod references;
mod report;
mod sion;
mod structure;

use std::collections::BTreeSet;
use std::path::Path;

use otf2::Definition;
use replay::exchange::Solo;
use replay::findings::Finding;
use replay::progress::Progress;
use replay::{Options, Semantics, WhatIf};

use crate::support::deadline::Watch;
use crate::support::page::is_written;
use crate::support::{in_memory, options};
use make::{ArchiveFile, Files};

/// Rows about one part of an archive.
struct Section {
    title: &'static str,
    about: &'static str,
    rows: &'static [Row],
}

/// A defect.
struct Row {
    defect: &'static str,
    make: Make,
    outcome: Outcome,
}

/// Construction of an archive with the defect.
enum Make {
    /// Change the bytes of a small archive.
    Bytes(fn(&mut Files)),
    /// Change the definitions of an archive without events.
    Definitions(fn(&mut Vec<Definition<'static>>)),
    /// Remove all fields from the first record of this kind.
    Hollow(ArchiveFile, &'static str),
    /// Make the number that is the first event of this kind too large.
    Oversized(&'static str),
    /// Write the archive of a script.
    Script(&'static str),
    /// Write the archive of a script, and replay it in these scenarios.
    Replayed(&'static str, &'static str),
    /// Anything else, in an empty directory.
    Directory(fn(&Path)),
}

/// Expected result of the analysis.
enum Outcome {
    /// No report; a message about this file that contains these words.
    Message(&'static str, &'static str),
    /// A report with findings of exactly these kinds, and consequences of missing events.
    Findings(&'static [Finding]),
    /// A report without findings, for this reason.
    Harmless(&'static str),
}

const SECTIONS: [&Section; 14] = [
    &anchor::SECTION,
    &chunks::SECTION,
    &sion::SECTION,
    &records::SECTION,
    &kinds::SECTION,
    &definitions::SECTION,
    &references::SECTION,
    &local::SECTION,
    &events::SECTION,
    &one_sided::SECTION,
    &offload::SECTION,
    &counters::SECTION,
    &structure::SECTION,
    &report::SECTION,
];

/// Findings that follow on all ranks from missing events.
const CONSEQUENCES: [Finding; 6] = [
    Finding::EventCount,
    Finding::OpenCall,
    Finding::OpenRequest,
    Finding::UnmatchedSend,
    Finding::UnmatchedReceive,
    Finding::IncompleteCollective,
];

/// Words of advice: a message must have one of them.
const ADVICE: [&str; 7] = [
    "copy the archive",
    "record",
    "choose another",
    "name ",
    "a newer reader",
    "must be a file",
    "must end in",
];

impl Row {
    /// Runs the row; returns the cell of the table with the outcome.
    fn run(&self) -> Result<String, String> {
        let directory = in_memory();
        let place = directory.path();
        match self.make {
            Make::Bytes(change) => make::bytes(place, change),
            Make::Definitions(change) => make::definitions(place, change),
            Make::Hollow(file, name) => make::hollow(place, file, name),
            Make::Oversized(name) => make::oversized(place, name),
            Make::Script(script) | Make::Replayed(script, _) => make::script(place, script),
            Make::Directory(make) => make(place),
        }
        let report = place.join("trace.cubex");
        let what_if = match self.make {
            Make::Replayed(_, scenarios) => Some(WhatIf::parse(scenarios).unwrap()),
            _ => None,
        };
        let outcome = Watch::new().run(self.defect, || {
            let options = Options { what_if, ..options(place, &report, Semantics::Corrected) };
            replay::analyze(&options, &mut Solo, &mut Progress::silent())
        });
        let corrected = Watch::new().run(self.defect, || {
            let options = options(place, &report, Semantics::Corrected);
            let options = Options { clock_correction: true, ..options };
            replay::analyze(&options, &mut Solo, &mut Progress::silent())
        });
        if corrected.is_err() != outcome.is_err() {
            return Err(format!("with corrected clocks: {:?}", corrected.map(drop)));
        }
        match (&self.outcome, outcome) {
            (Outcome::Message(file, words), Err(error)) => {
                let message = error.to_string();
                let path = if file.is_empty() { place.to_owned() } else { place.join(file) };
                let parts = [&format!("{}: ", path.display()), *words];
                if let Some(part) = parts.iter().find(|part| !message.contains(**part)) {
                    return Err(format!("{part:?} is not in the message: {message}"));
                }
                if message.contains('\n') || !ADVICE.iter().any(|advice| message.contains(advice)) {
                    return Err(format!("the message is not one line with advice: {message}"));
                }
                Ok(format!("no report: `{}`", shown(&message, place)))
            }
            (_, Err(error)) => Err(format!("no report: {error}")),
            (outcome, Ok(done)) => {
                let found = done.summary.unwrap().findings;
                let expected: &[Finding] = match outcome {
                    Outcome::Findings(kinds) => kinds,
                    _ => &[],
                };
                let follows = |kind: &Finding| !expected.is_empty() && CONSEQUENCES.contains(kind);
                let kinds: Vec<Finding> =
                    found.occurred().filter(|kind| expected.contains(kind) || !follows(kind)).collect();
                let names = || kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>();
                match outcome {
                    Outcome::Message(..) => Err(format!("a report, with findings {:?}", names())),
                    _ if kinds.iter().any(|kind| !expected.contains(kind))
                        || kinds.len() < expected.len() =>
                    {
                        Err(format!("findings {:?}, expected {expected:?}", names()))
                    }
                    Outcome::Harmless(reason) => Ok(format!("nothing: {reason}")),
                    Outcome::Findings(_) => {
                        let cells = kinds.iter().map(|&kind| {
                            let text = found.first(kind).map_or("", |first| &first.text);
                            format!("`{}` ({}): {}", kind.name(), kind.class().name(), shown(text, place))
                        });
                        Ok(cells.collect::<Vec<_>>().join("; "))
                    }
                }
            }
        }
    }
}

/// Formats a text for a cell of a table, without the path of the archive.
fn shown(text: &str, place: &Path) -> String {
    let place = place.display().to_string();
    text.replace(&format!("{place}/"), "").replace(&place, "DIRECTORY").replace('|', "\\|")
}

#[test]
fn every_row_gets_what_it_says_and_the_page_has_these_rows() {
    let mut problems = Vec::new();
    let mut tables = String::new();
    for section in SECTIONS {
        tables += &format!(
            "\n### {}\n\n{}\n\n| defect | what comes of it |\n|---|---|\n",
            section.title, section.about
        );
        for row in section.rows {
            match row.run() {
                Ok(cell) => tables += &format!("| {} | {cell} |\n", row.defect),
                Err(problem) => problems.push(format!("{}, {}: {problem}", section.title, row.defect)),
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    is_written("docs/robustness.md", "tests/robustness", &(tables + "\n"));
}

#[test]
fn every_finding_has_a_row_and_no_defect_two() {
    let rows = || SECTIONS.iter().flat_map(|section| section.rows);
    assert!(rows().count() >= 60, "{} rows", rows().count());
    let found: Vec<Finding> = rows()
        .flat_map(|row| match row.outcome {
            Outcome::Findings(kinds) => kinds,
            _ => &[],
        })
        .copied()
        .collect();
    for finding in Finding::ALL {
        assert!(found.contains(finding), "no row for {}", finding.name());
    }
    for section in SECTIONS {
        let defects: BTreeSet<&str> = section.rows.iter().map(|row| row.defect).collect();
        assert_eq!(defects.len(), section.rows.len(), "{}", section.title);
    }
}
