//! Which reports are A and which are B.

use std::path::PathBuf;

use super::Args;
use crate::commands::history;
use crate::compare::reading::Reading;
use crate::compare::side::Side;
use crate::error::{Error, Result};
use crate::opened::Opened;
use crate::output::Output;

/// The files of both sides. Those of A are empty if a history is A.
///
/// # Errors
/// If it is not clear which they are.
pub(super) fn files(args: &Args) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let Args { files, others, .. } = args;
    if args.against.is_some() {
        return Ok((Vec::new(), files.clone()));
    }
    if !others.is_empty() {
        let option = others.iter().find(|file| file.to_string_lossy().starts_with("--") && !file.exists());
        if let Some(option) = option {
            let option = option.display();
            return Err(Error::new(format!(
                "{option}: found behind --, expected files only: options go before the files"
            )));
        }
        return Ok((files.clone(), others.clone()));
    }
    match &files[..] {
        [a, b] => Ok((vec![a.clone()], vec![b.clone()])),
        [a, .., b] if args.scaling.is_some() => Ok((vec![a.clone()], vec![b.clone()])),
        files => Err(Error::new(format!(
            "found {} reports, expected two, or several on each side of --, as in 'diff A1 A2 -- B1 B2'",
            files.len()
        ))),
    }
}

/// Opens the reports of both sides. If one has no manifest, manifests are not used at all: sums of metrics and the numbers of
/// a manifest are times between slightly different events.
///
/// # Errors
/// If one cannot be read.
pub(super) fn open(a: &[PathBuf], b: &[PathBuf], output: &mut Output<'_>) -> Result<[Vec<Opened>; 2]> {
    let mut open =
        |files: &[PathBuf]| files.iter().map(|file| Opened::open(file, output)).collect::<Result<Vec<_>>>();
    let mut opened = [open(a)?, open(b)?];
    let all = || opened.iter().flatten();
    let without =
        all().find(|opened| opened.manifest.is_none()).map(|opened| opened.path.display().to_string());
    if let Some(without) = without.filter(|_| all().any(|opened| opened.manifest.is_some())) {
        output.warn(format!(
            "{without}: no details in this report: all are compared by their metrics alone, as if none had any"
        ));
        opened.iter_mut().flatten().for_each(|opened| opened.manifest = None);
    }
    Ok(opened)
}

/// Reads both sides.
///
/// # Errors
/// If runs of a side are not alike, or the history has none like B.
pub(super) fn read<'r>(
    args: &Args,
    opened: &'r [Vec<Opened>; 2],
    output: &mut Output<'_>,
) -> Result<[Side<'r>; 2]> {
    let read = |opened: &'r [Opened]| {
        let runs = opened.iter().map(|opened| Reading::read(opened, args.all)).collect::<Result<Vec<_>>>()?;
        Side::new(runs, args.against.is_some())
    };
    let b = read(&opened[1])?;
    let a = match &args.against {
        Some(log) if args.all => {
            return Err(Error::new(
                "--all with --against: expected one of them; a log has no start-up and shutdown",
            )
            .in_file(log));
        }
        Some(log) => Side::new(history::last(log, b.first(), args.last, output)?, true)?,
        None => read(&opened[0])?,
    };
    Ok([a, b])
}
