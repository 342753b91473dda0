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
const FRACTION: u64 = 32;
const SMALL: u64 = 1 << 20;

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
            let is_allowed =
                plan.windows.is_empty() || more.is_empty() || bytes.saturating_add(of_more) <= allowed;
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

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use patterns::matched::Interval;

    use super::*;
    use crate::details::instances::{BothSides, ENTERED};
    use crate::ids::{PathId, ReportPath};
    use crate::operations::Place;
    use crate::options::Semantics;
    use crate::statistics::Instance;
    use crate::trace::tests::world;

    /// A wait of a location for another one, from a time on.
    fn wait(location: u32, cause: u32, begin: Ticks, ticks: Ticks) -> SelectedWait {
        let place = |location| Place { location, path: PathId::new(0) };
        let call = Interval::new(begin, begin + ticks);
        SelectedWait {
            subject: 0,
            instance: Instance {
                duration: Reverse(ticks),
                process: location,
                enter: begin,
                exit: begin + ticks,
                path: ReportPath::new(0),
                cause: place(cause),
            },
            both: BothSides {
                waiting: place(location),
                call,
                begin,
                ticks,
                cause_call: call,
                entered: [NO_NUMBER; ENTERED],
                ..BothSides::default()
            },
            paths: [ReportPath::NONE; 2],
        }
    }

    #[test]
    fn waits_within_a_window_get_none_of_their_own() {
        let trace = Trace::new(world(&[10, 11, 12]), Semantics::Corrected).unwrap();
        let waits = [
            wait(0, 1, 100, 50),
            wait(1, 0, 160, 20),
            wait(1, 2, 160, 20),
            wait(0, 1, 500, 5),
            wait(2, 1, 0, 1),
        ];
        let limits = Limits { windows: 3, weights: &[1, 1, 1] };
        let plan = Plan::new(&trace, &waits, &[], limits);
        assert_eq!(plan.of_waits, [0, 0, 1, 2, NO_NUMBER]);
        let first = Window { instance: 0, begin: 50, end: 200, locations: vec![0, 1] };
        assert_eq!((&plan.windows[0], plan.without), (&first, 1));
        assert_eq!(plan.of_location(2).map(|(number, _)| number).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn few_files_are_read_again() {
        let trace = Trace::new(world(&[10, 11, 12]), Semantics::Corrected).unwrap();
        let waits = [wait(0, 1, 100, 50), wait(1, 2, 160, 20), wait(0, 1, 500, 5)];
        let limits = Limits { windows: 3, weights: &[SMALL, SMALL, 1] };
        // The first window is there in any case, and so are others of what is read for it.
        assert_eq!(Plan::new(&trace, &waits, &[], limits).of_waits, [0, NO_NUMBER, 1]);
        let limits = Limits { windows: 3, weights: &[1, 1, SMALL] };
        assert_eq!(Plan::new(&trace, &waits, &[], limits).of_waits, [0, NO_NUMBER, 1]);
        let limits = Limits { windows: 3, weights: &[1, 1, SMALL - 2] };
        assert_eq!(Plan::new(&trace, &waits, &[], limits).of_waits, [0, 1, 2]);
    }
}
