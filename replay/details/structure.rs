//! Tables of the structure: groups of locations, and the graph, loops and words of each (`docs/details.md`).

use std::cmp::Reverse;

use details::manifest::Complete;
use details::{Column, Table, Unit, Values};
use model::Ticks;
use structure::{Edge, Node, Times, WordPart};

use super::rows::put;
use crate::error::Error;
use crate::exchange::batch::{BatchReader, put_bytes};
use crate::exchange::{Batch, Exchange, reduce};
use crate::ids::ReportPath;
use crate::int::{to_u32, to_u64};
use crate::report_paths::ReportPaths;
use crate::structure::{AllGroups, LoopShape, LoopWord, Shape, Shapes};
use crate::wire::{Half, Wire, wire};

/// Rows of a table, at most.
const MOST: usize = 1 << 16;

/// Stands for no loop, and for the end of a sequence.
const NONE: u32 = u32::MAX;

/// A row of a table, of which the most important ones stay.
trait Row: Wire {
    /// How important it is: how often it was done.
    fn weight(&self) -> u64;

    /// Where it stands in the table.
    fn place(&self) -> [u32; 3];
}

/// What is known of a group's graph as a whole.
struct GroupRow {
    group: u32,
    level: u32,
    steps: u64,
    nodes: u32,
    edges: u32,
    loops: u32,
    main: u32,
    order: Vec<u8>,
}

struct NodeRow {
    group: u32,
    node: u32,
    key: u32,
    path: ReportPath,
    around: u32,
    is_gap: bool,
    visits: u64,
    times: [Ticks; 3],
}

struct EdgeRow {
    group: u32,
    from: u32,
    to: u32,
    count: u64,
    times: [Ticks; 3],
    polls: u64,
    poll_ticks: Ticks,
}

struct LoopRow {
    group: u32,
    number: u32,
    parent: u32,
    header: u32,
    iterations: u64,
    instances: u64,
    of_instance: [u64; 2],
    times: [Ticks; 3],
    words: u64,
}

struct WordRow {
    group: u32,
    of: u32,
    number: u32,
    count: u64,
    is_by_instance: bool,
    guard: Vec<u8>,
    parts: Vec<u8>,
}

wire!(NodeRow { [group, node], [key, path], [around, is_gap], visits, times });
wire!(EdgeRow { group, [from, to], count, times, polls, poll_ticks });
wire!(LoopRow { [group, number], [parent, header], iterations, instances, of_instance, times, words });

impl Wire for GroupRow {
    fn put(&self, batch: &mut Batch) {
        [self.group, self.level, self.nodes, self.edges, self.loops, self.main].put(batch);
        self.steps.put(batch);
        put_bytes(batch, &self.order);
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        let [group, level, nodes, edges, loops, main] = Wire::get(reader);
        GroupRow { group, level, nodes, edges, loops, main, steps: Wire::get(reader), order: reader.bytes() }
    }
}

impl Wire for WordRow {
    fn put(&self, batch: &mut Batch) {
        [self.group, self.of, self.number].put(batch);
        (self.count, self.is_by_instance).put(batch);
        put_bytes(batch, &self.guard);
        put_bytes(batch, &self.parts);
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        let [group, of, number] = Wire::get(reader);
        let (count, is_by_instance) = Wire::get(reader);
        let (guard, parts) = (reader.bytes(), reader.bytes());
        WordRow { group, of, number, count, is_by_instance, guard, parts }
    }
}

impl Row for GroupRow {
    fn weight(&self) -> u64 {
        0
    }

    fn place(&self) -> [u32; 3] {
        [self.group, 0, 0]
    }
}

impl Row for NodeRow {
    fn weight(&self) -> u64 {
        self.visits
    }

    fn place(&self) -> [u32; 3] {
        [self.group, self.node, 0]
    }
}

impl Row for EdgeRow {
    fn weight(&self) -> u64 {
        self.count
    }

    fn place(&self) -> [u32; 3] {
        [self.group, self.from, self.to]
    }
}

impl Row for LoopRow {
    fn weight(&self) -> u64 {
        self.iterations
    }

    fn place(&self) -> [u32; 3] {
        [self.group, self.number, 0]
    }
}

impl Row for WordRow {
    fn weight(&self) -> u64 {
        self.count
    }

    /// That of the whole sequence first, which has no loop.
    fn place(&self) -> [u32; 3] {
        [self.group, self.of.wrapping_add(1), self.number]
    }
}

/// Rows of a table, and how many there were.
struct Rows<R> {
    kept: Vec<R>,
    all: u64,
}

