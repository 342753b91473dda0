//! Wait states of collective operations (specification 6), and their synchronisation points (specification
//! 7.1).

use std::collections::{BTreeMap, BTreeSet};

use replay::Semantics;

use super::operations::{Operations, is_init};
use super::{Analysis, EventRef};

/// A member: b, n, and its amounts of data.
#[derive(Clone, Copy)]
struct CollectiveMember {
    b: i64,
    n: i64,
    sent: i64,
    received: i64,
    /// The event to which severities are attributed.
    place: EventRef,
}

impl CollectiveMember {
    /// The general clamp: waiting for X, and completion after Y.
    fn wait_and_completion(&self, x: i64, y: i64) -> (i64, i64) {
        let x = x.min(self.n);
        let y = y.max(x);
        ((x - self.b).max(0), (self.n - y).max(0))
    }
}

/// An instance of a collective operation at which members have synchronised.
#[derive(Clone, Debug)]
pub(crate) struct CollectiveInstance {
    /// Class, in the names of metrics of costs, or `init` or `finalize`.
    pub(crate) class: &'static str,
    /// All members of the communicator, as processes.
    pub(crate) members: Vec<usize>,
    /// The end event of the member that the others wait for.
    pub(crate) blamed: EventRef,
    pub(crate) partners: Vec<Partner>,
}

/// A member that has synchronised with others.
#[derive(Clone, Debug)]
pub(crate) struct Partner {
    pub(crate) place: EventRef,
    pub(crate) wait: i64,
    pub(crate) completion: i64,
    /// The processes that it synchronised with.
    pub(crate) ranks: BTreeSet<usize>,
}

fn latest_begin(members: &[CollectiveMember]) -> Option<i64> {
    members.iter().map(|member| member.b).max()
}

fn earliest_end(members: &[CollectiveMember]) -> Option<i64> {
    members.iter().map(|member| member.n).min()
}

/// Q9: members that move no data are left out.
fn with_data(members: &[CollectiveMember]) -> Vec<CollectiveMember> {
    members.iter().copied().filter(|member| member.sent > 0 || member.received > 0).collect()
}

/// Whether a member's recorder was switched off before: the operation may differ from the others'.
fn is_doubted(operations: &Operations, instance: &[usize]) -> bool {
    instance.iter().any(|&at| {
        let one = &operations.collectives[at];
        let gap = operations.gaps[one.process];
        operations.were_off[one.process] && gap.is_some_and(|gap| one.end.order >= gap)
    })
}

/// Whether a member has left before another one entered that it has to wait for.
fn leaves_early(members: &[CollectiveMember], operation: u8, root: Option<usize>) -> bool {
    let before = |members: &[CollectiveMember], x: Option<i64>| {
        x.is_some_and(|x| members.iter().any(|member| member.n < x))
    };
    let senders: Vec<CollectiveMember> = members.iter().copied().filter(|member| member.sent > 0).collect();
    match (operation, root) {
        (0, _) => before(members, latest_begin(members)),
        (1 | 4 | 5, Some(root)) => {
            let root = members[root];
            let waits =
                |member: &&CollectiveMember| member.received > 0 && member.b < root.b && root.sent > 0;
            members.iter().filter(waits).any(|member| member.n < root.b)
        }
        (2 | 3 | 12, Some(root)) => {
            let (root, x) = (members[root], latest_begin(&senders));
            root.received > 0 && before(&[root], x)
        }
        (6 | 7 | 8 | 11 | 13 | 16, _) => {
            let moving = with_data(members);
            let (x, y) = (latest_begin(&moving), earliest_end(&moving));
            let receivers: Vec<CollectiveMember> =
                moving.iter().copied().filter(|member| member.received > 0).collect();
            y <= x && before(&receivers, latest_begin(&senders))
        }
        (14 | 15, _) => {
            let mut x = None;
            with_data(members).into_iter().any(|member| {
                x = if member.sent > 0 { x.max(Some(member.b)) } else { x };
                x.is_some_and(|x| member.n < x)
            })
        }
        _ => false,
    }
}

impl Analysis {
    pub(super) fn collectives(&mut self, operations: &Operations, instances: &[Vec<usize>]) {
        for instance in instances {
            let first = &operations.collectives[instance[0]];
            let (operation, root) = (first.operation.0, first.root.map(|root| root as usize));
            let members: Vec<CollectiveMember> = instance
                .iter()
                .map(|&at| {
                    let one = &operations.collectives[at];
                    let (sent, received, place) = (one.sent, one.received, one.end);
                    CollectiveMember { b: one.begin, n: place.time, sent, received, place }
                })
                .collect();
            if self.semantics == Semantics::Corrected
                && is_doubted(operations, instance)
                && leaves_early(&members, operation, root)
            {
                continue;
            }
            // Specification 3.2: codes of OTF2. In the reference's semantics 9 and 10 (Alltoallv, Alltoallw) are counted only.
            match (operation, root) {
                (9 | 10, _) if self.semantics == Semantics::Corrected => self.variable_n_to_n(&members),
                (0, _) => self.barrier(&members),
                (1 | 4 | 5, Some(root)) => self.one_to_n(&members, root),
                (2 | 3 | 12, Some(root)) => self.n_to_one(&members, root),
                (6 | 7 | 8 | 11 | 13 | 16, _) => self.n_to_n(&members),
                (14 | 15, _) => self.scan(&members),
                _ => {}
            }
        }
    }

