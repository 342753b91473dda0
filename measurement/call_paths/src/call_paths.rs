//! The call paths of a thread.

use crate::memo::{BranchKey, FoundPath, Memo};
use crate::merge::innermost;
use crate::modules::{Modules, Snapshot};
use crate::python::PythonStack;
use crate::registers::Registers;
use crate::stack::{Stack, StackInUse};
use crate::table::PathTable;
use crate::unwind::{INTERPRETED, NativeFrame, Search, Unwinder};
use recording::paths::{FILE_FUNCTION, FRAME, FUNCTION, MPI_FUNCTION, NO_PARENT, REGION, SAMPLE};
use std::io;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};

/// The innermost region that the program has named and not left.
///
/// A function counts as called since if all of its frame lies below the stack pointer. So if a function names
/// a region on behalf of its caller and returns (a constructor that was not inlined), functions that the
/// caller calls directly cannot be distinguished from it and are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegionBase {
    /// The stack pointer of the function that named the region, at the call that did so.
    pub stack_pointer: u64,
    /// The region's node.
    pub node: u32,
}

impl RegionBase {
    /// The value while no region is named.
    pub const NONE: Self = Self { stack_pointer: u64::MAX, node: NO_PARENT };
}

/// Hits and misses of the memo of paths.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// Paths that were known.
    pub hits: u64,
    /// Paths for which the stack was unwound.
    pub misses: u64,
}

/// The call paths of one thread: finds the one that the thread is on and numbers it in a [`PathTable`].
///
/// Belongs to the thread that has created it. [`Self::at_sample`] may be called in a signal handler of that
/// thread, even if the signal has interrupted another function of this type.
#[derive(Debug)]
pub struct CallPaths {
    table: PathTable,
    parts: PathFinder,
    stack: Stack,
    modules: &'static Modules,
    /// The Python side, once there is an interpreter, and the file of its functions.
    python: Option<Box<PythonStack>>,
    functions: PathBuf,
    statistics: Statistics,
    /// Set while the table or the unwinder is being changed, for signal handlers.
    busy: AtomicBool,
    /// Not `Send`: the bounds of the stack are those of this thread.
    _of_this_thread: PhantomData<*const ()>,
}

/// Memo and unwinder: everything that finds paths apart from the table that numbers them.
struct PathFinder {
    memo: Memo,
    unwinder: Unwinder,
    /// The snapshot that the memo's and the unwinder's rules belong to.
    snapshot: Option<&'static Snapshot>,
    /// The frame pointer at the start is one of the words that unwinding reads, so it needs an address.
    frame_pointer: Box<u64>,
    depth: usize,
}

impl std::fmt::Debug for PathFinder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Parts").field("depth", &self.depth).finish_non_exhaustive()
    }
}

