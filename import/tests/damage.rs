//! Whatever bytes the files have, there is an archive that can be read, or one line that says why not, and nothing is left.

use std::path::Path;

use otf2::Archive;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::support::{LABELS, import_bytes};

/// A trace with all kinds of records.
const WHOLE: &str = "#Paraver (30/11/2026 at 12:00):100_ns:1(2):1:2(2:1,1:1),2\nc:1:1:2:1:2\nc:1:2:1:1\n\
    1:1:1:1:1:0:10:1\n2:1:1:1:1:5:60000019:1\n2:1:1:2:1:5:50000001:2\n3:1:1:1:1:10:20:2:1:2:1:5:25:64:7\n\
    2:1:1:1:1:10:50000001:1:42000050:77:70000001:1:80000001:1\n2:1:1:1:1:20:42000050:5:50000001:0\n2:1:1:2:1:25:50000001:0\n\
    2:1:1:1:2:30:50000002:7:50100001:8:50100002:8:50100004:1:50100003:1\n2:1:1:2:1:31:50000002:7:50100004:1\n\
    2:1:1:1:2:40:50000002:0\n2:1:1:2:1:41:50000002:0\n2:1:1:1:1:50:60000019:0\n";

/// Imports files, and checks what comes of it.
fn check(records: &[u8], labels: &[u8]) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    match import_bytes(records, labels, &path) {
        Ok(imported) => assert_eq!(events(&path), imported.events),
        Err(error) => {
            let message = error.to_string();
            let has_place = message.starts_with("a.prv: line ") || message.starts_with("a.pcf: ");
            assert!(has_place && !message.contains('\n'), "{message}");
            assert_eq!(
                std::fs::read_dir(directory.path()).unwrap().count(),
                0,
                "something is left after: {message}"
            );
        }
    }
}

/// The number of events that can be read.
fn events(path: &Path) -> u64 {
    let archive = Archive::open(path).unwrap();
    let definitions = archive.definitions().unwrap();
    let mut count = 0;
    for position in 0..definitions.locations.len() {
        let location = definitions.locations.reference(position);
        archive.local_definitions(location).unwrap();
        let file = archive.event_file(location).unwrap();
        let mut cursor = archive.events(&file);
        while cursor.next().unwrap().is_some() {
            count += 1;
        }
    }
    count
}

#[test]
fn whole_trace_is_imported_and_cut_ones_have_an_end() {
    check(WHOLE.as_bytes(), LABELS.as_bytes());
    for length in (0..WHOLE.len()).step_by(2) {
        check(&WHOLE.as_bytes()[..length], LABELS.as_bytes());
    }
}

proptest! {
    #![proptest_config(Config { cases: 150, ..Config::default() })]

    #[test]
    fn any_bytes_are_refused(records in vec(any::<u8>(), 0..200), labels in vec(any::<u8>(), 0..200)) {
        check(&records, &labels);
    }

    #[test]
    fn any_lines_behind_a_header_are_imported_or_refused(lines in "([123ci#]:[0-9:-]{0,60}\n){0,8}") {
        let text = format!("#Paraver (x):100_ns:1(2):1:2(2:1,1:1)\n{lines}");
        check(text.as_bytes(), LABELS.as_bytes());
    }

    #[test]
    fn any_events_and_messages_are_imported(
        records in vec((any::<bool>(), 1..3_u8, 0..6_u64, 0..6_u64, 0..6_u64, 0..6_u64, 0..8_u64), 0..40),
    ) {
        let mut text = "#Paraver (x):10_ns:1(2):1:2(1:1,1:1)\nc:1:1:2:1:2\n".to_owned();
        let mut time = 0;
        for (is_message, task, a, b, c, d, value) in records {
            time += a % 3;
            text += &match is_message {
                true => format!("3:1:1:{task}:1:{}:{}:1:1:{}:1:{}:{}:8:{}\n", time + a, time + b, 1 + c % 2, time + c, time + d, b % 2),
                false => {
                    let kind = [50_000_001, 50_000_002, 50_000_003, 60_000_019][usize::try_from(b % 4).unwrap()];
                    format!("2:1:1:{task}:1:{time}:{kind}:{value}:50100004:1\n")
                }
            };
        }
        check(text.as_bytes(), LABELS.as_bytes());
        let imported = import_bytes(text.as_bytes(), LABELS.as_bytes(), &tempfile::tempdir().unwrap().path().join("a"));
        prop_assert!(imported.is_ok(), "{:?}", imported);
    }

    #[test]
    fn changed_traces_are_imported_or_refused(changes in vec((0..WHOLE.len(), any::<u8>()), 1..6)) {
        let mut bytes = WHOLE.as_bytes().to_vec();
        for (at, byte) in changes {
            // Digits and separators reach more than other bytes.
            bytes[at] = if byte < 128 { b"0123456789:,()-\n"[usize::from(byte % 16)] } else { byte };
        }
        // A number of threads that becomes larger makes as many files.
        let threads = bytes.iter().take_while(|byte| **byte != b'\n').filter(|byte| byte.is_ascii_digit()).count();
        prop_assume!(threads < 60);
        check(&bytes, LABELS.as_bytes());
    }
}
