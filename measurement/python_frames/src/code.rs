//! Python code objects: their identity over time, and their name, file and lines.

use crate::interpreter::Types;
use crate::layout::{INSTRUCTION, Layout};
use crate::lines::line_of;
use crate::memory::{Memory, PeekOnly};
use crate::text::Text;

/// Identity of a code object, also with respect to one that is put in its place after it was freed.
///
/// Since 3.12 code objects have version numbers that are never reused. Before, they are distinguished by
/// their contents: name, file and line table, with the address, the length and the end of each, and the
/// beginning of the line table, which is all of it for code that is small, as code is that is created and
/// freed at run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp(pub u64);

/// Words of the line table that a stamp includes.
const LINES_OF_STAMP: u64 = 32;

impl Stamp {
    /// Reads the stamp of the code object at an address; `None` if it cannot be read. Everything that it
    /// depends on is read by [`Memory::word`].
    #[inline]
    pub fn read(layout: &Layout, types: &Types, memory: &mut impl Memory, code: u64) -> Option<Self> {
        if let Some(version) = layout.version {
            let version = code.wrapping_add(version);
            let word = memory.word(version & !7)?;
            // There are 2³² versions; 0 means that none are left.
            if memory.number(version)? != 0 {
                return Some(Self(mix(code, word)));
            }
        }
        let Code { first_line, name, file, lines, .. } = Code::read_all(layout, types, memory, code)?;
        let mut stamp = mix(code, u64::from(first_line));
        for text in [name, file].into_iter().flatten() {
            stamp = mix(mix(stamp, text.last_word()), memory.word(text.last_word())?);
        }
        let (begin, size) = lines;
        let last = begin.wrapping_add(size.saturating_sub(1)) & !7;
        stamp = mix(mix(stamp, begin), size);
        if size > 0 {
            for at in (begin & !7..last).step_by(8).take(LINES_OF_STAMP as usize) {
                stamp = mix(stamp, memory.word(at)?);
            }
            stamp = mix(stamp, memory.word(last)?);
        }
        Some(Self(stamp))
    }
}

/// The fields of a code object.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// First line of the function.
    pub first_line: u32,
    /// Qualified name (`co_qualname`), if it can be read.
    pub name: Option<Text>,
    /// Path of the file (`co_filename`), if it can be read.
    pub file: Option<Text>,
    /// Address of the first instruction.
    instructions: u64,
    /// Address and size of the line table (`co_linetable`) in bytes.
    lines: (u64, u64),
}

impl Code {
    /// Reads the code object at an address; `None` if it cannot be read. No word is recorded, as all of it
    /// follows from the [`Stamp`].
    pub fn read(layout: &Layout, types: &Types, memory: &mut impl Memory, code: u64) -> Option<Self> {
        Self::read_all(layout, types, &mut PeekOnly(memory), code)
    }

    fn read_all(layout: &Layout, types: &Types, memory: &mut impl Memory, code: u64) -> Option<Self> {
        let first = code.wrapping_add(layout.firstlineno);
        memory.word(first & !7)?;
        let first_line = memory.number(first)?;
        let mut text = |field: u64| {
            let object = memory.word(code.wrapping_add(field))?;
            Some(Text::of(layout, types, memory, object))
        };
        let (name, file) = (text(layout.qualname)?, text(layout.filename)?);
        let table = memory.word(code.wrapping_add(layout.linetable))?;
        let is_table = memory.peek(table.wrapping_add(layout.object_type))? == types.bytes;
        let mut lines = (0, 0);
        if is_table {
            lines = (table.wrapping_add(layout.bytes), memory.word(table.wrapping_add(layout.size))?);
        }
        let instructions = code.wrapping_add(layout.instructions);
        Some(Self { first_line, name, file, instructions, lines })
    }

    /// Whether an instruction is one of the function's, according to the length of the line table.
    pub fn covers(&self, memory: &mut impl Memory, instruction: u64) -> bool {
        let offset = instruction.wrapping_sub(self.instructions);
        let (begin, size) = self.lines;
        let mut instructions = 0;
        for byte in (0..size).map_while(|at| memory.byte(begin + at)) {
            // The first byte of an entry has the highest bit set, and the lowest three are its length in
            // instructions, less one.
            instructions += if byte & 0x80 != 0 { u64::from(byte & 7) + 1 } else { 0 };
        }
        offset / INSTRUCTION < instructions
    }

