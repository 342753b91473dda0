//! Time off the processor is that of the system's own account, at the call path where it passed, and the summary says it of those
//! whom it makes late.

use std::collections::BTreeMap;

use details::advice::{ADVICE, AdviceFile};
use replay::exchange::Solo;
use replay::metrics::{Metrics, Parts};
use replay::options::Semantics;
use replay::progress::Progress;
use replay::{DetailsPlace, Options, WhatIf};

use crate::support::archive;
use crate::support::process::Ended;
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::{NamedReport, findings};

/// A region of a rank, by the system's account.
#[derive(Clone, Copy, Debug)]
struct Told {
    wall: f64,
    processor: f64,
    blockings: f64,
    /// The same of all between the last moment before the region and the first one behind it.
    around: [f64; 3],
}

impl Told {
    /// The least and the most time off the processor that the region may have.
    fn off(&self) -> [f64; 2] {
        [self.wall - self.processor, self.around[0] - self.around[1]]
    }
}

/// What the program has printed, by region and rank.
fn told(ended: &Ended) -> BTreeMap<(String, usize), Told> {
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [rank, region, numbers @ ..] = &words[..] else { panic!("{line}") };
        let numbers: Vec<f64> = numbers.iter().map(|word| word.parse().unwrap()).collect();
        let [wall, processor, blockings, around @ ..] = &numbers[..] else { panic!("{line}") };
        let around = around.try_into().unwrap();
        let told = Told { wall: *wall, processor: *processor, blockings: *blockings, around };
        ((region.to_string(), rank.parse().unwrap()), told)
    };
    ended.stdout.lines().map(line).collect()
}

/// Records the program, unless the system does not permit records of switches.
fn recorded(test: &str, ranks: u32, arguments: &[&str]) -> Option<(Subject, Ended)> {
    let subject = Subject::new(test, "switches/off_cpu.c", ranks, arguments)?.option("--off-cpu=on");
    let ended = subject.run_recorded(Invocation::InFront);
    ended.expect_success();
    if ended.stderr.contains("the system permits no records") {
        skip::skip(skip::Need::System, format!("{test}: {}", ended.stderr));
        return None;
    }
    assert_eq!(archive::refusal(&subject.experiment), None);
    assert_eq!(archive::difference(&subject.experiment), None);
    Some((subject, ended))
}

/// The rules of what is advised, the first one first.
fn advised(subject: &Subject) -> Vec<String> {
    let report = subject.folder.join("advice.cubex");
    let options = Options {
        what_if: Some(WhatIf::parse("").unwrap()),
        details: Some(DetailsPlace::Nowhere),
        report: Some(report.clone()),
        structure: false,
        ..Options::new(&subject.experiment)
    };
    replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
    let bytes = cubex::Report::open(&report).unwrap().member(ADVICE).unwrap().unwrap();
    AdviceFile::parse(&bytes).unwrap().advice.into_iter().map(|it| it.rule).collect()
}

/// Checks that the report says of each region what the system does, within a twentieth or 3 ms.
fn expect_account(report: &NamedReport, told: &BTreeMap<(String, usize), Told>) {
    for ((region, rank), told) in told {
        let paths = report.within(region);
        assert!(!paths.is_empty(), "{region}");
        let value = |metric: &str| report.value(metric, &paths, *rank);
        let (off, [least, most]) = (value("off_cpu"), told.off());
        let about = format!("{region} of rank {rank}: {off} s, {told:?}");
        assert!(off > 0.95 * least - 0.003 && off < 1.05 * most + 0.003, "{about}");
        // Loading a page for the first time may block, too, where the recorder does it.
        let blockings = value("blockings");
        assert!(blockings >= told.blockings - 3.0 && blockings <= told.around[2] + 3.0, "{about}");
    }
}

