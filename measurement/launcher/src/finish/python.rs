//! The Python functions on the call paths of a location, checked.

use super::contexts::Region;
use crate::Error;
use model::{Paradigm, RegionRole};
use recording::layout;
use recording::python::{ALIGNMENT, FunctionEntry, FunctionsHeader, MAGIC};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// A Python function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PythonFunction {
    /// Qualified name (`__qualname__`).
    name: String,
    /// The path of its file, as Python has it.
    pub(crate) file: String,
    /// Its first line; 0 if unknown.
    line: u32,
}

impl PythonFunction {
    /// Whether it is one of the functions of `replay.py` by which programs name regions.
    pub(crate) fn names_regions(&self) -> bool {
        let file = self.file.rsplit('/').next();
        file == Some("replay.py") && self.name.starts_with("_Named.")
    }

    /// Returns its region in an archive.
    pub(crate) fn region(&self) -> Region {
        let file = Some(self.file.clone()).filter(|file| !file.is_empty());
        let name = if self.name.is_empty() { "[unknown]".into() } else { self.name.clone() };
        Region {
            canonical_name: name.clone(),
            name,
            file,
            begin_line: self.line,
            role: RegionRole::FUNCTION,
            // It is known from the stack, as functions in other languages are.
            paradigm: Paradigm::SAMPLING,
            is_phase: false,
            library: String::new(),
        }
    }
}

/// The functions of a location, by their numbers.
pub(crate) type PythonFunctions = HashMap<u32, PythonFunction>;

/// Reads the functions of a location; none if it has no file. The sentence reports damage, at which the
/// functions end.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn read(directory: &Path, location: u64) -> Result<(PythonFunctions, Option<String>), Error> {
    let path = layout::python_functions(directory, location);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            return Ok((PythonFunctions::new(), None));
        }
        Err(cause) => return Err(Error::io(&path, "read the file", cause)),
    };
    let (functions, problem) = parse(&bytes);
    Ok((functions, problem.map(|(offset, message)| Error::at(&path, offset, message).to_string())))
}

/// Parses the functions before the first damage, and returns its offset and description.
fn parse(bytes: &[u8]) -> (PythonFunctions, Option<(u64, String)>) {
    let mut functions = PythonFunctions::new();
    let u64_at = |at: usize| bytes.get(at..)?.first_chunk().copied().map(u64::from_ne_bytes);
    let u32_at = |at: usize| bytes.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes);
    if u64_at(0) != Some(MAGIC) {
        return (functions, Some((0, "not a file of Python functions".into())));
    }
    let claimed = u64_at(8).unwrap_or(0);
    let Some(end) = usize::try_from(claimed).ok().filter(|&end| end <= bytes.len()) else {
        let message = format!("{claimed} bytes are announced, the file has {}", bytes.len());
        return (functions, Some((8, message)));
    };
    let mut at = size_of::<FunctionsHeader>();
    while at < end {
        let entry = (|| {
            let lengths = [u32_at(at)?, u32_at(at + 4)?].map(|length| length as usize);
            let line = u32_at(at + 8)?;
            let begin = at.checked_add(size_of::<FunctionEntry>())?;
            let middle = begin.checked_add(lengths[0])?;
            let behind = middle.checked_add(lengths[1])?;
            let text = |from: usize, to: usize| {
                let text = String::from_utf8_lossy(bytes.get(from..to)?).replace('\0', "");
                (to <= end).then_some(text)
            };
            Some((PythonFunction { name: text(begin, middle)?, file: text(middle, behind)?, line }, behind))
        })();
        let Some((function, behind)) = entry else {
            return (
                functions,
                Some((at as u64, format!("a function reaches beyond byte {end:#x}, the end"))),
            );
        };
        functions.insert((at / ALIGNMENT) as u32, function);
        at = behind.next_multiple_of(ALIGNMENT);
    }
    (functions, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with these functions, and their numbers.
    fn file(functions: &[(&str, &str, u32)]) -> (Vec<u8>, Vec<u32>) {
        let mut bytes = [MAGIC.to_ne_bytes(), [0; 8]].concat();
        let mut numbers = Vec::new();
        for (name, file, line) in functions {
            numbers.push((bytes.len() / ALIGNMENT) as u32);
            for number in [name.len() as u32, file.len() as u32, *line, 0] {
                bytes.extend(number.to_ne_bytes());
            }
            bytes.extend(name.bytes().chain(file.bytes()));
            bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        }
        let end = bytes.len() as u64;
        bytes[8..16].copy_from_slice(&end.to_ne_bytes());
        (bytes, numbers)
    }

    #[test]
    fn functions_are_found_by_their_numbers() {
        let (mut bytes, numbers) =
            file(&[("main", "solver.py", 3), ("Löser.f", "/a/löser.py", 0), ("", "x.py", 1)]);
        // Behind the complete functions there may be anything.
        bytes.extend([0xff; 50]);
        let (functions, problem) = parse(&bytes);
        assert_eq!((functions.len(), problem), (3, None));
        let of = |i: usize| functions[&numbers[i]].region();
        assert_eq!(
            (of(0).name.as_str(), of(0).file.as_deref(), of(0).begin_line),
            ("main", Some("solver.py"), 3)
        );
        assert_eq!((of(1).name.as_str(), of(1).file.as_deref()), ("Löser.f", Some("/a/löser.py")));
        assert_eq!(of(2).name, "[unknown]");
    }

    #[test]
    fn damage_ends_the_functions_and_is_named() {
        let (bytes, _) = file(&[("main", "solver.py", 3), ("f", "x.py", 1)]);
        assert_eq!(parse(&[]).1.map(|(at, _)| at), Some(0));
        let (functions, problem) = parse(&bytes[..bytes.len() - 8]);
        assert_eq!((functions.len(), problem.map(|(at, _)| at)), (0, Some(8)));
        let mut long = bytes.clone();
        long[48..52].copy_from_slice(&1000_u32.to_ne_bytes());
        let (functions, problem) = parse(&long);
        assert_eq!((functions.len(), problem.map(|(at, _)| at)), (1, Some(48)));
        let mut endless = bytes;
        endless[16..20].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert_eq!(parse(&endless).0.len(), 0);
    }

    #[test]
    fn functions_that_name_regions_are_known() {
        let function =
            |name: &str, file: &str| PythonFunction { name: name.into(), file: file.into(), line: 1 };
        assert!(function("_Named.__enter__", "/usr/include/replay/replay.py").names_regions());
        assert!(function("_Named.__call__.<locals>.recorded", "replay.py").names_regions());
        assert!(!function("_Named.__enter__", "/home/myreplay.py").names_regions());
        assert!(!function("main", "replay.py").names_regions());
    }
}
