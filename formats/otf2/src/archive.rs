//! An archive on disk: finds, names and opens its files.
//!
//! All paths consist of the anchor's directory, its name, and location ids, which are numbers: no archive can
//! make its reader touch a file elsewhere.

use crate::Error;
use crate::anchor::{Anchor, SION};
use crate::cursor::EventCursor;
use crate::definition_cursor::DefinitionCursor;
use crate::local::LocalDefinitions;
use crate::sion::Containers;
use files::{FileBytes, Io};
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Endings of the files of locations.
const EVENTS: &str = "evt";
const LOCAL_DEFINITIONS: &str = "def";

/// An archive that can be read: its anchor has been checked.
#[derive(Clone, Debug)]
pub struct Archive {
    anchor: Anchor,
    anchor_path: PathBuf,
    directory: PathBuf,
    name: OsString,
    io: Io,
    /// Where locations are, if they share SION containers.
    containers: Option<Arc<Containers>>,
}

impl Archive {
    /// Opens the archive with this anchor file, or the one in this directory: `traces.otf2`, else the only
    /// `*.otf2`.
    ///
    /// # Errors
    /// If there is no anchor file, or it describes an archive that this crate cannot read. If an archive in SION
    /// containers has no map of them, or that is corrupt.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let anchor_path = if path.is_dir() { anchor_in(path)? } else { path.to_owned() };
        if path.is_dir() {
            stay_inside(path, &anchor_path)?;
        }
        let file = FileBytes::open(&anchor_path).map_err(|error| {
            if error.cause.kind() == ErrorKind::NotFound && anchor_path == path {
                let advice = "name an experiment directory, or the anchor file (*.otf2) in it";
                return Error::file(path, format!("there is no such file or directory: {advice}"));
            }
            error.into()
        })?;
        let anchor = Anchor::parse(&file, &anchor_path)?;
        anchor.check(&anchor_path)?;
        let directory = anchor_path.parent().unwrap_or(Path::new("")).to_owned();
        // A path that could be read as a file has a name.
        let name = anchor_path.file_stem().unwrap_or_default().to_owned();
        // One check covers all files in the directory.
        let of_locations = directory.join(&name);
        stay_inside(&directory, &of_locations)?;
        let containers = match anchor.substrate {
            SION => {
                let map = anchor_path.with_extension("srm");
                stay_inside(&directory, &map)?;
                Some(Arc::new(Containers::open(&map, of_locations)?))
            }
            _ => None,
        };
        Ok(Archive { anchor, anchor_path, directory, name, io: Io::default(), containers })
    }

    /// The same archive, with this way of loading the files of locations into memory. What comes from SION
    /// containers is always read.
    pub fn by(self, io: Io) -> Self {
        Archive { io, ..self }
    }

    /// The content of the anchor file.
    pub fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// The directory of the anchor; empty for the current one.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Name of the archive: the anchor's without `.otf2`, usually `traces`.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Path of the anchor.
    pub fn anchor_path(&self) -> &Path {
        &self.anchor_path
    }

    /// Path of the global definitions.
    pub fn definition_path(&self) -> PathBuf {
        let mut file = self.name.clone();
        file.push(".def");
        self.directory.join(file)
    }

    /// Path of the file with the events of a location: its own, or the container that it shares with others.
    pub fn event_path(&self, location: u64) -> PathBuf {
        self.location_path(location, EVENTS)
    }

    /// Path of the file with the definitions of a location: its own, or the container that it shares with
    /// others.
    pub fn local_definition_path(&self, location: u64) -> PathBuf {
        self.location_path(location, LOCAL_DEFINITIONS)
    }

    fn location_path(&self, location: u64, kind: &str) -> PathBuf {
        let container = self.containers.as_ref().and_then(|all| all.path_of(location, kind));
        container.unwrap_or_else(|| self.directory.join(&self.name).join(format!("{location}.{kind}")))
    }

    /// Size of the event file of a location in bytes, or `None` if it is not there.
    pub fn event_bytes(&self, location: u64) -> Option<u64> {
        match &self.containers {
            None => std::fs::metadata(self.event_path(location)).ok().map(|status| status.len()),
            Some(containers) => containers.find(location, EVENTS).ok().map(|pieces| pieces.bytes()),
        }
    }

    /// Whether there is a file of the definitions of a location.
    pub fn has_local_definitions(&self, location: u64) -> bool {
        match &self.containers {
            None => self.local_definition_path(location).exists(),
            Some(containers) => containers.find(location, LOCAL_DEFINITIONS).is_ok(),
        }
    }

    /// The global definitions, with every reference checked.
    ///
    /// # Errors
    /// If the file is missing or corrupt, or definitions contradict each other.
    pub fn definitions(&self) -> Result<model::Definitions, Error> {
        let file = self.definition_file()?;
        self.definition_records(&file).resolve()
    }

    /// The file of the global definitions.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn definition_file(&self) -> Result<FileBytes, Error> {
        let path = self.definition_path();
        self.open_inside(path.clone(), self.io).map_err(|error| match error.is_not_found() {
            true => Error::file(
                &path,
                "there are no global definitions: the archive is incomplete; copy it again, or record the program again",
            ),
            false => error,
        })
    }

    /// The records of [`definition_file`](Archive::definition_file).
    pub fn definition_records<'a>(&self, file: &'a FileBytes) -> DefinitionCursor<'a> {
        DefinitionCursor::global(file, file.path(), self.anchor.definition_chunk_size)
    }

    /// Id mappings and clock offsets of a location. Without a local definition file, references and times are
    /// global.
    ///
    /// # Errors
    /// If the file is there but corrupt.
    pub fn local_definitions(&self, location: u64) -> Result<LocalDefinitions, Error> {
        match self.local_definition_file(location) {
            Err(error) if error.is_not_found() => Ok(LocalDefinitions::default()),
            Err(error) => Err(error),
            Ok(file) => LocalDefinitions::collect(self.local_definition_records(&file)),
        }
    }

    /// The file of the definitions of a location.
    ///
    /// # Errors
    /// If it cannot be read; [`Error::is_not_found`] if it does not exist, which is not unusual.
    pub fn local_definition_file(&self, location: u64) -> Result<FileBytes, Error> {
        self.location_file(location, LOCAL_DEFINITIONS)
    }

    /// The records of [`local_definition_file`](Archive::local_definition_file).
    pub fn local_definition_records<'a>(&self, file: &'a FileBytes) -> DefinitionCursor<'a> {
        DefinitionCursor::local(file, file.path(), self.anchor.definition_chunk_size)
    }

    /// The file of the events of a location. One from a SION container has the container's path with the location
    /// behind it; offsets count from the first byte of the location.
    ///
    /// # Errors
    /// If it cannot be read; [`Error::is_not_found`] if it does not exist.
    pub fn event_file(&self, location: u64) -> Result<FileBytes, Error> {
        self.location_file(location, EVENTS)
    }

    /// Announces that at least the first `bytes` of a location's event file will be read soon. Errors are
    /// ignored: opening the file reports them. Nothing is announced of SION containers.
    pub fn expect(&self, location: u64, bytes: usize) {
        if self.containers.is_none()
            && let Ok(file) = self.open_inside(self.event_path(location), Io::Map)
        {
            file.expect(0, if self.io == Io::Map { bytes } else { file.len() });
        }
    }

    /// Opens a file of a location, or puts it together from pieces of a container.
    fn location_file(&self, location: u64, kind: &str) -> Result<FileBytes, Error> {
        let path = self.location_path(location, kind);
        match &self.containers {
            None => self.open_inside(path, self.io),
            Some(containers) => {
                stay_inside(&self.directory, &path)?;
                containers.find(location, kind)?.read()
            }
        }
    }

    /// Opens a file of the archive.
    fn open_inside(&self, path: PathBuf, io: Io) -> Result<FileBytes, Error> {
        stay_inside(&self.directory, &path)?;
        Ok(FileBytes::open_by(path, io)?)
    }

    /// The events of [`event_file`](Archive::event_file).
    pub fn events<'a>(&self, file: &'a FileBytes) -> EventCursor<'a> {
        EventCursor::new(file, file.path(), self.anchor.event_chunk_size)
    }
}