    /// Specification 6.2
    fn barrier(&mut self, members: &[CollectiveMember]) {
        let (Some(x), Some(y)) = (latest_begin(members), earliest_end(members)) else { return };
        for member in members {
            let (wait, completion) = member.wait_and_completion(x, y);
            self.add_at("mpi_barrier_wait", member.place, wait);
            self.add_at("mpi_barrier_completion", member.place, completion);
        }
        self.meet("barrier", members, members, (x, y));
    }

    /// Synchronises members, each with all others of them; `x` is the start of the blamed one, `y` their
    /// earliest end.
    fn meet(
        &mut self,
        class: &'static str,
        all: &[CollectiveMember],
        partners: &[CollectiveMember],
        (x, y): (i64, i64),
    ) {
        let ranks: BTreeSet<usize> = partners.iter().map(|partner| self.process(partner.place)).collect();
        let with = partners.iter().map(|&partner| (partner, ranks.clone())).collect();
        self.meet_some(class, all, with, (x, y));
    }

    /// The same with a set of processes for each member. Among several that start at `x` the lowest rank is
    /// blamed.
    fn meet_some(
        &mut self,
        class: &'static str,
        all: &[CollectiveMember],
        partners: Vec<(CollectiveMember, BTreeSet<usize>)>,
        (x, y): (i64, i64),
    ) {
        let blamed = partners.iter().find(|(member, _)| member.b == x).expect("the one that begins then");
        let blamed = blamed.0.place;
        self.meet_for(class, all, partners, blamed, (x, y));
    }

    /// The same with the event of the one that is blamed.
    fn meet_for(
        &mut self,
        class: &'static str,
        all: &[CollectiveMember],
        partners: Vec<(CollectiveMember, BTreeSet<usize>)>,
        blamed: EventRef,
        (x, y): (i64, i64),
    ) {
        let partner = |(member, ranks): (CollectiveMember, BTreeSet<usize>)| {
            let (wait, completion) = member.wait_and_completion(x, y);
            // Q20: there is no waiting in MPI_Init.
            let wait = if class == "init" { 0 } else { wait };
            Partner { place: member.place, wait, completion, ranks }
        };
        let members = all.iter().map(|member| self.process(member.place)).collect();
        let partners = partners.into_iter().map(partner).collect();
        self.collective_instances.push(CollectiveInstance { class, members, blamed, partners });
    }

    /// Specification 6.3
    fn one_to_n(&mut self, members: &[CollectiveMember], root: usize) {
        let x = members[root].b;
        if members[root].sent == 0 {
            return;
        }
        let waiting: Vec<CollectiveMember> =
            members.iter().copied().filter(|member| member.received > 0 && member.b < x).collect();
        let Some(y) = earliest_end(&waiting) else { return };
        for member in &waiting {
            self.add_at("mpi_latebroadcast", member.place, member.wait_and_completion(x, y).0);
        }
        let root = members[root];
        let process = |member: &CollectiveMember| self.process(member.place);
        let mut partners = vec![(root, waiting.iter().map(process).collect())];
        partners.extend(waiting.iter().map(|&member| (member, BTreeSet::from([process(&root)]))));
        self.meet_some("12n", members, partners, (x, y));
    }

    /// Specification 6.4
    fn n_to_one(&mut self, members: &[CollectiveMember], root: usize) {
        let senders: Vec<CollectiveMember> =
            members.iter().copied().filter(|member| member.sent > 0).collect();
        let (root, Some(x)) = (members[root], latest_begin(&senders)) else { return };
        if root.received == 0 || root.b >= x {
            return;
        }
        self.add_at("mpi_earlyreduce", root.place, root.wait_and_completion(x, root.n).0);
        let latest = *senders.iter().find(|sender| sender.b == x).expect("the latest sender");
        let process = |member: &CollectiveMember| BTreeSet::from([self.process(member.place)]);
        let partners = vec![(root, process(&latest)), (latest, process(&root))];
        self.meet_some("n21", members, partners, (x, root.n.min(latest.n)));
    }

    /// Specification 6.5
    fn n_to_n(&mut self, members: &[CollectiveMember]) {
        let all = members;
        let members = with_data(members);
        let (Some(x1), Some(y1)) = (latest_begin(&members), earliest_end(&members)) else { return };
        if y1 > x1 {
            return self.wait_at_n_to_n(all, &members, x1);
        }
        let senders: Vec<CollectiveMember> =
            members.iter().copied().filter(|member| member.sent > 0).collect();
        let Some(x) = latest_begin(&senders) else { return };
        // Among several last senders the lowest rank takes part.
        let last = members.iter().position(|member| member.sent > 0 && member.b == x);
        let synchronising: Vec<CollectiveMember> = members
            .iter()
            .enumerate()
            .filter(|(at, member)| member.received > 0 && member.b < x || Some(*at) == last)
            .map(|(_, member)| *member)
            .collect();
        self.wait_at_n_to_n(all, &synchronising, x);
    }

