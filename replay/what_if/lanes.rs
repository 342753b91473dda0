//! Lanes: scenarios as the forward replay computes them, many at once (what-if 3.2).

use std::sync::Arc;

use model::Ticks;

use super::classes::RowClass;
use super::completions::Completion;
use super::dependencies::{Dependency, DependencyKind};
use super::explain::Usual;
use super::lines::ONE;
use super::marks::{Marks, Piece};
use super::nodes::Nodes;
use crate::ids::Row;

/// What a scenario changes everywhere.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Lane {
    /// MPI takes no time but waiting.
    pub is_ideal: bool,
    /// Calls of MPI take as long as the fits have it.
    pub is_fitted: bool,
    /// Factor of the fitted latency of messages and operations of many.
    pub latency: f64,
    /// Factor of the bandwidth.
    pub bandwidth: f64,
    /// What each message takes longer, and each operation of many, and each of its steps; in the unit of the lane.
    pub add: Ticks,
    /// See above.
    pub add_to_operation: Ticks,
    /// See above.
    pub add_to_step: Ticks,
    /// Sends up to so many bytes do not wait for their receives.
    pub eager: Option<u64>,
    /// Standard sends of more bytes do, by the dependencies that are there for that (what-if 3.2).
    pub rendezvous: Option<u64>,
    /// Times of the lane are since this time, in units of which a tick has two to the power of [`fine`](Lane::fine).
    pub base: Ticks,
    /// See above.
    pub fine: u32,
}

impl Default for Lane {
    fn default() -> Lane {
        Lane {
            is_ideal: false,
            is_fitted: false,
            latency: 1.0,
            bandwidth: 1.0,
            add: 0,
            add_to_operation: 0,
            add_to_step: 0,
            eager: None,
            rendezvous: None,
            base: 0,
            fine: 0,
        }
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
    /// By row: whether what is received there is awaited at the next call of MPI only.
    pub overlapped: Vec<bool>,
    /// Stretches of work that are shorter.
    pub shorter: Vec<Shorter>,
    /// By row: whether receives are posted there before their messages are sent, or sends wait there for such receives.
    pub posted: Vec<bool>,
    /// By row: whether messages that are awaited there arrive while the other side is outside of MPI.
    pub progress: Vec<bool>,
    /// Work that comes from others before marks, in the order of these.
    pub added: Vec<(u32, Ticks)>,
    /// Nodes, if they are others.
    pub nodes: Option<Arc<Nodes>>,
}

/// Stretches of work between two marks that are shorter, or longer, in some rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Shorter {
    /// By row: whether work there is.
    pub rows: Vec<bool>,
    /// Marks at the end of stretches, and factors, times [`ONE`]. In the order of marks.
    pub marks: Vec<(u32, i64)>,
}

impl RowChanges {
    /// Whether no work has another duration.
    fn keeps_work(&self) -> bool {
        self.factors.is_empty() && self.outside.is_none() && self.shorter.is_empty() && self.added.is_empty()
    }

    /// The factor of the work of a row before a mark.
    fn factor(&self, row: Row, mark: usize) -> i64 {
        let mut factor = match row {
            Row::NONE => self.outside.unwrap_or(ONE),
            row => self.factors.get(row.index()).copied().unwrap_or(ONE),
        };
        for Shorter { rows, marks } in &self.shorter {
            if rows.get(row.index()) == Some(&true)
                && let Ok(at) = marks.binary_search_by_key(&mark, |&(mark, _)| mark as usize)
            {
                let product = i128::from(factor) * i128::from(marks[at].1) / i128::from(ONE);
                factor = i64::try_from(product).unwrap_or(i64::MAX);
            }
        }
        factor
    }

    /// Ticks of work that come from others before a mark.
    fn added(&self, mark: usize) -> Ticks {
        let found = self.added.binary_search_by_key(&mark, |&(mark, _)| mark as usize);
        found.map_or(0, |at| self.added[at].1)
    }

    /// Whether messages that are sent in a row are given away early.
    pub(super) fn is_early(&self, row: Row) -> bool {
        self.early.get(row.index()) == Some(&true)
    }

    /// Whether operations of many do not take place in a row.
    pub(super) fn is_removed(&self, row: Row) -> bool {
        self.removed.get(row.index()) == Some(&true)
    }

    /// Whether what is received in a row is awaited at the next call of MPI only.
    pub(super) fn is_overlapped(&self, row: Row) -> bool {
        self.overlapped.get(row.index()) == Some(&true)
    }

    /// Whether receives that a row completes or waits for are posted before their messages are sent.
    pub(super) fn is_posted(&self, row: Row) -> bool {
        self.posted.get(row.index()) == Some(&true)
    }

    /// Whether messages that are awaited in a row arrive while the other side is outside of MPI.
    fn has_progress(&self, row: Row) -> bool {
        self.progress.get(row.index()) == Some(&true)
    }
}

impl Lane {
    /// A measured time in the unit of the lane.
    pub(super) fn of(&self, time: Ticks) -> Ticks {
        if time == Ticks::MIN { time } else { (time - self.base) << self.fine }
    }

    /// Work of so many ticks before a mark, in the unit of the lane.
    pub(super) fn work(
        &self,
        ticks: Ticks,
        (marks, mark): (&Marks, usize),
        classes: &[RowClass],
        changes: &RowChanges,
    ) -> Ticks {
        if !self.is_ideal && changes.keeps_work() {
            return ticks << self.fine;
        }
        let scaled = marks.pieces_of(mark).map(|piece| self.scaled(piece, mark, classes, changes));
        whole(scaled.sum()).saturating_add(changes.added(mark)) << self.fine
    }

