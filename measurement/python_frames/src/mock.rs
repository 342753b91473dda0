//! A mock interpreter for tests: its structures at each version's offsets, in a map of words.
//!
//! Panics where a test is wrong.

use crate::interpreter::Types;
use crate::layout::{Chain, INSTRUCTION, Layout};
use crate::memory::Memory;
use crate::text::Text;
use std::collections::BTreeMap;
use std::ops::Range;

/// Addresses of the thread's stack.
pub const STACK: Range<u64> = 0x7fff_0000..0x7fff_8000;

/// First address of everything else.
const HEAP: u64 = 0x5000_0000;

/// The layouts of versions with different structures: 3.11, 3.12, and one that has a table of offsets.
pub fn layouts() -> [Layout; 3] {
    // SAFETY: these two versions do not read any memory.
    let mut memory = unsafe { crate::memory::Direct::new() };
    let mut of = |version| Layout::of(version, 0, &mut memory).unwrap();
    let (v3_11, v3_12) = (of(0x030b_00f0), of(0x030c_00f0));
    let told = Layout {
        chain: Chain::Frames { frame: 72 },
        owner: 74,
        firsttraceable: 192,
        instructions: 208,
        finalizing: 784,
        ..v3_12
    };
    [v3_11, v3_12, told]
}

/// The memory of a process with a thread that runs Python.
#[derive(Debug)]
pub struct MockInterpreter {
    /// Offsets of fields.
    pub layout: Layout,
    /// Addresses of types.
    pub types: Types,
    words: BTreeMap<u64, u64>,
    next: u64,
    innermost: u64,
    cframe: u64,
}

impl Memory for MockInterpreter {
    fn word(&mut self, address: u64) -> Option<u64> {
        self.words.get(&address).copied()
    }
}

impl MockInterpreter {
    /// Creates a thread that runs nothing yet.
    pub fn new(layout: Layout) -> Self {
        let types = Types { code: HEAP, string: HEAP + 8, bytes: HEAP + 16 };
        let words = BTreeMap::new();
        let mut mock = Self { layout, types, words, next: HEAP + 0x10_0000, innermost: 0, cframe: 0 };
        let state = mock.state();
        mock.set(state, 0);
        if let Chain::CFrames { cframe, frame, next, .. } = layout.chain {
            // The outermost one is in the thread's state.
            mock.cframe = state + 0x100;
            mock.set(mock.cframe + frame, 0);
            mock.set(mock.cframe + next, 0);
            mock.set(state + cframe, mock.cframe);
        } else if let Chain::Frames { frame } = layout.chain {
            mock.set(state + frame, 0);
        }
        mock
    }

    /// Returns the address of the thread's state.
    pub fn state(&self) -> u64 {
        HEAP + 0x1000
    }

    /// Returns the address of the innermost `_PyCFrame`.
    pub fn cframe(&self) -> u64 {
        self.cframe
    }

    /// Writes a word at an address.
    pub fn set(&mut self, address: u64, word: u64) {
        assert!(address.is_multiple_of(8));
        self.words.insert(address, word);
    }

    /// Writes a byte at an address.
    pub fn set_byte(&mut self, address: u64, byte: u8) {
        self.set_bytes(address, &[byte]);
    }

    /// Writes bytes at an address.
    pub fn set_bytes(&mut self, address: u64, bytes: &[u8]) {
        for (address, &byte) in (address..).zip(bytes) {
            let word = self.words.entry(address & !7).or_default();
            let mut all = word.to_ne_bytes();
            all[(address & 7) as usize] = byte;
            *word = u64::from_ne_bytes(all);
        }
    }

    fn object(&mut self, object_type: u64, size: u64) -> u64 {
        let object = self.next;
        self.next = (object + size).next_multiple_of(16);
        for word in (object..self.next).step_by(8) {
            self.set(word, 0);
        }
        self.set(object + self.layout.object_type, object_type);
        object
    }

    /// Creates a string in the narrowest form.
    pub fn string(&mut self, text: &str) -> u64 {
        let characters: Vec<u32> = text.chars().map(u32::from).collect();
        let width = match characters.iter().max().copied().unwrap_or(0) {
            0..=0xff => 1,
            0x100..=0xffff => 2,
            _ => 4,
        };
        self.string_of(width, &characters)
    }

