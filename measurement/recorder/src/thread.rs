//! What the recorder keeps for each thread: a location of the trace.

use std::cell::Cell;
use std::ptr::{null, null_mut};
use std::sync::atomic::{Ordering, compiler_fence};

use call_paths::{Base, CallPaths, Module, Modules, PathTable, Registers};
use recording::journal::{self, Entry};
use recording::paths::{MPI_FUNCTION, NO_PARENT};
use recording::settings::Profile;

use crate::clock;
use crate::counts::Counts;
use crate::events::{Events, Mark};
use crate::memory::Scratch;
use crate::process::{self, Process};
use crate::record;
use crate::rounds;
use crate::sampling::{self, Timer};

/// Regions that may be open at a time in a thread; deeper ones are not recorded.
const OPEN_REGIONS: usize = 1024;
/// Request numbers that a thread takes at a time.
const REQUESTS: u64 = 1024;

/// The code of the process.
static MODULES: Modules = Modules::new(enter_module, complain);

/// Finds the code that the process has loaded.
pub(crate) fn find_modules() {
    MODULES.refresh();
}

/// The code that an address is in.
pub(crate) fn module_at(address: u64) -> Option<&'static Module> {
    MODULES.at(address).or_else(|| {
        MODULES.refresh();
        MODULES.at(address)
    })
}

/// Tells the journal of code that has been found.
fn enter_module(module: &Module) {
    if let Some(process) = process::current() {
        let Module { begin, end, bias, build_id, path, .. } = module.clone();
        process.enter(&Entry::Module(journal::Module { begin, end, bias, build_id, path }));
    }
}

/// Tells the user what call paths lack.
fn complain(sentence: &str) {
    if let Some(process) = process::current() {
        process.enter(&Entry::Remark { text: sentence.into() });
    }
}

/// A location of the trace, used by its own thread only.
pub(crate) struct Thread {
    pub(crate) process: &'static Process,
    pub(crate) events: Events,
    /// What is kept if events are not.
    counts: Option<Counts>,
    /// `None` if the thread records nothing.
    pub(crate) paths: Option<CallPaths>,
    /// Whether the thread is in a call that is recorded, or in the recorder.
    is_inside: bool,
    /// The call that is under way, if there is one.
    pub(crate) call: OpenCall,
    /// Room for statuses that the program does not want.
    pub(crate) statuses: Scratch,
    /// Room for copies of handles, which calls overwrite.
    pub(crate) handles: Scratch,
    /// The path of the last event.
    path: u32,
    regions: Vec<OpenRegion>,
    /// Regions that were open when recording paused, for when it goes on.
    paused: Vec<OpenRegion>,
    /// Regions that were too deep to keep.
    too_deep: usize,
    requests: u64,
    requests_end: u64,
    timer: Option<Timer>,
}

/// A call that is under way, and how to tell that it has been left by `longjmp`.
#[derive(Clone, Copy)]
pub(crate) struct OpenCall {
    pub(crate) path: u32,
    /// Whether it is a collective operation of all processes, which ends a round.
    pub(crate) ends_round: bool,
    /// When it was entered.
    pub(crate) begin: u64,
    /// When the MPI library returned; 0 until then.
    pub(crate) end: u64,
    /// Where the call began, with the path before it, if it is to leave nothing unless it does something.
    pub(crate) mark: Option<(Mark, u32)>,
    /// Where the stack was in the recorder.
    stack_pointer: u64,
    /// Where the address is to which it returns, below the stack pointer of the program's function that calls MPI, and
    /// that address. Null if there is no call.
    slot: *const u64,
    returns_to: u64,
}

impl OpenCall {
    const NONE: OpenCall = OpenCall {
        path: NO_PARENT,
        ends_round: false,
        begin: 0,
        end: 0,
        mark: None,
        stack_pointer: 0,
        slot: null(),
        returns_to: 0,
    };
}

/// A region of the program that has been entered.
#[derive(Clone, Copy)]
pub(crate) struct OpenRegion {
    /// What tells it from others: a key of its name, or the address of its function.
    pub(crate) key: u64,
    pub(crate) base: Base,
}

thread_local! {
    static CURRENT: Cell<*mut Thread> = const { Cell::new(null_mut()) };
}

/// The calling thread's location; null if it has none.
#[inline]
pub(crate) fn current() -> *mut Thread {
    // While a thread ends there is none.
    CURRENT.try_with(Cell::get).unwrap_or(null_mut())
}

