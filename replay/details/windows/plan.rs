//! Which windows there are: each around a severe wait, that is in no window before it.

use std::collections::BTreeSet;
use std::ops::Range;

use model::Ticks;

use crate::causes::Hop;
use crate::details::instances::{NO_NUMBER, SelectedWait};
use crate::error::Error;
use crate::exchange::{Batch, Exchange, broadcast};
use crate::int::to_u32;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::wire::{self, Wire, wire};

/// Locations of a window, at most.
const LOCATIONS: usize = 8;

/// Of the bytes of all event files, the fraction that may be read a second time, and so many bytes in any case.
const FRACTION: u64 = 16;
const SMALL: u64 = 8 << 20;

/// A window: some locations in a part of the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// Position of the wait that it is around among the waits of the table `instances`.
    pub instance: usize,
    /// Its begin.
    pub begin: Ticks,
    /// Its end.
    pub end: Ticks,
    /// Its locations: the one that waits, its cause, and others.
    pub locations: Vec<u32>,
}

wire!(Window { instance, begin, end, locations });

impl Window {
    /// Its time.
    pub fn time(&self) -> Range<Ticks> {
        self.begin..self.end
    }

    /// Whether a location is in it.
    pub fn has(&self, location: u32) -> bool {
        self.locations.contains(&location)
    }

    /// The window around a severe wait.
    fn around(instance: usize, wait: &SelectedWait, chain: &[Hop]) -> Window {
        let both = &wait.both;
        let mut locations = Vec::with_capacity(LOCATIONS);
        let chain = chain.iter().map(|hop| hop.cause_location);
        let one = [both.waiting.location, wait.instance.cause.location];
        for location in one.into_iter().chain(chain).chain(both.entered) {
            if location != NO_NUMBER && locations.len() < LOCATIONS && !locations.contains(&location) {
                locations.push(location);
            }
        }
        let begin = both.call.enter.min(both.cause_call.enter).saturating_sub(both.ticks);
        let end = both.call.leave.max(both.cause_call.leave).saturating_add(both.ticks);
        Window { instance, begin, end, locations }
    }

    /// Whether both sides of a wait are in it.
    fn contains(&self, wait: &SelectedWait) -> bool {
        let both = &wait.both;
        let is_in = |time: Ticks| self.begin <= time && time <= self.end;
        let times = [both.call.enter, both.cause_call.enter, both.call.leave, both.cause_call.leave];
        self.has(both.waiting.location)
            && self.has(wait.instance.cause.location)
            && times.into_iter().all(is_in)
    }
}

/// How many windows there may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// So many.
    pub windows: usize,
    /// Bytes of event files, by process: few of these may be read a second time.
    pub weights: &'a [u64],
}

/// Windows around waits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// The windows; on every worker.
    pub windows: Vec<Window>,
    /// For each wait the window that it is in, or [`NO_NUMBER`]; on worker 0.
    pub of_waits: Vec<u32>,
    /// Waits without a window.
    pub without: usize,
}

wire!(Plan { windows, of_waits, without });

impl Plan {
    /// Plans windows around waits, given their chains; these may be missing.
    fn new(trace: &Trace, waits: &[SelectedWait], chains: &[Vec<Hop>], limits: Limits<'_>) -> Plan {
        let all = limits.weights.iter().fold(0, |sum: u64, &bytes| sum.saturating_add(bytes));
        let allowed = (all / FRACTION).max(SMALL);
        let (mut read, mut bytes): (BTreeSet<usize>, u64) = (BTreeSet::new(), 0);
        let mut plan = Plan::default();
        for (number, wait) in waits.iter().enumerate() {
            if let Some(known) = plan.windows.iter().position(|window| window.contains(wait)) {
                plan.of_waits.push(to_u32(known));
                continue;
            }
            let chain = chains.get(number).map_or(&[][..], Vec::as_slice);
            let window = Window::around(number, wait, chain);
            let processes =
                window.locations.iter().map(|&location| trace.locations[location as usize].process);
            let more: BTreeSet<usize> = processes.filter(|process| !read.contains(process)).collect();
            let of_more =
                more.iter().fold(0, |sum: u64, &process| sum.saturating_add(limits.weights[process]));
            let is_allowed = plan.windows.is_empty() || bytes.saturating_add(of_more) <= allowed;
            if plan.windows.len() >= limits.windows || !is_allowed {
                plan.of_waits.push(NO_NUMBER);
                plan.without += 1;
                continue;
            }
            plan.of_waits.push(to_u32(plan.windows.len()));
            plan.windows.push(window);
            bytes = bytes.saturating_add(of_more);
            read.extend(more);
        }
        plan
    }

    /// Plans windows at worker 0; all workers learn them.
    ///
    /// # Errors
    /// If a worker failed.
    pub fn of_all(
        tools: &Tools<'_>,
        waits: &[SelectedWait],
        chains: &[Vec<Hop>],
        limits: Limits<'_>,
        exchange: &mut dyn Exchange,
    ) -> Result<Plan, Error> {
        let mut batch = Batch::new();
        if exchange.worker() == 0 {
            Plan::new(tools.trace, waits, chains, limits).put(&mut batch);
        }
        Ok(wire::one(&broadcast(exchange, batch)?))
    }

    /// The windows with a location, by their numbers.
    pub fn of_location(&self, location: u32) -> impl Iterator<Item = (usize, &Window)> {
        self.windows.iter().enumerate().filter(move |(_, window)| window.has(location))
    }
}
