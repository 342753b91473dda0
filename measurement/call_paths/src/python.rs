//! The Python functions of one thread, for its call paths.

use crate::call_paths::Base;
use crate::function_table::FunctionTable;
use crate::memo::{Answer, Key, Memo};
use crate::merge::{Function, Since, merge};
use crate::pages::{Pages, Plain};
use crate::table::PathTable;
use crate::unwind::{Native, Word};
use python_frames::code::mix;
use python_frames::{Checked, Direct, End, Frame, Interpreter, Memory, frames};
use recording::paths::NO_PARENT;
use recording::python::{UNKNOWN, target};
use std::io;
use std::ops::Range;
use std::path::Path;

/// Words that are read for a Python function at most, and seldom more than half as many.
const WORDS_OF_FUNCTION: usize = 48;
/// Words that are kept: for a function there are more than of the machine's, most before 3.12.
const WORDS: usize = 16 * crate::memo::WORDS;
/// Regions that may be open of which it is known which functions were active when they were named.
const REGIONS: usize = 1024;
/// Of these functions so many are known, the innermost ones.
const ACTIVE: usize = 8;

/// A frame in memory that nothing has to be done for.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
struct Place(Frame);

// SAFETY: four numbers.
unsafe impl Plain for Place {}
// SAFETY: two numbers.
unsafe impl Plain for Function {}

/// A node of a path without its parent.
#[derive(Clone, Copy)]
struct Entered {
    kind: u32,
    target: u64,
}

// SAFETY: numbers.
unsafe impl Plain for Entered {}

/// A region that the program has named, and the functions that were active then.
#[derive(Clone, Copy)]
struct Region {
    base: Base,
    /// Frames with their code objects, the innermost first; 0 for none.
    active: [u64; ACTIVE],
    /// All of them in one number.
    signature: u64,
}

// SAFETY: numbers.
unsafe impl Plain for Region {}

/// The Python functions of one thread.
pub(crate) struct Python {
    interpreter: &'static Interpreter,
    /// The thread's state that the memo's readings begin with; 0 for none.
    state: u64,
    memo: Memo<WORDS>,
    words: Pages<Word>,
    /// How many words the last search has read; `None` if that were more than can be kept.
    read: Option<usize>,
    frames: Pages<Place>,
    functions: Pages<Function>,
    found: usize,
    end: End,
    /// The nodes of a path, the innermost first.
    nodes: Pages<Entered>,
    table: FunctionTable,
    /// The open regions, the innermost last.
    regions: Pages<Region>,
    open: usize,
    checked: Checked,
}

/// Memory that is there, with an account of what has been read.
struct Recorded<'a> {
    memory: Direct,
    words: &'a mut [Word],
    read: Option<usize>,
}

impl Memory for Recorded<'_> {
    #[inline]
    fn word(&mut self, address: u64) -> Option<u64> {
        let value = self.memory.word(address)?;
        self.read = self.read.and_then(|read| {
            *self.words.get_mut(read)? = Word { address, value };
            Some(read + 1)
        });
        Some(value)
    }

    #[inline]
    fn peek(&mut self, address: u64) -> Option<u64> {
        self.memory.peek(address)
    }
}

impl std::fmt::Debug for Python {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Python").field("interpreter", self.interpreter).finish_non_exhaustive()
    }
}

impl Python {
    /// For paths of at most `depth` functions; functions are written into a new file.
    pub(crate) fn new(interpreter: &'static Interpreter, file: &Path, depth: usize) -> io::Result<Self> {
        Ok(Self {
            interpreter,
            state: 0,
            memo: Memo::new()?,
            words: Pages::new(WORDS_OF_FUNCTION * depth + 64)?,
            read: None,
            frames: Pages::new(depth)?,
            functions: Pages::new(depth + 1)?,
            found: 0,
            end: End::Outermost,
            nodes: Pages::new(depth)?,
            table: FunctionTable::create(file)?,
            regions: Pages::new(REGIONS)?,
            open: 0,
            checked: Checked::new(),
        })
    }

    /// Looks which state the thread has now. To be called before any other function, each time that the program has called.
    #[inline]
    pub(crate) fn look(&mut self) {
        let state = self.interpreter.state_of_this_thread().unwrap_or(0);
        if state != self.state {
            self.memo.forget();
            self.state = state;
        }
    }

