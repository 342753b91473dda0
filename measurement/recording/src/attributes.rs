//! OTF2 attributes of events, for what the records have no field for. They have the same numbers in event
//! files and in the archive.

use model::attributes;

/// The definition of an attribute; its number is its position in [`ATTRIBUTES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// Its name, Score-P's where it has one.
    pub name: &'static str,
    /// The meaning of its value.
    pub description: &'static str,
    /// OTF2's number of the type of its value (`OTF2_Type`), one of those below.
    pub kind: u8,
}

/// OTF2's type of unsigned integers of 32 bits.
pub const UINT32: u8 = 3;
/// OTF2's type of unsigned integers of 64 bits.
pub const UINT64: u8 = 4;
/// OTF2's type of references to strings.
pub const STRING: u8 = 11;
/// OTF2's type of references to groups.
pub const GROUP: u8 = 15;
/// OTF2's type of references to communicators.
pub const COMM: u8 = 17;
/// OTF2's type of references to files.
pub const IO_FILE: u8 = 23;
/// OTF2's type of references to handles of files.
pub const IO_HANDLE: u8 = 24;

/// Number of the attribute with the offset of a transfer in a file.
pub const OFFSET: u32 = 0;
/// Number of the attribute with the number of the process on its host.
pub const PROCESS_ID: u32 = 1;
/// Number of the attribute with the number of the thread on its host.
pub const THREAD_ID: u32 = 2;
/// Number of the attribute with the access mode of a file.
pub const ACCESS_MODE: u32 = 3;
/// Number of the attribute with the displacement of a file's view.
pub const VIEW: u32 = 4;
/// Number of the attribute [`UNRECORDED`](attributes::UNRECORDED).
pub const UNRECORDED: u32 = 5;
/// Number of the attribute [`POSTED`](attributes::POSTED).
pub const POSTED: u32 = 6;
/// Number of the attribute [`DISORDERED`](attributes::DISORDERED).
pub const DISORDERED: u32 = 7;
/// Number of the attribute [`COUNTED`](attributes::COUNTED).
pub const COUNTED: u32 = 8;
/// Number of the attribute [`PROBE_SOURCE`](attributes::PROBE_SOURCE).
pub const PROBE_SOURCE: u32 = 9;
/// Number of the attribute [`PROBE_TAG`](attributes::PROBE_TAG).
pub const PROBE_TAG: u32 = 10;
/// Number of the attribute [`PROBE_COMM`](attributes::PROBE_COMM).
pub const PROBE_COMM: u32 = 11;
/// Number of the attribute [`NEIGHBORS_IN`](attributes::NEIGHBORS_IN).
pub const NEIGHBORS_IN: u32 = 12;
/// Number of the attribute [`NEIGHBORS_OUT`](attributes::NEIGHBORS_OUT).
pub const NEIGHBORS_OUT: u32 = 13;
/// Number of the attribute [`PERSISTENT_OPERATION`](attributes::PERSISTENT_OPERATION).
pub const PERSISTENT_OPERATION: u32 = 14;
/// Number of the attribute [`HANDLE`](attributes::HANDLE).
pub const HANDLE: u32 = 15;
/// Number of the attribute [`ASSERTION`](attributes::ASSERTION).
pub const ASSERTION: u32 = 16;

/// Number of the attribute [`PARTITIONED`](attributes::PARTITIONED).
pub const PARTITIONED: u32 = 17;

/// Number of the attribute with the size of the etype of a file's view.
pub const VIEW_ETYPE: u32 = 18;
/// Number of the attribute with the size of the filetype of a file's view.
pub const VIEW_SIZE: u32 = 19;
/// Number of the attribute with the extent of the filetype of a file's view.
pub const VIEW_EXTENT: u32 = 20;
/// Number of the attribute with the number of contiguous pieces of the filetype of a file's view.
pub const VIEW_PIECES: u32 = 21;
/// Number of the attribute with the filetype of a file's view as text.
pub const VIEW_TYPE: u32 = 22;
/// Number of the attribute with the hints of a file.
pub const HINTS: u32 = 23;
/// Number of the attribute with the size of a file.
pub const FILE_SIZE: u32 = 24;
/// Number of the attribute with the calls of functions of ISO C that an operation stands for.
pub const CALLS: u32 = 25;
/// Number of the attribute [`FILE`](attributes::FILE).
pub const FILE: u32 = 26;

