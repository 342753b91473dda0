//! Call paths in a process with threads, libraries that are loaded later, and signals.
#![cfg(target_os = "linux")]

use call_paths::{CallPaths, Module, Modules, PathTable, Registers};
use recording::paths::{FRAME, MPI_FUNCTION, NO_PARENT, PathNode, SAMPLE};
use std::ffi::{CString, c_int, c_void};
use std::hint::black_box;
use std::process::Command;
use std::ptr;
use std::sync::Mutex;

static REPORTED: Mutex<Vec<String>> = Mutex::new(Vec::new());
static MODULES: Modules =
    Modules::new(|module: &Module| REPORTED.lock().unwrap().push(module.path.clone()), |_| {});

fn paths() -> CallPaths {
    let directory = tempfile::tempdir().unwrap();
    let table = PathTable::create(&directory.path().join("0.paths")).unwrap();
    CallPaths::new(&MODULES, table, directory.path().join("0.python"), 64).unwrap()
}

/// Returns the path that ends in a node, the innermost first.
fn path(paths: &CallPaths, node: u32) -> Vec<PathNode> {
    let node_at = |number| paths.table().node(number);
    std::iter::successors(node_at(node), |last: &PathNode| node_at(last.parent)).collect()
}

extern "C" fn capture(argument: *mut c_void) {
    // SAFETY: these tests pass a pointer to such a pair, which nothing else refers to meanwhile.
    let (paths, node) = unsafe { &mut *argument.cast::<(CallPaths, u32)>() };
    *node = paths.at_call(Registers::here(), None, 7);
}

#[test]
fn threads_have_paths_of_their_own_and_the_same_modules() {
    let lengths: Vec<usize> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                let mut state = (paths(), 0);
                for _ in 0..black_box(100) {
                    capture((&raw mut state).cast());
                }
                assert_eq!(state.0.statistics().misses, 1);
                let path = path(&state.0, state.1);
                // What starts a thread is in the C library and left out.
                assert!(path.iter().all(|node| node.kind != FRAME || is_here(node.target)), "{path:x?}");
                path.len()
            })
        })
        .map(|thread| thread.join().unwrap())
        .collect();
    assert!(lengths[0] > 2 && lengths.iter().all(|length| *length == lengths[0]), "{lengths:?}");
    let reported = REPORTED.lock().unwrap();
    let program = std::env::current_exe().unwrap();
    assert_eq!(reported.iter().filter(|path| **path == program.to_str().unwrap()).count(), 1);
}

/// Whether an address is in this program's own file.
fn is_here(address: u64) -> bool {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    let mut own = info;
    // SAFETY: `dladdr` takes any address, and fills in the structure if it returns a value other than 0.
    let found = unsafe {
        libc::dladdr(address as *const c_void, &mut info) != 0
            && libc::dladdr(is_here as *const c_void, &mut own) != 0
    };
    found && info.dli_fbase == own.dli_fbase
}

/// Builds a library with a function `call` that calls its first argument with the second.
fn library(name: &str) -> (tempfile::TempDir, CString) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(name);
    let source = directory.path().join("library.rs");
    std::fs::write(
        &source,
        "#![no_std]
         #[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
         #[unsafe(no_mangle)] pub unsafe extern \"C\" fn call(f: unsafe extern \"C\" fn(*mut u8), a: *mut u8) -> u64 {
             let mut space = [0_u64; 50];
             core::hint::black_box(&mut space);
             unsafe { f(a) };
             core::hint::black_box(space[7])
         }",
    )
    .unwrap();
    let compiler = std::env::var("RUSTC").unwrap_or("rustc".into());
    let status = Command::new(compiler)
        .args(["--crate-type=cdylib", "-Cpanic=abort", "-Copt-level=1", "--edition=2024", "-o"])
        .args([&file, &source])
        .status()
        .unwrap();
    assert!(status.success());
    (directory, CString::new(file.to_str().unwrap()).unwrap())
}

fn call_in(library: &CString, state: &mut (CallPaths, u32)) -> *mut c_void {
    // SAFETY: the library that was built above has a function `call` with this signature.
    unsafe {
        let handle = libc::dlopen(library.as_ptr(), libc::RTLD_NOW);
        assert!(!handle.is_null());
        let call = libc::dlsym(handle, c"call".as_ptr());
        let call: extern "C" fn(extern "C" fn(*mut c_void), *mut c_void) -> u64 = std::mem::transmute(call);
        call(capture, ptr::from_mut(state).cast());
        handle
    }
}

#[test]
fn a_library_that_is_loaded_later_is_found() {
    let (_directory, file) = library("libplugin.so");
    let mut state = (paths(), 0);
    let is_reported =
        || REPORTED.lock().unwrap().iter().filter(|path| **path == file.to_str().unwrap()).count();
    assert_eq!(is_reported(), 0);
    let handle = call_in(&file, &mut state);
    assert_eq!(is_reported(), 1);
    let first = path(&state.0, state.1);
    assert!(first.len() > 4 && !is_here(first[1].target) && is_here(first[2].target), "{first:x?}");
    // SAFETY: nothing of the library is in use.
    unsafe { libc::dlclose(handle) };
    // Whatever is mapped in its place, unwinding goes on.
    for _ in 0..black_box(3) {
        capture((&raw mut state).cast());
        call_in(&file, &mut state);
        assert!(path(&state.0, state.1).len() > 4);
    }
}

