//! How much latency a run bears: how many messages in a row decide when it ends, and how much longer each may take (what-if 3.5).
//!
//! The run time is a convex function of what each message takes longer, a maximum of lines: their slope is the number of
//! messages in a row. An operation of many has ⌈log₂ P⌉ steps in which its members send each other messages. Durations are in parts of ticks here, so that the next part tells the slope.

use model::Ticks;

use super::lanes::Lane;
use super::predict::{Pass, TimedGraph};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::tools::Tools;

/// By so many hundredths a run may be longer.
pub const TOLERATED: [u8; 3] = [1, 2, 5];

/// The most passes of the search for what is tolerated.
const PASSES: usize = 8;

/// Bits of the run time in parts of ticks: a chain may have many messages, each as much longer as the run.
const BITS: u32 = 46;

/// The most bits of a tick's parts.
const FINEST: u32 = 16;

/// How much latency a run bears.
#[derive(Clone, PartialEq, Debug)]
pub struct Latency {
    /// Messages in a row that decide when the run ends; of equally late chains those of the one with most.
    pub messages: u64,
    /// Operations of many in a row, by themselves.
    pub operations: u64,
    /// Their steps, ⌈log₂ P⌉ in an operation of P processes, by themselves.
    pub steps: u64,
    /// By [`TOLERATED`]: ticks that each message, and each step of an operation of many, may take longer; `None` where no number of
    /// them is too many.
    pub tolerance: [Option<f64>; 3],
}

/// The search for what is tolerated, in parts of ticks.
#[derive(Clone, Copy, Debug)]
struct Search {
    /// The longest run.
    goal: i64,
    /// What each message, and each step, takes longer.
    longer: i64,
    /// Whether it is found, and whether nothing is too much.
    is_done: bool,
    has_end: bool,
}

impl TimedGraph {
    /// Finds how much latency the run bears, whose first `MPI_Init` ends at `begin`, and which takes `run` ticks.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn latency(
        &self,
        tools: &Tools<'_>,
        (begin, run): (Ticks, Ticks),
        exchange: &mut dyn Exchange,
    ) -> Result<Latency, Error> {
        let bits = Ticks::BITS - run.max(1).leading_zeros();
        let fine = BITS.saturating_sub(bits).min(FINEST);
        let plain = Lane { base: begin, fine, ..Lane::default() };
        let longer = |add| Lane { add, add_to_step: add, ..plain };
        let mut ends = |lanes: &[Lane]| -> Result<Vec<i64>, Error> {
            let nothing = || vec![Default::default(); self.locations()];
            let scenarios: Vec<_> = lanes.iter().map(|&lane| (lane, nothing())).collect();
            let Pass { lanes, .. } = self.replay_all(tools, &scenarios, &mut Default::default(), exchange)?;
            Ok(lanes.into_iter().map(|lane| lane.end).collect())
        };
        let found = ends(&[
            Lane { add: 1, ..plain },
            Lane { add_to_operation: 1, ..plain },
            Lane { add_to_step: 1, ..plain },
            longer(1),
        ])?;
        // Nothing longer is the run as it was.
        let now = run << fine;
        let slope = |at: usize| (found[at] - now).max(0);
        let in_a_row = slope(3);
        let search = |percent: u8| {
            let more = now / 100 * i64::from(percent) + now % 100 * i64::from(percent) / 100;
            let goal = now + more;
            // Newton's method comes from above, as the function is convex.
            let longer = if in_a_row > 0 { more / in_a_row + 1 } else { goal };
            Search { goal, longer, is_done: false, has_end: true }
        };
        let mut searches = TOLERATED.map(search);
        for pass in 0..PASSES {
            let lanes = searches.map(|it| [it.longer, it.longer + 1].map(longer));
            let found = ends(&lanes.concat())?;
            for (search, found) in searches.iter_mut().zip(found.chunks(2)) {
                if search.is_done {
                    continue;
                }
                let (end, slope) = (found[0], (found[1] - found[0]).max(1));
                if end <= search.goal {
                    search.has_end = in_a_row > 0 || pass > 0;
                    search.is_done = true;
                } else if pass + 1 < PASSES {
                    search.longer = (search.longer - ((end - search.goal) / slope).max(1)).max(0);
                } else {
                    // So much is tolerated in any case: the function is below its chord.
                    let part = (search.goal - now) as f64 / (end - now) as f64;
                    search.longer = scaled(search.longer, part);
                }
            }
            if searches.iter().all(|search| search.is_done) {
                break;
            }
        }
        let ticks = |parts: i64| parts as f64 / (1_u64 << fine) as f64;
        Ok(Latency {
            messages: slope(0).cast_unsigned(),
            operations: slope(1).cast_unsigned(),
            steps: slope(2).cast_unsigned(),
            tolerance: searches.map(|search| search.has_end.then(|| ticks(search.longer))),
        })
    }
}

/// A part of a number, without what is behind the point.
#[expect(clippy::cast_possible_truncation)]
fn scaled(number: i64, part: f64) -> i64 {
    (number as f64 * part) as i64
}
