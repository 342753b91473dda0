//! The carrier on rsmpi, which is compiled for one MPI library and linked with it.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

use launched::Library;
use mpi::Threading;
use mpi::datatype::Equivalence;
use mpi::environment::Universe;
use mpi::ffi;
use mpi::point_to_point::{Message, Status};
use mpi::raw::AsRaw;
use mpi::request::Request;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Source};

use super::carrier::{ABORTED, Carrier, Tag, int, number, without_threads};
use crate::error::Error;
use crate::exchange::Batch;

/// The processes that were started together.
pub(super) struct Rsmpi {
    world: SimpleCommunicator,
    /// Ends MPI when dropped.
    _universe: Universe,
}

/// The library that this program is linked with. That can be asked before MPI is started (MPI 4.1, 9.1.1).
pub(super) fn library() -> Library {
    Library { version: mpi::environment::library_version().unwrap_or_default(), path: None }
}

/// Starts MPI.
pub(super) fn start() -> Result<Rsmpi, Error> {
    let Some((universe, level)) = mpi::initialize_with_threading(Threading::Funneled) else {
        return Err(Error::new("MPI could not be started: it is running already"));
    };
    if level < Threading::Funneled {
        return Err(without_threads());
    }
    Ok(Rsmpi { world: universe.world(), _universe: universe })
}

/// A message that MPI is sending.
pub(super) struct Sent {
    /// MPI reads a part of them until the request is complete; shared words do not change.
    _words: Arc<Batch>,
    request: ffi::MPI_Request,
}

impl Carrier for Rsmpi {
    type Sent = Sent;

    fn rank_and_size(&self) -> (usize, usize) {
        (number(self.world.rank()), number(self.world.size()))
    }

    #[expect(unsafe_code, reason = "rsmpi's requests cannot own their buffers")]
    fn send(&self, to: usize, tag: Tag, words: &Arc<Batch>, part: Range<usize>) -> Sent {
        let part = &words[part];
        // SAFETY: a null request is a value, which MPI_Isend replaces.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        let (datatype, count) = (u64::equivalent_datatype(), int(part.len()));
        // SAFETY: the buffer has `count` words; it is kept, unchanged, until the request is complete, as the
        // caller does not drop it before `is_sent` says so. The communicator is the live world, the receiver one
        // of its ranks.
        unsafe {
            ffi::MPI_Isend(
                part.as_ptr().cast::<c_void>(),
                count,
                datatype.as_raw(),
                int(to),
                tag,
                self.world.as_raw(),
                &raw mut request,
            );
        }
        Sent { _words: words.clone(), request }
    }

    #[expect(unsafe_code, reason = "rsmpi's requests cannot own their buffers")]
    fn is_sent(&self, sent: &mut Sent) -> bool {
        let mut is_sent = 0;
        // SAFETY: the request is that of `send`; once complete, MPI makes it null, which may be tested again.
        unsafe { ffi::MPI_Test(&raw mut sent.request, &raw mut is_sent, ffi::RSMPI_STATUS_IGNORE) };
        is_sent != 0
    }

    fn receive(&self, from: Option<usize>, tag: Tag, rest: impl Fn()) -> Option<(usize, Batch)> {
        let arrived = match from {
            Some(rank) => self.world.process_at_rank(int(rank)).immediate_matched_probe_with_tag(tag),
            None => self.world.any_process().immediate_matched_probe_with_tag(tag),
        };
        let (message, status) = arrived?;
        Some((number(status.source_rank()), take(message, status, rest)))
    }

    fn all_gather(&self, words: &[u64], rest: impl Fn()) -> Vec<u64> {
        let mut all = vec![0; words.len() * number(self.world.size())];
        mpi::request::scope(|scope| {
            complete(self.world.immediate_all_gather_into(scope, words, &mut all[..]), rest);
        });
        all
    }

    fn aborter(&self) -> Box<dyn Fn() + Send + Sync> {
        Box::new(|| SimpleCommunicator::world().abort(ABORTED))
    }
}

/// Receives a message that has arrived.
fn take(message: Message, status: Status, rest: impl Fn()) -> Batch {
    let mut words = vec![0; number(status.count(u64::equivalent_datatype()))];
    mpi::request::scope(|scope| {
        complete(message.immediate_matched_receive_into(scope, &mut words[..]), rest)
    });
    words
}

/// Tests a request until it is complete.
fn complete<'a, D: ?Sized, S: mpi::request::Scope<'a>>(mut request: Request<'a, D, S>, rest: impl Fn()) {
    while let Err(incomplete) = request.test() {
        rest();
        request = incomplete;
    }
}
