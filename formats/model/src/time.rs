//! Time in a trace: integer ticks of one clock, and the only conversion to seconds.

/// An instant in ticks of the trace's global clock, or a length of time in ticks.
///
/// Signed, so that differences of instants need no care; a trace's instants fit (2⁶³ ticks are 97 years at 3 GHz).
pub type Ticks = i64;

/// The `ClockProperties` definition: what a tick is and where the trace lies on the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockProperties {
    /// Ticks per second, never zero.
    pub resolution: u64,
    /// The instant that counts as the trace's begin, in ticks.
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

    /// The same of a length that fits into a word, as most do.
    #[inline]
    pub fn word(&self, ticks: i64) -> f64 {
        ticks as f64 / self.resolution as f64
    }
}

/// What is longer than a word takes long, and must not be computed in vain.
#[cold]
#[inline(never)]
fn long(ticks: i128) -> f64 {
    ticks as f64
}

impl Default for ClockProperties {
    /// Nanoseconds from zero: what a trace without the record is read with.
    fn default() -> Self {
        ClockProperties { resolution: 1_000_000_000, global_offset: 0, length: 0, realtime: None }
    }
}