    /// Ticks of a piece of time before a mark, times [`ONE`].
    #[inline]
    pub(super) fn scaled(
        &self,
        Piece { row, ticks }: Piece,
        mark: usize,
        classes: &[RowClass],
        changes: &RowChanges,
    ) -> i128 {
        let factor = match classes.get(row.index()) {
            Some(RowClass::Mpi) if self.is_ideal => 0,
            Some(RowClass::Work) | None => changes.factor(row, mark),
            Some(_) => ONE,
        };
        i128::from(ticks) * i128::from(factor)
    }

    /// Whether calls of MPI take as long as they did.
    pub(super) fn keeps_calls(&self) -> bool {
        let plain = Lane { base: self.base, fine: self.fine, ..Lane::default() };
        *self == Lane { rendezvous: self.rendezvous, eager: self.eager, ..plain }
    }

    /// Whether a completion takes no time but waiting.
    pub(super) fn is_free(&self, completion: &Completion) -> bool {
        self.is_ideal && completion.row != Row::NONE && !completion.is_kept
    }

    /// Whether a dependency is none in this lane.
    pub(super) fn drops(
        &self,
        dependency: &Dependency,
        completion: &Completion,
        changes: &RowChanges,
    ) -> bool {
        match dependency.kind {
            DependencyKind::Send => self.is_eager(dependency),
            DependencyKind::IfRendezvous => !self.is_rendezvous(dependency) || self.is_eager(dependency),
            // An ideal network needs nobody's help, nor does a message that is given away at once.
            DependencyKind::Progress => {
                self.is_free(completion) || self.is_eager(dependency) || changes.has_progress(completion.row)
            }
            DependencyKind::Eager | DependencyKind::Rendezvous | DependencyKind::Together => false,
        }
    }

    /// Whether a message by rendezvous is an eager one in this lane.
    pub(super) fn is_eager(&self, dependency: &Dependency) -> bool {
        self.eager.is_some_and(|limit| dependency.bytes <= limit)
    }

    /// Whether an eager message is one by rendezvous in this lane.
    pub(super) fn is_rendezvous(&self, dependency: &Dependency) -> bool {
        self.rendezvous.is_some_and(|limit| dependency.bytes > limit)
    }

    /// Time from the latest start of a dependency on, in the unit of the lane.
    pub(super) fn transfer(
        &self,
        dependency: &Dependency,
        completion: &Completion,
        usual: &Usual<'_>,
        changes: &RowChanges,
    ) -> Ticks {
        let &Dependency { kind, mut transfer, steps, .. } = dependency;
        let mut usual = *usual;
        if let Some(nodes) = &changes.nodes {
            let new = Usual { nodes, ..usual };
            if kind.is_of_message()
                && dependency.is_remote(usual.location, nodes)
                    != dependency.is_remote(usual.location, usual.nodes)
            {
                let (first, by_size) = new.of(dependency);
                transfer = first.saturating_add(by_size);
                usual = new;
            }
        }
        if self.is_free(completion) {
            return transfer.min(0) << self.fine;
        }
        if self.is_fitted && !completion.is_kept {
            return match kind {
                DependencyKind::Together => completion.fitted,
                DependencyKind::Progress => 0,
                _ => {
                    let (first, by_size) = usual.of(dependency);
                    first.saturating_add(by_size)
                }
            };
        }
        let longer = match kind {
            DependencyKind::Together if steps > 0 => {
                self.add_to_operation + self.add_to_step * Ticks::from(steps)
            }
            kind if kind.is_of_message() => self.add,
            _ => return transfer << self.fine,
        };
        (self.on_network(transfer, || usual.of(dependency)) << self.fine).saturating_add(longer)
    }

    /// Ticks of a transfer whose usual latency and part by size these are, on the network of the lane. What is beyond both stays.
    fn on_network(&self, ticks: Ticks, usual: impl FnOnce() -> (Ticks, Ticks)) -> Ticks {
        if self.latency == 1.0 && self.bandwidth == 1.0 {
            return ticks;
        }
        let (first, by_size) = usual();
        let first = ticks.max(0).min(first);
        let by_size = (ticks.max(0) - first).min(by_size);
        scaled(first, |ticks| ticks * self.latency)
            .saturating_add(scaled(by_size, |ticks| ticks / self.bandwidth))
            .saturating_add(ticks - first - by_size)
    }

    /// Overhead of a completion with these usual times of the operation of many that it ends, in the unit of the lane.
    pub(super) fn overhead(
        &self,
        completion: &Completion,
        of_many: Option<&Dependency>,
        usual: &Usual<'_>,
    ) -> Ticks {
        let ticks = match () {
            () if self.is_free(completion) => 0,
            () if self.is_fitted && !completion.is_kept => completion.fitted,
            () => match of_many {
                Some(dependency) if !completion.completes_messages => {
                    self.on_network(completion.overhead, || usual.of(dependency))
                }
                _ => completion.overhead,
            },
        };
        ticks << self.fine
    }

    /// Rest of a completion, in the unit of the lane.
    pub(super) fn rest(&self, completion: &Completion) -> Ticks {
        let has_none = self.is_free(completion) || self.is_fitted && !completion.is_kept;
        if has_none { 0 } else { completion.rest << self.fine }
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
