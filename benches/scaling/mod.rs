//! Cost of an analysis by events and ranks: measurements, a model fitted to them, and predictions for larger
//! runs.
//!
//! Prints the tables of `docs/scaling.md`. One thread analyzes stencils of several sizes; the model of each
//! phase, and of memory, has a cost per event and a cost per rank. Traffic between workers is counted. For
//! networks and file systems there are assumptions, which are printed above the predictions.

mod fit;
mod model;

use std::error::Error;

use fit::fit;
use model::{Machine, Model, Run};
use otf2::Archive;
use replay::Semantics;
use replay::trace::Trace;

use crate::bench::Bench;
use crate::costs;
use crate::counting::{Traffic, traffic};

/// Ranks, and events of each: few ranks with many events, many ranks with few.
const SIZES: [(u32, u64); 7] =
    [(4, 250_000), (4, 2_500_000), (64, 100_000), (1024, 20_000), (8192, 200), (65_536, 60), (65_536, 200)];

/// A size for checking the fits.
const CHECKED: (u32, u64) = (16_384, 2000);

/// Phases that do not depend on events.
const BY_RANK: [&str; 2] = ["open", "report"];

/// Smaller values are not fitted.
const LEAST_SECONDS: f64 = 0.02;
const LEAST_BYTES: f64 = 1e6;

/// Numbers of workers for which traffic is counted; ranks, and events of each.
const WORKERS: [usize; 4] = [2, 8, 32, 128];
const COUNTED: (u32, u64) = (1024, 1000);

/// Predicted runs: ranks, events of each, nodes, processes on each, threads of each process.
const LARGE: [(f64, f64, f64, f64, f64); 6] = [
    (1024.0, 1e5, 1.0, 8.0, 8.0),
    (65_536.0, 1e4, 16.0, 8.0, 8.0),
    (1_048_576.0, 1e3, 128.0, 8.0, 8.0),
    (1_048_576.0, 1e4, 128.0, 64.0, 1.0),
    (1_048_576.0, 1e4, 128.0, 8.0, 8.0),
    (1_048_576.0, 1e4, 128.0, 1.0, 64.0),
];

/// Prints measurements, model and predictions.
pub(crate) fn print() -> Result<(), Box<dyn Error>> {
    let bench = Bench::new()?;
    let model = measure(&bench)?;
    predict(&model);
    Ok(())
}

