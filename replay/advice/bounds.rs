//! What bounds all gains (advice 3.1): W, without moving work between ranks, and C, if work is moved.

use model::Ticks;
use rules::Run;

use super::Known;
use super::candidates::ticks;
use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::severity::{MetricId, Severities};
use crate::tools::Tools;
use crate::walk::Walked;
use crate::what_if::TimedGraph;

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

/// Facts that are known before wait states are.
pub(super) const KNOWN_EARLY: usize = 5;

/// How long the run is, and who takes part: known before wait states are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    /// The first end of `MPI_Init`, and the ticks from there to the last begin of `MPI_Finalize`.
    pub begin: Ticks,
    pub run: Ticks,
    /// Ranks, and threads of all of them.
    pub ranks: u64,
    pub threads: u64,
}

impl Span {
    /// Of all ranks.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn find(
        timed: &TimedGraph,
        walked: &[Walked],
        exchange: &mut dyn Exchange,
    ) -> Result<Span, Error> {
        let (begin, run) = timed.run(exchange)?;
        let that_ran = walked.iter().filter(|walked| !walked.process.has_not_run());
        let threads = that_ran.clone().map(|walked| walked.process.locations.len() as u64);
        let told = share(exchange, vec![that_ran.count() as u64, threads.sum()])?;
        let of = |at: usize| told.iter().map(|words| words[at]).sum();
        Ok(Span { begin, run, ranks: of(0), threads: of(1) })
    }

    /// The time of all threads in the run.
    pub(super) fn all(&self) -> i128 {
        i128::from(self.run) * i128::from(self.threads)
    }

    /// As facts for rules, in the order of the schema; those that are not known yet are absent.
    pub(super) fn facts(&self, tools: &Tools<'_>) -> Run {
        self.facts_with(tools, [None, None])
    }

    /// As facts for rules, in the order of the schema, with W and C.
    #[expect(clippy::cast_precision_loss)]
    fn facts_with(&self, tools: &Tools<'_>, [wait, conserve]: [Option<Ticks>; 2]) -> Run {
        let known = [self.run as f64, self.all() as f64, self.ranks as f64, self.threads as f64].map(Some);
        let events = tools.trace.events().map(|events| events as f64);
        let later = [wait, conserve].map(|bound| bound.map(|ticks| ticks as f64));
        let ticks_per_second = tools.trace.definitions.clock.resolution as f64;
        Run { ticks_per_second, facts: known.into_iter().chain([events]).chain(later).collect() }
    }
}

impl Bounds {
    /// Of all ranks.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn find(
        tools: &Tools<'_>,
        (known, span): (Known<'_>, Span),
        exchange: &mut dyn Exchange,
    ) -> Result<Bounds, Error> {
        let Span { begin, run, ranks, threads } = span;
        let (mut most, mut sum) = (0, 0_i128);
        let mut own = known.timed.own_times().into_iter();
        for (process, results) in known.processes.iter().zip(known.results) {
            for (at, severities) in results.severities.iter().enumerate() {
                let Some([first, last]) = own.next() else { break };
                if process.has_not_run() || at > 0 {
                    continue;
                }
                let (first, last) = (first.max(begin), last.min(begin + run));
                let busy = (last - first).max(0).saturating_sub(waited(tools, severities)).max(0);
                most = most.max(busy);
                sum += i128::from(busy);
            }
        }
        let words = vec![most.cast_unsigned(), i64::try_from(sum).unwrap_or(i64::MAX).cast_unsigned()];
        let told = share(exchange, words)?;
        let of = |at: usize| told.iter().map(move |words| words[at]);
        let most = of(0).map(u64::cast_signed).max().unwrap_or(0);
        let sum: i128 = of(1).map(|word| i128::from(word.cast_signed())).sum();
        let mean = i64::try_from(sum / i128::from(ranks.max(1))).unwrap_or(i64::MAX);
        Ok(Bounds {
            run,
            all: span.all(),
            ranks,
            threads,
            wait: (run - most).max(0),
            conserve: (run - mean).max(0),
            least: least(run, known.least_percent),
        })
    }

    /// As facts for rules, in the order of the schema.
    pub(super) fn facts(&self, tools: &Tools<'_>, span: Span) -> Run {
        span.facts_with(tools, [Some(self.wait), Some(self.conserve)])
    }
}

/// So many per cent of the run.
#[expect(clippy::cast_precision_loss)]
fn least(run: Ticks, percent: f64) -> Ticks {
    ticks(run as f64 * percent / 100.0)
}

/// How long a thread waits in all, but in `MPI_Init` and `MPI_Finalize`.
pub(super) fn waited(tools: &Tools<'_>, severities: &Severities) -> Ticks {
    waiting_metrics(tools)
        .map(|metric| severities.column(metric).iter().copied().fold(0, Ticks::saturating_add))
        .fold(0, Ticks::saturating_add)
}

/// The metrics of waiting, none of which is below another one, but of that in `MPI_Init` and `MPI_Finalize`.
pub(super) fn waiting_metrics(tools: &Tools<'_>) -> impl Iterator<Item = MetricId> {
    let patterns = tools.metrics.patterns.iter();
    let waiting = patterns.filter(|it| it.is_outermost_waiting && !it.pattern.is_of_start_up());
    waiting.map(|it| it.metric)
}
