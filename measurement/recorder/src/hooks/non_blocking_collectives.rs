//! Non-blocking and persistent collective operations (MPI 4.0, 6.12 and 6.13).

use crate::call::Call;
use crate::communicators::Communicator;
use crate::hooks::requests::{keep, keep_persistent};
use crate::record;
use crate::requests::{Operation, OperationKind};
use crate::volumes::{self, Volume};
use crate::wrappers::Arguments;

fn operation(call: &mut Call, volume: Volume) -> Operation {
    let number = call.thread.next_request();
    let (kind, peer, tag) = match volume.neighbors {
        None => (OperationKind::Collective(volume.operation), volume.root, 0),
        Some(groups) => (OperationKind::Neighborhood(volume.operation), groups.incoming, groups.outgoing),
    };
    let (bytes, received) = (volume.sent, volume.received);
    Operation { peer, tag, bytes, received, ..Operation::new(kind, volume.communicator, number) }
}

/// Returns a persistent operation on the communicator with this handle. It has a number of its own, as members
/// may start such operations in different orders.
fn persistent(call: &mut Call, volume: Volume, communicator: usize) -> Operation {
    let known = call.thread.process.communicators.find(communicator);
    let number = known.map_or(0, Communicator::next_persistent);
    Operation { persistent: number, ..operation(call, volume) }
}

macro_rules! non_blocking {
    ($($name:ident $arguments:literal, $persistent:ident $persistent_arguments:literal;)*) => {
        $(
            #[doc = concat!("Parameters as for [`volumes::", stringify!($name), "`], then (request).")]
            pub(crate) fn $name(
                call: &mut Call,
                arguments: Arguments<$arguments>,
                real: impl FnOnce([usize; $arguments]) -> usize,
            ) -> usize {
                let volume = volumes::$name((call.thread.process, &arguments.values, arguments.wide));
                let operation = volume.map(|volume| operation(call, volume));
                if let Some(operation) = &operation {
                    let begin = call.begin();
                    record::non_blocking_collective_request(&mut call.thread.events, begin, operation.number);
                }
                let result = real(arguments.values);
                keep(call, operation, arguments.values[$arguments - 1], result);
                result
            }

            #[doc = concat!("Parameters as for [`volumes::", stringify!($name), "`], then (info, request).")]
            pub(crate) fn $persistent(
                call: &mut Call,
                arguments: Arguments<$persistent_arguments>,
                real: impl FnOnce([usize; $persistent_arguments]) -> usize,
            ) -> usize {
                let volume = volumes::$name((call.thread.process, &arguments.values, arguments.wide));
                // The communicator stands before the information and the request.
                let communicator = arguments.values[$persistent_arguments - 3];
                let operation = volume.map(|volume| persistent(call, volume, communicator));
                let result = real(arguments.values);
                keep_persistent(call, operation, arguments.values[$persistent_arguments - 1], result);
                result
            }
        )*
    };
}

non_blocking! {
    barrier 2, barrier_init 3;
    bcast 6, bcast_init 7;
    gather 9, gather_init 10;
    gatherv 10, gatherv_init 11;
    scatter 9, scatter_init 10;
    scatterv 10, scatterv_init 11;
    allgather 8, allgather_init 9;
    allgatherv 9, allgatherv_init 10;
    alltoall 8, alltoall_init 9;
    alltoallv 10, alltoallv_init 11;
    alltoallw 10, alltoallw_init 11;
    allreduce 7, allreduce_init 8;
    reduce 8, reduce_init 9;
    reduce_scatter 7, reduce_scatter_init 8;
    reduce_scatter_block 7, reduce_scatter_block_init 8;
    scan 7, scan_init 8;
    exscan 7, exscan_init 8;
    neighbor_allgather 8, neighbor_allgather_init 9;
    neighbor_allgatherv 9, neighbor_allgatherv_init 10;
    neighbor_alltoall 8, neighbor_alltoall_init 9;
    neighbor_alltoallv 10, neighbor_alltoallv_init 11;
    neighbor_alltoallw 10, neighbor_alltoallw_init 11;
}
