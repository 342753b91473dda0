//! Brings rows to worker 0, a band at a time.
//!
//! Every worker makes the values of its locations as they will be in the file. The others send the rows in which they have
//! something; worker 0 makes its own while they are at the next ones, and puts them into their places in the file.

use std::ops::Range;
use std::vec::IntoIter;

use cubex::{CnodeId, MetricId, Writer};
use model::ClockProperties;
use patterns::Unit;

use super::bands::{Band, BandRow, Piece, bands, pieces};
use super::cells::{Numbers, Value};
use super::remarks::Remarks;
use super::rows::{RowSets, Signs};
use super::sheets::Sheet;
use super::source::Sources;
use super::tiles::Tile;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, gather};
use crate::fraction;
use crate::tools::Tools;

/// What a worker makes of its rows.
#[derive(Debug)]
pub(super) struct Collector<'c> {
    tools: &'c Tools<'c>,
    sources: &'c Sources<'c>,
    /// The rows of the worker itself, if it has to tell them.
    own: Option<RowSets>,
    /// The rows of all.
    all: RowSets,
    bands: Vec<Band>,
    pub(super) remarks: Remarks<'c>,
}

impl<'c> Collector<'c> {
    /// `signs` are what the locations have by themselves.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn new(
        tools: &'c Tools<'c>,
        sources: &'c Sources<'c>,
        signs: Signs,
        remarks: Remarks<'c>,
        exchange: &mut dyn Exchange,
    ) -> Result<Collector<'c>, Error> {
        let all = RowSets::new(sources, signs);
        let own = (exchange.worker() > 0).then(|| all.clone());
        let all = all.of_all(exchange)?;
        let bands = bands(&all, sources.met(), tools.trace.locations.len(), exchange.workers());
        Ok(Collector { tools, sources, own, all, bands, remarks })
    }

    /// Brings the rows of a worker to worker 0.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn send(&mut self, exchange: &mut dyn Exchange) -> Result<(), Error> {
        let mut values = Vec::new();
        let (sources, bands) = (self.sources, std::mem::take(&mut self.bands));
        for bands in bands.chunk_by(Band::share_a_sheet) {
            let own = sources.own(&bands[0].locations);
            let sheets = sources.sheets(&bands[0].sheet, &own);
            for band in bands {
                let paths = &sources.met()[band.paths.clone()];
                let mut pieces = pieces(&self.all, paths);
                for Piece { metric, rows } in &mut pieces {
                    rows.retain(|row| {
                        self.own.as_ref().is_some_and(|own| own.contains(*metric, paths[row.at as usize]))
                    });
                }
                // The rows are sent without those between them.
                let mut slots = Vec::new();
                for row in pieces.iter_mut().flat_map(|piece| &mut piece.rows) {
                    slots.push(row.slot.into());
                    row.slot = slots.len() as u32 - 1;
                }
                let mut batch = Batch::new();
                if !own.is_empty() {
                    values.resize(slots.len() * own.len(), Value::default());
                    self.fill(&sheets, band, &pieces, &own, &mut values);
                    batch.extend([own.start as u64, own.len() as u64]);
                    for (slot, row) in slots.into_iter().zip(values.chunks_exact(own.len())) {
                        batch.push(slot);
                        batch.extend(row.iter().map(|&value| u64::from_le_bytes(value)));
                    }
                }
                gather(exchange, batch)?;
            }
        }
        Ok(())
    }

    /// Writes the rows of all workers.
    ///
    /// # Errors
    /// If the file cannot be written, or a worker failed.
    pub(super) fn write(&mut self, writer: &mut Writer, exchange: &mut dyn Exchange) -> Result<(), Error> {
        let width = self.tools.trace.locations.len();
        for metric in 0..self.all.metrics() {
            let cnodes: Vec<CnodeId> =
                self.all.rows(metric).into_iter().map(|path| CnodeId(path as usize)).collect();
            debug_assert_eq!(writer.order(MetricId(metric), &cnodes)?, cnodes);
            writer.reserve(MetricId(metric), &cnodes)?;
        }
        let mut values = Vec::new();
        let (sources, bands) = (self.sources, std::mem::take(&mut self.bands));
        for bands in bands.chunk_by(Band::share_a_sheet) {
            let sheets = sources.sheets(&bands[0].sheet, &sources.own(&bands[0].locations));
            for band in bands {
                let pieces = pieces(&self.all, &sources.met()[band.paths.clone()]);
                let rows: usize = pieces.iter().map(|piece| piece.rows.len()).sum();
                values.resize(values.len().max(rows * band.locations.len()), Value::default());
                let values = &mut values[..rows * band.locations.len()];
                let mut told: Vec<Told> =
                    gather(exchange, Batch::new())?.into_iter().filter_map(Told::new).collect();
                if !told.is_empty() {
                    values.fill(Value::default());
                }
                self.fill(&sheets, band, &pieces, &band.locations, values);
                told.iter_mut().for_each(|told| told.fill(&band.locations, values));
                for piece in &pieces {
                    put(writer, piece, &band.locations, width, values)?;
                }
            }
        }
        Ok(())
    }

    /// Makes the rows of the locations of some sheets, in a place for those of `locations`.
    fn fill(
        &mut self,
        sheets: &[Sheet<'_>],
        band: &Band,
        pieces: &[Piece],
        locations: &Range<usize>,
        values: &mut [Value],
    ) {
        let Collector { tools, sources, remarks, .. } = self;
        let clock = &tools.trace.definitions.clock;
        let first_path = band.paths.start - band.sheet.start;
        let at = first_path..band.paths.end - band.sheet.start;
        let mut fill = |tile: &Tile<'_>| {
            let width = tile.width();
            let first = sources.first + tile.locations().start;
            let is_in = |row: &&BandRow| tile.at.contains(&(first_path + row.at as usize));
            for Piece { metric, rows } in
                pieces.iter().filter(|piece| piece.rows.iter().any(|row| is_in(&row)))
            {
                let is_remarkable = remarks.are_about(*metric);
                let are_shares = tools.formulas.has_fractions(*metric);
                let unit = tools.metrics.list[*metric].unit;
                let cells = tile.cells(*metric);
                let made = cells.values(|numbers| converted(numbers, clock, unit, are_shares));
                for row in rows.iter().filter(is_in) {
                    let start = row.slot as usize * locations.len() + first - locations.start;
                    let values = &mut values[start..start + width];
                    let at = first_path + row.at as usize - tile.at.start;
                    match made {
                        Some(made) => values.copy_from_slice(&made[at * width..(at + 1) * width]),
                        None => values.fill(Value::default()),
                    }
                    if is_remarkable && let Some(numbers) = cells.row(at, width, are_shares) {
                        remarks.add(*metric, tile.paths[at], first, numbers);
                    }
                }
            }
        };
        sheets.iter().for_each(|sheet| sheet.tiles(at.clone(), &mut fill));
    }
}