/// Refuses a symbolic link that leads out of the experiment directory: a trace must not make its reader
/// disclose other files.
fn stay_inside(directory: &Path, path: &Path) -> Result<(), Error> {
    if !path.symlink_metadata().is_ok_and(|status| status.is_symlink()) {
        return Ok(());
    }
    let root = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    match (path.canonicalize(), root.canonicalize()) {
        (Ok(file), Ok(root)) if !file.starts_with(&root) => {
            Err(Error::file(path, "a link leads out of the experiment directory; copy the file there"))
        }
        _ => Ok(()),
    }
}

/// The anchor file in an experiment directory.
fn anchor_in(directory: &Path) -> Result<PathBuf, Error> {
    let usual = directory.join("traces.otf2");
    if usual.symlink_metadata().is_ok() {
        return Ok(usual);
    }
    let list = |cause| Error::io(directory, "list the directory", cause);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(list)? {
        let path = entry.map_err(list)?.path();
        if path.extension().is_some_and(|extension| extension == "otf2") && path.is_file() {
            found.push(path);
        }
    }
    match found.len() {
        // The name that `measurement/recording` gives to the folder of an archive that is being recorded.
        0 if directory.join("recording").is_dir() => Err(Error::file(
            directory,
            "not an OTF2 archive yet: the program is still being recorded; if it has ended, complete the archive with \
             replay-record --finish",
        )),
        0 => Err(Error::file(
            directory,
            "not an OTF2 archive: the directory has no traces.otf2 and no other *.otf2; name the directory that the \
             recorder has written",
        )),
        1 => Ok(found.remove(0)),
        several => Err(Error::file(
            directory,
            format!("not one OTF2 archive but {several}: name the anchor file (*.otf2) that is meant"),
        )),
    }
}
