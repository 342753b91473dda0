//! Output of advice: its options, what is printed of it, and what the report and files have of it (advice 6).

use std::fs;
use std::path::{Path, PathBuf};

use cubex::Report;
use details::advice::{ADVICE, AdviceFile};
use details::what_if::WHAT_IF;

use crate::support::report::Table;
use crate::support::run::{Finished, analyze, analyze_with, mpirun};
use crate::support::{archive, archives, copy, in_memory};

/// Analyzes an archive with these options.
fn run(name: &str, report: &Path, options: &[&str]) -> Finished {
    let trace = archive(name);
    let fixed = [trace.to_str().unwrap(), "-o", report.to_str().unwrap(), "--details", "none"];
    analyze(fixed.iter().chain(options))
}

/// The bytes of advice in a report.
fn member(report: &Path) -> Option<Vec<u8>> {
    Report::open(report).unwrap().member(ADVICE).unwrap()
}

fn read(report: &Path) -> AdviceFile {
    AdviceFile::parse(&member(report).unwrap()).unwrap()
}

/// A rule that finds barriers, with little confidence.
const UNSURE: &str = r#"format = 1
[[rule]]
id = "mine/barrier"
over = "place"
where = 'matches(region, "MPI_Barrier")'
by = ["path"]
[rule.finds]
when = "sum(mpi_barrier_wait) >= 1 % * run.all"
severity = "sum(mpi_barrier_wait)"
most = "edges"
scenario = "remove=path"
confidence = "0.2"
claims = "waits"
change = "path"
title = "Nobody knows"
advice = "Think."
[set."sync/barrier"]
off = true
[set."work/dynamic"]
off = true
"#;

