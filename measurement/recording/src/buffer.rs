//! The event buffer of a location: a mapped file that outlives its process.
//!
//! The file is a [`BufferHeader`], padded to [`HEADER_BYTES`], followed by one chunk of an OTF2 event file
//! under construction. All numbers are in the machine's byte order. The chunk starts with its OTF2 chunk
//! header; the last event number in it is filled in when the chunk is written out.
//!
//! **Invariant:** the first [`BufferHeader::filled`] bytes of the chunk are complete records at any moment;
//! the position moves after the bytes of a record. The event file holds exactly [`BufferHeader::chunks`] full
//! chunks, or one more if the process died between writing a chunk and counting it; bytes behind those are to
//! be cut off.

/// Offset of the chunk in the file.
pub const HEADER_BYTES: usize = 4096;

/// The first eight bytes of the file.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"RPLBUF01");

/// The header of a buffer file.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct BufferHeader {
    /// [`MAGIC`], written last when the buffer is made.
    pub magic: u64,
    /// Size of a chunk, in bytes.
    pub chunk_size: u64,
    /// Bytes of the chunk that hold complete records, its header included.
    pub filled: u64,
    /// Number of events in the chunks before this one and in the bytes that are filled.
    pub events: u64,
    /// Number of chunks that have been appended to the event file.
    pub chunks: u64,
    /// Time of the first event of the location, in ticks of the process.
    pub first_time: u64,
    /// Time of the last event, in ticks of the process.
    pub last_time: u64,
    /// 0 while its thread lives; 1 when the thread has completed the event file itself, and the buffer is
    /// obsolete.
    pub ended: u64,
}
