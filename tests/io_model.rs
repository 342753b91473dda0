//! The model of file I/O: of a trace of Score-P whose numbers are known (io.md 7.2), in all forms, for any number of workers.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use io_model::{Finding, Findings, Flaw, Kind, Mode, Model, Phase};
use replay::exchange::Solo;
use replay::io::{IoOptions, OutputFile};
use replay::progress::Progress;
use replay::{Options, Semantics};

use crate::support::parse::Case;
use crate::support::report::Table;
use crate::support::run::{Finished, analyze};
use crate::support::write::write;
use crate::support::{archive, copy, in_memory, options, workers};

/// Analyzes an archive with these options.
fn run(name: &str, directory: &Path, options: &[&str]) -> Finished {
    let (trace, report) = (archive(name), directory.join("trace.cubex"));
    let fixed = [trace.to_str().unwrap(), "-o", report.to_str().unwrap(), "--details", "none"];
    analyze(fixed.iter().chain(options))
}

/// The model of an archive, analyzed with these options.
fn model(name: &str, directory: &Path, options: &[&str]) -> Model {
    let file = directory.join("model.json");
    run(name, directory, &[&["--io-model", file.to_str().unwrap()], options].concat()).expect(0);
    Model::from_json(&fs::read_to_string(file).unwrap()).unwrap()
}

fn kinds(phases: &[Phase]) -> Vec<(Kind, u64, u64)> {
    phases.iter().map(|it| (it.key.pattern[0].kind, it.rep, it.weight)).collect()
}

#[test]
fn phases_of_a_trace_of_score_p_are_those_of_the_program() {
    let directory = in_memory();
    let model = model("io.4", directory.path(), &[]);
    assert_eq!(kinds(&model.phases), [(Kind::Write, 12, 12_582_912), (Kind::Read, 12, 12_582_912)]);
    let times: Vec<u64> = model.families.iter().map(|family| family.time).collect();
    assert_eq!((times, model.resolution), (vec![129_770_786, 83_220_088], 2_600_027_335));
    for phase in &model.phases {
        assert_eq!((phase.np, phase.members, phase.positions[0].rs), (4, 4, 262_144));
        assert!(phase.same_sizes && phase.same_rep);
        assert!(phase.key.pattern.len() == 1 && phase.key.pattern[0].collective && !phase.is_view_known);
    }
    assert_eq!(model.phases[0].mode, Mode::Sequential);
    assert!(model.ior.values().all(|it| it.remarks.contains(&"view unknown".to_owned())), "{:?}", model.ior);
    assert_eq!([Kind::Write, Kind::Read].map(|kind| model.bytes_of(kind)), [12_582_912; 2]);
}

#[test]
fn without_a_gap_the_barrier_behind_each_write_ends_its_phase() {
    let directory = in_memory();
    let model = model("io.4", directory.path(), &["--io-gap", "0"]);
    let writes = [(Kind::Write, 1, 1_048_576); 12];
    assert_eq!(kinds(&model.phases), [&writes[..], &[(Kind::Read, 12, 12_582_912)]].concat());
    assert_eq!(model.families.iter().map(|family| family.count).collect::<Vec<_>>(), [12, 1]);
    let times: Vec<u64> = model.families.iter().map(|family| family.time).collect();
    assert_eq!(times, [129_770_786, 83_220_088]);
}

