//! Words: the different bodies of a loop, and in which iterations each was done (structure 2.11).

use rustc_hash::FxHashMap;

use crate::forest::{Forest, LoopId};
use crate::iterations::{Iteration, Iterations};
use crate::node::Node;
use crate::partition::{PartitionBuilder, Progression, partition};

/// A part of a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WordPart {
    /// A step at a node.
    Step(Node),
    /// An instance of a loop inside.
    Instance(LoopId),
}

/// One of the bodies of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// Its steps, and the instances of inner loops.
    pub parts: Vec<WordPart>,
    /// Number of iterations with it.
    pub count: u64,
    /// In which iterations it was done: numbered from 0 in each instance if it is in the same ones of all instances, else
    /// through all.
    pub guard: Vec<Progression>,
    /// Whether the numbers of the guard are those in each instance.
    pub is_by_instance: bool,
}

/// The words of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Words {
    /// By first occurrence.
    pub all: Vec<Word>,
    /// By iteration: its word.
    pub of_iterations: Vec<u32>,
}

/// Returns the words of a loop. `None` stands for the whole sequence, which has one word.
pub fn words(forest: &Forest, sequence: &[Node], iterations: &Iterations, id: Option<LoopId>) -> Words {
    let whole = [Iteration { first: 0, end: crate::to_u32(sequence.len()), begins_instance: true }];
    let all: &[Iteration] = id.map_or(&whole, |id| &iterations[id.index()]);
    let (words, of_iterations) = numbered(forest, sequence, iterations, (id, all));
    let mut uses: Vec<Uses> = vec![Uses::default(); words.len()];
    let (mut instances, mut at) = (0, 0);
    for ((number, iteration), &word) in (0..).zip(all).zip(&of_iterations) {
        if iteration.begins_instance {
            (instances, at) = (instances + 1, 0);
        }
        uses[word as usize].add(number, (instances, at));
        at += 1;
    }
    let word = |(parts, uses): (Vec<WordPart>, Uses)| {
        let is_by_instance = uses.is_the_same_in(instances);
        let Uses { count, guard, first, .. } = uses;
        let guard = if is_by_instance { partition(first) } else { guard.finish() };
        Word { parts, count, guard, is_by_instance }
    };
    Words { all: words.into_iter().zip(uses).map(word).collect(), of_iterations }
}

/// The iterations with a word.
#[derive(Clone, Default)]
struct Uses {
    count: u64,
    /// Their numbers through all instances.
    guard: PartitionBuilder,
    /// Their numbers in the first instance with the word.
    first: Vec<u32>,
    /// Instances with the word, the latest one, and how many iterations there have been the same as in the first one.
    instances: u32,
    latest: u32,
    same: usize,
    is_other: bool,
}

impl Uses {
    /// Adds an iteration: its number through all, and its instance, from 1, and number there.
    fn add(&mut self, number: u32, (instance, at): (u32, u32)) {
        self.count += 1;
        self.guard.push(number);
        if self.latest != instance {
            self.is_other |= self.same != self.first.len();
            (self.latest, self.instances, self.same) = (instance, self.instances + 1, 0);
        }
        if self.instances == 1 {
            self.first.push(at);
        }
        self.is_other |= self.first.get(self.same) != Some(&at);
        self.same += 1;
    }

    /// Whether the word is in the same iterations of each of so many instances.
    fn is_the_same_in(&self, instances: u32) -> bool {
        !self.is_other && self.same == self.first.len() && self.instances == instances
    }
}

/// The word of each iteration of a loop, by its number in the order of first occurrences.
pub fn word_numbers(forest: &Forest, sequence: &[Node], iterations: &Iterations, id: LoopId) -> Vec<u32> {
    numbered(forest, sequence, iterations, (Some(id), &iterations[id.index()])).1
}

/// The different words of iterations of a loop, and by iteration the number of its word.
fn numbered(
    forest: &Forest,
    sequence: &[Node],
    iterations: &Iterations,
    (id, all): (Option<LoopId>, &[Iteration]),
) -> (Vec<Vec<WordPart>>, Vec<u32>) {
    let children: Vec<LoopId> = forest.children(id).collect();
    let mut ends = Ends::new(forest, iterations, &children);
    let mut numbers: FxHashMap<Vec<WordPart>, u32> = FxHashMap::default();
    let mut words: Vec<Vec<WordPart>> = Vec::new();
    let mut of_iterations = Vec::with_capacity(all.len());
    let mut parts = Vec::new();
    for iteration in all {
        parts.clear();
        let mut step = iteration.first;
        while step < iteration.end {
            match ends.instance_at(step, sequence[step as usize]) {
                Some((child, end)) => {
                    parts.push(WordPart::Instance(child));
                    step = end;
                }
                None => {
                    parts.push(WordPart::Step(sequence[step as usize]));
                    step += 1;
                }
            }
        }
        // Mostly the same as before.
        let before = of_iterations.last().copied().filter(|&before: &u32| words[before as usize] == parts);
        let number = before.or_else(|| numbers.get(&parts[..]).copied()).unwrap_or_else(|| {
            let number = crate::to_u32(words.len());
            numbers.insert(parts.clone(), number);
            words.push(parts.clone());
            number
        });
        of_iterations.push(number);
    }
    (words, of_iterations)
}