impl CallPaths {
    /// Creates the call paths of the calling thread, with at most `depth` functions on a path (at most 10000;
    /// 0 for none): if more are active, the outermost of them are left out.
    ///
    /// Refreshes `modules` if nobody has done so yet. If there is or will be a Python interpreter, its
    /// functions are written to the file `functions`, which is created then.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn new(
        modules: &'static Modules,
        table: PathTable,
        functions: PathBuf,
        depth: usize,
    ) -> io::Result<Self> {
        if modules.snapshot().is_none() {
            modules.refresh();
        }
        let depth = depth.min(10_000);
        let parts = PathFinder {
            memo: Memo::new()?,
            unwinder: Unwinder::new(depth)?,
            snapshot: modules.snapshot(),
            frame_pointer: Box::new(0),
            depth,
        };
        let stack = Stack::of_this_thread();
        let mut paths = Self {
            table,
            parts,
            stack,
            modules,
            python: None,
            functions,
            statistics: Statistics::default(),
            busy: AtomicBool::new(false),
            _of_this_thread: PhantomData,
        };
        paths.begin_python();
        Ok(paths)
    }

    /// Creates the Python side if there is an interpreter.
    fn begin_python(&mut self) {
        let (None, Some(interpreter)) = (&self.python, self.modules.python()) else { return };
        match PythonStack::new(interpreter, &self.functions, self.parts.depth) {
            Ok(python) => self.python = Some(Box::new(python)),
            Err(cause) => {
                let file = self.functions.display();
                self.modules.complain(&format!(
                    "Python functions of a thread are not on call paths: {file}: {cause}"
                ));
            }
        }
    }

    /// Returns the node of a call of an MPI function: the active functions, and below them that MPI function.
    ///
    /// `registers` must come from [`Registers::here`] in a function of this thread that has not returned: the
    /// wrapper, which is left out, as are all innermost functions in the recorder or the MPI library. With a
    /// base, only functions that were called since are on the path, below the base's node.
    ///
    /// On a stack that is not the thread's own there are no functions on the path. A function that a signal
    /// has interrupted is on it with the address one behind that of the interrupted instruction, as if it had
    /// called the handler.
    #[inline]
    pub fn at_call(&mut self, registers: Registers, base: Option<RegionBase>, function: u32) -> u32 {
        self.find(registers, base, MPI_FUNCTION, u64::from(function)).node
    }

    /// Returns the base of a region that is entered: one that the program names
    /// ([`recording::paths::REGION`]) or an instrumented function ([`recording::paths::FUNCTION`]); for the
    /// latter the innermost function is left out, as it is the one that is entered. Otherwise as
    /// [`Self::at_call`]. Calls of MPI functions and of functions for files have bases, too, but no paths within.
    ///
    /// The base is for paths within the region, until that is left.
    #[inline]
    pub fn at_region(
        &mut self,
        registers: Registers,
        base: Option<RegionBase>,
        kind: u32,
        target: u64,
    ) -> RegionBase {
        let answer = self.find(registers, base, kind, target);
        let stack_pointer = registers.stack.wrapping_add(u64::from(answer.caller) * 8);
        let inner = RegionBase { stack_pointer, node: answer.node };
        if let Some(python) = &mut self.python
            && kind != MPI_FUNCTION
            && kind != FILE_FUNCTION
            && let Some(live) = self.stack.in_use(registers.stack)
        {
            python.note_region(base, inner, &live.range());
        }
        inner
    }

    /// Returns the base of a region that was entered before paths were recorded: its place on the stack is
    /// known, `stack_pointer` as its functions' callees see it, but not which functions were active then.
    pub fn at_earlier_region(
        &mut self,
        base: Option<RegionBase>,
        stack_pointer: u64,
        kind: u32,
        target: u64,
    ) -> RegionBase {
        let parent = base.map_or(NO_PARENT, |base| base.node);
        RegionBase { stack_pointer, node: self.table.intern(parent, kind, target) }
    }

    #[inline(always)]
    fn find(&mut self, registers: Registers, base: Option<RegionBase>, kind: u32, target: u64) -> FoundPath {
        if self.python.is_some() {
            return self.find_in_python(registers, base, kind, target);
        }
        let root = root(registers, base, kind, target);
        *self.parts.frame_pointer = registers.frame;
        // SAFETY: all words that a search with this root has read are on this thread's stack between its
        // stack pointer, which is part of the root, and the top, hence mapped, or in the box of the frame
        // pointer.
        match unsafe { self.parts.memo.find(root) } {
            Ok(answer) => {
                self.statistics.hits += 1;
                answer
            }
            Err(_) => self.unwind(registers, base, kind, target),
        }
    }

    #[cold]
    #[inline(never)]
    fn unwind(
        &mut self,
        registers: Registers,
        base: Option<RegionBase>,
        kind: u32,
        target: u64,
    ) -> FoundPath {
        self.statistics.misses += 1;
        let parent = base.map_or(NO_PARENT, |base| base.node);
        self.busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let answer = match self.stack.in_use(registers.stack) {
            Some(live) => {
                self.parts.renew(self.modules);
                self.begin_python();
                let search = self.parts.search(registers, base, true);
                self.parts.unwind(live, &search);
                let frames = self.parts.natives(kind);
                let path = frames
                    .iter()
                    .rev()
                    .fold(parent, |path, frame| self.table.intern(path, FRAME, frame.address));
                let node = self.table.intern(path, kind, target);
                self.parts.remember(root(registers, base, kind, target), registers, node)
            }
            None => self.without_stack(parent, kind, target),
        };
        compiler_fence(Ordering::SeqCst);
        self.busy.store(false, Ordering::Relaxed);
        answer
    }

    /// Returns the path on a stack that is not the thread's own: it has no functions.
    fn without_stack(&mut self, parent: u32, kind: u32, target: u64) -> FoundPath {
        FoundPath { node: self.table.intern(parent, kind, target), ..FoundPath::default() }
    }

    /// As [`Self::find`], in a process with a Python interpreter.
    ///
    /// Two memos: the first, of native functions, yields only a serial number of the path; the second, keyed
    /// by that number, yields the node from the Python functions.
    #[inline(never)]
    fn find_in_python(
        &mut self,
        registers: Registers,
        base: Option<RegionBase>,
        kind: u32,
        target: u64,
    ) -> FoundPath {
        *self.parts.frame_pointer = registers.frame;
        if let Some(python) = &mut self.python {
            python.look();
            // SAFETY: as in `find`.
            if let Ok(machine) = unsafe { self.parts.memo.find_number(machine_root(registers)) }
                && let Some(answer) = python.remembered(machine, base, kind, target)
            {
                self.statistics.hits += 1;
                return answer;
            }
        }
        self.unwind_python(registers, base, kind, target)
    }

    #[cold]
    #[inline(never)]
    fn unwind_python(
        &mut self,
        registers: Registers,
        base: Option<RegionBase>,
        kind: u32,
        target: u64,
    ) -> FoundPath {
        self.statistics.misses += 1;
        let parent = base.map_or(NO_PARENT, |base| base.node);
        self.busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let answer = match self.stack.in_use(registers.stack) {
            Some(live) => self.merge_python(live, registers, base, (kind, target)),
            None => self.without_stack(parent, kind, target),
        };
        compiler_fence(Ordering::SeqCst);
        self.busy.store(false, Ordering::Relaxed);
        answer
    }

    /// Finds native and Python functions, and remembers the path that they make.
    fn merge_python(
        &mut self,
        live: StackInUse,
        registers: Registers,
        base: Option<RegionBase>,
        (kind, target): (u32, u64),
    ) -> FoundPath {
        self.parts.renew(self.modules);
        let search = self.parts.search_in_python(registers, true);
        self.parts.unwind(live, &search);
        let root = machine_root(registers);
        self.parts.remember(root, registers, NO_PARENT);
        // SAFETY: as in `find`.
        let machine = unsafe { self.parts.memo.find_number(root) };
        let mut answer = FoundPath::default();
        if let Some(python) = &mut self.python {
            if let Err(sentence) = python.search(&live.range()) {
                self.modules.complain(&sentence);
            }
            let path = self.parts.path_in_python(&mut self.table, python, base, kind);
            let node = self.table.intern(path, kind, target);
            let caller_stack = match kind {
                // The region is the Python function's if that has named it.
                REGION => {
                    innermost(self.parts.program(kind), python.functions(), self.parts.unwinder.caller_stack)
                }
                _ => self.parts.unwinder.caller_stack,
            };
            let caller = caller_stack.wrapping_sub(registers.stack) / 8;
            answer = FoundPath { node, caller: u16::try_from(caller).unwrap_or(u16::MAX) };
            if let (Ok(machine), true) = (machine, u64::from(answer.caller) == caller) {
                python.remember(machine, base, (kind, target), answer);
            }
        }
        answer
    }

    /// Returns the node of a sample: the active functions, and below them the address of the interrupted
    /// instruction; `None` if the signal has interrupted a change of the table.
    ///
    /// `registers` are those of the interrupted code. Calls no allocator and takes no lock, so it looks for
    /// no new modules: functions of libraries that no path of the thread has met yet are not found, nor those
    /// that called them.
    pub fn at_sample(&mut self, registers: Registers, base: Option<RegionBase>) -> Option<u32> {
        if self.busy.load(Ordering::Relaxed) {
            return None;
        }
        compiler_fence(Ordering::SeqCst);
        let mut path = base.map_or(NO_PARENT, |base| base.node);
        let Some(live) = self.stack.in_use(registers.stack) else {
            return Some(self.table.intern(path, SAMPLE, registers.instruction));
        };
        let mut search = match self.python {
            Some(_) => self.parts.search_in_python(registers, false),
            None => self.parts.search(registers, base, false),
        };
        // Not the box: an interrupted lookup may be using it.
        search.frame_pointer_at = u64::MAX;
        self.parts.unwind(live, &search);
        match &mut self.python {
            Some(python) => {
                python.sample(&live.range());
                path = self.parts.path_in_python(&mut self.table, python, base, SAMPLE);
            }
            None => {
                for frame in self.parts.unwinder.frames().iter().rev() {
                    path = self.table.intern(path, FRAME, frame.address);
                }
            }
        }
        Some(self.table.intern(path, SAMPLE, registers.instruction))
    }

    /// Returns [`PathTable::distance`] in this thread's table.
    #[inline]
    pub fn distance(&self, previous: u32, node: u32) -> u32 {
        self.table.distance(previous, node)
    }

    /// Returns the table of the paths.
    pub fn table(&self) -> &PathTable {
        &self.table
    }

    /// Returns hits and misses so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }
}