#[test]
fn each_form_has_what_the_model_says() {
    let directory = in_memory();
    let files = ["a.tsv", "a.json", "a.sh", "a.svg"].map(|name| directory.path().join(name));
    let [table, json, script, picture] = files.each_ref().map(|path| path.to_str().unwrap());
    let options = ["--io-model", table, "--io-model", json, "--io-model", script, "--io-picture", picture];
    let said = run("io.4", directory.path(), &options);
    said.expect(0);
    let text = |at: usize| fs::read_to_string(&files[at]).unwrap();
    let model = Model::from_json(&text(1)).unwrap();
    assert_eq!(model.to_json() + "\n", text(1));
    let rows: Vec<Vec<String>> =
        text(0).lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    let cell = |row: usize, name: &str| {
        let column = rows[0].iter().position(|it| it == name).unwrap();
        &*rows[row][column]
    };
    assert_eq!(rows.len(), 3);
    for (row, op, seconds) in [(1, "write", "0.049911316"), (2, "read", "0.032007389")] {
        let names = ["op", "rep", "rs", "np", "bytes", "t_md", "view_a", "collective", "pointer"];
        let values = names.map(|name| cell(row, name));
        assert_eq!(values, [op, "12", "262144", "4", "12582912", seconds, values[6], "1", "explicit"]);
    }
    let lines = [1, 2].map(|row| cell(row, "ior").trim_end_matches(" -o FILE").to_owned());
    assert!(lines.iter().all(|line| text(2).contains(&format!("{line} -i 3 -o \"$FILE\""))), "{lines:?}");
    assert!(text(3).starts_with("<svg ") && text(3).trim_end().ends_with("</svg>"));
    assert!(text(3).matches("fill=\"#c00\"").count() > 0, "{}", text(3));
    assert!(
        said.stdout
            .contains("\nFile I/O: 12.6 MB written, 12.6 MB read in 1 file; others wait 0.123 s for it, "),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("12 × 256.0 KiB"), "{}", said.stdout);
    // They are replaced without a question, as they are ours.
    run("io.4", directory.path(), &options).expect(0);
}

/// Three ranks that write to three files and read of them, at places of others, too, so that each of these has something to tell.
fn several_files() -> String {
    let mut script =
        String::from("resolution 1000\nprogram prog\nfile a world\nfile b world\nfile c world\n");
    for rank in 0..3_u64 {
        writeln!(script, "rank {rank}\n 0 > main ; > MPI_Init ; 10 <").unwrap();
        for (begin, file) in [(1000, 'a'), (2000, 'b'), (3000, 'c')] {
            writeln!(script, " {begin} > MPI_File_open ; create {file} ; {} <", begin + 20).unwrap();
            let set = format!("with file {file} view 0 etype 1 type b1");
            writeln!(script, " {} > MPI_File_set_view ; {} {set} : <", begin + 30, begin + 40).unwrap();
            for (number, call, mode) in [(0, "write", 1), (1, "write", 1), (2, "read", 0), (3, "read", 0)] {
                let (time, bytes) = (begin + 100 * (number + 1) + rank, 1000 * (rank + 1) + number);
                let at = (number * 5000 + rank * 1500) % 9000;
                writeln!(
                    script,
                    " {time} > MPI_File_{call}_at ; with offset {at} : transfer {file} id 1 flags 0 mode {mode} bytes {bytes} ; \
                     {} transferred {file} id 1 bytes {bytes} ; <",
                    time + 50
                )
                .unwrap();
            }
            writeln!(script, " {} > MPI_File_close ; destroy {file} ; {} <", begin + 800, begin + 820)
                .unwrap();
        }
        writeln!(script, " 9000 > MPI_Finalize ; 9010 < ; <").unwrap();
    }
    script
}

#[test]
fn files_are_the_same_for_any_number_of_workers() {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let files = ["a.tsv", "a.json", "a.sh"]
        .map(|name| OutputFile::of_model(directory.path().join(name).to_str().unwrap()).unwrap());
    let picture = OutputFile::of_picture(directory.path().join("a.svg").to_str().unwrap()).unwrap();
    let files: Vec<OutputFile> = files.into_iter().chain([picture]).collect();
    let read = || files.iter().map(|file| fs::read(&file.path).unwrap()).collect::<Vec<_>>();
    let made_up = directory.path().join("made_up");
    fs::create_dir(&made_up).unwrap();
    write(&Case::parse(&several_files()).unwrap().trace, &made_up);
    for (trace, clock_correction) in [(archive("io.4"), false), (archive("io.4"), true), (made_up, false)] {
        let mut first = None;
        for (processes, threads) in [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (2, 2)] {
            let io_model = IoOptions { files: files.clone(), ..IoOptions::default() };
            let options = options(&trace, &report, Semantics::Corrected);
            let options = Options { threads, io_model, clock_correction, ..options };
            for outcome in workers::analyze_with(&options, processes) {
                outcome.unwrap();
            }
            let written = read();
            assert!(*first.get_or_insert_with(|| written.clone()) == written, "{processes} of {threads}");
        }
    }
}

