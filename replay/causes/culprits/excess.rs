//! The work that the culprits did beyond that of the locations that they made wait, delay by delay.
//!
//! [`short_term`](super::super::short_term) compares all call paths, and keeps no more than it has to. Here it is the call paths
//! of the culprits, on their locations: both sides sum them up once more.

use model::Ticks;
use rustc_hash::FxHashMap;

use super::Places;
use crate::causes::delay::Class;
use crate::causes::lines::Lines;
use crate::causes::previous::Past;
use crate::causes::sides::{Causes, Wait, Waits};
use crate::causes::work::bring;
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::int::to_u32;
use crate::journal::JournalSpot;
use crate::severity::Row;
use crate::wire::{Halves, Wire};

/// The work of a culprit in a row of its location since both sides of a delay last synchronised, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// The culprit.
    pub(super) culprit: usize,
    pub(super) row: Row,
    /// All of it.
    pub(super) all: Ticks,
    /// What exceeds the other side's.
    pub(super) more: Ticks,
}

/// Work of the culprits at this worker's locations that exceeds that of the other side.
#[derive(Debug, Default)]
pub(super) struct Excess {
    /// By cause where a culprit is: its part of the list.
    places: FxHashMap<u32, (u32, u32)>,
    list: Vec<Work>,
}

impl Excess {
    /// The excess work before a cause.
    pub(super) fn of(&self, cause: u32) -> &[Work] {
        self.places.get(&cause).map_or(&[], |&(first, end)| &self.list[first as usize..end as usize])
    }

    fn add(&mut self, cause: u32, work: impl Iterator<Item = Work>) {
        let first = to_u32(self.list.len());
        // Nobody is charged for what it did not do.
        self.list.extend(work.filter(|work| work.more > 0));
        let end = to_u32(self.list.len());
        if end > first {
            self.places.insert(cause, (first, end));
        }
    }

    /// The ticks that exceed the other side's, by cause and culprit, for [`forward`](super::forward).
    pub(super) fn encode(&self) -> Batch {
        let mut batch = Batch::new();
        for (&cause, &(first, end)) in &self.places {
            for work in &self.list[first as usize..end as usize] {
                (Halves(cause, to_u32(work.culprit)), work.more).put(&mut batch);
            }
        }
        batch
    }

    /// Compares both sides of all delays that are caused where a culprit is.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn find(
        places: &Places<'_>,
        lines: &mut Lines,
        waits: &Waits,
        causes: &Causes,
        exchange: &mut dyn Exchange,
    ) -> Result<Excess, Error> {
        // Most delays are caused where no culprit is.
        let is_named = |spot: JournalSpot| places.members.has_any(spot.location);
        let named = |ends: &[usize], spot: &dyn Fn(usize) -> JournalSpot| -> Vec<usize> {
            (ends[0]..ends[1]).filter(|&at| is_named(spot(at))).collect()
        };
        let of_worker = waits.firsts.windows(2);
        let told: Vec<Vec<usize>> =
            of_worker.map(|ends| named(ends, &|at| waits.list[at].delay.causing)).collect();
        let of_worker = causes.firsts.windows(2);
        let heard: Vec<Vec<usize>> =
            of_worker.map(|ends| named(ends, &|at| causes.list[at].delay.causing)).collect();
        let counts: Vec<usize> = told.iter().map(Vec::len).collect();
        let wait = |worker: usize, number: usize| waits.list[told[worker][number]];
        let is_asked = |wait: &Wait, path: u32| places.culprit(path, wait.delay.causing.location).is_some();

        let mut excess = Excess::default();
        let mut own: Option<(JournalSpot, Past)> = None;
        let mut work: Vec<(Row, Ticks)> = Vec::new();
        bring(lines, &counts, wait, is_asked, exchange, |lines, told| {
            let number = heard[told.worker][told.number];
            let cause = &causes.list[number];
            let spot = cause.delay.causing;
            if cause.denominator <= 0.0 {
                return;
            }
            // Many may wait for one event, one after the other.
            if own != Some((spot, cause.past)) {
                lines.pruned(spot, cause.past, &mut work);
                own = Some((spot, cause.past));
            }
            let paths = lines.paths(lines.at(spot.location));
            let compare = |&(row, all): &(Row, Ticks)| {
                let path = paths[row as usize];
                let more = all.saturating_sub(lines.noted(path));
                Some(Work { culprit: places.culprit(path, spot.location)?, row, all, more })
            };
            excess.add(to_u32(number), work.iter().filter_map(compare));
        })?;
        let is_idle = |number: &usize| causes.list[*number].delay.class == Class::IdleThreads;
        for number in (0..causes.list.len()).filter(is_idle) {
            let spot = causes.list[number].delay.causing;
            if !is_named(spot) {
                continue;
            }
            let line = lines.at(spot.location);
            lines.work_since(line, causes.since(number, lines.line(line)), spot.position, &mut work);
            let paths = lines.paths(line);
            let alone = |&(row, ticks): &(Row, Ticks)| {
                let culprit = places.culprit(paths[row as usize], spot.location)?;
                Some(Work { culprit, row, all: ticks, more: ticks })
            };
            excess.add(to_u32(number), work.iter().filter_map(alone));
        }
        Ok(excess)
    }
}
