//! What the threads of a process did with their time, in the run and in visits of phases: sums that efficiencies are made of
//! (what-if 5.1, 5.2).
//!
//! ```text
//!   main   ──s──┬fork      q        barrier ┬join──s──     p: from fork to join, outside of MPI
//!   other       └─begin────q────barrier─end─┘              q: work from begin to end, also of tasks in barriers
//! ```

use model::Ticks;
use rustc_hash::FxHashMap;

use super::classes::RowClass;
use super::marks::{Kind, Marks};
use crate::ids::JournalPosition;
use crate::int::to_u32;
use crate::operations::{Barrier, TeamEventKind};
use crate::walk::{Border, Noted};

/// Sums over a process, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Usage {
    /// Work of the main thread, without that of tasks in barriers: what load balance of main threads compares.
    pub work: Ticks,
    /// The time of the main thread in parallel regions, outside of MPI.
    pub parallel: Ticks,
    /// Work of the main thread outside of parallel regions.
    pub serial: Ticks,
    /// Work of all threads in parallel regions.
    pub worked: Ticks,
    /// Time of all threads in which they waited for the slowest one of their team.
    pub waited: Ticks,
}

/// Where a visit of a phase begins or ends, in measured and replayed time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Edge {
    /// As measured.
    pub time: Ticks,
    /// The mark before it at the main thread.
    pub mark: u32,
    /// Ticks since then on an ideal network.
    pub since: Ticks,
    /// Whether a completion follows, behind which it cannot be.
    pub is_cut: bool,
}

/// What the threads of a process did.
#[derive(Clone, Default, Debug)]
pub(super) struct ProcessUsage {
    /// The number of threads that were in teams, with the main one.
    pub threads: u32,
    /// In the run, and behind it in each phase.
    pub scopes: Vec<Usage>,
    /// By phase: the visits that are not all before the end of `MPI_Init` or behind the begin of `MPI_Finalize`.
    pub visits: Vec<Vec<[Edge; 2]>>,
    /// By phase: whether a visit begins or ends inside of a parallel region, so that other threads are not known to be in it.
    pub is_split: Vec<bool>,
}

/// A location while the sums of its process are made.
pub(super) struct Thread<'a> {
    pub marks: &'a Marks,
    /// By row.
    pub classes: &'a [RowClass],
}

/// Time between two events of a location, by what was done.
struct Stretch {
    ticks: Ticks,
    /// Work in rows: without time outside of any region.
    in_rows: Ticks,
    mpi: Ticks,
    kept: Ticks,
    runtime: Ticks,
}

impl Stretch {
    fn new(thread: &Thread<'_>, [from, to]: [(Ticks, JournalPosition); 2]) -> Stretch {
        let mut stretch =
            Stretch { ticks: to.0.saturating_sub(from.0), in_rows: 0, mpi: 0, kept: 0, runtime: 0 };
        for (row, ticks) in thread.marks.pieces.pieces(from.1..to.1) {
            let sum = match thread.classes.get(row.index()) {
                Some(RowClass::Mpi) => &mut stretch.mpi,
                Some(RowClass::Recorder | RowClass::Kept | RowClass::Init | RowClass::Finalize) => {
                    &mut stretch.kept
                }
                Some(RowClass::Threads) => &mut stretch.runtime,
                Some(RowClass::Work) | None => &mut stretch.in_rows,
            };
            *sum = sum.saturating_add(ticks);
        }
        stretch
    }

    /// All but MPI and what threads wait for; where more was accounted to rows than passed, as may be where teams begin, that is none.
    fn work(&self) -> Ticks {
        [self.mpi, self.kept, self.runtime].into_iter().fold(self.ticks, Ticks::saturating_sub)
    }

    /// Work of tasks while the thread is in a barrier, or before it acquires a lock.
    fn in_wait(&self) -> Ticks {
        self.in_rows.clamp(0, self.ticks.max(0))
    }
}

