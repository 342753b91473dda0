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
    /// OTF2's number of the type of its value (`OTF2_Type`): 3 for 32 bits, 4 for 64 bits, both unsigned.
    pub kind: u8,
}

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

/// All attributes, by number.
pub const ATTRIBUTES: &[Attribute] = &[
    Attribute { name: "Offset", description: "Absolute read/write offset within a file.", kind: 4 },
    Attribute { name: "ProcessId", description: "Process identifier", kind: 4 },
    Attribute { name: "ThreadId", description: "Thread identifier", kind: 4 },
    Attribute {
        name: "AccessMode",
        description: "Access mode of MPI_File_open, the library's bits",
        kind: 3,
    },
    Attribute { name: "View", description: "Displacement of the view of a file, in bytes", kind: 4 },
    Attribute {
        name: attributes::UNRECORDED,
        description: "Messages of this channel, or operations of this communicator, that are missing before this one",
        kind: 4,
    },
    Attribute {
        name: attributes::POSTED,
        description: "When the receive was posted, if that is missing, in ticks of the process",
        kind: 4,
    },
    Attribute {
        name: attributes::DISORDERED,
        description: "1 if it is unknown how many messages of this channel are missing before others",
        kind: 4,
    },
    Attribute { name: attributes::COUNTED, description: "1 if what is missing is counted", kind: 4 },
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
    }
}
