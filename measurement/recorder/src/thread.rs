//! The data of a thread: a location of the trace.

use std::ffi::c_char;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use call_paths::{CallPaths, Module, Modules, PathTable, RegionBase, Registers};
use recording::journal::{self, JournalRecord};
use recording::paths::{MPI_FUNCTION, NO_PARENT};
use recording::settings::ProfileMode;

use crate::clock;
use crate::counters::Counters;
use crate::counts::Counts;
use crate::events::{Events, Mark};
use crate::inside::Guarded;
use crate::iterations::Loops;
use crate::memory::Scratch;
use crate::off_cpu::{self, Switches};
#[cfg(openmp)]
use crate::openmp::Membership;
use crate::process::{self, Process};
use crate::record;
use crate::rounds;
use crate::sampling::{self, Timer};

/// Maximum number of regions that may be open in a thread; deeper ones are not recorded.
const OPEN_REGIONS: usize = 1024;
/// Request numbers that a thread reserves at a time.
const REQUESTS: u64 = 1024;

/// The modules of the process.
static MODULES: Modules = Modules::new(append_module, complain);

/// Finds the modules that the process has loaded.
pub(crate) fn find_modules() {
    MODULES.refresh();
}

/// Returns the module that an address is in.
pub(crate) fn module_at(address: u64) -> Option<&'static Module> {
    MODULES.at(address).or_else(|| {
        MODULES.refresh();
        MODULES.at(address)
    })
}

/// Writes a module that has been found to the journal.
fn append_module(module: &Module) {
    if let Some(process) = process::current() {
        let Module { begin, end, bias, build_id, path, .. } = module.clone();
        process.append(&JournalRecord::Module(journal::Module { begin, end, bias, build_id, path }));
    }
}

/// Writes to the journal what call paths lack.
fn complain(sentence: &str) {
    if let Some(process) = process::current() {
        process.append(&JournalRecord::Remark { text: sentence.into() });
    }
}

/// A location of the trace, used by its own thread only.
pub(crate) struct Thread {
    pub(crate) process: &'static Process,
    /// Its number in the process, from 0; `u32::MAX` if it records nothing.
    pub(crate) number: u32,
    pub(crate) events: Events,
    switches: Switches,
    counters: Counters,
    /// The counts, if the program is profiled instead of traced.
    counts: Option<Counts>,
    /// `None` if the thread records nothing.
    pub(crate) paths: Option<CallPaths>,
    /// The call that is under way, if there is one.
    pub(crate) call: OpenCall,
    /// The file that MPI is opening, if files of the C library are recorded: the number that its handle will have,
    /// and its path.
    pub(crate) opening: Option<(u32, *const c_char)>,
    /// The loops that it repeats, in the first thread if the user wants iterations.
    pub(crate) loops: Option<Box<Loops>>,
    /// Its part in a team of OpenMP.
    #[cfg(openmp)]
    pub(crate) openmp: Membership,
    /// Memory for statuses that the program does not want.
    pub(crate) statuses: Scratch,
    /// Memory for copies of handles, which calls overwrite.
    pub(crate) handles: Scratch,
    /// The path of the last event.
    path: u32,
    regions: Vec<OpenRegion>,
    /// Regions that were open when recording paused, until it continues.
    paused: Vec<OpenRegion>,
    /// Number of open regions that were too deep to keep.
    too_deep: usize,
    requests: u64,
    requests_end: u64,
    timer: Option<Timer>,
}

/// A call that is under way.
#[derive(Clone, Copy)]
pub(crate) struct OpenCall {
    pub(crate) path: u32,
    /// Whether it is a collective operation of all processes, which ends a round.
    pub(crate) ends_round: bool,
    /// Time of the enter.
    pub(crate) begin: u64,
    /// Time at which the MPI library returned; 0 until then.
    pub(crate) end: u64,
    /// Whether the last record is one of time off the processor, at the end.
    pub(crate) was_off: bool,
    /// The position of the enter and the path before it, if the call is recorded only if it has an effect.
    pub(crate) mark: Option<(Mark, u32)>,
}

impl OpenCall {
    const NONE: OpenCall =
        OpenCall { path: NO_PARENT, ends_round: false, begin: 0, end: 0, was_off: false, mark: None };
}

