//! Blocking collective operations (MPI 4.0, chapter 6).

use crate::call::Call;
use crate::communicators::WORLD;
use crate::gaps;
use crate::record;
use crate::volumes;
use crate::wrappers::Arguments;

macro_rules! blocking {
    ($($name:ident $arguments:literal;)*) => {
        $(
            #[doc = concat!("The collective operation with the parameters of [`volumes::", stringify!($name), "`].")]
            pub(crate) fn $name(
                call: &mut Call,
                arguments: Arguments<$arguments>,
                real: impl FnOnce([usize; $arguments]) -> usize,
            ) -> usize {
                let volume = volumes::$name((call.thread.process, &arguments.values, arguments.wide));
                let Some(volume) = volume else { return real(arguments.values) };
                let number = volume.communicator;
                let missing = gaps::begin(&mut call.thread, volume.channel());
                let begin = call.begin();
                record::collective_begin(&mut call.thread.events, begin);
                let result = real(arguments.values);
                let time = call.end();
                let events = &mut call.thread.events;
                let volumes::Volume { operation, root, sent, received, neighbors, .. } = volume;
                match neighbors {
                    None => gaps::report(events, time, missing),
                    Some(groups) => gaps::report_with(events, time, missing, groups.attributes()),
                }
                record::collective_end(events, time, operation, number.into(), root, sent, received);
                if number == WORLD {
                    call.end_round();
                }
                result
            }
        )*
    };
}

blocking! {
    barrier 1;
    bcast 5;
    gather 8;
    gatherv 9;
    scatter 8;
    scatterv 9;
    allgather 7;
    allgatherv 8;
    alltoall 7;
    alltoallv 9;
    alltoallw 9;
    allreduce 6;
    reduce 7;
    reduce_scatter 6;
    reduce_scatter_block 6;
    scan 6;
    exscan 6;
    neighbor_allgather 7;
    neighbor_allgatherv 8;
    neighbor_alltoall 7;
    neighbor_alltoallv 9;
    neighbor_alltoallw 9;
}
