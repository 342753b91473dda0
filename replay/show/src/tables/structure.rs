//! The tables of the structure: groups of locations with equal graphs, and the graph, loops and words of each.

use std::rc::Rc;

use cubex::{Cnode, CnodeId, Cube};
use details::Table;
use rustc_hash::{FxHashMap, FxHashSet};
use structure::Progression;

use super::Columns;
use super::grid::leb128;
use crate::error::{Error, Result};
use crate::opened::Opened;
use crate::paths;

/// Nodes of a graph, at most; the analyzer has fewer.
const NODES: u32 = 1 << 20;

/// The structure of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Structure {
    /// Ticks of a second.
    pub ticks_per_second: u64,
    /// Groups whose graphs are known, that with most time first.
    pub groups: Vec<Group>,
    /// Groups whose graphs are not known.
    pub others: Others,
}

/// Groups whose graphs are not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Others {
    /// How many these are.
    pub graphs: u64,
    /// Their locations.
    pub locations: u64,
    /// Ticks of these.
    pub ticks: i64,
}

/// Locations with equal graphs. All but `locations` and `ticks` is of the lowest of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Group {
    /// Its lowest location.
    pub location: Option<usize>,
    /// How many these are.
    pub locations: u64,
    /// Ticks from the first event to the last step of all of them.
    pub ticks: i64,
    /// What distinguishes nodes.
    pub level: Level,
    /// Steps: outermost calls of MPI.
    pub steps: u64,
    /// How many nodes there are; the report may have fewer.
    pub count: u32,
    /// The number of the main loop.
    pub main: Option<u32>,
    /// Bytes of the temporal graph; none if it is not kept.
    pub order: Vec<u8>,
    /// Nodes, by number.
    pub nodes: Vec<Node>,
    /// Edges.
    pub edges: Vec<Edge>,
    /// Loops, by number: each before those inside it.
    pub loops: Vec<Loop>,
    /// Words.
    pub words: Vec<Word>,
}

/// What distinguishes nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Level {
    /// Call sites.
    #[default]
    Site,
    /// Call paths, and what is begun in calls.
    Shape,
    /// Call paths.
    Path,
    /// Functions.
    Region,
}

impl Level {
    const ALL: [Level; 4] = [Level::Site, Level::Shape, Level::Path, Level::Region];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Level::Site => "site",
            Level::Shape => "shape",
            Level::Path => "path",
            Level::Region => "region",
        }
    }
}

/// Sum, least and most, in ticks.
pub type Times = [i64; 3];

/// A node of a graph.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Node {
    /// Its number, from 1.
    pub number: u32,
    /// Number by its level's key alone; several places without call sites may have the same.
    pub key: u32,
    /// The function that is called.
    pub call: Rc<str>,
    /// Its call path.
    pub cnode: Option<usize>,
    /// File and line of the call, empty if they are not known.
    pub file: Rc<str>,
    /// See `file`.
    pub line: Option<u32>,
    /// The number of the innermost loop around it.
    pub around: Option<u32>,
    /// Visits.
    pub visits: u64,
    /// Ticks in its calls.
    pub times: Times,
    /// Whether it is no call, but the time for which recording was off.
    pub is_gap: bool,
}

/// An edge of a graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Edge {
    /// The earlier node; 0 is the begin.
    pub from: u32,
    /// The later node; `None` is the end.
    pub to: Option<u32>,
    /// How often it was taken.
    pub count: u64,
    /// Ticks between both calls.
    pub times: Times,
    /// Calls in between that asked for a completion, and found none.
    pub polls: u64,
    /// Ticks in these.
    pub poll_ticks: i64,
}

/// A loop.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Loop {
    /// Its number, from 0.
    pub number: u32,
    /// The loop around it.
    pub parent: Option<u32>,
    /// Its number among those beside it, from 1.
    pub place: u32,
    /// The node that it begins with.
    pub header: u32,
    /// Iterations in all instances.
    pub iterations: u64,
    /// Instances.
    pub instances: u64,
    /// Iterations of the instance with fewest.
    pub fewest: u64,
    /// Iterations of the instance with most.
    pub largest: u64,
    /// Ticks of iterations.
    pub times: Times,
    /// How many different words there are; 0 if they were not looked for.
    pub words: u64,
}