/// The instances of a loop.
struct Instances {
    id: LoopId,
    /// Their first steps, and the steps behind them.
    all: Vec<(u32, u32)>,
    /// How many are behind us.
    done: usize,
}

/// Ends of the instances of some loops that lie beside each other.
struct Ends<'a> {
    forest: &'a Forest,
    loops: Vec<Instances>,
    /// By loop: the place of it, or of the one that it is in, among these.
    places: Vec<Option<usize>>,
}

impl<'a> Ends<'a> {
    fn new(forest: &'a Forest, iterations: &Iterations, loops: &[LoopId]) -> Ends<'a> {
        let mut places: Vec<Option<usize>> = vec![None; forest.loops().len()];
        for (place, id) in loops.iter().enumerate() {
            places[id.index()] = Some(place);
        }
        // Loops come before those inside them.
        for id in forest.ids() {
            if let Some(parent) = forest.get(id).parent {
                places[id.index()] = places[id.index()].or(places[parent.index()]);
            }
        }
        let ends = |&id: &LoopId| {
            let mut all: Vec<(u32, u32)> = Vec::new();
            for iteration in &iterations[id.index()] {
                match all.last_mut().filter(|_| !iteration.begins_instance) {
                    Some((_, end)) => *end = iteration.end,
                    None => all.push((iteration.first, iteration.end)),
                }
            }
            Instances { id, all, done: 0 }
        };
        Ends { forest, loops: loops.iter().map(ends).collect(), places }
    }

    /// The instance that begins at a step, which visits a node, and its end. Steps come in order.
    fn instance_at(&mut self, step: u32, node: Node) -> Option<(LoopId, u32)> {
        let place = self.places[self.forest.around(node)?.index()]?;
        let Instances { id, all, done } = &mut self.loops[place];
        while all.get(*done).is_some_and(|&(first, _)| first < step) {
            *done += 1;
        }
        all.get(*done).filter(|&&(first, _)| first == step).map(|&(_, end)| (*id, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::iterations::all;
    use crate::{nodes, numbered};

    /// The program of the paper: 60 iterations, in each 6 of an inner loop, the second and the fourth of which do more.
    fn published() -> (Vec<&'static str>, Vec<Node>) {
        let plain = |name: &'static str, count: usize| {
            (0..count).map(move |at| -> &'static str { format!("{name}{at}").leak() })
        };
        let mut keys = vec!["init"];
        keys.extend(plain("seq1.", 9));
        for _ in 0..60 {
            keys.extend(["A", "B"]);
            for inner in 0..6 {
                keys.push("C");
                match inner {
                    1 => keys.extend(["E", "D"]),
                    3 => keys.extend(["G", "F"]),
                    _ => {}
                }
            }
            keys.extend(plain("seq3.", 39));
            keys.push("H");
        }
        keys.extend(plain("seq2.", 29));
        keys.push("fin");
        let sequence = numbered(keys.iter().copied());
        (keys, sequence)
    }

    #[test]
    fn the_published_program_has_its_published_graph_loops_and_guards() {
        let (keys, sequence) = published();
        let graph = Graph::of(sequence.iter().copied());
        assert_eq!(sequence.len(), 3160);
        assert_eq!((graph.size(), graph.shown_size()), ([87, 90], [13, 16]));
        let forest = Forest::new(&graph);
        let all = all(&forest, &sequence);
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [60, 360]);
        let [outer, inner] = ["1", "1.1"].map(|name| forest.named(name));
        let name_of = |part: &WordPart| match *part {
            WordPart::Step(node) => keys[sequence.iter().position(|&other| other == node).unwrap()],
            WordPart::Instance(_) => "loop",
        };
        let shown = |word: &Word| {
            let guard: Vec<String> = word.guard.iter().map(Progression::to_string).collect();
            let names: Vec<&str> = word.parts.iter().map(name_of).collect();
            format!("{}: {}", guard.join("|"), names.join(" "))
        };
        let words_of = |id| words(&forest, &sequence, &all, id).all;
        let inner: Vec<String> = words_of(inner).iter().map(shown).collect();
        assert_eq!(inner, ["0,2,2,1|4,5,0,2: C", "1,1,0,1: C E D", "3,3,0,1: C G F"]);
        let outer = words_of(outer);
        assert_eq!((outer.len(), outer[0].count, outer[0].parts.len()), (1, 60, 2 + 1 + 39 + 1));
        assert_eq!(words_of(None)[0].parts.len(), 10 + 1 + 30);
    }

    #[test]
    fn guards_are_by_instance_where_a_word_is_in_the_same_iterations_of_all() {
        // Loop 2 3: its second instance has an iteration more, which is another one.
        let sequence = nodes(&[1, 2, 3, 2, 3, 4, 1, 2, 3, 2, 3, 2, 5, 4]);
        let forest = Forest::new(&Graph::of(sequence.iter().copied()));
        let all = all(&forest, &sequence);
        let Words { all: found, of_iterations } = words(&forest, &sequence, &all, forest.named("1.1"));
        assert_eq!(of_iterations, [0, 0, 0, 0, 1]);
        let guards: Vec<(u64, bool, String)> =
            found.iter().map(|it| (it.count, it.is_by_instance, it.guard[0].to_string())).collect();
        assert_eq!(guards, [(4, true, "0,1,0,2".into()), (1, false, "4,4,0,1".into())]);
    }
}
