//! The objects that the dynamic loader has mapped into the process, by `dl_iterate_phdr(3)`.

use crate::frame_table;
use crate::modules::{Module, Section, Snapshot};
use crate::roles;
use recording::python;
use std::ffi::{CStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

/// `dlpi_adds` and `dlpi_subs`: how often objects were loaded and unloaded so far. Never the same value
/// twice.
pub(crate) type LoadCounts = (u64, u64);

/// Returns how often objects were loaded and unloaded. Takes a lock of the loader for a moment.
pub(crate) fn loads() -> LoadCounts {
    unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, answer: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid object, and `answer` is the pointer to `loads` below.
        unsafe { *answer.cast::<LoadCounts>() = ((*info).dlpi_adds, (*info).dlpi_subs) };
        1
    }
    let mut loads = (0, 0);
    // SAFETY: `note` takes the argument for what it is, a pointer to `LoadCounts` that lives until the call
    // returns.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut loads).cast()) };
    loads
}

/// Program headers of the objects that were loaded with the program: the dynamic loader never unloads those.
static INITIAL: OnceLock<Vec<usize>> = OnceLock::new();

/// Copies of unwind tables of objects that may be unloaded, no two of which are equal.
static COPIES: Mutex<Vec<&'static [u8]>> = Mutex::new(Vec::new());

/// Notes which objects are loaded, so that their unwind tables are used where they are; those of objects that
/// are loaded later are copied, as these may be unloaded (`dlclose`).
///
/// To be called by a constructor of a library that is loaded with the program, or not at all.
pub fn set_initial_objects() {
    unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, initial: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid object, and `initial` is the pointer to the vector below, which
        // nothing else refers to meanwhile.
        unsafe { (*initial.cast::<Vec<usize>>()).push((*info).dlpi_phdr.addr()) };
        0
    }
    let mut initial = Vec::new();
    // SAFETY: `note` takes the argument for what it is, a pointer to a vector that lives until the call
    // returns.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut initial).cast()) };
    // The first call counts.
    let _ = INITIAL.set(initial);
}

/// Returns all mappings with code, in no particular order, and the load counts at that moment. `previous` is
/// the last snapshot: its copies of tables are used for modules that are the same.
pub(crate) fn all(previous: Option<&Snapshot>) -> (LoadCounts, Vec<Module>) {
    struct Found<'a> {
        loads: LoadCounts,
        modules: Vec<Module>,
        previous: Option<&'a Snapshot>,
    }
    unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid object, and `found` is the pointer to the value below, which
        // nothing else refers to meanwhile.
        let (info, found) = unsafe { (&*info, &mut *found.cast::<Found>()) };
        found.loads = (info.dlpi_adds, info.dlpi_subs);
        // SAFETY: the loader passes objects that are mapped, and unloads none before this returns, as it
        // holds its lock.
        unsafe { modules_of(info, found.previous, &mut found.modules) };
        0
    }
    let mut found = Found { loads: (0, 0), modules: Vec::new(), previous };
    // SAFETY: `note` takes the argument for what it is, a pointer to `Found` that lives until the call
    // returns.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut found).cast()) };
    (found.loads, found.modules)
}

