//! Tables of the main loop (`docs/details.md`): they agree with each other and with the report.

use std::collections::BTreeMap;

use replay::Semantics;

use crate::support::report::Table;
use crate::support::tables::{Details, Row};
use crate::support::{analyze, archives, in_memory, name};

/// Sums of rows, by some of their columns.
fn sums<const N: usize>(rows: &[Row], by: [&str; N], of: &str) -> BTreeMap<[i128; N], i128> {
    let mut sums = BTreeMap::new();
    for row in rows {
        *sums.entry(by.map(|column| row[column])).or_default() += row[of];
    }
    sums
}

#[test]
fn values_of_iterations_and_outside_sum_up_to_the_report() {
    let directory = in_memory();
    let path = directory.path().join("r.cubex");
    let mut compared = [0, 0];
    for experiment in archives() {
        analyze(&experiment, &path, Semantics::Corrected).unwrap();
        let details = Details::open(&path);
        let Some(main_loop) = &details.manifest.main_loop else { continue };
        let (report, values) = (Table::read(&path), details.rows("series_values").unwrap());
        let (ticks, parts) = (sums(&values, ["metric"], "sum"), sums(&values, ["metric"], "fraction"));
        for (metric, id) in (0..).zip(&main_loop.metrics) {
            let of_report = report.metric(id).unwrap();
            let is_leaf = report.metrics.iter().all(|it| it.2 != Some(of_report));
            if !is_leaf {
                continue;
            }
            let all: f64 = (0..report.locations).map(|location| report.sum(id, location)).sum();
            let sum = ticks[&[metric]] as f64 + parts[&[metric]] as f64 / (1_u64 << 56) as f64;
            let sum = if report.is_time(id) { sum * details.seconds(1) } else { sum };
            assert!((sum - all).abs() <= 1e-9 * all.abs(), "{}: {id}: {sum} {all}", name(&experiment));
            compared[usize::from(id.starts_with("delay") || id == "critical_path")] += 1;
        }
    }
    assert!(compared[0] > 100 && compared[1] > 50, "{compared:?}");
}

#[test]
fn tables_of_the_loop_agree_with_each_other() {
    let directory = in_memory();
    let path = directory.path().join("r.cubex");
    for experiment in archives() {
        let name = name(&experiment);
        analyze(&experiment, &path, Semantics::Corrected).unwrap();
        let details = Details::open(&path);
        let Some(main_loop) = &details.manifest.main_loop else {
            assert!(details.rows("series").is_none(), "{name}");
            continue;
        };
        let series = details.rows("series").unwrap();
        let numbers: Vec<i128> = series.iter().map(|row| row["iteration"]).collect();
        assert_eq!(numbers, (1..=i128::from(main_loop.iterations)).collect::<Vec<_>>(), "{name}");
        // Iterations of three or more have kinds, with a representative each.
        let of_kind: u64 = main_loop.kinds.iter().map(|kind| kind.iterations).sum();
        assert!(of_kind == main_loop.iterations || main_loop.iterations < 3, "{name}");
        for (number, kind) in (0..).zip(&main_loop.kinds) {
            let row = &series[usize::try_from(kind.representative).unwrap() - 1];
            assert_eq!((row["kind"], row["flags"] & 8), (number, 8), "{name}");
        }
        // Details add up to the values of their iterations; costs lose fractions.
        let values = sums(&details.rows("series_values").unwrap(), ["metric", "iteration"], "sum");
        let of_details = sums(&details.rows("series_details").unwrap(), ["metric", "iteration"], "value");
        for (key, &sum) in &of_details {
            let id = &main_loop.metrics[usize::try_from(key[0]).unwrap()];
            let lost = values[key] - sum;
            let may_lose = id.starts_with("delay") || id.starts_with("mpi_wait_");
            assert!(
                lost == 0 || may_lose && (0..=i128::from(details.manifest.locations)).contains(&lost),
                "{name}: {id}: {lost}"
            );
        }
        assert!(!of_details.is_empty() || main_loop.iterations < 3, "{name}");
        // Groups of the map are as many as the locations, and each worker's part is in it once.
        assert_eq!((main_loop.map_span, main_loop.map_block), (1, 1), "{name}");
    }
}
