//! Functions and lines of addresses in a file: from its debug information, wherever that is, else from its symbols.

use super::debug_info::{self, Sections};
use super::modules::File;
use super::names::demangled;
use object::{Object, ObjectSymbol, SymbolKind};
use otf2::FileBytes;
use std::path::{Path, PathBuf};

/// Where systems keep debug information that is not in the programs themselves.
const DEBUG_FOLDER: &str = "/usr/lib/debug";

/// A function that an address lies in, and where in it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Frame {
    /// What it is called in the source.
    pub(crate) name: String,
    /// What linkers call it.
    pub(crate) canonical_name: String,
    /// The file that defines it, if known.
    pub(crate) file: Option<String>,
    /// The line there, 0 if unknown.
    pub(crate) begin_line: u32,
    /// File and line of the address itself, if known.
    pub(crate) line: Option<(String, u32)>,
    /// Whether only the file with the code is known.
    pub(crate) is_unknown: bool,
}

impl Frame {
    /// A function of which nothing is known but the file with its code.
    pub(crate) fn unknown(of: &str) -> Self {
        let name = if of.starts_with('[') { of.to_string() } else { format!("[{of}]") };
        let canonical_name = name.clone();
        Frame { name, canonical_name, file: None, begin_line: 0, line: None, is_unknown: true }
    }
}

/// The functions at each address, the outermost first and those inlined in it behind it; never empty. A sentence says
/// if the file is of no use.
pub(crate) fn resolve(file: &File, addresses: &[u64]) -> (Vec<Vec<Frame>>, Option<String>) {
    let unknown = || addresses.iter().map(|_| vec![Frame::unknown(file.name())]).collect();
    // Memory that no file is behind, such as the one with the system's own code.
    if !file.path.starts_with('/') {
        return (unknown(), None);
    }
    match resolve_in(file, addresses) {
        Ok(frames) => (frames, None),
        Err(problem) => (unknown(), Some(format!("functions of {} have no names: {problem}", file.path))),
    }
}

fn resolve_in(file: &File, addresses: &[u64]) -> Result<Vec<Vec<Frame>>, String> {
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
    let mut objects = Vec::new();
    let linked = own.as_ref().and_then(|own| by_link(own, Path::new(&file.path)));
    for bytes in [&own, &elsewhere, &linked].into_iter().flatten() {
        objects.push((parse(bytes)?, bytes.path()));
    }
    let symbols = Symbols::new(objects.iter().map(|(object, _)| object));
    let with_lines = objects.iter().find(|(object, _)| object.section_by_name(".debug_info").is_some());
    let supplement = with_lines.and_then(|(object, path)| supplement(object, path));
    let mut frames = match with_lines.and_then(|(object, _)| Sections::load(object).ok()) {
        Some(sections) => {
            let other = supplement.as_ref().and_then(|bytes| Sections::load(&parse(bytes).ok()?).ok());
            debug_info::frames(&sections, other.as_ref(), addresses)
        }
        None => vec![Vec::new(); addresses.len()],
    };
    for (found, &address) in frames.iter_mut().zip(addresses) {
        let symbol = symbols.find(address);
        if found.is_empty() {
            found.push(symbol.map_or_else(|| Frame::unknown(file.name()), by_symbol));
            continue;
        }
        // A line without a function, as in code of assemblers.
        for frame in found.iter_mut().filter(|frame| frame.name.is_empty()) {
            let named = symbol.map_or_else(|| Frame::unknown(file.name()), by_symbol);
            *frame = Frame { line: frame.line.take(), ..named };
        }
    }
    Ok(frames)
}

fn by_symbol(name: &str) -> Frame {
    let (name, canonical_name) = (demangled(name), name.to_string());
    Frame { name, canonical_name, file: None, begin_line: 0, line: None, is_unknown: false }
}

fn open(path: &Path) -> Result<FileBytes, String> {
    FileBytes::open(path).map_err(|error| error.to_string())
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
fn by_link(file: &FileBytes, path: &Path) -> Option<FileBytes> {
    let object = parse(file).ok()?;
    let (name, _) = object.gnu_debuglink().ok()??;
    let name = Path::new(std::str::from_utf8(name).ok()?).file_name()?;
    let folder = path.parent()?;
    let below = folder.strip_prefix("/").ok()?;
    let places =
        [folder.join(name), folder.join(".debug").join(name), Path::new(DEBUG_FOLDER).join(below).join(name)];
    places.iter().filter(|place| *place != path).find_map(|place| {
        let found = open(place).ok()?;
        let is_same = build_id(&parse(&found).ok()?) == build_id(&object);
        is_same.then_some(found)
    })
}

/// The file with what several files with debug information have in common.
fn supplement(object: &object::File<'_>, path: &Path) -> Option<FileBytes> {
    let (name, _) = object.gnu_debugaltlink().ok()??;
    let name = Path::new(std::str::from_utf8(name).ok()?);
    open(&path.canonicalize().ok()?.parent()?.join(name)).ok()
}

/// The functions in the symbol tables, by address.
struct Symbols<'a>(Vec<(u64, u64, &'a str)>);

impl<'a> Symbols<'a> {
    fn new<'b: 'a>(objects: impl Iterator<Item = &'a object::File<'b>>) -> Self {
        let mut found = Vec::new();
        for object in objects {
            for symbol in object.symbols().chain(object.dynamic_symbols()) {
                let is_function = symbol.kind() == SymbolKind::Text && symbol.is_definition();
                if let Ok(name) = symbol.name()
                    && is_function
                    && !name.is_empty()
                {
                    found.push((symbol.address(), symbol.size(), name));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Symbols(found)
    }

    /// The function at an address; of several names the first by the alphabet.
    fn find(&self, address: u64) -> Option<&'a str> {
        let end = self.0.partition_point(|&(begin, ..)| begin <= address);
        let (begin, ..) = *self.0.get(end.checked_sub(1)?)?;
        let first = self.0.partition_point(|&(other, ..)| other < begin);
        // Code of assemblers has symbols without size: they reach to the next one.
        let reaches = |&&(begin, size, _): &&(u64, u64, &str)| size == 0 || address - begin < size;
        let names = self.0.get(first..end)?.iter().filter(reaches);
        names.map(|&(.., name)| name).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_ends_where_its_size_says() {
        let symbols = Symbols(vec![(10, 5, "f"), (10, 5, "e"), (20, 0, "g"), (30, 1, "h")]);
        let names = [9, 10, 14, 15, 20, 29, 30, 31].map(|address| symbols.find(address));
        assert_eq!(names, [None, Some("e"), Some("e"), None, Some("g"), Some("g"), Some("h"), None]);
    }

    #[test]
    fn file_that_is_not_there_leaves_its_name() {
        let file = File { path: "/nowhere/libx.so.1".into(), build_id: None };
        let (frames, problem) = resolve(&file, &[7]);
        assert_eq!(frames, [[Frame::unknown("libx.so.1")]]);
        assert_eq!(frames[0][0].name, "[libx.so.1]");
        assert!(problem.unwrap().contains("/nowhere/libx.so.1"));
        let (frames, problem) = resolve(&File { path: "[vdso]".into(), build_id: None }, &[7]);
        assert_eq!((frames[0][0].name.as_str(), problem), ("[vdso]", None));
    }

    #[test]
    fn build_ids_that_are_paths_lead_nowhere() {
        let place = by_build_id("12ab34").unwrap();
        assert_eq!(place, Path::new("/usr/lib/debug/.build-id/12/ab34.debug"));
        for bad in ["", "12", "../../etc", "éé1"] {
            assert_eq!(by_build_id(bad), None);
        }
    }
}