/// Makes a location for the calling thread, which has none. If that fails, which is said in the journal, the thread
/// records nothing; but it takes part in what the processes do together.
#[cold]
pub(crate) fn begin(process: &'static Process) -> *mut Thread {
    let (events, counts, paths) = match make_location(process) {
        Ok((events, counts, paths)) => (events, counts, Some(paths)),
        Err(cause) => {
            process.stop(&cause);
            (Events::dropped(), None, None)
        }
    };
    let thread = Box::into_raw(Box::new(Thread {
        process,
        events,
        counts,
        paths,
        is_inside: false,
        call: OpenCall::NONE,
        statuses: Scratch::EMPTY,
        handles: Scratch::EMPTY,
        path: NO_PARENT,
        regions: Vec::with_capacity(OPEN_REGIONS),
        paused: Vec::new(),
        too_deep: 0,
        requests: 0,
        requests_end: 0,
        timer: None,
    }));
    CURRENT.with(|current| current.set(thread));
    process.announce_end_of_thread(thread);
    // SAFETY: the calling thread's own location.
    unsafe { (*thread).timer = sampling::begin(process) };
    thread
}

fn make_location(process: &'static Process) -> Result<(Events, Option<Counts>, CallPaths), String> {
    if process.has_stopped() {
        return Err("recording has stopped".into());
    }
    let number = process.next_thread().ok_or("too many threads")?;
    let location = recording::layout::location(process.rank, number);
    let directory = &process.directory;
    let buffer = process.settings.buffer as usize;
    let (events, counts) = match process.settings.profile {
        Profile::No => {
            let (buffer_file, events) = (
                recording::layout::buffer(directory, location),
                recording::layout::events(directory, location),
            );
            (Events::create(&buffer_file, &events, buffer)?, None)
        }
        Profile::Report | Profile::Estimate => {
            let path = recording::layout::profile(directory, location);
            let counts = Counts::create(&path).map_err(|cause| format!("{}: {cause}", path.display()))?;
            (Events::counted(buffer)?, Some(counts))
        }
    };
    let path = recording::layout::paths(directory, location);
    let functions = recording::layout::python_functions(directory, location);
    let paths = PathTable::create(&path)
        .and_then(|table| CallPaths::new(&MODULES, table, functions, process.settings.depth as usize))
        .map_err(|cause| format!("{}: {cause}", path.display()))?;
    process.enter_thread(number);
    Ok((events, counts, paths))
}

impl Thread {
    /// The innermost open region of the program.
    #[inline]
    pub(crate) fn base(&self) -> Option<Base> {
        self.regions.last().map(|region| region.base)
    }

    /// Marks that the recorder is at work in this thread, until [`leave_recorder`](Thread::leave_recorder). Answers false if
    /// it is already: what happens then is not recorded. A signal handler may ask at any instruction.
    #[inline]
    pub(crate) fn enter_recorder(&mut self) -> bool {
        if self.is_inside {
            return false;
        }
        self.is_inside = true;
        compiler_fence(Ordering::SeqCst);
        true
    }

    /// The recorder is done.
    #[inline]
    pub(crate) fn leave_recorder(&mut self) {
        compiler_fence(Ordering::SeqCst);
        self.is_inside = false;
    }

    /// Notes which call is open: its path, since when, and the stack pointers of the recorder and of the program's function.
    #[inline]
    pub(crate) fn open_call(
        &mut self,
        registers: Registers,
        base: Base,
        begin: u64,
        mark: Option<(Mark, u32)>,
    ) {
        let slot = (base.stack_pointer.max(registers.stack + 8) - 8) as *const u64;
        // SAFETY: on the thread's stack, at or above its stack pointer.
        let returns_to = unsafe { slot.read_volatile() };
        let (path, stack_pointer) = (base.node, registers.stack);
        self.call =
            OpenCall { path, ends_round: false, begin, end: 0, mark, stack_pointer, slot, returns_to };
    }

    /// No call is open any more.
    #[inline]
    pub(crate) fn close_call(&mut self) {
        self.call.slot = null();
    }

    /// Whether the open call has been left without returning, by `longjmp`: the stack is not below it any more, or something
    /// else is where its return address was; or the new call `ends_all`, as `MPI_Finalize` does, which no other call makes.
    /// If so, it is recorded that it was left, and the recorder is at work for the new one.
    #[cold]
    pub(crate) fn abandon_call(&mut self, stack_pointer: u64, ends_all: bool) -> bool {
        let call = self.call;
        if call.slot.is_null() {
            return false;
        }
        // SAFETY: on the thread's stack; what is there does not matter if the call is over.
        let returns_to = unsafe { call.slot.read_volatile() };
        if !ends_all && stack_pointer < call.stack_pointer && returns_to == call.returns_to {
            return false;
        }
        self.close_call();
        self.leave_path(clock::now(), call.path);
        true
    }

    /// The path of a call of an MPI function, and the stack pointer of the program's function that makes it.
    #[inline]
    pub(crate) fn path_of(&mut self, registers: Registers, function: u32) -> Base {
        let base = self.base();
        match &mut self.paths {
            Some(paths) => paths.at_region(registers, base, MPI_FUNCTION, function.into()),
            None => Base { stack_pointer: 0, ..Base::NONE },
        }
    }

    /// Records that the path, which was not open, is entered.
    #[inline]
    pub(crate) fn enter_path(&mut self, time: u64, path: u32) {
        let distance = self.change_path(path);
        record::calling_context_enter(&mut self.events, time, path, distance);
        if let Some(counts) = &mut self.counts {
            counts.enter(&mut self.events, time, path);
        }
    }