/// A team: what its fork lies in, when its last member ended, and when it was joined.
#[derive(Clone, Default)]
struct Team {
    /// By scope; none if the fork is another thread's than the main one.
    scopes: Option<Vec<bool>>,
    /// The team of the thread that forked it, if that is not the main one.
    above: Option<u32>,
    ended: Option<Ticks>,
    joined: Option<Ticks>,
}

/// What the threads of a process know of each other.
struct Together<'a> {
    barriers: &'a [Barrier],
    teams: FxHashMap<u32, Team>,
    /// When the last thread entered a barrier.
    entered: FxHashMap<u32, Ticks>,
}

/// Makes the sums of a process: of the run, and of so many phases, whose borders are at the main thread. The first location is the main
/// thread.
pub(super) fn of_process(
    threads: &[Thread<'_>],
    barriers: &[Barrier],
    borders: &[Border],
    phases: usize,
) -> ProcessUsage {
    let mut usage = ProcessUsage {
        threads: 1,
        scopes: vec![Usage::default(); phases + 1],
        visits: vec![Vec::new(); phases],
        is_split: vec![false; phases],
    };
    let Some((main, others)) = threads.split_first() else { return usage };
    let mut together = Together { barriers, teams: FxHashMap::default(), entered: FxHashMap::default() };
    threads.iter().enumerate().for_each(|(at, thread)| together.look(thread.marks, at == 0));
    of_main(main, borders, &mut together, &mut usage);
    for thread in others {
        usage.threads += u32::from(of_other(thread, &together, &mut usage.scopes));
    }
    for scope in &mut usage.scopes {
        // Threads may work while the main one is in MPI.
        let count = Ticks::from(usage.threads);
        scope.worked = scope.worked.max(0);
        scope.serial = scope.serial.max(0);
        scope.parallel =
            scope.parallel.max(scope.worked.div_euclid(count) + Ticks::from(scope.worked % count > 0));
        let most = count.saturating_mul(scope.parallel).saturating_sub(scope.worked);
        scope.waited = scope.waited.clamp(0, most.max(0));
    }
    usage
}

impl Together<'_> {
    /// Looks through the marks of a thread for what others need to know.
    fn look(&mut self, marks: &Marks, is_main: bool) {
        let mut inside = Vec::new();
        for &(what, mark) in &marks.threads {
            let time = marks.list[mark as usize].time;
            match what {
                Noted::EnterBarrier(visit) => {
                    if let Some(barrier) = self.barriers[visit as usize].last {
                        let latest = self.entered.entry(barrier).or_insert(time);
                        *latest = time.max(*latest);
                    }
                }
                Noted::Team(kind, number) => {
                    let team = self.teams.entry(number).or_default();
                    match kind {
                        TeamEventKind::Fork => team.above = inside.first().copied().filter(|_| !is_main),
                        TeamEventKind::Begin => inside.push(number),
                        TeamEventKind::End => {
                            inside.pop();
                            team.ended = team.ended.max(Some(time));
                        }
                        TeamEventKind::Join => team.joined = Some(time),
                    }
                }
                _ => {}
            }
        }
    }

    /// The scopes in which the main thread has forked the team, or one around it.
    fn scopes(&self, mut number: u32) -> Option<&[bool]> {
        loop {
            let team = self.teams.get(&number)?;
            if let Some(scopes) = &team.scopes {
                return Some(scopes);
            }
            // Numbers of teams rise in the order of forks.
            number = team.above.filter(|&above| above < number)?;
        }
    }

    /// How long a thread waits in a barrier that it enters at a time.
    fn waited(&self, visit: u32, from: Ticks) -> Ticks {
        let latest = self.barriers[visit as usize].last.and_then(|barrier| self.entered.get(&barrier));
        latest.map_or(0, |latest| latest.saturating_sub(from))
    }

    /// How long a thread that ends a team at a time waits for its last member.
    fn waited_for_team(&self, number: u32, from: Ticks) -> Ticks {
        let Some(Team { ended, joined, .. }) = self.teams.get(&number) else { return 0 };
        let last = ended.unwrap_or(from).min(joined.unwrap_or(Ticks::MAX));
        last.saturating_sub(from).max(0)
    }
}

