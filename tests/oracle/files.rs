//! Collective operations on files (rest of MPI 9). They last as long as their calls.

use std::collections::BTreeMap;

use model::CollectiveOp;

use super::EventRef;
use super::events::{OfFile, Told};
use super::needs::Class;
use super::operations::{ProcessReader, Series};

/// OTF2's mode of an operation that flushes.
const FLUSH: u8 = 2;

/// Beyond the modes of OTF2: that of an operation in two calls.
const SPLIT: u8 = 4;

/// Operations of a process that are not complete, by file and number; several may have one number, the latest is last.
#[derive(Default)]
pub(super) struct OpenTransfers(BTreeMap<(usize, u64), Vec<Transfer>>);

/// The begin of an operation.
struct Transfer {
    mode: u8,
    is_collective: bool,
    /// The begin, if the call does not block.
    begun: Option<EventRef>,
}

impl OpenTransfers {
    /// Number of operations that do not block and never complete.
    pub(super) fn started(&self) -> usize {
        self.0.values().flatten().filter(|transfer| transfer.begun.is_some()).count()
    }
}

impl ProcessReader<'_> {
    pub(super) fn of_file(&mut self, at: EventRef, file: usize, what: OfFile) {
        match what {
            OfFile::Handled(operation) => self.together(at, file, (Class::FileHandling, operation.0)),
            OfFile::Begin { id, mode, is_collective, is_blocking } => {
                let transfer = Transfer { mode, is_collective, begun: (!is_blocking).then_some(at) };
                self.transfers.0.entry((file, id)).or_default().push(transfer);
                if is_collective && !is_blocking {
                    self.requested.push(at.order);
                    let name = self.name(at);
                    if name.starts_with("file_") && name.ends_with("_begin") {
                        self.together(at, file, (Class::FileTransfer, SPLIT | mode));
                    }
                }
            }
            OfFile::Complete(id) => match self.transfers.0.get_mut(&(file, id)).and_then(Vec::pop) {
                Some(Transfer { is_collective: false, .. }) | None => self.all.completions.push(at),
                Some(Transfer { mode: FLUSH, begun: None, .. }) => {
                    self.together(at, file, (Class::FileHandling, FLUSH));
                }
                Some(Transfer { mode, begun: None, .. }) => {
                    self.together(at, file, (Class::FileTransfer, mode));
                }
                Some(Transfer { mode, begun: Some(begun), .. }) => {
                    self.all.completions.push(at);
                    let begun = EventRef { time: self.entered(begun).time, ..begun };
                    let told = Told::without_data(CollectiveOp(mode), file);
                    let series = (Series::NonBlocking, Some(Class::FileTransfer));
                    self.part(series, told, begun, self.until_left(at));
                }
            },
        }
    }

    /// A part in an operation that blocks.
    fn together(&mut self, at: EventRef, file: usize, (class, operation): (Class, u8)) {
        let series = if class == Class::FileHandling { Series::Handles } else { Series::Data };
        let told = Told::without_data(CollectiveOp(operation), file);
        self.part((series, Some(class)), told, self.entered(at), self.until_left(at));
    }

    /// The event, with the time at which its call is left.
    fn until_left(&self, at: EventRef) -> EventRef {
        EventRef { time: self.locations[at.location].calls[at.call].leave, ..at }
    }
}
