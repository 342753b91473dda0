//! Streams that were open before recording began.

use std::ffi::c_void;

use super::layout::File;
use super::opening::{input, output};
use super::streams::{self, Kept};
use crate::posix::access::Access;
use crate::posix::before::{self, Before, Candidate};

/// Records handles for the streams on files that were open before; returns their descriptors, and the numbers of their handles.
pub(super) fn keep(access: &mut Access, files: &[Candidate]) -> Vec<(i32, u32)> {
    let list = List::lock();
    let open = list.as_ref().map_or_else(|| vec![input(), output()], List::streams);
    let is_new = |stream: &usize| *stream != 0 && streams::find(*stream).is_none();
    open.into_iter().filter(is_new).filter_map(|stream| keep_one(access, files, stream)).collect()
}

fn keep_one(access: &mut Access, files: &[Candidate], stream: usize) -> Option<(i32, u32)> {
    // SAFETY: it is in the list of those that are open, or open in every program unless that has closed it, which leaves its data.
    let file = unsafe { File::at(stream) };
    let descriptor = file.descriptor();
    let candidate = files.iter().find(|candidate| candidate.descriptor == descriptor)?;
    let Before { handle, appends, size, position } = before::find(access, candidate, (None, true))?;
    let look = file.look();
    let place = |at: u64| (at + look.pending).saturating_sub(look.left);
    let position = if appends { Some(place(size)) } else { position.map(place) };
    if !streams::insert(stream, Kept { handle, appends }, look.pending) {
        return None;
    }
    before::place(access, handle, position);
    Some((descriptor, handle))
}

type Place = unsafe extern "C" fn() -> *mut c_void;
type OfPlace = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// The C library's list of streams that are open. Nobody closes one as long as this is there.
struct List {
    begin: Place,
    end: Place,
    next: OfPlace,
    stream: OfPlace,
    unlock: unsafe extern "C" fn(),
}

impl List {
    /// Takes the lock; `None` of C libraries that do not give the list away. That of GNU has these functions since its version 2.2.
    fn lock() -> Option<List> {
        // SAFETY: the name ends with a NUL.
        let find = |name: &std::ffi::CStr| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        let names = [
            c"_IO_iter_begin",
            c"_IO_iter_end",
            c"_IO_iter_next",
            c"_IO_iter_file",
            c"_IO_list_lock",
            c"_IO_list_unlock",
        ];
        let found = names.map(find);
        if found.iter().any(|address| address.is_null()) {
            return None;
        }
        let [begin, end, next, stream, lock, unlock] = found;
        // SAFETY: functions of these names have these parameters and results: a place in the list is a pointer.
        unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(lock)();
            Some(List {
                begin: std::mem::transmute::<*mut c_void, Place>(begin),
                end: std::mem::transmute::<*mut c_void, Place>(end),
                next: std::mem::transmute::<*mut c_void, OfPlace>(next),
                stream: std::mem::transmute::<*mut c_void, OfPlace>(stream),
                unlock: std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(unlock),
            })
        }
    }

    /// Returns the addresses of all streams.
    fn streams(&self) -> Vec<usize> {
        let mut found = Vec::new();
        // SAFETY: the list is locked, and each place is in it.
        unsafe {
            let mut at = (self.begin)();
            while at != (self.end)() {
                found.push((self.stream)(at) as usize);
                at = (self.next)(at);
            }
        }
        found
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: the lock was taken.
        unsafe { (self.unlock)() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_has_the_streams_that_are_open() {
        // SAFETY: both are strings.
        let stream = unsafe { libc::fopen(c"/dev/null".as_ptr(), c"w".as_ptr()) };
        let open = List::lock().unwrap().streams();
        assert!(open.contains(&(stream as usize)) && open.contains(&output()) && open.contains(&input()));
        // SAFETY: it is open.
        unsafe { libc::fclose(stream) };
        assert!(!List::lock().unwrap().streams().contains(&(stream as usize)));
    }
}
