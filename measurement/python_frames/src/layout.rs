//! Offsets of fields in the interpreter's structures, by version.
//!
//! 3.11 and 3.12 do not export them: they are taken from the headers (`Include/internal/pycore_frame.h`,
//! `Include/cpython/code.h`, `pystate.h`, `unicodeobject.h`), which do not change within a version. Since
//! 3.13 `_PyRuntime` starts with a table of offsets for debuggers (`_Py_DebugOffsets`), itself of another
//! form in each version.

use crate::memory::Memory;

/// How the innermost frame of a thread is found, and which frames one C function evaluates. All numbers are
/// offsets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chain {
    /// The thread's state refers to the `_PyCFrame` of the innermost C function that evaluates; it is on the
    /// stack in that function's frame, and refers to a frame and to the `_PyCFrame` of the next such
    /// function.
    CFrames {
        /// In the thread's state.
        cframe: u64,
        /// The frame, in a `_PyCFrame`.
        frame: u64,
        /// The next `_PyCFrame`, in a `_PyCFrame`.
        next: u64,
        /// Whether these delimit the frames of one C function; if not, a frame on the stack does.
        delimits: bool,
    },
    /// The thread's state refers to the frame. The frames of one C function end at a frame on the stack.
    Frames {
        /// In the thread's state.
        frame: u64,
    },
}

/// Offsets of fields, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// In `_PyRuntime`: the state of the thread that finalizes the interpreter, or null.
    pub finalizing: u64,
    /// In the state of a thread.
    pub chain: Chain,
    /// In a frame: the code object, or something else that is executed.
    pub executable: u64,
    /// In a frame: the frame of the caller.
    pub previous: u64,
    /// In a frame: the instruction.
    pub instruction: u64,
    /// In a frame: its owner (a byte).
    pub owner: u64,
    /// In a code object: name of the file.
    pub filename: u64,
    /// In a code object: qualified name.
    pub qualname: u64,
    /// In a code object: line table.
    pub linetable: u64,
    /// In a code object: first line (32 bits).
    pub firstlineno: u64,
    /// In a code object: unique version number, if there is such a field (32 bits).
    pub version: Option<u64>,
    /// In a code object: the first instruction of the function's text (`_co_firsttraceable`, 32 bits),
    /// counted in instructions.
    pub firsttraceable: u64,
    /// In a code object: the instructions.
    pub instructions: u64,
    /// In any object: its type.
    pub object_type: u64,
    /// In an object with elements: their number.
    pub size: u64,
    /// In a string: number of characters.
    pub length: u64,
    /// In a string: kind, compactness and ASCII as bits (32 bits).
    pub state: u64,
    /// Size of an ASCII string without its characters (`PyASCIIObject`).
    pub ascii: u64,
    /// Size of another string without its characters (`PyCompactUnicodeObject`).
    pub compact: u64,
    /// In a bytes object: the bytes.
    pub bytes: u64,
}

/// Bytes of an instruction.
pub const INSTRUCTION: u64 = 2;

/// Owner of a frame: a generator. Its frame counts as a function's even before its first instruction.
pub const GENERATOR: u8 = 1;
/// Owners of frames from this one on: the interpreter itself.
pub const INTERPRETER: u8 = 3;

const V3_11: Layout = Layout {
    finalizing: 24,
    chain: Chain::CFrames { cframe: 56, frame: 8, next: 16, delimits: true },
    executable: 32,
    previous: 48,
    instruction: 56,
    owner: 69,
    filename: 112,
    qualname: 128,
    linetable: 136,
    firstlineno: 72,
    version: None,
    firsttraceable: 168,
    instructions: 184,
    object_type: 8,
    size: 16,
    length: 16,
    state: 32,
    ascii: 48,
    compact: 72,
    bytes: 32,
};

const V3_12: Layout = Layout {
    chain: Chain::CFrames { cframe: 56, frame: 0, next: 8, delimits: false },
    executable: 0,
    previous: 8,
    owner: 70,
    firstlineno: 68,
    version: Some(68 + VERSION),
    firsttraceable: 176,
    instructions: 192,
    ascii: 40,
    compact: 56,
    ..V3_11
};

/// The reason given for versions that are not supported.
pub(crate) const KNOWN: &str = "3.11 to 3.15 are known";

/// The first word of the table of offsets.
const COOKIE: u64 = u64::from_ne_bytes(*b"xdebugpy");

/// Positions of the offsets in that table, in words.
struct OffsetTable {
    finalizing: u64,
    current_frame: u64,
    previous: u64,
    executable: u64,
    instr_ptr: u64,
    owner: u64,
    filename: u64,
    qualname: u64,
    linetable: u64,
    firstlineno: u64,
    instructions: u64,
    object_type: u64,
    size: u64,
    bytes: u64,
    state: u64,
    length: u64,
    ascii: u64,
}

const T3_13: OffsetTable = OffsetTable {
    finalizing: 4,
    current_frame: 23,
    previous: 29,
    executable: 30,
    instr_ptr: 31,
    owner: 33,
    filename: 35,
    qualname: 37,
    linetable: 38,
    firstlineno: 39,
    instructions: 43,
    object_type: 45,
    size: 65,
    bytes: 66,
    state: 68,
    length: 69,
    ascii: 70,
};

const T3_14: OffsetTable = OffsetTable {
    current_frame: 26,
    previous: 32,
    executable: 33,
    instr_ptr: 34,
    owner: 36,
    filename: 40,
    qualname: 42,
    linetable: 43,
    firstlineno: 44,
    instructions: 48,
    object_type: 51,
    size: 75,
    bytes: 76,
    state: 78,
    length: 79,
    ascii: 80,
    ..T3_13
};

