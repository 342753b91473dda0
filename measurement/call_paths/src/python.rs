//! The Python functions of one thread, for its call paths.

use crate::call_paths::RegionBase;
use crate::function_table::FunctionTable;
use crate::memo::{BranchKey, FoundPath, Memo};
use crate::merge::{CalledSince, PythonFunction, merge};
use crate::pages::{Pages, Plain};
use crate::table::PathTable;
use crate::unwind::{NativeFrame, Word};
use python_frames::code::mix;
use python_frames::{Checked, Direct, Frame, Interpreter, Memory, WalkEnd, frames};
use recording::paths::NO_PARENT;
use recording::python::{UNKNOWN, target};
use std::io;
use std::ops::Range;
use std::path::Path;

/// Maximum number of words read for a Python function; usually at most half as many are.
const WORDS_OF_FUNCTION: usize = 48;
/// Words that the memo keeps: a Python function takes more of them than a native one, most before 3.12.
const WORDS: usize = 16 * crate::memo::WORDS;
/// Maximum number of open regions for which the functions active at their naming are kept.
const REGIONS: usize = 1024;
/// Number of these functions that are kept, the innermost ones.
const ACTIVE: usize = 8;

/// A frame in pages: it needs no drop.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
struct PlainFrame(Frame);

// SAFETY: integers; zero is a value of each.
unsafe impl Plain for PlainFrame {}
// SAFETY: two integers; zero is a value of each.
unsafe impl Plain for PythonFunction {}

/// A node of a path without its parent.
#[derive(Clone, Copy)]
struct NodeKey {
    kind: u32,
    target: u64,
}

// SAFETY: two integers; zero is a value of each.
unsafe impl Plain for NodeKey {}

/// A region that the program has named, and the functions that were active then.
#[derive(Clone, Copy)]
struct OpenRegion {
    base: RegionBase,
    /// Identities of the frames with their code objects, the innermost first; 0 for none.
    active: [u64; ACTIVE],
    /// A hash of all of them.
    signature: u64,
}

// SAFETY: integers; zero is a value of each.
unsafe impl Plain for OpenRegion {}

/// The Python functions of one thread: those that are active, and a memo of paths.
pub(crate) struct PythonStack {
    interpreter: &'static Interpreter,
    /// The `PyThreadState` from which the memo's searches start; 0 for none.
    state: u64,
    memo: Memo<WORDS>,
    words: Pages<Word>,
    /// How many words the last search has read; `None` if more than can be kept.
    read: Option<usize>,
    frames: Pages<PlainFrame>,
    functions: Pages<PythonFunction>,
    found: usize,
    end: WalkEnd,
    /// The nodes of a path, the innermost first.
    nodes: Pages<NodeKey>,
    table: FunctionTable,
    /// The open regions, the innermost last.
    regions: Pages<OpenRegion>,
    open: usize,
    checked: Checked,
}

/// Direct access to memory that records the words read.
struct RecordingMemory<'a> {
    memory: Direct,
    words: &'a mut [Word],
    read: Option<usize>,
}

impl Memory for RecordingMemory<'_> {
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

impl std::fmt::Debug for PythonStack {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Python").field("interpreter", self.interpreter).finish_non_exhaustive()
    }
}

