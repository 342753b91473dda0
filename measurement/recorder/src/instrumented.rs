//! The filter's decisions on functions that were compiled with `-finstrument-functions`: each is looked up
//! once, by its name and file in symbols and debug information.

use std::ffi::CString;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use call_paths::Module;
use files::Io;
use symbols::{Contents, File, Frame, Resolver};

use crate::filter::Filter;
use crate::shared::Shared;
use crate::thread;

/// Decisions by the addresses of functions.
static DECISIONS: Shared<AtomicBool> = Shared::new();

/// Resolvers of the modules that have been opened, by first address; `None` for a module that cannot be read.
static OPENED: Mutex<Vec<(u64, Option<Resolver<'static>>)>> = Mutex::new(Vec::new());

/// Whether the function at an address is recorded.
#[inline]
pub(crate) fn admits(filter: &Filter, function: u64) -> bool {
    if filter.is_empty() {
        return true;
    }
    match DECISIONS.find(function) {
        Some(decision) => decision.load(Ordering::Relaxed),
        None => decide(filter, function),
    }
}

/// Decides on a function, and remembers that. Unknown functions are recorded.
#[cold]
fn decide(filter: &Filter, function: u64) -> bool {
    let frame = thread::module_at(function).and_then(|module| look_up(module, function));
    let admits = frame.is_none_or(|frame| {
        // Names have no NUL.
        let string = |text| CString::new(text).unwrap_or_default();
        let file = frame.file.map(string);
        filter.admits(&string(frame.name), &string(frame.canonical_name), file.as_deref())
    });
    // Two threads that decide at once decide alike.
    DECISIONS.get_or_insert(function, |decision| decision.store(admits, Ordering::Relaxed));
    admits
}

/// Looks up the function at an address of a module.
fn look_up(module: &Module, function: u64) -> Option<Frame> {
    // Cannot deadlock: if the holder were interrupted by this thread, the thread's data would be locked.
    let mut opened = OPENED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let at = opened.iter().position(|&(begin, _)| begin == module.begin).unwrap_or_else(|| {
        opened.push((module.begin, open(module)));
        opened.len() - 1
    });
    let resolver = opened[at].1.as_ref()?;
    let outermost = resolver.frames(function.wrapping_sub(module.bias)).into_iter().next();
    outermost.filter(|frame| !frame.is_unknown)
}

/// Opens the file of a module, for as long as the process lives.
fn open(module: &Module) -> Option<Resolver<'static>> {
    let file = File { path: module.path.clone(), build_id: module.build_id.clone() };
    let contents: &'static Contents = Box::leak(Box::new(Contents::open(&file, Io::Read).ok()?));
    Some(Box::leak(Box::new(contents.tables().ok()?)).resolver())
}