impl<R: Row> Rows<R> {
    fn new(rows: impl Iterator<Item = R>) -> Rows<R> {
        let kept: Vec<R> = rows.collect();
        let all = to_u64(kept.len());
        let mut rows = Rows { kept, all };
        rows.cut();
        rows
    }

    /// Keeps the rows of most weight, in their order.
    fn cut(&mut self) {
        if self.kept.len() > MOST {
            self.kept.sort_unstable_by_key(|row| (Reverse(row.weight()), row.place()));
            self.kept.truncate(MOST);
        }
        self.kept.sort_unstable_by_key(Row::place);
    }

    /// Those of all workers, at worker 0.
    fn of_all(self, exchange: &mut dyn Exchange) -> Result<Rows<R>, Error> {
        let encode = |rows: &Rows<R>| {
            let mut batch = vec![rows.all];
            rows.kept.put(&mut batch);
            batch
        };
        reduce(exchange, self, encode, |rows, batch| {
            let mut reader = BatchReader::new(batch);
            rows.all += reader.word();
            rows.kept.extend(Vec::<R>::get(&mut reader));
            rows.cut();
        })
    }

    fn numbers(&self, name: &str, unit: Option<Unit>, of: impl Fn(&R) -> u64 + Clone) -> Column {
        Column::of_numbers(name, unit, self.kept.iter().map(of))
    }

    fn places(&self, name: &str, unit: Option<Unit>, of: impl Fn(&R) -> u32) -> Column {
        Column::new(name, unit, Values::U32(self.kept.iter().map(of).collect()))
    }

    fn ticks(&self, name: &str, of: impl Fn(&R) -> Ticks) -> Column {
        Column::new(name, Some(Unit::Tick), Values::I64(self.kept.iter().map(of).collect()))
    }

    fn bytes(&self, name: &str, of: impl Fn(&R) -> Vec<u8>) -> Column {
        Column::new(name, None, Values::Bytes(self.kept.iter().map(of).collect()))
    }

    fn table(&self, name: &str, what: &str, columns: Vec<Column>) -> (Table, Complete) {
        let complete = match to_u64(self.kept.len()) {
            kept if kept == self.all => Complete::Is(true),
            kept => Complete::No(format!("{kept} of {} {what}, limit {MOST}", self.all)),
        };
        (Table { name: name.into(), columns }, complete)
    }
}

/// Brings together the shapes of all workers; the tables are at worker 0.
///
/// # Errors
/// If a worker failed.
pub(super) fn tables(
    shapes: &Shapes,
    paths: &ReportPaths,
    exchange: &mut dyn Exchange,
) -> Result<Vec<(Table, Complete)>, Error> {
    let own = &shapes.own;
    let groups = Rows::new(own.iter().map(group_row)).of_all(exchange)?;
    let nodes = Rows::new(own.iter().flat_map(|shape| node_rows(shape, paths))).of_all(exchange)?;
    let edges = Rows::new(own.iter().flat_map(edge_rows)).of_all(exchange)?;
    let loops = Rows::new(own.iter().flat_map(loop_rows)).of_all(exchange)?;
    let mut words = Rows::new(own.iter().flat_map(word_rows));
    // Those that were not even kept for their loop.
    let of_loops = own.iter().flat_map(|shape| &shape.loops).map(|it| it.words);
    words.all = of_loops.sum::<u64>() + to_u64(own.len());
    let words = words.of_all(exchange)?;
    if exchange.worker() > 0 {
        return Ok(Vec::new());
    }
    Ok(vec![
        group_table(&shapes.groups, &groups),
        node_table(&nodes),
        edge_table(&edges),
        loop_table(&loops),
        word_table(&words),
    ])
}

fn group_row(shape: &Shape) -> GroupRow {
    let [nodes, edges] = shape.graph.size().map(to_u32);
    GroupRow {
        group: shape.group,
        level: shape.level.into(),
        steps: shape.steps,
        nodes,
        edges,
        loops: to_u32(shape.loops.len()),
        main: shape.main.unwrap_or(NONE),
        order: shape.order.clone().unwrap_or_default(),
    }
}

/// Sum, least and most.
fn three(times: &Times) -> [Ticks; 3] {
    [times.sum, times.least, times.most]
}

fn node_rows(shape: &Shape, paths: &ReportPaths) -> impl Iterator<Item = NodeRow> {
    let numbers = &paths.numbers[shape.process];
    let totals = shape.graph.nodes.iter().skip(1);
    (1..).zip(totals.zip(&shape.sites)).map(move |(node, (totals, site))| NodeRow {
        group: shape.group,
        node,
        key: site.key,
        path: numbers.get(site.path.index()).copied().unwrap_or(ReportPath::NONE),
        around: site.around.unwrap_or(NONE),
        is_gap: site.is_gap,
        visits: totals.visits,
        times: three(&totals.times),
    })
}

