//! A group of counters of one thread: the kernel has all of them count, or none, and never in turns with others
//! (`perf_event_open(2)`).

use std::io;
use std::ptr::null_mut;

use call_paths::undisturbed;
use perf_event_open_sys::bindings::{
    PERF_FLAG_FD_CLOEXEC, PERF_FORMAT_GROUP, PERF_IOC_FLAG_GROUP, perf_event_attr, perf_event_mmap_page,
};
use perf_event_open_sys::{ioctls, perf_event_open};
use recording::counters::{KernelEvent, MOST};

#[cfg(target_arch = "x86_64")]
use super::page;
use crate::record;

/// Values, in the order of the events.
pub(super) type Values = [u64; MOST];
const _: () = assert!(MOST <= record::MOST_VALUES);

/// Where descriptors of the recorder are, above all that programs use.
const LOWEST: i32 = 700;

/// The counters of one thread.
pub(super) struct Group {
    /// The page of each event, which keeps it.
    pages: [*mut perf_event_mmap_page; MOST],
    size: usize,
    /// The descriptor of the first event, and the kernel's number of that, if values are read by calls of the system.
    leader: Option<(i32, u64)>,
}

impl Group {
    /// Has the kernel count events of the calling thread from now on.
    ///
    /// # Errors
    /// If the system lacks one, does not permit it, or cannot count all of them at a time.
    pub(super) fn open(events: &[KernelEvent]) -> io::Result<Group> {
        undisturbed(|| {
            let mut group = Group { pages: [null_mut(); MOST], size: 0, leader: None };
            let mut descriptors = Descriptors([-1; MOST]);
            for (at, event) in events.iter().enumerate() {
                let descriptor = open(event, descriptors.0[0])?;
                descriptors.0[at] = descriptor;
                // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
                let page = unsafe {
                    let size = page_size();
                    libc::mmap(null_mut(), size, libc::PROT_READ, libc::MAP_SHARED, descriptor, 0)
                };
                if page == libc::MAP_FAILED {
                    return Err(match io::Error::last_os_error() {
                        cause if cause.raw_os_error() == Some(libc::EPERM) => io::Error::other(
                            "the limit on locked memory (ulimit -l) leaves no room for their pages",
                        ),
                        cause => cause,
                    });
                }
                group.pages[at] = page.cast();
                group.size += 1;
            }
            // SAFETY: the descriptor is that of an event.
            if unsafe { ioctls::ENABLE(descriptors.0[0], PERF_IOC_FLAG_GROUP) } < 0 {
                return Err(io::Error::last_os_error());
            }
            if group.read().is_none() {
                group.leader = Some(descriptors.keep_first()?);
                // A group that cannot be on the processor as a whole is in error, and has no values.
                group.read().ok_or_else(|| io::Error::from_raw_os_error(libc::EBUSY))?;
            }
            Ok(group)
        })
    }

    /// Whether values are read by calls of the system.
    pub(super) fn is_slow(&self) -> bool {
        self.leader.is_some()
    }

    /// Returns the values; those behind the last event are 0. `None` if they are not known.
    #[inline]
    pub(super) fn read(&self) -> Option<Values> {
        match self.leader {
            None => self.read_pages(),
            Some(leader) => self.ask(leader),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn read_pages(&self) -> Option<Values> {
        let mut values = Values::default();
        for (value, page) in values.iter_mut().zip(&self.pages[..self.size]) {
            // SAFETY: the page is mapped as long as this value exists, and names a counter that may be read.
            *value = unsafe { page::value(*page, |number| page::processor(number)) }?;
        }
        Some(values)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn read_pages(&self) -> Option<Values> {
        None
    }

    fn ask(&self, (descriptor, number): (i32, u64)) -> Option<Values> {
        let mut found = 0;
        // The program may have closed the descriptor, and opened a file that must not be read here.
        // SAFETY: the number is writable; other files do not know the request.
        if unsafe { ioctls::ID(descriptor, &mut found) } < 0 || found != number {
            return None;
        }
        // How many there are, and their values.
        let mut words = [0_u64; 1 + MOST];
        let bytes = 8 * (1 + self.size);
        // Not by `read`, at which a thread may be cancelled.
        // SAFETY: there is room for so many bytes.
        let read = unsafe { libc::syscall(libc::SYS_read, descriptor, words.as_mut_ptr(), bytes) };
        let [count, values @ ..] = words;
        (read == bytes as i64 && count == self.size as u64).then_some(values)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for page in &self.pages[..self.size] {
            // SAFETY: the mapping is this value's own, and has this size.
            unsafe { libc::munmap(page.cast(), page_size()) };
        }
        if let Some((descriptor, number)) = self.leader {
            let mut found = 0;
            // SAFETY: only a descriptor that still is that of the event is closed.
            undisturbed(|| unsafe {
                if ioctls::ID(descriptor, &mut found) >= 0 && found == number {
                    libc::close(descriptor);
                }
            });
        }
    }
}

/// Descriptors that are closed: the pages keep the events.
struct Descriptors([i32; MOST]);

impl Descriptors {
    /// Moves the first one above those of the program; returns it, and the kernel's number of its event.
    fn keep_first(&mut self) -> io::Result<(i32, u64)> {
        let low = self.0[0];
        let mut number = 0;
        // SAFETY: only descriptors that are made here are duplicated; the number is writable.
        unsafe {
            if ioctls::ID(low, &mut number) < 0 {
                return Err(io::Error::last_os_error());
            }
            let high = [LOWEST, 3].map(|least| libc::fcntl(low, libc::F_DUPFD_CLOEXEC, least));
            let kept = high.into_iter().find(|it| *it >= 0).ok_or_else(io::Error::last_os_error)?;
            for extra in high.into_iter().filter(|it| *it >= 0 && *it != kept) {
                libc::close(extra);
            }
            Ok((kept, number))
        }
    }
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        for descriptor in self.0.iter().filter(|it| **it >= 0) {
            // SAFETY: the descriptor is this value's own.
            unsafe { libc::close(*descriptor) };
        }
    }
}

/// Opens an event of the calling thread, in the group of a descriptor; it leads one if that is -1, and does not count yet.
fn open(event: &KernelEvent, group: i32) -> io::Result<i32> {
    let mut attributes = perf_event_attr::default();
    attributes.size = size_of::<perf_event_attr>() as u32;
    attributes.type_ = event.kind;
    attributes.config = event.config[0];
    attributes.__bindgen_anon_3.config1 = event.config[1];
    attributes.__bindgen_anon_4.config2 = event.config[2];
    attributes.read_format = PERF_FORMAT_GROUP.into();
    attributes.set_exclude_kernel(u64::from(!event.includes_kernel));
    attributes.set_exclude_hv(1);
    if group < 0 {
        attributes.set_disabled(1);
        // On the processor whenever the thread is, or in error.
        attributes.set_pinned(1);
    }
    // SAFETY: the attributes are complete, and ask for counts of this thread only.
    let descriptor = unsafe { perf_event_open(&mut attributes, 0, -1, group, PERF_FLAG_FD_CLOEXEC.into()) };
    if descriptor < 0 { Err(io::Error::last_os_error()) } else { Ok(descriptor) }
}

fn page_size() -> usize {
    // SAFETY: asks for a number of the system.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}
