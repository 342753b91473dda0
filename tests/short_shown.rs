//! What people read of short archives and of recordings with gaps: shares are of what was recorded, iterations have their numbers, and
//! nobody is told what to do about time of which nothing is known.

use std::fs;
use std::path::Path;

use generate::{Job, Tuning};
use replay::findings::Finding;
use replay::metrics::Metrics;
use replay::short::ShortOptions;
use replay::{Focus, Options, RecordedIterations, Semantics};
use serde_json::Value;
use show::status::Status;

use crate::short::{self, Shortened, generated, job, keeping, kept, shorten};
use crate::support::parse::Case;
use crate::support::show::{json, show};
use crate::support::{analyze, archive, in_memory, options, write};

/// What `replay-show` prints for people, and its messages.
fn shown(arguments: &[&str]) -> (String, String) {
    let (status, results, messages) = show(arguments, &[("LANG", "C.UTF-8"), ("COLUMNS", "400")]);
    assert_eq!(status, Status::Done, "{messages}");
    (results.replace('\u{a0}', " "), messages.replace('\u{a0}', " "))
}

/// The commands whose text is looked at.
const COMMANDS: [&[&str]; 9] = [
    &[],
    &["waits", "-n", "40"],
    &["waits", "--chain", "-n", "40"],
    &["waits", "-i", "1"],
    &["iterations"],
    &["structure"],
    &["time"],
    &["matrix"],
    &["ranks"],
];

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

fn with<'a>(command: &[&'a str], file: &'a str) -> Vec<&'a str> {
    match command.split_first() {
        Some((name, rest)) => [&[*name, file][..], rest].concat(),
        None => vec![file],
    }
}

/// A program with iterations of several kinds, and its short archive.
fn shortened(folder: &Path, short: impl FnOnce(ShortOptions) -> ShortOptions) -> Shortened {
    let tuning = Tuning { inner: 2..=6, ..Tuning::default() };
    let experiment = generated(&Job { tuning, ..job("iterations", 8, 60) }, folder);
    shorten(&experiment, short(keeping(&folder.join("short"))), folder)
}

fn sum(rows: &Value, key: &str) -> f64 {
    rows.as_array().unwrap().iter().map(|row| row[key].as_f64().unwrap()).sum()
}

#[test]
fn shares_are_of_what_was_recorded_and_every_command_says_so() {
    let folder = in_memory();
    shortened(folder.path(), |short| short);
    let [full, short] = ["full.cubex", "short.cubex"].map(|name| path(folder.path(), name));
    for command in COMMANDS {
        let (text, messages) = shown(&with(command, &short));
        assert!(
            messages.contains(": a short archive, ") && messages.contains(" of 60 iterations: it has "),
            "{messages}"
        );
        assert!(!text.contains("MEASUREMENT OFF"), "{command:?}: {text}");
        assert_eq!(shown(&with(command, &full)).1, "", "{command:?}");
    }
    for (file, is_short) in [(&full, false), (&short, true)] {
        let overview = json(&[file]);
        assert!((sum(&overview["classes"], "share") - 1.0).abs() < 1e-9, "{overview}");
        let has_class = overview["classes"].as_array().unwrap().iter().any(|it| it["name"] == "not_recorded");
        assert!(!has_class, "{overview}");
        assert_eq!(overview["not_recorded"].as_f64().unwrap() > 0.0, is_short);
        let run = overview["run"].as_f64().unwrap();
        for class in overview["classes"].as_array().unwrap() {
            let [share, seconds] = ["share", "seconds"].map(|key| class[key].as_f64().unwrap());
            assert!((share - seconds / run).abs() < 1e-6, "{class} of {run}");
        }
        let (text, _) = shown(&[file]);
        assert_eq!(text.contains("Where recorded time went"), is_short, "{text}");
        assert_eq!(text.contains(" % of it recorded · "), is_short, "{text}");
    }
}

#[test]
fn iterations_have_the_numbers_that_they_have_in_the_source() {
    let folder = in_memory();
    shortened(folder.path(), |short| short);
    let [full, short] = ["full.cubex", "short.cubex"].map(|name| path(folder.path(), name));
    let expected = kept(&folder.path().join("short"));
    let rows = json(&["iterations", &short])["rows"].clone();
    let found: Vec<(usize, u64)> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["of_loop"].as_u64().unwrap() as usize, row["weight"].as_u64().unwrap()))
        .collect();
    assert_eq!(found, expected);
    let (text, _) = shown(&["iterations", &short]);
    assert!(
        text.contains("They were kept of 60 in a short archive: \"in program\" is ")
            && text.contains("stands for"),
        "{text}"
    );
    assert!(!text.contains("unlike others") && !text.contains("first or last"), "{text}");
    let rows = json(&["iterations", &full])["rows"].clone();
    assert!(rows.as_array().unwrap().iter().all(|row| row["of_loop"].is_null() && row["weight"].is_null()));
    let (text, _) = shown(&["iterations", &full]);
    assert!(!text.contains("in program") && !text.contains("stands for"), "{text}");
}