/// Returns the memo's key: what unwinding begins with, and what it is for.
#[inline(always)]
fn root(registers: Registers, base: Option<RegionBase>, kind: u32, target: u64) -> BranchKey {
    // The last word is not 0, whatever kind and node are.
    let RegionBase { stack_pointer: below, node, .. } = base.unwrap_or(RegionBase::NONE);
    let last = 1 << 63 | u64::from(kind & 0xff) << 32 | u64::from(node);
    [registers.stack, registers.instruction, below, target, last]
}

/// Returns the key for the native functions alone, whatever is entered.
#[inline(always)]
fn machine_root(registers: Registers) -> BranchKey {
    root(registers, None, FRAME, 0)
}

impl PathFinder {
    /// Finds the native functions; they are in the unwinder then.
    fn unwind(&mut self, live: StackInUse, search: &Search) {
        if let Some(snapshot) = self.snapshot {
            self.unwinder.search(snapshot, live, search);
        }
    }

    /// Returns the functions that are on the path of something of that kind, the innermost first.
    fn natives(&self, kind: u32) -> &[NativeFrame] {
        let frames = self.unwinder.frames();
        // An instrumented function stands for itself.
        if kind == FUNCTION { frames.get(1..).unwrap_or_default() } else { frames }
    }

    /// Returns those of them that do not belong to the Python interpreter.
    fn program(&self, kind: u32) -> impl Iterator<Item = NativeFrame> {
        let is_python = |frame: &&NativeFrame| {
            let module = self.snapshot.and_then(|snapshot| snapshot.find(frame.address.wrapping_sub(1)));
            module.is_some_and(|module| module.is_python)
        };
        self.natives(kind).iter().filter(move |frame| !is_python(frame)).copied()
    }