#[test]
fn rank_that_comes_last_to_collective_io_is_told_with_the_waiting_of_all() {
    let directory = in_memory();
    let model = model("io.4", directory.path(), &[]);
    let [late] = &model.inefficiencies[..] else { panic!("{:?}", model.inefficiencies) };
    assert_eq!((late.flaw, late.rank, late.concerned, late.of), (Flaw::Late, Some(0), 12, 24));
    // Ticks of Wait at Collective I/O (io.md 7.2).
    let waiting = late.cost * model.run as f64 * 4.0;
    assert!((waiting - 58_552_919.0).abs() < 0.5, "{waiting}");
}

#[test]
fn trace_without_files_gives_an_empty_table() {
    let directory = in_memory();
    let table = directory.path().join("a.tsv");
    let said = run("barrier.4", directory.path(), &["--io-model", table.to_str().unwrap()]);
    said.expect(0);
    let text = fs::read_to_string(table).unwrap();
    assert!(text.starts_with("phase\tfirst\tlast\t") && text.lines().count() == 1, "{text}");
    assert!(said.stdout.contains("\nFile I/O: none was recorded\n"), "{}", said.stdout);
    assert!(model("barrier.4", directory.path(), &[]).phases.is_empty());
}

#[test]
fn without_the_options_only_waiting_is_told_and_the_report_has_fewer_metrics() {
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let said = run("io.4", directory.path(), &[]).expect(0).stdout.clone();
    assert!(said.contains("\nFile I/O: others wait 0.123 s for it, 20.5 % of the time\n"), "{said}");
    assert!(
        said.contains("  rank 0's I/O on patterns_io_0.dat, above all in MPI_File_write_at_all, makes"),
        "{said}"
    );
    assert!(!said.contains("256.0 KiB"), "{said}");
    let without = Table::read(&report);
    let model = model("io.4", directory.path(), &[]);
    let with = Table::read(&report);
    let mut named = with.named();
    named.retain(|(metric, ..), _| without.metric(metric).is_some());
    assert!(named == without.named() && with.attributes == without.attributes);
    // Requests of 256 KiB, of 12 at each rank; nobody knows where they are, as there are no views.
    for rank in 0..4 {
        assert_eq!(with.sum("io_ops_write_small", rank), 12.0);
        assert_eq!(with.sum("io_ops_read_small", rank), 12.0);
    }
    // So the bytes are unknown, and not 0.
    assert_eq!(with.sum("io_bytes_avoidable", 0), 0.0);
    assert_eq!(model.findings, Findings(BTreeMap::from([(Finding::UnknownReads, 1)])));
}

#[test]
fn time_elsewhere_is_estimated_from_tables() {
    let directory = in_memory();
    let table = directory.path().join("systems.tsv");
    let line = |system: &str, op: &str, rate: &str| format!("{system}\tMPIIO\t{op}\t4\t262144\t1\t{rate}\n");
    let text = "system\tapi\top\tnp\tt\tcollective\tMiB_s\n".to_owned()
        + &line("A", "w", "1.2")
        + &line("A", "r", "6")
        + &line("B", "w", "3");
    fs::write(&table, text).unwrap();
    let model = model("io.4", directory.path(), &["--io-systems", table.to_str().unwrap()]);
    let all: Vec<_> = model.estimates.iter().map(|it| (&*it.system, it.seconds, it.is_complete)).collect();
    // 12 MiB each.
    assert_eq!(all, [("A", 12.0, true), ("B", 4.0, false)]);
    let options = ["--io-systems", table.to_str().unwrap(), "--io-mean", "--io-picture"];
    let picture = directory.path().join("a.svg");
    let said = run("io.4", directory.path(), &[&options[..], &[picture.to_str().unwrap()]].concat()).stdout;
    assert!(said.contains("\n  On \"A\" this I/O takes 12.0 s (estimated from IOR)\n"), "{said}");
    assert!(said.contains("\n  On \"B\" this I/O takes at least 4.0 s (estimated from IOR)\n"), "{said}");
}

