//! The table of a thread's Python functions: the mapped file that [`recording::python`] describes.

use crate::growing::GrowingFile;
use crate::index::Index;
use crate::pages::{Pages, Plain};
use python_frames::code::mix;
use python_frames::{Code, Frame, Layout, Memory, Stamp, Types};
use recording::python::{ALIGNMENT, FunctionEntry, FunctionsHeader, MAGIC, UNKNOWN};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum size of a file in bytes.
const MOST: usize = 16 << 20;
/// Maximum size of a name and of a file name in bytes; longer ones are cut.
const LONGEST: usize = 4096;
/// Code objects that are cached, a power of two; also the number of instructions.
const CACHED: usize = 4096;

/// A cached code object, and the function that it is.
#[derive(Clone, Copy)]
struct CachedCode {
    /// 0 for none.
    address: u64,
    stamp: u64,
    number: u32,
}

// SAFETY: three integers; zero is a value of each.
unsafe impl Plain for CachedCode {}

/// A cached instruction, and its line.
#[derive(Clone, Copy)]
struct CachedLine {
    /// Its address; 0 for none.
    instruction: u64,
    /// The stamp of its code object.
    stamp: u64,
    line: u32,
}

// SAFETY: three integers; zero is a value of each.
unsafe impl Plain for CachedLine {}

/// The numbered Python functions of one thread. Calls no allocator after its creation, and takes no lock.
pub(crate) struct FunctionTable {
    file: GrowingFile,
    /// Bytes that hold complete functions.
    bytes: usize,
    index: Index,
    codes: Pages<CachedCode>,
    lines: Pages<CachedLine>,
    /// Buffers for the name and the file of a function.
    room: [Box<[u8]>; 2],
}

impl FunctionTable {
    /// Creates an empty table in a new file.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let file = GrowingFile::create(path, MOST)?;
        let bytes = size_of::<FunctionsHeader>();
        // SAFETY: the mapping is aligned to a page, its first segment is larger than a header, and nobody
        // else refers to it yet.
        unsafe {
            file.start()
                .cast::<FunctionsHeader>()
                .write(FunctionsHeader { magic: MAGIC, bytes: bytes as u64 })
        };
        let (codes, lines) = (Pages::new(CACHED)?, Pages::new(CACHED)?);
        Ok(Self {
            file,
            bytes,
            index: Index::new()?,
            codes,
            lines,
            room: [vec![0; LONGEST].into(), vec![0; LONGEST].into()],
        })
    }

    /// Returns the number of the function that the frame's code object is, and the line of the frame's
    /// instruction. The function is added if it is new; it is [`UNKNOWN`] if there is no room for it, or
    /// neither its name nor its file can be read. The line is 0 if there is none.
    pub(crate) fn find(
        &mut self,
        (layout, types): (&Layout, &Types),
        memory: &mut impl Memory,
        frame: &Frame,
    ) -> Option<(u32, u32)> {
        let Stamp(stamp) = Stamp::read(layout, types, memory, frame.code)?;
        let place = |address| mix(0, address) as usize & (CACHED - 1);
        let (of_code, of_line) = (place(frame.code), place(frame.instruction));
        let known = self.codes.get(of_code).copied();
        let number = match known.filter(|known| known.address == frame.code && known.stamp == stamp) {
            Some(known) => known.number,
            None => {
                let code = Code::read(layout, types, memory, frame.code)?;
                let number = self.look_up(&code, memory).unwrap_or(UNKNOWN);
                if let Some(place) = self.codes.get_mut(of_code) {
                    *place = CachedCode { address: frame.code, stamp, number };
                }
                number
            }
        };
        let known = self.lines.get(of_line).copied();
        let is_same = |known: &CachedLine| known.instruction == frame.instruction && known.stamp == stamp;
        let line = match known.filter(is_same) {
            Some(known) => known.line,
            None => {
                let code = Code::read(layout, types, memory, frame.code)?;
                let line = code.line(memory, frame.instruction).unwrap_or(0);
                if let Some(place) = self.lines.get_mut(of_line) {
                    *place = CachedLine { instruction: frame.instruction, stamp, line };
                }
                line
            }
        };
        Some((number, line))
    }

    /// Reads name and file, and finds or adds the function with these and its first line. `None` if there is
    /// no room.
    #[cold]
    fn look_up(&mut self, code: &Code, memory: &mut impl Memory) -> Option<u32> {
        let [name_room, file_room] = &mut self.room;
        let name = code.name.and_then(|name| name.write(memory, name_room)).unwrap_or(0);
        let file = code.file.and_then(|file| file.write(memory, file_room)).unwrap_or(0);
        if name == 0 && file == 0 {
            return None;
        }
        let entry =
            FunctionEntry { name: name as u32, file: file as u32, line: code.first_line, reserved: 0 };
        let (name, file) = (name_room.get(..name)?, file_room.get(..file)?);
        let complete = CompleteFunctions { start: self.file.start().as_ptr(), bytes: self.bytes };
        let is = |number: u32| complete.read(number) == Some((entry, name, file));
        let slot = match self.index.find(hash(&entry, name, file), is) {
            Ok(number) => return Some(number),
            Err(slot) => slot,
        };
        let end =
            (self.bytes + size_of::<FunctionEntry>() + name.len() + file.len()).next_multiple_of(ALIGNMENT);
        while end > self.file.mapped() {
            self.file.grow().ok()?;
        }
        let start = self.file.start().as_ptr();
        // SAFETY: the bytes up to `end` are mapped, as the loop above has made sure of, and behind all
        // complete functions, so that no reference to them exists; `bytes` is a multiple of the entry's
        // alignment.
        unsafe {
            let place = start.add(self.bytes);
            place.cast::<FunctionEntry>().write(entry);
            let place = place.add(size_of::<FunctionEntry>());
            place.copy_from_nonoverlapping(name.as_ptr(), name.len());
            place.add(name.len()).copy_from_nonoverlapping(file.as_ptr(), file.len());
        }
        let number = (self.bytes / ALIGNMENT) as u32;
        self.bytes = end;
        // SAFETY: the header is mapped and aligned, and since its creation it has been accessed through this
        // atomic only.
        let bytes = unsafe { AtomicU64::from_ptr(&raw mut (*start.cast::<FunctionsHeader>()).bytes) };
        // Released behind the function itself: a reader of the file finds complete functions only.
        bytes.store(end as u64, Ordering::Release);
        let complete = CompleteFunctions { start, bytes: end };
        self.index.insert(slot, number, |number| {
            complete.read(number).map_or(0, |(entry, name, file)| hash(&entry, name, file))
        });
        Some(number)
    }
}

