//! What exports contain.

use std::path::Path;

use serde_json::Value;
use show::status::Status;

use super::{DIRECTORIES, Exported, FILES, OF_EVENTS, OF_STRUCTURE, plain};
use crate::support::run;

#[test]
fn every_format_exports_a_report_with_all_details_without_remarks() {
    let exported = plain();
    for format in FILES.into_iter().chain(DIRECTORIES) {
        let (printed, out) = exported.try_export(format, &[]);
        assert_eq!((printed.status, printed.messages.as_str()), (Status::Done, ""), "{format}");
        assert!(out.exists(), "{format}");
    }
}

#[test]
fn reports_without_details_export_what_they_have() {
    let exported = Exported::without_details();
    for format in FILES.into_iter().chain(DIRECTORIES) {
        let (printed, out) = exported.try_export(format, &[]);
        if OF_EVENTS.contains(&format) || OF_STRUCTURE.contains(&format) {
            assert_eq!(printed.status, Status::Failed, "{format}");
            assert!(printed.messages.contains("replay-analyze EXPERIMENT"), "{}", printed.messages);
            assert!(!out.exists(), "{format}");
        } else {
            assert_eq!(printed.status, Status::Done, "{format}: {}", printed.messages);
        }
    }
    let (printed, _) = exported.try_export("json", &[]);
    assert!(printed.messages.contains("no details"), "{}", printed.messages);
}

#[test]
fn stacks_have_nanoseconds() {
    let exported = plain();
    let folded = exported.text("folded", &[]);
    assert_eq!(folded, "main 1500000000\nmain;work 700000000\nmain;MPI_Send 100\nmain;MPI_Recv 110000000\n");
    let folded = exported.text("folded", &["--per-location", "--ranks", "0,1", "-m", "mpi_latesender"]);
    assert_eq!(folded, "rank 1;main;MPI_Recv 150\n");
    let folded = exported.text("folded", &["-m", "visits", "--ranks", "1"]);
    assert_eq!(folded.lines().next(), Some("main 1"));
}

#[test]
fn events_of_overlapping_windows_are_joined_and_nested() {
    let text = plain().text("events-csv", &[]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "Timestamp (ns), Event Type, Name, Process, Thread");
    // Half a nanosecond a tick; main ends with the second window.
    let of_rank_0: Vec<&str> = lines.iter().filter(|line| line.ends_with(",0,0")).copied().collect();
    assert_eq!(
        of_rank_0,
        [
            "0,Enter,main,0,0",
            "5,Enter,work,0,0",
            "195,Leave,work,0,0",
            "200,Enter,MPI_Send,0,0",
            "300,Leave,MPI_Send,0,0",
            "750,Leave,main,0,0"
        ]
    );
}

#[test]
fn events_can_be_limited_to_a_window_and_ranks() {
    let exported = plain();
    let text = exported.text("events-csv", &["--window", "0.00000025-1", "--ranks", "1"]);
    assert_eq!(
        text.lines().skip(1).collect::<Vec<_>>(),
        ["250,Enter,main,1,0", "250,Enter,MPI_Recv,1,0", "310,Leave,MPI_Recv,1,0", "500,Leave,main,1,0"]
    );
    let text = exported.text("chrome", &["--instances", "0"]);
    assert!(!text.contains("MPI_Send"), "no window is around no instance");
}

