//! Excess work of the culprits over the locations that they made wait, delay by delay.
//!
//! [`short_term`](super::super::short_term) has kept most of it; the part that was too much to keep is
//! compared once more, as far as it belongs to culprits.

use model::Ticks;

use super::CulpritPlaces;
use crate::causes::delay::DelayClass;
use crate::causes::lines::Lines;
use crate::causes::sides::{Causes, Wait, Waits};
use crate::causes::work::compare_again;
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::ids::{ReportPath, Row};
use crate::int::to_u32;
use crate::wire::{Halves, Wire};

/// Excess work of a culprit in a row of its location, since the last common synchronisation of both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// The culprit.
    pub(super) culprit: u32,
    pub(super) row: Row,
    /// The excess, more than 0 ticks.
    pub(super) more: Ticks,
}

/// Excess work of the culprits at this worker's locations.
#[derive(Debug)]
pub(super) struct CulpritExcess {
    /// By cause: its part of the list.
    parts: Vec<(u32, u32)>,
    list: Vec<Work>,
}

impl CulpritExcess {
    /// Returns the excess work before a cause.
    pub(super) fn of(&self, cause: u32) -> &[Work] {
        let (first, end) = self.parts[cause as usize];
        &self.list[first as usize..end as usize]
    }

    /// Adds the culprits' part of a cause's excess work by row.
    fn add(
        &mut self,
        places: &CulpritPlaces<'_>,
        lines: &Lines,
        location: u32,
        cause: u32,
        excess: &[(Row, Ticks)],
    ) {
        let paths = lines.paths(lines.at(location));
        let of_culprit = |&(row, more): &(Row, Ticks)| {
            let culprit = places.culprit(paths[row.index()], location)?;
            Some(Work { culprit: to_u32(culprit), row, more })
        };
        let first = to_u32(self.list.len());
        self.list.extend(excess.iter().filter_map(of_culprit));
        self.parts[cause as usize] = (first, to_u32(self.list.len()));
    }

    /// Encodes the excess ticks by cause and culprit, for [`forward`](super::forward).
    pub(super) fn encode(&self) -> Batch {
        let mut batch = Batch::with_capacity(2 * self.list.len());
        for cause in 0..to_u32(self.parts.len()) {
            for work in self.of(cause) {
                (Halves(cause, work.culprit), work.more).put(&mut batch);
            }
        }
        batch
    }

    /// Returns the culprits' part of the excess work of all causes.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn find(
        places: &CulpritPlaces<'_>,
        lines: &mut Lines,
        waits: &Waits,
        causes: &Causes,
        exchange: &mut dyn Exchange,
    ) -> Result<CulpritExcess, Error> {
        let mut excess = CulpritExcess { parts: vec![(0, 0); causes.list.len()], list: Vec::new() };
        let mut again = Vec::new();
        let mut alone = Vec::new();
        for (number, cause) in (0..).zip(&causes.list) {
            let spot = cause.delay.causing;
            // Most delays are caused where no culprit is.
            if cause.denominator <= 0.0 || !places.members.has_any(spot.location) {
                continue;
            }
            if cause.delay.class == DelayClass::IdleThreads {
                let line = lines.at(spot.location);
                let since = causes.since(number as usize, lines.line(line));
                lines.work_since(line, since, spot.position, &mut alone);
                excess.add(places, lines, spot.location, number, &alone);
            } else if let Some(kept) = causes.excess(number) {
                excess.add(places, lines, spot.location, number, kept);
            } else {
                again.push(number);
            }
        }
        let is_asked =
            |wait: &Wait, path: ReportPath| places.culprit(path, wait.delay.causing.location).is_some();
        let again = again.into_iter();
        compare_again(lines, (waits, causes), again, is_asked, exchange, |lines, number, more| {
            let location = causes.list[number as usize].delay.causing.location;
            excess.add(places, lines, location, number, more);
        })?;
        Ok(excess)
    }
}
