//! The map of locations, `<name>.srm`: which rank wrote a location, and where the rank is in the containers
//! (`FORMAT.md`, "Map of locations").

use crate::Error;
use crate::anchor::CHUNK_SIZES;
use crate::bytes::Bytes;
use crate::chunk::ChunkReader;
use crate::record::{END_OF_CHUNK, END_OF_FILE};
use std::collections::BTreeMap;
use std::path::Path;

const HEADER: u8 = 10;
const RANK: u8 = 11;
const LOCATION: u8 = 12;

/// Where a location was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// The number of the container, which is its name.
    pub(super) file: u32,
    /// The number of the writer among those of the container.
    pub(super) task: u32,
    /// The number of the writer among all.
    pub(super) rank: u32,
}

/// The places of all locations.
#[derive(Debug)]
pub(super) struct RankMap(BTreeMap<u64, Place>);

impl RankMap {
    /// Decodes the file of this path.
    ///
    /// # Errors
    /// If it is corrupt, or names a location or a rank more than once.
    pub(super) fn parse(file: &[u8], path: &Path) -> Result<Self, Error> {
        // The only file whose chunks always have the least size.
        let mut records = Records { chunks: ChunkReader::new(file, path, *CHUNK_SIZES.start()), path };
        let [files, ranks, locations] = records.next("Header", HEADER, numbers)?;
        let mut places = BTreeMap::new();
        for rank in 0..ranks {
            let offset = records.offset();
            let [named, file, task, count] = records.next("Rank", RANK, numbers)?;
            if named != rank {
                return Err(records.error(offset, format!("rank {named}, expected rank {rank}")));
            }
            if file >= files {
                let message = format!("rank {rank} is in container {file}, and there are {files}");
                return Err(records.error(offset, message));
            }
            for _ in 0..count {
                let offset = records.offset();
                let location = records.next("Location", LOCATION, Bytes::compressed_u64)?;
                if let Some(before) = places.insert(location, Place { file, task, rank }) {
                    let message = format!(
                        "location {location} of rank {rank}, which is named for rank {} before",
                        before.rank
                    );
                    return Err(records.error(offset, message));
                }
            }
        }
        if places.len() as u64 != u64::from(locations) {
            let message = format!("{} locations, {locations} in the header", places.len());
            return Err(records.error(records.offset(), message));
        }
        records.next("End", END_OF_FILE, |_| Some(()))?;
        Ok(RankMap(places))
    }

    /// The place of a location, if it was written.
    pub(super) fn find(&self, location: u64) -> Option<Place> {
        self.0.get(&location).copied()
    }
}

/// Compressed numbers of 32 bits.
fn numbers<const N: usize>(bytes: &mut Bytes<'_>) -> Option<[u32; N]> {
    let mut found = [0; N];
    for number in &mut found {
        *number = bytes.compressed_u32()?;
    }
    Some(found)
}

/// The records of the file: a number and fields, without a length.
struct Records<'a> {
    chunks: ChunkReader<'a>,
    path: &'a Path,
}

impl<'a> Records<'a> {
    fn offset(&self) -> usize {
        self.chunks.bytes.at()
    }

    fn error(&self, offset: usize, message: String) -> Error {
        Error::damaged(self.path, offset as u64, message)
    }

    /// The fields of the next record, which has to be of this kind.
    fn next<T>(
        &mut self,
        name: &str,
        expected: u8,
        fields: impl FnOnce(&mut Bytes<'a>) -> Option<T>,
    ) -> Result<T, Error> {
        loop {
            let offset = self.offset();
            match self.chunks.bytes.u8() {
                None | Some(END_OF_CHUNK) => {
                    if !self.chunks.advance()? {
                        return Err(Error::truncated(self.path, offset as u64, "the map"));
                    }
                }
                Some(id) if id == expected => {
                    let found = fields(&mut self.chunks.bytes);
                    let failed = self.chunks.bytes;
                    return found.ok_or_else(|| self.chunks.fail(offset, id, name, Some(failed)));
                }
                Some(END_OF_FILE) => {
                    let message = format!("the map ends before a record of kind {expected} ({name})");
                    return Err(self.error(offset, message));
                }
                Some(id) => {
                    let message = format!("a record of kind {id}, expected {expected} ({name})");
                    return Err(self.error(offset, message));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(records: &[u8]) -> Result<RankMap, String> {
        let file = [&[3, 0x42][..], &[0; 16], records].concat();
        RankMap::parse(&file, Path::new("a.srm")).map_err(|error| error.to_string())
    }

    /// As OTF2 3.0 wrote it for three ranks of two threads in two containers.
    const MAP: [u8; 60] = [
        10, 1, 2, 1, 3, 1, 6, //
        11, 0, 0, 0, 1, 2, 12, 0, 12, 5, 0, 0, 0, 0, 1, //
        11, 1, 1, 0, 1, 1, 1, 2, 12, 1, 1, 12, 5, 1, 0, 0, 0, 1, //
        11, 1, 2, 1, 1, 0, 1, 2, 12, 1, 2, 12, 5, 2, 0, 0, 0, 1, //
        2, 1,
    ];

    #[test]
    fn location_is_found_where_its_rank_wrote() {
        let map = parse(&MAP).unwrap();
        let thread = |rank: u64| map.find((1 << 32) | rank);
        assert_eq!(map.find(0), Some(Place { file: 0, task: 0, rank: 0 }));
        assert_eq!(thread(1), Some(Place { file: 0, task: 1, rank: 1 }));
        assert_eq!(thread(2), Some(Place { file: 1, task: 0, rank: 2 }));
        assert_eq!(map.find(3), None);
    }

    #[test]
    fn records_go_on_in_the_next_chunk() {
        let cut_at = |cut: usize| {
            let mut file = [&[3, 0x42][..], &[0; 16], &MAP[..cut]].concat();
            file.resize(256 << 10, 0);
            file.extend([&[3, 0x42][..], &[0; 16], &MAP[cut..]].concat());
            RankMap::parse(&file, Path::new("a.srm"))
        };
        assert_eq!(cut_at(22).unwrap().0.len(), 6);
        assert!(cut_at(20).is_err(), "a location that is cut");
    }

    #[test]
    fn cut_map_is_an_error_at_every_length() {
        for length in 0..MAP.len() - 2 {
            let error = parse(&MAP[..length]).unwrap_err();
            assert!(error.contains("the file ends within"), "length {length}: {error}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused_at_its_byte() {
        let changed = |at: usize, byte: u8| {
            let mut records = MAP;
            records[at] = byte;
            parse(&records).unwrap_err()
        };
        assert!(changed(0, 11).contains("byte 0x12: a record of kind 11, expected 10 (Header)"));
        assert!(changed(2, 1).contains("byte 0x3a: rank 2 is in container 1, and there are 1"));
        assert!(changed(6, 7).contains("6 locations, 7 in the header"));
        assert!(changed(24, 2).contains("rank 2, expected rank 1"));
        assert!(changed(32, 0).contains("location 0 of rank 1, which is named for rank 0 before"));
        assert!(changed(22, 2).contains("the map ends before a record of kind 11 (Rank)"));
        let impossible = "byte 0x28: Rank record: the number at byte 0x29 has an impossible size";
        assert!(changed(23, 9).contains(impossible));
    }
}
