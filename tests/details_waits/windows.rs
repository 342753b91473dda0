//! Windows: their calls are those of `otf2-print`, their messages those of the matching, and the wait that they are around
//! is there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use cubex::Report;
use otf2::Archive;
use replay::assignment::Owners;
use replay::exchange::Solo;
use replay::findings::Findings;
use replay::formulas::Formulas;
use replay::matching::match_operations;
use replay::memory::Memory;
use replay::metrics::Metrics;
use replay::shared::Shared;
use replay::tools::Tools;
use replay::trace::Trace;
use replay::walk::{self, Notes, Positions, Walked};
use replay::{Options, Semantics};
use skip::{Need, skip};

use super::{NONE, each};
use crate::support::tables::{Details, Row};

fn open(experiment: &Path) -> (Archive, Trace) {
    let archive = Archive::open(experiment).unwrap();
    let definitions = archive.definition_records(&archive.definition_file().unwrap()).resolve().unwrap();
    (archive, Trace::new(definitions, Semantics::Corrected).unwrap())
}

/// The rows of a table that belong to a window.
fn of_window(rows: &[Row], window: usize) -> impl Iterator<Item = &Row> {
    rows.iter().filter(move |row| row["window"] == window as i128)
}

#[test]
fn the_wait_of_a_window_is_in_it_with_both_calls() {
    let mut found = [0; 3];
    each(
        |options| options,
        |name, _, report| {
            let details = Details::open(report);
            let rows = |table| details.rows(table).unwrap();
            let (instances, windows) = (rows("instances"), rows("windows"));
            let (calls, waits) = (rows("window_calls"), rows("window_waits"));
            let locations = details.lists("windows", "locations");
            assert!(windows.len() <= 32, "{name}");
            for (number, window) in windows.iter().enumerate() {
                let instance = &instances[usize::try_from(window["instance"]).unwrap()];
                assert_eq!(instance["window"], number as i128, "{name}");
                let own: Vec<&Row> = of_window(&waits, number).collect();
                let is_it = |row: &&&Row| {
                    [
                        "metric",
                        "location",
                        "cnode",
                        "begin",
                        "ticks",
                        "all_ticks",
                        "cause_cnode",
                        "origin_cnode",
                    ]
                    .iter()
                    .all(|&column| row[column] == instance[column])
                };
                assert!(own.iter().any(|row| is_it(&row)), "{name}: {instance:?}");
                found[0] += own.len();
                for (location, cnode, enter, leave) in [
                    ("location", "cnode", "enter", "leave"),
                    ("cause_location", "cause_cnode", "cause_enter", "cause_leave"),
                ] {
                    assert!(
                        locations[number].contains(&u32::try_from(instance[location]).unwrap()),
                        "{name}"
                    );
                    // A lock is waited for until the thread has it, which is before the call ends.
                    let is_lock = details.metric(instance).contains("contention");
                    let is_there = of_window(&calls, number).any(|call| {
                        call["location"] == instance[location]
                            && call["cnode"] == instance[cnode]
                            && call["enter"] == instance[enter]
                            && (is_lock || call["leave"] == instance[leave])
                    });
                    // Of a lock only the release is known, of a receive while recording was off only when it was posted.
                    let is_time = instance[enter] == instance[leave];
                    found[1 + usize::from(is_there)] += 1;
                    assert!(is_there || is_time, "{name}: {location} of {instance:?}");
                }
                for call in of_window(&calls, number) {
                    assert!(locations[number].contains(&u32::try_from(call["location"]).unwrap()), "{name}");
                    assert!(
                        call["enter"] <= window["end"] && call["leave"] >= window["begin"],
                        "{name}: {call:?}"
                    );
                    assert!(call["cnode"] != NONE, "{name}: {call:?}");
                }
            }
        },
    );
    assert!(found[0] > 1000 && found[2] > 1000, "{found:?}");
}

#[test]
fn messages_of_windows_are_those_of_the_matching() {
    let mut compared = 0;
    each(
        |options| Options { windows: 3, ..options },
        |name, experiment, report| {
            let details = Details::open(report);
            let (windows, rows) =
                (details.rows("windows").unwrap(), details.rows("window_messages").unwrap());
            let locations = details.lists("windows", "locations");
            let (archive, trace) = open(experiment);
            let (metrics, memory) = (Metrics::new(true, Semantics::Corrected), Memory::default());
            let (owners, shared) = (Owners::new(&vec![0..trace.processes.len(); 1]), Shared::new(1));
            let formulas = Formulas::new(&trace, &metrics);
            let walked = |process| {
                let files = walk::open(&archive, &trace, process).unwrap();
                let notes = Notes::of(Positions::Journal);
                walk::walk(&archive, &trace, &metrics, &files, notes, &[], &memory).unwrap()
            };
            let walked: Vec<Walked> = (0..trace.processes.len()).map(walked).collect();
            let tools = Tools {
                trace: &trace,
                metrics: &metrics,
                formulas: &formulas,
                owners: &owners,
                shared: &shared,
                memory: &memory,
                together: 0,
                has_details: false,
            };
            let matches =
                match_operations(&tools, &walked, &mut Findings::default(), None, &mut Solo).unwrap();
            for (number, (window, locations)) in windows.iter().zip(&locations).enumerate() {
                let mut expected = BTreeSet::new();
                for (walked, matches) in walked.iter().zip(&matches) {
                    for (at, receive) in walked.operations.receives.iter().enumerate() {
                        let (call, Some(send)) =
                            (walked.operations.call(receive.call), matches.sends.get(at))
                        else {
                            continue;
                        };
                        let ends = [send.place.location, call.site.location];
                        if !ends.iter().all(|end| locations.contains(end)) {
                            continue;
                        }
                        let posting = walked.operations.call(receive.posting).interval.enter;
                        let post = walked.operations.unrecorded.posting(at as u32).unwrap_or(posting);
                        let times =
                            [send.call.enter, send.call.leave, post, call.interval.leave].map(i128::from);
                        let is_in = |at: usize| times[at] < window["end"] && times[at + 1] > window["begin"];
                        if is_in(0) || is_in(2) {
                            let envelope = walked.operations.source(receive);
                            let what = [send.bytes.into(), envelope.tag.into(), envelope.communicator.into()];
                            expected.insert((ends.map(i128::from), times, what));
                        }
                    }
                }
                let columns = |row: &Row| {
                    let times =
                        ["send_enter", "send_leave", "post", "receive_leave"].map(|column| row[column]);
                    let what = ["bytes", "tag", "communicator"].map(|column| row[column]);
                    (["source", "destination"].map(|column| row[column]), times, what)
                };
                let found: BTreeSet<_> = of_window(&rows, number).map(columns).collect();
                compared += found.len();
                assert_eq!(found, expected, "{name}: window {number}");
            }
        },
    );
    assert!(compared > 500, "{compared} messages");
}

