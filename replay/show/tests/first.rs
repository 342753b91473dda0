//! The first screen: every sentence is true of what the report has.

use serde_json::{Value, json};
use show::status::Status;

use crate::support::example::{self, Names};
use crate::support::{Maker, run};

/// The first screen of a report.
fn shown(write: impl FnOnce(&std::path::Path)) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    write(&path);
    let printed = run(400, &[path.to_str().unwrap()]);
    assert_eq!(printed.status, Status::Done, "{}", printed.messages);
    printed.results
}

/// The first screen of the example with another summary.
fn changed(change: impl FnOnce(&mut Value)) -> String {
    shown(|path| {
        example::write(path, &Names::default(), |members| {
            let (_, bytes) = members.iter_mut().find(|(name, _)| name == "replay.json").unwrap();
            let mut manifest: Value = serde_json::from_slice(bytes).unwrap();
            change(&mut manifest["summary"]);
            *bytes = (manifest.to_string() + "\n").into_bytes();
        });
    })
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn shares_are_of_the_waiting_and_waiting_without_cause_is_said() {
    let text = changed(|summary| summary["costs"] = json!(0.2));
    assert_has(
        &text,
        &["75 % of it because of work on rank 0.", "No cause is known for 17 % of the waiting."],
    );
    assert_has(&text, &["others wait 0.180 s, 75 % of all waiting"]);
    assert!(!changed(|_| {}).contains("No cause"));
}

#[test]
fn shares_are_of_the_recorded_time_and_nothing_is_advised_about_the_rest() {
    let text = shown(|path| example::report_with_off("measurement").write(path, &[]));
    assert_has(
        &text,
        &["71.9 % of the recorded time is waiting.", "46 % of it recorded", "Where recorded time went"],
    );
    assert_has(
        &text,
        &["Recording was off where 29 % of all delay costs were caused: by what is not known."],
    );
    assert!(!text.contains("MEASUREMENT OFF"), "{text}");
    // A function of the program.
    let text = shown(|path| example::report_with_off("compiler").write(path, &[]));
    assert_has(&text, &["32.7 % of the time is waiting.", "Where time went", "MEASUREMENT OFF"]);
    assert!(!text.contains("recorded") && !text.contains("Recording"), "{text}");
}

#[test]
fn time_that_was_not_recorded_is_in_the_manifest_too() {
    let text = changed(|summary| summary["not_recorded"] = json!(1.002));
    assert_has(
        &text,
        &["71.9 % of the recorded time is waiting", "25 % of it recorded", "Where recorded time went"],
    );
    let text = changed(|_| {});
    assert_has(&text, &["71.9 % of the time is waiting", "Where time went"]);
}

#[test]
fn costs_that_are_more_than_the_waiting_are_no_part_of_it() {
    let text = changed(|summary| summary["costs"] = json!(0.5));
    assert_has(&text, &["The largest delay costs are those of work on rank 0: 0.180 s, 36 % of all."]);
    assert_has(&text, &["36 % of all delay costs"]);
    assert!(!text.contains("of it because"), "{text}");
}

#[test]
fn several_places_are_all_named_with_their_sum() {
    let text = changed(|summary| summary["culprits"][0]["more_work"] = Value::Null);
    assert_has(&text, &["Let work end earlier on ranks 0–1: others wait 0.210 s, 88 % of all waiting"]);
    assert_has(&text, &["rank 0: 0.180 s, rank 1: 0.0300 s; of rank 0: late senders in MPI_Recv"]);
    let text = changed(|summary| summary["culprits"][1]["more_work"] = json!(0.3));
    assert_has(&text, &["Balance work on ranks 0–1: others wait 0.210 s"]);
    assert_has(&text, &["of rank 0: 170 % more work than the mean; late senders"]);
}

#[test]
fn time_in_mpi_does_not_contradict_the_coverage() {
    let text = changed(|summary| summary["culprits"][0]["is_unexplained"] = json!(true));
    assert_has(&text, &["coverage 100 %", "Look into work on rank 0: time in MPI that is no wait state"]);
    assert!(!text.contains("not explain"), "{text}");
}

#[test]
fn doubtful_waits_are_at_most_all_of_them() {
    let text = changed(|summary| {
        summary["clocks"]["doubts"] = json!([
            {"metric": "mpi_latesender", "seconds": 0.12, "of": 0.12},
            {"metric": "mpi_latesender_wo", "seconds": 0.06, "of": 0.06},
        ]);
    });
    assert_has(&text, &["50 % of the waiting may be nothing else"]);
}

#[test]
fn reports_without_details_say_that_they_have_no_times_of_init() {
    let text = shown(|path| example::report(&Names::default()).write(path, &[]));
    assert_has(&text, &["(also before MPI_Init and after MPI_Finalize)"]);
    assert!(!changed(|_| {}).contains("also before"));
}

#[test]
fn idle_threads_count_in_the_headline_as_in_the_classes() {
    let text = shown(|path| {
        let mut members = Vec::new();
        example::write(path, &Names::default(), |all| members.clone_from(all));
        let mut maker = example::report(&Names::default());
        let idle = maker.metric("omp_idle_threads", None);
        maker.row(idle, cubex::CnodeId(4), &[0.0, 0.334, 0.0, 0.0]);
        let members: Vec<(&str, &[u8])> = members.iter().map(|(name, it)| (&**name, &**it)).collect();
        maker.write(path, &members);
    });
    assert_has(&text, &["  35.9 % of the time is waiting"]);
}

/// The first screen of a program that spends most of its time in a call: its metrics, counts, and a further function.
fn spends(function: &str, metrics: &[&str], counts: &[(&str, f64)], other: &str) -> String {
    shown(|path| {
        let mut maker = Maker::new(2);
        let time = maker.metric("time", None);
        let overhead = maker.metric("overhead", Some(time));
        let mpi = maker.metric("mpi", Some(time));
        let mut parent = if metrics.is_empty() { overhead } else { mpi };
        let main = maker.call("main", None);
        let call = maker.call(function, Some(main));
        maker.call(other, Some(main));
        maker.row(time, main, &[0.2, 0.2]);
        let mut of_call = vec![time, parent];
        for name in metrics {
            parent = maker.metric(name, Some(parent));
            of_call.push(parent);
        }
        of_call.into_iter().for_each(|metric| maker.row(metric, call, &[0.8, 0.8]));
        for &(name, count) in counts {
            let metric = maker.metric(name, None);
            maker.row(metric, call, &[count, count]);
        }
        maker.write(path, &[]);
    })
}

#[test]
fn communication_is_called_messages_only_if_there_are_any() {
    let messages = ["mpi_point2point"];
    let general = "MPI takes 80.0 % of the time without known waiting.";
    assert_has(&spends("MPI_Wait", &messages, &[], "MPI_Irecv"), &[general]);
    assert_has(&spends("MPI_Wait", &messages, &[("comms_send", 3.0)], "MPI_Iallreduce"), &[general]);
    let text = spends("MPI_Wait", &messages, &[("comms_send", 3.0), ("bytes_sent", 12.0)], "MPI_Irecv");
    assert_has(&text, &["without known waiting, most of it in small messages."]);
    assert_has(
        &spends("MPI_Recv", &messages, &[("comms_send", 3.0)], "MPI_Send"),
        &["most of it in messages."],
    );
}

#[test]
fn one_sided_synchronization_is_no_collective_operation() {
    let one_sided = ["mpi_synchronization", "mpi_rma_synchronization"];
    let text = spends("MPI_Win_complete", &one_sided, &[], "MPI_Win_start");
    assert_has(&text, &["most of it in one-sided communication and its synchronization."]);
    let text = spends("MPI_Barrier", &["mpi_synchronization", "mpi_sync_collective"], &[], "MPI_Send");
    assert_has(&text, &["most of it in collective operations."]);
}

#[test]
fn advice_against_overhead_fits_its_reason() {
    let of = |visits: f64| spends("TRACE BUFFER FLUSH", &[], &[("visits", visits)], "work");
    assert_has(
        &of(1.0),
        &["The recorder took 80.0 % of the time (1.600 s), most in main/TRACE BUFFER FLUSH."],
    );
    assert_has(&of(3.0), &["main/TRACE BUFFER FLUSH: give it more memory."]);
    assert_has(&of(1e6), &[": record less (filter), or give it more memory."]);
}

#[test]
fn time_of_other_requests_is_not_said_to_be_of_messages_alone() {
    let with = |function: &str| {
        let mut maker = Maker::new(1);
        let time = maker.metric("time", None);
        let mpi = maker.metric("mpi", Some(time));
        let messages = maker.metric("mpi_point2point", Some(mpi));
        let main = maker.call("main", None);
        let wait = maker.call("MPI_Wait", Some(main));
        maker.call(function, Some(main));
        for metric in [time, mpi, messages] {
            maker.row(metric, wait, &[1.0]);
        }
        shown(|path| maker.write(path, &[]))
    };
    assert_has(&with("MPI_Iallreduce"), &["Messages, requests"]);
    let text = with("MPI_Irecv");
    assert!(text.contains("Messages ") && !text.contains("requests"), "{text}");
}

#[test]
fn line_of_a_function_is_not_taken_for_that_of_a_call() {
    assert_has(&changed(|_| {}), &["app/main/solve/work (begins at /home/someone/src/solve.c:42): "]);
}

#[test]
fn time_in_mpi_is_no_wait_state_only_if_all_was_analysed() {
    for (fate, is_known) in [("time in MPI that is not explained", true), ("no partner in the trace", false)]
    {
        let text = changed(|summary| {
            summary["culprits"][0]["is_unexplained"] = json!(true);
            summary["coverage"] = json!([
                {"fate": "analysed", "seconds": 0.2}, {"fate": fate, "seconds": 0.01}
            ]);
        });
        let words = if is_known { "that is no wait state" } else { "that is not known to be waiting" };
        assert_has(&text, &[&format!("Look into work on rank 0: time in MPI {words}")]);
    }
}

/// Metric and advice of an action because of waiting at barriers of threads, as others wait at some region.
fn at_barrier(victims: &str, has_both: bool) -> (Value, Value) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let names = Names::default();
    let mut maker = example::report(&names);
    let waits = [maker.metric("omp_ebarrier_wait", None), maker.metric("omp_ibarrier_wait", None)];
    for (region, (name, role)) in
        [("explicit", "barrier"), ("implicit", "implicit barrier")].into_iter().enumerate()
    {
        let call = maker.call(name, Some(cubex::CnodeId(0)));
        let own = &mut maker.cube.regions[maker.cube.cnodes[call.0].region.0];
        (own.paradigm, own.role) = ("openmp".into(), role.into());
        if region == 0 || has_both {
            maker.row(waits[region], call, &[0.1; 4]);
        }
    }
    let mut manifest = example::manifest(&names);
    let culprit = &mut manifest.summary.culprits[0];
    culprit.kind = "waiting at OpenMP barriers".into();
    culprit.victims = Some(details::manifest::Part { text: victims.into(), share: 0.9 });
    maker.write(&path, &[("replay.json", &manifest.to_bytes())]);
    let printed = run(100, &[path.to_str().unwrap(), "--json"]);
    let json: Value = serde_json::from_str(&printed.results).expect("JSON");
    (json["actions"][0]["metric"].clone(), json["actions"][0]["advice"].clone())
}