fn edge_rows(shape: &Shape) -> impl Iterator<Item = EdgeRow> {
    shape.graph.edges.iter().map(|edge: &Edge| EdgeRow {
        group: shape.group,
        from: edge.from.number(),
        to: if edge.to == Node::END { NONE } else { edge.to.number() },
        count: edge.count,
        times: three(&edge.times),
        polls: edge.polls.count,
        poll_ticks: edge.polls.ticks,
    })
}

fn loop_rows(shape: &Shape) -> impl Iterator<Item = LoopRow> {
    (0..).zip(&shape.loops).map(|(number, it): (u32, &LoopShape)| LoopRow {
        group: shape.group,
        number,
        parent: it.parent.unwrap_or(NONE),
        header: it.header.number(),
        iterations: it.iterations,
        instances: it.instances,
        of_instance: it.of_instance,
        times: three(&it.times),
        words: it.words,
    })
}

fn word_rows(shape: &Shape) -> impl Iterator<Item = WordRow> {
    shape.words.iter().map(|LoopWord { of, number, word }| {
        let (mut parts, mut guard) = (Vec::new(), Vec::new());
        for part in &word.parts {
            put(
                match part {
                    WordPart::Step(node) => 2 * u64::from(node.number()),
                    WordPart::Instance(id) => 2 * to_u64(id.index()) + 1,
                },
                &mut parts,
            );
        }
        for part in &word.guard {
            for number in [part.first, part.last, part.stride, part.block] {
                put(number.into(), &mut guard);
            }
        }
        WordRow {
            group: shape.group,
            of: of.unwrap_or(NONE),
            number: *number,
            count: word.count,
            is_by_instance: word.is_by_instance,
            guard,
            parts,
        }
    })
}

/// The last row is the rest: groups whose shapes are not kept.
fn group_table(all: &AllGroups, rows: &Rows<GroupRow>) -> (Table, Complete) {
    let has_rest = all.others > 0;
    let rest = |number| has_rest.then_some(number);
    let kept = |of: fn(&GroupRow) -> u64| rows.kept.iter().map(of).chain(rest(0));
    let numbers = |name: &str, unit: Option<Unit>, of| Column::of_numbers(name, unit, kept(of));
    let ticks = all.kept.iter().map(|group| group.ticks).chain(has_rest.then_some(all.other_ticks));
    let first = all.kept.iter().map(|group| group.location).chain(has_rest.then_some(NONE));
    let locations = all.kept.iter().map(|group| group.locations).chain(rest(all.other_locations));
    let graphs = all.kept.iter().map(|_| 1).chain(rest(all.others));
    let main = rows.kept.iter().map(|row| row.main).chain(has_rest.then_some(NONE));
    let order = rows.kept.iter().map(|row| row.order.clone()).chain(has_rest.then(Vec::new));
    let columns = vec![
        Column::new("location", Some(Unit::Location), Values::U32(first.collect())),
        Column::of_numbers("locations", Some(Unit::Count), locations),
        Column::of_numbers("graphs", Some(Unit::Count), graphs),
        Column::new("ticks", Some(Unit::Tick), Values::I64(ticks.collect())),
        numbers("level", None, |row| row.level.into()),
        numbers("steps", Some(Unit::Count), |row| row.steps),
        numbers("nodes", Some(Unit::Count), |row| row.nodes.into()),
        numbers("edges", Some(Unit::Count), |row| row.edges.into()),
        numbers("loops", Some(Unit::Count), |row| row.loops.into()),
        Column::new("main", None, Values::U32(main.collect())),
        Column::new("order", None, Values::Bytes(order.collect())),
    ];
    let complete = match all.others {
        0 => Complete::Is(true),
        others => {
            let kept = to_u64(all.kept.len());
            Complete::No(format!("{kept} of {} groups: those with most time", kept + others))
        }
    };
    (Table { name: "structure_groups".into(), columns }, complete)
}

fn node_table(rows: &Rows<NodeRow>) -> (Table, Complete) {
    let columns = vec![
        rows.numbers("group", None, |row| row.group.into()),
        rows.places("node", None, |row| row.node).delta(),
        rows.places("key", None, |row| row.key).delta(),
        rows.places("cnode", Some(Unit::Cnode), |row| row.path.to_half()),
        rows.places("loop", None, |row| row.around),
        rows.numbers("is_gap", None, |row| row.is_gap.into()),
        rows.numbers("visits", Some(Unit::Count), |row| row.visits),
        rows.ticks("ticks", |row| row.times[0]),
        rows.ticks("least_ticks", |row| row.times[1]),
        rows.ticks("most_ticks", |row| row.times[2]),
    ];
    rows.table("structure_nodes", "nodes, those visited most", columns)
}

