//! Wait states of collective operations (specification 6), and their synchronisation points (specification
//! 7.1).

use std::collections::{BTreeMap, BTreeSet};

use replay::Semantics;

use super::matching::Instance;
use super::needs::Class;
use super::operations::{Operations, Part, Series, is_init};
use super::world::World;
use super::{Analysis, Edge, EventRef};

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
    pub(crate) begin: i64,
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

/// The members of an operation that all have recorded.
fn members(instance: &Instance) -> Vec<CollectiveMember> {
    let member = |part: &Part| CollectiveMember {
        b: part.begun.time,
        n: part.ended.time,
        sent: part.told.sent,
        received: part.told.received,
        place: part.ended,
    };
    instance.parts.iter().flatten().map(member).collect()
}

/// The metric of waiting in a blocking operation.
fn metric(class: Class) -> &'static str {
    match class {
        Class::Barrier => "mpi_barrier_wait",
        Class::OneToN => "mpi_latebroadcast",
        Class::NToOne => "mpi_earlyreduce",
        Class::NToN | Class::VariableNToN => "mpi_wait_nxn",
        Class::Scan => "mpi_earlyscan",
        Class::Creation => "mpi_comm_wait_at_create",
        Class::Disconnection => "mpi_comm_wait_at_free",
        Class::Neighborhood => "mpi_wait_neighbor",
        Class::WindowCreation => "mpi_rma_wait_at_create",
        Class::WindowRelease => "mpi_rma_wait_at_free",
        Class::Fence => "mpi_rma_wait_at_fence",
        Class::FileHandling => "mpi_mgmt_file_wait",
        Class::FileTransfer => "mpi_io_collective_wait",
    }
}

impl Analysis {
    pub(super) fn collectives(&mut self, operations: &Operations, instances: &[Instance], world: &World) {
        for instance in instances.iter().filter(|it| it.any().series.is_blocking()) {
            let part = instance.any();
            match part.class {
                Some(class @ (Class::FileHandling | Class::FileTransfer)) => {
                    self.files(class, &members(instance));
                }
                Some(class) if part.series == Series::Handles || class == Class::Fence => {
                    self.softly(class, &members(instance));
                }
                _ if part.series == Series::Data && instance.side.is_none() => {
                    self.of_one_group(operations, instance);
                }
                _ => self.by_edges(operations, instance, world),
            }
        }
    }

