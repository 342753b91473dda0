//! Time in a trace: integer ticks of one clock, and their conversion to seconds, which is done nowhere else.

/// An instant in ticks of the trace's global clock, or a length of time in ticks.
///
/// Signed, so that differences of instants need no care; a trace's instants fit (2⁶³ ticks are 97 years at 3
/// GHz).
pub type Ticks = i64;

/// The `ClockProperties` definition: the length of a tick, and the trace's place on the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockProperties {
    /// Ticks per second, never zero.
    pub resolution: u64,
    /// Start of the trace, in ticks.
    pub global_offset: u64,
    /// Length of the trace in ticks.
    pub length: u64,
    /// Nanoseconds since 1970-01-01T00:00Z at `global_offset`, if the writer knew.
    pub realtime: Option<u64>,
}

impl ClockProperties {
    /// A length of time in seconds.
    pub fn seconds(&self, ticks: i128) -> f64 {
        i64::try_from(ticks).map_or_else(|_| long(ticks) / self.resolution as f64, |ticks| self.word(ticks))
    }

    /// A length of time in seconds; the common case of [`seconds`](Self::seconds), a length that fits into a
    /// word.
    #[inline]
    pub fn word(&self, ticks: i64) -> f64 {
        ticks as f64 / self.resolution as f64
    }
}

/// Converts lengths over 64 bits: slow, so kept out of line.
#[cold]
#[inline(never)]
fn long(ticks: i128) -> f64 {
    ticks as f64
}

impl Default for ClockProperties {
    /// Nanoseconds from zero, for traces without the record.
    fn default() -> Self {
        ClockProperties { resolution: 1_000_000_000, global_offset: 0, length: 0, realtime: None }
    }
}
