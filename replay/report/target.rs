//! Target: the path of the report, and checks of the existing files there and at that of its statistics, before the work starts.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use cubex::{CAUSE_WORDS, Report, STATISTICS_TITLES, Writer};
use details::manifest::MANIFEST;
use otf2::Archive;

use super::cube::CREATOR;
use super::statistics::EXTENSION;
use super::write::DETAILS;
use crate::error::Error;
use crate::focus::Focus;
use crate::options::{DetailsPlace, Options};
use crate::structure::LoopChoice;

/// Returns the path of the report.
pub fn target(options: &Options, archive: &Archive) -> PathBuf {
    let focus = options.focus.iter().map(Focus::file_name);
    // The same iterations of another loop are another part of the run.
    let focus: Vec<String> = focus.chain(options.choice.as_ref().map(LoopChoice::file_name)).collect();
    let name = match options.focus.is_empty() {
        true => "trace.cubex".to_owned(),
        false => format!("trace.focus-{}.cubex", focus.join("+")),
    };
    let report = options.report.clone().unwrap_or_else(|| archive.directory().join(name));
    // A symbolic link is kept: the file that it points to is replaced.
    if report.is_symlink() { report.canonicalize().unwrap_or(report) } else { report }
}

/// Checks before the work starts that the report can be written at the end: the directory must be writable,
/// and existing files must be ours, unless `force` is given.
///
/// # Errors
/// If it cannot, in words for the user.
pub fn check_target(report: &Path, details: DetailsPlace, force: bool) -> Result<(), Error> {
    check(report, force, is_our_report)?;
    Writer::probe(report)?;
    check(&report.with_extension(EXTENSION), force, are_our_statistics)?;
    match details {
        DetailsPlace::Beside => check(&report.with_extension(DETAILS), force, are_our_details),
        DetailsPlace::Inside | DetailsPlace::Nowhere => Ok(()),
    }
}

fn check(path: &Path, force: bool, is_ours: impl Fn(&Path) -> bool) -> Result<(), Error> {
    if path.exists() && !path.is_file() {
        return Err(Error::new(format!(
            "{}: there is something that is not a file; choose another name with -o",
            path.display()
        )));
    }
    if !force && path.exists() && !is_ours(path) {
        return Err(Error::new(format!(
            "{}: there is a file that Replay has not written; choose another name with -o, or replace it with --force",
            path.display()
        )));
    }
    Ok(())
}

fn is_our_report(path: &Path) -> bool {
    Report::open(path).is_ok_and(|report| {
        let attributes = &report.cube().attributes;
        attributes.iter().any(|attribute| attribute.key == "Creator" && attribute.value.starts_with(CREATOR))
    })
}

/// Whether an archive of details is ours: its first member is a manifest.
fn are_our_details(path: &Path) -> bool {
    let mut start = [0; 530];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok()
        && start.starts_with(MANIFEST.as_bytes())
        && start[512..].starts_with(b"{\"schema\":\"replay")
}

/// Whether a file is ours. The format has no field for a creator, but only our files name the cause of an
/// instance. Without instances there is nothing to lose.
fn are_our_statistics(path: &Path) -> bool {
    /// Upper bound of the size of our files.
    const MOST: u64 = 1 << 20;
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let mut instances = text.lines().filter(|line| line.starts_with("- ")).peekable();
    let says_cause = |line: &str| CAUSE_WORDS.iter().all(|word| line.contains(word));
    read.is_ok()
        && text.starts_with(STATISTICS_TITLES)
        && (instances.peek().is_none() || instances.any(says_cause))
}
