//! Operations on files for rules of advice (advice 5.2, `io`): each that the program asks for, with where it begins in what the
//! process sees of the file, as far as that is known.

use io_model::InFlight;
use model::{Ticks, mpi};
use otf2::{Event, MappingType, Mappings};
use rustc_hash::FxHashMap;

use super::process::ProcessWalk;
use crate::ids::PathId;
use crate::int::to_u32;
use crate::operations::transfers::{COLLECTIVE, NON_BLOCKING, READ, WRITE};
use crate::trace::Trace;

/// An operation on a file that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileOperation {
    /// The call path of the call that began it.
    pub path: PathId,
    /// The thread that began it.
    pub thread: u32,
    /// Position of the file in the definitions.
    pub file: u32,
    /// Whether it writes.
    pub is_write: bool,
    /// Whether all ranks that have opened the file take part.
    pub is_collective: bool,
    /// From begin to end, in ticks; `None` if the call returned before that.
    pub time: Option<Ticks>,
    /// Bytes that were moved.
    pub bytes: u64,
    /// Bytes from the end of the operation before it to where it begins; `None` if that is not known, as of the first.
    pub jump: Option<u64>,
}

/// Those of a process.
#[derive(Clone, Default, Debug)]
pub(super) struct FileOperations {
    list: Vec<FileOperation>,
    /// Those that have not ended.
    open: InFlight<(u32, u64), Open>,
    /// By handle.
    places: FxHashMap<u32, Place>,
    /// By region.
    begins: FxHashMap<u32, Begins>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    operation: FileOperation,
    begin: Ticks,
    is_blocking: bool,
    requested: u64,
}

/// Where a process is in a file, in bytes of what it sees of it.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The end of its last operation.
    end: Option<u64>,
    /// The individual file pointer.
    pointer: Option<u64>,
    /// Whether its last operation has moved the pointer, and nothing else has since.
    is_at_pointer: bool,
    /// Bytes of the units of offsets, the etypes of the view; `None` if they are not known.
    etype: Option<u64>,
}

/// Beginnings of functions of the C library that get an offset.
const EXPLICIT: [&str; 4] = ["pread", "pwrite", "aio_", "lio_"];

/// Where operations begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Begins {
    Offset,
    Pointer,
    /// At the shared pointer, which others move as well.
    SharedPointer,
}

impl Begins {
    fn of_call(name: &str) -> Begins {
        let plain = mpi::plain(name);
        match plain.strip_prefix("file_") {
            Some(call) if call.contains("_shared") || call.contains("_ordered") => Begins::SharedPointer,
            Some(call) if call.contains("_at") => Begins::Offset,
            None if EXPLICIT.iter().any(|begin| name.starts_with(begin)) => Begins::Offset,
            _ => Begins::Pointer,
        }
    }
}

impl Place {
    /// Of a file that is seen in units of so many bytes.
    fn new(pointer: Option<u64>, etype: Option<u64>) -> Place {
        Place { end: None, pointer, is_at_pointer: false, etype }
    }

    /// An offset in bytes.
    fn bytes(&self, offset: u64) -> Option<u64> {
        self.etype.and_then(|etype| etype.checked_mul(offset))
    }

    /// Goes on with an operation of so many bytes; returns how far it is from the one before.
    fn go(&mut self, begins: Begins, offset: Option<u64>, bytes: u64) -> Option<u64> {
        let begin = match begins {
            Begins::Offset => offset.and_then(|offset| self.bytes(offset)),
            Begins::Pointer => self.pointer,
            Begins::SharedPointer => None,
        };
        let jump = match begins == Begins::Pointer && self.is_at_pointer {
            true => Some(0),
            false => begin.zip(self.end).map(|(begin, end)| begin.abs_diff(end)),
        };
        self.end = begin.filter(|_| bytes != u64::MAX).map(|begin| begin.saturating_add(bytes));
        if begins == Begins::Pointer {
            self.pointer = self.end;
        }
        self.is_at_pointer = begins == Begins::Pointer;
        jump
    }
}

impl FileOperations {
    /// What has ended, in the order of the ends.
    pub(super) fn finish(mut self) -> Box<[FileOperation]> {
        self.list.shrink_to_fit();
        self.list.into()
    }

    fn begins(&mut self, trace: &Trace, region: u32) -> Begins {
        *self.begins.entry(region).or_insert_with(|| Begins::of_call(trace.region_name(region)))
    }

    fn end(&mut self, handle: u32, id: u64, time: Ticks, bytes: u64) {
        let Some(Open { mut operation, begin, is_blocking, requested }) = self.open.end((handle, id)) else {
            return;
        };
        operation.bytes = if bytes == u64::MAX { requested } else { bytes };
        operation.time = is_blocking.then(|| (time - begin).max(0));
        if operation.bytes != u64::MAX {
            self.list.push(operation);
        }
    }
}