#[test]
fn exports_have_the_numbers_of_the_source_beside_their_own() {
    let folder = in_memory();
    shortened(folder.path(), |short| short);
    let kept = kept(&folder.path().join("short"));
    for (name, is_short) in [("short.cubex", true), ("full.cubex", false)] {
        let file = path(folder.path(), name);
        let [tables, object] = ["tables", "json"].map(|what| path(folder.path(), &format!("{name}.{what}")));
        shown(&["export", "csv", &file, "-o", &tables]);
        let series = fs::read_to_string(Path::new(&tables).join("series.csv")).unwrap();
        let lines: Vec<Vec<&str>> = series.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(&lines[0][..1], ["iteration"]);
        assert_eq!(lines[0][1] == "of_loop", is_short, "{:?}", lines[0]);
        shown(&["export", "structure-json", &file, "-o", &object]);
        let object: Value = serde_json::from_slice(&fs::read(object).unwrap()).unwrap();
        assert_eq!(object["recorded"].is_null(), !is_short);
        if is_short {
            let numbers: Vec<usize> = lines[1..].iter().map(|line| line[1].parse().unwrap()).collect();
            assert!(kept.iter().map(|&(number, _)| number).eq(numbers), "{series}");
            assert_eq!(object["recorded"]["of"], 60);
            assert_eq!(object["recorded"]["numbers"][0][1], kept[0].0 as u64);
        }
    }
}

#[test]
fn focus_says_which_iterations_of_the_source_count() {
    let folder = in_memory();
    shortened(folder.path(), |short| short);
    let directory = folder.path().join("short");
    let kept = kept(&directory);
    let (place, (number, _)) = (kept.len(), kept[kept.len() - 1]);
    assert!(number > place, "{kept:?}");
    let text = |experiment: &Path, focus: &str| {
        let focus = vec![Focus::parse(focus).unwrap()];
        let options =
            Options { focus, ..options(experiment, &folder.path().join("f.cubex"), Semantics::Corrected) };
        short::analyze(&options).summary.unwrap().to_string()
    };
    let said = format!("\n  Iteration {place} here is {number} of the program\n");
    for (focus, is_said) in [("iterations=last", true), ("iterations=1,last", false), ("time=0-", false)] {
        let text = text(&directory, focus);
        assert_eq!(text.contains(&said), is_said, "{focus}: {text}");
        assert!(!text.contains("and were kept"), "{focus}: {text}");
    }
    assert!(!text(&folder.path().join("trace"), "iterations=last").contains(" of the program"));
}

#[test]
fn shares_of_the_tree_are_of_what_was_recorded() {
    let folder = in_memory();
    shortened(folder.path(), |short| short);
    for (name, is_short) in [("full.cubex", false), ("short.cubex", true)] {
        let file = path(folder.path(), name);
        let lines = json(&["structure", &file])["lines"].clone();
        let outer: f64 = lines
            .as_array()
            .unwrap()
            .iter()
            .filter(|line| line["depth"] == 0)
            .map(|line| line["share"].as_f64().unwrap())
            .sum();
        assert!((0.97..=1.0 + 1e-9).contains(&outer), "{outer}: {lines}");
        let (text, _) = shown(&["structure", &file]);
        let share = text.split(" % of the ").next().unwrap().rsplit(' ').next().unwrap();
        assert!(share.parse::<f64>().unwrap() <= 100.0, "{text}");
        assert_eq!(text.contains("are those that were kept"), is_short, "{text}");
    }
}

#[test]
fn extrapolated_waits_are_as_wrong_as_is_said() {
    let folder = in_memory();
    let Shortened { structure, short, full, .. } = shortened(folder.path(), |short| short);
    let RecordedIterations::Known(compared) = &short.recorded else { panic!("{:?}", short.recorded) };
    let metrics = Metrics::new(true, Semantics::Corrected);
    let values = &structure.series.as_ref().unwrap().metrics;
    let text = short.to_string();
    assert!(!compared.extrapolated.is_empty());
    let weights = kept(&folder.path().join("short"));
    for it in &compared.extrapolated {
        let values = &values[&metrics.find(it.metric).unwrap()].values;
        let all: i128 = values[1..].iter().map(|value| value.sum).sum();
        let predicted: i128 =
            weights.iter().map(|&(number, weight)| i128::from(weight) * values[number].sum).sum();
        let error = 100.0 * (predicted - all).abs() as f64 / all as f64;
        let said = match error {
            error if error < 0.05 => "right within 0.1 % in the source".to_owned(),
            error => format!("wrong by {error:.1} % in the source"),
        };
        let line = text.lines().find(|line| line.contains(&format!("{} in kept iterations", it.title)));
        assert!(line.unwrap().ends_with(&said), "{said}: {text}");
    }
    assert!(!full.to_string().contains("in the source"), "{full}");
}

