//! Scenarios that change nothing, as nothing of the kind that they are about is at their call paths: that is no small gain.

use super::changes::Paths;
use super::goals::{Goal, Role};
use super::scenario::{Change, Scenario};
use crate::error::Error;
use crate::exchange::{Exchange, share};
use crate::ids::Row;

impl Paths<'_> {
    /// By scenario: whether nothing is at the call paths of one of its changes that it could change.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn void(
        &self,
        scenarios: &[Scenario],
        exchange: &mut dyn Exchange,
    ) -> Result<Vec<bool>, Error> {
        let changes = || scenarios.iter().flat_map(|scenario| &scenario.changes);
        let own: Vec<u64> = changes().map(|change| u64::from(self.concerns(change))).collect();
        let told = share(exchange, own)?;
        let mut next = 0;
        let is_void = |scenario: &Scenario| {
            let mut numbers = next..next + scenario.changes.len();
            next = numbers.end;
            numbers.any(|at| told.iter().all(|words| words[at] == 0))
        };
        Ok(scenarios.iter().map(is_void).collect())
    }

    /// Whether a change is about something of this worker; also if it is about no call path.
    fn concerns(&self, change: &Change) -> bool {
        let all = 0..self.graph.locations.len();
        match change {
            Change::Remove(path) => all.into_iter().any(|at| self.has_operations(at, path)),
            Change::EarlySend(path) => all.into_iter().any(|at| self.has_sends(at, path)),
            Change::Overlap(path) | Change::Arrival(path) | Change::Split(path, _) => {
                all.into_iter().any(|at| self.has_receives(at, path))
            }
            Change::Balance(path) | Change::Spread(path) | Change::Quiet(path) => {
                all.into_iter().any(|at| self.has_work(at, path))
            }
            Change::Cpu(_, place) | Change::Level(place) => {
                all.into_iter().any(|at| self.is_at(at, place.rank) && self.has_work(at, &place.path))
            }
            _ => true,
        }
    }

    fn has_work(&self, at: usize, path: &str) -> bool {
        let rows = self.work_within(at, path);
        let has_row = |row: Row| if row == Row::NONE { path.is_empty() } else { rows[row.index()] };
        let marks = &self.graph.locations[at].marks;
        marks.inside().any(|mark| marks.pieces_of(mark).any(|piece| has_row(piece.row)))
    }

    fn has_operations(&self, at: usize, path: &str) -> bool {
        let rows = self.within(at, path);
        let mut completions = self.graph.locations[at].marks.completions.iter();
        completions
            .any(|it| it.is_of_many && !it.completes_messages && rows.get(it.row.index()) == Some(&true))
    }

    fn has_sends(&self, at: usize, path: &str) -> bool {
        let rows = self.within(at, path);
        let of = &self.graph.locations[at];
        let is_sent = |goal: Goal| matches!(goal, Goal::Dependency { role: Role::Sent, .. });
        let row = |mark: u32| of.marks.list[mark as usize].row();
        of.goals.iter().any(|(mark, goal)| is_sent(goal) && rows.get(row(mark).index()) == Some(&true))
    }

    fn has_receives(&self, at: usize, path: &str) -> bool {
        let rows = self.within(at, path);
        let of = &self.graph.locations[at];
        of.dependencies.iter().filter(|dependency| dependency.kind.is_of_receive()).any(|dependency| {
            let row = of.marks.completions.get(dependency.completion).row;
            rows.get(row.index()) == Some(&true)
        })
    }
}
