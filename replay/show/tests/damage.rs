//! Damaged details: a message, and the rest is shown all the same.

use show::status::Status;

use crate::screens::COMMANDS;
use crate::support::example::{self, Names};
use crate::support::run;

/// Runs all commands on a report with changed details.
fn run_all(change: impl FnOnce(&mut Vec<(String, Vec<u8>)>)) -> Vec<(String, String)> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    example::write(&path, &Names::default(), change);
    let printed = COMMANDS.iter().map(|command| {
        let printed = run(80, &[command, &[path.to_str().unwrap()][..]].concat());
        let needs_details =
            command.first().is_some_and(|it| ["time", "iterations", "waits", "matrix"].contains(it));
        if !needs_details {
            assert_eq!(printed.status, Status::Done, "{command:?}: {}", printed.messages);
            assert!(!printed.results.is_empty());
        }
        assert_eq!(printed.status == Status::Failed, printed.results.is_empty(), "{command:?}: {printed:?}");
        (printed.results, printed.messages)
    });
    printed.collect()
}

#[test]
fn damaged_manifest_is_a_warning() {
    let sizes: Vec<usize> = vec![1, 7, 100, 600, 1500];
    for size in sizes {
        let all = run_all(|members| members[0].1.truncate(size));
        assert!(all.iter().all(|(_, messages)| messages.starts_with("replay-show: ")), "{all:?}");
        assert!(all[0].1.contains("shown without details"), "{}", all[0].1);
        assert!(all[0].0.contains("because of work on rank 0"), "{}", all[0].0);
    }
    let all = run_all(|members| members[0].1 = b"{\"schema\": \"replay-details/2\"}\n".to_vec());
    assert!(all[0].1.contains("replay-details/1"), "{}", all[0].1);
}

#[test]
fn tables_cut_anywhere_are_refused_with_a_message() {
    for table in 1..=example::tables().len() {
        for part in 1..8 {
            run_all(|members| {
                let bytes = &mut members[table].1;
                bytes.truncate((bytes.len() * part / 8).max(1));
                // Sizes that the archive cannot hold.
                if bytes.len().is_multiple_of(512) {
                    bytes.pop();
                }
            });
        }
    }
}

#[test]
fn flipped_bytes_do_no_harm() {
    // The first member is the manifest.
    for member in 0..=example::tables().len() {
        for step in 0..60 {
            run_all(|members| {
                let bytes = &mut members[member].1;
                let at = step * bytes.len() / 60;
                bytes[at] ^= 1 << (step % 8);
            });
        }
    }
}

#[test]
fn manifests_that_contradict_their_tables_are_refused() {
    let replacements = [
        ("\"bins\":64", "\"bins\":18446744073709551615"),
        ("\"bins\":64", "\"bins\":0"),
        ("\"span\":1,", "\"span\":18446744073709551615,"),
        ("\"groups\":4", "\"groups\":3"),
        ("\"bin_ticks\":2500", "\"bin_ticks\":9223372036854775807"),
        ("\"ticks_per_second\":1000000", "\"ticks_per_second\":0"),
        ("\"end\":160000", "\"end\":18446744073709551615"),
        ("\"end\":160000", "\"end\":0"),
        ("\"cnode\":4", "\"cnode\":4000000000"),
        ("\"adds\":[\"comp\"", "\"adds\":[\"time@**//'\""),
        ("\"seconds\":0.18", "\"seconds\":1e308"),
    ];
    for (from, to) in replacements {
        run_all(|members| {
            let text = String::from_utf8(members[0].1.clone()).unwrap();
            assert!(text.contains(from), "{from} in {text}");
            members[0].1 = text.replace(from, to).into_bytes();
            if members[0].1.len().is_multiple_of(512) {
                members[0].1.push(b'\n');
            }
        });
    }
}

#[test]
fn reports_with_flipped_bytes_are_shown_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (path, damaged) = (directory.path().join("r.cubex"), directory.path().join("damaged.cubex"));
    example::write(&path, &Names::default(), |_| {});
    let bytes = std::fs::read(&path).unwrap();
    for step in 0..300 {
        let mut bytes = bytes.clone();
        let at = step * bytes.len() / 300 + step % 7;
        bytes[at] ^= 1 << (step % 8);
        std::fs::write(&damaged, &bytes).unwrap();
        for command in COMMANDS {
            let printed = run(80, &[command, &[damaged.to_str().unwrap()][..]].concat());
            assert_eq!(
                printed.status == Status::Failed,
                printed.results.is_empty(),
                "{command:?}: {printed:?}"
            );
        }
    }
}
