//! Calls for a file that all ranks open, as their events (io 2.2, 2.3). Records have the times of the start or the end of
//! their call, as those of the recorder; what OTF2 has no record for is told by attributes.

use model::attributes;
use otf2::{Attributes, Event, ValueType};

use crate::location::Location;
use crate::mpi::BETWEEN;
use crate::regions::{FILE_CLOSE, FILE_OPEN, FILE_READ_AT, FILE_SET_VIEW, FILE_WRITE_ALL, FILE_WRITE_AT};
use crate::told::Told;

/// The file, and its handle.
pub(crate) const FILE: u32 = 0;
pub(crate) const FILE_HANDLE: u32 = 0;

/// The string with the filetype of the first view; that of the other one follows.
pub(crate) const FILETYPES: u32 = 2;

/// Values of OTF2's `IoAccessMode` and `IoCreationFlag` for a file that is created to be read and written.
const READ_WRITE: u8 = 2;
const CREATE: u32 = 1;
/// The same as bits of `MPI_File_open`, in all libraries.
const MODE_CREATE_READ_WRITE: u64 = 1 | 8;

/// Values of OTF2's `IoOperationMode`.
const READ: u8 = 0;
const WRITE: u8 = 1;

/// Bit of OTF2's `IoOperationFlag`.
const COLLECTIVE: u32 = 2;

const OFFSET: Told = Told::new(0, "Offset", ValueType::UINT64);
const ACCESS_MODE: Told = Told::new(1, "AccessMode", ValueType::UINT32);
const HANDLE: Told = Told::new(2, attributes::HANDLE, ValueType::IO_HANDLE);
const VIEW: Told = Told::new(3, "View", ValueType::UINT64);
const VIEW_ETYPE: Told = Told::new(4, "ViewEtype", ValueType::UINT64);
const VIEW_SIZE: Told = Told::new(5, "ViewSize", ValueType::UINT64);
const VIEW_EXTENT: Told = Told::new(6, "ViewExtent", ValueType::UINT64);
const VIEW_PIECES: Told = Told::new(7, "ViewPieces", ValueType::UINT64);
const VIEW_TYPE: Told = Told::new(8, "ViewType", ValueType::STRING);

/// All of them, with the names that the recorder gives them.
pub(crate) const ATTRIBUTES: [Told; 9] =
    [OFFSET, ACCESS_MODE, HANDLE, VIEW, VIEW_ETYPE, VIEW_SIZE, VIEW_EXTENT, VIEW_PIECES, VIEW_TYPE];

/// What a rank sees of the file: pieces of equal size at equal distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// Where the first piece begins in the file, in bytes.
    pub(crate) displacement: u64,
    /// Bytes of the etype.
    pub(crate) etype: u64,
    /// Bytes of a piece.
    pub(crate) piece: u64,
    /// Bytes from the begin of a piece to that of the next one.
    pub(crate) extent: u64,
}

impl View {
    /// The filetype as text (io 2.4).
    pub(crate) fn filetype(&self) -> String {
        let View { piece, extent, .. } = self;
        if piece == extent { format!("b{piece}") } else { format!("r(0,{extent},b{piece})") }
    }
}

/// A call that reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transfer {
    /// Alone, at an offset in etypes.
    WriteAt(u64),
    /// Likewise.
    ReadAt(u64),
    /// With all others, at the pointer.
    WriteAll,
}

impl Location<'_> {
    /// Opens the file, in a call that returns at a time.
    #[track_caller]
    pub(crate) fn open_file(&mut self, time: u64) -> Result<(), otf2::Error> {
        self.enter(BETWEEN, FILE_OPEN)?;
        let (mode, creation_flags) = (READ_WRITE, CREATE);
        let create = Event::IoCreateHandle { handle: FILE_HANDLE, mode, creation_flags, status_flags: 0 };
        let told = [ACCESS_MODE.with(MODE_CREATE_READ_WRITE)];
        self.event_with(time, create, Attributes::from(&told[..]))?;
        self.event(time, Event::Leave { region: FILE_OPEN })
    }

    /// Closes it, likewise.
    #[track_caller]
    pub(crate) fn close_file(&mut self, time: u64) -> Result<(), otf2::Error> {
        self.enter(BETWEEN, FILE_CLOSE)?;
        self.event(time, Event::IoDestroyHandle { handle: FILE_HANDLE })?;
        self.event(time, Event::Leave { region: FILE_CLOSE })
    }

    /// Sets one of the two views of the file, likewise.
    #[track_caller]
    pub(crate) fn set_view(&mut self, time: u64, number: u32, view: View) -> Result<(), otf2::Error> {
        self.enter(BETWEEN, FILE_SET_VIEW)?;
        let told = [
            HANDLE.with(FILE_HANDLE.into()),
            VIEW.with(view.displacement),
            VIEW_ETYPE.with(view.etype),
            VIEW_SIZE.with(view.piece),
            VIEW_EXTENT.with(view.extent),
            VIEW_PIECES.with(1),
            VIEW_TYPE.with((FILETYPES + number).into()),
        ];
        self.event_with(time, Event::Leave { region: FILE_SET_VIEW }, Attributes::from(&told[..]))
    }

    /// Reads or writes so many bytes of the file, likewise; transfers of a rank have different numbers.
    #[track_caller]
    pub(crate) fn transfer(
        &mut self,
        time: u64,
        transfer: Transfer,
        bytes: u64,
        matching_id: u64,
    ) -> Result<(), otf2::Error> {
        let (region, mode, operation_flags, offset) = match transfer {
            Transfer::WriteAt(offset) => (FILE_WRITE_AT, WRITE, 0, Some(offset)),
            Transfer::ReadAt(offset) => (FILE_READ_AT, READ, 0, Some(offset)),
            Transfer::WriteAll => (FILE_WRITE_ALL, WRITE, COLLECTIVE, None),
        };
        let handle = FILE_HANDLE;
        self.enter(BETWEEN, region)?;
        let begin =
            Event::IoOperationBegin { handle, mode, operation_flags, bytes_request: bytes, matching_id };
        let told = offset.map(|offset| OFFSET.with(offset));
        self.event_with(self.now(), begin, Attributes::from(told.as_slice()))?;
        self.event(time, Event::IoOperationComplete { handle, bytes_result: bytes, matching_id })?;
        self.event(time, Event::Leave { region })
    }
}
