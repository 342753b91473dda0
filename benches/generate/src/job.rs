//! Job: the parameters of a trace.

use std::fmt;

use crate::draw::{below, draw};
use crate::location::reference;
use crate::patterns::{Pattern, Plan};
use crate::tuning::Tuning;

/// Events of a rank's first thread outside the pattern: start and end of the program, `MPI_Init`,
/// `MPI_Finalize`.
const EVENTS_AROUND: u64 = 20;

/// Stream of random numbers for the rank that has the most work in a step.
const LAST: u64 = u64::MAX;

/// Longest trace in nanoseconds: 18 years, so that all times are far from the largest number.
pub(crate) const LONGEST: u64 = 1 << 59;

/// Parameters of a trace. The same job always gives the same bytes.
#[derive(Clone, Debug)]
pub struct Job {
    /// Communication pattern of the ranks.
    pub pattern: &'static Pattern,
    /// Number of ranks.
    pub ranks: u32,
    /// Approximate number of events of each rank: the last step may give more or fewer.
    pub events: u64,
    /// Number of steps of the pattern, instead of the number that gives so many events.
    pub iterations: Option<u64>,
    /// Threads of each rank, more than one if the pattern has several.
    pub threads: u32,
    /// Seed of the random numbers that distribute work over ranks and steps.
    pub seed: u64,
    /// Largest drift of clocks, in millionths; clocks then also have offsets of up to a second. Zero: there
    /// is one clock.
    pub drift: f64,
    /// Largest error of the recorded clock offsets in nanoseconds. Events are in wrong order then.
    pub clock_error: u64,
    /// Whether records have the line of each call. Patterns with threads cannot.
    pub call_sites: bool,
    /// What is chosen about the loop, if the pattern has such options.
    pub tuning: Tuning,
    /// Size of the chunks of event files in bytes.
    pub chunk: u64,
}

impl Job {
    /// A job with the defaults of the command line otherwise.
    pub fn new(pattern: &'static Pattern, ranks: u32, events: u64) -> Job {
        let chunk = otf2::Anchor::default().event_chunk_size;
        let threads = pattern.threads;
        Job {
            pattern,
            ranks,
            events,
            iterations: None,
            threads,
            seed: 1,
            drift: 0.0,
            clock_error: 0,
            call_sites: false,
            tuning: Tuning::default(),
            chunk,
        }
    }

    /// References of all locations, in the order of ranks, then threads, and the streams of devices behind these.
    pub fn locations(&self) -> impl Iterator<Item = u64> {
        let of_rank = 0..self.locations_of_rank();
        (0..self.ranks).flat_map(move |rank| of_rank.clone().map(move |thread| reference(rank, thread)))
    }

    /// Number of locations of each rank: threads, and streams of its device.
    pub fn locations_of_rank(&self) -> u32 {
        self.threads + self.pattern.objects.streams
    }

    /// The neighbours of a rank on a ring: the one before it, and the one after it.
    pub(crate) fn neighbours(&self, rank: u32) -> [u32; 2] {
        [rank.checked_sub(1).unwrap_or(self.ranks - 1), (rank + 1) % self.ranks]
    }

    /// Number of steps and length of the trace.
    pub(crate) fn plan(&self) -> Result<Plan, Error> {
        let name = self.pattern.name;
        if self.ranks < self.pattern.least_ranks {
            let least = self.pattern.least_ranks;
            return Err(Error::new(format!("{name} needs {least} ranks or more")));
        }
        if self.threads == 0 || self.threads > 1 && self.pattern.threads == 1 {
            return Err(Error::new(format!("ranks of {name} have one thread each")));
        }
        if self.call_sites && self.pattern.threads > 1 {
            // A team's regions are below the call path that forks it, which is one of another location.
            return Err(Error::new(format!("{name} has threads, whose calls have no call sites")));
        }
        if self.drift.is_nan() || !(0.0..=1000.0).contains(&self.drift) {
            return Err(Error::new(format!(
                "clocks cannot drift by {} millionths, but by 0 to 1000",
                self.drift
            )));
        }
        if self.clock_error > 0 && self.drift == 0.0 {
            return Err(Error::new("without drift there is one clock, which cannot be wrong".into()));
        }
        let options = self.tuning.chosen();
        if let Some(option) = options.into_iter().find(|option| !self.pattern.options.contains(option)) {
            return Err(Error::new(format!("{name} does not have --{option}")));
        }
        let plan = (self.pattern.plan)(self);
        if let Some(slow) = self.tuning.slow
            && (slow.rank >= self.ranks || !(1..=plan.steps).contains(&slow.iteration))
        {
            let (ranks, steps) = (self.ranks, plan.steps);
            return Err(Error::new(format!(
                "there is no such slow rank among {ranks}, or iteration among {steps}"
            )));
        }
        if plan.ticks > LONGEST {
            return Err(Error::new(format!("so many steps of {name} would take more than 18 years")));
        }
        Ok(plan)
    }