/// Adds work and waiting of a thread to those scopes that it is in.
fn add(usage: &mut [Usage], scopes: Option<&[bool]>, worked: Ticks, waited: Ticks) {
    for (usage, _) in usage.iter_mut().zip(scopes.unwrap_or_default()).filter(|(_, is_in)| **is_in) {
        usage.worked = usage.worked.saturating_add(worked);
        usage.waited = usage.waited.saturating_add(waited);
    }
}

/// A thread that is not the main one; returns whether it was in a team of the run.
fn of_other(thread: &Thread<'_>, together: &Together<'_>, usage: &mut [Usage]) -> bool {
    let marks = thread.marks;
    let mut events = marks.threads.iter().peekable();
    let (mut depth, mut is_member) = (0_u32, false);
    let mut scopes: Option<&[bool]> = None;
    for at in 1..marks.list.len() {
        let event = events.next_if(|(_, mark)| *mark as usize == at).map(|(what, _)| *what);
        let ends = [at - 1, at].map(|mark| (marks.list[mark].time, marks.list[mark].pieces));
        if depth > 0 {
            let (worked, waited) = worked(thread, marks.list[at].kind(), event, ends, together);
            add(usage, scopes, worked, waited);
        }
        match event {
            Some(Noted::Team(TeamEventKind::Begin, number)) => {
                if depth == 0 {
                    scopes = together.scopes(number);
                    is_member |= scopes.is_some_and(|scopes| scopes[0]);
                }
                depth += 1;
            }
            Some(Noted::Team(TeamEventKind::End, number)) => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    add(usage, scopes, 0, together.waited_for_team(number, marks.list[at].time));
                }
            }
            _ => {}
        }
    }
    is_member
}

/// Work, and waiting for other threads, of a thread in a team before a mark of this kind, which stands for an event of threads or none.
fn worked(
    thread: &Thread<'_>,
    kind: Kind,
    event: Option<Noted>,
    ends: [(Ticks, JournalPosition); 2],
    together: &Together<'_>,
) -> (Ticks, Ticks) {
    let [(from, _), (to, _)] = ends;
    match (kind, event) {
        (Kind::Completion(_), Some(Noted::LeaveBarrier(visit))) => {
            let work = Stretch::new(thread, ends).in_wait();
            let waited = together.waited(visit, from).clamp(0, to.saturating_sub(from).max(0));
            (work, waited.saturating_sub(work).max(0))
        }
        (Kind::Completion(_), Some(Noted::Acquire(_))) => (Stretch::new(thread, ends).in_wait(), 0),
        (Kind::Completion(_), Some(Noted::Team(TeamEventKind::Join, number))) => {
            (0, together.waited_for_team(number, from))
        }
        (Kind::Completion(_), _) | (Kind::Fixed, _) => (0, 0),
        (Kind::Work, _) => (Stretch::new(thread, ends).work(), 0),
    }
}

