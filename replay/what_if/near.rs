//! Search in sorted lists where the one looked for is mostly near the last one that was found.

/// The number of entries in front of which `is_before` holds, as `partition_point` has it, searched from a position outwards with
/// steps that double: the logarithm of the distance instead of that of the length, and mostly in memory that is at hand.
pub(super) fn partition_point_near<T>(list: &[T], from: usize, is_before: impl Fn(&T) -> bool) -> usize {
    let mut step = 1;
    let from = from.min(list.len());
    let within = if list.get(from).is_some_and(&is_before) {
        let mut low = from + 1;
        while list.get(low + step).is_some_and(&is_before) {
            low += step + 1;
            step *= 2;
        }
        low..list.len().min(low + step)
    } else {
        let mut high = from;
        while high >= step && !is_before(&list[high - step]) {
            high -= step;
            step *= 2;
        }
        high.saturating_sub(step)..high
    };
    within.start + list[within].partition_point(is_before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_is_that_of_a_search_in_the_whole_list_wherever_it_begins() {
        for length in 0..40 {
            let list: Vec<usize> = (0..length).collect();
            for border in 0..=length {
                for from in 0..=length + 2 {
                    assert_eq!(
                        partition_point_near(&list, from, |&it| it < border),
                        border,
                        "{length} {from}"
                    );
                }
            }
        }
    }
}
