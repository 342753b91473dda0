//! The files that tell what is in a file with code: itself, and those with its debug information.

use crate::File;
use crate::debug_info::Sections;
use crate::resolver::Resolver;
use files::{FileBytes, Io};
use object::Object;
use std::path::{Path, PathBuf};

/// Where systems keep debug information that is not in the programs themselves.
const DEBUG_FOLDER: &str = "/usr/lib/debug";

/// The bytes of a file with code and of those with its debug information.
#[derive(Debug)]
pub struct Contents {
    name: String,
    files: Vec<FileBytes>,
    /// Which of the files has debug information, and what several such files have in common.
    with_lines: Option<usize>,
    supplement: Option<FileBytes>,
}

impl Contents {
    /// Opens what there is of a file. In the process of somebody else, files have to be read: mapping them takes a signal.
    ///
    /// # Errors
    /// If there is no such file, or it is another one by now; the sentence says which.
    pub fn open(file: &File, io: Io) -> Result<Contents, String> {
        let open = |path: &Path| open(path, io);
        let own = open(Path::new(&file.path));
        // The program may have been built again since; then only its debug information elsewhere helps.
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

    /// The tables in the files.
    ///
    /// # Errors
    /// If a file is not one with code; the sentence says which.
    pub fn tables(&self) -> Result<Tables<'_>, String> {
        let objects = self.files.iter().map(parse).collect::<Result<Vec<_>, String>>()?;
        let lines = self.with_lines.and_then(|at| Sections::load(&objects[at]).ok());
        let supplement = self.supplement.as_ref().and_then(|bytes| Sections::load(&parse(bytes).ok()?).ok());
        Ok(Tables { name: &self.name, objects, lines, supplement })
    }
}

/// The tables of a file with code.
#[derive(Debug)]
pub struct Tables<'a> {
    pub(crate) name: &'a str,
    pub(crate) objects: Vec<object::File<'a>>,
    pub(crate) lines: Option<Sections<'a>>,
    pub(crate) supplement: Option<Sections<'a>>,
}

impl Tables<'_> {
    /// What answers questions from them.
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

/// A build id as journals have it.
fn build_id(object: &object::File<'_>) -> Option<String> {
    let bytes = object.build_id().ok()??;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Where the debug information of the file with this build id is, if the system has it.
fn by_build_id(id: &str) -> Option<PathBuf> {
    let is_id = id.len() > 2 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (folder, name) = id.split_at_checked(2).filter(|_| is_id)?;
    Some(Path::new(DEBUG_FOLDER).join(".build-id").join(folder).join(format!("{name}.debug")))
}

/// The file with debug information that a file names, if it is of the same build.
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

/// The file with what several files with debug information have in common.
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
