//! The next functions: those of libgomp, which the exported ones pass on to.

use std::ffi::{CStr, c_int, c_void};
use std::mem::{MaybeUninit, transmute};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::key;
use crate::shared::Shared;

/// A function of libgomp by its name: its address, once that is known.
pub(super) struct NextFunction {
    name: &'static CStr,
    address: AtomicUsize,
}

/// Stands for the address of a function that the whole process does not have: only some libraries have it, each
/// perhaps another one.
const NOT_SHARED: usize = 1;

/// The address of a next function.
#[derive(Clone, Copy)]
pub(super) enum Next {
    /// The function of the whole process.
    Shared(usize),
    /// That of the calling library alone, as extensions of Python bring a libgomp of their own. It is not
    /// recorded: several of them do not know each other's threads.
    Own(usize),
    /// There is none.
    Nowhere,
}

impl NextFunction {
    pub(super) const fn new(name: &'static CStr) -> NextFunction {
        NextFunction { name, address: AtomicUsize::new(0) }
    }

    /// Returns the function for a call from the code at an address.
    #[inline]
    pub(super) fn find(&self, caller: u64) -> Next {
        // The slot is only ever written with one value: no ordering is needed.
        match self.address.load(Ordering::Relaxed) {
            0 => self.find_once(caller),
            NOT_SHARED => self.find_of(caller),
            address => Next::Shared(address),
        }
    }

    #[cold]
    fn find_once(&self, caller: u64) -> Next {
        self.address.store(shared(self.name).unwrap_or(NOT_SHARED), Ordering::Relaxed);
        self.find(caller)
    }

    /// Looks for the function in the library with that code, and in those that it needs.
    #[cold]
    fn find_of(&self, caller: u64) -> Next {
        /// By code and function, 1 if there is none.
        static FOUND: Shared<AtomicU64> = Shared::new();
        let of = key::of(&[caller, self.name.as_ptr() as u64]);
        let look_up = || own(self.name, caller).map_or(1, |address| address as u64);
        let found = FOUND.get_or_insert(of, |found| found.store(look_up(), Ordering::Relaxed));
        match found.map_or_else(look_up, |found| found.load(Ordering::Relaxed)) {
            1 => Next::Nowhere,
            address => Next::Own(address as usize),
        }
    }
}

/// Returns the function of the whole process with that name, behind this library.
fn shared(name: &CStr) -> Option<usize> {
    // SAFETY: the name ends with a NUL.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    (!found.is_null()).then_some(found as usize)
}

/// Returns the function with that name in the library at an address, or in those that it needs.
fn own(name: &CStr, address: u64) -> Option<usize> {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the loader fills in what it finds, and a zeroed description has null pointers; the path is a string
    // of a loaded object, whose reference count is raised for good, so that the function stays.
    unsafe {
        if libc::dladdr(address as *const c_void, found.as_mut_ptr()) == 0 {
            return None;
        }
        let path = found.assume_init().dli_fname;
        let object = libc::dlopen(path, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        let found = if object.is_null() { object } else { libc::dlsym(object, name.as_ptr()) };
        (!found.is_null()).then_some(found as usize)
    }
}

/// The functions of libgomp that the recorder calls itself.
pub(super) struct Runtime {
    /// `GOMP_barrier`.
    pub(super) barrier: unsafe extern "C-unwind" fn(),
    /// `omp_get_thread_num`.
    pub(super) place: unsafe extern "C" fn() -> c_int,
    /// `omp_get_num_threads`.
    pub(super) size: unsafe extern "C" fn() -> c_int,
    /// `omp_get_max_threads`.
    pub(super) largest: unsafe extern "C" fn() -> c_int,
    /// Whether constructs may be cancelled (`OMP_CANCELLATION`), and with them barriers.
    pub(super) cancels: bool,
}

impl Runtime {
    /// Returns the functions, if the whole process has them.
    #[inline]
    pub(super) fn get() -> Option<&'static Runtime> {
        static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
        RUNTIME.get_or_init(Runtime::find).as_ref()
    }

    #[cold]
    fn find() -> Option<Runtime> {
        let cancels = shared(c"omp_get_cancellation").is_some_and(|address| {
            // SAFETY: the symbol is the function of that name, with this type by the standard.
            unsafe { transmute::<usize, unsafe extern "C" fn() -> c_int>(address)() != 0 }
        });
        // SAFETY: the symbols are the functions of these names, with these types by the standard or, of
        // `GOMP_barrier`, by the compiler.
        unsafe {
            Some(Runtime {
                barrier: transmute::<usize, unsafe extern "C-unwind" fn()>(shared(c"GOMP_barrier")?),
                place: transmute::<usize, unsafe extern "C" fn() -> c_int>(shared(c"omp_get_thread_num")?),
                size: transmute::<usize, unsafe extern "C" fn() -> c_int>(shared(c"omp_get_num_threads")?),
                largest: transmute::<usize, unsafe extern "C" fn() -> c_int>(shared(c"omp_get_max_threads")?),
                cancels,
            })
        }
    }
}