/// A word of a loop.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Word {
    /// The loop; `None` is the whole sequence.
    pub of: Option<u32>,
    /// Its number, by first occurrence.
    pub number: u32,
    /// Iterations with it.
    pub count: u64,
    /// Whether the numbers of the guard are those in each instance.
    pub is_by_instance: bool,
    /// The numbers of these iterations, from 0; none if they are not kept.
    pub guard: Vec<Progression>,
    /// Its steps, and instances of inner loops.
    pub parts: Vec<Part>,
}

/// A part of a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// A step at a node.
    Step(u32),
    /// An instance of a loop.
    Instance(u32),
}

impl Structure {
    /// Reads the tables of a report.
    ///
    /// # Errors
    /// If the report has none, or they are damaged.
    pub fn read(opened: &Opened) -> Result<Structure> {
        if opened.manifest.is_some() && opened.table("structure_groups")?.is_none() {
            return Err(Error::new(format!(
                "{}: the report says nothing of graphs and loops: replay-analyze EXPERIMENT writes them, but not with \
                 --structure none, --semantics reference, or if --memory is short",
                opened.path.display()
            )));
        }
        let (manifest, groups) = opened.required_table("structure_groups")?;
        let read =
            |name: &str| -> Result<Table> { Ok(opened.required_table(&format!("structure_{name}"))?.1) };
        let tables = [read("nodes")?, read("edges")?, read("loops")?, read("words")?];
        let mut structure = opened.in_details(of_tables(opened.cube(), &groups, &tables))?;
        structure.ticks_per_second = match manifest.ticks_per_second {
            0 => 1_000_000_000,
            per_second => per_second,
        };
        Ok(structure)
    }

    /// Ticks in seconds.
    #[expect(clippy::cast_precision_loss, reason = "seconds for people; exact up to 2^53 ticks")]
    pub fn seconds(&self, ticks: i64) -> f64 {
        ticks as f64 / self.ticks_per_second as f64
    }
}

impl Group {
    /// The loop of a number.
    pub fn loop_of(&self, number: u32) -> Option<&Loop> {
        let at = self.loops.binary_search_by_key(&number, |it| it.number).ok()?;
        self.loops.get(at)
    }

    /// The name of a loop: its place behind those of the loops around it, such as `2.1`.
    pub fn loop_name(&self, number: u32) -> String {
        let above = |it: &&Loop| self.loop_of(it.parent?);
        let chain = std::iter::successors(self.loop_of(number), above);
        let mut places: Vec<String> = chain.map(|it| it.place.to_string()).collect();
        places.reverse();
        places.join(".")
    }

    /// The node of a number.
    pub fn node(&self, number: u32) -> Option<&Node> {
        let at = self.nodes.binary_search_by_key(&number, |it| it.number).ok()?;
        self.nodes.get(at)
    }

    /// Ticks of its lowest location that were recorded.
    pub fn own_ticks(&self) -> i64 {
        let nodes = self.nodes.iter().map(Node::recorded_ticks);
        nodes.chain(self.edges.iter().map(|edge| edge.times[0])).fold(0, i64::saturating_add)
    }
}

impl Node {
    /// Ticks in its calls; none of what was not recorded.
    pub fn recorded_ticks(&self) -> i64 {
        if self.is_gap { 0 } else { self.times[0] }
    }

    /// File and line of the call, as far as they are known.
    pub fn place(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or_default();
        self.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
    }
}

