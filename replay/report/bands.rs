//! How the report is made piece by piece: some call paths at some locations at a time, with all metrics.

use std::ops::Range;

use super::rows::RowSets;
use super::sheets;
use crate::severity::MetricId;

/// Values of a band, about: they stay in a cache until they are written.
const VALUES: usize = 1 << 17;

/// Values of a band at most, unless it is as small as bands may be: 8 MiB. As many are on their way from other workers.
const MOST: usize = 1 << 20;

/// Rows of a band, about.
const ROWS: usize = 1 << 14;

/// Call paths of a band at least, if there are as many: their severities at a location fill a line of the cache.
const PATHS: usize = 8;

/// Locations of a band at least, if there are as many: what is written at a time fills a page.
const LOCATIONS: usize = 512;

/// Some call paths at some locations, in all metrics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Band {
    /// Which call paths, by their position in a list.
    pub(super) paths: Range<usize>,
    pub(super) locations: Range<usize>,
    /// Call paths, its own among them, that are looked up together.
    pub(super) sheet: Range<usize>,
}

impl Band {
    /// Whether another band is of the same sheet.
    pub(super) fn share_a_sheet(&self, other: &Band) -> bool {
        (&self.sheet, &self.locations) == (&other.sheet, &other.locations)
    }
}

/// All bands of a report. `paths` are the call paths that may have rows, neighbours in it come together if possible.
pub(super) fn bands(rows: &RowSets, paths: &[u32], locations: usize, workers: usize) -> Vec<Band> {
    let mut counts = vec![0; paths.iter().map(|&path| path as usize + 1).max().unwrap_or(0)];
    for metric in 0..rows.metrics() {
        rows.rows(metric).into_iter().for_each(|path| counts[path as usize] += 1);
    }
    // What other workers send is asked for in larger pieces.
    let most = if workers > 1 { MOST } else { VALUES };
    // Call paths with the number of their rows.
    let mut groups: Vec<(Range<usize>, usize)> = Vec::new();
    for (at, &path) in paths.iter().enumerate() {
        let next = counts[path as usize];
        match groups.last_mut() {
            Some((group, rows))
                if group.len() < PATHS
                    || *rows + next <= ROWS.min(most.checked_div(locations).unwrap_or(ROWS)) =>
            {
                group.end = at + 1;
                *rows += next;
            }
            _ => groups.push((at..at + 1, next)),
        }
    }
    let mut bands: Vec<Band> = Vec::new();
    let mut first = 0;
    for (paths, rows) in groups {
        let Some(width) = MOST.checked_div(rows) else { continue };
        let width = width.max(LOCATIONS).min(locations);
        bands.extend(sheets::chunks(0..locations, width).map(|locations| Band {
            paths: paths.clone(),
            locations,
            sheet: paths.clone(),
        }));
        if width < locations {
            first = bands.len();
            continue;
        }
        // Bands of all locations come together to sheets.
        if paths.end - bands[first].paths.start > sheets::height(locations) {
            first = bands.len() - 1;
        }
        let sheet = bands[first].paths.start..paths.end;
        bands[first..].iter_mut().for_each(|band| band.sheet = sheet.clone());
    }
    bands
}

/// The rows of a metric in a band.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) metric: MetricId,
    /// In rising order of call paths.
    pub(super) rows: Vec<BandRow>,
}

/// A row in a band.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BandRow {
    /// Which of the band's call paths it is of.
    pub(super) at: u32,
    /// Which row of all that the metric has.
    pub(super) number: u32,
    /// Which row of all in the band, in the order of metrics.
    pub(super) slot: u32,
}

/// The rows of call paths, by metric.
pub(super) fn pieces(rows: &RowSets, paths: &[u32]) -> Vec<Piece> {
    let mut rising: Vec<(u32, u32)> = paths.iter().copied().zip(0..).collect();
    rising.sort_unstable();
    let mut slots = 0..;
    let piece = |metric| {
        let is_there = rising.iter().filter(|&&(path, _)| rows.contains(metric, path));
        let row = |(&(path, at), slot)| BandRow { at, number: rows.number(metric, path), slot };
        Piece { metric, rows: is_there.zip(slots.by_ref()).map(row).collect() }
    };
    (0..rows.metrics()).map(piece).filter(|piece| !piece.rows.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Call path 0 has rows of two metrics, all others of one of them, but 9, which has none.
    fn rows() -> RowSets {
        let first = (0..9).chain(10..30).map(|path| (0, path));
        RowSets::with_rows(3, 30, first.chain([(2, 0)]))
    }

    #[test]
    fn bands_have_all_call_paths_at_all_locations_once() {
        let paths: Vec<u32> = (0..30).rev().collect();
        for (locations, workers) in [(1, 1), (600, 1), (MOST / 20, 1), (MOST / 20, 2), (3 * VALUES, 1)] {
            let bands = bands(&rows(), &paths, locations, workers);
            let mut seen = vec![0; 30];
            for Band { paths, locations, sheet } in &bands {
                assert!(sheet.start <= paths.start && paths.end <= sheet.end, "{paths:?} in {sheet:?}");
                assert!(paths.len() >= PATHS || paths.end == 30, "{paths:?}");
                paths.clone().for_each(|path| seen[path] += locations.len());
            }
            assert_eq!(seen, [locations; 30]);
            let whole = |band: &Band| band.locations == (0..locations);
            assert_eq!(bands.iter().all(whole), locations <= MOST / 20, "{bands:?}");
        }
        let none = RowSets::with_rows(3, 30, []);
        assert!(bands(&none, &paths, 1, 1).is_empty());
    }

    #[test]
    fn rows_of_a_band_know_where_they_are_in_the_report() {
        let row = |at, number, slot| BandRow { at, number, slot };
        let expected = [
            Piece { metric: 0, rows: vec![row(2, 0, 0), row(0, 8, 1), row(3, 9, 2)] },
            Piece { metric: 2, rows: vec![row(2, 0, 3)] },
        ];
        assert_eq!(pieces(&rows(), &[8, 9, 0, 10]), expected);
    }
}
