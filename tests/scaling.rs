//! Efficiencies that need no replay, and runs of several sizes beside each other (`docs/what-if.md` 5).

use std::path::{Path, PathBuf};
use std::process::Command;

use cubex::Report;
use details::scaling::{SCALING, ScalingFile};
use generate::{Job, PATTERNS};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::scaling::{RunFacts, ScalingKind};
use replay::{DetailsPlace, Focus, Options, Semantics, Summary};

use crate::interop::python;
use crate::support::parse::Case;
use crate::support::{archive, fresh, in_memory, options, project, run, workers, write};

/// Options that keep to what is tested here.
fn plain(experiment: &Path, report: &Path) -> Options {
    let details = Some(DetailsPlace::Nowhere);
    Options { details, structure: false, causes: false, ..options(experiment, report, Semantics::Corrected) }
}

fn analyzed(options: &Options) -> Result<Summary, String> {
    let outcome = replay::analyze(options, &mut Solo, &mut Progress::silent());
    outcome.map(|outcome| outcome.summary.unwrap()).map_err(|error| error.to_string())
}

/// Facts of a script, from its summary and from the attributes of its report, which must be the same.
fn facts(script: &str) -> Option<RunFacts> {
    let directory = fresh();
    write::write(&Case::parse(script).unwrap().trace, directory.path());
    let report = directory.path().join("trace.cubex");
    let facts = analyzed(&plain(directory.path(), &report)).unwrap().efficiency;
    assert_eq!(RunFacts::of_attributes(&Report::open(&report).unwrap().cube().attributes), facts);
    facts
}

#[test]
fn work_is_what_a_script_says() {
    // The chain of docs/metrics.md: 50, 40 and 30 ticks of work, 80 from the end of MPI_Init to the begin of the last MPI_Finalize.
    let facts = facts(
        "program prog
        rank 0
          0 > MPI_Init ; < ; > solve ; 50 < ; > MPI_Send ; send 1 ; < ; > MPI_Finalize ; 80 <
        rank 1
          0 > MPI_Init ; < ; > solve ; 20 < ; > MPI_Recv ; 50 recv 0 ; < ; > solve ; 70 < ; > MPI_Send ; send 2 ; < ; > MPI_Finalize ; 80 <
        rank 2
          0 > MPI_Init ; < ; > solve ; 20 < ; > MPI_Recv ; 70 recv 1 ; < ; > solve ; 80 < ; > MPI_Finalize ; <",
    );
    let facts = facts.unwrap();
    assert_eq!((facts.ranks, facts.instructions, facts.cycles, facts.ideal), (3, None, None, None));
    let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
    near(facts.load_balance(), 0.8);
    near(facts.communication(), 0.625);
    near(facts.parallel(), 0.5);
}

/// Rank 0 counts 23 instructions of work: 1 in the program, 20 in a function, 2 in the program behind a call of 3.
const COUNTED: &str = "program prog
    rank 0
      0 metric 0 ; > MPI_Init ; 10 metric 5 ; < ; 12 metric 6 ; > solve ; 50 metric 26 ; < ; metric 26 ; > MPI_Send ; send 1 ;
      60 metric 29 ; < ; 70 metric 31 ; > MPI_Finalize ; 80 metric 33 ; <
    rank 1
      0 metric 10 ; > MPI_Init ; 10 metric 11 ; < ; 20 metric 15 ; > MPI_Recv ; 60 recv 0 ; metric 45 ; < ;
      70 metric 50 ; > MPI_Finalize ; 80 metric 60 ; <";

#[test]
fn instructions_of_work_are_what_counters_gain_outside_of_mpi() {
    let found = facts(COUNTED).unwrap();
    // Rank 1: 4 before its call, 5 behind it.
    assert_eq!((found.ranks, found.instructions, found.cycles), (2, Some(23 + 9), None));
    // A counter that goes back, or has no values on one rank, is unknown of all.
    let back = COUNTED.replace("metric 45", "metric 14");
    assert_eq!(facts(&back).unwrap().instructions, None);
    let silent = COUNTED.replace("metric 0 ;", "").replace("metric 5 ;", "");
    assert_eq!(facts(&silent).unwrap().instructions, None);
}

