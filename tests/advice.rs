//! Advice: the first one of archives whose cause is known, laws for any trace, and rules of users (advice 8).

use std::path::{Path, PathBuf};
use std::process::Command;

use cubex::Report;
use details::advice::{ADVICE, AdviceFile};
use generate::{Job, PATTERNS};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, WhatIf};

use crate::interop::python;
use crate::support::advice::{asking, of};
use crate::support::run::analyze;
use crate::support::{archive, archives, in_memory, name, project, workers};

fn advice(experiment: &Path) -> AdviceFile {
    let directory = in_memory();
    of(&asking(experiment, &directory.path().join("trace.cubex"))).0
}

/// The first advice of archives, with what it saves at least, in per cent of the run.
const FIRST: &[(&str, &str, f64)] = &[
    ("barrier.4", "work/dynamic", 70.0),
    ("comms.4", "sync/barrier", 30.0),
    ("imbalance_chain.4", "p2p/pipeline", 15.0),
    ("imbalance_chain.8", "p2p/pipeline", 30.0),
    ("late_receiver.4", "work/few-ranks", 40.0),
    ("late_receiver_nb.4", "work/few-ranks", 10.0),
    ("late_sender.4", "work/few-ranks", 40.0),
    ("late_sender_nb.3", "p2p/late-send", 30.0),
    ("late_sender_nb.4", "p2p/late-send", 30.0),
    ("master_worker.4", "master/prefetch", 5.0),
    ("master_worker.6", "master/prefetch", 5.0),
    ("nxn.4", "work/dynamic", 60.0),
    ("nxn.8", "work/dynamic", 80.0),
    ("persistent.4", "work/one-rank", 50.0),
    ("rooted.4", "work/dynamic", 50.0),
    ("rooted.5", "work/dynamic", 50.0),
    ("sendrecv.2", "work/static", 20.0),
    ("sendrecv.4", "work/static", 30.0),
    ("wildcard.4", "work/few-ranks", 40.0),
    ("wrong_order.4", "work/one-rank", 40.0),
    ("wrong_order_diff.4", "work/one-rank", 40.0),
];