    /// The path that has been found before for the same functions of the machine, of which `serial` is the number, and the
    /// same Python functions.
    #[inline]
    pub(crate) fn remembered(
        &self,
        serial: u64,
        base: Option<Base>,
        kind: u32,
        target: u64,
    ) -> Option<Answer> {
        // SAFETY: the first word is in the thread's state, which is there. Each other one is where words that have been
        // compared before say; those have been found to be the interpreter's structures, which refer to each other as long
        // as they have these values.
        unsafe { self.memo.find_in_order(self.key(serial, base, kind, target)) }.ok()
    }

    fn key(&self, serial: u64, base: Option<Base>, kind: u32, target: u64) -> Key {
        let signature = self.region(base).map_or(0, |region| region.signature);
        let base = base.unwrap_or(Base::NONE);
        // The last word is not 0 whatever they are.
        let last = 1 << 63 | u64::from(kind & 0xff) << 32 | u64::from(base.node);
        [serial, mix(signature, base.stack_pointer), base.stack_pointer, target, last]
    }

    /// Keeps the path of the functions that have been found last.
    pub(crate) fn remember(
        &mut self,
        serial: u64,
        base: Option<Base>,
        (kind, target): (u32, u64),
        answer: Answer,
    ) {
        let Some(words) = self.read.and_then(|read| self.words.get(..read)) else { return };
        // SAFETY: as in `remembered`.
        if let Err(end) = unsafe { self.memo.find_in_order(self.key(serial, base, kind, target)) } {
            self.memo.insert(end, words, answer);
        }
    }

    /// Finds the Python functions that the calling thread has active, which has the given part of its stack in use. They
    /// are in [`Self::functions`] then. The error, which comes once, is a sentence for the user.
    ///
    /// To be called by a function that was called from Python, so that none of it changes meanwhile.
    pub(crate) fn search(&mut self, stack: &Range<u64>) -> Result<(), String> {
        (self.found, self.end, self.read) = (0, End::Outermost, Some(0));
        if self.state == 0 {
            return Ok(());
        }
        if self.interpreter.is_trusted(&mut self.checked, self.state, stack)? != Some(true) {
            // What is not read is not remembered, as there may be something to read the next time.
            self.read = None;
            return Ok(());
        }
        // SAFETY: the thread's state is there, and its frames with all that they refer to, which were found to be where
        // they should be.
        let memory = unsafe { Direct::new() };
        let mut memory = Recorded { memory, words: &mut self.words, read: Some(0) };
        let parts = (&mut *self.frames, &mut *self.functions, &mut self.table);
        (self.found, self.end) = find(self.interpreter, &mut memory, self.state, stack, parts);
        self.read = memory.read;
        Ok(())
    }

    /// The same for a sample. Calls no allocator and takes no lock.
    pub(crate) fn sample(&mut self, stack: &Range<u64>) {
        (self.found, self.end, self.read) = (0, End::Outermost, None);
        let Some(state) = self.interpreter.state_of_this_thread() else { return };
        if !self.interpreter.is_proven() {
            return;
        }
        self.checked.forget();
        let parts = (&mut *self.frames, &mut *self.functions, &mut self.table);
        (self.found, self.end) = find(self.interpreter, &mut self.checked, state, stack, parts);
    }

    /// The functions that were found, the innermost first.
    pub(crate) fn functions(&self) -> &[Function] {
        self.functions.get(..self.known()).unwrap_or_default()
    }

    /// How many they are, with the one that stands for those which are not known, if there are such.
    fn known(&self) -> usize {
        self.found + usize::from(self.end == End::Broken)
    }

    /// The path of these functions and of those of the machine, which come with the innermost first, below a region.
    pub(crate) fn path(
        &mut self,
        table: &mut PathTable,
        base: Option<Base>,
        machine: impl Iterator<Item = Native>,
    ) -> u32 {
        let (since, known) = (self.since(base), self.known());
        let functions = self.functions.get(..known).unwrap_or_default();
        let mut nodes = self.nodes.iter_mut();
        merge(machine, functions, since, |kind, target| {
            let Some(node) = nodes.next() else { return false };
            *node = Entered { kind, target };
            true
        });
        let rest = nodes.len();
        let found = self.nodes.len() - rest;
        let found = self.nodes.get(..found).unwrap_or_default();
        let parent = base.map_or(NO_PARENT, |base| base.node);
        found.iter().rev().fold(parent, |path, node| table.intern(path, node.kind, node.target))
    }