impl PythonStack {
    /// Creates the Python side of paths of at most `depth` functions; functions are written to a new file.
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
            end: WalkEnd::Outermost,
            nodes: Pages::new(depth)?,
            table: FunctionTable::create(file)?,
            regions: Pages::new(REGIONS)?,
            open: 0,
            checked: Checked::new(),
        })
    }

    /// Updates the thread's state. To be called before any other function, at each event.
    #[inline]
    pub(crate) fn look(&mut self) {
        let state = self.interpreter.state_of_this_thread().unwrap_or(0);
        if state != self.state {
            self.memo.forget();
            self.state = state;
        }
    }

    /// Returns the path that was found before for the same native functions, which have the number `serial`,
    /// and the same Python functions.
    #[inline]
    pub(crate) fn remembered(
        &self,
        serial: u64,
        base: Option<RegionBase>,
        kind: u32,
        target: u64,
    ) -> Option<FoundPath> {
        // SAFETY: the first word is in the thread's state, which exists as long as the interpreter has it
        // current. The address of each other one follows from words that have been compared before: these
        // were the interpreter's structures when the search was inserted, and refer to each other as long as
        // they have these values.
        unsafe { self.memo.find_in_order(self.key(serial, base, kind, target)) }.ok()
    }

    fn key(&self, serial: u64, base: Option<RegionBase>, kind: u32, target: u64) -> BranchKey {
        let signature = self.region(base).map_or(0, |region| region.signature);
        let base = base.unwrap_or(RegionBase::NONE);
        // The last word is not 0 whatever they are.
        let last = 1 << 63 | u64::from(kind & 0xff) << 32 | u64::from(base.node);
        [serial, mix(signature, base.stack_pointer), base.stack_pointer, target, last]
    }

    /// Inserts the path of the functions that were found last into the memo.
    pub(crate) fn remember(
        &mut self,
        serial: u64,
        base: Option<RegionBase>,
        (kind, target): (u32, u64),
        answer: FoundPath,
    ) {
        let Some(words) = self.read.and_then(|read| self.words.get(..read)) else { return };
        // SAFETY: as in `remembered`.
        if let Err(end) = unsafe { self.memo.find_in_order(self.key(serial, base, kind, target)) } {
            self.memo.insert(end, words, answer);
        }
    }

    /// Finds the active Python functions of the calling thread, which has the given part of its stack in use.
    /// They are in [`Self::functions`] then. The error, returned once, is a sentence for the user.
    ///
    /// To be called below a function that Python has called, so that none of it changes meanwhile.
    pub(crate) fn search(&mut self, stack: &Range<u64>) -> Result<(), String> {
        (self.found, self.end, self.read) = (0, WalkEnd::Outermost, Some(0));
        if self.state == 0 {
            return Ok(());
        }
        if self.interpreter.is_trusted(&mut self.checked, self.state, stack)? != Some(true) {
            // Not remembered: there may be something to read the next time.
            self.read = None;
            return Ok(());
        }
        // SAFETY: `is_trusted` has found the frames of this thread's state, and all that they refer to, to be
        // where they should be; the thread runs the recorder, so the interpreter changes none of it
        // meanwhile.
        let memory = unsafe { Direct::new() };
        let mut memory = RecordingMemory { memory, words: &mut self.words, read: Some(0) };
        let parts = (&mut *self.frames, &mut *self.functions, &mut self.table);
        (self.found, self.end) = find(self.interpreter, &mut memory, self.state, stack, parts);
        self.read = memory.read;
        Ok(())
    }

    /// As [`Self::search`], for a sample. Calls no allocator and takes no lock.
    pub(crate) fn sample(&mut self, stack: &Range<u64>) {
        (self.found, self.end, self.read) = (0, WalkEnd::Outermost, None);
        let Some(state) = self.interpreter.state_of_this_thread() else { return };
        if !self.interpreter.is_proven() {
            return;
        }
        self.checked.forget();
        let parts = (&mut *self.frames, &mut *self.functions, &mut self.table);
        (self.found, self.end) = find(self.interpreter, &mut self.checked, state, stack, parts);
    }

    /// Returns the functions that were found, the innermost first.
    pub(crate) fn functions(&self) -> &[PythonFunction] {
        self.functions.get(..self.known()).unwrap_or_default()
    }

    /// Returns their number, with the one that stands for those which are not known, if there is one.
    fn known(&self) -> usize {
        self.found + usize::from(self.end == WalkEnd::Broken)
    }

    /// Interns the path of these functions and the native ones, which come with the innermost first, below a
    /// region.
    pub(crate) fn path(
        &mut self,
        table: &mut PathTable,
        base: Option<RegionBase>,
        machine: impl Iterator<Item = NativeFrame>,
    ) -> u32 {
        let (since, known) = (self.since(base), self.known());
        let functions = self.functions.get(..known).unwrap_or_default();
        let mut nodes = self.nodes.iter_mut();
        merge(machine, functions, since, |kind, target| {
            let Some(node) = nodes.next() else { return false };
            *node = NodeKey { kind, target };
            true
        });
        let rest = nodes.len();
        let found = self.nodes.len() - rest;
        let found = self.nodes.get(..found).unwrap_or_default();
        let parent = base.map_or(NO_PARENT, |base| base.node);
        found.iter().rev().fold(parent, |path, node| table.intern(path, node.kind, node.target))
    }

    /// Returns which of the functions that were found have been called since a region was named.
    ///
    /// The innermost one that was active then is still in its place. Others in between may have returned, as
    /// functions do that name regions on behalf of others; then all that it has called is new.
    fn since(&self, base: Option<RegionBase>) -> CalledSince {
        let Some(base) = base else { return CalledSince::ALWAYS };
        let frames = self.frames.get(..self.found).unwrap_or_default();
        let region = self.region(Some(base));
        let place = |frame: &PlainFrame| {
            let id = identity(&frame.0);
            region?.active.iter().position(|&active| active == id)
        };
        let still_active =
            frames.iter().enumerate().find_map(|(i, frame)| Some((i, place(frame)?, frame.0.marker)));
        if let Some((functions, place, marker)) = still_active {
            let stack = if place == 0 { base.stack_pointer } else { base.stack_pointer.max(marker) };
            return CalledSince { functions, stack };
        }
        // All of them have returned, or are further out, or there were none.
        let is_new = |frame: &&PlainFrame| frame.0.marker != 0 && frame.0.marker <= base.stack_pointer;
        let functions = match self.end {
            WalkEnd::Limit if region.is_some() => usize::MAX,
            _ => frames.iter().take_while(is_new).count(),
        };
        CalledSince { functions, stack: base.stack_pointer }
    }

    /// Returns an open region.
    fn region(&self, base: Option<RegionBase>) -> Option<&OpenRegion> {
        let base = base?;
        self.regions.get(..self.open)?.iter().rfind(|region| region.base == base)
    }

    /// Records the functions that are active when a region is named inside of another.
    pub(crate) fn note_region(&mut self, outer: Option<RegionBase>, inner: RegionBase, stack: &Range<u64>) {
        let open = self.regions.get(..self.open).unwrap_or_default();
        // Regions are left in the opposite order: those inside of the outer one are not open any more.
        self.open = open.iter().rposition(|region| Some(region.base) == outer).map_or(0, |outer| outer + 1);
        let Some(region) = self.regions.get_mut(self.open) else { return };
        self.open += 1;
        *region = OpenRegion { base: inner, active: [0; ACTIVE], signature: 0 };
        if self.state == 0 || !self.interpreter.is_proven() {
            return;
        }
        let mut frames = [Frame::default(); ACTIVE];
        // SAFETY: as in `search`: the interpreter's structures are proven, and the thread runs the recorder.
        let mut memory = unsafe { Direct::new() };
        let structures = self.interpreter.structures();
        let (found, _) = frames::read(structures, &mut memory, self.state, stack.clone(), &mut frames);
        for (active, frame) in region.active.iter_mut().zip(frames.iter().take(found)) {
            *active = identity(frame);
        }
        region.signature = region.active.iter().fold(0, |all, &frame| mix(all, frame));
    }
}