#[test]
fn first_advice_of_archives_is_their_cause() {
    let mut wrong = Vec::new();
    for &(name, rule, percent) in FIRST {
        let found = advice(&archive(name));
        let first = found.advice.first();
        let share = first.and_then(|first| Some(100.0 * first.gain.expected? / found.run.seconds));
        if first.map(|first| first.rule.as_str()) != Some(rule) || share.is_none_or(|share| share < percent) {
            wrong.push(format!("{name}: {:?}, {share:?}, expected {rule}", first.map(|first| &first.rule)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn work_that_is_done_in_turn_is_not_advised_to_be_shared() {
    // In a chain the rank with most work has 84 % of the delay costs, and nothing is saved by sharing its work.
    for name in ["imbalance_chain.4", "imbalance_chain.8"] {
        let found = advice(&archive(name));
        let also = found.advice.iter().flat_map(|it| it.also.iter().map(|also| &also.rule));
        let rules: Vec<&String> = found.advice.iter().map(|it| &it.rule).chain(also).collect();
        assert!(rules.iter().all(|rule| !rule.starts_with("work/")), "{name}: {rules:?}");
    }
}

/// What is wrong with advice for any trace.
fn broken(name: &str, experiment: &Path, file: &AdviceFile) -> Vec<String> {
    let mut broken = Vec::new();
    for it in &file.advice {
        let gain = &it.gain;
        if gain.most > file.run.seconds || gain.expected.is_some_and(|expected| expected > gain.most) {
            broken.push(format!("{name}: {}: {gain:?} of {}", it.rule, file.run.seconds));
        }
        if gain.expected.unwrap_or(gain.most) < 0.009_99 * file.run.seconds || it.share < 0.009_99 {
            broken.push(format!("{name}: {}: too small: {gain:?}, {}", it.rule, it.share));
        }
        let is_sure = it.hidden.as_deref() != Some("low confidence");
        if !(0.0..=1.0).contains(&it.confidence)
            || (it.confidence >= 0.4) != is_sure
            || it.text.contains("unknown")
        {
            broken.push(format!("{name}: {}: {}, {}", it.rule, it.confidence, it.text));
        }
        // What is said to be replayed is what a user gets who asks for it.
        let Some(scenario) = &it.scenario else { continue };
        let directory = in_memory();
        let what_if =
            WhatIf::parse(scenario).map_err(|error| format!("{name}: {scenario}: {error}")).unwrap();
        let options = Options {
            what_if: Some(what_if),
            causes: false,
            ..asking(experiment, &directory.path().join("trace.cubex"))
        };
        let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
        let what_if = outcome.summary.unwrap().what_if.unwrap();
        let saved = what_if.run - what_if.gains[0].seconds;
        // Where that is a bound, it is the least one.
        if (saved - gain.expected.unwrap_or(gain.most)).abs() > 1e-9 {
            broken.push(format!("{name}: {scenario}: {saved} replayed, {gain:?}"));
        }
    }
    let together = file.together.unwrap_or(0.0);
    if together > file.run.seconds || !together.is_finite() {
        broken.push(format!("{name}: {together} together"));
    }
    broken
}

#[test]
fn gains_of_any_trace_are_bounded_and_those_of_the_scenarios_that_are_named() {
    let mut wrong = Vec::new();
    for experiment in archives() {
        wrong.extend(broken(&name(&experiment), &experiment, &advice(&experiment)));
    }
    for pattern in PATTERNS {
        let directory = in_memory();
        let trace = directory.path().join("trace");
        generate::generate(&Job::new(pattern, 4, 400), &trace).unwrap();
        wrong.extend(broken(pattern.name, &trace, &advice(&trace)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn advice_is_the_same_with_any_workers() {
    for name in
        ["barrier.4", "comms.7", "late_sender_nb.4", "master_worker.6", "rma.4", "hybrid.2x3", "skewed.4"]
    {
        let alone = advice(&archive(name));
        for (threads, processes) in [(2, 1), (1, 2), (2, 2), (1, 3)] {
            let directory = in_memory();
            let report = directory.path().join("trace.cubex");
            let options = Options { threads, ..asking(&archive(name), &report) };
            workers::analyze_with(&options, processes).into_iter().for_each(|outcome| drop(outcome.unwrap()));
            let report = Report::open(&report).unwrap();
            let bytes = report.member(ADVICE).unwrap().unwrap();
            assert_eq!(AdviceFile::parse(&bytes).unwrap(), alone, "{name}, {processes} x {threads}");
        }
    }
}

#[test]
fn advice_for_programs_keeps_to_its_schema() {
    let has_schemas = |python: &PathBuf| {
        Command::new(python).args(["-c", "import jsonschema"]).output().is_ok_and(|it| it.status.success())
    };
    let Some(python) = python().filter(has_schemas) else { return };
    let directory = in_memory();
    let mut check = Command::new(python);
    check.arg(project("replay/show/tests/export/judges/schema.py"));
    check.arg(project("docs/schemas/replay-advice.json"));
    for name in ["barrier.4", "rma.4", "comms.7", "io.4", "self_and_null.4"] {
        let (_, bytes) = of(&asking(&archive(name), &directory.path().join(format!("{name}.cubex"))));
        let file = directory.path().join(format!("{name}.json"));
        std::fs::write(&file, bytes).unwrap();
        check.arg(file);
    }
    let output = check.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A rule of a user about a library of their own: here about the function of an archive.
const OF_A_USER: &str = r#"format = 1
library = "mylib 2"

[[rule]]
id = "mylib/work"
refines = ["work/dynamic"]
over = "culprit"
where = 'matches(region, "wo?k")'
[rule.finds]
when = "cost >= 1 % * run.all"
severity = "cost"
most = "phase"
scenario = "spread=path"
change = "path"
title = "Work of mylib is uneven"
advice = "Call mylib_share() in {region}."
"#;

#[test]
fn rule_of_a_user_that_is_finer_speaks_in_place_of_that_of_the_program() {
    let directory = in_memory();
    let file = directory.path().join("mine.toml");
    std::fs::write(&file, OF_A_USER).unwrap();
    let report = directory.path().join("trace.cubex");
    let output = analyze([
        archive("barrier.4").as_os_str(),
        "--what-if".as_ref(),
        "-o".as_ref(),
        report.as_os_str(),
        "--rules".as_ref(),
        file.as_os_str(),
    ]);
    let text = &output.expect(0).stdout;
    assert!(text.contains("Work of mylib is uneven"), "{text}");
    assert!(text.contains("Call mylib_share() in work."), "{text}");
    let bytes = Report::open(&report).unwrap().member(ADVICE).unwrap().unwrap();
    assert_eq!(AdviceFile::parse(&bytes).unwrap().advice[0].rule, "mylib/work");
}

#[test]
fn example_of_the_documentation_finds_the_cause_in_the_library_as_it_is_shown_there() {
    let page = std::fs::read_to_string(project("docs/rules.md")).unwrap();
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let directory = in_memory();
    let file = directory.path().join("mylib.toml");
    std::fs::write(&file, example).unwrap();
    let report = directory.path().join("trace.cubex");
    let with =
        ["--what-if".as_ref(), "-o".as_ref(), report.as_os_str(), "--rules".as_ref(), file.as_os_str()];
    let output = analyze([archive("nxn.4").as_os_str()].into_iter().chain(with));
    let text = &output.expect(0).stdout;
    let block = text.split_once("\nAdvice").and_then(|(_, rest)| rest.split_once("\n\n")).unwrap().0;
    let indented: String = format!("Advice{block}").lines().map(|line| format!("    {line}\n")).collect();
    assert!(page.contains(&indented), "{indented}");
    let bytes = Report::open(&report).unwrap().member(ADVICE).unwrap().unwrap();
    let found = AdviceFile::parse(&bytes).unwrap().advice;
    assert_eq!((found[0].rule.as_str(), found[1].rule.as_str()), ("mylib/solver-work", "mylib/solver-waits"));
    assert_eq!((found[0].library.as_deref(), &*found[0].evidence), (Some("mylib 2.1"), &[][..]));
    let evidence: Vec<&str> = found[1].evidence.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(evidence, ["share", "max(mpi_wait_nxn)"]);
    // 0.179 s of 4 threads in 0.217 s.
    let share = found[1].evidence[0].value.unwrap();
    assert!((share - found[1].share).abs() < 1e-9, "{share}");
    assert!(found[1].evidence[1].value.is_some_and(|seconds| seconds > 0.0 && seconds < found[1].seconds));
    let plain = advice(&archive("nxn.4"));
    assert!(plain.advice.iter().all(|it| it.library.is_none()));
}

/// The rules that speak, also below others, of an archive with files of a user.
fn speaking(name: &str, files: &[&str]) -> Vec<String> {
    let directory = in_memory();
    let rules = files
        .iter()
        .enumerate()
        .map(|(at, text)| rules::Source::new(format!("{at}.toml"), format!("format = 1\n{text}")));
    let report = directory.path().join("trace.cubex");
    let (file, _) = of(&Options { rules: rules.collect(), ..asking(&archive(name), &report) });
    let also = |it: details::advice::Advised| it.also.into_iter().map(|also| also.rule);
    file.advice.into_iter().flat_map(|it| [it.rule.clone()].into_iter().chain(also(it))).collect()
}

#[test]
fn sets_of_users_switch_rules_off_and_set_their_numbers_and_protected_paths() {
    let barrier = "sync/barrier".to_owned();
    assert!(speaking("comms.4", &[]).contains(&barrier));
    let of_barriers = "protects = ['patterns/main/comms/MPI_Barrier', 'x']";
    let paths = ["protects = ['*/comms']", "protects = ['*/comms/*']", "protects = 'patterns'", of_barriers];
    for set in ["off = true", "when.share = '99 %'"].into_iter().chain(paths) {
        let file = format!("[set.'sync/barrier']\n{set}");
        let found = speaking("comms.4", &[&file]);
        assert!(!found.contains(&barrier), "{set}: {found:?}");
    }
    for set in ["off = false", "when.share = '2 %'", "protects = ['*/other', 'comms']"] {
        let file = format!("[set.'sync/barrier']\n{set}");
        assert!(speaking("comms.4", &[&file]).contains(&barrier), "{set}");
    }
}

#[test]
fn rules_that_the_environment_names_are_read_in_front_of_those_of_the_command_line() {
    let directory = in_memory();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("mine.toml"), OF_A_USER).unwrap();
    std::fs::write(path("set.toml"), "format = 1\n[set.'mylib/work']\nfinds.title = 'Set'\n").unwrap();
    std::fs::write(path("again.toml"), "format = 1\n[set.'mylib/work']\nfinds.title = 'Other'\n").unwrap();
    let value = |names: &[&str]| {
        names.iter().map(|name| path(name).display().to_string()).collect::<Vec<_>>().join(":")
    };
    let run = |files: &str, more: &[&Path]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_replay-analyze"));
        command.arg(archive("barrier.4")).arg("-o").arg(path("trace.cubex")).arg("--force").args(more);
        let output = command.env("REPLAY_RULES", files).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let asking = [Path::new("--what-if")];
    let (status, text, _) = run(&format!(":{}", value(&["set.toml", "mine.toml"])), &asking);
    assert!(status == Some(0) && text.contains("Set: "), "{text}");
    let (_, _, text) = run(&value(&["mine.toml", "none.toml"]), &asking);
    assert!(
        text.starts_with("replay-analyze: REPLAY_RULES: cannot read ") && text.contains("none.toml"),
        "{text}"
    );
    let again = path("again.toml");
    let with_rules = [Path::new("--what-if"), Path::new("--rules"), &again];
    let (status, _, text) = run(&value(&["mine.toml", "set.toml"]), &with_rules);
    let message = format!(
        "{}:3:16: finds.title of \"mylib/work\" is set twice, first in {}\n",
        again.display(),
        value(&["set.toml"])
    );
    assert!(status == Some(2) && text.starts_with(&message), "{text}");
    std::fs::write(path("bad.toml"), "format = 2\n").unwrap();
    let (status, _, text) = run(&value(&["bad.toml"]), &asking);
    let last = format!("{} is read as REPLAY_RULES says", value(&["bad.toml"]));
    assert!(status == Some(2) && text.lines().last() == Some(&last), "{text}");
    // Where no advice is looked for, they are of no use, and no reason to fail.
    assert_eq!(run(&value(&["bad.toml"]), &[]).0, Some(0));
}

#[test]
fn rule_of_the_program_is_printed_as_a_file_of_rules() {
    let output = analyze(["--print-rule", "sync/barrier"]);
    let text = &output.expect(0).stdout;
    assert!(text.contains("\nformat = 1\n\n[[rule]]\nid = \"sync/barrier\"\n"), "{text}");
    assert!(text.contains("# when.share = \"1 %\"\n") && !text.contains("sync/communicators"), "{text}");
    let output = analyze(["--print-rule", "sync/barrie"]);
    let message = "replay-analyze: no rule \"sync/barrie\", did you mean \"sync/barrier\"?\n";
    assert_eq!(output.expect(2).stderr, message);
}

#[test]
fn file_of_rules_with_errors_is_refused_with_all_of_them() {
    let directory = in_memory();
    let file = directory.path().join("bad.toml");
    let wrong = OF_A_USER
        .replace("cost >= 1 % * run.all", "cost >= 4 KiB")
        .replace("severity = \"cost", "severity = \"cst");
    std::fs::write(&file, wrong).unwrap();
    let (trace, report) = (archive("barrier.4"), directory.path().join("trace.cubex"));
    let checks = analyze(["--check-rules".as_ref(), file.as_os_str()]);
    let with =
        ["--what-if".as_ref(), "-o".as_ref(), report.as_os_str(), "--rules".as_ref(), file.as_os_str()];
    let analyses = analyze([trace.as_os_str()].into_iter().chain(with));
    for output in [checks, analyses] {
        let text = &output.expect(2).stderr;
        assert!(text.contains("bad.toml:10:") && text.contains("bad.toml:11:"), "{text}");
    }
    assert!(!report.exists());
    // Nothing would ever be said by a rule whose scenario is none.
    std::fs::write(&file, OF_A_USER.replace("spread=path", "wibble=path")).unwrap();
    let output = analyze(["--check-rules".as_ref(), file.as_os_str()]);
    let text = &output.expect(2).stderr;
    let line = 1 + OF_A_USER.lines().position(|line| line.starts_with("scenario")).unwrap();
    assert!(text.contains(&format!("bad.toml:{line}:13: scenario \"wibble\", expected balance, ")), "{text}");
    std::fs::write(&file, OF_A_USER.replace("spread=path", "spread=main/work")).unwrap();
    let output = analyze(["--check-rules".as_ref(), file.as_os_str()]);
    let text = &output.expect(2).stderr;
    assert!(
        text.contains("scenario \"spread\" without a place, expected spread= with a call path"),
        "{text}"
    );
    let good = directory.path().join("good.toml");
    std::fs::write(&good, OF_A_USER).unwrap();
    assert_eq!(analyze(["--check-rules".as_ref(), good.as_os_str()]).expect(0).stderr, "");
    analyze([archive("barrier.4").as_os_str(), "--rules".as_ref(), good.as_os_str()]).expect(2);
}
