//! The graph as it is shown: chains of calls that always follow each other are one box (structure 2.4).

use std::rc::Rc;

use rustc_hash::FxHashMap;
use structure::{Graph, NodeTotals, Polls};

use super::{counted, duration};
use crate::tables::structure::{Group, Node, Structure};

/// A graph of boxes and arrows.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Shown {
    /// The begin, then boxes in the order of first visits, the end last.
    pub boxes: Vec<Box>,
    /// Arrows between them.
    pub arrows: Vec<Arrow>,
}

/// A call, several that always follow each other, the begin or the end.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Box {
    /// The lines of its text.
    pub lines: Vec<String>,
    /// Numbers of its nodes; none at the begin and the end.
    pub nodes: Vec<u32>,
    /// The number of the innermost loop around it.
    pub around: Option<u32>,
}

/// An arrow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrow {
    /// Position of the box where it begins.
    pub from: usize,
    /// Position of the box where it ends.
    pub to: usize,
    /// How often it was taken.
    pub count: u64,
    /// Its text.
    pub text: String,
}

impl Arrow {
    /// Its width, which grows with the logarithm of the count: 1 to about 7.
    #[expect(clippy::cast_precision_loss, reason = "the width of a line")]
    pub fn width(&self) -> f64 {
        1.0 + (self.count.max(1) as f64).log10()
    }
}

impl Shown {
    /// Makes boxes and arrows of the graph of a group.
    pub fn new(structure: &Structure, group: &Group) -> Shown {
        let runs = graph(group).runs();
        // By number of a node: the run that it is in.
        let mut run_of: FxHashMap<u32, usize> = FxHashMap::default();
        for (at, run) in runs.iter().enumerate() {
            run.iter().for_each(|node| _ = run_of.insert(node.number(), at));
        }
        let end = |text: &str| Box { lines: vec![text.to_owned()], ..Box::default() };
        let mut shown = Shown { boxes: vec![end("begin")], arrows: Vec::new() };
        // By number of a node: its box. The begin is 0.
        let mut places: FxHashMap<u32, usize> = FxHashMap::from_iter([(0, 0)]);
        let mut numbers: Vec<u32> = group.nodes.iter().map(|node| node.number).collect();
        // Nodes that a limit has left out have edges.
        let ends = group.edges.iter().flat_map(|edge| [Some(edge.from), edge.to]).flatten();
        numbers.extend(ends.filter(|&number| number > 0 && group.node(number).is_none()));
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            if places.contains_key(&number) {
                continue;
            }
            let nodes = match run_of.get(&number) {
                Some(&run) => runs[run].iter().map(|node| node.number()).collect(),
                None => vec![number],
            };
            nodes.iter().for_each(|&node| _ = places.insert(node, shown.boxes.len()));
            let around = group.node(number).and_then(|node| node.around);
            shown.boxes.push(Box { lines: lines(structure, group, &nodes), nodes, around });
        }
        let last = shown.boxes.len();
        shown.boxes.push(end("end"));
        for edge in &group.edges {
            let from = places[&edge.from];
            let to = edge.to.map_or(last, |to| places[&to]);
            // Those inside a box: from one of its nodes to the next one.
            let is_inside =
                from == to && edge.to.is_some_and(|to| is_next(&shown.boxes[from].nodes, edge.from, to));
            if !is_inside {
                let time = duration(structure.seconds(edge.times[0]));
                let mut text = format!("{}\u{a0}x, {time}", edge.count);
                if edge.polls > 0 {
                    text += &format!(", {}", counted(edge.polls, "poll"));
                }
                shown.arrows.push(Arrow { from, to, count: edge.count, text });
            }
        }
        shown
    }

    /// Numbers of boxes and of arrows between them, without those of begin and end.
    pub fn size(&self) -> [usize; 2] {
        let last = self.boxes.len().saturating_sub(1);
        let is_inner = |arrow: &&Arrow| arrow.from > 0 && arrow.to < last;
        [self.boxes.len().saturating_sub(2), self.arrows.iter().filter(is_inner).count()]
    }
}

