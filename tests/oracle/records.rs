//! Records of communication (specification 2.1, rest of MPI 3.2).

use model::{CollectiveOp, attributes};
use otf2::{Attribute, Event, ROOT_NONE};
use replay::Semantics;

use super::events::{AtWindow, Envelope, EventKind, OfFile, Told};
use super::read::Reader;

/// OTF2's rank for all members of a window, its type of an exclusive lock, and its flags of operations on files.
const ALL: u32 = u32::MAX;
const EXCLUSIVE: u8 = 0;
const NON_BLOCKING: u32 = 1;
const COLLECTIVE: u32 = 2;

impl Reader<'_> {
    pub(super) fn communication(&mut self, event: Event<'_>) -> Option<EventKind> {
        let envelope = |communicator: u32, peer, tag, bytes: u64| Envelope {
            communicator: self.definitions.communicators.position(communicator.into()).unwrap(),
            peer,
            tag,
            bytes: bytes as i64,
        };
        Some(match event {
            Event::MpiSend { receiver, communicator, msg_tag, msg_length } => {
                EventKind::Send(envelope(communicator, receiver, msg_tag, msg_length))
            }
            Event::MpiIsend { receiver, communicator, msg_tag, msg_length, request_id } => {
                EventKind::Isend(envelope(communicator, receiver, msg_tag, msg_length), request_id)
            }
            Event::MpiIsendComplete { request_id } => EventKind::IsendComplete(request_id),
            Event::MpiIrecvRequest { request_id } => EventKind::IrecvRequest(request_id),
            Event::MpiRecv { sender, communicator, msg_tag, msg_length } => {
                EventKind::Recv(envelope(communicator, sender, msg_tag, msg_length))
            }
            Event::MpiIrecv { sender, communicator, msg_tag, msg_length, request_id } => {
                EventKind::Irecv(envelope(communicator, sender, msg_tag, msg_length), request_id)
            }
            Event::MpiRequestCancelled { request_id } => EventKind::Cancelled(request_id),
            Event::MpiProbe { sender, communicator, tag, message_id } => {
                EventKind::Probe(envelope(communicator, sender, tag, 0), message_id)
            }
            Event::MpiMrecv { message_id, msg_length } => {
                EventKind::Mrecv { message: message_id, bytes: msg_length as i64 }
            }
            Event::MpiImrecvRequest { message_id, request_id } => {
                EventKind::ImrecvRequest { message: message_id, request: request_id }
            }
            Event::MpiImrecv { request_id, msg_length } => {
                EventKind::Imrecv { request: request_id, bytes: msg_length as i64 }
            }
            Event::MpiRequestTest { request_id } => EventKind::Test(request_id),
            Event::MpiCollectiveEnd { collective_op, communicator, root, size_sent, size_received } => {
                let bytes = [size_sent, size_received];
                // Without a begin it is ignored.
                std::mem::take(&mut self.has_begun).then_some(())?;
                EventKind::CollectiveEnd(self.told(collective_op, communicator, root, bytes))
            }
            // Rest of MPI 1: the reference skips these records.
            _ if self.semantics == Semantics::Reference => return None,
            Event::NonBlockingCollectiveRequest { request_id } => {
                let persistent = self.attribute(attributes::PERSISTENT_OPERATION);
                EventKind::CollectiveRequest(request_id, persistent)
            }
            Event::NonBlockingCollectiveComplete {
                collective_op,
                communicator,
                root,
                size_sent,
                size_received,
                request_id,
            } => {
                let bytes = [size_sent, size_received];
                EventKind::CollectiveComplete(self.told(collective_op, communicator, root, bytes), request_id)
            }
            event => self.at_window(event).or_else(|| self.of_file(event))?,
        })
    }

    /// Rest of MPI 8: an event of one-sided communication.
    fn at_window(&self, event: Event<'_>) -> Option<EventKind> {
        let at = |win: u32, what| Some(EventKind::Window(self.world.window(self.definitions, win), what));
        let target = |remote: u32| (remote != ALL).then_some(remote);
        match event {
            Event::RmaCollectiveBegin {} => Some(EventKind::CollectiveBegin),
            Event::RmaCollectiveEnd { collective_op, win, .. } => at(win, AtWindow::End(collective_op)),
            Event::RmaGroupSync { sync_level, win, group } => {
                let group = self.definitions.groups.position(group.into()).unwrap();
                at(win, AtWindow::GroupSync { group, level: sync_level })
            }
            Event::RmaRequestLock { win, remote, lock_type, .. } => {
                let is_exclusive = lock_type == EXCLUSIVE;
                at(win, AtWindow::RequestLock { target: target(remote), is_exclusive })
            }
            Event::RmaReleaseLock { win, remote, .. } => at(win, AtWindow::ReleaseLock(target(remote))),
            Event::RmaPut { win, remote, bytes, .. } => {
                at(win, AtWindow::Access { target: remote, bytes: [bytes as i64, 0] })
            }
            Event::RmaGet { win, remote, bytes, .. } => {
                at(win, AtWindow::Access { target: remote, bytes: [0, bytes as i64] })
            }
            Event::RmaAtomic { win, remote, bytes_sent, bytes_received, .. } => {
                let bytes = [bytes_sent as i64, bytes_received as i64];
                at(win, AtWindow::Access { target: remote, bytes })
            }
            Event::RmaOpCompleteBlocking { win, .. }
            | Event::RmaOpCompleteNonBlocking { win, .. }
            | Event::RmaOpCompleteRemote { win, .. } => at(win, AtWindow::Completed),
            _ => None,
        }
    }

    /// Rest of MPI 9: an event of a file. What a process does with a handle of its own is no collective operation.
    fn of_file(&self, event: Event<'_>) -> Option<EventKind> {
        let file = |handle: u32| self.world.file(self.definitions, handle.into());
        match event {
            Event::IoCreateHandle { handle, .. } => {
                Some(EventKind::File(file(handle)?, OfFile::Handled(CollectiveOp::CREATE_HANDLE)))
            }
            Event::IoDestroyHandle { handle } => {
                Some(EventKind::File(file(handle)?, OfFile::Handled(CollectiveOp::DESTROY_HANDLE)))
            }
            Event::IoOperationBegin { handle, mode, operation_flags, matching_id: id, .. } => {
                let is_collective = operation_flags & COLLECTIVE != 0;
                let is_blocking = operation_flags & NON_BLOCKING == 0;
                Some(EventKind::File(file(handle)?, OfFile::Begin { id, mode, is_collective, is_blocking }))
            }
            Event::IoOperationComplete { handle, matching_id, .. } => Some(match file(handle) {
                Some(file) => EventKind::File(file, OfFile::Complete(matching_id)),
                None => EventKind::Completed,
            }),
            _ => None,
        }
    }

    /// Rest of MPI 3.3, R8: the file that the call handles which this event leaves.
    pub(super) fn handled(&self) -> Option<EventKind> {
        let file = self.world.file(self.definitions, self.attribute(attributes::FILE)?)?;
        Some(EventKind::File(file, OfFile::Handled(CollectiveOp::BARRIER)))
    }

    fn told(&self, operation: CollectiveOp, communicator: u32, root: u32, bytes: [u64; 2]) -> Told {
        let [sent, received] = bytes.map(|bytes| bytes as i64);
        let group = |name: &str| self.definitions.groups.position(self.attribute(name)?);
        Told {
            operation,
            communicator: self.definitions.communicators.position(communicator.into()).unwrap(),
            root: Some(root).filter(|&root| root != ROOT_NONE),
            sent,
            received,
            neighbors: group(attributes::NEIGHBORS_IN).zip(group(attributes::NEIGHBORS_OUT)).map(Into::into),
        }
    }

    /// An attribute of the event; the reference knows none.
    fn attribute(&self, name: &str) -> Option<u64> {
        let is_this = |it: &&Attribute| {
            self.definitions.attributes.find(it.attribute.into()).is_some_and(|known| known == name)
        };
        let found = self.attributes.iter().find(is_this)?;
        (self.semantics == Semantics::Corrected).then_some(found.value.bits)
    }

    /// Rest of MPI 3.3, R4: the message that the probe has found which this event leaves.
    pub(super) fn found(&self) -> Option<Envelope> {
        let communicator = self.attribute(attributes::PROBE_COMM)?;
        Some(Envelope {
            communicator: self.definitions.communicators.position(communicator)?,
            peer: self.attribute(attributes::PROBE_SOURCE)? as u32,
            tag: self.attribute(attributes::PROBE_TAG)? as u32,
            bytes: 0,
        })
    }
}