#[test]
fn efficiencies_are_not_there_where_parts_of_the_run_are_not_known() {
    let off = "program prog
        rank 0
          0 > MPI_Init ; 10 < ; 20 off ; 30 on ; 70 > MPI_Finalize ; 80 <
        rank 1
          0 > MPI_Init ; 10 < ; 70 > MPI_Finalize ; 80 <";
    assert_eq!(facts(off), None);
    assert!(facts(&off.replace("20 off ; 30 on ;", "")).is_some());
    let directory = in_memory();
    let report = directory.path().join("trace.cubex");
    let focus = vec![Focus::parse("time=10%-50%").unwrap()];
    let part = Options { focus, ..plain(&archive("imbalance_chain.4"), &report) };
    let summary = analyzed(&part).unwrap();
    assert!(summary.efficiency.is_none() && !summary.to_string().contains("Parallel efficiency"));
}

/// Traces of a pattern with so many ranks each, and their reports.
fn sizes(directory: &Path, pattern: &str, sizes: &[u32]) -> Vec<(PathBuf, PathBuf)> {
    let pattern = PATTERNS.iter().find(|it| it.name == pattern).unwrap();
    let one = |&ranks: &u32| {
        let experiment = directory.join(format!("of-{ranks}"));
        generate::generate(&Job { seed: 5, ..Job::new(pattern, ranks, 300) }, &experiment).unwrap();
        let report = directory.join(format!("of-{ranks}.cubex"));
        analyzed(&plain(&experiment, &report)).unwrap();
        (experiment, report)
    };
    sizes.iter().map(one).collect()
}

fn member(report: &Path) -> ScalingFile {
    ScalingFile::parse(&Report::open(report).unwrap().member(SCALING).unwrap().unwrap()).unwrap()
}

/// Whether two tables are the same, but for sums in another order.
fn assert_alike(one: &ScalingFile, other: &ScalingFile) {
    let numbers = |file: &ScalingFile| {
        let rows = file.rows.iter().flat_map(|row| row.values.iter().map(|value| value.unwrap_or(-1.0)));
        let models = file.models.iter().flat_map(|it| {
            let forecasts = it.forecasts.iter().flat_map(|it| [it.low, it.value, it.high]);
            [it.constant, it.factor, it.error, it.adjusted_r2].into_iter().chain(forecasts)
        });
        rows.chain(models).collect::<Vec<f64>>()
    };
    let names = |file: &ScalingFile| {
        let models = file.models.iter().map(|it| (it.name.clone(), it.path.clone(), it.numerator));
        models.collect::<Vec<(String, String, i8)>>()
    };
    assert_eq!((names(one), &one.kind), (names(other), &other.kind));
    for (one, other) in numbers(one).into_iter().zip(numbers(other)) {
        assert!((one - other).abs() <= 1e-6 * one.abs().max(1e-3), "{one} {other}");
    }
}

#[test]
fn runs_beside_each_other_are_the_same_whichever_is_analyzed_last() {
    let directory = in_memory();
    let all = sizes(directory.path(), "stencil", &[2, 4, 6, 8, 12]);
    let report = directory.path().join("compared.cubex");
    let compare = |own: usize| {
        let references = all.iter().enumerate().filter(|&(at, _)| at != own).map(|(_, it)| it.1.clone());
        let options = Options { references: references.collect(), ..plain(&all[own].0, &report) };
        let summary = analyzed(&options).unwrap();
        assert!(summary.to_string().contains("scaling over 5 sizes"), "{summary}");
        member(&report)
    };
    let [first, last] = [compare(0), compare(4)];
    assert_alike(&first, &last);
    assert_eq!(last.runs.iter().map(|run| run.ranks).collect::<Vec<u64>>(), [2, 4, 6, 8, 12]);
    let speed_up = last.rows.iter().find(|row| row.name == "speed_up").unwrap();
    assert_eq!(speed_up.values[0], Some(1.0));
    // Run time, load balance, communication, and at most ten call paths.
    assert!((4..=13).contains(&last.models.len()), "{:?}", last.models);
    assert!(last.models.iter().any(|model| !model.path.is_empty()));
    check_schema(&report, directory.path());
}

fn check_schema(report: &Path, directory: &Path) {
    let has_schemas = |python: &PathBuf| {
        Command::new(python).args(["-c", "import jsonschema"]).output().is_ok_and(|it| it.status.success())
    };
    let Some(python) = python().filter(has_schemas) else { return };
    let path = directory.join("scaling.json");
    std::fs::write(&path, Report::open(report).unwrap().member(SCALING).unwrap().unwrap()).unwrap();
    let mut check = Command::new(python);
    check.arg(project("replay/show/tests/export/judges/schema.py"));
    check.arg(project("docs/schemas/replay-scaling.json")).arg(path);
    run::run(&mut check).expect(0);
}