const T3_15: OffsetTable = OffsetTable {
    previous: 40,
    executable: 41,
    instr_ptr: 42,
    owner: 44,
    filename: 48,
    qualname: 50,
    linetable: 51,
    firstlineno: 52,
    instructions: 56,
    object_type: 59,
    size: 87,
    bytes: 88,
    state: 90,
    length: 91,
    ascii: 92,
    ..T3_14
};

/// From the first line of a code object to its version, which the table lacks; five other numbers are in
/// between.
const VERSION: u64 = 24;
/// From the size of an ASCII string to that of others: a length and an address.
const COMPACT: u64 = 16;
/// Upper bound of offsets: no structure that matters is larger.
const LARGEST: u64 = 1 << 20;

impl Layout {
    /// Returns the layout of a version, given as `PY_VERSION_HEX`; `runtime` is the address of `_PyRuntime`.
    ///
    /// # Errors
    /// A phrase that says why there is none.
    pub fn of(version: u64, runtime: u64, memory: &mut impl Memory) -> Result<Self, String> {
        let table = match version >> 16 {
            0x030b => return Ok(V3_11),
            0x030c => return Ok(V3_12),
            0x030d => T3_13,
            0x030e => T3_14,
            0x030f => T3_15,
            _ => return Err(KNOWN.into()),
        };
        let mut word = |at: u64| memory.word(runtime + 8 * at);
        if word(0) != Some(COOKIE) || word(1) != Some(version) {
            return Err("its table of offsets is not where it should be".into());
        }
        if word(2) != Some(0) {
            return Err("it runs without the global interpreter lock".into());
        }
        let mut at = |at: u64| word(at).filter(|&offset| offset < LARGEST);
        let mut read = || {
            let instructions = at(table.instructions)?;
            let (ascii, firstlineno) = (at(table.ascii)?, at(table.firstlineno)?);
            Some(Self {
                finalizing: at(table.finalizing)?,
                chain: Chain::Frames { frame: at(table.current_frame)? },
                executable: at(table.executable)?,
                previous: at(table.previous)?,
                instruction: at(table.instr_ptr)?,
                owner: at(table.owner)?,
                filename: at(table.filename)?,
                qualname: at(table.qualname)?,
                linetable: at(table.linetable)?,
                firstlineno,
                version: Some(firstlineno + VERSION),
                // The table lacks it: an int and a pointer are between it and the instructions.
                firsttraceable: instructions.checked_sub(16)?,
                instructions,
                object_type: at(table.object_type)?,
                size: at(table.size)?,
                length: at(table.length)?,
                state: at(table.state)?,
                ascii,
                compact: ascii + COMPACT,
                bytes: at(table.bytes)?,
            })
        };
        read().filter(Self::is_aligned).ok_or_else(|| "its table of offsets makes no sense".into())
    }

    /// Whether fields are aligned.
    fn is_aligned(&self) -> bool {
        let words = [
            self.finalizing,
            self.executable,
            self.previous,
            self.instruction,
            self.filename,
            self.qualname,
            self.linetable,
            self.object_type,
            self.size,
            self.length,
        ];
        let halves = [self.firstlineno, self.firsttraceable, self.state];
        words.iter().all(|at| at.is_multiple_of(8)) && halves.iter().all(|at| at.is_multiple_of(4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Direct;

    /// Returns a table of offsets in which the value of each word is its position.
    fn table(version: u64) -> Vec<u64> {
        let mut words: Vec<u64> = (0..120).map(|at| at * 8).collect();
        (words[0], words[1], words[2]) = (COOKIE, version, 0);
        words
    }

    fn layout(version: u64, words: &[u64]) -> Result<Layout, String> {
        // SAFETY: only words of the table are read, and it is long enough for all versions.
        Layout::of(version, words.as_ptr() as u64, &mut unsafe { Direct::new() })
    }

    #[test]
    fn versions_without_a_table_have_constants() {
        assert_eq!(layout(0x030b_07f0, &[]), Ok(V3_11));
        assert_eq!(layout(0x030c_01f0, &[]), Ok(V3_12));
    }

    #[test]
    fn versions_with_a_table_are_read_from_it() {
        for (version, frame, instructions, ascii) in
            [(0x030d_00f0, 23, 43, 70), (0x030e_0af0, 26, 48, 80), (0x030f_02f0, 26, 56, 92)]
        {
            let layout = layout(version, &table(version)).unwrap();
            assert_eq!(layout.chain, Chain::Frames { frame: 8 * frame });
            assert_eq!(layout.instructions, 8 * instructions);
            assert_eq!(layout.firsttraceable, 8 * instructions - 16);
            assert_eq!(layout.compact, 8 * ascii + 16);
        }
    }

    #[test]
    fn what_is_not_supported_is_said() {
        for version in [0x030a_00f0, 0x0310_00f0, 0x0207_12f0] {
            assert!(layout(version, &table(version)).unwrap_err().contains("3.15"), "{version:#x}");
        }
        let version = 0x030d_00f0;
        let with = |at: usize, value: u64| {
            let mut words = table(version);
            words[at] = value;
            layout(version, &words)
        };
        assert!(with(2, 1).unwrap_err().contains("lock"), "free-threaded");
        assert!(with(0, 7).is_err() && with(1, 0x030d_01f0).is_err(), "another table");
        assert!(with(30, 1 << 40).is_err() && with(30, 13).is_err(), "no offsets");
    }
}
