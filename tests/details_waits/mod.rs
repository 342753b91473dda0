//! Details of waits: the tables `instances`, `chains`, `critical` and those of windows, on real archives, the scripts of
//! `tests/golden`, and random traces.

mod demand;
mod windows;

use std::path::{Path, PathBuf};

use replay::{DetailsPlace, Options, Semantics};

use crate::oracle::random::trace;
use crate::support::parse::Case;
use crate::support::report::Table;
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

/// Whether waits of a metric are those of another one in the statistics, which do not tell kinds of waits for non-blocking
/// operations apart, nor accesses from other calls of one-sided communication.
fn is_in_statistics_of(metric: &str, listed: &str) -> bool {
    metric == listed
        || listed == "mpi_nbcoll_wait" && metric.starts_with("mpi_nbcoll_wait_")
        || metric.replace("mpi_rma_comm_", "mpi_rma_sync_") == listed
}

/// Whether a row is the instance of a line: it has the metric, the severity, and the cause.
fn is_listed_as(details: &Details, row: &Row, (metric, numbers): &(String, Vec<f64>)) -> bool {
    let [_, _, _, duration, _, location, cnode] = numbers[..] else { panic!("{numbers:?}") };
    is_in_statistics_of(details.metric(row), metric)
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

/// Whether the clocks of a trace are right, as far as is known.
fn has_right_clocks(table: &Table) -> bool {
    !table
        .findings()
        .keys()
        .any(|name| ["before", "backwards", "clock", "cyclic", "far"].iter().any(|word| name.contains(word)))
}

#[test]
fn hops_of_chains_join_in_place_and_time() {
    let (mut longest, mut with_origin) = (0, 0);
    each(
        |options| options,
        |name, _, report| {
            let details = Details::open(report);
            let right = has_right_clocks(&Table::read(report));
            let (instances, chains) = (details.rows("instances").unwrap(), details.rows("chains").unwrap());
            for (number, instance) in (0..).zip(&instances) {
                let hops: Vec<&Row> = chains.iter().filter(|row| row["instance"] == number).collect();
                for column in ["location", "cnode", "begin", "ticks", "cause_location", "cause_cnode"] {
                    assert_eq!(hops[0][column], instance[column], "{name}: {column} of {number}");
                }
                for (at, pair) in hops.windows(2).enumerate() {
                    let [hop, next] = pair else { unreachable!() };
                    assert_eq!(next["hop"], at as i128 + 1, "{name}: {next:?}");
                    assert_eq!(next["location"], hop["cause_location"], "{name}: {hop:?} {next:?}");
                    assert!(next["ticks"] * 10 >= instance["ticks"], "{name}: {hop:?} {next:?}");
                    let end = next["begin"] + next["ticks"];
                    assert!(!right || end <= hop["cause_time"], "{name}: {instance:?}, {hop:?} {next:?}");
                    assert!(hop["cause_cnode"] != NONE && next["cnode"] != NONE, "{name}: {hop:?} {next:?}");
                }
                assert!(hops.len() <= 16, "{name}: {number}");
                longest = longest.max(hops.len());
                with_origin += usize::from(instance["origin_cnode"] != NONE);
                assert!(instance["direct"] <= instance["ticks"], "{name}: {instance:?}");
            }
        },
    );
    assert!(longest >= 4, "the longest chain has {longest} waits");
    assert!(with_origin > 500, "{with_origin} instances have an origin");
}

#[test]
fn critical_path_over_time_is_as_long_as_the_metric() {
    let mut hops = [0; 5];
    each(
        |options| options,
        |name, _, report| {
            let details = Details::open(report);
            let table = Table::read(report);
            let rows = details.rows("critical").unwrap();
            let metric = table.metric("critical_path").unwrap();
            let of_metric = table.values.range((metric, 0, 0)..(metric + 1, 0, 0));
            let ticks = |seconds: f64| (seconds * details.manifest.ticks_per_second as f64).round() as i128;
            let of_metric: i128 = of_metric.map(|(_, &seconds)| ticks(seconds)).sum();
            let of_rows: i128 = rows.iter().map(|row| row["end"] - row["begin"]).sum();
            assert_eq!(of_rows, of_metric, "{name}");
            assert!(rows.is_sorted_by_key(|row| row["begin"]), "{name}");
            for row in &rows {
                assert!(
                    0 < row["cnode_ticks"] && row["cnode_ticks"] <= row["end"] - row["begin"],
                    "{name}: {row:?}"
                );
                hops[usize::try_from(row["hop"]).unwrap()] += 1;
            }
            if details.manifest.threads == 1 && has_right_clocks(&table) {
                for pair in rows.windows(2) {
                    // Time in the call before the operation begins is on the path at whoever waits there, too.
                    let is_collective = pair[0]["hop"] == 2;
                    assert!(is_collective || pair[0]["end"] <= pair[1]["begin"], "{name}: {pair:?}");
                }
            }
            assert!(details.is_complete("critical"), "{name}");
        },
    );
    // Streams of accelerators are in golden scripts only.
    assert!(hops[..4].iter().all(|&count| count > 50) && hops[4] > 5, "{hops:?}");
}

#[test]
fn without_root_causes_there_are_no_tables_of_them() {
    each(
        |options| Options { causes: false, ..options },
        |name, _, report| {
            let details = Details::open(report);
            assert!(details.rows("chains").is_none() && details.rows("critical").is_none(), "{name}");
            let instances = details.rows("instances").unwrap();
            assert!(instances.iter().all(|row| row["origin_cnode"] == NONE && row["direct"] == -1), "{name}");
        },
    );
}