    /// Number of events of a rank that are left for its pattern.
    pub(crate) fn events_inside(&self) -> u64 {
        self.events.saturating_sub(EVENTS_AROUND)
    }

    /// Number of steps, at least one: those that are asked for, or for about the wanted events, if `steps` of them have
    /// `events` events.
    pub(crate) fn steps(&self, steps: u64, events: u64) -> u64 {
        if let Some(iterations) = self.iterations {
            return iterations.max(1);
        }
        let wanted = u128::from(self.events_inside()) * u128::from(steps);
        ((wanted + u128::from(events) / 2) / u128::from(events)).max(1) as u64
    }

    /// Work of a rank or thread in a step, from 0 to 1000. Some always have more than others, and sometimes
    /// there is a lot.
    #[inline]
    pub(crate) fn load(&self, id: u32, step: u64) -> u64 {
        let always = below(draw(self.seed, id.into(), u64::MAX), 300);
        let now = draw(self.seed, id.into(), step);
        let surplus = if now.is_multiple_of(32) { 200 } else { 0 };
        always + below(now, 501) + surplus
    }

    /// The same seven times finer, from 0 to 6999: ranks with near numbers never have equally much, so that it does not
    /// depend on how times are rounded for whom a rank waits.
    #[inline]
    pub(crate) fn distinct_load(&self, rank: u32, step: u64) -> u64 {
        const RANKS: u32 = 7;
        u64::from(RANKS) * self.load(rank, step) + u64::from(rank % RANKS)
    }

    /// Work of a rank in a step that ends with a call of all ranks, from 0 to 1249: that of the [last](Self::last) rank is
    /// 1000 or more, that of all others less.
    #[inline]
    pub(crate) fn load_before_all(&self, rank: u32, step: u64) -> u64 {
        let load = self.load(rank, step);
        if rank == self.last(step) { 1000 + load / 4 } else { load }
    }

    /// The rank that comes last to a call of all ranks. It is drawn, since comparing the work of all ranks would take too
    /// long.
    #[inline]
    pub(crate) fn last(&self, step: u64) -> u32 {
        self.any(LAST, step)
    }

    /// A rank drawn from a stream of random numbers.
    #[inline]
    pub(crate) fn any(&self, stream: u64, step: u64) -> u32 {
        below(draw(self.seed, stream, step), self.ranks.into()) as u32
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Job { pattern, ranks, events, threads, seed, drift, clock_error, call_sites, .. } = self;
        write!(f, "{}, {ranks} ranks of {threads} threads, ", pattern.name)?;
        match self.iterations {
            Some(iterations) => write!(f, "{iterations} steps")?,
            None => write!(f, "{events} events a rank")?,
        }
        write!(f, ", seed {seed}")?;
        if *drift != 0.0 {
            write!(f, ", clocks drift by {drift} millionths, offsets are known to {clock_error} ns")?;
        }
        if *call_sites {
            write!(f, ", with call sites")?;
        }
        if self.tuning != Tuning::default() {
            write!(f, ", {}", self.tuning)?;
        }
        Ok(())
    }
}

/// Reason why there is no trace, as a message for users.
#[derive(Clone, Debug)]
pub struct Error(String);

impl Error {
    pub(crate) fn new(message: String) -> Error {
        Error(message)
    }
}

impl From<otf2::Error> for Error {
    fn from(error: otf2::Error) -> Error {
        Error(error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
