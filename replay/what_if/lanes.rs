//! Lanes: scenarios as the forward replay computes them, many at once (what-if 3.2).

use model::Ticks;

use super::classes::RowClass;
use super::graph::{Dependency, DependencyKind};
use super::lines::ONE;
use super::marks::{Completion, Piece};
use crate::ids::Row;

/// What a scenario changes everywhere.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Lane {
    /// MPI takes no time but waiting.
    pub is_ideal: bool,
    /// Calls of MPI take as long as the fits have it.
    pub is_fitted: bool,
    /// Factor of the fitted latency of messages.
    pub latency: f64,
    /// Factor of the bandwidth.
    pub bandwidth: f64,
    /// Ticks that each message takes longer.
    pub add: Ticks,
    /// Sends up to so many bytes do not wait for their receives.
    pub eager: Option<u64>,
}

impl Default for Lane {
    fn default() -> Lane {
        Lane { is_ideal: false, is_fitted: false, latency: 1.0, bandwidth: 1.0, add: 0, eager: None }
    }
}

/// What a scenario changes at the call paths of one location.
#[derive(Clone, Debug, Default)]
pub(super) struct RowChanges {
    /// Factors of work by row, times [`ONE`]; none where nothing of the location changes.
    pub factors: Vec<i64>,
    /// The factor of work outside of any region.
    pub outside: Option<i64>,
    /// By row: whether messages that are sent there are given away early.
    pub early: Vec<bool>,
    /// By row: whether operations of many do not take place there.
    pub removed: Vec<bool>,
}

impl RowChanges {
    /// The factor of the work of a row.
    fn factor(&self, row: Row) -> i64 {
        match row {
            Row::NONE => self.outside.unwrap_or(ONE),
            row => self.factors.get(row.index()).copied().unwrap_or(ONE),
        }
    }

    /// Whether messages that are sent in a row are given away early.
    pub(super) fn is_early(&self, row: Row) -> bool {
        self.early.get(row.index()) == Some(&true)
    }

    /// Whether operations of many do not take place in a row.
    pub(super) fn is_removed(&self, row: Row) -> bool {
        self.removed.get(row.index()) == Some(&true)
    }
}

impl Lane {
    /// Ticks of pieces of time between two marks.
    pub(super) fn work(&self, pieces: &[Piece], classes: &[RowClass], changes: &RowChanges) -> Ticks {
        whole(pieces.iter().map(|&piece| self.scaled(piece, classes, changes)).sum())
    }

    /// Ticks of a piece of time, times [`ONE`].
    pub(super) fn scaled(
        &self,
        Piece { row, ticks }: Piece,
        classes: &[RowClass],
        changes: &RowChanges,
    ) -> i128 {
        let factor = match classes.get(row.index()) {
            Some(RowClass::Mpi) if self.is_ideal => 0,
            Some(RowClass::Work) | None => changes.factor(row),
            Some(_) => ONE,
        };
        i128::from(ticks) * i128::from(factor)
    }

    /// Whether a completion takes no time but waiting.
    pub(super) fn is_free(&self, completion: &Completion) -> bool {
        self.is_ideal && completion.row != Row::NONE && !completion.is_kept
    }

    /// Whether a dependency is none in this lane.
    pub(super) fn drops(&self, dependency: &Dependency, completion: &Completion) -> bool {
        match dependency.kind {
            DependencyKind::Send => self.is_eager(dependency),
            // An ideal network needs nobody's help.
            DependencyKind::Progress => self.is_free(completion),
            _ => false,
        }
    }

    /// Whether a message by rendezvous is an eager one in this lane.
    pub(super) fn is_eager(&self, dependency: &Dependency) -> bool {
        self.eager.is_some_and(|limit| dependency.bytes <= limit)
    }

    /// Ticks from the latest start of a dependency on.
    pub(super) fn transfer(&self, dependency: &Dependency, completion: &Completion) -> Ticks {
        let &Dependency { kind, transfer, usual: (first, by_size), .. } = dependency;
        if self.is_free(completion) {
            return transfer.min(0);
        }
        if self.is_fitted && !completion.is_kept {
            return match kind {
                DependencyKind::Together => completion.fitted,
                DependencyKind::Progress => 0,
                _ => first.saturating_add(by_size),
            };
        }
        if !kind.is_of_message() {
            return transfer;
        }
        let first = transfer.max(0).min(first);
        let by_size = (transfer.max(0) - first).min(by_size);
        scaled(first, |ticks| ticks * self.latency)
            .saturating_add(scaled(by_size, |ticks| ticks / self.bandwidth))
            .saturating_add(transfer - first - by_size)
            .saturating_add(self.add)
    }

    /// Overhead of a completion.
    pub(super) fn overhead(&self, completion: &Completion) -> Ticks {
        match () {
            () if self.is_free(completion) => 0,
            () if self.is_fitted && !completion.is_kept => completion.fitted,
            () => completion.overhead,
        }
    }

    /// Rest of a completion.
    pub(super) fn rest(&self, completion: &Completion) -> Ticks {
        let has_none = self.is_free(completion) || self.is_fitted && !completion.is_kept;
        if has_none { 0 } else { completion.rest }
    }
}

/// Whole ticks of a sum of [scaled](Lane::scaled) ones.
pub(super) fn whole(sum: i128) -> Ticks {
    Ticks::try_from(sum.div_euclid(i128::from(ONE))).unwrap_or(Ticks::MAX)
}

/// Ticks by a function, without what is behind the point.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
fn scaled(ticks: Ticks, by: impl Fn(f64) -> f64) -> Ticks {
    by(ticks as f64) as Ticks
}
