//! Archive writer: writes the anchor and the global definitions, and creates the writers of locations.

use super::definitions::{DefinitionWriter, LocalDefinitionWriter};
use super::events::EventWriter;
use super::file::NewFile;
use crate::Error;
use crate::anchor::Anchor;
use crate::definition::Definition;
use crate::record::FileKind;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes an archive.
///
/// Definitions must come before those that refer to them, with
/// [`ClockProperties`](Definition::ClockProperties) among them; each `Location` gets an event file, an empty
/// one if none was written.
#[derive(Debug)]
pub struct ArchiveWriter {
    anchor: Anchor,
    anchor_path: PathBuf,
    /// Directory of the files of the locations.
    directory: PathBuf,
    definitions: DefinitionWriter,
    locations: Vec<u64>,
    is_synced: bool,
}

impl ArchiveWriter {
    /// Creates an archive with this anchor file, such as `experiment/traces.otf2`; missing directories are
    /// created.
    ///
    /// `anchor` chooses byte order, chunk sizes, texts and properties; the writer sets the counts.
    ///
    /// # Errors
    /// If there is an archive of that name, the anchor is invalid, or files cannot be created.
    pub fn create(path: impl Into<PathBuf>, anchor: Anchor) -> Result<Self, Error> {
        ArchiveWriter::begin(path.into(), anchor, fs::create_dir)
    }

    /// Creates an archive around existing event files, which another program has written and which stay as
    /// they are. Definitions left by an earlier attempt are replaced.
    ///
    /// # Errors
    /// As for [`create`](ArchiveWriter::create): an archive that has an anchor is never touched.
    pub fn complete(path: impl Into<PathBuf>, anchor: Anchor) -> Result<Self, Error> {
        ArchiveWriter::begin(path.into(), anchor, fs::create_dir_all)
    }

    fn begin(
        anchor_path: PathBuf,
        anchor: Anchor,
        make_directory: fn(PathBuf) -> io::Result<()>,
    ) -> Result<Self, Error> {
        check(&anchor, &anchor_path)?;
        let directory = anchor_path.with_extension("");
        if directory == anchor_path || anchor_path.extension().is_none_or(|extension| extension != "otf2") {
            return Err(Error::file(
                &anchor_path,
                "cannot create an archive: its anchor file must end in .otf2",
            ));
        }
        if anchor_path.exists() {
            return Err(Error::file(&anchor_path, "cannot create an archive: there is one already"));
        }
        if let Some(parent) = anchor_path.parent() {
            fs::create_dir_all(parent).map_err(|cause| Error::io(parent, "create the directory", cause))?;
        }
        make_directory(directory.clone())
            .map_err(|cause| Error::io(&directory, "create the directory", cause))?;
        let path = anchor_path.with_extension("def");
        let definitions = DefinitionWriter::create(path, &anchor, FileKind::GlobalDefinitions)?;
        let anchor = Anchor { locations: 0, definitions: 0, snapshots: 0, thumbnails: 0, ..anchor };
        Ok(ArchiveWriter {
            anchor,
            anchor_path,
            directory,
            definitions,
            locations: Vec::new(),
            is_synced: true,
        })
    }

    /// The same archive without `fsync` of the files of locations. Many small files are written a hundred
    /// times as fast; if the machine stops before the system has written them, there may be an anchor without
    /// them.
    pub fn unsynced(self) -> Self {
        ArchiveWriter { is_synced: false, ..self }
    }

    /// The anchor in its present state.
    pub fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// Appends a global definition.
    ///
    /// # Errors
    /// If the record is too large for a chunk or belongs elsewhere, or the file cannot be written.
    pub fn define(&mut self, definition: Definition<'_>) -> Result<(), Error> {
        self.definitions.write(definition)?;
        self.anchor.definitions += 1;
        if let Definition::Location { reference, .. } = definition {
            self.anchor.locations += 1;
            self.locations.push(reference);
        }
        Ok(())
    }

    /// Creates the event file of a location.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn events(&self, location: u64) -> Result<EventWriter, Error> {
        let mut events = EventWriter::create(self.directory.join(format!("{location}.evt")), &self.anchor)?;
        if !self.is_synced {
            events.unsynced();
        }
        Ok(events)
    }

    /// Creates the local definition file of a location.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn local_definitions(&self, location: u64) -> Result<LocalDefinitionWriter, Error> {
        let path = self.directory.join(format!("{location}.def"));
        let mut definitions = LocalDefinitionWriter::create(path, &self.anchor)?;
        if !self.is_synced {
            definitions.unsynced();
        }
        Ok(definitions)
    }

    /// Completes the archive, after all writers of locations have finished: definitions, then missing event
    /// files, then the anchor.
    ///
    /// # Errors
    /// If a file cannot be written. There is no anchor then.
    pub fn finish(self) -> Result<(), Error> {
        for &location in &self.locations {
            if !self.directory.join(format!("{location}.evt")).exists() {
                self.events(location)?.finish()?;
            }
        }
        self.definitions.finish()?;
        let bytes = self.anchor.encode(&self.anchor_path)?;
        let mut file = NewFile::create(self.anchor_path)?;
        file.append(&bytes)?;
        file.publish()
    }
}

/// Refuses anchors that no reader would accept.
fn check(anchor: &Anchor, path: &Path) -> Result<(), Error> {
    anchor.check_to_write(path)?;
    if anchor.trace_format != 2 || !(1..=3).contains(&anchor.anchor_format) {
        return Err(Error::file(
            path,
            "cannot write an archive but in trace format 2 and anchor format 1 to 3",
        ));
    }
    let mut names: Vec<String> = Vec::new();
    for (name, value) in &anchor.properties {
        let part =
            |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let valid = name.contains("::") && name.split("::").all(part);
        let name = name.to_ascii_uppercase();
        if !valid || value.is_empty() || names.contains(&name) {
            let expected = "names like A::B, each once, with values";
            return Err(Error::file(path, format!("cannot write property {name:?}, expected {expected}")));
        }
        names.push(name);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_that_no_reader_takes_are_refused() {
        let checked = |properties: &[(&str, &str)]| {
            let properties = properties.iter().map(|&(name, value)| (name.into(), value.into())).collect();
            check(&Anchor { properties, ..Anchor::default() }, Path::new("a.otf2")).is_ok()
        };
        assert!(checked(&[("A::B_1", "true"), ("A::B::C", "x")]));
        assert!(!checked(&[("A", "true")]));
        assert!(!checked(&[("A::", "true")]));
        assert!(!checked(&[("A::B", "")]));
        assert!(!checked(&[("A::B", "1"), ("a::b", "2")]));
    }
}
