//! Launches and what runs on a stream, both in order: the k-th of both belong together (site.md, 6.2), as far as nothing is missing.

use std::ops::Range;

use model::Ticks;
use patterns::matched::Interval;

/// A launch by its times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// When its call was entered.
    pub(super) enter: Ticks,
    /// When a call has returned that had waited for it; [`Ticks::MAX`] if none has.
    pub(super) done: Ticks,
}

/// Pairs launches for a stream with as many that have run there, by the times of their enters and begins: each has its own, unless it
/// would begin before its launch. Returns their positions.
pub(super) fn as_many(
    enters: impl Iterator<Item = Ticks>,
    begins: impl Iterator<Item = Ticks>,
) -> impl Iterator<Item = usize> {
    enters.zip(begins).enumerate().filter(|(_, (enter, begin))| enter <= begin).map(|(at, _)| at)
}

/// Pairs launches for a stream with what has run there, by their positions, if there are not as many of both: between calls that wait
/// for the stream (`waits`, in the order of enters), as what was launched before such a call is done when it returns. Graphs, which are
/// launched at certain times, in ascending order, run there as well, so that what is launched behind them is counted from the end.
pub(super) fn pairs(
    starts: &[Start],
    runs: &[Interval],
    waits: &[Interval],
    graphs: &[Ticks],
) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for Segment { launches, runs: within, time } in segments(starts, runs, waits) {
        let (starts, runs) = (&starts[launches.clone()], &runs[within.clone()]);
        let of_segment = match starts.len() == runs.len() {
            true => as_many(starts.iter().map(|start| start.enter), runs.iter().map(|run| run.enter))
                .map(|at| (at, at))
                .collect(),
            false => from_both_ends(starts, runs, limits(starts, graphs, time)),
        };
        pairs.extend(
            of_segment.into_iter().map(|(launch, run)| (launches.start + launch, within.start + run)),
        );
    }
    pairs
}

/// A part of the run in which a stream has done what was launched.
struct Segment {
    launches: Range<usize>,
    runs: Range<usize>,
    /// When the launches were entered.
    time: Range<Ticks>,
}

/// Divides launches and runs at calls that wait for the stream, if nothing is launched for it meanwhile.
fn segments(starts: &[Start], runs: &[Interval], waits: &[Interval]) -> Vec<Segment> {
    let (mut launch, mut run, mut begin) = (0, 0, Ticks::MIN);
    let mut segments = Vec::new();
    for wait in waits {
        let next = starts.partition_point(|start| start.enter < wait.enter);
        if starts.get(next).is_some_and(|start| start.enter < wait.leave) {
            continue;
        }
        let begun = runs.partition_point(|run| run.enter < wait.leave).max(run);
        segments.push(Segment { launches: launch..next, runs: run..begun, time: begin..wait.enter });
        (launch, run, begin) = (next, begun, wait.enter);
    }
    let time = begin..Ticks::MAX;
    segments.push(Segment { launches: launch..starts.len(), runs: run..runs.len(), time });
    segments
}

/// The number of launches before all graphs that were launched in a time, and behind all of them.
fn limits(starts: &[Start], graphs: &[Ticks], time: Range<Ticks>) -> [usize; 2] {
    let within = graphs.partition_point(|&graph| graph < time.start)
        ..graphs.partition_point(|&graph| graph < time.end);
    let before = |graph: Ticks| starts.partition_point(|start| start.enter < graph);
    match &graphs[within] {
        [] => [starts.len(); 2],
        [first, .., last] => [before(*first), starts.len() - before(*last)],
        [only] => [before(*only), starts.len() - before(*only)],
    }
}

/// Pairs both from their ends as long as nothing begins before its launch, or ends after it was awaited, and only where both ends
/// agree: what is missing is somewhere in between. From each end only so many launches are paired.
fn from_both_ends(starts: &[Start], runs: &[Interval], limits: [usize; 2]) -> Vec<(usize, usize)> {
    let is_possible = |(launch, run): (usize, usize)| {
        starts[launch].enter <= runs[run].enter && runs[run].leave <= starts[launch].done
    };
    let count = starts.len().min(runs.len());
    let front = (0..count.min(limits[0])).take_while(|&at| is_possible((at, at))).count();
    let from_end = |at: usize| (starts.len() - 1 - at, runs.len() - 1 - at);
    let back = (0..count.min(limits[1])).take_while(|&at| is_possible(from_end(at))).count();
    // Of the shorter list, those that both ends claim are not certain.
    let certain_front = (0..front.min(count - back)).map(|at| (at, at));
    certain_front.chain((0..back.min(count - front)).map(from_end)).collect()
}

