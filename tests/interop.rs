//! Interoperability: pycubexr reads our reports, and `otf2-print` the archives of scripts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use replay::Semantics;
use skip::{Need, skip};

use crate::support::parse::Case;
use crate::support::report::Table;
use crate::support::{analyze, archive, fresh, golden, name, project, random, run, write};

/// The Python that has pycubexr, if any.
pub(crate) fn python() -> Option<PathBuf> {
    let python = std::env::var_os("REPLAY_PYTHON").map_or_else(|| "python3".into(), PathBuf::from);
    let probe = Command::new(&python).args(["-c", "import pycubexr"]).output();
    if probe.is_ok_and(|probe| probe.status.success()) {
        return Some(python);
    }
    skip(
        Need::Python,
        format!("{} cannot import pycubexr (REPLAY_PYTHON names another one)", python.display()),
    );
    None
}

#[test]
fn pycubexr_reads_the_values_that_our_reader_reads() {
    let Some(python) = python() else { return };
    let directory = fresh();
    let mut experiments: Vec<PathBuf> = ["comms.7", "hybrid.2x3", "io.4", "rma.4"].map(archive).into();
    for script in ["two_programs", "accelerator", "calling_contexts", "fork_join_barrier"] {
        let case = Case::read(&project("tests/golden").join(format!("{script}.trace")));
        let experiment = directory.path().join(script);
        write::write(&case.trace, &experiment);
        experiments.push(experiment);
    }
    for experiment in experiments {
        let report = directory.path().join("r.cubex");
        analyze(&experiment, &report, Semantics::Corrected).unwrap();
        let mut script = Command::new(&python);
        script.env("PYTHONIOENCODING", "utf-8").arg(project("tests/interop/print_report.py")).arg(&report);
        let printed = run::run(&mut script);
        printed.expect(0);
        let table = Table::read(&report);
        let mut values = BTreeMap::new();
        let (mut paths, mut metrics) = (BTreeMap::new(), Vec::new());
        for line in printed.stdout.lines() {
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["path", id, path] => {
                    paths.insert(id.parse::<usize>().unwrap(), path);
                }
                ["metric", name, unit] => metrics.push((name.to_owned(), unit.to_owned())),
                ["value", metric, path, location, value] => {
                    let key = (metric.to_owned(), path.parse().unwrap(), location.parse().unwrap());
                    values.insert(key, hexadecimal(value));
                }
                _ => panic!("{line:?}"),
            }
        }
        let ours = table.values.iter().map(|(&(metric, path, location), &value)| {
            ((table.metrics[metric].0.clone(), path, location), value)
        });
        let what = experiment.display();
        assert_eq!(values, ours.collect::<BTreeMap<(String, usize, usize), f64>>(), "{what}");
        assert!(values.len() > 10, "{what}");
        assert!(paths.values().eq(&table.paths), "{what}: call paths differ");
        let mut known: Vec<_> = table.metrics.iter().map(|it| (it.0.clone(), it.1.clone())).collect();
        known.sort();
        metrics.sort();
        assert_eq!(metrics, known, "{what}");
    }
}

/// Parses the output of Python's `float.hex`.
fn hexadecimal(text: &str) -> f64 {
    let (mantissa, exponent) = text.strip_prefix("0x").and_then(|rest| rest.split_once('p')).unwrap();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = u64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap();
    digits as f64 * 2f64.powi(exponent.parse::<i32>().unwrap() - 4 * fraction.len() as i32)
}

#[test]
fn otf2_print_accepts_what_scripts_and_random_traces_write() {
    if Command::new("otf2-print").arg("--version").output().is_err() {
        skip(Need::Otf2Print, "archives of scripts: there is no otf2-print");
        return;
    }
    let mut traces: Vec<_> = golden()
        .iter()
        .map(|script| (name(script), Case::read(script).trace))
        .filter(|(_, trace)| trace.streams.iter().all(|stream| stream.cut == 0 && !stream.missing))
        .collect();
    traces.extend((0..20).map(|seed| (format!("random trace {seed}"), random::trace(seed))));
    for (name, trace) in traces {
        let directory = fresh();
        write::write(&trace, directory.path());
        let mut print = Command::new("otf2-print");
        let printed = run::run(print.arg("--silent").arg(directory.path().join("traces.otf2")));
        assert_eq!(printed.status, Some(0), "{name}: {}", printed.stderr);
    }
}