    /// Rest of MPI 4.1
    fn variable_n_to_n(&mut self, members: &[CollectiveMember]) {
        let moving = with_data(members);
        let (Some(x1), Some(y1)) = (latest_begin(&moving), earliest_end(&moving)) else { return };
        if y1 > x1 {
            return self.wait_at_n_to_n(members, &moving, x1);
        }
        // By the one that is waited for: those that wait for it.
        let mut groups: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (at, member) in moving.iter().enumerate() {
            let begun = |other: &CollectiveMember| other.sent > 0 && other.b <= member.n;
            let Some(x) = moving.iter().filter(|other| begun(other)).map(|other| other.b).max() else {
                continue;
            };
            let last = moving.iter().position(|other| begun(other) && other.b == x).expect("the last one");
            if last == at || member.received > 0 && member.b < x {
                groups.entry(last).or_default().insert(at);
            }
        }
        // Who is waited for takes part, if it waits for nobody itself.
        let in_some: BTreeSet<usize> = groups.values().flatten().copied().collect();
        for (last, waiting) in &mut groups {
            if !in_some.contains(last) {
                waiting.insert(*last);
            }
        }
        for (last, waiting) in groups {
            let x = moving[last].b;
            let group: Vec<CollectiveMember> = waiting
                .iter()
                .chain([&last])
                .collect::<BTreeSet<_>>()
                .into_iter()
                .map(|&at| moving[at])
                .collect();
            let Some(y) = earliest_end(&group) else { continue };
            for &at in &waiting {
                let (wait, completion) = moving[at].wait_and_completion(x, y);
                self.add_at("mpi_wait_nxn", moving[at].place, wait);
                self.add_at("mpi_nxn_completion", moving[at].place, completion);
            }
            let ranks: BTreeSet<usize> = group.iter().map(|member| self.process(member.place)).collect();
            let partners = waiting.iter().map(|&at| (moving[at], ranks.clone())).collect();
            self.meet_for("n2n", members, partners, moving[last].place, (x, y));
        }
    }

    fn wait_at_n_to_n(&mut self, all: &[CollectiveMember], synchronising: &[CollectiveMember], x: i64) {
        let Some(y) = earliest_end(synchronising) else { return };
        for member in synchronising {
            let (wait, completion) = member.wait_and_completion(x, y);
            self.add_at("mpi_wait_nxn", member.place, wait);
            self.add_at("mpi_nxn_completion", member.place, completion);
        }
        self.meet("n2n", all, synchronising, (x, y));
    }

    /// Specification 6.6
    fn scan(&mut self, members: &[CollectiveMember]) {
        let mut x: Option<i64> = None;
        for member in with_data(members) {
            if member.sent > 0 {
                x = x.max(Some(member.b));
            }
            let wait = x.map_or(0, |x| x.min(member.n) - member.b).max(0);
            self.add_at("mpi_earlyscan", member.place, wait);
        }
    }

    /// Specification 6.1: of each process the first call.
    pub(super) fn init_and_finalize(&mut self, processes: usize) {
        if let Some(inits) = self.first_calls(processes, is_init)
            && let (Some(x), Some(y)) = (latest_begin(&inits), earliest_end(&inits))
        {
            for init in &inits {
                self.add_at("mpi_init_completion", init.place, init.wait_and_completion(x, y).1);
            }
            self.meet("init", &inits, &inits, (x, y));
        }
        if let Some(finalizes) = self.first_calls(processes, |name| name == "finalize")
            && let (Some(x), Some(y)) = (latest_begin(&finalizes), earliest_end(&finalizes))
        {
            for finalize in &finalizes {
                self.add_at("mpi_finalize_wait", finalize.place, finalize.wait_and_completion(x, y).0);
            }
            self.meet("finalize", &finalizes, &finalizes, (x, y));
        }
    }

    /// The call of each process that is left first; none unless all have one.
    fn first_calls(&self, processes: usize, is: impl Fn(&str) -> bool) -> Option<Vec<CollectiveMember>> {
        (0..processes)
            .map(|process| {
                let locations = self.locations.iter().enumerate().filter(|(_, it)| it.process == process);
                let calls = locations.flat_map(|(at, it)| {
                    it.calls.iter().enumerate().map(move |(number, call)| (at, number, call))
                });
                let first =
                    calls.filter(|(_, _, call)| is(&call.mpi_name)).min_by_key(|(_, _, call)| call.leave);
                first.map(|(location, number, call)| CollectiveMember {
                    b: call.enter,
                    n: call.leave,
                    sent: 0,
                    received: 0,
                    place: self.end_of(location, number),
                })
            })
            .collect()
    }
}
