//! Details of waits: the tables `instances`, `chains`, `critical` and those of windows, on real archives, the scripts of
//! `tests/golden`, and random traces.

use std::path::{Path, PathBuf};

use replay::{DetailsPlace, Options, Semantics};

use crate::oracle::random::trace;
use crate::support::parse::Case;
use crate::support::tables::{Details, Row};
use crate::support::{archives, golden, in_memory, name, options, statistics, write};

/// Number of random traces.
const TRACES: u64 = 120;

/// Stands for no number.
const NONE: i128 = u32::MAX as i128;

/// Calls `check` with each archive, script and random trace, and its report.
fn each(change: impl Fn(Options) -> Options, mut check: impl FnMut(&str, &Path, &Path)) {
    let directory = in_memory();
    let scripts = golden().into_iter().map(|script| (name(&script), Case::read(&script).trace));
    let random = (0..TRACES).map(|seed| (format!("random-{seed}"), trace(seed)));
    let mut experiments: Vec<PathBuf> = archives();
    for (name, trace) in scripts.chain(random) {
        let experiment = directory.path().join(name);
        write::write(&trace, &experiment);
        experiments.push(experiment);
    }
    let report = directory.path().join("report.cubex");
    for experiment in experiments {
        let options = Options {
            details: Some(DetailsPlace::Inside),
            ..change(options(&experiment, &report, Semantics::Corrected))
        };
        replay::analyze(&options, &mut replay::exchange::Solo, &mut replay::progress::Progress::silent())
            .unwrap();
        check(&name(&experiment), &experiment, &report);
    }
}

/// An instance of a wait state in the statistics: numbers by their names, and that of the metric.
fn listed(report: &Path) -> Vec<(String, Vec<f64>)> {
    let mut metric = String::new();
    let mut all = Vec::new();
    for line in statistics::lines(&statistics::text(report)) {
        match line.strip_prefix("- ") {
            None => metric = line.split(' ').next().unwrap().to_owned(),
            Some(fields) => {
                let numbers = fields.split(' ').filter_map(|word| word.parse().ok()).collect();
                all.push((metric.clone(), numbers));
            }
        }
    }
    all
}

/// Whether a row is the instance of a line: it has the metric, the severity, and the cause.
fn is_listed_as(details: &Details, row: &Row, (metric, numbers): &(String, Vec<f64>)) -> bool {
    let [_, _, _, duration, _, location, cnode] = numbers[..] else { panic!("{numbers:?}") };
    details.metric(row) == metric
        && (details.seconds(row["all_ticks"]) - duration).abs() < 1e-9 + duration * 1e-12
        && (row["cause_location"] as f64, row["cause_cnode"] as f64) == (location, cnode)
}

#[test]
fn instances_have_what_the_statistics_list_in_order() {
    let mut rows = 0;
    each(
        |options| Options { instances: 20, ..options },
        |name, _, report| {
            let details = Details::open(report);
            let instances = details.rows("instances").unwrap();
            let listed = listed(report);
            for line in &listed {
                assert!(instances.iter().any(|row| is_listed_as(&details, row, line)), "{name}: {line:?}");
            }
            assert!(instances.len() <= listed.len().max(20), "{name}");
            assert!(instances.is_sorted_by(|a, b| a["all_ticks"] >= b["all_ticks"]), "{name}");
            for row in &instances {
                assert!(row["ticks"] > 0 && row["all_ticks"] >= row["ticks"], "{name}: {row:?}");
                assert!(
                    row["enter"] <= row["leave"] && row["cause_enter"] <= row["cause_leave"],
                    "{name}: {row:?}"
                );
                assert!(row["enter"] <= row["begin"] && row["begin"] <= row["leave"], "{name}: {row:?}");
                assert!(row["cnode"] != NONE && row["cause_cnode"] != NONE, "{name}: {row:?}");
            }
            rows += instances.len();
        },
    );
    assert!(rows > 1000, "{rows} rows");
}