#[test]
fn comparison_does_not_depend_on_workers_and_user_may_say_what_stays_the_same() {
    let directory = in_memory();
    let all = sizes(directory.path(), "ring", &[3, 6]);
    let report = directory.path().join("compared.cubex");
    let references = vec![all[0].1.clone()];
    let scaling = Some(ScalingKind::Strong);
    let options = Options { references, scaling, ..plain(&all[1].0, &report) };
    let alone = analyzed(&options).unwrap().scaling;
    let file = member(&report);
    assert_eq!((file.kind.as_str(), file.decided_by.as_str(), file.models.len()), ("strong", "user", 0));
    let bytes = std::fs::read(&report).unwrap();
    for (processes, threads) in [(1, 3), (2, 1), (3, 2)] {
        let mut outcomes = workers::analyze_with(&Options { threads, ..options.clone() }, processes);
        let summary = outcomes.swap_remove(0).unwrap().summary.unwrap();
        assert_eq!(summary.scaling, alone, "{processes} times {threads}");
        assert!(std::fs::read(&report).unwrap() == bytes, "{processes} times {threads}");
    }
}

#[test]
fn what_cannot_be_compared_is_refused_before_the_analysis() {
    let directory = in_memory();
    let all = sizes(directory.path(), "ring", &[3, 6]);
    let path = |name: &str| directory.path().join(name);
    let report = path("trace.cubex");
    let refused = |references: &[PathBuf]| {
        let options = Options { references: references.to_vec(), ..plain(&all[1].0, &report) };
        let error = analyzed(&options).unwrap_err();
        assert!(!report.exists(), "{error}");
        error
    };
    std::fs::write(path("text"), "no report").unwrap();
    assert!(refused(&[path("text")]).contains("text"));
    assert!(refused(&[path("missing.cubex")]).contains("missing.cubex"));
    let own = refused(&[all[1].1.clone()]);
    assert!(own.contains("and the trace are both of 6 ranks"), "{own}");
    std::fs::copy(&all[0].1, path("copy.cubex")).unwrap();
    let twice = refused(&[all[0].1.clone(), path("copy.cubex")]);
    assert!(twice.contains("copy.cubex and ") && twice.contains("both of 3 ranks"), "{twice}");
    let literal = path("literal.cubex");
    let options = Options { semantics: Semantics::Reference, ..plain(&all[0].0, &literal) };
    analyzed(&options).unwrap();
    assert!(refused(&[literal]).contains("no facts for efficiencies"));
    let options = Options {
        references: vec![all[0].1.clone()],
        semantics: Semantics::Reference,
        ..plain(&all[1].0, &report)
    };
    assert!(analyzed(&options).unwrap_err().contains("leave out --semantics reference"));
    // By the command line the exit status says so, too.
    let [experiment, text] = [&all[1].0, &path("text")].map(|path| path.display().to_string());
    let finished = run::analyze([experiment.as_str(), "--reference", text.as_str()]);
    finished.expect(2);
    assert!(finished.stderr.contains("--reference: "), "{}", finished.stderr);
}

#[test]
fn report_of_another_program_is_no_reference() {
    let directory = in_memory();
    let path = directory.path().join("other.cubex");
    // One metric, call path and location: less is no report.
    let mut cube = cubex::Cube::default();
    cube.attributes.push(cubex::Attribute::new("Creator", "Score-P 8.4"));
    cube.add_metric(cubex::Metric { unique_name: "time".into(), ..cubex::Metric::default() });
    let main = cube.add_region(cubex::Region::named("main"));
    cube.add_cnode(cubex::Cnode { region: main, ..cubex::Cnode::default() });
    let node = cubex::SystemTreeNode { name: "machine m".into(), ..cubex::SystemTreeNode::default() };
    let system_tree_node = cube.add_system_tree_node(node);
    let group =
        cube.add_location_group(cubex::LocationGroup { system_tree_node, ..cubex::LocationGroup::default() });
    cube.add_location(cubex::Location { group, ..cubex::Location::default() });
    cubex::Writer::create(&path, cube).unwrap().finish().unwrap();
    let report = directory.path().join("trace.cubex");
    let options = Options { references: vec![path], ..plain(&archive("imbalance_chain.4"), &report) };
    let error = analyzed(&options).unwrap_err();
    assert!(error.contains("is a report by Score-P 8.4, expected one of replay-analyze"), "{error}");
}
