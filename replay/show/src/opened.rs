//! Opening: a report, and what it has of details.

use std::fs;
use std::path::{Path, PathBuf};

use cubex::{Cube, Members, Report};
use details::Table;
use details::advice::{ADVICE, AdviceFile};
use details::manifest::{BESIDE, MANIFEST, Manifest, digest, member};

use tracing::debug;

use crate::error::{Error, Result};
use crate::output::Output;
use crate::unrecorded;

/// Reports in an experiment directory, the best first.
const NAMES: [&str; 4] = ["trace.cubex", "scout.cubex", "summary.cubex", "profile.cubex"];

/// What names of reports of a part of the run begin with.
const FOCUSED: &str = "trace.focus-";

/// The attribute of a report that names the part of the run that counts (`replay-analyze --focus`).
const FOCUS: &str = "Replay::Focus";

/// An open report with its details.
#[derive(Debug)]
pub struct Opened {
    /// The file.
    pub path: PathBuf,
    /// The report.
    pub report: Report,
    /// The manifest of its details: `None` in reports of other programs and without details, or if it is damaged.
    pub manifest: Option<Manifest>,
    /// What to change first: `None` in reports for which it was not looked for, or if it is damaged.
    pub advice: Option<AdviceFile>,
    /// Details beside the report, if it has none itself.
    beside: Option<Members>,
    /// Whether it refers to details that cannot be used.
    has_wrong_details: bool,
}

impl Opened {
    /// Opens a `.cubex` file, or the best report in an experiment directory. Damaged details give a warning, and
    /// everything else can be used.
    ///
    /// # Errors
    /// If there is no report, or it cannot be read.
    pub fn open(path: &Path, output: &mut Output<'_>) -> Result<Opened> {
        let path = report_at(path)?;
        let report = Report::open(&path)?;
        let mut opened =
            Opened { path, report, manifest: None, advice: None, beside: None, has_wrong_details: false };
        let (metrics, cnodes) = (opened.cube().metrics.len(), opened.cube().cnodes.len());
        debug!(path = %opened.path.display(), metrics, cnodes, locations = opened.cube().locations.len(), "report opened");
        if let Err(error) = opened.open_details() {
            opened.has_wrong_details = true;
            output.warn(format!("{error}; shown without details (replay-analyze writes them anew)"));
        }
        match opened.member_with_advice() {
            Ok(read) => opened.advice = read.map(|(advice, _)| advice),
            Err(error) => output.warn(format!("{error}; shown without advice")),
        }
        if let Some(focus) = opened.focus() {
            output.warn(format!("{}: only a part of the run counts: {focus}", opened.path.display()));
        }
        if let Some(part) = unrecorded::warning(opened.manifest.as_ref(), opened.cube()) {
            output.warn(format!("{}: {part}", opened.path.display()));
        }
        Ok(opened)
    }

    /// Reads the manifest, in the report or beside it. An archive that only happens to lie there is of another report.
    fn open_details(&mut self) -> Result<()> {
        let attributes = &self.cube().attributes;
        let beside = attributes.iter().find(|it| it.key == BESIDE).map(|it| it.value.clone());
        let manifest = match beside {
            Some(expected) => {
                let path = self.path.with_extension("details");
                let members = Members::open(&path)?;
                let manifest = members.read(MANIFEST)?.filter(|manifest| digest(manifest) == expected);
                self.beside = Some(members);
                Some(manifest.ok_or_else(|| Error::new("details of another report").in_file(&path))?)
            }
            None => self.report.member(MANIFEST)?,
        };
        if let Some(bytes) = manifest {
            let manifest = Manifest::parse(&bytes);
            let wrong = |error| Error::new(format!("member {error}")).in_file(&self.details_path());
            self.manifest = Some(manifest.map_err(wrong)?);
        }
        Ok(())
    }

    /// The member with advice, read and as it is; `None` if the report does not have it.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged.
    fn member_with_advice(&self) -> Result<Option<(AdviceFile, Vec<u8>)>> {
        let Some(bytes) = self.report.member(ADVICE)? else { return Ok(None) };
        let advice = AdviceFile::parse(&bytes);
        let wrong = |error| Error::new(format!("member {error}")).in_file(&self.path);
        Ok(Some((advice.map_err(wrong)?, bytes)))
    }

