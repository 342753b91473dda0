//! Files that the program has opened before recording begins (io.md, 2.1): their handles are there from the beginning, at the places
//! where they are.
//!
//! What is open is looked for in front of the call that starts MPI: what MPI opens in it is none of the program (io.md, 2.7, F2).

use recording::journal::WasOpen;

use super::access::Access;
use super::choice::FileState;
use super::descriptors::{self, OpenFile};
use super::handles::Opening;
use super::opening::{mode, status};
use super::paths::PathRoom;
use crate::clock::now;
use crate::record;

/// A regular file that was open.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) descriptor: i32,
    identity: (u64, u64),
    /// Flags of `open`.
    flags: i32,
    /// Whether another descriptor moves the same pointer.
    shares: bool,
}

impl Candidate {
    /// Returns its state; `None` if the descriptor is of something else meanwhile.
    fn state(&self) -> Option<FileState> {
        FileState::of_descriptor(self.descriptor).filter(|state| state.identity == self.identity)
    }
}

/// A file that was open before, and is recorded.
pub(crate) struct Before {
    /// The number of its handle in the process.
    pub(crate) handle: u32,
    /// Whether what is written goes to its end.
    pub(crate) appends: bool,
    /// Bytes of it.
    pub(crate) size: u64,
    /// Where the system has its pointer; `None` if nobody can follow that, as another descriptor moves it, too.
    pub(crate) position: Option<u64>,
}

/// Returns the regular files that are open.
pub(crate) fn candidates() -> Vec<Candidate> {
    // Without a list there are those of standard input and output.
    let open = list().unwrap_or_else(|| vec![0, 1, 2]);
    let candidate = |descriptor: i32| {
        let state = FileState::of_descriptor(descriptor).filter(|state| !state.is_directory)?;
        // SAFETY: a call on a descriptor.
        let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
        Some(Candidate { descriptor, identity: state.identity, flags, shares: false })
    };
    let mut found: Vec<Candidate> = open.into_iter().filter_map(candidate).collect();
    for at in 0..found.len() {
        let one = found[at];
        found[at].shares =
            found.iter().any(|other| other.descriptor != one.descriptor && have_one_pointer(&one, other));
    }
    found
}

fn list() -> Option<Vec<i32>> {
    let entries = std::fs::read_dir("/proc/self/fd").ok()?;
    let mut open: Vec<i32> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    open.sort_unstable();
    Some(open)
}

/// Whether two descriptors are of one opening, which has one pointer.
fn have_one_pointer(one: &Candidate, other: &Candidate) -> bool {
    // Where the system does not tell, as in some containers, they may be of one.
    (one.identity, one.flags) == (other.identity, other.flags) && compared(one, other) <= 0
}

/// Compares the openings of two descriptors: 0 if they are the same, less if the system does not tell.
fn compared(one: &Candidate, other: &Candidate) -> i64 {
    const KCMP_FILE: i32 = 0;
    // SAFETY: calls that change nothing.
    unsafe {
        let process = libc::getpid();
        libc::syscall(libc::SYS_kcmp, process, process, KCMP_FILE, one.descriptor, other.descriptor)
    }
}

/// Records handles for descriptors. Some are those of streams, with the numbers of the handles of these.
pub(super) fn keep(access: &mut Access, open: &[Candidate], streams: &[(i32, u32)]) {
    for candidate in open {
        let descriptor = candidate.descriptor;
        let parent = streams.iter().find(|(known, _)| *known == descriptor).map(|(_, handle)| *handle);
        let Some(found) = find(access, candidate, (parent, false)) else { continue };
        let Before { handle, appends, position, .. } = found;
        if !descriptors::insert(descriptor, OpenFile { handle, appends, shares: false }) {
            continue;
        }
        // Another thread may have closed it meanwhile, and opened something else, unseen.
        match candidate.state() {
            Some(_) => place(access, handle, position),
            None => _ = descriptors::set(descriptor, None),
        }
    }
}

/// Returns the file of a descriptor, or of a stream on it, if it is still that, and recorded.
pub(crate) fn find(
    access: &Access,
    candidate: &Candidate,
    (parent, is_stream): (Option<u32>, bool),
) -> Option<Before> {
    let &Candidate { descriptor, flags, shares, .. } = candidate;
    let state = candidate.state()?;
    let process = access.process();
    let mut room = PathRoom::new();
    let path = room.of_descriptor(descriptor)?;
    // Files in memory look like regular ones (io.md, 2.7, F5).
    if path.starts_with(b"/memfd:") || !process.posix.choice.admits(path) {
        return None;
    }
    // SAFETY: the descriptor is open; the pointer stays where it is.
    let at = unsafe { libc::lseek(descriptor, 0, libc::SEEK_CUR) };
    let position = u64::try_from(at).ok()?;
    let was_open = Some(WasOpen { mode: mode(flags), status: status(flags) as u32 });
    let opening = Opening { path, descriptor, parent, is_directory: false, is_stream, was_open };
    let handle = process.posix.handle(process, opening)?;
    Some(Before {
        handle,
        appends: flags & libc::O_APPEND != 0,
        size: state.size,
        position: Some(position).filter(|_| !shares),
    })
}

/// Records where a file is, if that is known.
pub(crate) fn place(access: &mut Access, handle: u32, position: Option<u64>) {
    if let Some(position) = position {
        record::io_seek(&mut access.thread().events, now(), handle.into(), position, 0, position);
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn descriptors_of_one_opening_have_one_pointer_and_others_have_not() {
        let path = std::env::temp_dir().join(format!("replay-before-{}", std::process::id()));
        let one = std::fs::File::create(&path).unwrap();
        let copy = one.try_clone().unwrap();
        // Flags and place are the same, but it is another opening.
        let other = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let found = candidates();
        let of = |file: &std::fs::File| found.iter().find(|it| it.descriptor == file.as_raw_fd()).unwrap();
        let [one, copy, other] = [&one, &copy, &other].map(of);
        assert_eq!([one.shares, copy.shares], [true; 2]);
        // Where the system does not tell, it may be the same.
        let tells = compared(one, one) == 0;
        assert_eq!(other.shares, !tells);
        std::fs::remove_file(&path).unwrap();
    }
}