fn edge_table(rows: &Rows<EdgeRow>) -> (Table, Complete) {
    let columns = vec![
        rows.numbers("group", None, |row| row.group.into()),
        rows.places("from", None, |row| row.from).delta(),
        rows.places("to", None, |row| row.to),
        rows.numbers("count", Some(Unit::Count), |row| row.count),
        rows.ticks("ticks", |row| row.times[0]),
        rows.ticks("least_ticks", |row| row.times[1]),
        rows.ticks("most_ticks", |row| row.times[2]),
        rows.numbers("polls", Some(Unit::Count), |row| row.polls),
        rows.ticks("poll_ticks", |row| row.poll_ticks),
    ];
    rows.table("structure_edges", "edges, those taken most", columns)
}

fn loop_table(rows: &Rows<LoopRow>) -> (Table, Complete) {
    let columns = vec![
        rows.numbers("group", None, |row| row.group.into()),
        rows.places("loop", None, |row| row.number).delta(),
        rows.places("parent", None, |row| row.parent),
        rows.places("header", None, |row| row.header),
        rows.numbers("iterations", Some(Unit::Count), |row| row.iterations),
        rows.numbers("instances", Some(Unit::Count), |row| row.instances),
        rows.numbers("fewest", Some(Unit::Count), |row| row.of_instance[0]),
        rows.numbers("largest", Some(Unit::Count), |row| row.of_instance[1]),
        rows.ticks("ticks", |row| row.times[0]),
        rows.ticks("least_ticks", |row| row.times[1]),
        rows.ticks("most_ticks", |row| row.times[2]),
        rows.numbers("words", Some(Unit::Count), |row| row.words),
    ];
    rows.table("structure_loops", "loops, those of most iterations", columns)
}

fn word_table(rows: &Rows<WordRow>) -> (Table, Complete) {
    let columns = vec![
        rows.numbers("group", None, |row| row.group.into()),
        rows.places("loop", None, |row| row.of),
        rows.places("word", None, |row| row.number),
        rows.numbers("count", Some(Unit::Count), |row| row.count),
        rows.numbers("by_instance", None, |row| row.is_by_instance.into()),
        rows.bytes("guard", |row| row.guard.clone()),
        rows.bytes("parts", |row| row.parts.clone()),
    ];
    rows.table("structure_words", "words, those of most iterations", columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(group: u32, from: u32, count: u64) -> EdgeRow {
        EdgeRow { group, from, to: NONE, count, times: [0; 3], polls: 0, poll_ticks: 0 }
    }

    #[test]
    fn of_too_many_rows_those_done_most_stay_in_their_order() {
        let all =
            (0..3).flat_map(|group| (0..30_000).map(move |from| edge(group, from, u64::from(from % 10))));
        let rows = Rows::new(all);
        assert_eq!((rows.kept.len(), rows.all), (MOST, 90_000));
        assert!(rows.kept.iter().map(Row::place).is_sorted());
        // Those of 3 and more are 63,000; of those taken twice the first ones stay.
        assert_eq!(rows.kept.iter().filter(|row| row.count > 2).count(), 63_000);
        assert!(rows.kept.iter().all(|row| row.count > 2 || row.count == 2 && row.group == 0));
        let (_, complete) = rows.table("edges", "edges", Vec::new());
        assert_eq!(complete, Complete::No("65536 of 90000 edges, limit 65536".into()));
    }

    #[test]
    fn rows_come_back_from_a_batch() {
        let word = WordRow {
            group: 3,
            of: NONE,
            number: 7,
            count: 1 << 40,
            is_by_instance: true,
            guard: vec![1, 2, 3],
            parts: vec![0xff; 17],
        };
        let mut batch = Batch::new();
        word.put(&mut batch);
        let WordRow { group, of, number, count, is_by_instance, guard, parts } = crate::wire::one(&batch);
        assert_eq!((group, of, number, count, is_by_instance), (3, NONE, 7, 1 << 40, true));
        assert_eq!((guard, parts), (word.guard, word.parts));
        // That of the whole sequence stands in front of those of loops.
        assert!(word_place(NONE) < word_place(0));
    }

    fn word_place(of: u32) -> [u32; 3] {
        let (guard, parts) = (Vec::new(), Vec::new());
        WordRow { group: 0, of, number: 0, count: 0, is_by_instance: false, guard, parts }.place()
    }
}