/// Returns the lines of each culprit of a summary as one.
fn culprits(summary: &str) -> Vec<String> {
    let lines = summary.lines().skip_while(|line| !line.starts_with("Who made others wait")).skip(1);
    let mut culprits: Vec<String> = Vec::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        match line.contains(" s  ") {
            true => culprits.push(line.trim().to_owned()),
            false => *culprits.last_mut().unwrap() += &format!(" {}", line.trim()),
        }
    }
    culprits
}

#[test]
fn rank_beside_others_on_its_processor_is_preempted_and_one_that_sleeps_is_blocked() {
    let Some((subject, ended)) = recorded("off_cpu_crowded", 2, &["crowded"]) else { return };
    let analysis = analyze(&subject.experiment, &subject.folder);
    analysis.expect_success();
    assert_eq!(findings(&subject.experiment), []);
    let report = NamedReport::read(&subject.experiment);
    let told = told(&ended);
    expect_account(&report, &told);
    let of = |metric: &str, region: &str, rank: usize| report.value(metric, &report.within(region), rank);
    let work = told[&("work".into(), 0)];
    let preempted = of("off_cpu_preempted", "work", 0);
    assert!(preempted > 0.9 * (work.wall - work.processor) && of("preemptions", "work", 0) > 10.0);
    assert!(of("off_cpu_blocked", "work", 0) < 0.02, "it has not waited in the system");
    assert!(of("off_cpu_blocked", "rest", 1) > 0.29 && of("off_cpu_blocked", "work", 1) < 0.1);
    // Nobody has asked for a core of its own, so it is late, and why it is can be read.
    let culprits = culprits(&analysis.stdout);
    let first = culprits[0].split("% more work than the mean").nth(1).unwrap();
    assert!(first.contains("% of it not running: others had its processor"), "{culprits:?}");
}

#[test]
fn rank_that_others_wait_for_since_it_lacks_its_processor_is_advised_to_get_it() {
    let Some((subject, ended)) = recorded("off_cpu_beside", 2, &["beside"]) else { return };
    let told = told(&ended);
    let [busy, free] = [0, 1].map(|rank| told[&("work".into(), rank)]);
    // Both ranks compute as much. Where there is one processor for both, or others are busy, both lack it.
    if free.wall > 1.1 * free.processor || busy.wall < 1.5 * busy.processor {
        return;
    }
    let advice = advised(&subject);
    assert_eq!(advice.first().map(String::as_str), Some("work/preempted"), "{advice:?}");
}

#[test]
fn ranks_that_share_a_processor_while_others_have_their_own_are_advised_to_be_fewer() {
    let Some((subject, ended)) = recorded("off_cpu_shared", 3, &["shared"]) else { return };
    let told = told(&ended);
    let [one, free, other] = [0, 1, 2].map(|rank| told[&("work".into(), rank)]);
    let shares = |told: Told| told.wall > 1.5 * told.processor;
    // As above.
    if free.wall > 1.1 * free.processor || !shares(one) || !shares(other) {
        return;
    }
    let advice = advised(&subject);
    assert_eq!(advice.first().map(String::as_str), Some("work/crowded"), "{advice:?}");
}

#[test]
fn rank_that_has_a_processor_of_its_own_is_not_said_to_lack_it() {
    let Some((subject, ended)) = recorded("off_cpu_alone", 2, &["alone"]) else { return };
    let analysis = analyze(&subject.experiment, &subject.folder);
    analysis.expect_success();
    let report = NamedReport::read(&subject.experiment);
    let told = told(&ended);
    expect_account(&report, &told);
    let work = told[&("work".into(), 0)];
    if work.off()[1] < 0.01 * work.wall {
        // Nobody need stand out, as both ranks have as much to do.
        let culprits = culprits(&analysis.stdout);
        for own in culprits.iter().filter(|it| it.contains("rank 0 in") && it.contains("/work")) {
            assert!(!own.contains("others had its processor"), "{own}");
        }
        assert!(!advised(&subject).contains(&"work/preempted".to_string()));
    }
}