/// The part of the file that is complete.
struct CompleteFunctions {
    start: *const u8,
    bytes: usize,
}

impl CompleteFunctions {
    fn read(&self, number: u32) -> Option<(FunctionEntry, &[u8], &[u8])> {
        let begin = number as usize * ALIGNMENT + size_of::<FunctionEntry>();
        if begin > self.bytes {
            return None;
        }
        // SAFETY: the caller passes numbers that the index holds, which are those of complete functions:
        // mapped up to `bytes`, aligned, and never changed.
        unsafe {
            let entry = self.start.add(begin - size_of::<FunctionEntry>()).cast::<FunctionEntry>().read();
            let name = std::slice::from_raw_parts(self.start.add(begin), entry.name as usize);
            let file = std::slice::from_raw_parts(self.start.add(begin + name.len()), entry.file as usize);
            Some((entry, name, file))
        }
    }
}

fn hash(entry: &FunctionEntry, name: &[u8], file: &[u8]) -> u64 {
    let text = |hash: u64, text: &[u8]| {
        text.chunks(8).fold(hash, |hash, chunk| {
            let mut word = [0; 8];
            word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            mix(hash, u64::from_ne_bytes(word))
        })
    };
    text(text(mix(u64::from(entry.line), u64::from(entry.name)), name), file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use python_frames::layout::INSTRUCTION;
    use python_frames::mock::{MockInterpreter, layouts};
    use recording::python::FunctionsHeader;

    /// A table, and the memory of a made-up interpreter.
    struct Test {
        table: FunctionTable,
        mock: MockInterpreter,
        path: std::path::PathBuf,
        _directory: tempfile::TempDir,
    }

    impl Test {
        fn new(layout: Layout) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("0.python");
            let table = FunctionTable::create(&path).unwrap();
            Self { table, mock: MockInterpreter::new(layout), path, _directory: directory }
        }

        /// Returns number and line of an instruction.
        fn find(&mut self, code: u64, instruction: u64) -> Option<(u32, u32)> {
            let (layout, types) = (self.mock.layout, self.mock.types);
            let instruction = code + layout.instructions + instruction * INSTRUCTION;
            let frame = Frame { code, instruction, ..Frame::default() };
            self.table.find((&layout, &types), &mut self.mock, &frame)
        }

        fn entry(&self, number: u32) -> (String, String, u32) {
            let bytes = std::fs::read(&self.path).unwrap();
            let at = number as usize * ALIGNMENT;
            let half = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
            let (name, file) = (half(at) as usize, half(at + 4) as usize);
            let text =
                |from: usize, length: usize| String::from_utf8(bytes[from..from + length].to_vec()).unwrap();
            let begin = at + size_of::<FunctionEntry>();
            (text(begin, name), text(begin + name, file), half(at + 8))
        }

        fn size(&self) -> u64 {
            let bytes = std::fs::read(&self.path).unwrap();
            u64::from_ne_bytes(bytes[8..16].try_into().unwrap())
        }
    }

    #[test]
    fn function_is_added_once_with_its_lines() {
        for layout in layouts() {
            let mut test = Test::new(layout);
            assert_eq!(test.size(), size_of::<FunctionsHeader>() as u64);
            let one = test.mock.code("Löser.löse", "/a/löser.py", 7, 5);
            let other = test.mock.code("main", "/a/löser.py", 30, 5);
            let (number, line) = test.find(one, 2).unwrap();
            assert_eq!(line, 9);
            assert_eq!(test.find(one, 4), Some((number, 11)));
            assert_eq!(test.find(one, 99), Some((number, 0)), "behind its end");
            let (second, _) = test.find(other, 0).unwrap();
            assert_eq!(test.entry(number), ("Löser.löse".into(), "/a/löser.py".into(), 7));
            assert_eq!(test.entry(second), ("main".into(), "/a/löser.py".into(), 30));
            let size = test.size();
            // Compiled again.
            let again = test.mock.code("Löser.löse", "/a/löser.py", 7, 9);
            assert_eq!((test.find(again, 8), test.size()), (Some((number, 15)), size));
        }
    }

    #[test]
    fn another_function_in_the_place_of_one_is_another() {
        for layout in layouts() {
            let mut test = Test::new(layout);
            let code = test.mock.code("task_1", "<task 1>", 1, 3);
            let (number, _) = test.find(code, 0).unwrap();
            test.mock = MockInterpreter::new(layout);
            assert_eq!(test.mock.code("task_2", "<task 2>", 1, 3), code);
            if let Some(version) = layout.version {
                test.mock.set_bytes(code + version, &[2]);
            }
            let (other, _) = test.find(code, 0).unwrap();
            assert_ne!(number, other);
            assert_eq!(test.entry(other), ("task_2".into(), "<task 2>".into(), 1));
        }
    }

    #[test]
    fn many_functions_have_numbers_of_their_own() {
        let mut test = Test::new(layouts()[1]);
        let name = |i: u32| format!("function_{i}_{}", "x".repeat(100));
        let codes: Vec<u64> = (0..6000).map(|i| test.mock.code(&name(i), "f.py", i, 1)).collect();
        let numbers: Vec<u32> = codes.iter().map(|&code| test.find(code, 0).unwrap().0).collect();
        for (i, (&code, &number)) in codes.iter().zip(&numbers).enumerate().step_by(97) {
            assert_eq!(test.find(code, 0).unwrap().0, number);
            assert_eq!(test.entry(number).0, name(i as u32));
        }
    }

    #[test]
    fn code_without_a_name_and_a_file_is_unknown() {
        let mut test = Test::new(layouts()[0]);
        let code = test.mock.code("f", "f.py", 1, 1);
        let number = test.mock.bytes_object(b"1");
        for field in [test.mock.layout.qualname, test.mock.layout.filename] {
            test.mock.set(code + field, number);
        }
        assert_eq!(test.find(code, 0), Some((UNKNOWN, 1)));
        assert_eq!(test.find(0x6000_0000, 0), None, "nothing is there");
    }
}