/// Returns a number that distinguishes a frame from others that are in its place before or later.
fn identity(frame: &Frame) -> u64 {
    // Not 0, which stands for none.
    mix(frame.address, frame.code) | 1
}

/// Finds the functions of a thread; returns how many, and why not more. If some are not known, a function
/// behind the others stands for them.
fn find(
    interpreter: &Interpreter,
    memory: &mut impl Memory,
    state: u64,
    stack: &Range<u64>,
    (places, functions, table): (&mut [PlainFrame], &mut [PythonFunction], &mut FunctionTable),
) -> (usize, WalkEnd) {
    let (layout, types) = interpreter.structures();
    // SAFETY: `PlainFrame` is a transparent wrapper of `Frame`, and the slice is borrowed mutably by this
    // function.
    let frames = unsafe { std::slice::from_raw_parts_mut(places.as_mut_ptr().cast::<Frame>(), places.len()) };
    let (found, end) = frames::read((layout, types), memory, state, stack.clone(), frames);
    for (function, frame) in functions.iter_mut().zip(frames.iter().take(found)) {
        let (number, line) = table.find((layout, types), memory, frame).unwrap_or((UNKNOWN, 0));
        let target = target(number, line);
        *function = PythonFunction { target, marker: frame.marker };
    }
    if let Some(unknown) = functions.get_mut(found) {
        *unknown = PythonFunction { target: target(UNKNOWN, 0), marker: 0 };
    }
    (found, end)
}
