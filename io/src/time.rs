//! How long the I/O of a phase itself took (io.md 4.7).

use crate::numbers::sum;
use crate::simple::Simple;

/// T_MD in ticks of the clock: of collective operations from the last member that came to the last one that left, for each
/// operation; otherwise the time of the slowest member.
pub(crate) fn measured_time(members: &[Simple]) -> u64 {
    let Some(first) = members.first() else { return 0 };
    let count = first.instances.len();
    let is_collective = first.pattern.iter().all(|access| access.collective);
    if is_collective && members.iter().all(|member| member.instances.len() == count) {
        let latest = |at: usize, which: fn(&(u64, u64)) -> u64| {
            members.iter().map(move |it| which(&it.instances[at])).max()
        };
        return sum(
            (0..count).filter_map(|at| Some(latest(at, |it| it.1)?.saturating_sub(latest(at, |it| it.0)?)))
        );
    }
    members.iter().map(|member| member.time).max().unwrap_or(0)
}
