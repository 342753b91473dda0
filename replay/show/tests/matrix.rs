//! What `matrix` says of operations and options.

use details::manifest::{Complete, Finding, Member, member};
use details::{Column, Table, Values};
use show::status::Status;

use crate::support::example::{self, Names};
use crate::support::{Printed, run};

fn matrix(options: &[&str]) -> Printed {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    example::write(&path, &Names::default(), |_| {});
    run(100, &[&["matrix", path.to_str().unwrap()], options].concat())
}

#[test]
fn rows_that_are_left_out_are_counted() {
    let printed = matrix(&["--collectives", "-n", "1"]);
    assert_eq!(printed.results.matches("and 1 more (-n 2)").count(), 1, "{}", printed.results);
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    for options in [
        &["--sizes", "--comm", "0"][..],
        &["--sizes", "-n", "1"],
        &["--sizes", "-m", "bytes"],
        &["--collectives", "-m", "bytes"],
    ] {
        let printed = matrix(options);
        assert_eq!((printed.status, printed.results.as_str()), (Status::Failed, ""), "{options:?}");
    }
    assert_eq!(matrix(&["--sizes"]).status, Status::Done);
}

/// The pairs of the example, of whose messages each process has sent so many, or which findings there are.
fn pairs(sent: Option<[u64; 4]>, finding: Option<&str>, options: &[&str]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let names = Names::default();
    example::write(&path, &names, |members| {
        let mut manifest = example::manifest(&names);
        let lost = |name: &str| Finding {
            class: "data loss".into(),
            name: name.into(),
            count: 1,
            ..Finding::default()
        };
        manifest.summary.findings.extend(finding.map(lost));
        if let Some(sent) = sent {
            // Without the rest of a receiver.
            let mut matrix = example::tables().into_iter().find(|table| table.name == "matrix").unwrap();
            for column in &mut matrix.columns {
                match &mut column.values {
                    Values::U32(values) => values.truncate(3),
                    Values::U64(values) => values.truncate(3),
                    _ => unreachable!("a matrix of numbers"),
                }
            }
            let columns = vec![
                Column::new("process", None, Values::U32(vec![0, 1, 2, 3])),
                Column::new("sent", None, Values::U64(sent.into())),
            ];
            let processes = Table { name: "processes".into(), columns };
            let listed = Member { member: member("processes"), rows: 4, complete: Complete::Is(true) };
            manifest.tables.push(listed);
            for table in [matrix, processes] {
                let bytes = details::write(&table).unwrap();
                members.retain(|(name, _)| *name != member(&table.name));
                members.push((member(&table.name), bytes));
            }
        }
        members[0].1 = manifest.to_bytes();
    });
    let printed = run(100, &[&["matrix", path.to_str().unwrap()], options].concat());
    assert_eq!(printed.status, Status::Done, "{}", printed.messages);
    printed.results
}

#[test]
fn waiting_of_messages_without_partner_is_unknown() {
    let whole = pairs(Some([3, 3, 3, 0]), None, &[]);
    assert!(!whole.contains("unknown") && !whole.contains('?'), "{whole}");
    // Rank 1 has sent one more, and nothing of rank 2 was recorded.
    let text = pairs(Some([3, 4, 0, 0]), None, &[]);
    for line in ["0 · 7 · ·", "1 ? ? 8 ?", "2 ? ? ? 9", "3 · · · ·", "? unknown", "of this sender"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let csv = pairs(Some([3, 4, 0, 0]), None, &["--csv"]);
    let rows: Vec<&str> = csv.lines().collect();
    // What was found is there, and what was not is unknown.
    assert!(
        rows.iter().any(|row| row.starts_with("rank 1,rank 2,") && row.ends_with(",0.06,,3,,1,2")),
        "{csv}"
    );
    assert!(
        rows.iter().any(|row| row.starts_with("rank 0,rank 1,") && row.ends_with(",0.05,0,3,0,0,1")),
        "{csv}"
    );
}

#[test]
fn all_pairs_are_doubtful_where_senders_are_not_named() {
    let text = pairs(None, Some("receive without send"), &[]);
    assert!(text.contains("0 ? 7 ? ?") && text.contains("3 ? ? ? ?"), "{text}");
    let text = pairs(None, Some("incomplete collective"), &[]);
    assert!(!text.contains('?') && !text.contains("unknown"), "{text}");
}