#[test]
fn window_behind_the_end_of_the_run_is_refused() {
    let exported = plain();
    let (printed, _) = exported.try_export("events-csv", &["--window", "9-10"]);
    assert_eq!(printed.status, Status::Failed);
    assert!(printed.messages.contains("--window: there are no events in this time"), "{}", printed.messages);
    // Here a report may have left some out.
    let text = exported.text("events-csv", &["--window", "0.0000006-0.0000007", "--ranks", "1"]);
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn chrome_has_complete_events_flows_and_counters() {
    let value: Value = serde_json::from_str(&plain().text("chrome", &[])).unwrap();
    let events = value["traceEvents"].as_array().unwrap();
    let of = |phase: &str| events.iter().filter(|it| it["ph"] == phase).collect::<Vec<_>>();
    let send = of("X").into_iter().find(|it| it["name"] == "MPI_Send").unwrap();
    assert_eq!((&send["ts"], &send["dur"]), (&0.2.into(), &0.1.into()));
    let wait = of("X").into_iter().find(|it| it["cat"] == "wait").unwrap();
    assert_eq!((&wait["name"], &wait["args"]["cause"]), (&"Late Sender".into(), &"rank 0".into()));
    let numbers = |phase: &str| {
        let mut numbers: Vec<i64> = of(phase).iter().map(|it| it["id"].as_i64().unwrap()).collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(numbers("s"), numbers("f"));
    assert_eq!(numbers("s").len(), 1, "the message; the cause of the wait comes when it ends");
    assert!(of("f").iter().all(|it| it["bp"] == "e"));
    let waiting = of("C").into_iter().find(|it| it["name"] == "waiting locations").unwrap();
    assert_eq!(waiting["args"]["locations"], 0.3);
}

#[test]
fn chrome_has_the_outer_one_first_of_calls_that_the_window_cuts_alike() {
    let text = plain().text("chrome", &["--window", "0.0000001-0.0000002", "--ranks", "1"]);
    let value: Value = serde_json::from_str(&text).unwrap();
    let calls = value["traceEvents"].as_array().unwrap().iter();
    let calls: Vec<_> = calls.filter(|it| it["ph"] == "X" && it["cat"] != "wait").collect();
    let names: Vec<_> = calls.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["main", "MPI_Recv"]);
    assert!(calls.iter().all(|it| it["ts"] == 0.1 && it["dur"] == 0.1), "{text}");
}

#[test]
fn json_has_the_tables_with_names_and_seconds() {
    let value: Value = serde_json::from_str(&plain().text("json", &[])).unwrap();
    assert_eq!(value["schema"], "replay-show.export/1");
    let instance = &value["tables"]["instances"][0];
    assert_eq!(instance["metric"], "mpi_latesender");
    assert_eq!((&instance["begin"], &instance["begin_ticks"]), (&5e-8.into(), &100.into()));
    assert_eq!((&instance["seconds"], &instance["ticks"]), (&1.5e-7.into(), &300.into()));
    assert_eq!((&instance["path"], &instance["rank"]), (&"main/MPI_Recv".into(), &1.into()));
    assert_eq!((&instance["cause_path"], &instance["cause_rank"]), (&"main/MPI_Send".into(), &0.into()));
    assert_eq!(instance["origin_path"], "main/work");
    assert_eq!((instance.get("direct"), instance.get("members")), (None, None), "none");
    let rest = &value["tables"]["matrix"][1];
    assert_eq!((rest.get("source"), &rest["destination"]), (None, &2.into()));
    assert_eq!(value["tables"]["processes"][0]["bytes_sent"], 1024);
    assert_eq!(value["tables"]["collectives"][0]["function"], "work");
    assert_eq!(value["tables"]["calls"].as_array().unwrap().len(), 7);
    let timeline = value["tables"]["timeline"].as_array().unwrap();
    assert_eq!(timeline.len(), 6);
    assert_eq!((&timeline[4]["role"], &timeline[4]["first_location"]), (&"wait".into(), &1.into()));
    assert_eq!((&timeline[4]["seconds"], &timeline[4]["ticks"]), (&1.5e-7.into(), &300.into()));
    let severities = value["tables"]["severities"].as_array().unwrap();
    let main = severities.iter().find(|row| row["metric"] == 0 && row["cnode"] == 0 && row["location"] == 0);
    assert_eq!(main.unwrap()["value"], 0.25);
    assert_eq!(main.unwrap()["inclusive"], 0.25 + (0.5 + 1e-7));
}

#[test]
fn rows_have_a_field_for_each_column() {
    let exported = plain();
    let folder = exported.export("csv", &[]);
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut counts = text.lines().map(|line| line.matches(',').count());
        let columns = counts.next().unwrap();
        assert!(counts.all(|count| count == columns), "{}: {text}", path.display());
    }
}

#[test]
fn formats_take_their_options_only() {
    let exported = plain();
    let refused = |format: &str, more: &[&str]| {
        let (printed, _) = exported.try_export(format, more);
        assert_eq!(printed.status, Status::Failed, "{format} {more:?}");
        printed.messages
    };
    assert!(refused("folded", &["--window", "0-1"]).contains("does not take --window"));
    assert!(refused("chrome", &["-m", "time"]).contains("does not take -m"));
    assert!(refused("chrome", &["--window", "1-0"]).contains("the earlier one first"));
    assert!(refused("folded", &["--ranks", "9"]).contains("no such ranks"));
    assert!(refused("folded", &["-m", "no_such"]).contains("no metric no_such"));
    assert!(refused("extrap", &["--param", "n"]).contains("--param n"));
    let report = exported.report.to_str().unwrap();
    assert!(run(80, &["export", "csv", report]).messages.contains("name a directory with -o"));
    assert!(
        run(80, &["export", "folded", report]).results.starts_with("main 1500000000\n"),
        "standard output"
    );
    assert!(run(80, &["export", "folded", report, "-o", "/dev/full"]).messages.contains("No space left"));
}

