//! Whether all workers analyse the same trace in the same way.
//!
//! Each process reads the definitions for itself and numbers everything by them. Where one of them sees another file, such
//! as an old copy on its node, the numbers would mean something else there, and the report would be wrong without a word.

use std::hash::{Hash, Hasher};

use otf2::Archive;
use rustc_hash::FxHasher;

use crate::error::Error;
use crate::exchange::Batch;
use crate::options::Options;

/// Words of a [`Basis`] in a batch.
const WORDS: usize = 2;

/// What has to be the same on all workers, as hashes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Basis {
    /// The bytes of the definitions, and what the anchor says.
    definitions: u64,
    /// The program, and the options that decide what it exchanges.
    program: u64,
}

impl Basis {
    /// What this worker goes by; `definitions` are the bytes of the file.
    pub fn new(options: &Options, archive: &Archive, definitions: &[u8]) -> Basis {
        Basis {
            definitions: hash(|hasher| {
                hasher.write(definitions);
                archive.anchor().hash(hasher);
            }),
            program: hash(|hasher| {
                env!("CARGO_PKG_VERSION").hash(hasher);
                (options.semantics, options.threads, options.causes, options.clock_correction).hash(hasher);
            }),
        }
    }

    /// Puts it before everything else in a batch.
    pub fn encode(self, batch: &mut Batch) {
        batch.splice(..0, [self.definitions, self.program]);
    }

    /// Takes it from what each worker gave, in the order of workers; answers the rests.
    ///
    /// # Errors
    /// If a worker goes by something else than this one. The others then find that too.
    pub fn check<'a>(self, archive: &Archive, given: &'a [Batch]) -> Result<Vec<&'a [u64]>, Error> {
        given.iter().enumerate().map(|(worker, batch)| self.check_one(archive, worker, batch)).collect()
    }

    fn check_one<'a>(self, archive: &Archive, worker: usize, batch: &'a [u64]) -> Result<&'a [u64], Error> {
        let (basis, rest) = batch.split_at(WORDS);
        if basis[0] != self.definitions {
            return Err(Error::new(format!(
                "{}: worker {worker} reads other definitions: the file was changed just now, or that process sees \
                 another directory or an old copy; let all processes see the same files, and try again",
                archive.definition_path().display()
            )));
        }
        if basis[1] != self.program {
            return Err(Error::new(format!(
                "worker {worker} has other options or is another version of replay-analyze; start all processes alike"
            )));
        }
        Ok(rest)
    }
}

fn hash(put: impl FnOnce(&mut FxHasher)) -> u64 {
    let mut hasher = FxHasher::default();
    put(&mut hasher);
    hasher.finish()
}
