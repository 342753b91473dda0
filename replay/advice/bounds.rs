//! What bounds all gains (advice 3.1): W, without moving work between ranks, and C, if work is moved.

use model::Ticks;
use rules::Run;

use super::Known;
use super::candidates::ticks;
use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::severity::Severities;
use crate::tools::Tools;

/// Facts of the run, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// From the first end of `MPI_Init` to the last begin of `MPI_Finalize`.
    pub run: Ticks,
    /// That of all threads.
    pub all: i128,
    /// Ranks.
    pub ranks: u64,
    /// Threads of all ranks.
    pub threads: u64,
    /// What is saved at most if no work is moved between ranks, and none is shorter: all waiting.
    pub wait: Ticks,
    /// What is saved at most if work is moved between ranks.
    pub conserve: Ticks,
    /// The least gain that is advice.
    pub least: Ticks,
}

impl Bounds {
    /// Of all ranks.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn find(
        tools: &Tools<'_>,
        known: Known<'_>,
        exchange: &mut dyn Exchange,
    ) -> Result<Bounds, Error> {
        let (begin, run) = known.timed.run(exchange)?;
        let (mut most, mut sum, mut ranks, mut threads) = (0, 0_i128, 0, 0);
        let mut own = known.timed.own_times().into_iter();
        for (process, results) in known.processes.iter().zip(known.results) {
            for (at, severities) in results.severities.iter().enumerate() {
                let Some([first, last]) = own.next() else { break };
                if process.has_not_run() {
                    continue;
                }
                threads += 1;
                if at > 0 {
                    continue;
                }
                let (first, last) = (first.max(begin), last.min(begin + run));
                let busy = (last - first).max(0).saturating_sub(waited(tools, severities)).max(0);
                ranks += 1;
                most = most.max(busy);
                sum += i128::from(busy);
            }
        }
        let words = vec![
            most.cast_unsigned(),
            i64::try_from(sum).unwrap_or(i64::MAX).cast_unsigned(),
            ranks,
            threads,
        ];
        let told = share(exchange, words)?;
        let of = |at: usize| told.iter().map(move |words| words[at]);
        let (ranks, threads): (u64, u64) = (of(2).sum(), of(3).sum());
        let most = of(0).map(u64::cast_signed).max().unwrap_or(0);
        let sum: i128 = of(1).map(|word| i128::from(word.cast_signed())).sum();
        let mean = i64::try_from(sum / i128::from(ranks.max(1))).unwrap_or(i64::MAX);
        Ok(Bounds {
            run,
            all: i128::from(run) * i128::from(threads),
            ranks,
            threads,
            wait: (run - most).max(0),
            conserve: (run - mean).max(0),
            least: least(run, known.least_percent),
        })
    }

    /// As facts for rules, in the order of the schema.
    #[expect(clippy::cast_precision_loss)]
    pub(super) fn facts(&self, tools: &Tools<'_>) -> Run {
        Run {
            ticks_per_second: tools.trace.definitions.clock.resolution as f64,
            facts: vec![
                Some(self.run as f64),
                Some(self.all as f64),
                Some(self.ranks as f64),
                Some(self.threads as f64),
                Some(self.wait as f64),
                Some(self.conserve as f64),
            ],
        }
    }
}

/// So many per cent of the run.
#[expect(clippy::cast_precision_loss)]
fn least(run: Ticks, percent: f64) -> Ticks {
    ticks(run as f64 * percent / 100.0)
}

/// How long a thread waits in all, but in `MPI_Init` and `MPI_Finalize`.
pub(super) fn waited(tools: &Tools<'_>, severities: &Severities) -> Ticks {
    let patterns = tools.metrics.patterns.iter();
    let waiting = patterns.filter(|it| it.is_outermost_waiting && !it.pattern.is_of_start_up());
    waiting
        .map(|it| severities.column(it.metric).iter().copied().fold(0, Ticks::saturating_add))
        .fold(0, Ticks::saturating_add)
}