#[test]
fn threads_beyond_the_limit_of_locked_memory_go_without_and_nobody_is_told_unless_asked() {
    let threads = "40";
    let Some(subject) = Subject::new("off_cpu_threads", "switches/off_cpu.c", 2, &["alone", threads]) else {
        return;
    };
    let subject = subject.with("REPLAY_OFF_CPU", "auto");
    let ended = subject.run_recorded(Invocation::InFront);
    ended.expect_success();
    assert!(!ended.stderr.contains("permits no records"), "{}", ended.stderr);
    assert_eq!(archive::refusal(&subject.experiment), None);
    analyze(&subject.experiment, &subject.folder).expect_success();
    assert_eq!(findings(&subject.experiment), []);
    // Each of them has slept.
    let report = NamedReport::read(&subject.experiment);
    let threads = report.within("thread");
    let blocked: f64 = (0..report.locations()).map(|at| report.value("off_cpu_blocked", &threads, at)).sum();
    let is_permitted = report.has("off_cpu");
    assert!(!is_permitted || blocked > 0.0, "{blocked}");
}

#[test]
fn switches_beyond_the_buffer_are_said_to_be_lost_and_their_time_is_known_all_the_same() {
    let Some((subject, ended)) = recorded("off_cpu_often", 2, &["often"]) else { return };
    assert!(ended.stderr.contains("records of switches of a thread were lost"), "{}", ended.stderr);
    analyze(&subject.experiment, &subject.folder).expect_success();
    let report = NamedReport::read(&subject.experiment);
    let told = told(&ended)[&("rest".into(), 1)];
    let found = |metric: &str| report.value(metric, &report.within("rest"), 1);
    assert!(told.blockings >= 2900.0 && (100.0..told.blockings).contains(&found("blockings")), "{told:?}");
    let (off, [least, most]) = (found("off_cpu"), told.off());
    assert!(off > 0.95 * least - 0.003 && off < 1.05 * most + 0.003, "{off} s, {told:?}");
    assert!(found("off_cpu_blocked") > 0.5 * off);
}

#[test]
fn where_the_system_tells_nothing_there_are_sums_of_threads_and_a_notice_if_asked() {
    let Some(subject) = Subject::new("off_cpu_forbidden", "switches/off_cpu.c", 2, &["forbidden"]) else {
        return;
    };
    let subject = subject.option("--off-cpu=on").option("--counters=page-faults");
    let ended = subject.run_recorded(Invocation::InFront);
    ended.expect_success();
    assert!(ended.stderr.contains("the system permits no records of its switches"), "{}", ended.stderr);
    assert!(ended.stderr.contains("page-faults is not recorded: the system does not permit it"));
    assert_eq!(archive::counts(&subject.experiment).get("Metric"), None);
    let mut usage = 0;
    archive::each_definition(&subject.experiment, |definition| {
        usage += usize::from(matches!(definition, otf2::Definition::LocationProperty { .. }));
    });
    assert_eq!(usage, 2 * 7);
    analyze(&subject.experiment, &subject.folder).expect_success();
    assert!(!NamedReport::read(&subject.experiment).has("off_cpu"));
}

#[test]
fn recording_without_it_has_neither_records_nor_metrics() {
    let Some(subject) = Subject::new("off_cpu_off", "switches/off_cpu.c", 2, &["alone"]) else { return };
    let subject = subject.option("--off-cpu=off");
    subject.run_recorded(Invocation::InFront).expect_success();
    assert_eq!(archive::counts(&subject.experiment).get("Metric"), None);
    analyze(&subject.experiment, &subject.folder).expect_success();
    assert!(!NamedReport::read(&subject.experiment).has("off_cpu"));
    // The reference has no such metrics at all.
    let parts = Parts { off_cpu: true, ..Parts::default() };
    assert!(Metrics::of_analysis(parts, Semantics::Reference).off_cpu.is_none());
}
