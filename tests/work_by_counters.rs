//! Counters in the summary: why a place computes for longer than others; and what is derived of them in the report.

use cubex::{MetricKind, Report};

use crate::causes::analyze;
use crate::culprits::{culprits, summary};
use crate::support::fresh;

/// Four ranks that work and meet at a barrier, the third one for longer; with instructions and cycles of the work of each but one.
fn counted(third: (u64, u64, u64), without: Option<usize>) -> String {
    let rank = |rank: usize| {
        let (until, instructions, cycles) = if rank == 2 { third } else { (110, 20, 10) };
        let values = |instructions, cycles| match without == Some(rank) {
            true => String::new(),
            false => format!("metric {instructions} ; cycles {cycles} ; "),
        };
        let (none, all) = (values(0, 0), values(instructions, cycles));
        format!(
            "rank {rank}
                0 {none}> MPI_Init ; 10 {none}< ; 10 {none}> work ; {until} {all}< ;
                {until} {all}> MPI_Barrier ; begin ; 420 end barrier ; 420 {all}< ;
                430 {all}> MPI_Finalize ; 440 {all}<\n"
        )
    };
    "program prog\n".to_owned() + &(0..4).map(rank).collect::<String>()
}

#[test]
fn reports_with_instructions_and_cycles_have_what_is_derived_of_both() {
    let metric = |script: &str| {
        let directory = fresh();
        analyze(script, directory.path());
        let report = Report::open(directory.path().join("report.cubex")).unwrap();
        let ipc = report.cube().metrics.iter().find(|metric| metric.unique_name == "ipc");
        ipc.map(|ipc| (ipc.kind, ipc.expression.clone().unwrap().value))
    };
    let script = counted((410, 40, 40), None);
    let expression = "metric::PAPI_TOT_INS() / metric::PAPI_TOT_CYC()".to_owned();
    assert_eq!(metric(&script), Some((MetricKind::Postderived, expression)));
    let steps = script.split(" ; ").filter(|step| !step.starts_with("cycles"));
    assert_eq!(metric(&steps.collect::<Vec<_>>().join(" ; ")), None);
}

#[test]
fn counters_tell_why_a_place_computes_for_longer() {
    let first = |script: &str| culprits(&summary(script))[0].clone();
    let told = |third| {
        let text = first(&counted(third, None));
        assert!(text.starts_with("rank 2 in prog/work: waiting at barriers"), "{text}");
        text.split("more work than the mean").nth(1).unwrap().to_owned()
    };
    assert_eq!(told((410, 40, 40)), " (60 % more instructions, IPC 1.0 against 1.4)");
    assert_eq!(told((410, 60, 30)), " (100 % more instructions, same IPC)");
    assert_eq!(told((410, 20, 40)), " (same instructions, IPC 0.50 against 1.14)");
    let slower = "so a slower clock, or time in the kernel or off the processor";
    let rates = "0.025 against 0.057 cycles a nanosecond";
    assert_eq!(told((410, 20, 10)), format!(" (same instructions, same IPC, {rates}, {slower})"));
    // Of one rank it is not known.
    let text = first(&counted((410, 40, 40), Some(1)));
    assert!(text.contains("% more work than the mean") && !text.contains("instructions"), "{text}");
}