    /// Where the events are, and the path of the last one, for [`take_back`](Thread::take_back).
    pub(crate) fn mark(&self) -> (Mark, u32) {
        (self.events.mark(), self.path)
    }

    /// The path changes; answers OTF2's unwind distance for it.
    #[inline]
    fn change_path(&mut self, path: u32) -> u32 {
        let distance = self.paths.as_ref().map_or(0, |paths| paths.distance(self.path, path));
        self.path = path;
        distance
    }

    /// The path, entered at the mark, was not worth recording: takes that back if nothing has been recorded since. The
    /// thread was on another path before. Answers whether that could be done.
    pub(crate) fn take_back(&mut self, path: u32, (mark, before): (Mark, u32)) -> bool {
        let is_taken_back = self.events.rewind(mark);
        if is_taken_back {
            self.path = before;
            if let Some(counts) = &mut self.counts {
                counts.revoke(&self.events, path);
            }
        }
        is_taken_back
    }

    /// Records that the path is left.
    #[inline]
    pub(crate) fn leave_path(&mut self, time: u64, path: u32) {
        record::calling_context_leave(&mut self.events, time, path);
        if let Some(counts) = &mut self.counts {
            counts.leave(&mut self.events, time, path);
        }
    }

    /// Records that the thread was found on the path.
    pub(crate) fn sample(&mut self, time: u64, path: u32, generator: u64) {
        let distance = self.change_path(path);
        record::calling_context_sample(&mut self.events, time, path.into(), distance.into(), generator);
        if let Some(counts) = self.counts.as_mut().filter(|_| !self.events.is_muted()) {
            counts.settle(&mut self.events, time, path);
        }
    }

    /// Something that belongs to no path was recorded: the program has begun or ended.
    pub(crate) fn note(&mut self, time: u64) {
        if let Some(counts) = &mut self.counts {
            counts.note(&self.events, time);
        }
    }

    /// Keeps an entered region; answers false if it is too deep.
    pub(crate) fn open_region(&mut self, region: OpenRegion) -> bool {
        if self.regions.len() == OPEN_REGIONS {
            self.too_deep += 1;
            return false;
        }
        self.regions.push(region);
        true
    }

    /// The path of the innermost region, which is closed if it has that key. Regions that are open inside of one that is
    /// left have been left without saying so (by an exception, or `longjmp`): they come first.
    pub(crate) fn close_regions(&mut self, key: u64, mut left: impl FnMut(&mut Thread, u32)) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        if !self.regions.iter().any(|region| region.key == key) {
            return;
        }
        while let Some(region) = self.regions.pop() {
            left(self, region.base.node);
            if region.key == key {
                return;
            }
        }
    }

    /// The program ends: what is open ends with it, and the event file.
    pub(crate) fn end_program(&mut self, status: i32) {
        rounds::resume(self);
        let time = clock::now();
        while let Some(region) = self.regions.pop() {
            self.leave_path(time, region.base.node);
        }
        record::program_end(&mut self.events, time, status as i64 as u64);
        self.note(time);
        self.events.finish();
    }

    /// Recording pauses: notes what is open in the trace.
    pub(crate) fn remember_regions(&mut self) {
        self.paused.clone_from(&self.regions);
    }

    /// Recording goes on: records that regions were left and entered meanwhile.
    pub(crate) fn enter_again(&mut self, time: u64) {
        let same = |(a, b): &(&OpenRegion, &OpenRegion)| a.key == b.key && a.base.node == b.base.node;
        let kept = self.paused.iter().zip(&self.regions).take_while(same).count();
        for region in std::mem::take(&mut self.paused).into_iter().skip(kept).rev() {
            self.leave_path(time, region.base.node);
        }
        for at in kept..self.regions.len() {
            self.enter_path(time, self.regions[at].base.node);
        }
    }

    /// A number for a request, unlike any other of the process.
    #[inline]
    pub(crate) fn next_request(&mut self) -> u64 {
        if self.requests == self.requests_end {
            self.requests = self.process.take_requests(REQUESTS);
            self.requests_end = self.requests + REQUESTS;
        }
        self.requests += 1;
        self.requests - 1
    }
}

/// Ends the location of a thread that ends.
///
/// # Safety
/// It is the calling thread's location.
pub(crate) unsafe fn end(thread: *mut Thread) {
    CURRENT.try_with(|current| current.set(null_mut())).unwrap_or(());
    // SAFETY: by the caller; nobody else has it, and no call of the thread is under way any more.
    let mut thread = unsafe { Box::from_raw(thread) };
    if let Some(timer) = thread.timer.take() {
        sampling::end(timer);
    }
    thread.events.finish();
}

/// Forgets the location of the calling thread, which is another process's.
pub(crate) fn forget() {
    CURRENT.try_with(|current| current.set(null_mut())).unwrap_or(());
}
