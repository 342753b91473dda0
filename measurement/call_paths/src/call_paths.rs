//! The call paths of a thread.

use crate::memo::{Answer, Key, Memo};
use crate::merge::innermost;
use crate::modules::{Modules, Snapshot};
use crate::python::Python;
use crate::registers::Registers;
use crate::stack::{Live, Stack};
use crate::table::PathTable;
use crate::unwind::{INTERPRETED, Native, Search, Unwinder};
use recording::paths::{FRAME, FUNCTION, MPI_FUNCTION, NO_PARENT, REGION, SAMPLE};
use std::io;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};

/// The innermost region that the program has named and not left.
///
/// A function counts as called since if all of its frame lies below the stack pointer. So if a function names a region
/// on behalf of its caller and returns (a constructor that was not inlined), functions that the caller calls directly
/// are not told from it, and left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Base {
    /// The stack pointer of the function that named it, at the call in which it did.
    pub stack_pointer: u64,
    /// Its node.
    pub node: u32,
}

impl Base {
    /// Nothing has been named.
    pub const NONE: Self = Self { stack_pointer: u64::MAX, node: NO_PARENT };
}

/// How well paths were remembered.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// Paths that were known.
    pub hits: u64,
    /// Paths for which the stack was unwound.
    pub misses: u64,
}

/// The call paths of one thread: finds the one that the thread is on, and numbers it in a [`PathTable`].
///
/// Belongs to the thread that has created it. [`Self::at_sample`] may be called in a signal handler of that thread,
/// even if it has interrupted another function of this type.
#[derive(Debug)]
pub struct CallPaths {
    table: PathTable,
    parts: Parts,
    stack: Stack,
    modules: &'static Modules,
    /// What there is for programs in Python, once there is an interpreter, and the file of their functions.
    python: Option<Box<Python>>,
    functions: PathBuf,
    statistics: Statistics,
    /// Whether something of this may be in the middle of a change, for signal handlers.
    busy: AtomicBool,
    /// Other threads' stacks are elsewhere: this must not get there.
    _of_this_thread: PhantomData<*const ()>,
}

/// Everything that is needed to find paths, at an address of its own.
struct Parts {
    memo: Memo,
    unwinder: Unwinder,
    /// The snapshot that memo and rules are of.
    snapshot: Option<&'static Snapshot>,
    /// The frame pointer in the beginning is one of the words that unwinding reads, so it needs an address.
    frame_pointer: Box<u64>,
    depth: usize,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Parts").field("depth", &self.depth).finish_non_exhaustive()
    }
}