    /// Returns the line of the instruction at an address; `None` if it has none. Before the first instruction
    /// it is the first line of the function.
    pub fn line(&self, memory: &mut impl Memory, instruction: u64) -> Option<u32> {
        let Some(offset) = instruction.checked_sub(self.instructions) else {
            return Some(self.first_line);
        };
        let (begin, size) = self.lines;
        let mut bytes = (0..size).map(|at| memory.byte(begin + at));
        line_of(self.first_line, offset / INSTRUCTION, || bytes.next()?)
    }
}

/// Mixes a word into a hash, so that another order of words gives another hash.
#[inline]
pub fn mix(number: u64, word: u64) -> u64 {
    let mixed = (number.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{MockInterpreter, layouts};

    fn read(mock: &mut MockInterpreter, code: u64) -> Option<Code> {
        let (layout, types) = (mock.layout, mock.types);
        Code::read(&layout, &types, mock, code)
    }

    #[test]
    fn code_of_each_version_has_name_file_and_line() {
        for layout in layouts() {
            let mut mock = MockInterpreter::new(layout);
            let code = mock.code("Solver.step", "/home/löser.py", 7, 4);
            let found = read(&mut mock, code).unwrap();
            assert_eq!(found.first_line, 7);
            let mut room = [0; 100];
            let length = found.name.unwrap().write(&mut mock, &mut room).unwrap();
            assert_eq!(&room[..length], b"Solver.step");
            let length = found.file.unwrap().write(&mut mock, &mut room).unwrap();
            assert_eq!(&room[..length], "/home/löser.py".as_bytes());
            // Each instruction is on a line of its own.
            let instruction = code + layout.instructions + 2 * INSTRUCTION;
            assert_eq!(found.line(&mut mock, instruction), Some(9));
            assert_eq!(found.line(&mut mock, code + layout.instructions - INSTRUCTION), Some(7));
            assert_eq!(found.line(&mut mock, instruction + 100), None);
        }
    }

    #[test]
    fn code_in_the_place_of_another_has_another_stamp() {
        for layout in layouts() {
            let make = |number: u32, name: &str, file: &str, line: u32, instructions: u64| {
                // Everything is at the same addresses as before.
                let mut mock = MockInterpreter::new(layout);
                let code = mock.code(name, file, line, instructions);
                if let Some(version) = layout.version {
                    mock.set_bytes(code + version, &number.to_ne_bytes());
                }
                let types = mock.types;
                Stamp::read(&layout, &types, &mut mock, code).unwrap()
            };
            // The version 0 counts as none.
            let stamp = make(0, "task_1", "<task 1>", 3, 5);
            assert_eq!(stamp, make(0, "task_1", "<task 1>", 3, 5));
            for other in [
                make(0, "task_2", "<task 1>", 3, 5),
                make(0, "task_1", "<task 2>", 3, 5),
                make(0, "task_1", "<task 1>", 4, 5),
                make(0, "task_1", "<task 1>", 3, 6),
                make(0, "task_", "<task 1>", 3, 5),
            ] {
                assert_ne!(stamp, other);
            }
            if layout.version.is_some() {
                assert_ne!(make(7, "f", "f.py", 1, 1), make(8, "f", "f.py", 1, 1));
            }
        }
    }

    #[test]
    fn a_line_in_the_middle_makes_another_stamp() {
        let mut mock = MockInterpreter::new(layouts()[0]);
        let (layout, types) = (mock.layout, mock.types);
        let code = mock.code("<module>", "<string>", 1, 30);
        let stamp = Stamp::read(&layout, &types, &mut mock, code).unwrap();
        let table = mock.word(code + layout.linetable).unwrap() + layout.bytes;
        mock.set_bytes(table + 44, &[0x8a]);
        assert_ne!(Stamp::read(&layout, &types, &mut mock, code), Some(stamp));
    }

    #[test]
    fn names_that_are_no_strings_are_unknown() {
        let mut mock = MockInterpreter::new(layouts()[1]);
        let code = mock.code("f", "f.py", 1, 1);
        let number = mock.bytes_object(b"f");
        mock.set(code + mock.layout.qualname, number);
        let found = read(&mut mock, code).unwrap();
        assert!(found.name.is_none() && found.file.is_some());
        mock.set(code + mock.layout.qualname, 0);
        assert!(read(&mut mock, code).is_some_and(|code| code.name.is_none()));
        assert!(read(&mut mock, 0x7000_0000).is_none(), "nothing is there");
    }
}
