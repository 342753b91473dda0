//! Target: the path of the report, and checks of the existing files there and at that of its statistics, before the work starts; what is
//! left to do when the report is there.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cubex::{CAUSE_WORDS, Report, STATISTICS_TITLES, Writer};
use details::advice::AdviceFile;
use details::manifest::MANIFEST;
use otf2::Archive;

use super::cube::CREATOR;
use super::statistics::EXTENSION;
use super::write::DETAILS;
use crate::error::Error;
use crate::focus::Focus;
use crate::io::OutputFile;
use crate::options::{DetailsPlace, Options};
use crate::structure::LoopChoice;

/// The option that names a file for advice.
const ADVICE_JSON: &str = "--advice-json";

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
    followed(report)
}

/// Keeps a symbolic link: the file that it points to is replaced.
pub(super) fn followed(path: PathBuf) -> PathBuf {
    if path.is_symlink() { path.canonicalize().unwrap_or(path) } else { path }
}

/// Returns the path of the report's second name, if it gets one.
pub fn link(options: &Options, archive: &Archive) -> Option<PathBuf> {
    options.link.as_ref().map(|name| archive.directory().join(name))
}

/// Checks before the work starts that the report can be written at the end, and get its second name: the directory must be writable,
/// and existing files must be ours, unless `force` is given.
///
/// # Errors
/// If it cannot, in words for the user.
pub fn check_target(report: &Path, link: Option<&Path>, options: &Options) -> Result<(), Error> {
    let force = options.force;
    check(report, (force, Some("-o")), is_our_report)?;
    Writer::probe(report)?;
    check(&report.with_extension(EXTENSION), (force, Some("-o")), are_our_statistics)?;
    match options.details_place() {
        DetailsPlace::Beside => check(&report.with_extension(DETAILS), (force, Some("-o")), are_our_details)?,
        DetailsPlace::Inside | DetailsPlace::Nowhere => {}
    }
    if let Some(link) = link {
        check(link, (force, None), is_our_report)?;
        Writer::probe_file(link)?;
    }
    let of_report = [report.to_owned(), report.with_extension(EXTENSION), report.with_extension(DETAILS)];
    let mut taken = of_report.map(|path| (path, "that is the report, or what goes beside it")).to_vec();
    if let Some(file) = options.advice.file() {
        check_file(&mut taken, followed(file.clone()), (force, ADVICE_JSON), is_our_advice)?;
    }
    for OutputFile { path, format } in &options.io_model.files {
        let is_ours = |path: &Path| format.is_ours(path);
        check_file(&mut taken, followed(path.clone()), (force, format.option()), is_ours)?;
    }
    Ok(())
}

/// Gives a report that is in place its second name, as a hard link, or as a copy where there are none; the name never stands for anything
/// but a complete report.
///
/// # Errors
/// If it cannot get it. The report is untouched.
pub fn put_link_in_place(report: &Path, link: &Path) -> Result<(), Error> {
    let failed = |cause: io::Error| {
        let (link, report) = (link.display(), report.display());
        Error::new(format!("{link}: cannot give the report a second name: {cause}; it is complete: {report}"))
    };
    // Two names of one file cannot replace each other.
    if same_file(report, link) {
        return Ok(());
    }
    let (name, directory) = (link.file_name().unwrap_or_default(), link.parent().unwrap_or(Path::new(".")));
    let mut hidden = OsString::from(".");
    hidden.push(name);
    let name_it = |path: &Path| fs::hard_link(report, path).or_else(|_| copy(report, path));
    let named = tempfile::Builder::new().prefix(&hidden).make_in(directory, name_it).map_err(failed)?;
    named.into_temp_path().persist(link).map_err(|error| failed(error.error))
}

fn copy(report: &Path, path: &Path) -> io::Result<()> {
    let mut to = File::create_new(path)?;
    io::copy(&mut File::open(report)?, &mut to)?;
    to.sync_all()
}

/// Whether two paths are names of one file.
fn same_file(one: &Path, other: &Path) -> bool {
    let number = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    number(one).is_some() && number(one) == number(other)
}

/// Removes statistics that belong to an earlier report: viewers would take them for those of this one.
///
/// # Errors
/// If they cannot be removed.
pub fn remove_statistics(report: &Path) -> Result<(), Error> {
    let path = report.with_extension(EXTENSION);
    match fs::remove_file(&path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(Error::new(format!(
            "{}: cannot remove the statistics of an earlier report: {cause}",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Checks likewise that something can be written to a file of its own, which is then taken.
fn check_file(
    taken: &mut Vec<(PathBuf, &str)>,
    file: PathBuf,
    (force, option): (bool, &str),
    is_ours: impl Fn(&Path) -> bool,
) -> Result<(), Error> {
    let whole = |path: &Path| {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Some((directory.unwrap_or(Path::new(".")).canonicalize().ok()?, path.file_name()?.to_owned()))
    };
    let is_same = |other: &Path| whole(other).is_some_and(|other| whole(&file).as_ref() == Some(&other));
    if let Some((_, what)) = taken.iter().find(|(other, _)| is_same(other)) {
        return Err(Error::new(format!("{}: {what}; choose another name with {option}", file.display())));
    }
    check(&file, (force, Some(option)), is_ours)?;
    Writer::probe_file(&file)?;
    taken.push((file, "that is asked for twice"));
    Ok(())
}

fn check(
    path: &Path,
    (force, option): (bool, Option<&str>),
    is_ours: impl Fn(&Path) -> bool,
) -> Result<(), Error> {
    let shown = path.display();
    let other_name = option.map(|option| format!("choose another name with {option}"));
    if path.exists() && !path.is_file() {
        let way = other_name.as_deref().unwrap_or("move it away");
        return Err(Error::new(format!("{shown}: there is something that is not a file; {way}")));
    }
    if !force && path.exists() && !is_ours(path) {
        let way = other_name.map_or(String::new(), |way| format!("{way}, or "));
        return Err(Error::new(format!(
            "{shown}: there is a file that Replay has not written; {way}replace it with --force"
        )));
    }
    Ok(())
}

/// Whether a file is advice of ours, or has nothing to lose.
fn is_our_advice(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes.is_empty() || AdviceFile::parse(&bytes).is_ok())
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