/// Adds the mappings with code of one object.
///
/// # Safety
/// The object must be mapped as its headers say, until this returns.
unsafe fn modules_of(info: &libc::dl_phdr_info, previous: Option<&Snapshot>, modules: &mut Vec<Module>) {
    if info.dlpi_phdr.is_null() {
        return;
    }
    // SAFETY: the caller guarantees that the object is mapped, and its program headers with it.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    // SAFETY: `dl_iterate_phdr` gives a string of the loader, which lives as long as the object, or nothing.
    let name = if info.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(info.dlpi_name) } };
    let path = path_of(name);
    let of_kind = |kind| headers.iter().filter(move |header| header.p_type == kind);
    // SAFETY: the caller guarantees that the object is mapped while these bytes are used, which is in this
    // function.
    let section =
        |header: &libc::Elf64_Phdr| unsafe { section_at(info, headers, header.p_vaddr, header.p_memsz) };
    let build_id = of_kind(libc::PT_NOTE).find_map(|header| build_id(section(header)?.bytes, header.p_align));
    let is_main = name.is_empty();
    let stays = is_main || INITIAL.get().is_some_and(|initial| initial.contains(&info.dlpi_phdr.addr()));
    for header in of_kind(libc::PT_LOAD).filter(|header| header.p_flags & libc::PF_X != 0) {
        let begin = info.dlpi_addr.wrapping_add(header.p_vaddr);
        let end = begin.saturating_add(header.p_memsz);
        let mut module = Module {
            begin,
            end,
            bias: info.dlpi_addr,
            build_id: build_id.clone(),
            role: roles::of(&path, begin..end),
            is_python: python::is_interpreter(&path) || python::is_mpi4py(&path),
            path: path.clone(),
            table: None,
            frames: None,
        };
        let known = previous.and_then(|previous| previous.find(begin));
        if let Some(known) = known.filter(|known| build_id.is_some() && known.is_same(&module)) {
            (module.table, module.frames) = (known.table, known.frames);
        } else {
            let table = of_kind(libc::PT_GNU_EH_FRAME).find_map(section);
            // SAFETY: the caller guarantees that the object is mapped, and the main program has no name.
            let table = table.or_else(|| is_main.then(|| unsafe { made_table(info, headers, &path) })?);
            // SAFETY: the caller guarantees that the object is mapped while the bytes are used, which is
            // until they are kept.
            let frames = table.and_then(|table| unsafe { frames(info, headers, table) });
            // SAFETY: what is loaded with the program is never unloaded.
            let keep = |section: Section<'_>| unsafe { section.keep(stays) };
            (module.table, module.frames) = (table.map(keep), frames.map(keep));
        }
        modules.push(module);
    }
}

impl Section<'_> {
    /// Returns the section for good: a copy of it, or the section itself if it `stays`.
    ///
    /// # Safety
    /// If it `stays`, its bytes must stay mapped and unchanged until the process ends.
    unsafe fn keep(self, stays: bool) -> Section<'static> {
        let bytes = if stays {
            // SAFETY: the caller guarantees it.
            unsafe { &*ptr::from_ref(self.bytes) }
        } else {
            // A library may be loaded and unloaded many times: one copy is enough.
            let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
            match copies.iter().find(|copy| **copy == self.bytes) {
                Some(copy) => copy,
                None => {
                    let copy: &'static [u8] = Box::leak(self.bytes.into());
                    copies.push(copy);
                    copy
                }
            }
        };
        Section { address: self.address, bytes }
    }
}

/// Builds the table of a main program that was linked without one, once: that program is never unloaded.
///
/// # Safety
/// The object must be the main program, mapped as its headers say.
unsafe fn made_table(
    info: &libc::dl_phdr_info,
    headers: &[libc::Elf64_Phdr],
    path: &str,
) -> Option<Section<'static>> {
    static MADE: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    let make = || {
        let (address, size) = frame_table::section(path.as_ref())?;
        // SAFETY: the caller guarantees that the object is mapped while the bytes are used, which is in this
        // closure.
        let frames = unsafe { section_at(info, headers, address, size) }?;
        Some(frame_table::of(frames))
    };
    let bytes = MADE.get_or_init(make).as_deref()?;
    Some(Section { address: bytes.as_ptr() as u64, bytes })
}

/// Returns the path of an object: the main program has no name; a relative name is resolved from the working
/// directory of now.
fn path_of(name: &CStr) -> String {
    let path = if name.is_empty() {
        std::fs::read_link("/proc/self/exe").unwrap_or_default()
    } else {
        let path = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
        // The vDSO has a name that is no path.
        if name.to_bytes().contains(&b'/') {
            std::path::absolute(path).unwrap_or(path.into())
        } else {
            path.into()
        }
    };
    path.to_string_lossy().into_owned()
}