/// The structure that tables have: groups, nodes, edges, loops and words.
fn of_tables(cube: &Cube, groups: &Table, [nodes, edges, loops, words]: &[Table; 4]) -> Result<Structure> {
    let mut structure = read_groups(cube, groups)?;
    let all = &mut structure.groups;
    read_nodes(cube, nodes, all)?;
    read_loops(loops, all)?;
    read_edges(edges, all)?;
    read_words(words, all)?;
    Ok(structure)
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Numbers of 32 bits; `None` where a row has none.
fn places(columns: &Columns<'_>, name: &str) -> Result<Vec<Option<u32>>> {
    Ok(columns.integers(name)?.into_iter().map(|number| u32::try_from(number).ok()).collect())
}

/// The same, where each row has one.
fn numbers(columns: &Columns<'_>, name: &str) -> Result<Vec<u32>> {
    let all: Option<Vec<u32>> = places(columns, name)?.into_iter().collect();
    all.ok_or_else(|| columns.wrong(&format!("column {name}: a row without number")))
}

/// Sum, least and most.
fn times(columns: &Columns<'_>) -> Result<Vec<Times>> {
    let [sums, least, most] = ["ticks", "least_ticks", "most_ticks"].map(|name| columns.integers(name));
    Ok(sums?.into_iter().zip(least?).zip(most?).map(|((sum, least), most)| [sum, least, most]).collect())
}

/// The group of each row, by position.
fn groups_of(columns: &Columns<'_>, groups: &[Group]) -> Result<Vec<usize>> {
    let of: Option<Vec<usize>> = columns.positions("group", groups.len())?.into_iter().collect();
    of.ok_or_else(|| columns.wrong("column group: a row without group"))
}

fn read_groups(cube: &Cube, table: &Table) -> Result<Structure> {
    let columns = Columns::of("structure_groups", table);
    let location = columns.positions("location", cube.locations.len())?;
    let [locations, graphs, ticks, level, steps] =
        ["locations", "graphs", "ticks", "level", "steps"].map(|name| columns.integers(name));
    let (locations, graphs, ticks, level, steps) = (locations?, graphs?, ticks?, level?, steps?);
    let (nodes, main, order) =
        (numbers(&columns, "nodes")?, places(&columns, "main")?, columns.bytes("order")?);
    let mut structure = Structure::default();
    for row in 0..table.rows() {
        if location[row].is_none() {
            structure.others =
                Others { graphs: count(graphs[row]), locations: count(locations[row]), ticks: ticks[row] };
            continue;
        }
        if structure.others != Others::default() {
            return Err(columns.wrong("a group behind the rest"));
        }
        if nodes[row] > NODES {
            return Err(columns.wrong("a graph of too many nodes"));
        }
        let level = usize::try_from(level[row]).ok().and_then(|level| Level::ALL.get(level));
        structure.groups.push(Group {
            location: location[row],
            locations: count(locations[row]),
            ticks: ticks[row],
            level: *level.ok_or_else(|| columns.wrong("an unknown level"))?,
            steps: count(steps[row]),
            count: nodes[row],
            main: main[row],
            order: order[row].clone(),
            ..Group::default()
        });
    }
    Ok(structure)
}

fn read_nodes(cube: &Cube, table: &Table, groups: &mut [Group]) -> Result<()> {
    let columns = Columns::of("structure_nodes", table);
    let of = groups_of(&columns, groups)?;
    let (number, key) = (numbers(&columns, "node")?, numbers(&columns, "key")?);
    let cnode = columns.positions("cnode", cube.cnodes.len())?;
    let (around, visits, times) = (places(&columns, "loop")?, columns.integers("visits")?, times(&columns)?);
    let is_gap = columns.integers("is_gap")?;
    // Many nodes have one name.
    let mut names: FxHashSet<Rc<str>> = FxHashSet::default();
    let mut shared = |name: &str| -> Rc<str> {
        let known = names.get(name).cloned();
        known.unwrap_or_else(|| {
            let name: Rc<str> = name.into();
            names.insert(name.clone());
            name
        })
    };
    for row in 0..table.rows() {
        let group = &mut groups[of[row]];
        let before = group.nodes.last().map_or(0, |node| node.number);
        if number[row] <= before || number[row] > group.count {
            return Err(columns.wrong("nodes out of order"));
        }
        let (file, line) = cnode[row].map_or(("", None), |cnode| site(cube, cnode));
        group.nodes.push(Node {
            number: number[row],
            key: key[row],
            call: shared(cnode[row].map_or("?", |at| paths::name(cube, CnodeId(at)))),
            cnode: cnode[row],
            file: shared(file),
            line,
            around: around[row],
            visits: count(visits[row]),
            times: times[row],
            is_gap: is_gap[row] > 0,
        });
    }
    Ok(())
}

/// File and line of a call; those of a call of MPI may stand with its caller.
fn site(cube: &Cube, cnode: usize) -> (&str, Option<u32>) {
    let has_site = |cnode: &&Cnode| cnode.line.is_some() || !cnode.module.is_empty();
    let own = cube.cnodes.get(cnode);
    let caller = own.and_then(|cnode| cube.cnodes.get(cnode.parent?.0));
    let found = own.filter(has_site).or(caller.filter(has_site));
    found.map_or(("", None), |cnode| (&cnode.module, cnode.line))
}

fn read_loops(table: &Table, groups: &mut [Group]) -> Result<()> {
    let columns = Columns::of("structure_loops", table);
    let of = groups_of(&columns, groups)?;
    let (number, parent, header) =
        (numbers(&columns, "loop")?, places(&columns, "parent")?, numbers(&columns, "header")?);
    let [iterations, instances, fewest, largest, words] =
        ["iterations", "instances", "fewest", "largest", "words"].map(|name| columns.integers(name));
    let (iterations, instances, fewest, largest, words) =
        (iterations?, instances?, fewest?, largest?, words?);
    let times = times(&columns)?;
    let mut places: FxHashMap<(usize, Option<u32>), u32> = FxHashMap::default();
    for row in 0..table.rows() {
        let group = &mut groups[of[row]];
        let is_behind = group.loops.last().is_none_or(|before| before.number < number[row]);
        if !is_behind || parent[row].is_some_and(|parent| parent >= number[row]) {
            return Err(columns.wrong("loops out of order"));
        }
        let place = places.entry((of[row], parent[row])).or_default();
        *place += 1;
        group.loops.push(Loop {
            number: number[row],
            parent: parent[row],
            place: *place,
            header: header[row],
            iterations: count(iterations[row]),
            instances: count(instances[row]),
            fewest: count(fewest[row]),
            largest: count(largest[row]),
            times: times[row],
            words: count(words[row]),
        });
    }
    Ok(())
}

fn read_edges(table: &Table, groups: &mut [Group]) -> Result<()> {
    let columns = Columns::of("structure_edges", table);
    let of = groups_of(&columns, groups)?;
    let (from, to, counts) =
        (numbers(&columns, "from")?, places(&columns, "to")?, columns.integers("count")?);
    let (times, polls) = (times(&columns)?, columns.integers("polls")?);
    let poll_ticks = columns.integers("poll_ticks")?;
    for row in 0..table.rows() {
        let group = &mut groups[of[row]];
        if from[row].max(to[row].unwrap_or(0)) > group.count || to[row] == Some(0) {
            return Err(columns.wrong("an edge of a node that is not there"));
        }
        group.edges.push(Edge {
            from: from[row],
            to: to[row],
            count: count(counts[row]),
            times: times[row],
            polls: count(polls[row]),
            poll_ticks: poll_ticks[row],
        });
    }
    Ok(())
}

fn read_words(table: &Table, groups: &mut [Group]) -> Result<()> {
    let columns = Columns::of("structure_words", table);
    let of = groups_of(&columns, groups)?;
    let (in_loop, number) = (places(&columns, "loop")?, numbers(&columns, "word")?);
    let (counts, by_instance) = (columns.integers("count")?, columns.integers("by_instance")?);
    let (guards, parts) = (columns.bytes("guard")?, columns.bytes("parts")?);
    for row in 0..table.rows() {
        let wrong = |what: &str| columns.wrong(&format!("row {row}: {what}"));
        groups[of[row]].words.push(Word {
            of: in_loop[row],
            number: number[row],
            count: count(counts[row]),
            is_by_instance: by_instance[row] == 1,
            guard: guard(&guards[row]).map_err(wrong)?,
            parts: listed(&parts[row]).map_err(wrong)?.into_iter().map(part).collect(),
        });
    }
    Ok(())
}

/// Numbers of 32 bits.
fn listed(mut bytes: &[u8]) -> std::result::Result<Vec<u64>, &'static str> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        numbers.push(leb128(&mut bytes)?);
    }
    Ok(numbers)
}

fn part(number: u64) -> Part {
    let of = u32::try_from(number / 2).unwrap_or(u32::MAX);
    if number.is_multiple_of(2) { Part::Step(of) } else { Part::Instance(of) }
}

fn guard(bytes: &[u8]) -> std::result::Result<Vec<Progression>, &'static str> {
    let numbers = listed(bytes)?;
    let (four, rest) = numbers.as_chunks::<4>();
    if !rest.is_empty() {
        return Err("half a progression");
    }
    let progression = |four: &[u64; 4]| {
        let [first, last, stride, block] = four.map(|number| u32::try_from(number).ok());
        let it = Progression { first: first?, last: last?, stride: stride?, block: block? };
        let width = it.block.checked_sub(1)?;
        (it.first.checked_add(width)? <= it.last).then_some(it)
    };
    four.iter().map(progression).collect::<Option<_>>().ok_or("no progression")
}