fn unsure(directory: &Path) -> String {
    let file = directory.join("unsure.toml");
    fs::write(&file, UNSURE).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn advice_without_the_standard_set_is_that_with_it() {
    let directory = in_memory();
    let (alone, with) = (directory.path().join("alone.cubex"), directory.path().join("with.cubex"));
    for name in ["master_worker.4", "skewed.4", "test_loop.4"] {
        let said = run(name, &alone, &["--advice"]);
        said.expect(0);
        run(name, &with, &["--what-if"]).expect(0);
        assert!(member(&alone).unwrap() == member(&with).unwrap(), "{name}");
        assert!(said.stdout.contains("dvice"), "{name}: {}", said.stdout);
        assert!(!said.stdout.contains("under other conditions"), "{name}: {}", said.stdout);
        assert_eq!(Report::open(&alone).unwrap().member(WHAT_IF).unwrap(), None, "{name}");
    }
    // Scenarios of the user do not change it, and have their own place.
    let said = run("skewed.4", &alone, &["--advice", "--what-if=ideal,rendezvous=0,split=MPI_Recv:2"]);
    said.expect(0);
    run("skewed.4", &with, &["--what-if"]).expect(0);
    assert!(member(&alone).unwrap() == member(&with).unwrap(), "{}", said.stdout);
    assert!(said.stdout.contains("under other conditions"), "{}", said.stdout);
}

#[test]
fn no_advice_is_looked_for_if_it_is_not_wanted() {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    for options in [&["--what-if", "--no-advice"][..], &["--no-advice"], &[], &["--what-if=ideal"]] {
        let said = run("barrier.4", &report, options);
        said.expect(0);
        assert!(!said.stdout.contains("dvice"), "{options:?}: {}", said.stdout);
        assert_eq!(member(&report), None, "{options:?}");
    }
    // The predicted run is another one: its advice is not that of the measured run.
    let predicted = directory.path().join("predicted");
    let options = ["--what-if=remove=MPI_Barrier", "--predict", predicted.to_str().unwrap(), "--advice"];
    run("barrier.4", &report, &options).expect(0);
    let of_predicted = read(&report);
    run("barrier.4", &report, &["--advice"]).expect(0);
    assert!(of_predicted.run.seconds < read(&report).run.seconds);
}

#[test]
fn advice_beyond_five_or_not_sure_is_in_the_report_and_printed_if_all_is_asked_for() {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let said = run("skewed.4", &report, &["--advice", "--advice-from=0"]).stdout;
    let shown = member(&report).unwrap();
    let all = run("skewed.4", &report, &["--advice=all", "--advice-from=0"]).stdout;
    assert!(shown == member(&report).unwrap());
    let found = read(&report);
    let hidden: Vec<Option<&str>> = found.advice.iter().map(|it| it.hidden.as_deref()).collect();
    let (first, rest) = hidden.split_at(5);
    assert_eq!(first, [None; 5]);
    let beyond = rest.iter().take_while(|&&it| it == Some("beyond five")).count();
    assert!(beyond > 0 && rest[beyond..].iter().all(|&it| it == Some("low confidence")), "{rest:?}");
    assert!(said.contains("  5. ") && !said.contains("  6. "), "{said}");
    assert!(said.contains(&format!("  {} more with --advice=all", rest.len())), "{said}");
    assert!(all.contains("  6. ") && !all.contains("more with"), "{all}");
    assert!(said.contains("  all of these together: ") && all.contains("  1 to 5 together: "), "{all}");

    let rules = unsure(directory.path());
    let said = run("barrier.4", &report, &["--advice", "--rules", &rules]).stdout;
    let found = read(&report);
    assert_eq!(found.advice.len(), 1, "{found:?}");
    assert_eq!((found.advice[0].hidden.as_deref(), found.together), (Some("low confidence"), None));
    assert!(said.contains("No advice that is sure enough; of low confidence: 1 change"), "{said}");
    let all = run("barrier.4", &report, &["--advice=all", "--rules", &rules]).stdout;
    assert!(all.contains("  1. about ") && all.contains("[low]") && all.contains("Think."), "{all}");
}

/// A rule that says more about what a rule of the program finds, with a bound only; and one that cannot be judged.
const FINER: &str = r#"format = 1
library = "windows 1.0"
[[rule]]
id = "windows/close"
refines = ["rma/early-close"]
over = "place"
by = ["path"]
[rule.let]
waiting = "sum(mpi_rma_early_wait)"
[rule.finds]
when = "waiting >= 1 % * run.all"
severity = "waiting"
most = "edges"
claims = "waits"
change = "path"
title = "The library exposes windows for long"
advice = "Close it."
[[rule]]
id = "windows/none"
over = "place"
[rule.finds]
when = "sum(time) / (sum(time) - sum(time)) > 1"
severity = "sum(time)"
change = "path"
title = "Nobody knows"
advice = "Nothing."
"#;

#[test]
fn finer_rule_has_the_coarser_one_below_it_also_where_nothing_is_replayed() {
    let directory = in_memory();
    let (file, report) = (directory.path().join("finer.toml"), directory.path().join("trace.cubex"));
    fs::write(&file, FINER).unwrap();
    let options = ["--advice=all", "--rules", file.to_str().unwrap()];
    let said = run("rma.4", &report, &options);
    let found = read(&report);
    let place = |rule: &str| found.advice.iter().filter(|it| it.rule == rule).map(|it| &it.place.path).next();
    let finer = found.advice.iter().find(|it| it.rule == "windows/close").unwrap();
    assert!(finer.also.iter().any(|also| also.rule == "rma/early-close"), "{found:?}");
    assert_ne!(place("rma/early-close"), Some(&finer.place.path), "{found:?}");
    // What could not be judged is said with all advice.
    assert!(said.expect(0).stdout.contains("\n  Not judged: windows/none: "), "{}", said.stdout);
    assert!(!run("rma.4", &report, &["--advice", "--rules", options[2]]).stdout.contains("Not judged"));
}

#[test]
fn least_gain_is_that_of_the_option() {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let gains = |from: &[&str]| {
        let said = run("skewed.4", &report, &[&["--advice"], from].concat());
        said.expect(0);
        let found = read(&report);
        let percent = |seconds: f64| 100.0 * seconds / found.run.seconds;
        let gains = found.advice.iter().map(|it| percent(it.gain.expected.unwrap_or(it.gain.most)));
        (gains.collect::<Vec<f64>>(), found.run.least_percent, said.stdout)
    };
    let (usual, least, _) = gains(&[]);
    assert!(usual.len() > 1 && usual.iter().all(|&gain| gain >= 1.0) && least == 1.0, "{usual:?}");
    let (large, least, _) = gains(&["--advice-from", "3%"]);
    let expected: Vec<f64> = usual.iter().copied().filter(|&gain| gain >= 3.0).collect();
    assert!(large == expected && large.len() < usual.len() && least == 3.0, "{large:?} of {usual:?}");
    let (small, least, _) = gains(&["--advice-from", "0.5"]);
    assert!(small.iter().any(|&gain| gain < 1.0) && small.iter().all(|&gain| gain >= 0.5), "{small:?}");
    assert_eq!(least, 0.5);
    let (none, _, said) = gains(&["--advice-from", "99.5"]);
    assert!(none.is_empty() && said.contains("would save 99.5 % of the run"), "{said}");
}

#[test]
fn advice_for_programs_goes_to_a_file_or_to_the_output_alone() {
    let directory = in_memory();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (report, json) = (directory.path().join("trace.cubex"), path("advice.json"));
    let said = run("barrier.4", &report, &["--advice", "--advice-json", &json]);
    said.expect(0);
    let bytes = member(&report).unwrap();
    assert!(fs::read(&json).unwrap() == bytes);
    assert!(said.stdout.contains("Report: "), "the summary stays: {}", said.stdout);
    for options in [&["--advice", "--advice-json", "-"][..], &["-q", "--what-if", "--advice-json=-"]] {
        let said = run("barrier.4", &report, options);
        said.expect(0);
        assert!(said.stdout.as_bytes() == bytes, "{options:?}: {}", said.stdout);
    }
    // Our own files are replaced, and those of others kept: what is there now comes from another run.
    run("sendrecv.4", &report, &["--advice", "--advice-json", &json]).expect(0);
    assert!(fs::read(&json).unwrap() == member(&report).unwrap() && fs::read(&json).unwrap() != bytes);
    fs::write(&json, "important").unwrap();
    let refused = run("barrier.4", &report, &["--advice", "--advice-json", &json]);
    refused.expect(2);
    assert!(refused.stderr.contains("--force") && refused.stderr.contains("--advice-json"), "{refused:?}");
    assert_eq!(fs::read(&json).unwrap(), b"important");
    run("barrier.4", &report, &["--advice", "--advice-json", &json, "--force"]).expect(0);
    assert!(fs::read(&json).unwrap() == bytes);
    let left: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "report, statistics, advice, and nothing temporary: {left:?}");
}