/// Returns the bytes of the object at an address as linked, if they are within one of its readable mappings.
///
/// # Safety
/// The object must be mapped as its headers say, and stay so as long as the bytes are used.
unsafe fn section_at<'a>(
    info: &libc::dl_phdr_info,
    headers: &[libc::Elf64_Phdr],
    address: u64,
    size: u64,
) -> Option<Section<'a>> {
    let end = address.checked_add(size)?;
    let within = |header: &&libc::Elf64_Phdr| {
        header.p_type == libc::PT_LOAD
            && header.p_flags & libc::PF_R != 0
            && header.p_vaddr <= address
            // Of what is beyond the file's part, pages may be missing in the middle of a file that was cut.
            && header.p_vaddr.checked_add(header.p_filesz).is_some_and(|last| end <= last)
    };
    headers.iter().find(within)?;
    let address = info.dlpi_addr.wrapping_add(address);
    let start = address as *const u8;
    // SAFETY: the caller guarantees that the mapping exists, and the range is within it.
    let bytes = (!start.is_null()).then(|| unsafe { std::slice::from_raw_parts(start, size as usize) })?;
    Some(Section { address, bytes })
}

/// Returns the section that the table of `PT_GNU_EH_FRAME` points to, which is somewhere in the same
/// mappings. The program headers do not say where it ends, so it extends to the end of the mapping.
///
/// # Safety
/// As for [`section_at`].
unsafe fn frames<'a>(
    info: &libc::dl_phdr_info,
    headers: &[libc::Elf64_Phdr],
    table: Section<'_>,
) -> Option<Section<'a>> {
    let start = crate::rules::start_of_frames(table)?.wrapping_sub(info.dlpi_addr);
    let end = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD)
        .filter_map(|header| Some(header.p_vaddr..header.p_vaddr.checked_add(header.p_filesz)?))
        .find(|range| range.contains(&start))?
        .end;
    // SAFETY: the caller guarantees it.
    unsafe { section_at(info, headers, start, end - start) }
}

/// Returns the GNU build id among notes (ELF note type `NT_GNU_BUILD_ID`), in hexadecimal digits.
fn build_id(mut notes: &[u8], align: u64) -> Option<String> {
    const GNU_BUILD_ID: u32 = 3;
    let align = if align == 8 { 8 } else { 4 };
    loop {
        let word = |at: usize| Some(u32::from_ne_bytes(notes.get(at..at + 4)?.try_into().ok()?));
        let (name, size, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let contents = 12_usize.checked_add(name)?.checked_next_multiple_of(align)?;
        let end = contents.checked_add(size)?;
        if kind == GNU_BUILD_ID && notes.get(12..12 + name)? == b"GNU\0" {
            return Some(notes.get(contents..end)?.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        notes = notes.get(end.checked_next_multiple_of(align)?..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_id_is_found_behind_other_notes() {
        let note = |name: &[u8], kind: u32, contents: &[u8]| {
            let mut bytes = Vec::new();
            for word in [name.len() as u32, contents.len() as u32, kind] {
                bytes.extend(word.to_ne_bytes());
            }
            for part in [name, contents] {
                bytes.extend(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        let mut notes = note(b"GNU\0", 1, &[1, 2, 3]);
        assert_eq!(build_id(&notes, 4), None);
        notes.extend(note(b"GNU\0", 3, &[0xab, 0x01]));
        assert_eq!(build_id(&notes, 4).as_deref(), Some("ab01"));
        assert_eq!(build_id(&notes[..notes.len() - 4], 4), None, "cut off");
        assert_eq!(build_id(&[0xff; 40], 4), None, "sizes that cannot be");
    }

    #[test]
    fn loading_is_noticed() {
        let before = loads();
        assert_eq!(before, all(None).0);
    }
}
