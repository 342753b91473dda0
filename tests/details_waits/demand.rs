//! Windows on demand: equal to those of the report for the same time and locations, and refused where they would be wrong.

use std::path::Path;

use cubex::Report;
use replay::details::windows::{MOST_LOCATIONS, TraceWindows};
use replay::{DetailsPlace, Options, Semantics};

use super::each;
use crate::support::tables::{Details, Row, rows_of};
use crate::support::{archive, in_memory, options};

fn open(experiment: &Path, report: &Path) -> Result<TraceWindows, String> {
    let details = Details::open(report);
    let report = Report::open(report).unwrap();
    TraceWindows::open(experiment, report.cube(), &details.manifest).map_err(|error| error.to_string())
}

/// The rows of a window as if it were the first one.
fn of_window(rows: &[Row], window: usize) -> Vec<Row> {
    let own = rows.iter().filter(|row| row["window"] == window as i128).cloned();
    own.map(|mut row| {
        row.insert("window".into(), 0);
        row
    })
    .collect()
}

#[test]
fn windows_on_demand_have_the_rows_of_those_of_the_report() {
    let mut compared = [0; 2];
    each(
        |options| options,
        |name, experiment, report| {
            let details = Details::open(report);
            let windows = details.rows("windows").unwrap();
            if windows.is_empty() {
                return;
            }
            let (calls, messages) =
                (details.rows("window_calls").unwrap(), details.rows("window_messages").unwrap());
            let locations = details.lists("windows", "locations");
            let trace = open(experiment, report).unwrap();
            for (number, (window, locations)) in windows.iter().zip(&locations).enumerate() {
                let [begin, end] = ["begin", "end"].map(|column| window[column].try_into().unwrap());
                let [of_window_table, of_calls, of_messages] = trace.read(begin..end, locations).unwrap();
                let found = &rows_of(&of_window_table.0)[0];
                assert_eq!(found["dropped_below"], window["dropped_below"], "{name}");
                let (expected, found) = (of_window(&calls, number), rows_of(&of_calls.0));
                assert_eq!(found, expected, "{name}: calls of window {number}");
                compared[0] += found.len();
                let (expected, found) = (of_window(&messages, number), rows_of(&of_messages.0));
                assert_eq!(found, expected, "{name}: messages of window {number}");
                compared[1] += found.len();
            }
        },
    );
    assert!(compared[0] > 5000 && compared[1] > 500, "{compared:?}");
}

/// A report of an archive with details.
fn report_of(name: &str, path: &Path, change: impl FnOnce(Options) -> Options) {
    let options = options(&archive(name), path, Semantics::Corrected);
    let options = change(Options { details: Some(DetailsPlace::Inside), ..options });
    replay::analyze(&options, &mut replay::exchange::Solo, &mut replay::progress::Progress::silent())
        .unwrap();
}

#[test]
fn windows_that_nobody_can_read_are_refused() {
    let directory = in_memory();
    let report = directory.path().join("report.cubex");
    report_of("imbalance_chain.4", &report, |options| options);
    let trace = open(&archive("imbalance_chain.4"), &report).unwrap();
    let refused = |time: std::ops::Range<i64>, locations: &[u32]| {
        trace.read(time, locations).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(0..10, &[]).contains("1 to 64"));
    assert!(refused(0..10, &[0; MOST_LOCATIONS + 1]).contains("1 to 64"));
    assert!(refused(0..10, &[0, 4]).contains("no location 4"));
    assert!(refused(10..10, &[0]).contains("ends before"));
    // The whole run of all, each once; and a time in which nothing was.
    let [_, calls, messages] = trace.read(i64::MIN..i64::MAX, &[0, 1, 2, 3, 3]).unwrap();
    assert!(calls.0.rows() > 30 && calls.1.is_none() && messages.0.rows() == 9);
    let [_, calls, messages] = trace.read(i64::MAX - 1..i64::MAX, &[0]).unwrap();
    assert_eq!((calls.0.rows(), messages.0.rows()), (0, 0));
}

#[test]
fn traces_that_are_not_those_of_the_report_are_refused() {
    let directory = in_memory();
    let report = directory.path().join("report.cubex");
    report_of("imbalance_chain.4", &report, |options| options);
    let other = archive("late_sender.4");
    assert!(open(&other, &report).unwrap_err().contains("another trace"));
    assert!(open(directory.path(), &report).is_err(), "no trace at all");
    report_of("imbalance_chain.4", &report, |options| Options { clock_correction: true, ..options });
    assert!(open(&archive("imbalance_chain.4"), &report).unwrap_err().contains("corrected"));
}
