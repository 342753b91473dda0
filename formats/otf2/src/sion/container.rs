//! A container: its two blocks of metadata, and the chunks of its tasks (`FORMAT.md`, "Containers").
//!
//! Nothing that a container says is used before it is checked against the size of the file. Offsets of errors
//! are those in the container.

use super::to_usize;
use crate::Error;
use crate::bytes::{ByteOrder, Bytes};
use files::FilePieces;
use std::ops::Range;

const MAGIC: &[u8] = b"sion";
/// The format of containers that OTF2 has used since it names locations by keys.
const FORMAT: u32 = 5;
/// Locations are named by a key in front of each piece of them.
const INLINE_KEYS: u64 = 51;

/// Offset of the byte that is odd if numbers are big-endian.
const ORDER: usize = 4;
const VERSION: u64 = 16;
const BLOCK_SIZE: u64 = 20;
const TASKS: u64 = 24;
const FLAGS: u64 = 36;
/// Length of the part that is read: what follows up to `RANKS` are other flags and a name.
const START: usize = 44;
/// Offset of the ranks of the tasks; the sizes of their chunks follow, then two numbers.
const RANKS: u64 = 1076;
/// Length of the numbers behind both lists: the most chunks of a task, and the offset of the second block.
const LAST: usize = 12;

/// A container of which the first block of metadata is known.
#[derive(Debug)]
pub(super) struct Container {
    file: FilePieces,
    order: ByteOrder,
    /// Chunks begin at a multiple of this many bytes.
    block_size: u64,
    tasks: u64,
    /// The most chunks that a task has.
    most: u64,
    /// Offset of the second block of metadata, where the last chunks end.
    second: u64,
}

impl Container {
    /// Reads and checks the first block of metadata.
    ///
    /// # Errors
    /// If it cannot be read, is corrupt or incomplete, or has another format.
    pub(super) fn open(file: FilePieces) -> Result<Self, Error> {
        let path = file.path();
        let mut start = [0; START];
        if file.size() < RANKS + LAST as u64 {
            return Err(Error::truncated(path, file.size(), "the first block of a SION container"));
        }
        file.read(0, &mut start)?;
        if !start.starts_with(MAGIC) {
            let found: Vec<String> = start.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            let message =
                format!("no SION container: it begins with {}, expected 73 69 6f 6e", found.join(" "));
            return Err(Error::damaged(path, 0, message));
        }
        let order = match start.get(ORDER) {
            Some(mark) if mark & 1 == 1 => ByteOrder::Big,
            _ => ByteOrder::Little,
        };
        let number = |offset: u64| Bytes::new(&start, to_usize(offset), START, order).u32().unwrap_or(0);
        let version = number(VERSION);
        if version != FORMAT {
            let message = format!(
                "format {version} of SION containers, expected {FORMAT}: record the archive again with plain files"
            );
            return Err(Error::at(path, VERSION, message));
        }
        let keys = Bytes::new(&start, to_usize(FLAGS), START, order).u64().unwrap_or(0) >> 32;
        if keys != INLINE_KEYS {
            let message = format!(
                "keys of kind {keys} in a SION container, expected {INLINE_KEYS} (inline): record the archive again \
                 with plain files"
            );
            return Err(Error::at(path, FLAGS, message));
        }
        let (block_size, tasks) = (u64::from(number(BLOCK_SIZE)), u64::from(number(TASKS)));
        if block_size == 0 {
            return Err(Error::damaged(path, BLOCK_SIZE, "blocks of 0 bytes"));
        }
        // Below 2³² times 16 and a little.
        let last = RANKS + 16 * tasks;
        if tasks == 0 || last + LAST as u64 > file.size() {
            let message = format!("{tasks} tasks, which a file of {} bytes cannot have", file.size());
            return Err(Error::damaged(path, TASKS, message));
        }
        let mut end = [0; LAST];
        file.read(last, &mut end)?;
        let mut end = Bytes::new(&end, 0, LAST, order);
        let (most, second) = (u64::from(end.u32().unwrap_or(0)), end.u64().unwrap_or(0));
        if second == 0 {
            // Both numbers are written when the container is closed.
            return Err(Error::truncated(path, last, "a SION container"));
        }
        let lists = tasks.checked_mul(8 * (1 + most)).and_then(|bytes| bytes.checked_add(second));
        if lists.is_none_or(|end| end > file.size()) {
            let message = format!(
                "{most} chunks at most, listed from byte {second:#x} on, which a file of {} bytes cannot have",
                file.size()
            );
            return Err(Error::damaged(path, last, message));
        }
        Ok(Container { order, block_size, tasks, most, second, file })
    }