#[test]
fn file_that_cannot_be_written_is_told_before_anything_is_read() {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let stat = directory.path().join("trace.stat");
    let nowhere = directory.path().join("nowhere/advice.json");
    for path in [directory.path(), &report, &stat, &nowhere] {
        let refused = run("barrier.4", &report, &["--advice", "--advice-json", path.to_str().unwrap()]);
        refused.expect(2);
        assert_eq!(refused.messages().len(), 1, "{refused:?}");
        assert!(refused.stderr.contains(path.to_str().unwrap()), "{refused:?}");
        assert!(!report.exists());
    }
}

#[test]
fn options_of_advice_that_contradict_others_are_refused() {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let rules = unsure(directory.path());
    for (options, word) in [
        (&["--advice", "--no-root-causes"][..], "--no-root-causes"),
        (&["--advice", "--focus", "time=0s-1s"], "--focus"),
        (&["--advice", "--no-advice"], "--no-advice"),
        (&["--no-advice", "--advice-from", "2"], "--no-advice"),
        (&["--what-if", "--no-advice", "--advice-json", "-"], "--no-advice"),
        (&["--what-if", "--no-advice", "--rules", &rules], "--no-advice"),
        (&["--advice-from", "2"], "--advice-from needs advice"),
        (&["--advice-json", "-"], "--advice-json needs advice"),
        (&["--what-if=ideal", "--advice-json", "-"], "--advice-json needs advice"),
        (&["--what-if", "--no-root-causes", "--advice-from", "2"], "--advice-from needs advice"),
        (&["--rules", &rules], "--rules needs advice"),
        (&["--advice=some"], "all"),
        (&["--advice", "--advice-from", "101"], "0 to 100"),
        (&["--advice", "--advice-from", "nan"], "0 to 100"),
        (&["--advice", "--advice-from", "much"], "0 to 100"),
    ] {
        let refused = run("barrier.4", &report, options);
        refused.expect(2);
        assert!(refused.stderr.contains(word), "{options:?}: {}", refused.stderr);
        assert_eq!(refused.stdout, "", "{options:?}");
        assert!(!report.exists(), "{options:?}");
    }
}