#[test]
fn explicit_and_implicit_barriers_of_threads_have_their_own_advice() {
    let (explicit, advice) = at_barrier("in explicit of thread 0 of rank 0", true);
    assert_eq!(explicit, "omp_ebarrier_wait");
    assert!(advice.as_str().unwrap().contains("before the barrier"), "{advice}");
    let (implicit, other) = at_barrier("in implicit of thread 0 of rank 0", true);
    assert_eq!(implicit, "omp_ibarrier_wait");
    assert!(other.is_string() && other != advice, "{other}");
    // Which it is must be known.
    assert_eq!(at_barrier("of thread 0 of rank 0", true), (Value::Null, Value::Null));
    assert_eq!(at_barrier("in explicitly of rank 0", true), (Value::Null, Value::Null));
    assert_eq!(at_barrier("of thread 0 of rank 0", false).0, "omp_ebarrier_wait", "the report has no other");
}

#[test]
fn idle_time_is_told_to_scripts_if_the_report_has_it() {
    let idle = |has_idle: bool| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.cubex");
        let mut maker = Maker::new(2);
        let time = maker.metric("time", None);
        let work = maker.call("work", None);
        maker.row(time, work, &[1.0, 1.0]);
        if has_idle {
            let idle = maker.metric("omp_idle_threads", Some(time));
            maker.row(idle, work, &[0.25, 0.25]);
        }
        maker.write(&path, &[]);
        let printed = run(100, &[path.to_str().unwrap(), "--json"]);
        serde_json::from_str::<Value>(&printed.results).expect("JSON")["idle"].clone()
    };
    assert_eq!((idle(true), idle(false)), (json!(0.5), Value::Null));
}