    fn of_one_group(&mut self, operations: &Operations, instance: &Instance) {
        let told = instance.any().told;
        let (operation, root) = (told.operation.0, told.root.map(|root| root as usize));
        let members = members(instance);
        if self.semantics == Semantics::Corrected
            && operations.is_doubted(instance)
            && leaves_early(&members, operation, root)
        {
            self.after_gap += 1;
            return;
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

    /// Rest of MPI 5.2 and 7.2: each member waits for the last one that it needs.
    fn by_edges(&mut self, operations: &Operations, instance: &Instance, world: &World) {
        let Some(class) = instance.any().class else { return };
        if self.contradicts(operations, instance, world) {
            self.after_gap += 1;
            return;
        }
        let (metric, Some(costs)) = (metric(class), class.costs()) else { return };
        for own in 0..instance.parts.len() {
            let Some(needed) = instance.needed(class, world, own) else { continue };
            let Some(cause) = instance.awaited(class, &needed, own) else { continue };
            let Part { begun, ended, .. } =
                instance.parts[own].expect("a member that needs others has a part");
            let wait = cause.time.min(ended.time) - begun.time;
            if wait > 0 {
                self.add_ticks(metric, ended, begun.time, wait);
                self.edges.push(Edge::new(costs, ended, cause, (begun.time, wait)));
            }
        }
    }

    /// Rest of MPI 2.1, soft: members wait for the last one that began before their own end.
    fn softly(&mut self, class: Class, members: &[CollectiveMember]) {
        let mut groups: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (at, member) in members.iter().enumerate() {
            let begun = (0..members.len()).filter(|&other| members[other].b <= member.n);
            let last = begun.rev().max_by_key(|&other| members[other].b);
            groups.entry(last.unwrap_or(at)).or_default().insert(at);
        }
        groups.retain(|&last, group| group.iter().any(|&at| members[at].b < members[last].b));
        for (last, group) in groups {
            let metrics = (Some(metric(class)), None);
            let costs = class.costs().expect("handles have costs");
            self.wait_for_last(costs, metrics, (members, members), last, &group);
        }
    }

    /// Rest of MPI 2.1, closed: who has left before the last one came has not waited; all others have.
    fn files(&mut self, class: Class, members: &[CollectiveMember]) {
        let Some(x) = latest_begin(members) else { return };
        let group: BTreeSet<usize> = (0..members.len()).filter(|&at| members[at].n >= x).collect();
        if group.iter().all(|&at| members[at].b == x) {
            return;
        }
        let last = members.iter().position(|member| member.b == x).expect("the last one");
        let completion = (class == Class::FileTransfer).then_some("mpi_io_collective_completion");
        let metrics = (Some(metric(class)), completion);
        self.wait_for_last("io", metrics, (members, members), last, &group);
    }

    /// Specification 6.2
    fn barrier(&mut self, members: &[CollectiveMember]) {
        let (Some(x), Some(y)) = (latest_begin(members), earliest_end(members)) else { return };
        for member in members {
            let (wait, completion) = member.wait_and_completion(x, y);
            self.add_ticks("mpi_barrier_wait", member.place, member.b, wait);
            self.add_completion("mpi_barrier_completion", member.place, completion);
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
            Partner { place: member.place, begin: member.b, wait, completion, ranks }
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
            let wait = member.wait_and_completion(x, y).0;
            self.add_ticks("mpi_latebroadcast", member.place, member.b, wait);
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
        let wait = root.wait_and_completion(x, root.n).0;
        self.add_ticks("mpi_earlyreduce", root.place, root.b, wait);
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
            let metrics = (Some("mpi_wait_nxn"), Some("mpi_nxn_completion"));
            self.wait_for_last("n2n", metrics, (members, &moving), last, &waiting);
        }
    }

    /// Rest of MPI 2.3: a group that waits for its last member, which may wait itself in another group. Metrics are those of
    /// waiting and completion; the group counts those that take part among all members.
    fn wait_for_last(
        &mut self,
        class: &'static str,
        (wait_metric, completion_metric): (Option<&str>, Option<&str>),
        (all, taking_part): (&[CollectiveMember], &[CollectiveMember]),
        last: usize,
        waiting: &BTreeSet<usize>,
    ) {
        let x = taking_part[last].b;
        let group: BTreeSet<usize> = waiting.iter().copied().chain([last]).collect();
        let group: Vec<CollectiveMember> = group.into_iter().map(|at| taking_part[at]).collect();
        let Some(y) = earliest_end(&group) else { return };
        for &at in waiting {
            let (wait, completion) = taking_part[at].wait_and_completion(x, y);
            let CollectiveMember { place, b, .. } = taking_part[at];
            if let Some(metric) = wait_metric {
                self.add_ticks(metric, place, b, wait);
            }
            if let Some(metric) = completion_metric {
                self.add_completion(metric, place, completion);
            }
        }
        let ranks: BTreeSet<usize> = group.iter().map(|member| self.process(member.place)).collect();
        let partners = waiting.iter().map(|&at| (taking_part[at], ranks.clone())).collect();
        self.meet_for(class, all, partners, taking_part[last].place, (x, y));
    }

    fn wait_at_n_to_n(&mut self, all: &[CollectiveMember], synchronising: &[CollectiveMember], x: i64) {
        let Some(y) = earliest_end(synchronising) else { return };
        for member in synchronising {
            let (wait, completion) = member.wait_and_completion(x, y);
            self.add_ticks("mpi_wait_nxn", member.place, member.b, wait);
            self.add_completion("mpi_nxn_completion", member.place, completion);
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
            self.add_ticks("mpi_earlyscan", member.place, member.b, wait);
        }
    }

    /// Specification 6.1: of each process the first call.
    pub(super) fn init_and_finalize(&mut self, processes: usize) {
        if let Some(inits) = self.first_calls(processes, is_init)
            && let (Some(x), Some(y)) = (latest_begin(&inits), earliest_end(&inits))
        {
            for init in &inits {
                let completion = init.wait_and_completion(x, y).1;
                self.add_completion("mpi_init_completion", init.place, completion);
            }
            self.meet("init", &inits, &inits, (x, y));
        }
        if let Some(finalizes) = self.first_calls(processes, |name| name == "finalize")
            && let (Some(x), Some(y)) = (latest_begin(&finalizes), earliest_end(&finalizes))
        {
            for finalize in &finalizes {
                let wait = finalize.wait_and_completion(x, y).0;
                self.add_ticks("mpi_finalize_wait", finalize.place, finalize.b, wait);
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
