//! Agreement check: all workers analyse the same trace in the same way.
//!
//! Each process reads the definitions for itself and derives all numbers from them. If one of them read
//! another file, such as an old copy on its node, the same numbers would mean something else there, and the
//! report would be wrong without notice.

use std::hash::{Hash, Hasher};

use otf2::Archive;
use rustc_hash::FxHasher;

use crate::error::Error;
use crate::exchange::Batch;
use crate::options::Options;

/// Words of a [`Basis`] in a batch.
const WORDS: usize = 2;

/// Hashes of everything that has to be the same on all workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Basis {
    /// Hash of the bytes of the definitions and of the contents of the anchor file.
    definitions: u64,
    /// Hash of the program and of the options that decide what it exchanges.
    program: u64,
}

impl Basis {
    /// Returns the basis of this worker; `definitions` are the bytes of the file.
    pub fn new(options: &Options, archive: &Archive, definitions: &[u8]) -> Basis {
        Basis {
            definitions: hash(|hasher| {
                hasher.write(definitions);
                archive.anchor().hash(hasher);
            }),
            program: hash(|hasher| {
                env!("CARGO_PKG_VERSION").hash(hasher);
                (options.semantics, options.threads, options.causes, options.clock_correction).hash(hasher);
                (options.details_place(), options.instances, options.windows).hash(hasher);
                (options.has_structure(), &options.choice).hash(hasher);
                (&options.references, options.scaling).hash(hasher);
                // Factors are numbers with a point, which have no hash.
                format!("{:?}", options.what_if).hash(hasher);
                (options.advice.wanted, options.advice.json.is_some()).hash(hasher);
                format!("{:?}", options.advice.from).hash(hasher);
                options.io_model.hash_walk(hasher);
                options.rules.iter().for_each(|file| file.text.hash(hasher));
                (options.predict.is_some(), options.report.is_some()).hash(hasher);
                options.focus.iter().for_each(|focus| focus.to_string().hash(hasher));
            }),
        }
    }

    /// Puts the basis before everything else in a batch.
    pub fn encode(self, batch: &mut Batch) {
        batch.splice(..0, [self.definitions, self.program]);
    }

    /// Takes the bases off the batches that the workers gave, in the order of workers; returns the rest of
    /// each batch.
    ///
    /// # Errors
    /// If the basis of a worker differs from this one's. The other workers then detect that, too.
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
