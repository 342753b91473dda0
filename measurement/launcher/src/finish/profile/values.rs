//! What each call path has for itself, by location.
//!
//! A path was counted with what it called, so the time of the paths below it that were counted is taken away. What is
//! between a path and those need not have been counted: functions that are only known from the stack at a call have no
//! time of their own. The time that no path has is the program's.

use super::super::contexts::NO_CONTEXT;
use super::super::run::{Place, Run};
use super::counts::Counts;
use recording::layout;
use recording::paths::NO_PARENT;
use recording::profile::TransferredBytes;

/// What a call path has at a location.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Values {
    pub(super) visits: u64,
    /// Ticks, without what it called.
    pub(super) time: i64,
    pub(super) transfers: TransferredBytes,
}

impl Values {
    fn add(&mut self, other: &Values) {
        self.visits = self.visits.saturating_add(other.visits);
        self.time = self.time.saturating_add(other.time);
        let (own, more) = (&mut self.transfers, &other.transfers);
        own.sent = own.sent.saturating_add(more.sent);
        own.received = own.received.saturating_add(more.received);
        own.outgoing = own.outgoing.saturating_add(more.outgoing);
        own.incoming = own.incoming.saturating_add(more.incoming);
    }
}

/// The values of one call path: positions of locations, in their order, each with what it has.
pub(super) type Row = Vec<(usize, Values)>;

/// The values of all call paths.
pub(super) struct Table {
    /// Of the program itself.
    pub(super) program: Row,
    /// By context.
    pub(super) contexts: Vec<Row>,
}

/// Finds out what each call path has for itself.
pub(super) fn by_context(run: &Run<'_>, counts: &[Counts]) -> Table {
    let mut table = Table { program: Row::new(), contexts: vec![Row::new(); run.contexts.nodes.len()] };
    for (at, counts) in counts.iter().enumerate() {
        let Some(program) = program(&run.places[at], counts) else { continue };
        let parents: Vec<u32> = run.paths[at].nodes.iter().map(|node| node.parent).collect();
        let (program, own) = exclusive(program, &parents, counts);
        table.program.push((at, program));
        for (&context, values) in run.contexts.of[at].iter().zip(&own) {
            if context == NO_CONTEXT || *values == Values::default() {
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

/// The program as a whole at a location: the first thread is the one that began it.
fn program(place: &Place, counts: &Counts) -> Option<Values> {
    let (first, last) = counts.times()?;
    let (_, thread) = layout::rank_and_thread(place.reference);
    let time = i64::try_from(last - first).unwrap_or(i64::MAX);
    Some(Values { visits: u64::from(thread == 0), time, ..Values::default() })
}

/// What the program and each path have without what is counted below them; `parents` come before their children.
fn exclusive(mut program: Values, parents: &[u32], counts: &Counts) -> (Values, Vec<Values>) {
    let mut own = vec![Values::default(); parents.len()];
    // The innermost path that was counted on the way to each, itself included.
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
        own[number].add(&Values { visits: entry.visits, time, transfers: entry.transfers });
        innermost.push(Some(number));
    }
    // A process that died between two of its counts may lack what was around them.
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
    fn time_of_what_was_counted_below_is_taken_away() {
        // A region that was counted, a function in it that was not, and two calls in that; a call outside.
        let parents = [NO_PARENT, 0, 1, 1, NO_PARENT];
        let entry = |visits, time| PathCounts { visits, time, ..PathCounts::default() };
        let entries = vec![entry(1, 60), entry(0, 0), entry(2, 20), entry(1, 30), entry(1, 15)];
        let header = ProfileHeader { first_time: 100, last_time: 200, ..ProfileHeader::default() };
        let program = Values { visits: 1, time: 100, ..Values::default() };
        let (program, own) = exclusive(program, &parents, &Counts { header, entries });
        assert_eq!(program.time, 25);
        assert_eq!(own.iter().map(|values| values.time).collect::<Vec<_>>(), [10, 0, 20, 30, 15]);
        assert_eq!(own[1], Values::default());
    }

    #[test]
    fn nothing_has_less_than_no_time() {
        let entry = |time| PathCounts { visits: 1, time, ..PathCounts::default() };
        let header = ProfileHeader { first_time: 100, last_time: 150, ..ProfileHeader::default() };
        let counts = Counts { header, entries: vec![entry(10), entry(40), entry(40)] };
        let (program, own) = exclusive(Values::default(), &[NO_PARENT, 0, 7], &counts);
        assert_eq!((program.time, own[0].time, own[1].time), (0, 0, 40));
    }
}