/// A region of the program that has been entered.
#[derive(Clone, Copy)]
pub(crate) struct OpenRegion {
    /// Identifies the region: a hash of its name, or the address of its function.
    pub(crate) key: u64,
    pub(crate) base: RegionBase,
}

thread_local! {
    /// An atomic because handlers of signals read it; no other thread does.
    static CURRENT: AtomicPtr<Guarded> = const { AtomicPtr::new(null_mut()) };
    /// Whether its location is being made.
    static IS_BEGINNING: AtomicBool = const { AtomicBool::new(false) };
}

/// Returns the calling thread's location, if it has one.
#[inline]
pub(crate) fn current() -> Option<&'static Guarded> {
    // While a thread ends there is none.
    let current = CURRENT.try_with(|current| current.load(Ordering::Relaxed)).unwrap_or(null_mut());
    // SAFETY: the location is made by `begin`, and freed by `end`, when all functions of the thread that
    // could have a reference have returned or been left.
    unsafe { current.as_ref() }
}

/// Returns the calling thread's location, a new one if it has none; `None` if there is no recording, or if it is being made:
/// that opens files, by functions which may be recorded.
#[inline]
pub(crate) fn here() -> Option<&'static Guarded> {
    match current() {
        Some(thread) => Some(thread),
        None => begin(process::current()?),
    }
}

fn set_current(thread: *mut Guarded) {
    CURRENT.try_with(|current| current.store(thread, Ordering::Relaxed)).unwrap_or(());
}