impl ProcessWalk<'_> {
    /// Takes a record of files.
    #[inline(never)]
    pub(super) fn note_file_operation(
        &mut self,
        thread: usize,
        event: &Event<'_>,
        mappings: &Mappings,
        time: Ticks,
    ) {
        let Some(operations) = &mut self.file_operations else { return };
        let trace = self.trace;
        let known = |local: u32| {
            let at = trace
                .definitions
                .file_handles
                .position(mappings.global(MappingType::IoHandle, local).into())?;
            Some((to_u32(at), to_u32(trace.definitions.file_handles.get(at)?.file?)))
        };
        match *event {
            Event::IoCreateHandle { handle, .. } => {
                if let Some((handle, _)) = known(handle) {
                    operations.places.insert(handle, Place::new(Some(0), Some(1)));
                }
            }
            Event::IoSeek { handle, offset_result, .. } => {
                if let Some((handle, _)) = known(handle) {
                    // One that was open before has no record that makes it.
                    let place = operations.places.entry(handle).or_insert(Place::new(None, Some(1)));
                    place.pointer =
                        Some(offset_result).filter(|&to| to != u64::MAX).and_then(|to| place.bytes(to));
                    place.is_at_pointer = false;
                }
            }
            Event::IoOperationBegin { handle, mode, operation_flags, bytes_request, matching_id } => {
                let Some((handle, file)) = known(handle).filter(|_| mode == READ || mode == WRITE) else {
                    return;
                };
                let stack = &self.threads[thread].stack;
                let Some(frame) = stack.last() else { return };
                let (region, path) = (frame.region, stack.path());
                let begins = operations.begins(trace, region);
                let place = operations.places.entry(handle).or_insert(Place::new(None, Some(1)));
                let operation = FileOperation {
                    path,
                    thread: to_u32(thread),
                    file,
                    is_write: mode == WRITE,
                    is_collective: operation_flags & COLLECTIVE != 0,
                    time: None,
                    bytes: 0,
                    jump: place.go(begins, self.attributes.access.offset(), bytes_request),
                };
                let is_blocking = operation_flags & NON_BLOCKING == 0;
                let open = Open { operation, begin: time, is_blocking, requested: bytes_request };
                operations.open.begin((handle, matching_id), open);
            }
            Event::IoOperationComplete { handle, bytes_result, matching_id } => {
                if let Some((handle, _)) = known(handle) {
                    operations.end(handle, matching_id, time, bytes_result);
                }
            }
            _ => {}
        }
    }

    /// A view of a file is set: from now on the process sees something else of it.
    pub(super) fn note_view(&mut self, reference: u32) {
        let Some(at) = self.trace.definitions.file_handles.position(reference.into()) else { return };
        let place = Place::new(Some(0), self.attributes.access.etype());
        if let Some(operations) = &mut self.file_operations {
            operations.places.insert(to_u32(at), place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_begin_where_their_names_say() {
        let of = Begins::of_call;
        assert_eq!(of("MPI_File_write_at_all"), Begins::Offset);
        assert_eq!(of("MPI_File_iread_at"), Begins::Offset);
        assert_eq!(of("MPI_File_read_all"), Begins::Pointer);
        assert_eq!(of("MPI_File_write_ordered_begin"), Begins::SharedPointer);
        assert_eq!(of("pwrite64"), Begins::Offset);
        assert_eq!(of("aio_read64"), Begins::Offset);
        assert_eq!(of("write"), Begins::Pointer);
    }

    #[test]
    fn operations_that_follow_each_other_have_no_jump_between_them() {
        let mut place = Place::new(Some(0), Some(1));
        assert_eq!(place.go(Begins::Pointer, None, 8), None);
        assert_eq!(place.go(Begins::Pointer, None, 8), Some(0));
        assert_eq!(place.go(Begins::Offset, Some(16), 8), Some(0));
        assert_eq!(place.go(Begins::Offset, Some(100), 8), Some(76));
        assert_eq!(place.go(Begins::Offset, Some(8), 8), Some(100));
        // The pointer was not moved by those with offsets.
        assert_eq!(place.go(Begins::Pointer, None, 8), Some(0));
    }

    #[test]
    fn operations_at_the_pointer_follow_each_other_wherever_it_is() {
        let mut place = Place::new(None, Some(1));
        assert_eq!(place.go(Begins::Pointer, None, 8), None);
        assert_eq!(place.go(Begins::Pointer, None, 8), Some(0));
        assert_eq!(place.go(Begins::Offset, Some(0), 8), None);
        assert_eq!(place.go(Begins::Pointer, None, 8), None);
    }

    #[test]
    fn jumps_are_unknown_at_the_shared_pointer_and_at_offsets_in_unknown_units() {
        let mut place = Place::new(Some(0), Some(1));
        place.go(Begins::Pointer, None, 8);
        assert_eq!(place.go(Begins::SharedPointer, None, 8), None);
        assert_eq!(place.go(Begins::Offset, Some(8), 8), None, "nothing is known of the end before");
        let mut place = Place::new(Some(0), None);
        place.go(Begins::Pointer, None, 8);
        assert_eq!(place.go(Begins::Offset, Some(1), 8), None);
    }

    #[test]
    fn offsets_are_in_etypes_of_the_view() {
        let mut place = Place::new(Some(0), Some(8));
        place.go(Begins::Pointer, None, 24);
        assert_eq!(place.go(Begins::Offset, Some(3), 8), Some(0));
        assert_eq!(place.go(Begins::Offset, Some(u64::MAX), 8), None);
    }
}
