//! Structures of made-up sequences, for tests: each step takes 10 ms, with 1 ms before it.

use std::collections::BTreeMap;

use structure::{Forest, GraphBuilder, Iterations, LoopId, Step, TemporalGraph, WordPart};

use crate::tables::structure::{Edge, Group, Loop, Node, Part, Structure, Times, Word};

/// The name of what stands for time that was not recorded.
pub(crate) const OFF: &str = "OFF";

const MS: i64 = 1_000_000;

/// The program of the paper: 60 iterations, in each 6 of an inner loop, the second and the fourth of which do more.
pub(crate) fn published() -> Structure {
    let plain = |name: &'static str, count: usize| (0..count).map(move |at| format!("{name}{at}"));
    let mut keys = vec!["init".to_owned()];
    keys.extend(plain("p", 9));
    for _ in 0..60 {
        keys.extend(["A", "B"].map(str::to_owned));
        for inner in 0..6 {
            keys.push("C".to_owned());
            match inner {
                1 => keys.extend(["E", "D"].map(str::to_owned)),
                3 => keys.extend(["G", "F"].map(str::to_owned)),
                _ => {}
            }
        }
        keys.extend(plain("q", 39));
        keys.push("H".to_owned());
    }
    keys.extend(plain("r", 29));
    keys.push("fin".to_owned());
    structure_of(&keys.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The structure of a sequence of calls, each of one place.
pub(crate) fn structure_of(calls: &[&str]) -> Structure {
    let mut known: BTreeMap<&str, u32> = BTreeMap::new();
    let mut names: Vec<&str> = Vec::new();
    let sequence: Vec<structure::Node> = calls
        .iter()
        .map(|call| {
            let next = u32::try_from(known.len() + 1).unwrap();
            structure::Node::new(*known.entry(call).or_insert_with(|| {
                names.push(call);
                next
            }))
        })
        .collect();
    let mut builder = GraphBuilder::default();
    for &node in &sequence {
        builder.visit(node, &Step { since: MS, ticks: 10 * MS, ..Step::default() });
    }
    let graph = builder.finish(&Step::default()).1;
    let forest = Forest::new(&graph);
    let mut iterations: Iterations = vec![Vec::new(); forest.loops().len()];
    structure::iterations(&forest, sequence.iter().copied(), |id, it| iterations[id.index()].push(it));
    let number = |id: LoopId| u32::try_from(id.index()).unwrap();
    let times = |times: &structure::Times| -> Times { [times.sum, times.least, times.most] };
    let node = |(at, &call): (usize, &&str)| Node {
        number: u32::try_from(at + 1).unwrap(),
        key: u32::try_from(at + 1).unwrap(),
        call: call.into(),
        cnode: None,
        file: format!("src/{call}.c").into(),
        line: Some(1),
        around: forest.around(structure::Node::new(u32::try_from(at + 1).unwrap())).map(number),
        visits: graph.nodes[at + 1].visits,
        times: times(&graph.nodes[at + 1].times),
        is_gap: call == OFF,
    };
    let edge = |edge: &structure::Edge| Edge {
        from: edge.from.number(),
        to: Some(edge.to).filter(|&to| to != structure::Node::END).map(structure::Node::number),
        count: edge.count,
        times: times(&edge.times),
        polls: edge.polls.count,
        poll_ticks: edge.polls.ticks,
    };
    let mut places: BTreeMap<Option<LoopId>, u32> = BTreeMap::new();
    let mut loops = Vec::new();
    let mut words = words_of(&forest, &sequence, &iterations, None);
    for id in forest.ids() {
        let it = forest.get(id);
        let own = &iterations[id.index()];
        let instances: Vec<u64> =
            own.chunk_by(|_, next| !next.begins_instance).map(|instance| instance.len() as u64).collect();
        let place = places.entry(it.parent).or_default();
        *place += 1;
        let mut all = structure::Times::default();
        for it in own {
            all.add(i64::from(it.end - it.first) * 11 * MS);
        }
        let of_loop = words_of(&forest, &sequence, &iterations, Some(id));
        loops.push(Loop {
            number: number(id),
            parent: it.parent.map(number),
            place: *place,
            header: it.header.number(),
            iterations: own.len() as u64,
            instances: instances.len() as u64,
            fewest: instances.iter().copied().min().unwrap(),
            largest: instances.iter().copied().max().unwrap(),
            times: times(&all),
            words: of_loop.len() as u64,
        });
        words.extend(of_loop);
    }
    let group = Group {
        location: Some(0),
        locations: 1,
        ticks: graph.ticks(),
        steps: calls.len() as u64,
        count: u32::try_from(names.len()).unwrap(),
        main: loops.first().map(|it| it.number),
        order: TemporalGraph::of(sequence.iter().copied()).unwrap().encode(),
        nodes: names.iter().enumerate().map(node).collect(),
        edges: graph.edges.iter().map(edge).collect(),
        loops,
        words,
        ..Group::default()
    };
    Structure { ticks_per_second: 1_000_000_000, groups: vec![group], ..Structure::default() }
}

fn words_of(
    forest: &Forest,
    sequence: &[structure::Node],
    iterations: &Iterations,
    id: Option<LoopId>,
) -> Vec<Word> {
    let part = |part: &WordPart| match *part {
        WordPart::Step(node) => Part::Step(node.number()),
        WordPart::Instance(id) => Part::Instance(u32::try_from(id.index()).unwrap()),
    };
    let word = |(number, word): (u32, &structure::Word)| Word {
        of: id.map(|id| u32::try_from(id.index()).unwrap()),
        number,
        count: word.count,
        is_by_instance: word.is_by_instance,
        guard: word.guard.clone(),
        parts: word.parts.iter().map(part).collect(),
    };
    (0..).zip(&structure::words(forest, sequence, iterations, id).all).map(word).collect()
}
