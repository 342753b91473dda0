//! Fences: accesses of others while a member waits, and pairs of members (rest of MPI 8.2, 8.6).

use std::collections::BTreeSet;

use super::Analysis;
use super::matching::Instance;
use super::needs::Class;
use super::operations::{Operations, Part};
use super::windows::Access;
use super::world::World;

/// The accesses of a process between a fence of another process, or its own, and the fence before: both processes count the
/// fences of the window.
fn before_fence<'a>(operations: &'a Operations, fence: &Part) -> impl Iterator<Item = &'a Access> {
    let Part { process, told, ended, .. } = *fence;
    let is_earlier = |part: &&Part| {
        let key = |part: &Part| (part.class, part.process, part.told.communicator);
        key(part) == (Some(Class::Fence), process, told.communicator) && part.ended.order < ended.order
    };
    let fences = operations.parts.iter().filter(is_earlier).count();
    let accesses = operations.one_sided.accesses.iter();
    accesses.filter(move |access| (access.window, access.fences) == (told.communicator, fences))
}

impl Analysis {
    pub(super) fn fences(&mut self, operations: &Operations, instances: &[Instance], world: &World) {
        for instance in instances.iter().filter(|it| it.any().class == Some(Class::Fence)) {
            let begins: Vec<i64> = instance.parts.iter().flatten().map(|part| part.begun.time).collect();
            for part in instance.parts.iter().flatten() {
                let (begin, end) = (part.begun.time, part.ended.time);
                let last = begins.iter().copied().filter(|&begin| begin <= end).max().unwrap_or(begin);
                let towards = before_fence(operations, part)
                    .filter(|access| access.target == Some(part.process) && access.origin != part.process);
                if let Some(left) = towards.map(|access| self.leave(access.at)).max() {
                    let wait = (left.min(last) - begin).max(0);
                    self.add_ticks("mpi_rma_early_fence", part.ended, begin, wait);
                }
            }
        }
        for part in operations.parts.iter().filter(|part| part.class == Some(Class::Fence)) {
            let me = part.process;
            let accesses: Vec<(usize, Option<usize>)> =
                before_fence(operations, part).map(|access| (access.origin, access.target)).collect();
            let others = world.members(part.told.communicator).unwrap_or_default();
            let others: BTreeSet<usize> = others.into_iter().filter(|&process| process != me).collect();
            let is_unneeded = |other: &&usize| {
                !accesses.contains(&(me, Some(**other))) && !accesses.contains(&(**other, Some(me)))
            };
            self.pairs(part.ended, others.len(), others.iter().filter(is_unneeded).count());
        }
    }

    /// Adds pairs of processes that an event has synchronised, and those without access among them.
    pub(super) fn pairs(&mut self, at: super::EventRef, all: usize, unneeded: usize) {
        self.add_entered("mpi_rma_pairsync_count", at, all as i64);
        self.add_entered("mpi_rma_pairsync_unneeded_count", at, unneeded as i64);
    }
}