    /// Which of the functions that were found have been called since a region was named.
    ///
    /// The innermost one that was active then is still in its place. Others in between may have returned, as functions do
    /// that name regions on behalf of others; then all that it has called is new.
    fn since(&self, base: Option<Base>) -> Since {
        let Some(base) = base else { return Since::ALWAYS };
        let frames = self.frames.get(..self.found).unwrap_or_default();
        let region = self.region(Some(base));
        let place = |frame: &Place| {
            let id = identity(&frame.0);
            region?.active.iter().position(|&active| active == id)
        };
        let still_active =
            frames.iter().enumerate().find_map(|(i, frame)| Some((i, place(frame)?, frame.0.marker)));
        if let Some((functions, place, marker)) = still_active {
            let stack = if place == 0 { base.stack_pointer } else { base.stack_pointer.max(marker) };
            return Since { functions, stack };
        }
        // All of them have returned, or are further out, or there were none.
        let is_new = |frame: &&Place| frame.0.marker != 0 && frame.0.marker <= base.stack_pointer;
        let functions = match self.end {
            End::Limit if region.is_some() => usize::MAX,
            _ => frames.iter().take_while(is_new).count(),
        };
        Since { functions, stack: base.stack_pointer }
    }

    /// What is known of an open region.
    fn region(&self, base: Option<Base>) -> Option<&Region> {
        let base = base?;
        self.regions.get(..self.open)?.iter().rfind(|region| region.base == base)
    }

    /// Notes which functions are active when a region is named inside of another.
    pub(crate) fn note_region(&mut self, outer: Option<Base>, inner: Base, stack: &Range<u64>) {
        let open = self.regions.get(..self.open).unwrap_or_default();
        // Regions are left in the opposite order: those inside of the outer one are not open any more.
        self.open = open.iter().rposition(|region| Some(region.base) == outer).map_or(0, |outer| outer + 1);
        let Some(region) = self.regions.get_mut(self.open) else { return };
        self.open += 1;
        *region = Region { base: inner, active: [0; ACTIVE], signature: 0 };
        if self.state == 0 || !self.interpreter.is_proven() {
            return;
        }
        let mut frames = [Frame::default(); ACTIVE];
        // SAFETY: as in `search`.
        let mut memory = unsafe { Direct::new() };
        let structures = self.interpreter.structures();
        let (found, _) = frames::read(structures, &mut memory, self.state, stack.clone(), &mut frames);
        for (active, frame) in region.active.iter_mut().zip(frames.iter().take(found)) {
            *active = identity(frame);
        }
        region.signature = region.active.iter().fold(0, |all, &frame| mix(all, frame));
    }
}

/// What tells a frame from others that are in its place before or later.
fn identity(frame: &Frame) -> u64 {
    // Not 0, which stands for none.
    mix(frame.address, frame.code) | 1
}

/// Finds the functions of a thread; answers how many, and why not more. If some are not known, a function behind the
/// others stands for them.
fn find(
    interpreter: &Interpreter,
    memory: &mut impl Memory,
    state: u64,
    stack: &Range<u64>,
    (places, functions, table): (&mut [Place], &mut [Function], &mut FunctionTable),
) -> (usize, End) {
    let (layout, types) = interpreter.structures();
    // SAFETY: a place is a frame and nothing else.
    let frames = unsafe { std::slice::from_raw_parts_mut(places.as_mut_ptr().cast::<Frame>(), places.len()) };
    let (found, end) = frames::read((layout, types), memory, state, stack.clone(), frames);
    for (function, frame) in functions.iter_mut().zip(frames.iter().take(found)) {
        let (number, line) = table.find((layout, types), memory, frame).unwrap_or((UNKNOWN, 0));
        let target = target(number, line);
        *function = Function { target, marker: frame.marker };
    }
    if let Some(unknown) = functions.get_mut(found) {
        *unknown = Function { target: target(UNKNOWN, 0), marker: 0 };
    }
    (found, end)
}