fn is_next(nodes: &[u32], from: u32, to: u32) -> bool {
    nodes.windows(2).any(|pair| pair == [from, to])
}

/// The graph of a group, for its chains.
fn graph(group: &Group) -> Graph {
    let node = |number: Option<u32>| number.map_or(structure::Node::END, structure::Node::new);
    let edges = group.edges.iter().map(|edge| structure::Edge {
        from: node(Some(edge.from)),
        to: node(edge.to),
        count: edge.count,
        times: structure::Times::default(),
        polls: Polls::default(),
    });
    let most = group.edges.iter().map(|edge| edge.from.max(edge.to.unwrap_or(0))).max().unwrap_or(0);
    Graph { nodes: vec![NodeTotals::default(); most as usize + 1], edges: edges.collect() }
}

/// The text of a box: what is called, where, how often, and for how long.
fn lines(structure: &Structure, group: &Group, nodes: &[u32]) -> Vec<String> {
    let known: Vec<&Node> = nodes.iter().filter_map(|&number| group.node(number)).collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else {
        return nodes.iter().map(|number| format!("node {number}")).collect();
    };
    let ticks = known.iter().map(|node| node.times[0]).fold(0, i64::saturating_add);
    let time = duration(structure.seconds(ticks));
    let visits = format!("{}\u{a0}x, {time}", first.visits);
    let name = |call: &Rc<str>| if call.is_empty() { "(no name)".to_owned() } else { call.to_string() };
    let mut lines = match nodes.len() {
        1 => vec![name(&first.call), first.place()],
        count => {
            let places = [first.place(), last.place()];
            let both = if places[0] == places[1] { places[0].clone() } else { places.join(" … ") };
            let is_known = places.iter().all(|place| !place.is_empty());
            vec![
                format!("{count} calls"),
                format!("{} … {}", name(&first.call), name(&last.call)),
                if is_known { both } else { String::new() },
            ]
        }
    };
    lines.retain(|line| !line.is_empty());
    lines.push(visits);
    lines
}

#[cfg(test)]
mod tests {
    use super::super::examples::{published, structure_of};
    use super::*;

    #[test]
    fn the_published_program_is_shown_as_published() {
        let structure = published();
        let shown = Shown::new(&structure, &structure.groups[0]);
        assert_eq!(shown.size(), [13, 16]);
        let texts: Vec<&str> = shown.boxes.iter().map(|it| it.lines[0].as_str()).collect();
        let expected = [
            "begin", "init", "9 calls", "A", "B", "C", "E", "D", "G", "F", "39 calls", "H", "29 calls",
            "fin", "end",
        ];
        assert_eq!(texts.len(), expected.len(), "{texts:?}");
    }

    #[test]
    fn boxes_say_how_often_and_arrows_how_often_and_how_long() {
        let structure = structure_of(&["a", "b", "a", "b", "c"]);
        let shown = Shown::new(&structure, &structure.groups[0]);
        assert_eq!(shown.size(), [3, 3]);
        assert_eq!(shown.boxes[1].lines, ["a", "a.c:1", "2\u{a0}x, 20.0\u{a0}ms"]);
        let again = shown.arrows.iter().find(|arrow| (arrow.from, arrow.to) == (2, 1)).unwrap();
        assert_eq!((again.text.as_str(), again.width()), ("1\u{a0}x, 1.00\u{a0}ms", 1.0));
    }

    #[test]
    fn nodes_that_a_limit_has_left_out_have_numbers() {
        let mut structure = structure_of(&["a", "b", "a", "b", "c"]);
        structure.groups[0].nodes.remove(1);
        let shown = Shown::new(&structure, &structure.groups[0]);
        assert_eq!((shown.size(), shown.boxes[2].lines[0].as_str()), ([3, 3], "node 2"));
    }
}
