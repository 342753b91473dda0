//! Proof 3: where only some rounds are recorded, or the program switches recording off and on, no message is
//! matched wrongly.

use crate::support::archive;
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::{NamedReport, findings};
use replay::findings::{Finding, FindingClass};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The lengths of received messages by region, as printed by the ranks of a program.
fn lengths(folder: &Path, ranks: u32) -> BTreeMap<String, u64> {
    let mut lengths = BTreeMap::new();
    for rank in 0..ranks {
        // A rank without receives writes no file.
        let printed = fs::read_to_string(folder.join(format!("received.{rank}"))).unwrap_or_default();
        for line in printed.lines() {
            let (region, length) = line.split_once(' ').unwrap();
            lengths.insert(region.into(), length.parse().unwrap());
        }
    }
    lengths
}

/// Result of a recording.
struct Recorded {
    /// Number of regions in which a message was received.
    receives: usize,
    /// Findings by name.
    found: BTreeMap<String, u64>,
}

/// Records a program, and fails unless each recorded receive has the length of its message. A receive has the
/// length of its send, if that is known, so equal lengths mean the right match.
fn recorded(
    test: &str,
    program: &str,
    ranks: u32,
    arguments: &[&str],
    option: Option<&'static str>,
) -> Option<Recorded> {
    let subject = Subject::new(test, program, ranks, arguments)?;
    let subject = option.into_iter().fold(subject, Subject::option);
    subject.run_recorded(Invocation::InFront).expect_success();
    let experiment = &subject.experiment;
    assert_eq!(archive::refusal(experiment), None);
    assert_eq!(archive::difference(experiment), None);
    let analysis = analyze(experiment, &subject.folder);
    analysis.expect_success();
    let report = NamedReport::read(experiment);
    let mut receives = 0;
    for (region, length) in lengths(&subject.folder, ranks) {
        let paths = report.within(&region);
        let has = |rank| report.value("bytes_rcvd", &paths, rank);
        let found: f64 = (0..ranks as usize).map(has).sum();
        if found != 0.0 {
            receives += 1;
            assert_eq!(found, length as f64, "{region} in {}", experiment.display());
        }
    }
    // Rounds are a loop only where they take about as long, which depends on the machine.
    let mut found = findings(experiment);
    found.retain(|(name, ..)| name != Finding::DifferentIterations.name());
    let wrong: Vec<_> = found.iter().filter(|(_, class, _)| *class == FindingClass::Wrong).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{}", analysis.stdout);
    let found = found.into_iter().map(|(name, _, count)| (name, count)).collect();
    println!("{}: {receives} receives, {found:?}", experiment.display());
    Some(Recorded { receives, found })
}

const ALONE: &str = "message with one side recorded";
const OFF: &str = "recording switched off";

/// Expects numbers of recorded receives and of messages with one side recorded, of 80 steps, in mode 1 with a
/// message each, in mode 2 with one in each direction. In round k, mode 1 sends message k + 1 and receives
/// message k - 1; mode 2 posts the receives of step k, and sends and completes the messages of step k - 1.
fn expect_ahead(test: &str, option: Option<&'static str>, expected: [(usize, u64); 2]) {
    for (mode, (receives, alone)) in ["1", "2"].into_iter().zip(expected) {
        let name = format!("ahead_{test}_{mode}");
        let Some(it) = recorded(&name, "pauses/ahead.c", 2, &["80", mode], option) else { return };
        assert_eq!((it.receives, it.found.get(ALONE).copied().unwrap_or(0)), (receives, alone), "{name}");
        // There are no other findings, and none at all in a complete recording.
        let known: Vec<&str> = if option.is_some() { vec![ALONE, OFF] } else { Vec::new() };
        assert!(it.found.keys().all(|found| known.contains(&found.as_str())), "{name}: {:?}", it.found);
    }
}

#[test]
fn messages_of_a_whole_recording_have_their_partners() {
    expect_ahead("whole", None, [(80, 0), (160, 0)]);
}

#[test]
fn messages_under_way_at_the_edges_of_a_window_have_no_partner_and_others_have_theirs() {
    expect_ahead("window", Some("--window=20-60"), [(41, 4), (82, 2)]);
}

#[test]
fn messages_of_every_tenth_round_have_their_partners_or_none() {
    expect_ahead("every", Some("--every=10"), [(8, 18), (16, 16)]);
}

#[test]
fn messages_of_the_first_rounds_have_their_partners() {
    expect_ahead("first", Some("--first=30"), [(29, 2), (58, 2)]);
}

#[test]
fn messages_have_their_partners_wherever_the_program_switches_recording() {
    for seed in ["1", "2"] {
        for option in [None, Some("--every=3")] {
            let name = format!("random_{seed}_{}", option.map_or("", |option| &option[2..7]));
            let Some(it) = recorded(&name, "pauses/random.c", 3, &[seed], option) else { return };
            let (unknown, alone) =
                (it.found.get("message of unknown order"), it.found.get(ALONE).copied().unwrap_or(0));
            // Each message has two sides; most are known.
            let lost = unknown.copied().unwrap_or(0) + alone;
            assert!(it.receives > 40 && lost < 2 * it.receives as u64, "{name}: {}, {lost}", it.receives);
        }
    }
}