#[test]
fn advice_alone_is_the_same_with_any_workers() {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    run("skewed.4", &report, &["--advice", "--threads", "1"]).expect(0);
    let alone = fs::read(&report).unwrap();
    run("skewed.4", &report, &["--advice", "--threads", "3"]).expect(0);
    assert!(fs::read(&report).unwrap() == alone, "3 threads");
    let Some(launcher) = mpirun("advice under mpirun") else { return };
    let (trace, json) = (archive("skewed.4"), directory.path().join("advice.json"));
    let arguments: [&Path; 8] = [
        &trace,
        "-o".as_ref(),
        &report,
        "--details=none".as_ref(),
        "--advice".as_ref(),
        "--threads=2".as_ref(),
        "--advice-json".as_ref(),
        &json,
    ];
    analyze_with(launcher, 2, arguments).expect(0);
    assert!(fs::read(&report).unwrap() == alone, "2 processes with 2 threads");
    assert!(fs::read(&json).unwrap() == member(&report).unwrap());
    let to_output: Vec<PathBuf> = arguments[..7].iter().map(PathBuf::from).chain(["-".into()]).collect();
    let said = analyze_with(launcher, 3, to_output);
    said.expect(0);
    assert!(said.stdout.as_bytes() == member(&report).unwrap(), "{}", said.stdout);
}