    /// Advice, with the bytes of its member.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or the report does not have it; the message says how to get it.
    pub fn required_advice(&self) -> Result<(AdviceFile, Vec<u8>)> {
        self.member_with_advice()?.ok_or_else(|| {
            Error::new(format!(
                "{}: no member {ADVICE}, which this command needs: replay-analyze --advice EXPERIMENT looks for advice",
                self.path.display()
            ))
        })
    }

    /// The contents of a member of the report, or of the details beside it.
    fn member(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(match &self.beside {
            Some(members) => members.read(name)?,
            None => self.report.member(name)?,
        })
    }

    /// The part of the run that alone counts in the report, if it is a part.
    pub fn focus(&self) -> Option<&str> {
        let attribute = self.cube().attributes.iter().find(|it| it.key == FOCUS);
        attribute.map(|it| it.value.as_str())
    }

    /// The description of the report.
    pub fn cube(&self) -> &Cube {
        self.report.cube()
    }

    /// The file that has the details: the report, or the archive beside it.
    pub fn details_path(&self) -> PathBuf {
        match self.beside {
            Some(_) => self.path.with_extension("details"),
            None => self.path.clone(),
        }
    }

    /// Adds the file that has the details to an error about one of its tables.
    ///
    /// # Errors
    /// Those of the result.
    pub fn in_details<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| error.in_file(&self.details_path()))
    }

    /// Reads a table of the details; `None` if the report has none of this name.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged.
    pub fn table(&self, name: &str) -> Result<Option<Table>> {
        let member = member(name);
        let Some(bytes) = self.member(&member)? else { return Ok(None) };
        let table = details::parse(&bytes);
        let table =
            self.in_details(table.map_err(|error| Error::new(format!("member {member}: {error}"))))?;
        debug!(name, rows = table.rows(), "table read");
        Ok(Some(table))
    }

    /// Reads a table, and the manifest without which its numbers mean nothing.
    ///
    /// # Errors
    /// As [`table`](Opened::table), and if the report does not have both; the message says how to get them.
    pub fn required_table(&self, name: &str) -> Result<(&Manifest, Table)> {
        match (&self.manifest, self.table(name)?) {
            (Some(manifest), Some(table)) => Ok((manifest, table)),
            (None, _) if self.has_wrong_details => Err(Error::new(format!(
                "{}: this command needs its details, which cannot be used: replay-analyze EXPERIMENT writes them anew",
                self.path.display()
            ))),
            (None, _) if self.focus().is_some() => Err(Error::new(format!(
                "{}: only a part of the run counts, and such reports have no details, which this command needs: \
                 replay-analyze without --focus writes them",
                self.path.display()
            ))),
            (None, _) => Err(Error::new(format!(
                "{}: no member {MANIFEST}, which this command needs: \
                 replay-analyze EXPERIMENT writes reports with details, but not with --details none",
                self.path.display()
            ))),
            (Some(_), None) => Err(Error::new(format!(
                "{}: no member {}, which this command needs: replay-analyze EXPERIMENT writes the report anew",
                self.details_path().display(),
                member(name)
            ))),
        }
    }
}

/// The report that a path means.
fn report_at(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let candidates = NAMES.iter().map(|name| path.join(name));
    if let Some(report) = candidates.into_iter().find(|path| path.is_file()) {
        return Ok(report);
    }
    let mut focused = focused(path);
    if focused.len() == 1 {
        return Ok(focused.remove(0));
    }
    let names = NAMES.join(", ");
    let others = match focused.len() {
        0 => String::new(),
        count => format!("; there are {count} of parts of the run, such as {}", focused[0].display()),
    };
    let path = path.display();
    Err(Error::new(format!(
        "{path}: no report in this directory, expected one of {names}: replay-analyze {path} writes one{others}"
    )))
}

/// Reports of parts of the run (`replay-analyze --focus`) in a directory, by name.
fn focused(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_focused = |name: &str| name.starts_with(FOCUSED) && name.ends_with(".cubex");
    let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_focused));
    let mut all: Vec<PathBuf> = named.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    all.sort();
    all
}
