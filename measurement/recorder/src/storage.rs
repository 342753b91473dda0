//! How files are stored (io.md, 2.1): what only the process that has a file can tell. On which file system it is follows from
//! its path and the mounts of the host, after the run.
//!
//! It is asked once for each file, when that gets a number. The system itself is called, not functions that are recorded
//! (io.md, 2.7, F1).

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use recording::journal::{JournalRecord, Storage, Stripes};
use recording::mounts;

use crate::process::Process;

/// Writes the mounts of the host to the journal, in one process of each host.
pub(crate) fn append_mounts(process: &Process) {
    if process.clocks.is_leader(process.rank) {
        let list = std::fs::read("/proc/self/mounts").unwrap_or_default();
        mounts::parse(&list).for_each(|mount| process.append(&JournalRecord::Mount(mount)));
    }
}

/// Returns how an open file is stored, of which the path has no links.
#[cfg(posix)]
pub(crate) fn of_descriptor(descriptor: i32) -> Option<Storage> {
    // SAFETY: the name ends with a NUL, and there is room for so many bytes.
    let stripes = stripes(|name, room| unsafe {
        libc::syscall(libc::SYS_fgetxattr, descriptor, name.as_ptr(), room.as_mut_ptr(), room.len())
    });
    Some(Storage { real_path: None, block: block(descriptor)?, stripes })
}

/// Returns how the file is stored that has this path; `None` if there is none. It is found, but not opened.
pub(crate) fn of_path(path: &[u8]) -> Option<Storage> {
    let name = CString::new(path).ok()?;
    let flags = libc::O_PATH | libc::O_CLOEXEC;
    // SAFETY: the path ends with a NUL.
    let descriptor = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, name.as_ptr(), flags) } as i32;
    if descriptor < 0 {
        return None;
    }
    let block = block(descriptor);
    let real = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).ok();
    // SAFETY: it is the descriptor that was opened here.
    unsafe { libc::syscall(libc::SYS_close, descriptor) };
    // SAFETY: both names end with a NUL, and there is room for so many bytes.
    let stripes = stripes(|attribute, room| unsafe {
        libc::syscall(libc::SYS_getxattr, name.as_ptr(), attribute.as_ptr(), room.as_mut_ptr(), room.len())
    });
    let real = real.map(PathBuf::into_os_string).filter(|real| real.as_bytes() != path);
    let real_path = real.map(|real| real.to_string_lossy().into_owned());
    Some(Storage { real_path, block: block?, stripes })
}

/// Returns the size of the blocks of an open file.
fn block(descriptor: i32) -> Option<u64> {
    // SAFETY: all bytes zero are a value, which the call replaces.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the status is writable.
    let failed = unsafe { libc::syscall(libc::SYS_fstat, descriptor, &raw mut status) };
    if failed == 0 { u64::try_from(status.st_blksize).ok() } else { None }
}

/// Returns the stripes of a file; `get` gets an extended attribute of it, or its length if there is no room, as `getxattr` does.
fn stripes(get: impl Fn(&CStr, &mut [u8]) -> libc::c_long) -> Option<Stripes> {
    const LAYOUT: &CStr = c"lustre.lov";
    // Most files have none.
    let length = usize::try_from(get(LAYOUT, &mut [])).ok().filter(|&length| length > 0)?;
    let mut room = vec![0; length];
    let length = usize::try_from(get(LAYOUT, &mut room)).ok()?;
    stripes_of(room.get(..length)?)
}

/// Reads a layout (`lov_user_md_v1` and `lov_user_md_v3` of `lustre_user.h`): of those that are composed of several the file has
/// no stripes as a whole.
fn stripes_of(layout: &[u8]) -> Option<Stripes> {
    const PLAIN: u32 = 0x0bd1_0bd0;
    const IN_A_POOL: u32 = 0x0bd3_0bd0;
    /// As many as there are devices.
    const ALL: u16 = u16::MAX;
    let word = |at: usize| Some(u32::from_le_bytes(layout.get(at..at + 4)?.try_into().ok()?));
    if !matches!(word(0)?, PLAIN | IN_A_POOL) {
        return None;
    }
    // Behind the pattern and 16 bytes for the object.
    let (size, count) = (word(24)?, u16::from_le_bytes(layout.get(28..30)?.try_into().ok()?));
    let is_known = size > 0 && count > 0 && count < ALL;
    is_known.then_some(Stripes { size: size.into(), count: count.into() })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    /// A layout with a magic number, a size and a number of stripes.
    fn bytes(magic: u32, size: u32, count: u16) -> Vec<u8> {
        let (pattern, object, generation) = (1u32, [7u8; 16], 3u16);
        [
            &magic.to_le_bytes()[..],
            &pattern.to_le_bytes(),
            &object,
            &size.to_le_bytes(),
            &count.to_le_bytes(),
            &generation.to_le_bytes(),
            &[9; 24],
        ]
        .concat()
    }

    #[test]
    fn layouts_of_lustre_have_stripes_unless_they_are_composed() {
        let of = |magic, size, count| {
            stripes_of(&bytes(magic, size, count)).map(|stripes| (stripes.size, stripes.count))
        };
        assert_eq!(of(0x0bd1_0bd0, 1 << 20, 4), Some((1 << 20, 4)));
        assert_eq!(of(0x0bd3_0bd0, 64 << 10, 1), Some((64 << 10, 1)));
        assert_eq!(of(0x0bd6_0bd0, 1 << 20, 4), None);
        assert_eq!(
            (of(0x0bd1_0bd0, 0, 4), of(0x0bd1_0bd0, 1, 0), of(0x0bd1_0bd0, 1, 0xffff)),
            (None, None, None)
        );
        let whole = bytes(0x0bd1_0bd0, 1, 1);
        assert!((0..30).all(|length| stripes_of(&whole[..length]).is_none()));
        assert!(stripes_of(&whole[..30]).is_some());
    }

    #[test]
    fn stripes_are_asked_for_with_the_room_that_they_need() {
        let whole = bytes(0x0bd1_0bd0, 4096, 2);
        let get = |_: &CStr, room: &mut [u8]| {
            if !room.is_empty() {
                room.copy_from_slice(&whole);
            }
            whole.len() as libc::c_long
        };
        assert_eq!(stripes(get), Some(Stripes { size: 4096, count: 2 }));
        assert_eq!((stripes(|_, _| -1), stripes(|_, _| 0)), (None, None));
    }

    #[test]
    fn files_have_blocks_and_links_have_the_path_of_their_file() {
        let folder = std::env::temp_dir().canonicalize().unwrap();
        let [path, link] =
            ["", "-link"].map(|end| folder.join(format!("replay-storage-{}{end}", std::process::id())));
        let file = std::fs::File::create(&path).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let of = |path: &PathBuf| of_path(path.as_os_str().as_bytes());
        let found = of(&path).unwrap();
        assert!(found.block > 0 && found.real_path.is_none());
        assert_eq!(of(&link).unwrap().real_path.as_deref(), path.to_str());
        #[cfg(posix)]
        assert_eq!(of_descriptor(file.as_raw_fd()).as_ref(), Some(&found));
        drop(file);
        [&path, &link].iter().for_each(|path| std::fs::remove_file(path).unwrap());
        assert_eq!(of(&path), None);
    }
}
