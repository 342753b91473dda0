//! The files with the symbols of a file with code: itself, and those with its debug information.

use crate::File;
use crate::debug_info::DebugSections;
use crate::resolver::Resolver;
use files::{FileBytes, Io};
use object::Object;
use std::path::{Path, PathBuf};

/// Folder in which systems install separate debug information.
const DEBUG_FOLDER: &str = "/usr/lib/debug";

/// The bytes of a file with code and of those with its debug information.
#[derive(Debug)]
pub struct Contents {
    name: String,
    files: Vec<FileBytes>,
    /// Position of the file with debug information.
    with_lines: Option<usize>,
    /// The supplementary file, with what several files with debug information have in common
    /// (`.gnu_debugaltlink`).
    supplement: Option<FileBytes>,
}

impl Contents {
    /// Opens a file and those with its debug information. In a process that is not ours, files have to be
    /// read: mapping them installs a signal handler.
    ///
    /// # Errors
    /// If there is no such file, or it has changed since; the sentence says which.
    pub fn open(file: &File, io: Io) -> Result<Contents, String> {
        let open = |path: &Path| open(path, io);
        let own = open(Path::new(&file.path));
        // The program may have been built again since; then only separate debug information of the same build
        // helps.
        let own = own.and_then(|bytes| {
            let is_same = match (&file.build_id, build_id(&parse(&bytes)?)) {
                (Some(recorded), found) => found.as_ref() == Some(recorded),
                (None, _) => true,
            };
            if is_same { Ok(bytes) } else { Err("the file has changed since".to_string()) }
        });
        let elsewhere = file.build_id.as_deref().and_then(|id| open(&by_build_id(id)?).ok());
        let own = match (own, &elsewhere) {
            (Ok(bytes), _) => Some(bytes),
            (Err(_), Some(_)) => None,
            (Err(problem), None) => return Err(problem),
        };
        let linked = own.as_ref().and_then(|own| by_link(own, Path::new(&file.path), io));
        let files: Vec<FileBytes> = [own, elsewhere, linked].into_iter().flatten().collect();
        let has_lines =
            |bytes: &FileBytes| Ok::<_, String>(parse(bytes)?.section_by_name(".debug_info").is_some());
        let with_lines = files.iter().map(has_lines).collect::<Result<Vec<bool>, String>>()?;
        let with_lines = with_lines.into_iter().position(|has| has);
        let supplement = with_lines.and_then(|at| supplement(&parse(&files[at]).ok()?, files[at].path(), io));
        Ok(Contents { name: file.name().to_string(), files, with_lines, supplement })
    }

    /// Returns the tables in the files.
    ///
    /// # Errors
    /// If a file is not one with code; the sentence says which.
    pub fn tables(&self) -> Result<Tables<'_>, String> {
        let objects = self.files.iter().map(parse).collect::<Result<Vec<_>, String>>()?;
        let lines = self.with_lines.and_then(|at| DebugSections::load(&objects[at]).ok());
        let supplement =
            self.supplement.as_ref().and_then(|bytes| DebugSections::load(&parse(bytes).ok()?).ok());
        Ok(Tables { name: &self.name, objects, lines, supplement })
    }
}

/// The tables of a file with code.
#[derive(Debug)]
pub struct Tables<'a> {
    pub(crate) name: &'a str,
    pub(crate) objects: Vec<object::File<'a>>,
    pub(crate) lines: Option<DebugSections<'a>>,
    pub(crate) supplement: Option<DebugSections<'a>>,
}

impl Tables<'_> {
    /// Returns a resolver of addresses by these tables.
    pub fn resolver(&self) -> Resolver<'_> {
        Resolver::new(self)
    }
}

fn open(path: &Path, io: Io) -> Result<FileBytes, String> {
    FileBytes::open_by(path, io).map_err(|error| error.to_string())
}

fn parse(bytes: &FileBytes) -> Result<object::File<'_>, String> {
    object::File::parse(&**bytes).map_err(|error| format!("{}: {error}", bytes.path().display()))
}

/// Returns the build id as in journals.
fn build_id(object: &object::File<'_>) -> Option<String> {
    let bytes = object.build_id().ok()??;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns where the debug information of the file with this build id is, if the system has it.
fn by_build_id(id: &str) -> Option<PathBuf> {
    let is_id = id.len() > 2 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (folder, name) = id.split_at_checked(2).filter(|_| is_id)?;
    Some(Path::new(DEBUG_FOLDER).join(".build-id").join(folder).join(format!("{name}.debug")))
}

/// Opens the file with debug information that a file names (`.gnu_debuglink`), if it is of the same build.
fn by_link(file: &FileBytes, path: &Path, io: Io) -> Option<FileBytes> {
    let object = parse(file).ok()?;
    let (name, _) = object.gnu_debuglink().ok()??;
    let name = Path::new(std::str::from_utf8(name).ok()?).file_name()?;
    let folder = path.parent()?;
    let below = folder.strip_prefix("/").ok()?;
    let places =
        [folder.join(name), folder.join(".debug").join(name), Path::new(DEBUG_FOLDER).join(below).join(name)];
    places.iter().filter(|place| *place != path).find_map(|place| {
        let found = open(place, io).ok()?;
        let is_same = build_id(&parse(&found).ok()?) == build_id(&object);
        is_same.then_some(found)
    })
}

/// Opens the supplementary file (`.gnu_debugaltlink`), with what several files with debug information have in
/// common.
fn supplement(object: &object::File<'_>, path: &Path, io: Io) -> Option<FileBytes> {
    let (name, _) = object.gnu_debugaltlink().ok()??;
    let name = Path::new(std::str::from_utf8(name).ok()?);
    open(&path.canonicalize().ok()?.parent()?.join(name), io).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_ids_that_are_paths_lead_nowhere() {
        let place = by_build_id("12ab34").unwrap();
        assert_eq!(place, Path::new("/usr/lib/debug/.build-id/12/ab34.debug"));
        for bad in ["", "12", "../../etc", "éé1"] {
            assert_eq!(by_build_id(bad), None);
        }
    }
}