/// Puts rows of a metric at some of all locations into the report, whose rows have `width` values.
fn put(
    writer: &mut Writer,
    Piece { metric, rows }: &Piece,
    locations: &Range<usize>,
    width: usize,
    values: &[Value],
) -> Result<(), Error> {
    // Rows that follow each other in the file are put there together.
    let follow = |one: &BandRow, next: &BandRow| next.number == one.number + 1 && locations.len() == width;
    for rows in rows.chunk_by(follow) {
        let first = rows[0].number as usize * width + locations.start;
        let values = &values[rows[0].slot as usize * locations.len()..][..rows.len() * locations.len()];
        writer.put(MetricId(*metric), first as u64, values)?;
    }
    Ok(())
}

/// Severities as they are in the file.
fn converted(numbers: &Numbers, clock: &ClockProperties, unit: Unit, are_shares: bool) -> Vec<Value> {
    match (numbers, unit) {
        (Numbers::Zero, _) => Vec::new(),
        (Numbers::Whole(ticks), Unit::Seconds) => made(ticks, |ticks| clock.word(ticks).to_le_bytes()),
        (Numbers::Wide(shares), Unit::Seconds) if are_shares => {
            made(shares, |shares| seconds(clock, shares).to_le_bytes())
        }
        (Numbers::Wide(ticks), Unit::Seconds) => made(ticks, |ticks| clock.seconds(ticks).to_le_bytes()),
        (Numbers::Whole(counts), _) => made(counts, i64::to_le_bytes),
        (Numbers::Wide(counts), _) => made(counts, |count| (count as u64).to_le_bytes()),
    }
}

fn made<T: Copy>(numbers: &[T], value: impl Fn(T) -> Value) -> Vec<Value> {
    numbers.iter().map(|&number| value(number)).collect()
}

/// A share of ticks in seconds. Most are whole ticks, which take no long division; the result is the same.
fn seconds(clock: &ClockProperties, shares: i128) -> f64 {
    match i64::try_from(shares >> fraction::FRACTION) {
        Ok(ticks) if fraction::whole(ticks) == shares => clock.seconds(ticks.into()),
        _ => clock.seconds(shares) / fraction::ONE,
    }
}

/// Rows of another worker, which it has sent for a band.
#[derive(Debug)]
struct Told {
    locations: Range<usize>,
    words: IntoIter<u64>,
}

impl Told {
    /// `None` from a worker that has no locations in the band, or from worker 0.
    fn new(batch: Batch) -> Option<Told> {
        let mut words = batch.into_iter();
        let (first, count) = (words.next()? as usize, words.next()? as usize);
        Some(Told { locations: first..first + count, words })
    }

    /// Puts the values into rows of some locations.
    fn fill(&mut self, locations: &Range<usize>, values: &mut [Value]) {
        while let Some(slot) = self.words.next() {
            let start = slot as usize * locations.len() + self.locations.start - locations.start;
            let values = &mut values[start..start + self.locations.len()];
            values.iter_mut().zip(self.words.by_ref()).for_each(|(to, word)| *to = word.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_the_same_seconds_whether_they_are_whole_ticks_or_not() {
        let clock = ClockProperties { resolution: 3, ..ClockProperties::default() };
        let one = fraction::whole(1);
        for shares in
            [0, one, -one, 7 * one, one / 3, -7 * one / 3, one << 62, one << 65, i128::MAX, i128::MIN]
        {
            assert_eq!(seconds(&clock, shares), shares as f64 / 3.0 / fraction::ONE);
        }
    }

    #[test]
    fn rows_of_another_worker_come_to_their_places() {
        assert!(Told::new(Batch::new()).is_none());
        // Two rows of two locations; those of the band are one before, and three.
        let mut told = Told::new(vec![11, 2, 0, 7, 8, 2, 9, 10]).unwrap();
        let mut values = vec![Value::default(); 9];
        told.fill(&(10..13), &mut values);
        let numbers: Vec<u64> = values.iter().map(|&value| u64::from_le_bytes(value)).collect();
        assert_eq!(numbers, [0, 7, 8, 0, 0, 0, 0, 9, 10]);
    }
}
