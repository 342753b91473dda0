//! Support of the fuzz targets: a directory for files, a reader of the input, files of chunks around it, peak
//! memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use otf2::ByteOrder;

/// A directory for the files of this process; `tools/fuzz.sh` puts it into memory and removes it.
pub fn scratch() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let directory = std::env::temp_dir().join(format!("replay-fuzz-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("the directory for temporary files is writable");
        directory
    })
}

/// Reader of the input, front to back; behind its end there are zeros.
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// The next two bytes as a number.
    pub fn number(&mut self) -> usize {
        usize::from(self.byte()) | usize::from(self.byte()) << 8
    }

    /// One of several items, `None` if there are none.
    pub fn choice<'t, T>(&mut self, things: &'t [T]) -> Option<&'t T> {
        let choice = usize::from(self.byte());
        things.get(choice % things.len().max(1))
    }

    /// The next bytes, at most `count`.
    pub fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        bytes
    }
}

/// A file of intact chunks with the fuzzer's records in them.
pub struct Chunked {
    /// The file.
    pub bytes: Vec<u8>,
    /// Chunk size, as the anchor would have it.
    pub chunk_size: u64,
    /// Byte order of the first chunk.
    pub order: ByteOrder,
}

impl Chunked {
    /// Makes a file of the input. The first byte chooses: bits 0 and 1 the chunk size, 2 the byte order, 3
    /// whether it changes from chunk to chunk, 4 whether end marks follow. The rest are records. Chunks are
    /// smaller than the format allows, so that short inputs have several.
    pub fn new(input: &[u8]) -> Chunked {
        let mut input = Input(input);
        let choice = input.byte();
        let chunk_size = [48, 200, 2048, 256 << 10][usize::from(choice & 3)];
        let is_big = choice & 4 != 0;
        let mut records = input.0.to_vec();
        if choice & 16 != 0 {
            records.extend([2, 1]);
        }
        let mut bytes = Vec::new();
        let mut mark = if is_big { 0x23 } else { 0x42 };
        let mut pieces = records.chunks(chunk_size - 18);
        let first = pieces.next().unwrap_or_default();
        for piece in [first].into_iter().chain(pieces) {
            bytes.extend([3, mark]);
            bytes.extend([0; 16]);
            bytes.extend_from_slice(piece);
            if choice & 8 != 0 {
                mark ^= 0x42 ^ 0x23;
            }
        }
        let order = if is_big { ByteOrder::Big } else { ByteOrder::Little };
        Chunked { bytes, chunk_size: chunk_size as u64, order }
    }
}

/// Checks a message for a user: not empty, on one line, and no control characters from the file.
pub fn check_message(error: &dyn Display) {
    let message = error.to_string();
    assert!(!message.trim().is_empty(), "an empty message");
    assert!(!message.contains(char::is_control), "not one line of text: {message:?}");
}

/// Checks the guarantees of a reader's error: a message, and an offset within the file if it has one.
pub fn check_error(error: &otf2::Error, file: &[u8]) {
    check_message(error);
    assert!(error.offset().is_none_or(|offset| offset <= file.len() as u64), "{error}");
}

/// All records of a definition file up to its end or an error, and whether the end was reached; checks the
/// guarantees of the cursor.
pub fn definitions<'a>(
    mut cursor: otf2::DefinitionCursor<'a>,
    file: &'a [u8],
) -> (Vec<otf2::Definition<'a>>, bool) {
    use otf2::{Definition, IdMap};
    let mut found = Vec::new();
    let mut last = None;
    loop {
        match cursor.next() {
            Ok(Some(record)) => {
                assert!(record.offset < file.len() as u64 && last < Some(record.offset), "offsets increase");
                last = Some(record.offset);
                let (counted, announced) = match record.definition {
                    Definition::IoParadigm { properties, .. } => {
                        (properties.iter().count(), properties.len())
                    }
                    Definition::Group { members, .. } => (members.iter().count(), members.len()),
                    Definition::MetricClass { metric_members, .. } => {
                        (metric_members.iter().count(), metric_members.len())
                    }
                    Definition::CartTopology { cart_dimensions, .. } => {
                        (cart_dimensions.iter().count(), cart_dimensions.len())
                    }
                    Definition::CartCoordinate { coordinates, .. } => {
                        (coordinates.iter().count(), coordinates.len())
                    }
                    Definition::MappingTable { id_map: IdMap::Dense(globals), .. } => {
                        (globals.iter().count(), globals.len())
                    }
                    Definition::MappingTable { id_map: IdMap::Sparse(pairs), .. } => {
                        (pairs.iter().count(), pairs.len())
                    }
                    _ => (0, 0),
                };
                assert_eq!(counted, announced, "a list has as many elements as it says");
                found.push(record.definition);
            }
            Ok(None) => return (found, true),
            Err(error) => {
                check_error(&error, file);
                for _ in 0..2 {
                    assert!(matches!(cursor.next(), Ok(None)), "finished after an error");
                }
                return (found, false);
            }
        }
    }
}

/// Checks that two lists of records are equal: as text, since a float in them may be NaN.
pub fn check_same<T: PartialEq + std::fmt::Debug>(left: &[T], right: &[T]) {
    if left != right {
        assert_eq!(format!("{left:?}"), format!("{right:?}"));
    }
}

/// Limit of a single allocation. libFuzzer's own limit needs a sanitizer.
const LARGEST: usize = 512 << 20;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: forwards to the system's allocator; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST {
            std::process::abort();
        }
        PEAK.fetch_max(USED.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: the caller upholds the contract of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Runs `work`; returns its result and its peak memory in bytes.
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = USED.load(Relaxed);
    PEAK.store(before, Relaxed);
    let answer = work();
    (answer, PEAK.load(Relaxed).saturating_sub(before))
}