fn measure(bench: &Bench) -> Result<Model, Box<dyn Error>> {
    let mut names = Vec::new();
    let mut rows = Vec::new();
    for (ranks, each) in SIZES {
        let trace = bench.trace("stencil", ranks, each)?;
        let phases = bench.phases(&trace, 1, &[], 3)?;
        names = phases.iter().map(|(name, _)| name.clone()).collect();
        let definitions = definitions(&trace.path)?;
        let memory = bench.memory(&trace, 1)?;
        rows.push(Row {
            ranks: f64::from(ranks),
            events: trace.events as f64,
            seconds: phases.into_iter().map(|(_, seconds)| seconds).collect(),
            definitions,
            memory,
            report: bench.report_bytes()? as f64,
        });
    }
    println!(
        "Seconds of each phase, one thread; bytes of memory at most, of them those of definitions; bytes of the report.\n"
    );
    println!("| ranks | events | {} | memory | definitions | report |", names.join(" | "));
    println!("|{}", "--:|".repeat(names.len() + 5));
    for row in &rows {
        let seconds: Vec<_> = row.seconds.iter().map(|seconds| format!("{seconds:.3}")).collect();
        let [memory, definitions, report] =
            [row.memory, row.definitions, row.report].map(|bytes| format!("{:.1} MB", bytes / 1e6));
        let (ranks, events) = (row.ranks, row.events);
        println!("| {ranks} | {events} | {} | {memory} | {definitions} | {report} |", seconds.join(" | "));
    }

    println!("\nFitted: what an event and a rank cost, and the largest relative error.\n");
    println!("| | for an event | for a rank | off by at most |");
    println!("|---|--:|--:|--:|");
    // Costs that are the same for all traces would distort the smallest values.
    let of = |least: f64, by_event: bool, value: &dyn Fn(&Row) -> f64| {
        let point = |row: &Row| (if by_event { row.events } else { 0.0 }, row.ranks, value(row));
        fit(&rows.iter().map(point).filter(|&(.., value)| value > least).collect::<Vec<_>>())
    };
    let mut seconds = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let by_event = !BY_RANK.contains(&&name[..]);
        let (event, rank, error) = of(LEAST_SECONDS, by_event, &|row| row.seconds[at]);
        println!("| {name} | {:.2} ns | {:.2} µs | {:.0} % |", event * 1e9, rank * 1e6, error * 100.0);
        seconds.push((name.clone(), event, rank));
    }
    let bytes = |name: &str, by_event: bool, value: &dyn Fn(&Row) -> f64| {
        let (event, rank, error) = of(LEAST_BYTES, by_event, value);
        println!("| {name} | {event:.2} bytes | {rank:.0} bytes | {:.0} % |", error * 100.0);
        (event, rank)
    };
    let definitions = bytes("memory of definitions", false, &|row| row.definitions);
    let memory = bytes("other memory", true, &|row| row.memory - row.definitions);
    let report = bytes("report", false, &|row| row.report);

    let (ranks, each) = CHECKED;
    let trace = bench.trace("stencil", ranks, each)?;
    let measured: f64 = bench.phases(&trace, 1, &[], 3)?.iter().map(|(_, seconds)| seconds).sum();
    let (events, ranks) = (trace.events as f64, f64::from(ranks));
    let expected: f64 = seconds.iter().map(|(_, event, rank)| event * events + rank * ranks).sum();
    let bytes = bench.memory(&trace, 1)?;
    let expected_bytes = (definitions.1 + memory.1) * ranks + memory.0 * events;
    println!(
        "\nA size that was not fitted, {ranks} ranks with {each} events each: {measured:.3} s and {:.1} MB, by the fits \
         {expected:.3} s and {:.1} MB.",
        bytes / 1e6,
        expected_bytes / 1e6
    );

    println!("\nWhat workers tell each other, {} ranks with {} events each.\n", COUNTED.0, COUNTED.1);
    println!("| workers | rounds | messages | bytes | bytes/event |");
    println!("|--:|--:|--:|--:|--:|");
    let trace = bench.trace("stencil", COUNTED.0, COUNTED.1)?;
    let mut counted = Vec::new();
    for workers in WORKERS {
        let options = costs::options(&trace.path, &bench.target());
        let Traffic { rounds, messages, bytes } = traffic(&options, workers)?;
        let each = bytes as f64 / trace.events as f64;
        println!("| {workers} | {rounds} | {messages} | {bytes} | {each:.2} |");
        counted.push((workers as f64, rounds as f64, messages as f64, each));
    }
    let size = trace.bytes as f64 / trace.events as f64;
    Ok(Model { seconds, definitions: definitions.1, memory, report: report.1, traffic: counted, event: size })
}

struct Row {
    ranks: f64,
    events: f64,
    seconds: Vec<f64>,
    definitions: f64,
    memory: f64,
    report: f64,
}

/// Peak memory in bytes for reading and keeping the definitions.
fn definitions(experiment: &std::path::Path) -> Result<f64, Box<dyn Error>> {
    costs::peak(|| {
        std::hint::black_box(Trace::new(Archive::open(experiment)?.definitions()?, Semantics::Corrected)?);
        Ok(())
    })
}

fn predict(model: &Model) {
    let machine = Machine::default();
    println!("\nPredicted. {machine}\n");
    println!(
        "| ranks | events | nodes × processes × threads | open | files | walk to causes | exchange | report | together | memory of a node |"
    );
    println!("|{}", "--:|".repeat(10));
    for (ranks, each, nodes, processes, threads) in LARGE {
        let run = Run { ranks, events: ranks * each, nodes, processes, threads };
        let time = model.time(&run, &machine);
        let [open, files, work, exchange, report] = time;
        println!(
            "| {ranks} | {:.0e} | {nodes} × {processes} × {threads} | {open:.1} s | {files:.1} s | {work:.1} s | {exchange:.1} s | {report:.1} s | {:.1} s | {:.1} GB |",
            run.events,
            time.iter().sum::<f64>(),
            model.memory(&run) / 1e9
        );
    }
}