#[test]
fn unwind_tables_of_an_unloaded_library_are_not_read_where_they_were() {
    let (_directory, file) = library("libunloaded.so");
    let mut state = (paths(), 0);
    let handle = call_in(&file, &mut state);
    let inside = path(&state.0, state.1)[1].target;
    // SAFETY: nothing of the library is in use.
    unsafe { libc::dlclose(handle) };
    // SAFETY: loads nothing.
    let still_loaded = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    assert!(still_loaded.is_null());
    // A sample does not look for modules: this thread still knows the library.
    for instruction in inside - 16..inside + 16 {
        assert!(state.0.at_sample(Registers { instruction, ..Registers::here() }, None).is_some());
    }
}

#[test]
fn wrappers_of_an_mpi_library_are_not_on_the_path() {
    let (_directory, file) = library("libmpi_mpifh.so.40");
    let mut state = (paths(), 0);
    call_in(&file, &mut state);
    let path = path(&state.0, state.1);
    assert!(path.len() > 3 && path[1..].iter().all(|node| is_here(node.target)), "{path:x?}");
}

/// The paths that the handlers below use, and their result; the thread has nothing else to do meanwhile.
static mut HANDLED: (*mut CallPaths, Option<u32>) = (ptr::null_mut(), None);

/// Held by a test that uses a signal.
static SIGNALS: Mutex<()> = Mutex::new(());

extern "C" fn on_signal(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the context; the paths belong to this thread, which is in `raise` and does
    // not use them.
    unsafe {
        let handled = &raw mut HANDLED;
        (*handled).1 = (*(*handled).0).at_sample(registers(context), None);
    }
}

/// A call in a handler, which may be on a stack of its own.
extern "C" fn call_on_signal(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        let handled = &raw mut HANDLED;
        (*handled).1 = Some((*(*handled).0).at_call(Registers::here(), None, 7));
    }
}

unsafe fn registers(context: *mut c_void) -> Registers {
    // SAFETY: the caller passes the context of a signal.
    let context = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    return Registers {
        instruction: context.gregs[libc::REG_RIP as usize] as u64,
        stack: context.gregs[libc::REG_RSP as usize] as u64,
        frame: context.gregs[libc::REG_RBP as usize] as u64,
    };
    #[cfg(target_arch = "aarch64")]
    return Registers { instruction: context.pc, stack: context.sp, frame: context.regs[29] };
}

/// Raises a signal that is handled in the given way, and returns the path that the handler has found.
fn path_of_handler(
    handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void),
    flags: c_int,
    paths: &mut CallPaths,
) -> Vec<PathNode> {
    let _turn = SIGNALS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // SAFETY: the handler is async-signal-safe as far as this test needs, as `raise` interrupts nothing; the
    // paths outlive its only call.
    unsafe {
        HANDLED = (paths, None);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | flags;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &action, ptr::null_mut()), 0);
        libc::raise(libc::SIGUSR1);
        path(paths, HANDLED.1.unwrap())
    }
}

#[test]
fn a_sample_is_where_the_signal_came() {
    let mut paths = paths();
    let sampled = path_of_handler(on_signal, 0, &mut paths);
    assert_eq!(sampled[0].kind, SAMPLE);
    assert!(!is_here(sampled[0].target), "raise is in the C library");
    let own = sampled.iter().position(|node| is_here(node.target)).unwrap();
    assert!(own > 0 && sampled[own..].iter().all(|node| is_here(node.target)), "{sampled:x?}");
    assert!(sampled.len() - own > 3);
}

#[test]
fn a_call_in_a_handler_has_the_path_that_was_interrupted() {
    let mut paths = paths();
    let called = path_of_handler(call_on_signal, 0, &mut paths);
    let sampled = path_of_handler(on_signal, 0, &mut paths);
    assert_eq!(called[0].kind, MPI_FUNCTION);
    // The function that the handler returns to, then the one that was interrupted.
    assert_eq!(called[2].target, sampled[0].target + 1);
    // The two were called in two places, all else is the same.
    let (called, sampled) = (&called[3..], &sampled[1..]);
    let differ =
        called.iter().zip(sampled).filter(|(called, sampled)| called.target != sampled.target).count();
    assert_eq!((called.len(), differ), (sampled.len(), 1), "{called:x?} {sampled:x?}");
}

#[test]
fn on_another_stack_there_are_no_functions() {
    let mut space = vec![0_u8; 1 << 18];
    let stack = libc::stack_t { ss_sp: space.as_mut_ptr().cast(), ss_flags: 0, ss_size: space.len() };
    let mut before: libc::stack_t = stack;
    // SAFETY: the space outlives the alternate stack, which is replaced below.
    unsafe { assert_eq!(libc::sigaltstack(&stack, &mut before), 0) };
    let mut paths = paths();
    for _ in 0..3 {
        let called = path_of_handler(call_on_signal, libc::SA_ONSTACK, &mut paths);
        assert_eq!(called, [PathNode { target: 7, parent: NO_PARENT, kind: MPI_FUNCTION }]);
    }
    let sampled = path_of_handler(on_signal, libc::SA_ONSTACK, &mut paths);
    assert!(sampled.len() > 3, "a sample is of the stack that was interrupted");
    // SAFETY: as above.
    unsafe { libc::sigaltstack(&before, ptr::null_mut()) };
}
