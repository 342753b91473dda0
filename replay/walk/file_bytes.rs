//! Bytes of files by call path (io 5.2): those that the program reads and writes, by the interface that it uses for that, and those that
//! reach the system.

use io_model::{InFlight, Layer};
use otf2::{Event, MappingType, Mappings};

use super::process::ProcessWalk;
use crate::ids::Row;
use crate::metrics::Metrics;
use crate::operations::transfers::{READ, WRITE};
use crate::severity::{MetricId, amount};
use crate::trace::Trace;

/// Operations of a process that have not ended.
#[derive(Clone, Default, Debug)]
pub(super) struct FileBytes(InFlight<(u32, u64), Begun>);

/// An operation that has begun.
#[derive(Clone, Copy, Debug)]
struct Begun {
    thread: usize,
    row: Row,
    /// The metrics that its bytes belong to.
    metrics: [Option<MetricId>; 2],
}

impl FileBytes {
    /// For a process; `None` if the trace has no files, or their bytes are no metrics.
    pub(super) fn new(trace: &Trace) -> Option<Box<FileBytes>> {
        let has_files = !trace.definitions.file_handles.is_empty() && trace.semantics.replays_all_of_mpi();
        has_files.then(Box::default)
    }
}

/// The metrics of an operation of a layer that reads or writes; one that MPI makes on its files is none of the program.
fn metrics_of(metrics: &Metrics, layer: Layer, mode: u8, is_in_mpi: bool) -> [Option<MetricId>; 2] {
    let way = usize::from(mode == WRITE);
    let column = match layer {
        Layer::Mpi => 0,
        Layer::Posix => 1,
        Layer::Isoc => 2,
    };
    let is_of_program = layer == Layer::Mpi || !is_in_mpi;
    [
        is_of_program.then_some(metrics.file_bytes[way][column]),
        (layer == Layer::Posix).then_some(metrics.file_bytes_of_system[way]),
    ]
}

impl ProcessWalk<'_> {
    /// Takes a record of files.
    #[inline(never)]
    pub(super) fn count_file_bytes(&mut self, thread: usize, event: &Event<'_>, mappings: &Mappings) {
        let Some(begun) = &mut self.file_bytes else { return };
        let global = |local: u32| mappings.global(MappingType::IoHandle, local);
        match *event {
            Event::IoOperationBegin { handle, mode, matching_id, .. } if mode == READ || mode == WRITE => {
                let handle = global(handle);
                let at = self.trace.definitions.file_handles.position(handle.into());
                let Some(layer) = at.and_then(|at| crate::io::layer(self.trace, at)) else { return };
                let of_thread = &self.threads[thread];
                let stack = &of_thread.stack;
                let Some(frame) = stack.last().filter(|_| of_thread.counts(of_thread.now)) else { return };
                let metrics = metrics_of(self.metrics, layer, mode, stack.mpi_depth > 0);
                begun.0.begin((handle, matching_id), Begun { thread, row: frame.row, metrics });
            }
            Event::IoOperationComplete { handle, bytes_result, matching_id } => {
                let ended = begun.0.end((global(handle), matching_id));
                // All ones are bytes that nobody knows.
                if let Some(Begun { thread, row, metrics }) = ended.filter(|_| bytes_result != u64::MAX) {
                    for metric in metrics.into_iter().flatten() {
                        self.threads[thread].severities.add(metric, row, amount(bytes_result));
                    }
                }
            }
            _ => {}
        }
    }
}