/// Pairs launches, by the times of their enters, with what has run on several streams, by the times of its begins, both in ascending
/// order. Nobody knows which stream a launch is for, so only those are certain that begin when all launches before have begun, and the
/// next one has not come.
pub(super) fn one_by_one(enters: &[Ticks], begins: &[Ticks]) -> Vec<(usize, usize)> {
    let has_launched = |at: usize| enters.partition_point(|&enter| enter <= begins[at]) == at + 1;
    let is_certain = |&at: &usize| has_launched(at) && (at == 0 || has_launched(at - 1));
    (0..enters.len().min(begins.len())).filter(is_certain).map(|at| (at, at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of launches with kernels that run for a tick. Calls that wait take a tick, and return at the given times.
    fn paired(enters: &[Ticks], waits: &[Ticks], begins: &[Ticks], graphs: &[Ticks]) -> Vec<(usize, usize)> {
        let done = |enter: Ticks| waits.iter().copied().find(|&wait| wait - 1 > enter).unwrap_or(Ticks::MAX);
        let starts: Vec<Start> = enters.iter().map(|&enter| Start { enter, done: done(enter) }).collect();
        let runs: Vec<Interval> = begins.iter().map(|&begin| Interval::new(begin, begin + 1)).collect();
        let waits: Vec<Interval> = waits.iter().map(|&leave| Interval::new(leave - 1, leave)).collect();
        let mut pairs = pairs(&starts, &runs, &waits, graphs);
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn as_many_launches_as_kernels_belong_together_unless_time_goes_back() {
        assert_eq!(paired(&[1, 5, 9], &[], &[3, 6, 10], &[]), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(paired(&[1, 5, 9], &[], &[3, 4, 10], &[]), [(0, 0), (2, 2)]);
    }

    #[test]
    fn missing_launch_leaves_its_kernel_alone_if_others_were_awaited() {
        // The second kernel has no launch.
        assert_eq!(paired(&[1, 9, 13], &[4, 8, 12, 16], &[2, 6, 10, 14], &[]), [(0, 0), (1, 2), (2, 3)]);
        // The first launch may be of the first or of the second.
        assert_eq!(paired(&[1, 9, 13], &[], &[3, 6, 10, 14], &[]), [(1, 2), (2, 3)]);
    }

    #[test]
    fn what_both_ends_claim_is_not_certain() {
        assert_eq!(paired(&[1, 2], &[], &[3, 6, 10], &[]), []);
        // A kernel is missing: it may be any of those from the second on.
        assert_eq!(paired(&[1, 5, 9], &[], &[3, 10], &[]), [(0, 0)]);
    }

    #[test]
    fn nothing_is_matched_with_nothing() {
        assert_eq!(paired(&[], &[], &[1], &[]), []);
        assert_eq!(paired(&[1], &[], &[], &[]), []);
    }

    #[test]
    fn what_is_missing_between_two_waits_makes_nothing_else_uncertain() {
        // The kernels of the second part have one launch, which may be of either.
        let enters = [1, 2, 11, 21, 22];
        let begins = [3, 4, 12, 14, 23, 24];
        assert_eq!(paired(&enters, &[10, 20, 30], &begins, &[]), [(0, 0), (1, 1), (3, 4), (4, 5)]);
        // Not where something is launched while a call waits.
        assert_eq!(paired(&[1, 9, 19], &[10], &[3, 9, 14, 20], &[]), [(2, 3)]);
    }

    #[test]
    fn graphs_do_not_disturb_the_others() {
        // Three kernels of a graph, between two launches and one.
        assert_eq!(paired(&[1, 2, 9], &[], &[3, 4, 6, 7, 8, 10], &[5]), [(0, 0), (1, 1), (2, 5)]);
        // Between two graphs it is not known which kernels are theirs.
        assert_eq!(paired(&[1, 6, 9], &[], &[3, 5, 7, 8, 10], &[4, 8]), [(0, 0), (2, 4)]);
        // Nothing of it is behind a call that has waited.
        assert_eq!(paired(&[1, 6, 7], &[5], &[2, 3, 8, 9], &[2]), [(0, 0), (1, 2), (2, 3)]);
    }

    #[test]
    fn on_several_streams_only_those_that_begin_at_once_are_certain() {
        assert_eq!(one_by_one(&[1, 5, 9], &[2, 6, 10]), [(0, 0), (1, 1), (2, 2)]);
        // The second and the third one are launched before either begins.
        assert_eq!(one_by_one(&[1, 5, 6, 15], &[2, 8, 9, 16]), [(0, 0), (3, 3)]);
        // The first launch is missing.
        assert_eq!(one_by_one(&[5, 9], &[2, 6, 10]), []);
    }
}
