//! Archives in SION containers: files of many locations in one (`FORMAT.md`, "SION containers").
//!
//! A map says in which container and for which of its tasks a location was written; the bytes of the location
//! lie between those of others there, and are put together in memory. What is opened so is as if it had been
//! read from a plain file.

mod container;
mod keys;
mod rank_map;

use crate::Error;
use container::Container;
use files::{FileBytes, FilePieces};
use rank_map::{Place, RankMap};
use std::collections::TryReserveError;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The containers of an archive.
#[derive(Debug)]
pub(crate) struct Containers {
    map: RankMap,
    /// The directory of the containers.
    directory: PathBuf,
}

/// Where the bytes of a location are in a container.
#[derive(Debug)]
pub(crate) struct Pieces {
    container: FilePieces,
    ranges: Vec<Range<u64>>,
    location: u64,
}

impl Containers {
    /// The containers in `directory`, by the map in this file.
    ///
    /// # Errors
    /// If the map cannot be read, or is corrupt.
    pub(crate) fn open(map: &Path, directory: PathBuf) -> Result<Self, Error> {
        let file = FileBytes::open(map).map_err(|error| match Error::from(error) {
            error if error.is_not_found() => Error::file(
                map,
                "there is no map of the locations in the SION containers: the archive is incomplete; copy it \
                 again, or record the program again",
            ),
            error => error,
        })?;
        Ok(Containers { map: RankMap::parse(&file, map)?, directory })
    }

    /// The container in which a location was written, if it was; `kind` is `evt` or `def`.
    pub(crate) fn path_of(&self, location: u64, kind: &str) -> Option<PathBuf> {
        self.map.find(location).map(|place| self.path_at(place, kind))
    }

    fn path_at(&self, place: Place, kind: &str) -> PathBuf {
        self.directory.join(format!("{}.{kind}", place.file))
    }

    /// Looks for the bytes of a location in its container.
    ///
    /// # Errors
    /// If the container cannot be read or is corrupt; [`Error::is_not_found`] if there is none, or if it has
    /// nothing of this location.
    pub(crate) fn find(&self, location: u64, kind: &str) -> Result<Pieces, Error> {
        let missing = |path: &Path| {
            let cause = io::Error::new(io::ErrorKind::NotFound, "nothing was written for it");
            Error::io(&of_location(path, location), "read the file", cause)
        };
        let Some(place) = self.map.find(location) else {
            return Err(missing(&self.directory.join(format!("*.{kind}"))));
        };
        let path = self.path_at(place, kind);
        let container = Container::open(FilePieces::open(&path)?)?;
        let chunks = container.chunks(place.task, place.rank)?;
        let ranges = keys::ranges(&container, &chunks, location)?;
        match ranges.is_empty() {
            true => Err(missing(&path)),
            false => Ok(Pieces { container: container.into_file(), ranges, location }),
        }
    }
}

impl Pieces {
    /// The number of bytes of the location.
    pub(crate) fn bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }

    /// Reads them into one piece.
    ///
    /// # Errors
    /// If they cannot be read, or memory is short.
    pub(crate) fn read(&self) -> Result<FileBytes, Error> {
        let path = of_location(self.container.path(), self.location);
        let mut bytes =
            self.room().map_err(|cause| Error::io(&path, "read the file", io::Error::other(cause)))?;
        read_all(&self.container, &self.ranges, &mut bytes)?;
        Ok(FileBytes::gathered(path, bytes))
    }

    fn room(&self) -> Result<Vec<u8>, TryReserveError> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(to_usize(self.bytes()))?;
        bytes.resize(to_usize(self.bytes()), 0);
        Ok(bytes)
    }
}

/// Reads parts of a file, one behind the other, into a slice that is as long as they are together.
fn read_all(file: &FilePieces, ranges: &[Range<u64>], mut into: &mut [u8]) -> Result<(), Error> {
    for range in ranges {
        let (piece, behind) = into.split_at_mut(to_usize(range.end - range.start));
        file.read(range.start, piece)?;
        into = behind;
    }
    Ok(())
}

/// The name of a location's part of a container, for messages.
fn of_location(container: &Path, location: u64) -> PathBuf {
    let mut name = container.as_os_str().to_owned();
    name.push(format!(", location {location}"));
    PathBuf::from(name)
}

/// What does not fit is more than there can be in memory.
fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