    /// Creates a string with characters of `width` bytes.
    pub fn string_of(&mut self, width: usize, characters: &[u32]) -> u64 {
        let is_ascii = width == 1 && characters.iter().all(|&character| character < 0x80);
        let header = if is_ascii { self.layout.ascii } else { self.layout.compact };
        let object = self.object(self.types.string, header + (characters.len() * width) as u64);
        self.set(object + self.layout.length, characters.len() as u64);
        let state = (width as u32) << 2 | 1 << 5 | u32::from(is_ascii) << 6;
        self.set_bytes(object + self.layout.state, &state.to_ne_bytes());
        for (i, character) in characters.iter().enumerate() {
            self.set_bytes(object + header + (i * width) as u64, &character.to_ne_bytes()[..width]);
        }
        object
    }

    /// Creates a bytes object.
    pub fn bytes_object(&mut self, bytes: &[u8]) -> u64 {
        let object = self.object(self.types.bytes, self.layout.bytes + bytes.len() as u64);
        self.set(object + self.layout.size, bytes.len() as u64);
        self.set_bytes(object + self.layout.bytes, bytes);
        object
    }

    /// Creates a code object of so many instructions, each on a line of its own.
    pub fn code(&mut self, name: &str, file: &str, first_line: u32, instructions: u64) -> u64 {
        let entry = |i: u64| [0x80 | (if i == 0 { 10 } else { 11 }) << 3, 0, 0];
        let table: Vec<u8> = (0..instructions).flat_map(entry).collect();
        let layout = self.layout;
        let code = self.object(self.types.code, layout.instructions + instructions * INSTRUCTION);
        let (name, file, table) = (self.string(name), self.string(file), self.bytes_object(&table));
        self.set(code + layout.qualname, name);
        self.set(code + layout.filename, file);
        self.set(code + layout.linetable, table);
        self.set_bytes(code + layout.firstlineno, &first_line.to_ne_bytes());
        self.set_bytes(code + layout.firsttraceable, &1_u32.to_ne_bytes());
        code
    }

    /// Returns the name of the function of a code object.
    pub fn name_of(&mut self, code: u64) -> String {
        let (layout, types) = (self.layout, self.types);
        let object = self.word(code + layout.qualname).unwrap();
        let text = Text::of(&layout, &types, self, object).unwrap();
        let mut room = [0; 100];
        let length = text.write(self, &mut room).unwrap();
        String::from_utf8(room[..length].to_vec()).unwrap()
    }

    /// Lets a C function with a frame at that distance from the start of the stack evaluate functions of
    /// these names, which call each other. Returns their frames.
    pub fn evaluate(&mut self, place: u64, names: &[&str]) -> Vec<u64> {
        let layout = self.layout;
        let own = STACK.start + place;
        let is_delimited = matches!(layout.chain, Chain::CFrames { delimits: true, .. });
        if let Chain::CFrames { cframe, frame, next, .. } = layout.chain {
            // In 3.12 it is beside the frame on the stack.
            let own_cframe = if is_delimited { own } else { own + 0x80 };
            self.set(own_cframe + next, self.cframe);
            self.set(own_cframe + frame, 0);
            self.set(self.state() + cframe, own_cframe);
            self.cframe = own_cframe;
        }
        if !is_delimited {
            for word in (own..own + 0x60).step_by(8) {
                self.set(word, 0);
            }
            self.set(own + layout.previous, self.innermost);
            self.innermost = own;
        }
        let mut frames = Vec::new();
        for name in names {
            let code = self.code(name, "test.py", 1, 8);
            let frame = self.object(0, 0x60);
            self.set(frame + layout.previous, self.innermost);
            self.set(frame + layout.executable, code);
            self.set(frame + layout.instruction, code + layout.instructions + 3 * INSTRUCTION);
            self.innermost = frame;
            frames.push(frame);
        }
        match layout.chain {
            Chain::CFrames { frame, .. } => self.set(self.cframe + frame, self.innermost),
            Chain::Frames { frame } => self.set(self.state() + frame, self.innermost),
        }
        frames
    }

    /// Sets the function of a frame back to before its first instruction.
    pub fn rewind(&mut self, frame: u64) {
        let code = self.word(frame + self.layout.executable).unwrap();
        self.set(frame + self.layout.instruction, code + self.layout.instructions - INSTRUCTION);
    }
}
