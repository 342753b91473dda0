//! Access epochs and exposure epochs: late posts, early waits, late completes (rest of MPI 8.1, 8.3, 8.6).

use super::operations::Operations;
use super::windows::{AccessEpoch, ExposureEpoch};
use super::{Analysis, Edge, EventRef};

/// The partner of an epoch: of those of its own process that name the other one it is the k-th, as the partner is on the other
/// side. Both lists have the indices of epochs, with their begins.
fn partner(
    operations: &Operations,
    epoch: usize,
    (me, own): (usize, Vec<(usize, EventRef)>),
    (other, theirs): (usize, Vec<(usize, EventRef)>),
) -> Option<usize> {
    let number = own.iter().position(|it| it.0 == epoch).expect("the epoch itself");
    let partner = *theirs.get(number)?;
    let is_sure =
        |process: usize, begin: EventRef| operations.gaps[process].is_none_or(|gap| begin.order < gap);
    let are_sure = own.len() == theirs.len() || is_sure(me, own[number].1) && is_sure(other, partner.1);
    are_sure.then_some(partner.0)
}

/// The epochs of an origin on a window that name a target.
fn of_origin(
    operations: &Operations,
    window: usize,
    (origin, target): (usize, usize),
) -> Vec<(usize, EventRef)> {
    let epochs = operations.one_sided.access_epochs.iter().enumerate();
    let is_this =
        |it: &AccessEpoch| (it.origin, it.window) == (origin, window) && it.targets.contains(&target);
    epochs.filter(|(_, it)| is_this(it)).map(|(at, it)| (at, it.start)).collect()
}

/// The epochs of a target on a window that name an origin.
fn of_target(
    operations: &Operations,
    window: usize,
    (origin, target): (usize, usize),
) -> Vec<(usize, EventRef)> {
    let epochs = operations.one_sided.exposure_epochs.iter().enumerate();
    let is_this =
        |it: &ExposureEpoch| (it.target, it.window) == (target, window) && it.origins.contains(&origin);
    epochs.filter(|(_, it)| is_this(it)).map(|(at, it)| (at, it.post)).collect()
}

impl Analysis {
    /// Returns the number of epochs without partner, those with several counted for each.
    pub(super) fn epochs(&mut self, operations: &Operations) -> usize {
        let mut without_partner = 0;
        for (at, epoch) in operations.one_sided.access_epochs.iter().enumerate() {
            let exposures: Vec<(usize, Option<&ExposureEpoch>)> = epoch
                .targets
                .iter()
                .map(|&target| {
                    let pair = (epoch.origin, target);
                    let own = (epoch.origin, of_origin(operations, epoch.window, pair));
                    let theirs = (target, of_target(operations, epoch.window, pair));
                    let partner = partner(operations, at, own, theirs);
                    (target, partner.map(|at| &operations.one_sided.exposure_epochs[at]))
                })
                .collect();
            without_partner += exposures.iter().filter(|(_, exposure)| exposure.is_none()).count();
            self.late_posts(operations, epoch, &exposures);
        }
        for (at, epoch) in operations.one_sided.exposure_epochs.iter().enumerate() {
            let epochs: Vec<(usize, Option<&AccessEpoch>)> = epoch
                .origins
                .iter()
                .map(|&origin| {
                    let pair = (origin, epoch.target);
                    let own = (epoch.target, of_target(operations, epoch.window, pair));
                    let theirs = (origin, of_origin(operations, epoch.window, pair));
                    let partner = partner(operations, at, own, theirs);
                    (origin, partner.map(|at| &operations.one_sided.access_epochs[at]))
                })
                .collect();
            without_partner += epochs.iter().filter(|(_, epoch)| epoch.is_none()).count();
            self.early_wait(operations, epoch, &epochs);
        }
        without_partner
    }

    /// Whichever call contains the post has waited for it.
    fn late_posts(
        &mut self,
        operations: &Operations,
        epoch: &AccessEpoch,
        exposures: &[(usize, Option<&ExposureEpoch>)],
    ) {
        let accesses: Vec<_> =
            epoch.accesses.iter().map(|&access| operations.one_sided.accesses[access]).collect();
        let synchronising = [Some(epoch.start), epoch.complete].into_iter().flatten().map(|at| (at, None));
        for (at, target) in synchronising.chain(accesses.iter().map(|access| (access.at, access.target))) {
            let exposures = exposures.iter().filter(|it| target.is_none_or(|target| it.0 == target));
            let posts = exposures.filter_map(|&(process, exposure)| Some((process, exposure?.post)));
            let before = posts.filter(|&(_, post)| self.enter(post) <= self.leave(at));
            // Of equals the lowest rank.
            let mut before: Vec<(usize, EventRef)> = before.collect();
            before.sort_by_key(|&(process, post)| (self.enter(post), std::cmp::Reverse(process)));
            let Some(&(_, post)) = before.last() else { continue };
            let wait = self.enter(post) - self.enter(at);
            if wait > 0 {
                let metric = match target {
                    Some(_) => "mpi_rma_comm_late_post",
                    None => "mpi_rma_sync_late_post",
                };
                self.add_ticks(metric, at, self.enter(at), wait);
                self.edges.push(Edge::new("rma", at, post, (self.enter(at), wait)));
            }
        }
        if let Some(complete) = epoch.complete {
            let others = || epoch.targets.iter().filter(|&&target| target != epoch.origin);
            let is_accessed = |target: &usize| accesses.iter().any(|access| access.target == Some(*target));
            self.pairs(complete, others().count(), others().filter(|target| !is_accessed(target)).count());
        }
    }

    fn early_wait(
        &mut self,
        operations: &Operations,
        epoch: &ExposureEpoch,
        epochs: &[(usize, Option<&AccessEpoch>)],
    ) {
        let Some(end) = epoch.end else { return };
        // The end of the last call of an origin that accesses the target.
        let accessed = |of: &AccessEpoch| {
            let accesses = of.accesses.iter().map(|&access| operations.one_sided.accesses[access]);
            let towards = accesses.filter(|access| access.target == Some(epoch.target));
            towards.map(|access| self.leave(access.at)).max()
        };
        let known = || epochs.iter().filter_map(|&(process, epoch)| Some((process, epoch?)));
        let others = || epoch.origins.iter().filter(|&&origin| origin != epoch.target);
        let accessing: Vec<usize> =
            known().filter(|(_, epoch)| accessed(epoch).is_some()).map(|(process, _)| process).collect();
        let unneeded = others().filter(|origin| !accessing.contains(origin)).count();
        let completes = known().filter_map(|(process, epoch)| Some((process, epoch.complete?)));
        let last = completes.max_by_key(|&(process, complete)| {
            // Of equals the lowest rank.
            (self.enter(complete), std::cmp::Reverse(process))
        });
        let last_access = known().filter_map(|(_, epoch)| accessed(epoch)).max();
        self.pairs(end, others().count(), unneeded);
        let Some((_, complete)) = last.filter(|_| self.name(end) == "win_wait") else { return };
        let (enter, leave) = (self.enter(end), self.leave(end));
        let until = self.enter(complete).min(leave);
        if until > enter {
            self.add_ticks("mpi_rma_early_wait", end, enter, until - enter);
            let since = last_access.unwrap_or(enter).max(enter);
            self.add_ticks("mpi_rma_late_complete", end, since, (until - since).max(0));
            self.edges.push(Edge::new("rma", end, complete, (enter, until - enter)));
        }
    }
}