/// The main thread, and the visits of phases.
fn of_main(thread: &Thread<'_>, borders: &[Border], together: &mut Together<'_>, usage: &mut ProcessUsage) {
    let marks = thread.marks;
    let inside = marks.inside();
    let mut events = marks.threads.iter().peekable();
    let mut borders = borders.iter().zip(&marks.borders).peekable();
    let mut is_open = vec![false; usage.scopes.len()];
    let mut begins: Vec<Option<Edge>> = vec![None; usage.visits.len()];
    let mut teams: Vec<u32> = Vec::new();
    let edge_at =
        |mark: usize| Edge { time: marks.list[mark].time, mark: to_u32(mark), since: 0, is_cut: false };
    for at in 1..=marks.list.len() {
        is_open[0] = inside.contains(&at);
        let event = events.next_if(|(_, mark)| *mark as usize == at).map(|(what, _)| *what);
        let mark = marks.list.get(at);
        let kind = mark.map_or(Kind::Work, |mark| mark.kind());
        let is_cut = matches!(kind, Kind::Completion(_));
        let mut from = (marks.list[at - 1].time, marks.list[at - 1].pieces);
        let mut since: Ticks = 0;
        loop {
            let border = borders.next_if(|(_, before)| **before as usize == at - 1).map(|(border, _)| border);
            let to = match (border, mark) {
                (Some(border), _) => (border.time, border.pieces),
                (None, Some(mark)) => (mark.time, mark.pieces),
                (None, None) => break,
            };
            let ends = [from, to];
            if is_open[0] {
                let stretch = Stretch::new(thread, ends);
                let last = event.filter(|_| border.is_none());
                let (work, waited) = worked(thread, kind, last, ends, together);
                let outside_of_mpi = match (kind, event) {
                    (Kind::Completion(_), Some(_)) => stretch.ticks,
                    (Kind::Completion(_), None) => 0,
                    _ => stretch.ticks.saturating_sub(stretch.mpi).saturating_sub(stretch.kept),
                };
                for (of, _) in usage.scopes.iter_mut().zip(&is_open).filter(|(_, is_open)| **is_open) {
                    of.work = of.work.saturating_add(if kind == Kind::Work { work } else { 0 });
                    if !teams.is_empty() {
                        of.parallel = of.parallel.saturating_add(outside_of_mpi);
                        of.worked = of.worked.saturating_add(work);
                        of.waited = of.waited.saturating_add(waited);
                    } else {
                        of.serial = of.serial.saturating_add(work);
                    }
                }
                since = since.saturating_add(if is_cut {
                    stretch.ticks
                } else {
                    stretch.ticks.saturating_sub(stretch.mpi)
                });
            }
            let Some(&Border { phase, begins: is_begin, is_parallel, .. }) = border else { break };
            let phase = usize::from(phase);
            match teams.last().and_then(|team| together.teams.get_mut(team)?.scopes.as_mut()) {
                // A visit of a parallel region has its team.
                Some(scopes) if is_parallel => scopes[phase + 1] |= is_begin && scopes[0],
                Some(_) => usage.is_split[phase] = true,
                None => {}
            }
            let edge = Edge { time: to.0, mark: to_u32(at - 1), since, is_cut };
            is_open[phase + 1] = is_begin;
            if is_begin {
                begins[phase] = Some(edge);
            } else if let Some(begin) = begins[phase].take() {
                let visit = within([begin, edge], &inside, &edge_at);
                usage.visits[phase].extend(visit);
            }
            from = to;
        }
        match event {
            Some(Noted::Team(TeamEventKind::Fork, number)) => {
                let is_inside = is_open[0];
                let scopes = is_open.iter().map(|&is_open| is_open && is_inside);
                together.teams.entry(number).or_default().scopes = Some(scopes.collect());
                teams.push(number);
            }
            Some(Noted::Team(TeamEventKind::Join, _)) => drop(teams.pop()),
            _ => {}
        }
    }
}

/// The part of a visit between the end of `MPI_Init` and the begin of `MPI_Finalize`.
fn within(
    [begin, end]: [Edge; 2],
    inside: &std::ops::Range<usize>,
    edge_at: &dyn Fn(usize) -> Edge,
) -> Option<[Edge; 2]> {
    let (first, last) = (inside.start - 1, inside.end - 1);
    if end.mark < to_u32(first) || begin.mark >= to_u32(last) {
        return None;
    }
    let begin = if (begin.mark as usize) < first { edge_at(first) } else { begin };
    let end = if end.mark as usize >= last { edge_at(last) } else { end };
    Some([begin, end])
}