/// Rows of the table of advice: cells by column.
fn table(report: &Path) -> Vec<Vec<String>> {
    let bytes = Report::open(report).unwrap().member("advice.tsv").unwrap().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn table_has_a_row_for_each_advice_with_what_the_member_has() {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    for name in ["skewed.4", "rma.4", "test_loop.4"] {
        run(name, &report, &["--advice"]).expect(0);
        let (rows, file) = (table(&report), read(&report));
        let heads = "rank,rule,title,call path,file,line,ranks,most_s,most_percent,expected_s,severity_s,\
                     severity_percent,confidence,hidden";
        assert_eq!(rows[0].join(","), heads);
        assert_eq!(rows.len(), 1 + file.advice.len(), "{name}");
        for (at, (row, it)) in rows[1..].iter().zip(&file.advice).enumerate() {
            let seconds = |seconds: f64| format!("{seconds:.9}");
            let expected = [
                (at + 1).to_string(),
                it.rule.clone(),
                it.title.clone(),
                it.place.path.clone(),
                String::new(),
                String::new(),
                String::new(),
                seconds(it.gain.most),
                format!("{:.3}", 100.0 * it.gain.most / file.run.seconds),
                it.gain.expected.map(seconds).unwrap_or_default(),
                seconds(it.seconds),
                format!("{:.3}", 100.0 * it.share),
                format!("{:.3}", it.confidence),
                it.hidden.clone().unwrap_or_default(),
            ];
            assert_eq!(row[..], expected, "{name}");
        }
    }
}

#[test]
fn table_has_file_line_and_rank_where_they_are_known() {
    let directory = in_memory();
    let (trace, report) = (directory.path().join("trace"), directory.path().join("trace.cubex"));
    let pattern = generate::PATTERNS.iter().find(|it| it.name == "sweeps").unwrap();
    let job = generate::Job { call_sites: true, ..generate::Job::new(pattern, 4, 400) };
    generate::generate(&job, &trace).unwrap();
    let rules = directory.path().join("by_rank.toml");
    let by_rank = UNSURE
        .replace("MPI_Barrier", "MPI_Recv")
        .replace("sum(mpi_barrier_wait) >= 1 % * run.all", "sum(time) > 0 s")
        .replace("sum(mpi_barrier_wait)", "run.T")
        .replace("\"edges\"\nscenario = \"remove=path\"", "\"run.T\"")
        .replace("[\"path\"]", "[\"path\", \"rank\"]")
        .replace("\"Nobody knows\"", "\"Tab\\there\"");
    fs::write(&rules, by_rank).unwrap();
    let arguments: [&Path; 6] =
        [&trace, "-o".as_ref(), &report, "--advice".as_ref(), "--rules".as_ref(), &rules];
    analyze(arguments).expect(0);
    let rows = table(&report);
    let mine: Vec<&Vec<String>> = rows.iter().filter(|row| row[1] == "mine/barrier").collect();
    assert!(!mine.is_empty(), "{rows:?}");
    for row in mine {
        assert_eq!(row[2], "Tab here");
        assert!(row[4].ends_with("main.c") && row[5].parse::<u32>().unwrap() > 0, "{row:?}");
        assert!(["0", "1", "2", "3"].contains(&row[6].as_str()), "{row:?}");
    }
    assert!(rows.iter().any(|row| row[1].starts_with("p2p/") && row[6].is_empty()), "{rows:?}");
}

#[test]
fn report_has_attributes_of_what_is_shown_and_of_the_files_of_rules() {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let attributes = |options: &[&str]| {
        run("skewed.4", &report, options).expect(0);
        let all = Table::read(&report).attributes;
        all.into_iter().filter(|(key, _)| key.contains("Advice") || key.contains("Rules")).collect::<Vec<_>>()
    };
    assert_eq!(attributes(&["--what-if", "--no-advice"]), []);
    let shown = attributes(&["--advice=all", "--advice-from=0.2%"]);
    let file = read(&report);
    let mut expected = Vec::new();
    for (number, it) in (1..=5).zip(&file.advice) {
        let key = |name: &str| format!("Replay::Advice::{number}::{name}");
        expected.push((key("confidence"), format!("{:.3}", it.confidence)));
        expected.push((key("most"), format!("{:.9}", it.gain.most)));
        expected.push((key("place"), it.place.path.clone()));
        expected.push((key("rule"), it.rule.clone()));
    }
    assert!(file.advice.len() > 5);
    assert_eq!(shown, expected);
    let rules = unsure(directory.path());
    let with = attributes(&["--advice", "--rules", &rules]);
    let hash = replay::advice::named(&[rules::Source::new(rules, UNSURE)]).unwrap();
    assert!(hash.starts_with("unsure.toml ") && hash.len() == 12 + 64, "{hash}");
    assert!(with.contains(&("Replay::Rules".to_owned(), hash)), "{with:?}");
}

#[test]
fn lines_of_advice_fit_a_terminal_unless_they_are_to_be_copied() {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let mut wide = Vec::new();
    for experiment in archives() {
        let arguments: [&Path; 5] =
            [&experiment, "-o".as_ref(), &report, "--advice=all".as_ref(), "--advice-from=0".as_ref()];
        let said = analyze(arguments);
        let block = said.expect(0).stdout.lines().skip_while(|line| !line.starts_with("Advice ("));
        let block = block.skip(1).take_while(|line| line.starts_with("  "));
        let is_wide = |line: &&str| line.chars().count() > 120 && !line.contains("check: --what-if=");
        wide.extend(block.filter(is_wide).map(str::to_owned));
    }
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn advice_of_a_trace_with_findings_is_half_as_sure_and_says_so() {
    let directory = in_memory();
    let (experiment, report) = (directory.path().join("damaged"), directory.path().join("trace.cubex"));
    copy(&archive("skewed.4"), &experiment);
    let options = [Path::new("-o"), &report, "--advice=all".as_ref()];
    let sentence = "\nThe trace lacks data or contradicts itself (see the findings): all advice is half as sure as without.\n";
    assert!(!analyze([&[&*experiment], &options[..]].concat()).expect(0).stdout.contains(sentence));
    assert!(!read(&report).run.has_findings);
    let events = experiment.join("traces/3.evt");
    let bytes = fs::read(&events).unwrap();
    fs::write(events, &bytes[..bytes.len() / 2]).unwrap();
    let said = analyze([&[&*experiment], &options[..]].concat());
    assert!(said.expect(0).stdout.contains(sentence), "{}", said.stdout);
    let found = read(&report);
    assert!(found.run.has_findings && !found.advice.is_empty(), "{found:?}");
    // Rules are sure to 0.9 at most.
    assert!(found.advice.iter().all(|it| it.confidence <= 0.45), "{found:?}");
}

#[test]
fn little_coverage_is_said_before_advice() {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let said = run("io.4", &report, &["--advice", "--semantics=reference"]);
    let coverage = read(&report).run.coverage.unwrap();
    assert!(coverage < 0.8, "{coverage}");
    let sentence = format!("\nOnly {:.1} % of the time in MPI was analysed: ", 100.0 * coverage);
    assert!(said.expect(0).stdout.contains(&sentence), "{}", said.stdout);
    run("io.4", &report, &["--advice"]).expect(0);
    assert!(read(&report).run.coverage.unwrap() > 0.99);
}
