//! The counts of a location, checked.

use crate::Error;
use recording::layout;
use recording::profile::{MAGIC, PathCounts, ProfileHeader, TraceSize, TransferredBytes};
use std::fs;
use std::path::Path;

/// The counts of a thread.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Counts {
    pub(super) header: ProfileHeader,
    /// By call path; those at the end that were never entered may be missing.
    pub(super) entries: Vec<PathCounts>,
}

impl Counts {
    /// Returns the times of the first and the last event, in ticks of the process.
    pub(super) fn times(&self) -> Option<(u64, u64)> {
        let ProfileHeader { first_time, last_time, .. } = self.header;
        (first_time > 0 && last_time >= first_time).then_some((first_time, last_time))
    }

    /// Returns the inclusive time of a path in ticks; a visit that was open when the process ended lasts
    /// until the last event.
    pub(super) fn time(&self, entry: &PathCounts) -> u64 {
        let Some((first, last)) = self.times() else { return 0 };
        let open = match entry.entered {
            0 => 0,
            entered => last.saturating_sub(entered.max(first)),
        };
        // More than the whole is damage.
        entry.time.saturating_add(open).min(last - first)
    }
}

/// Reads the counts of a location; none if it has no file. The sentence says what is lost.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn read(directory: &Path, location: u64) -> Result<(Counts, Option<String>), Error> {
    let path = layout::profile(directory, location);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok((Counts::default(), None)),
        Err(cause) => return Err(Error::io(&path, "read the file", cause)),
    };
    let Some(counts) = parse(&bytes) else {
        let problem = Error::at(&path, 0, "not a file of counts, or one that was never ready");
        return Ok((Counts::default(), Some(problem.to_string())));
    };
    let lost = counts.header.lost;
    let problem =
        (lost > 0).then(|| format!("{lost} calls are not counted: there was no room for their paths"));
    Ok((counts, problem))
}

fn parse(bytes: &[u8]) -> Option<Counts> {
    let (header, entries) = bytes.split_at_checked(size_of::<ProfileHeader>())?;
    let [magic, first_time, last_time, lost, events, bytes, flushes] = numbers(header)?;
    if magic != MAGIC {
        return None;
    }
    let trace = TraceSize { events, bytes, flushes };
    let header = ProfileHeader { magic, first_time, last_time, lost, trace };
    let entries = entries.chunks_exact(size_of::<PathCounts>()).filter_map(numbers);
    let mut entries: Vec<PathCounts> = entries.map(entry).collect();
    while entries.last() == Some(&PathCounts::default()) {
        entries.pop();
    }
    Some(Counts { header, entries })
}

fn entry(fields: [u64; 12]) -> PathCounts {
    let [visits, time, entered, sent, received, outgoing, incoming, put, got, events, bytes, flushes] =
        fields;
    let transfers = TransferredBytes { sent, received, outgoing, incoming, put, got };
    PathCounts { visits, time, entered, transfers, trace: TraceSize { events, bytes, flushes } }
}

/// Returns the integers in so many bytes.
fn numbers<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let mut numbers = [0; N];
    for (number, bytes) in numbers.iter_mut().zip(bytes.chunks(8)) {
        *number = u64::from_ne_bytes(*bytes.first_chunk()?);
    }
    (bytes.len() == N * 8).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: [u64; 7], entries: &[[u64; 12]]) -> Vec<u8> {
        header.iter().chain(entries.iter().flatten()).flat_map(|number| number.to_ne_bytes()).collect()
    }

    #[test]
    fn entries_end_with_the_last_that_was_entered() {
        let one = [2, 30, 0, 1, 2, 3, 4, 8, 9, 5, 6, 7];
        let counts = parse(&file([MAGIC, 10, 90, 0, 8, 9, 1], &[[0; 12], one, [0; 12]])).unwrap();
        assert_eq!(counts.entries.len(), 2);
        let PathCounts { visits, transfers, trace, .. } = counts.entries[1];
        assert_eq!((visits, transfers.outgoing, transfers.got, trace.bytes), (2, 3, 9, 6));
        assert_eq!((counts.times(), counts.header.trace.events), (Some((10, 90)), 8));
    }

    #[test]
    fn visit_that_goes_on_lasts_until_the_end_and_nothing_longer_than_the_whole() {
        let counts = parse(&file([MAGIC, 10, 90, 0, 0, 0, 0], &[])).unwrap();
        let time =
            |time, entered| counts.time(&PathCounts { visits: 1, time, entered, ..PathCounts::default() });
        assert_eq!([time(30, 0), time(30, 70), time(0, 95), time(u64::MAX, 11)], [30, 50, 0, 80]);
        assert_eq!(Counts::default().time(&PathCounts { time: 5, ..PathCounts::default() }), 0);
    }

    #[test]
    fn damage_is_no_counts() {
        assert_eq!(parse(&[]), None);
        assert_eq!(parse(&file([MAGIC + 1, 10, 90, 0, 0, 0, 0], &[])), None);
        let cut = file([MAGIC, 90, 10, 0, 0, 0, 0], &[[1; 12]]);
        let counts = parse(&cut[..cut.len() - 1]).unwrap();
        assert_eq!((counts.entries.len(), counts.times()), (0, None));
    }
}
