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

    /// The member with the latest of the times that are not after `until`, the lowest rank among equals, other than `without`.
    pub(super) fn last_until(&self, until: Ticks, without: Option<usize>) -> Option<usize> {
        let Timed(timed) = self;
        let mut end = timed.partition_point(|&(time, _)| time <= until);
        loop {
            let (time, _) = timed[end.checked_sub(1)?];
            let first = timed[..end].partition_point(|&(earlier, _)| earlier < time);
            let others = timed[first..end].iter().map(|&(_, at)| at);
            if let Some(at) = others.into_iter().find(|&at| Some(at) != without) {
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
        assert_eq!(timed.last_until(8, None), Some(0));
        assert_eq!(timed.last_until(8, Some(0)), Some(2));
        assert_eq!(timed.last_until(9, Some(1)), Some(0));
        assert_eq!((timed.last_until(4, None), timed.last_until(12, None)), (None, Some(3)));
    }
}