/// A call: location, enter, leave, depth, region.
type Call = (i128, i128, i128, i128, String);

/// The calls of a trace as `otf2-print` prints its events; `None` where a record means more than that.
fn printed(experiment: &Path, trace: &Trace) -> Option<Vec<Call>> {
    let output = Command::new("otf2-print").arg(experiment.join("traces.otf2")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let origin = i128::from(trace.definitions.clock.global_offset);
    let location_of: BTreeMap<String, i128> =
        (0..).zip(&trace.locations).map(|(at, location)| (location.reference.to_string(), at)).collect();
    let mut stacks: BTreeMap<i128, (i128, Vec<(i128, String)>)> = BTreeMap::new();
    let mut calls = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[kind, location, time, ..] = &words[..] else { continue };
        let (Some(&location), Ok(time)) = (location_of.get(location), time.parse::<i128>()) else { continue };
        if ["MEASUREMENT_ON_OFF", "BUFFER_FLUSH"].contains(&kind) || kind.starts_with("THREAD_TASK") {
            return None;
        }
        let time = time - origin;
        let (last, stack) = stacks.entry(location).or_default();
        *last = time;
        let name = line.split('"').nth(1).unwrap_or_default().to_owned();
        match kind {
            "ENTER" | "PROGRAM_BEGIN" => stack.push((time, name)),
            "LEAVE" | "PROGRAM_END" => {
                let (enter, name) = stack.pop()?;
                calls.push((location, enter, time, stack.len() as i128, name));
            }
            _ => {}
        }
    }
    for (location, (last, mut stack)) in stacks {
        while let Some((enter, name)) = stack.pop() {
            calls.push((location, enter, last, stack.len() as i128, name));
        }
    }
    Some(calls)
}

#[test]
fn calls_of_windows_are_those_of_otf2_print() {
    if Command::new("otf2-print").arg("--version").output().is_err() {
        return skip(Need::Otf2Print, "calls of windows: there is no otf2-print");
    }
    let mut compared = 0;
    each(
        |options| Options { windows: 5, ..options },
        |name, experiment, report| {
            // Real archives only: scripts have leaves without enter, times that go backwards, and the like.
            if !experiment.join("scorep.cfg").exists() && !experiment.starts_with(env!("CARGO_MANIFEST_DIR"))
            {
                return;
            }
            let details = Details::open(report);
            let cube = Report::open(report).unwrap();
            let (_, trace) = open(experiment);
            let Some(all) = printed(experiment, &trace) else { return };
            let (windows, rows) = (details.rows("windows").unwrap(), details.rows("window_calls").unwrap());
            let locations = details.lists("windows", "locations");
            for (number, (window, locations)) in windows.iter().zip(&locations).enumerate() {
                let (begin, end) = (window["begin"], window["end"]);
                let is_in = |call: &&Call| {
                    let &(location, enter, leave, ..) = *call;
                    locations.iter().any(|&it| i128::from(it) == location)
                        && (enter < end && leave > begin || enter == leave && (begin..end).contains(&enter))
                };
                let mut expected: Vec<Call> = all.iter().filter(is_in).cloned().collect();
                let call = |row: &Row| {
                    let cnode = &cube.cube().cnodes[usize::try_from(row["cnode"]).unwrap()];
                    let name = cube.cube().regions[cnode.region.0].name.clone();
                    let open = i128::from(row["enter"] < begin) + 2 * i128::from(row["leave"] > end);
                    assert_eq!(row["open"], open, "{name}: {row:?}");
                    (row["location"], row["enter"], row["leave"], row["depth"], name)
                };
                let mut found: Vec<Call> = of_window(&rows, number).map(call).collect();
                // The program has its whole path in the trace.
                for (_, _, _, _, name) in expected.iter_mut().chain(&mut found) {
                    *name = name.rsplit('/').next().unwrap_or_default().to_owned();
                }
                assert_eq!(window["dropped_below"], 0, "{name}");
                expected.sort();
                found.sort();
                assert_eq!(found, expected, "{name}: window {number}");
                compared += found.len();
            }
        },
    );
    assert!(compared > 500, "{compared} calls");
}
