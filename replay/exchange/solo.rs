//! Exchange of a single worker: its own batch comes back.

use std::time::Duration;

use super::{Batch, Exchange};
use crate::error::Error;

/// The exchange of a single worker.
#[derive(Clone, Copy, Debug, Default)]
pub struct Solo;

impl Exchange for Solo {
    fn worker(&self) -> usize {
        0
    }

    fn workers(&self) -> usize {
        1
    }

    fn exchange(&mut self, outgoing: Vec<Batch>) -> Result<Vec<Batch>, Error> {
        Ok(outgoing)
    }

    fn post(&mut self, _: usize, _: Batch) {
        unreachable!("there is no other worker");
    }

    fn poll(&mut self, _: Duration) -> Option<(usize, Batch)> {
        None
    }

    fn fail(&mut self) -> usize {
        0
    }
}
