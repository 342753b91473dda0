//! Exclusive values of call paths, by location.
//!
//! A path was counted inclusively, so the time of the counted paths below it is subtracted. Paths between the
//! two need not have been counted: functions that are only known from the stack at a call have no time of
//! their own. The time that no path has is the program's.

use super::super::contexts::NO_CONTEXT;
use super::super::run::{Run, TraceLocation};
use super::counts::Counts;
use recording::layout;
use recording::paths::NO_PARENT;
use recording::profile::TransferredBytes;

/// The values of a call path at a location.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct ExclusiveValues {
    pub(super) visits: u64,
    /// Exclusive time in ticks.
    pub(super) time: i64,
    pub(super) transfers: TransferredBytes,
}

impl ExclusiveValues {
    fn add(&mut self, other: &ExclusiveValues) {
        self.visits = self.visits.saturating_add(other.visits);
        self.time = self.time.saturating_add(other.time);
        let (own, more) = (&mut self.transfers, &other.transfers);
        own.sent = own.sent.saturating_add(more.sent);
        own.received = own.received.saturating_add(more.received);
        own.outgoing = own.outgoing.saturating_add(more.outgoing);
        own.incoming = own.incoming.saturating_add(more.incoming);
        own.put = own.put.saturating_add(more.put);
        own.got = own.got.saturating_add(more.got);
    }
}

/// The values of one call path at the locations where it has some, by position of the location.
pub(super) type LocationValues = Vec<(usize, ExclusiveValues)>;

/// The values of all call paths.
pub(super) struct PathValues {
    /// The row of the program itself.
    pub(super) program: LocationValues,
    /// The rows of the contexts.
    pub(super) contexts: Vec<LocationValues>,
}

/// Computes the exclusive values of each call path.
pub(super) fn by_context(run: &Run<'_>, counts: &[Counts]) -> PathValues {
    let mut table = PathValues {
        program: LocationValues::new(),
        contexts: vec![LocationValues::new(); run.contexts.nodes.len()],
    };
    for (at, counts) in counts.iter().enumerate() {
        let Some(program) = program(&run.places[at], counts) else { continue };
        let parents: Vec<u32> = run.paths[at].nodes.iter().map(|node| node.parent).collect();
        let (program, own) = exclusive(program, &parents, counts);
        table.program.push((at, program));
        for (&context, values) in run.contexts.of[at].iter().zip(&own) {
            if context == NO_CONTEXT || *values == ExclusiveValues::default() {
                continue;
            }
            let row = &mut table.contexts[context as usize];
            match row.last_mut() {
                // Other paths of this location have the same context.
                Some((last, known)) if *last == at => known.add(values),
                _ => row.push((at, *values)),
            }
        }
    }
    table
}

/// Returns the inclusive values of the program at a location: the first thread is the one that started it.
fn program(place: &TraceLocation, counts: &Counts) -> Option<ExclusiveValues> {
    let (first, last) = counts.times()?;
    let (_, thread) = layout::rank_and_thread(place.reference);
    let time = i64::try_from(last - first).unwrap_or(i64::MAX);
    Some(ExclusiveValues { visits: u64::from(thread == 0), time, ..ExclusiveValues::default() })
}

/// Returns the exclusive values of the program and of each path; `parents` come before their children.
fn exclusive(
    mut program: ExclusiveValues,
    parents: &[u32],
    counts: &Counts,
) -> (ExclusiveValues, Vec<ExclusiveValues>) {
    let mut own = vec![ExclusiveValues::default(); parents.len()];
    // The innermost counted path on the way to each, itself included.
    let mut innermost: Vec<Option<usize>> = Vec::with_capacity(parents.len());
    for (number, &parent) in parents.iter().enumerate() {
        let above =
            if parent == NO_PARENT { None } else { innermost.get(parent as usize).copied().flatten() };
        let Some(entry) = counts.entries.get(number).filter(|entry| entry.visits > 0) else {
            innermost.push(above);
            continue;
        };
        let time = i64::try_from(counts.time(entry)).unwrap_or(i64::MAX);
        let outer = above.and_then(|above| own.get_mut(above)).unwrap_or(&mut program);
        outer.time = outer.time.saturating_sub(time);
        own[number].add(&ExclusiveValues { visits: entry.visits, time, transfers: entry.transfers });
        innermost.push(Some(number));
    }
    // A process that died between two of its counts may lack the outer one.
    for values in std::iter::once(&mut program).chain(&mut own) {
        values.time = values.time.max(0);
    }
    (program, own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::profile::{PathCounts, ProfileHeader};

    #[test]
    fn time_of_counted_paths_below_is_subtracted() {
        // A region that was counted, a function in it that was not, and two calls in that; a call outside.
        let parents = [NO_PARENT, 0, 1, 1, NO_PARENT];
        let entry = |visits, time| PathCounts { visits, time, ..PathCounts::default() };
        let entries = vec![entry(1, 60), entry(0, 0), entry(2, 20), entry(1, 30), entry(1, 15)];
        let header = ProfileHeader { first_time: 100, last_time: 200, ..ProfileHeader::default() };
        let program = ExclusiveValues { visits: 1, time: 100, ..ExclusiveValues::default() };
        let (program, own) = exclusive(program, &parents, &Counts { header, entries });
        assert_eq!(program.time, 25);
        assert_eq!(own.iter().map(|values| values.time).collect::<Vec<_>>(), [10, 0, 20, 30, 15]);
        assert_eq!(own[1], ExclusiveValues::default());
    }

    #[test]
    fn nothing_has_less_than_no_time() {
        let entry = |time| PathCounts { visits: 1, time, ..PathCounts::default() };
        let header = ProfileHeader { first_time: 100, last_time: 150, ..ProfileHeader::default() };
        let counts = Counts { header, entries: vec![entry(10), entry(40), entry(40)] };
        let (program, own) = exclusive(ExclusiveValues::default(), &[NO_PARENT, 0, 7], &counts);
        assert_eq!((program.time, own[0].time, own[1].time), (0, 0, 40));
    }
}
