//! Prints a report: `dump report.cubex` lists the metrics with their totals, `dump report.cubex METRIC` the
//! severities of one metric by call path (exclusive and inclusive, summed over locations).

use std::process::ExitCode;

use cubex::{CnodeId, LocationId, MetricId, Report};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.as_slice() {
        [path] => Report::open(path).and_then(|report| metrics(&report)),
        [path, metric] => Report::open(path).and_then(|report| match report.cube().metric_named(metric) {
            Some(metric) => call_tree(&report, metric),
            None => {
                eprintln!("{path}: no metric {metric}");
                Ok(())
            }
        }),
        _ => {
            eprintln!("usage: dump REPORT [METRIC]");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn metrics(report: &Report) -> Result<(), cubex::Error> {
    let cube = report.cube();
    for attribute in &cube.attributes {
        println!("# {}: {}", attribute.key, attribute.value);
    }
    println!("# {} call paths, {} locations", cube.cnodes.len(), cube.locations.len());
    let depths = depths(cube.metrics.iter().map(|metric| metric.parent.map(|parent| parent.0)));
    for (id, metric) in cube.metrics.iter().enumerate() {
        let rows = report.rows(MetricId(id))?.cnodes().len();
        let total = match report.severities(MetricId(id)) {
            Ok(severities) => severities.total().to_string(),
            Err(_) => "-".into(),
        };
        let name = format!("{:indent$}{}", "", metric.unique_name, indent = 2 * depths[id]);
        println!("{name:40} {total:>24} {:8} {} rows, {}", metric.unit, rows, metric.data_type);
    }
    Ok(())
}

fn call_tree(report: &Report, metric: MetricId) -> Result<(), cubex::Error> {
    let cube = report.cube();
    let severities = report.severities(metric)?;
    let sum = |value: &dyn Fn(LocationId) -> f64| (0..cube.locations.len()).map(LocationId).map(value).sum();
    let depths = depths(cube.cnodes.iter().map(|cnode| cnode.parent.map(|parent| parent.0)));
    println!("{:>24} {:>24}", "exclusive", "inclusive");
    for (id, cnode) in cube.cnodes.iter().enumerate() {
        let exclusive: f64 = sum(&|location| severities.exclusive(CnodeId(id), location));
        let inclusive: f64 = sum(&|location| severities.inclusive(CnodeId(id), location));
        let region = &cube.regions[cnode.region.0].name;
        println!("{exclusive:24} {inclusive:24} {:indent$}{id} {region}", "", indent = 2 * depths[id]);
    }
    Ok(())
}

/// Depth of each node; parents come first.
fn depths(parents: impl Iterator<Item = Option<usize>>) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::new();
    for parent in parents {
        depths.push(parent.map_or(0, |parent| depths[parent] + 1));
    }
    depths
}