/// Creates a location for the calling thread, which has none. If that fails, which the journal says, the
/// thread records nothing, but takes part in the recorder's collective exchanges. `None` if that is under way.
#[cold]
fn begin(process: &'static Process) -> Option<&'static Guarded> {
    if IS_BEGINNING.try_with(|it| it.swap(true, Ordering::Relaxed)).unwrap_or(true) {
        return None;
    }
    let location = make_location(process).unwrap_or_else(|cause| {
        process.stop(&cause);
        Location {
            number: u32::MAX,
            events: Events::dropped(),
            switches: Switches::none(),
            counters: Counters::none(),
            counts: None,
            paths: None,
        }
    });
    let Location { number, events, switches, counters, counts, paths } = location;
    let is_searching = number == 0 && process.iterations.is_some();
    let thread = Box::into_raw(Box::new(Guarded::new(Thread {
        process,
        number,
        events,
        switches,
        counters,
        counts,
        paths,
        call: OpenCall::NONE,
        opening: None,
        loops: is_searching.then(|| Box::new(Loops::new(clock::now()))),
        #[cfg(openmp)]
        openmp: Membership::default(),
        statuses: Scratch::EMPTY,
        handles: Scratch::EMPTY,
        path: NO_PARENT,
        regions: Vec::with_capacity(OPEN_REGIONS),
        paused: Vec::new(),
        too_deep: 0,
        requests: 0,
        requests_end: 0,
        timer: None,
    })));
    set_current(thread);
    IS_BEGINNING.try_with(|it| it.store(false, Ordering::Relaxed)).unwrap_or(());
    process.announce_end_of_thread(thread);
    // SAFETY: as in `current`.
    let thread = unsafe { &*thread };
    if let Some(mut inside) = thread.lock() {
        inside.timer = sampling::begin(process);
    }
    Some(thread)
}

/// What a location consists of, with its number in the process.
struct Location {
    number: u32,
    events: Events,
    switches: Switches,
    counters: Counters,
    counts: Option<Counts>,
    paths: Option<CallPaths>,
}

fn make_location(process: &'static Process) -> Result<Location, String> {
    if process.has_stopped() {
        return Err("recording has stopped".into());
    }
    let number = process.next_thread().ok_or("too many threads")?;
    let location = recording::layout::location(process.rank, number);
    let directory = &process.directory;
    let buffer = process.settings.buffer as usize;
    let (events, counts) = match process.settings.profile {
        ProfileMode::No => {
            let (buffer_file, events) = (
                recording::layout::buffer(directory, location),
                recording::layout::events(directory, location),
            );
            (Events::create(&buffer_file, &events, buffer)?, None)
        }
        ProfileMode::Report | ProfileMode::Estimate => {
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
    let (switches, counters) = (Switches::begin(process), Counters::begin(process));
    process.append_thread(number, switches.are_recorded(), counters.are_recorded());
    Ok(Location { number, events, switches, counters, counts, paths: Some(paths) })
}

impl Thread {
    /// Returns the innermost open region of the program.
    #[inline]
    pub(crate) fn base(&self) -> Option<RegionBase> {
        self.regions.last().map(|region| region.base)
    }

    /// Returns the path of a call of an MPI function, and the stack pointer of the program's function that
    /// makes it.
    #[inline]
    pub(crate) fn path_of(&mut self, registers: Registers, function: u32) -> RegionBase {
        let base = self.base();
        match &mut self.paths {
            Some(paths) => paths.at_region(registers, base, MPI_FUNCTION, function.into()),
            None => RegionBase { stack_pointer: 0, ..RegionBase::NONE },
        }
    }

    /// Records for how long the thread was off the processor until that time, which is that of the next event; returns whether there
    /// is a record of that now. Not between a list of attributes and its event.
    #[inline(always)]
    pub(crate) fn settle_switches(&mut self, time: u64) -> bool {
        self.switches.settle(&mut self.events, time, record::metric)
    }

    /// Records this, and the values of counters, if the recording has some, in front of an event that changes the path.
    #[inline(always)]
    pub(crate) fn settle(&mut self, time: u64) -> bool {
        let was_off = self.settle_switches(time);
        self.counters.settle(&mut self.events, time, record::metric);
        was_off
    }

    /// Has the same recorded at the end of a call, behind what the call has done before that, which may be recorded later; returns
    /// whether the thread was off the processor.
    #[inline(always)]
    pub(crate) fn settle_end(&mut self, time: u64) -> bool {
        let was_off = self.switches.settle(&mut self.events, time, Events::defer);
        self.counters.settle(&mut self.events, time, Events::defer);
        was_off
    }

    /// Records that a path is entered, which was not open.
    #[inline]
    pub(crate) fn enter_path(&mut self, time: u64, path: u32) {
        self.settle(time);
        self.enter_settled_path(time, path);
    }

    /// The same where [`settle`](Thread::settle) was called at that time, or nothing is known of the time before.
    #[inline]
    pub(crate) fn enter_settled_path(&mut self, time: u64, path: u32) {
        let distance = self.change_path(path);
        record::calling_context_enter(&mut self.events, time, path, distance);
        if let Some(counts) = &mut self.counts {
            counts.enter(&mut self.events, time, path);
        }
    }

    /// Returns the position among the events and the path of the last one, for
    /// [`take_back`](Thread::take_back).
    pub(crate) fn mark(&self) -> (Mark, u32) {
        (self.events.mark(), self.path)
    }

    /// Changes the current path; returns OTF2's unwind distance.
    #[inline]
    fn change_path(&mut self, path: u32) -> u32 {
        let distance = self.paths.as_ref().map_or(0, |paths| paths.distance(self.path, path));
        self.path = path;
        distance
    }

    /// Takes back the enter of a path at the mark, if nothing has been recorded since but, if it `was_off` the processor, that; the
    /// thread was on another path before. Returns whether it was taken back.
    pub(crate) fn take_back(&mut self, path: u32, (mark, before): (Mark, u32), was_off: bool) -> bool {
        // The enter, and counters in front of it. What was settled at the end waits for another record.
        let records = 1 + u64::from(self.counters.are_recorded());
        let is_taken_back = self.events.rewind(mark, records);
        if is_taken_back {
            self.path = before;
            if was_off {
                self.switches.take_back();
            }
            if let Some(counts) = &mut self.counts {
                counts.revoke(&self.events, path);
            }
        }
        is_taken_back
    }

    /// Records that a path is left.
    #[inline]
    pub(crate) fn leave_path(&mut self, time: u64, path: u32) {
        self.settle(time);
        self.leave_settled_path(time, path);
    }

    /// The same where [`settle`](Thread::settle) was called at that time; attributes may be in front of the record.
    #[inline]
    pub(crate) fn leave_settled_path(&mut self, time: u64, path: u32) {
        record::calling_context_leave(&mut self.events, time, path);
        if let Some(counts) = &mut self.counts {
            counts.leave(&mut self.events, time, path);
        }
    }

    /// Records a sample: the thread was found on that path.
    pub(crate) fn sample(&mut self, time: u64, path: u32, generator: u64) {
        self.settle(time);
        let distance = self.change_path(path);
        record::calling_context_sample(&mut self.events, time, path.into(), distance.into(), generator);
        if let Some(counts) = self.counts.as_mut().filter(|_| !self.events.is_muted()) {
            counts.settle(&mut self.events, time, path);
        }
    }

    /// Notes an event that belongs to no path: the program has started or ended.
    pub(crate) fn note(&mut self, time: u64) {
        if let Some(counts) = &mut self.counts {
            counts.note(&self.events, time);
        }
    }

    /// Whether it is in a team of OpenMP that is recorded.
    #[cfg(openmp)]
    pub(crate) fn is_in_team(&self) -> bool {
        self.openmp.is_in_team()
    }

    /// Whether it is in a team of OpenMP that is recorded: none is.
    #[cfg(not(openmp))]
    pub(crate) fn is_in_team(&self) -> bool {
        false
    }

    /// Whether one more region can be kept.
    #[cfg(openmp)]
    pub(crate) fn has_room(&self) -> bool {
        self.regions.len() < OPEN_REGIONS
    }

    /// Returns the current path; the thread begins something that has nothing to do with it.
    #[cfg(openmp)]
    pub(crate) fn suspend_path(&mut self) -> u32 {
        std::mem::replace(&mut self.path, NO_PARENT)
    }

    /// Goes on on a path that was suspended.
    #[cfg(openmp)]
    pub(crate) fn resume_path(&mut self, path: u32) {
        self.path = path;
    }

    /// Keeps a region that is entered; `false` if it is too deep.
    pub(crate) fn open_region(&mut self, region: OpenRegion) -> bool {
        if self.regions.len() == OPEN_REGIONS {
            self.too_deep += 1;
            return false;
        }
        self.regions.push(region);
        true
    }

    /// Closes the innermost region with that key and those inside of it, and calls `left` for the path of
    /// each, the innermost first. Those inside have been left without an event (by an exception, or
    /// `longjmp`).
    pub(crate) fn close_regions(&mut self, key: u64, left: impl FnMut(&mut Thread, u32)) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        self.close_kept_regions(key, left);
    }

    /// The same for a region that was kept for certain: those that were too deep are in it, and end with it.
    pub(crate) fn close_kept_regions(&mut self, key: u64, mut left: impl FnMut(&mut Thread, u32)) {
        if !self.regions.iter().any(|region| region.key == key) {
            return;
        }
        self.too_deep = 0;
        while let Some(region) = self.regions.pop() {
            left(self, region.base.node);
            if region.key == key {
                return;
            }
        }
    }

    /// Records the end of the program: open regions end with it, and the event file.
    pub(crate) fn end_program(&mut self, status: i32) {
        rounds::resume(self);
        let time = clock::now();
        while let Some(region) = self.regions.pop() {
            self.leave_path(time, region.base.node);
        }
        self.settle_switches(time);
        record::program_end(&mut self.events, time, status as i64 as u64);
        self.note(time);
        self.finish();
    }

    /// Ends the events of the calling thread, and says in the journal what it has used.
    fn finish(&mut self) {
        if self.number != u32::MAX {
            self.switches.remark(self.process);
            self.counters.remark(self.process);
            off_cpu::append_usage(self.process, self.number);
        }
        self.events.finish();
    }

    /// Notes which regions are open in the trace, as recording pauses.
    pub(crate) fn remember_regions(&mut self) {
        self.paused.clone_from(&self.regions);
    }

    /// Records regions that were left and entered while recording paused, as it continues.
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

    /// Returns a number for a request that no other one of the process has.
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
/// It is the location that `begin` has made for the calling thread, and no function of the thread refers to
/// it any more.
pub(crate) unsafe fn end(thread: *mut Guarded) {
    // Handlers of signals do not find it from here on.
    set_current(null_mut());
    // SAFETY: the caller guarantees it, and `begin` has made the location from a box.
    let mut thread = unsafe { Box::from_raw(thread) }.into_thread();
    if let Some(timer) = thread.timer.take() {
        sampling::end(timer);
    }
    thread.finish();
}

/// Forgets the location of the calling thread, which is another process's.
pub(crate) fn forget() {
    set_current(null_mut());
}
