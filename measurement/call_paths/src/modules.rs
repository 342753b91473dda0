//! The modules of the process: mapped code, with its tables for unwinding.
//!
//! Threads read a snapshot that never changes. A new one is made when the dynamic loader has loaded or
//! unloaded something since; the old one is kept, as another thread may be reading it.

use crate::objects::{self, LoadCounts};
use crate::roles::Role;
use python_frames::Interpreter;
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock};

/// A mapping with code. The fields that a journal's module record needs are public.
#[derive(Clone)]
pub struct Module {
    /// First address of the mapping.
    pub begin: u64,
    /// First address behind it.
    pub end: u64,
    /// Load bias: what to subtract from an address for the address in the file's symbol tables.
    pub bias: u64,
    /// GNU build id in hexadecimal digits, if the file has one.
    pub build_id: Option<String>,
    /// Path of the file; for code of the kernel, which has none, the loader's name for it.
    pub path: String,
    pub(crate) role: Role,
    /// Whether it is part of the interpreter or of mpi4py, which the paths of Python programs leave out.
    pub(crate) is_python: bool,
    /// The table of `PT_GNU_EH_FRAME`, and the section `.eh_frame` that it points into.
    pub(crate) table: Option<Section<'static>>,
    pub(crate) frames: Option<Section<'static>>,
}

/// Bytes of an object, or a copy of them, with the address at which the object has them.
#[derive(Clone, Copy)]
pub(crate) struct Section<'a> {
    pub(crate) address: u64,
    pub(crate) bytes: &'a [u8],
}

impl fmt::Debug for Module {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:#x}..{:#x} {} {:?}", self.begin, self.end, self.path, self.role)
    }
}

impl Module {
    /// Whether both are one mapping of one file, as far as this can be known.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.begin, self.end, self.bias) == (other.begin, other.end, other.bias)
            && self.path == other.path
            && self.build_id == other.build_id
    }
}

/// The modules at one moment, sorted by address.
#[derive(Debug)]
pub(crate) struct Snapshot {
    loads: LoadCounts,
    modules: Vec<Module>,
}

impl Snapshot {
    /// Returns the module that an address is in.
    pub(crate) fn find(&self, address: u64) -> Option<&Module> {
        let behind = self.modules.partition_point(|module| module.begin <= address);
        self.modules.get(behind.checked_sub(1)?).filter(|module| address < module.end)
    }
}

/// The modules of the process, for a `static` that all threads share.
pub struct Modules {
    snapshot: AtomicPtr<Snapshot>,
    /// Held while a snapshot is made.
    making: Mutex<()>,
    report: fn(&Module),
    complain: fn(&str),
    /// The Python interpreter once it has been found; `None` inside if it cannot be read.
    python: OnceLock<Option<Interpreter>>,
}

impl fmt::Debug for Modules {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Modules").field(&self.snapshot()).finish()
    }
}

impl Modules {
    /// No modules yet. `report` is called with each one that [`Self::refresh`] finds, once, one at a time, in
    /// the thread that found it; it must not panic, nor refresh modules itself. `complain` is called with a
    /// sentence for the user if call paths will lack something.
    pub const fn new(report: fn(&Module), complain: fn(&str)) -> Self {
        let snapshot = AtomicPtr::new(ptr::null_mut());
        Self { snapshot, making: Mutex::new(()), report, complain, python: OnceLock::new() }
    }

    /// Looks for modules that were loaded or unloaded since the last time. Returns whether there was a
    /// change.
    ///
    /// Costs a tenth of a microsecond if nothing has changed, else it allocates and locks: not for signal
    /// handlers.
    pub fn refresh(&self) -> bool {
        let loads = objects::loads();
        if self.snapshot().is_some_and(|snapshot| snapshot.loads == loads) {
            return false;
        }
        // Poisoning does no harm: the snapshot is replaced in one step, at the end.
        let _making = self.making.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let before = self.snapshot();
        let (loads, mut modules) = objects::all(before);
        modules.sort_by_key(|module| module.begin);
        if before.is_some_and(|before| before.loads == loads) {
            return true;
        }
        let known = |module: &Module| {
            before.is_some_and(|before| before.find(module.begin).is_some_and(|found| found.is_same(module)))
        };
        let new: Vec<Module> = modules.iter().filter(|module| !known(module)).cloned().collect();
        // Never freed: another thread may be reading the one before.
        self.snapshot.store(Box::into_raw(Box::new(Snapshot { loads, modules })), Ordering::Release);
        new.iter().for_each(self.report);
        self.find_python();
        true
    }

    /// Looks for a Python interpreter, unless one has been found.
    fn find_python(&self) {
        if self.python.get().is_some() {
            return;
        }
        let found = match Interpreter::find() {
            Ok(None) => return,
            Ok(found) => found,
            Err(sentence) => {
                self.complain(&sentence);
                None
            }
        };
        // Set once: only one thread makes a snapshot at a time.
        let _ = self.python.set(found);
    }

    /// Returns the Python interpreter, if a refresh has found one that can be read.
    pub(crate) fn python(&self) -> Option<&Interpreter> {
        self.python.get()?.as_ref()
    }

    /// Reports to the user what call paths lack.
    pub(crate) fn complain(&self, sentence: &str) {
        (self.complain)(sentence);
    }

    /// Whether an address is in an MPI library, its Fortran or C++ bindings, or in the recorder, which is the
    /// module that this code is in unless that is the program itself. `false` for modules that no refresh has
    /// seen yet.
    pub fn is_mpi(&self, address: u64) -> bool {
        self.snapshot()
            .and_then(|snapshot| snapshot.find(address))
            .is_some_and(|module| matches!(module.role, Role::Measured | Role::Recorder))
    }

    /// Returns the module that an address is in, if a refresh has seen it.
    pub fn at(&self, address: u64) -> Option<&'static Module> {
        self.snapshot()?.find(address)
    }

    /// Returns the newest snapshot; `None` before the first refresh.
    pub(crate) fn snapshot(&self) -> Option<&'static Snapshot> {
        // SAFETY: the pointer is null or comes from a box that is never freed nor changed.
        unsafe { self.snapshot.load(Ordering::Acquire).as_ref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn modules_are_found_by_address_and_reported_once() {
        static REPORTED: AtomicUsize = AtomicUsize::new(0);
        let report = |_: &Module| {
            REPORTED.fetch_add(1, Ordering::Relaxed);
        };
        static MODULES: OnceLock<Modules> = OnceLock::new();
        let modules = MODULES.get_or_init(|| Modules::new(report, |sentence| panic!("{sentence}")));
        assert!(modules.snapshot().is_none() && !modules.is_mpi(1));
        assert!(modules.refresh());
        let snapshot = modules.snapshot().unwrap();
        assert_eq!(REPORTED.load(Ordering::Relaxed), snapshot.modules.len());

        let here = modules_are_found_by_address_and_reported_once as fn() as usize as u64;
        let module = snapshot.find(here).expect("this code is mapped");
        assert_eq!(module.path, std::env::current_exe().unwrap().to_str().unwrap());
        assert!(module.frames.is_some() && module.role == Role::Main && !modules.is_mpi(here));

        let system = snapshot.find(libc::getpid as *const () as u64).expect("so is the C library");
        assert!(
            system.role == Role::System && system.build_id.is_some() && system.frames.is_some(),
            "{system:?}"
        );
        assert!(snapshot.modules.iter().any(|module| module.path.contains("vdso")));
        assert!(snapshot.find(0).is_none() && snapshot.find(u64::MAX).is_none());
    }
}
