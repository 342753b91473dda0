//! Time off the processor, compared with that of others.

/// The least time of others from which the share of their time that they were off the processor is known, as a fraction of the own time.
const KNOWN_FROM: f64 = 0.1;

/// Returns how much of the time off the processor of a place goes beyond the share of their time that others are off it there; negative if
/// they are off for a greater share. All times in one unit, not negative.
///
/// The share of others counts, not their time: where all are preempted as much, who has more to compute is preempted for longer.
/// Others that hardly compute there do not tell it: a single time slice of somebody else would be almost all of their time. They are
/// taken to have had a tenth of the own time at least, and to have been running in what is missing of it.
pub(crate) fn beyond_others(own: Time, others: Time) -> f64 {
    let share = others.off / others.all.max(KNOWN_FROM * own.all).max(1.0);
    // Nobody is off the processor for longer than all of the time, but a trace may say so.
    own.off.min(own.all) - own.all * share.clamp(0.0, 1.0)
}

/// The time of one or more locations in a place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Time {
    /// All of it.
    pub(crate) all: f64,
    /// Of that, the time off the processor.
    pub(crate) off: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_of_others_counts_as_far_as_they_compute_there() {
        let own = Time { all: 200.0, off: 100.0 };
        let beyond = |all: f64, off: f64| beyond_others(own, Time { all, off });
        assert_eq!([beyond(200.0, 0.0), beyond(200.0, 100.0), beyond(50.0, 50.0)], [100.0, 0.0, -100.0]);
        // One time slice of somebody who had almost nothing to do there, or nothing at all.
        assert_eq!([beyond(2.0, 2.0), beyond(0.0, 0.0)], [80.0, 100.0]);
    }
}