/// All attributes, by number.
pub const ATTRIBUTES: &[Attribute] = &[
    Attribute { name: "Offset", description: "Absolute read/write offset within a file.", kind: UINT64 },
    Attribute { name: "ProcessId", description: "Process identifier", kind: UINT64 },
    Attribute { name: "ThreadId", description: "Thread identifier", kind: UINT64 },
    Attribute {
        name: "AccessMode",
        description: "Access mode of MPI_File_open, the library's bits",
        kind: UINT32,
    },
    Attribute { name: "View", description: "Displacement of the view of a file, in bytes", kind: UINT64 },
    Attribute {
        name: attributes::UNRECORDED,
        description: "Messages of this channel, or operations of this communicator, that are missing before this one",
        kind: UINT64,
    },
    Attribute {
        name: attributes::POSTED,
        description: "When the receive was posted, if that is missing, in ticks of the process",
        kind: UINT64,
    },
    Attribute {
        name: attributes::DISORDERED,
        description: "1 if it is unknown how many messages of this channel are missing before others",
        kind: UINT64,
    },
    Attribute { name: attributes::COUNTED, description: "1 if what is missing is counted", kind: UINT64 },
    Attribute {
        name: attributes::PROBE_SOURCE,
        description: "Rank of the sender of the message that a probe has found",
        kind: UINT32,
    },
    Attribute {
        name: attributes::PROBE_TAG,
        description: "Tag of the message that a probe has found",
        kind: UINT32,
    },
    Attribute {
        name: attributes::PROBE_COMM,
        description: "Communicator of the message that a probe has found",
        kind: COMM,
    },
    Attribute {
        name: attributes::NEIGHBORS_IN,
        description: "Neighbours that the process receives from",
        kind: GROUP,
    },
    Attribute {
        name: attributes::NEIGHBORS_OUT,
        description: "Neighbours that the process sends to",
        kind: GROUP,
    },
    Attribute {
        name: attributes::PERSISTENT_OPERATION,
        description: "Number of a persistent operation among those initialized on its communicator",
        kind: UINT64,
    },
    Attribute {
        name: attributes::HANDLE,
        description: "Handle of the file of a call that has no record of its own",
        kind: IO_HANDLE,
    },
    Attribute {
        name: attributes::ASSERTION,
        description: "Assertion about an epoch, the library's bits",
        kind: UINT32,
    },
    Attribute {
        name: attributes::PARTITIONED,
        description: "Number of the requests of a partitioned message among those of its channel",
        kind: UINT32,
    },
    Attribute { name: "ViewEtype", description: "Bytes of the etype of the view of a file", kind: UINT64 },
    Attribute { name: "ViewSize", description: "Bytes of the filetype of the view of a file", kind: UINT64 },
    Attribute {
        name: "ViewExtent",
        description: "Extent of the filetype of the view of a file, in bytes",
        kind: UINT64,
    },
    Attribute {
        name: "ViewPieces",
        description: "Contiguous pieces of the filetype of the view of a file",
        kind: UINT64,
    },
    Attribute { name: "ViewType", description: "The filetype of the view of a file", kind: STRING },
    Attribute { name: "Hints", description: "Hints of a file that are in use: key=value;...", kind: STRING },
    Attribute { name: "FileSize", description: "Size of a file at that time, in bytes", kind: UINT64 },
    Attribute { name: "Calls", description: "Calls that an operation of ISO C stands for", kind: UINT64 },
    Attribute {
        name: attributes::FILE,
        description: "File of a call that names it by its path",
        kind: IO_FILE,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_positions() {
        let named = |number: u32| ATTRIBUTES[number as usize].name;
        assert_eq!(
            [OFFSET, PROCESS_ID, THREAD_ID, ACCESS_MODE, VIEW].map(named),
            ["Offset", "ProcessId", "ThreadId", "AccessMode", "View"]
        );
        assert_eq!(
            [UNRECORDED, POSTED, DISORDERED, COUNTED].map(named),
            [attributes::UNRECORDED, attributes::POSTED, attributes::DISORDERED, attributes::COUNTED]
        );
        assert_eq!(
            [PROBE_SOURCE, PROBE_TAG, PROBE_COMM].map(named),
            [attributes::PROBE_SOURCE, attributes::PROBE_TAG, attributes::PROBE_COMM]
        );
        assert_eq!(
            [NEIGHBORS_IN, NEIGHBORS_OUT, PERSISTENT_OPERATION].map(named),
            [attributes::NEIGHBORS_IN, attributes::NEIGHBORS_OUT, attributes::PERSISTENT_OPERATION]
        );
        assert_eq!(
            [HANDLE, ASSERTION, PARTITIONED].map(named),
            [attributes::HANDLE, attributes::ASSERTION, attributes::PARTITIONED]
        );
        assert_eq!(
            [VIEW_ETYPE, VIEW_SIZE, VIEW_EXTENT, VIEW_PIECES, VIEW_TYPE, HINTS, FILE_SIZE, CALLS].map(named),
            ["ViewEtype", "ViewSize", "ViewExtent", "ViewPieces", "ViewType", "Hints", "FileSize", "Calls"]
        );
        assert_eq!(named(FILE), attributes::FILE);
    }
}