impl CallPaths {
    /// For the calling thread, with at most `depth` functions on a path (at most 10000; 0 for none): if more are
    /// active, the outermost of them are left out.
    ///
    /// Modules are looked for if nobody has done that yet. If there is or will be an interpreter of Python, its functions go
    /// to the file `functions`, which is made then.
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
        let parts = Parts {
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

    /// Makes what programs in Python need, if there is an interpreter.
    fn begin_python(&mut self) {
        let (None, Some(interpreter)) = (&self.python, self.modules.python()) else { return };
        match Python::new(interpreter, &self.functions, self.parts.depth) {
            Ok(python) => self.python = Some(Box::new(python)),
            Err(cause) => {
                let file = self.functions.display();
                self.modules.complain(&format!(
                    "Python functions of a thread are not on call paths: {file}: {cause}"
                ));
            }
        }
    }

    /// The node for a call of an MPI function: the functions that are active, and below them that MPI function.
    ///
    /// `registers` must come from [`Registers::here`] in a function that has not returned, of this thread: the wrapper,
    /// which is left out, as are all innermost functions in the recorder or the MPI library. With a base, only functions
    /// that were called since are on the path, below the base's node.
    ///
    /// On a stack that is not the thread's own there are no functions on the path. A function that a signal has
    /// interrupted is on it with the address one behind that of the interrupted instruction, as if it had called the handler.
    #[inline]
    pub fn at_call(&mut self, registers: Registers, base: Option<Base>, function: u32) -> u32 {
        self.find(registers, base, MPI_FUNCTION, u64::from(function)).node
    }

    /// The same for something else that is entered: a region that the program names ([`recording::paths::REGION`]) or
    /// a function that tells so itself ([`recording::paths::FUNCTION`]); in the latter case the innermost function is
    /// left out, as it is the one that is entered.
    ///
    /// The answer is the base for paths within, to be used until the region is left.
    #[inline]
    pub fn at_region(&mut self, registers: Registers, base: Option<Base>, kind: u32, target: u64) -> Base {
        let answer = self.find(registers, base, kind, target);
        let stack_pointer = registers.stack.wrapping_add(u64::from(answer.caller) * 8);
        let inner = Base { stack_pointer, node: answer.node };
        if let Some(python) = &mut self.python
            && kind != MPI_FUNCTION
            && let Some(live) = self.stack.in_use(registers.stack)
        {
            python.note_region(base, inner, &live.range());
        }
        inner
    }

    /// The same for something that was entered before paths were recorded: its place on the stack is known, `stack_pointer`
    /// as its functions' callees see it, but not which functions were active then.
    pub fn at_earlier_region(
        &mut self,
        base: Option<Base>,
        stack_pointer: u64,
        kind: u32,
        target: u64,
    ) -> Base {
        let parent = base.map_or(NO_PARENT, |base| base.node);
        Base { stack_pointer, node: self.table.intern(parent, kind, target) }
    }

    #[inline(always)]
    fn find(&mut self, registers: Registers, base: Option<Base>, kind: u32, target: u64) -> Answer {
        if self.python.is_some() {
            return self.find_in_python(registers, base, kind, target);
        }
        let root = root(registers, base, kind, target);
        *self.parts.frame_pointer = registers.frame;
        // SAFETY: the stack pointer is part of the root, so all words are on the part of this thread's stack that is in
        // use, above its stack pointer, or the box of the frame pointer.
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
    fn unwind(&mut self, registers: Registers, base: Option<Base>, kind: u32, target: u64) -> Answer {
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

    /// What is known on a stack that is not the thread's own.
    fn without_stack(&mut self, parent: u32, kind: u32, target: u64) -> Answer {
        Answer { node: self.table.intern(parent, kind, target), ..Answer::default() }
    }

    /// The same as [`Self::find`] in a process with an interpreter of Python.
    ///
    /// First it is found out which functions of the machine are active, of which only the number of that answer is of
    /// interest, and then which Python functions.
    #[inline(never)]
    fn find_in_python(&mut self, registers: Registers, base: Option<Base>, kind: u32, target: u64) -> Answer {
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
    fn unwind_python(&mut self, registers: Registers, base: Option<Base>, kind: u32, target: u64) -> Answer {
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

    /// Finds the functions of the machine and those of Python, and remembers them.
    fn merge_python(
        &mut self,
        live: Live,
        registers: Registers,
        base: Option<Base>,
        (kind, target): (u32, u64),
    ) -> Answer {
        self.parts.renew(self.modules);
        let search = self.parts.search_in_python(registers, true);
        self.parts.unwind(live, &search);
        let root = machine_root(registers);
        self.parts.remember(root, registers, NO_PARENT);
        // SAFETY: as in `find`.
        let machine = unsafe { self.parts.memo.find_number(root) };
        let mut answer = Answer::default();
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
            answer = Answer { node, caller: u16::try_from(caller).unwrap_or(u16::MAX) };
            if let (Ok(machine), true) = (machine, u64::from(answer.caller) == caller) {
                python.remember(machine, base, (kind, target), answer);
            }
        }
        answer
    }

    /// The node for a sample: the functions that are active, and below them the address of the interrupted instruction.
    /// `None` if what was interrupted is this: the table is in the middle of a change.
    ///
    /// `registers` are those of the interrupted code. Calls no allocator and takes no lock; functions of libraries that
    /// no other path has met yet are not found, nor those that called them.
    pub fn at_sample(&mut self, registers: Registers, base: Option<Base>) -> Option<u32> {
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
        // Not the box: a lookup that was interrupted may be using it.
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

    /// [`PathTable::distance`] in this thread's table.
    #[inline]
    pub fn distance(&self, previous: u32, node: u32) -> u32 {
        self.table.distance(previous, node)
    }

    /// The table of the paths.
    pub fn table(&self) -> &PathTable {
        &self.table
    }

    /// How well paths were remembered so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }
}

/// What unwinding begins with, and what it is for.
#[inline(always)]
fn root(registers: Registers, base: Option<Base>, kind: u32, target: u64) -> Key {
    // The last word is not 0 whatever they are.
    let Base { stack_pointer: below, node, .. } = base.unwrap_or(Base::NONE);
    let last = 1 << 63 | u64::from(kind & 0xff) << 32 | u64::from(node);
    [registers.stack, registers.instruction, below, target, last]
}

/// The same for the functions of the machine alone, whatever is entered.
#[inline(always)]
fn machine_root(registers: Registers) -> Key {
    root(registers, None, FRAME, 0)
}

impl Parts {
    /// Finds the functions of the machine. They are in the unwinder then.
    fn unwind(&mut self, live: Live, search: &Search) {
        if let Some(snapshot) = self.snapshot {
            self.unwinder.search(snapshot, live, search);
        }
    }

    /// Those that are on the path of something of that kind, the innermost first.
    fn natives(&self, kind: u32) -> &[Native] {
        let frames = self.unwinder.frames();
        // A function that tells that it was entered stands for itself.
        if kind == FUNCTION { frames.get(1..).unwrap_or_default() } else { frames }
    }

    /// Those of them that are part of a program in Python.
    fn program(&self, kind: u32) -> impl Iterator<Item = Native> {
        let is_python = |frame: &&Native| {
            let module = self.snapshot.and_then(|snapshot| snapshot.find(frame.address.wrapping_sub(1)));
            module.is_some_and(|module| module.is_python)
        };
        self.natives(kind).iter().filter(move |frame| !is_python(frame)).copied()
    }

    /// The path of the functions that have been found, those of the machine and those of Python.
    fn path_in_python(
        &self,
        table: &mut PathTable,
        python: &mut Python,
        base: Option<Base>,
        kind: u32,
    ) -> u32 {
        if python.functions().is_empty() {
            // Not called by Python: the program is in C here.
            python.path(table, base, self.natives(kind).iter().copied())
        } else {
            python.path(table, base, self.program(kind))
        }
    }

    fn search_in_python(&self, registers: Registers, skip_measured: bool) -> Search {
        let depth = self.depth * INTERPRETED;
        Search { depth, ..self.search(registers, None, skip_measured) }
    }

    fn search(&self, registers: Registers, base: Option<Base>, skip_measured: bool) -> Search {
        Search {
            registers,
            frame_pointer_at: &raw const *self.frame_pointer as u64,
            below: base.map_or(u64::MAX, |base| base.stack_pointer),
            skip_measured,
            depth: self.depth,
        }
    }

    /// Makes sure that rules and memo are of the modules as they are now.
    fn renew(&mut self, modules: &'static Modules) {
        modules.refresh();
        let newest = modules.snapshot();
        if newest.map(std::ptr::from_ref) != self.snapshot.map(std::ptr::from_ref) {
            self.snapshot = newest;
            self.unwinder.forget();
            self.memo.forget();
        }
    }

    /// Puts what the unwinder has found into the memo.
    fn remember(&mut self, root: Key, registers: Registers, node: u32) -> Answer {
        let caller = self.unwinder.caller_stack.wrapping_sub(registers.stack) / 8;
        let answer = Answer { node, caller: u16::try_from(caller).unwrap_or(u16::MAX) };
        // SAFETY: as in `find`.
        if let (Err(end), true) = (unsafe { self.memo.find(root) }, u64::from(answer.caller) == caller) {
            self.memo.insert(end, self.unwinder.words(), answer);
        }
        answer
    }
}
