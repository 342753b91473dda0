//! Symbolization: functions and lines at the addresses of a file with code, from its debug information,
//! wherever that is, or else from its symbols.
//!
//! [`resolve`] looks up many addresses at once. For single look-ups there is [`Resolver`], which reads the
//! parts of the file that are asked for:
//!
//! ```
//! use symbols::{Contents, File};
//!
//! # fn main() -> Result<(), String> {
//! let path = std::env::current_exe().map_err(|cause| cause.to_string())?;
//! let file = File { path: path.to_string_lossy().into_owned(), build_id: None };
//! let contents = Contents::open(&file, files::Io::Map)?;
//! let tables = contents.tables()?;
//! let resolver = tables.resolver();
//! println!("{}", resolver.frames(0x1234)[0].name);
//! # Ok(())
//! # }
//! ```

#![deny(clippy::undocumented_unsafe_blocks)]

mod contents;
mod debug_info;
mod extents;
mod names;
mod resolver;

pub use contents::{Contents, Tables};
use object::Object;
pub use resolver::Resolver;

/// A file with code: two with the same build id are equal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct File {
    /// Its path; code without a file, such as the kernel's own, has a name that does not start with `/`.
    pub path: String,
    /// GNU build id in hexadecimal digits, if it has one.
    pub build_id: Option<String>,
}

impl File {
    /// Returns the last component of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Returns the label of an address in it, as in its own tables: `libx.so+0x12a7`.
    pub fn at(&self, address: u64) -> String {
        format!("{}+{address:#x}", self.name())
    }
}

/// A function that an address lies in, with the position in it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// Its demangled name, as in the source.
    pub name: String,
    /// Its mangled name, as linkers know it.
    pub canonical_name: String,
    /// The file that defines it, if known.
    pub file: Option<String>,
    /// The line there, 0 if unknown.
    pub begin_line: u32,
    /// File and line of the address itself, if known.
    pub line: Option<(String, u32)>,
    /// Whether it has no name except that of the file with the code.
    pub is_unknown: bool,
    /// Where it starts, if it has no name and that is known.
    pub start: Option<u64>,
}

impl Frame {
    /// Creates a function of which nothing is known but the file with its code.
    pub fn unknown(of: &str) -> Self {
        let name = if of.starts_with('[') { of.to_string() } else { format!("[{of}]") };
        let canonical_name = name.clone();
        Frame { name, canonical_name, file: None, begin_line: 0, line: None, is_unknown: true, start: None }
    }
}

/// The functions and lines at some addresses of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resolved {
    /// The functions at each address, the outermost first and those inlined in it behind it; never empty.
    pub frames: Vec<Vec<Frame>>,
    /// Whether there is debug information with lines.
    pub has_lines: bool,
    /// Entry point of the program, if the file is one.
    pub entry: Option<u64>,
    /// Why the file is of no use, if it is not.
    pub problem: Option<String>,
}

/// Looks up addresses in a file.
pub fn resolve(file: &File, addresses: &[u64]) -> Resolved {
    let unknown = |problem: Option<String>| Resolved {
        frames: addresses.iter().map(|_| vec![Frame::unknown(file.name())]).collect(),
        has_lines: false,
        entry: None,
        problem,
    };
    if !file.path.starts_with('/') {
        return unknown(None);
    }
    resolve_in(file, addresses).unwrap_or_else(|problem| {
        unknown(Some(format!("functions of {} have no names: {problem}", file.path)))
    })
}

fn resolve_in(file: &File, addresses: &[u64]) -> Result<Resolved, String> {
    let contents = Contents::open(file, files::Io::Map)?;
    let tables = contents.tables()?;
    let resolver = tables.resolver();
    let frames = |&address: &u64| {
        let mut frames = resolver.frames(address);
        for frame in frames.iter_mut().filter(|frame| frame.is_unknown) {
            frame.start = resolver.start(address);
        }
        frames
    };
    Ok(Resolved {
        frames: addresses.iter().map(frames).collect(),
        has_lines: tables.lines.is_some(),
        entry: tables.objects.first().map(Object::entry),
        problem: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_that_is_not_there_leaves_its_name() {
        let file = File { path: "/nowhere/libx.so.1".into(), build_id: None };
        let found = resolve(&file, &[7]);
        assert_eq!(found.frames, [[Frame::unknown("libx.so.1")]]);
        assert_eq!(found.frames[0][0].name, "[libx.so.1]");
        assert!(found.problem.unwrap().contains("/nowhere/libx.so.1"));
        let found = resolve(&File { path: "[vdso]".into(), build_id: None }, &[7]);
        assert_eq!((found.frames[0][0].name.as_str(), found.problem), ("[vdso]", None));
    }
}