#[test]
fn options_that_cannot_be_followed_are_refused_in_one_message() {
    let directory = in_memory();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (table, bad, other) = (path("a.tsv"), path("bad.tsv"), path("other.sh"));
    fs::write(&bad, "system\tapi\nA\tMPIIO\n").unwrap();
    fs::write(&other, "#!/bin/sh\n").unwrap();
    let with = |options: &[&str], text: &str| {
        let said = run("io.4", directory.path(), options);
        said.expect(2);
        assert!(said.stderr.contains(text), "{options:?}: {}", said.stderr);
    };
    with(&["--io-model", &path("a.csv")], "expected a name that ends with .tsv, .json or .sh");
    with(&["--io-picture", &path("a.png")], "expected a name that ends with .svg");
    with(&["--io-model", &table, "--io-systems", &path("none.tsv")], "cannot read the file");
    with(&["--io-model", &table, "--io-systems", &bad], "bad.tsv:1: op: the column is missing");
    with(&["--io-gap", "4"], "--io-model");
    with(&["--io-model", &table, "--io-mean"], "--io-systems");
    with(&["--io-model", &table, "--focus", "time=0%-50%"], "--focus");
    with(&["--io-model", &table, "--io-model", &table], "that is asked for twice");
    with(&["--io-model", &other], "--force");
    assert!(!PathBuf::from(&table).exists());
    run("io.4", directory.path(), &["--io-model", &other, "--force"]).expect(0);
}

#[test]
fn trace_that_ends_anywhere_has_a_model() {
    let directory = in_memory();
    let (trace, json) = (directory.path().join("io.4"), directory.path().join("a.json"));
    copy(&archive("io.4"), &trace);
    let events = trace.join("traces/1.evt");
    let whole = fs::read(&events).unwrap();
    for length in (0..whole.len()).step_by(97) {
        fs::write(&events, &whole[..length]).unwrap();
        let files = vec![OutputFile::of_model(json.to_str().unwrap()).unwrap()];
        let io_model = IoOptions { files, ..IoOptions::default() };
        let report = directory.path().join("trace.cubex");
        let options = Options { io_model, ..options(&trace, &report, Semantics::Corrected) };
        replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
        let model = Model::from_json(&fs::read_to_string(&json).unwrap()).unwrap();
        // Three ranks are as before.
        assert!(model.bytes() >= 3 * 24 * 262_144, "{length}");
        let phases: u64 = model.phases.iter().map(|phase| phase.weight).sum();
        let accesses = model.files.values().flat_map(|file| &file.facts.accesses);
        assert_eq!(phases, accesses.map(|it| it.bytes).sum::<u64>(), "{length}");
    }
}

#[test]
fn output_of_ior_becomes_a_table_that_estimates_can_read() {
    let directory = in_memory();
    let (json, table) = (directory.path().join("Alpha.json"), directory.path().join("systems.tsv"));
    let test = r#"{"tests": [{
        "Parameters": {"api": "MPIIO", "nodes": 1, "blockSize": 3145728, "transferSize": 262144, "segmentCount": 1,
            "collective": 1, "filePerProc": 0, "randomOffset": 0, "fsync": 0},
        "Options": {"tasks": 4},
        "Results": [{"access": "write", "bwMiB": 1.0, "wrRdTime": 10.0}, {"access": "read", "bwMiB": 6.0}]}]}"#;
    fs::write(&json, test).unwrap();
    let said = analyze(["--io-ior", json.to_str().unwrap()]);
    said.expect(0);
    fs::write(&table, &said.stdout).unwrap();
    // 12 MiB in 10 s each, and at 6 MiB/s.
    let model = model("io.4", directory.path(), &["--io-systems", table.to_str().unwrap()]);
    let all: Vec<_> = model.estimates.iter().map(|it| (&*it.system, it.seconds, it.is_complete)).collect();
    assert_eq!(all, [("Alpha", 12.0, true)]);
    fs::write(&json, "{}").unwrap();
    let said = analyze(["--io-ior", json.to_str().unwrap()]);
    said.expect(2);
    assert!(said.stderr.contains("no list of tests of IOR"), "{}", said.stderr);
}

#[test]
fn phases_below_the_relevance_that_is_asked_for_are_summed_up() {
    let directory = in_memory();
    let table = directory.path().join("a.tsv");
    let said = |percent: &str| {
        let options = ["--io-model", table.to_str().unwrap(), "--io-relevance", percent];
        run("io.4", directory.path(), &options).expect(0).stdout.clone()
    };
    assert!(said("1").contains("12 × 256.0 KiB") && !said("1").contains("other phase"));
    // Each phase moves half of the bytes.
    assert!(said("60").contains("\n  2 other phases: 24.0 MiB, 0.082 s\n"), "{}", said("60"));
}