#[test]
fn operations_that_borders_cut_are_said() {
    for (name, is_clean) in [("wrong_order.4", false), ("late_sender.4", true)] {
        let folder = in_memory();
        let shortened = shorten(&archive(name), keeping(&folder.path().join("short")), folder.path());
        assert_eq!(shortened.archive.unclean.is_none(), is_clean, "{name}");
        let text = shortened.short.to_string();
        assert_eq!(text.contains("Borders of kept iterations cut operations"), !is_clean, "{name}: {text}");
    }
}

#[test]
fn iterations_that_are_not_the_kept_ones_are_said() {
    for (keep, is_found) in [(1, false), (10, true)] {
        let folder = in_memory();
        let Shortened { short, .. } = shortened(folder.path(), |short| ShortOptions { keep, ..short });
        let text = short.to_string();
        let is_said = text.contains("that was kept: waits are not extrapolated");
        assert_eq!(is_said, !is_found, "{text}");
        assert_eq!(text.contains("extrapolated to all"), is_found, "{text}");
    }
}

#[test]
fn who_left_out_what_is_missing_is_said() {
    let folder = in_memory();
    let Shortened { short, .. } = shortened(folder.path(), |short| short);
    assert!(short.findings.count(Finding::LeftOut) > 0 && short.findings.count(Finding::RecordingOff) == 0);
}

/// Rank 1 waits for rank 0, of which it is not known what it did, or which worked.
fn late(what: &str, end: &str) -> String {
    format!(
        "program prog
rank 0
 0 > main ; 1 > MPI_Init ; 2 < ; 3 {what} ; 60 {end} ; 61 > MPI_Send ; 62 send 1 ; 63 < ; 98 > MPI_Finalize ; 99 < ; 100 <
rank 1
 0 > main ; 1 > MPI_Init ; 2 < ; 3 > MPI_Recv ; 64 recv 0 ; 65 < ; 98 > MPI_Finalize ; 99 < ; 100 <
"
    )
}

#[test]
fn nothing_is_advised_about_time_that_was_not_recorded() {
    for (what, end, is_off) in [("with counted : off", "with counted : on", true), ("> work", "<", false)] {
        let folder = in_memory();
        write::write(&Case::parse(&late(what, end)).unwrap().trace, folder.path());
        let report = folder.path().join("trace.cubex");
        let outcome = analyze(folder.path(), &report, Semantics::Corrected).unwrap();
        let text = outcome.summary.unwrap().to_string();
        assert_eq!(
            text.contains("rank 0 in prog/main, where recording was off and what it did is unknown"),
            is_off,
            "{text}"
        );
        assert!(!text.contains("MEASUREMENT OFF"), "{text}");
        assert_eq!(text.contains("rank 0 in prog/main/work"), !is_off, "{text}");
        let file = report.display().to_string();
        let (text, messages) = shown(&[&file]);
        assert_eq!(text.contains("Let ") || text.contains("Balance "), !is_off, "{text}");
        let said = " of the waiting; 98 % was caused while recording was off.";
        assert_eq!(text.contains(said), is_off, "{text}");
        assert!(!text.contains("MEASUREMENT OFF"), "{text}");
        assert_eq!(messages.contains("of the time was recorded"), is_off, "{messages}");
        for command in [&["waits"][..], &["waits", "--chain"], &["waits", "-i", "1"], &["structure"]] {
            let (text, _) = shown(&with(command, &file));
            assert!(!text.contains("MEASUREMENT OFF"), "{command:?}: {text}");
            if command[0] == "waits" {
                assert_eq!(text.contains("not recorded"), is_off, "{command:?}: {text}");
            }
        }
        let (text, _) = shown(&["time", &file]);
        assert_eq!(text.contains("· was not recorded"), is_off, "{text}");
    }
}

#[test]
fn a_directory_with_one_report_of_a_part_of_the_run_has_that_report() {
    let folder = in_memory();
    let report = folder.path().join("trace.focus-time=0-1.cubex");
    analyze(&archive("late_sender.4"), &report, Semantics::Corrected).unwrap();
    let directory = folder.path().display().to_string();
    assert_eq!(json(&[&directory])["file"], report.display().to_string());
    let other = folder.path().join("trace.focus-time=1-2.cubex");
    fs::copy(&report, &other).unwrap();
    let (status, _, messages) = show(&[&directory], &[]);
    assert!(
        status != Status::Done && messages.contains("there are 2 of parts of the run, such as"),
        "{messages}"
    );
    // What all counts in comes first.
    fs::rename(&other, folder.path().join("trace.cubex")).unwrap();
    assert!(json(&[&directory])["file"].as_str().unwrap().ends_with("/trace.cubex"));
}