    /// The parts of the file with the bytes of a task, in their order; none is empty.
    ///
    /// # Errors
    /// If there is no such task or it has another rank, or what is said of its chunks cannot be.
    pub(super) fn chunks(&self, task: u32, rank: u32) -> Result<Vec<Range<u64>>, Error> {
        let path = self.file.path();
        let task = u64::from(task);
        if task >= self.tasks {
            let message = format!("{} tasks, and the map of locations names task {task}", self.tasks);
            return Err(Error::damaged(path, TASKS, message));
        }
        let found = self.number(RANKS + 8 * task)?;
        if found != u64::from(rank) {
            let message = format!("rank {found}, and the map of locations names rank {rank}");
            return Err(Error::damaged(path, RANKS + 8 * task, message));
        }
        let space = self.space(task)?;
        let counted = self.second + 8 * task;
        let count = self.number(counted)?;
        if count > self.most {
            return Err(Error::damaged(path, counted, format!("{count} chunks, of {} at most", self.most)));
        }
        let mut chunks = Vec::new();
        for chunk in 0..count {
            let listed = counted + 8 * self.tasks * (1 + chunk);
            let bytes = self.number(listed)?;
            // A writer goes on in the next chunk when one is full.
            if bytes > space.bytes || bytes == 0 && chunk + 1 < count {
                let message = format!("{bytes} bytes in a chunk of {}", space.bytes);
                return Err(Error::damaged(path, listed, message));
            }
            let begin = chunk.checked_mul(space.step).and_then(|skipped| skipped.checked_add(space.first));
            let end = begin.and_then(|begin| begin.checked_add(bytes));
            match begin.zip(end) {
                Some((begin, end)) if end <= self.second => {
                    if bytes > 0 {
                        chunks.push(begin..end);
                    }
                }
                _ => {
                    let message = format!(
                        "a chunk of {bytes} bytes, which is not before the second block of metadata, byte {:#x}",
                        self.second
                    );
                    return Err(Error::damaged(path, listed, message));
                }
            }
        }
        Ok(chunks)
    }

    /// The space that a task has in each block of chunks.
    fn space(&self, task: u64) -> Result<Space, Error> {
        const AT_ONCE: usize = 8 << 10;
        let path = self.file.path();
        let sizes = RANKS + 8 * self.tasks;
        let impossible = |at, bytes| Error::damaged(path, at, format!("chunks of {bytes} bytes"));
        // The first block of metadata is as long as this, and blocks of chunks begin behind it.
        let begin = (sizes + 8 * self.tasks + LAST as u64).next_multiple_of(self.block_size);
        let (mut sum, mut own) = (0_u64, Space { first: 0, bytes: 0, step: 0 });
        let mut buffer = [0; AT_ONCE];
        for from in (0..self.tasks).step_by(AT_ONCE / 8) {
            let count = (self.tasks - from).min(AT_ONCE as u64 / 8);
            let piece = buffer.get_mut(..to_usize(8 * count)).unwrap_or_default();
            self.file.read(sizes + 8 * from, piece)?;
            let mut numbers = Bytes::new(piece, 0, piece.len(), self.order);
            for at in from..from + count {
                let bytes = numbers.u64().unwrap_or(0);
                if at == task {
                    own = Space { first: begin + sum, bytes, step: 0 };
                }
                // Each is at least a block of the file system.
                sum = match sum.checked_add(bytes).filter(|&sum| bytes > 0 && sum <= i64::MAX as u64) {
                    Some(sum) => sum,
                    None => return Err(impossible(sizes + 8 * at, bytes)),
                };
            }
        }
        Ok(Space { step: sum, ..own })
    }

    /// Reads a number of 64 bits.
    fn number(&self, offset: u64) -> Result<u64, Error> {
        let mut bytes = [0; 8];
        self.file.read(offset, &mut bytes)?;
        Ok(Bytes::new(&bytes, 0, 8, self.order).u64().unwrap_or(0))
    }

    /// The file of the container.
    pub(super) fn file(&self) -> &FilePieces {
        &self.file
    }

    pub(super) fn into_file(self) -> FilePieces {
        self.file
    }

    /// The order of the bytes of its numbers; what locations have written has its own.
    pub(super) fn order(&self) -> ByteOrder {
        self.order
    }
}

/// The chunks of a task: all of one size, as far from each other.
struct Space {
    /// Offset of the first.
    first: u64,
    /// Bytes of each.
    bytes: u64,
    /// From the begin of one to that of the next: the chunks of all tasks.
    step: u64,
}