#[test]
fn runs_of_one_program_are_repetitions_and_ranges() {
    let exported = plain();
    let report = exported.report.to_str().unwrap();
    let bmf: Value = serde_json::from_str(&run(80, &["export", "bmf", report, report]).results).unwrap();
    assert_eq!(
        bmf["solver"]["run"],
        serde_json::json!({"value": 0.75, "lower_value": 0.75, "upper_value": 0.75})
    );
    assert_eq!(bmf["solver"]["findings.note"]["value"], 3.0);
    let directory = tempfile::tempdir().unwrap();
    let other = directory.path().join("other.cubex");
    let mut maker = crate::support::Maker::new(3);
    let time = maker.metric("time", None);
    let main = maker.call("main", None);
    maker.row(time, main, &[1.0, 1.0, 1.0]);
    maker.write(&other, &[]);
    let mixed = run(200, &["export", "bmf", report, other.to_str().unwrap()]);
    assert_eq!((mixed.status, mixed.results.as_str()), (Status::Failed, ""));
    assert!(mixed.messages.contains("expected runs of the same size"), "{}", mixed.messages);
    let list: Value = serde_json::from_str(&exported.text("github-benchmark", &[])).unwrap();
    assert_eq!(list[0]["name"], "solver: run");
    let text = exported.text("openmetrics", &[]);
    assert!(text.contains("# TYPE replay_run_seconds gauge\n# UNIT replay_run_seconds seconds\n"));
    assert!(text.contains("replay_run_seconds{program=\"solver\"} 0.75\n") && text.ends_with("# EOF\n"));
    let lines = run(80, &["export", "extrap", report, report, "--param", "n=1000", "-m", "time"]).results;
    assert_eq!(lines.lines().count(), 8);
    assert_eq!(
        lines.lines().nth(1),
        Some(
            "{\"params\":{\"n\":1000.0,\"p\":4.0},\"callpath\":\"main->work\",\"metric\":\"time\",\"value\":0.175}"
        )
    );
}

#[test]
fn paraver_has_states_events_and_messages_in_order() {
    let out = plain().export_kept("paraver");
    let trace = std::fs::read_to_string(out.1.join("trace.prv")).unwrap();
    let mut lines = trace.lines();
    assert_eq!(lines.next(), Some("#Paraver (01/01/1970 at 00:00):2000_ns:1(4):1:4(1:1,1:1,1:1,1:1),1"));
    assert_eq!(lines.next(), Some("c:1:1:4:1:2:3:4"));
    let mut last = 0;
    for line in lines {
        let fields: Vec<u64> = line.split(':').map(|field| field.parse().unwrap()).collect();
        let time = fields[5];
        assert!(time >= last && time <= 2000, "{line}");
        last = time;
        match fields[0] {
            1 => assert!(fields.len() == 8 && fields[6] > time && fields[6] <= 2000, "{line}"),
            2 => assert!(fields.len() >= 8 && fields.len().is_multiple_of(2), "{line}"),
            3 => assert_eq!(fields, [3, 1, 1, 1, 1, 200, 300, 2, 1, 2, 1, 50, 310, 1024, 7]),
            _ => panic!("{line}"),
        }
        assert!(fields[1..5].iter().all(|&number| number > 0), "{line}");
    }
    // MPI_Recv is 2 of point-to-point; its wait is on rank 0, of the first metric.
    for record in ["2:2:1:2:1:50:50000001:2", "1:2:1:2:1:50:310:3", "2:2:1:2:1:50:90000001:1:90000002:1"] {
        assert!(trace.lines().any(|line| line == record), "{record}:\n{trace}");
    }
    let labels = std::fs::read_to_string(out.1.join("trace.pcf")).unwrap();
    assert!(labels.contains(
        "9    50000001    MPI Point-to-point\nVALUES\n0      Outside MPI\n1      MPI_Send\n2      MPI_Recv\n"
    ));
    assert!(
        std::fs::read_to_string(out.1.join("critical_path.cfg")).unwrap().contains("evt_type 1 90000003")
    );
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn events_of_an_experiment_come_from_its_trace() {
    let exported = Exported::without_details();
    let experiment = exported.path().join("experiment");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/archives/imbalance_chain.4"), &experiment);
    std::fs::copy(&exported.report, experiment.join("trace.cubex")).unwrap();
    let export = |format: &str, more: &[&str]| {
        let printed = run(80, &[&["export", format, experiment.to_str().unwrap()], more].concat());
        assert_eq!(printed.status, Status::Done, "{}", printed.messages);
        printed.results
    };
    let text = export("events-csv", &[]);
    let count = |kind: &str| text.matches(kind).count();
    assert!(count(",Enter,") > 40 && count(",Enter,") == count(",Leave,"), "{}", text.lines().count());
    assert!(count("MPI_Recv,1,0") > 0);
    let value: Value = serde_json::from_str(&export("chrome", &[])).unwrap();
    let events = value["traceEvents"].as_array().unwrap();
    let flows = |phase: &str| events.iter().filter(|it| it["ph"] == phase).count();
    assert!(flows("s") > 2 && flows("s") == flows("f"), "{}", flows("s"));
    let one = export("events-csv", &["--ranks", "1", "--window", "0-0.01"]);
    assert!(one.lines().count() > 1 && one.lines().count() < text.lines().count());
    assert!(one.lines().skip(1).all(|line| line.ends_with(",1,0")));
    let refused = run(80, &["export", "events-csv", experiment.to_str().unwrap(), "--window", "9-10"]);
    assert_eq!(refused.status, Status::Failed);
    assert!(refused.messages.contains("--window: there are no events in this time"), "{}", refused.messages);
}

impl Exported {
    /// An export, and the directory that it is in.
    fn export_kept(self, format: &str) -> (Exported, std::path::PathBuf) {
        let out = self.export(format, &[]);
        (self, out)
    }
}
