//! Members by time: the last one until some time.

use model::Ticks;

/// Members in the order of a time, those of equal times in the order of their ranks.
pub(super) struct Timed(Vec<(Ticks, usize)>);

impl Timed {
    /// Sorts members, which come in the order of their ranks.
    pub(super) fn new(by_rank: impl Iterator<Item = (Ticks, usize)>) -> Timed {
        let mut timed: Vec<(Ticks, usize)> = by_rank.collect();
        // A stable sort.
        timed.sort_by_key(|&(time, _)| time);
        Timed(timed)
    }

    /// The member with the latest of the times that are not after `until`, the lowest rank among equals, of those that are
    /// `selected`.
    pub(super) fn last_until(&self, until: Ticks, selected: impl Fn(usize) -> bool) -> Option<usize> {
        let Timed(timed) = self;
        let mut end = timed.partition_point(|&(time, _)| time <= until);
        loop {
            let (time, _) = timed[end.checked_sub(1)?];
            let first = timed[..end].partition_point(|&(earlier, _)| earlier < time);
            if let Some(at) = timed[first..end].iter().map(|&(_, at)| at).find(|&at| selected(at)) {
                return Some(at);
            }
            end = first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_rank_of_those_at_the_last_time_is_found_unless_it_is_left_out() {
        let timed = Timed::new([(5, 0), (9, 1), (5, 2), (12, 3)].into_iter());
        let all = |until| timed.last_until(until, |_| true);
        assert_eq!((all(4), all(8), all(12)), (None, Some(0), Some(3)));
        assert_eq!(timed.last_until(8, |at| at != 0), Some(2));
        assert_eq!(timed.last_until(9, |at| at != 1), Some(0));
        assert_eq!(timed.last_until(12, |at| at > 3), None);
    }
}