    /// Interns the path of the native and Python functions that have been found.
    fn path_in_python(
        &self,
        table: &mut PathTable,
        python: &mut PythonStack,
        base: Option<RegionBase>,
        kind: u32,
    ) -> u32 {
        if python.functions().is_empty() {
            // Not called from Python: native code throughout.
            python.path(table, base, self.natives(kind).iter().copied())
        } else {
            python.path(table, base, self.program(kind))
        }
    }

    fn search_in_python(&self, registers: Registers, skip_measured: bool) -> Search {
        let depth = self.depth * INTERPRETED;
        Search { depth, ..self.search(registers, None, skip_measured) }
    }

    fn search(&self, registers: Registers, base: Option<RegionBase>, skip_measured: bool) -> Search {
        Search {
            registers,
            frame_pointer_at: &raw const *self.frame_pointer as u64,
            below: base.map_or(u64::MAX, |base| base.stack_pointer),
            skip_measured,
            depth: self.depth,
        }
    }

    /// Brings the unwinder's rules and the memo up to date with the modules of now.
    fn renew(&mut self, modules: &'static Modules) {
        modules.refresh();
        let newest = modules.snapshot();
        if newest.map(std::ptr::from_ref) != self.snapshot.map(std::ptr::from_ref) {
            self.snapshot = newest;
            self.unwinder.forget();
            self.memo.forget();
        }
    }

    /// Inserts the unwinder's result into the memo.
    fn remember(&mut self, root: BranchKey, registers: Registers, node: u32) -> FoundPath {
        let caller = self.unwinder.caller_stack.wrapping_sub(registers.stack) / 8;
        let answer = FoundPath { node, caller: u16::try_from(caller).unwrap_or(u16::MAX) };
        // SAFETY: as in `find`.
        if let (Err(end), true) = (unsafe { self.memo.find(root) }, u64::from(answer.caller) == caller) {
            self.memo.insert(end, self.unwinder.words(), answer);
        }
        answer
    }
}
