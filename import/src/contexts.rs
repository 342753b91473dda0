//! Callers of MPI calls: paths of functions with the line of each call, as Extrae records them.
//!
//! Types of events from 70000001 on name the functions around a call, the innermost first; those from 80000001 on say
//! at which line each of them was, so that line 1 is that of the MPI call, and line 2 that of the call of caller 1.

use rustc_hash::FxHashMap;

use crate::pcf::Labels;
use crate::regions::{CALLERS, Frame, LINES, Regions};

/// A function on a call path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Node {
    /// The path of the caller; `None` if no caller is known.
    pub(crate) parent: Option<u32>,
    pub(crate) region: u32,
    /// The value of the line of the call; 0 if it is not known.
    pub(crate) line: u64,
}

/// Call paths, by the numbers that they get; callers come before those that they call.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    numbers: FxHashMap<Node, u32>,
    list: Vec<Node>,
    /// Numbers of functions in front of a path.
    depths: Vec<u32>,
}

/// Lines by their labels: Extrae gives those of each task numbers of their own, as tasks have the program at different addresses.
#[derive(Debug, Default)]
pub(crate) struct Places {
    numbers: FxHashMap<u64, u64>,
    by_label: FxHashMap<String, u64>,
}

impl Places {
    /// The value that stands for all with the label of this one; 0 if the label has no line.
    pub(crate) fn number(&mut self, value: u64, labels: &Labels) -> u64 {
        if let Some(&known) = self.numbers.get(&value) {
            return known;
        }
        let number = match labels.of_levels(&LINES, value) {
            None => value,
            Some(label) if place(label).is_none() => 0,
            Some(label) => *self.by_label.entry(label.to_owned()).or_insert(value),
        };
        self.numbers.insert(value, number);
        number
    }
}

/// Callers that one record names, by level.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    functions: Vec<u64>,
    lines: Vec<u64>,
}

impl Levels {
    pub(crate) fn clear(&mut self) {
        self.functions.clear();
        self.lines.clear();
    }

    /// Takes the value of a type of events, if it is of callers or lines; value 0 is the end of a call.
    pub(crate) fn take(&mut self, kind: u64, value: u64) {
        let (list, base) = if CALLERS.contains(&kind) {
            (&mut self.functions, CALLERS.start)
        } else if LINES.contains(&kind) {
            (&mut self.lines, LINES.start)
        } else {
            return;
        };
        let level = usize::try_from(kind - base).unwrap_or(0);
        if list.len() <= level {
            list.resize(level + 1, 0);
        }
        if let Some(known) = list.get_mut(level) {
            *known = value;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.functions.iter().all(|&function| function == 0)
    }

    /// The value of the line of the MPI call.
    pub(crate) fn first_line(&self) -> u64 {
        self.lines.first().copied().unwrap_or(0)
    }
}

impl Contexts {
    /// The number of a path.
    pub(crate) fn number(&mut self, node: Node) -> u32 {
        if let Some(&number) = self.numbers.get(&node) {
            return number;
        }
        let number = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.numbers.insert(node, number);
        self.list.push(node);
        self.depths.push(node.parent.map_or(0, |parent| self.depth(parent) + 1));
        number
    }

    /// The path of the function that a call of MPI is in, below `program`. It begins with the main function, or behind the
    /// start of the program, if these are known: a main function that was inlined has no level of its own.
    pub(crate) fn callers(
        &mut self,
        levels: &Levels,
        program: u32,
        regions: &mut Regions,
        labels: &Labels,
    ) -> u32 {
        let mut path = self.number(Node { parent: None, region: program, line: 0 });
        let all = levels.functions.as_slice();
        let main = all.iter().rposition(|&function| regions.frame(function, labels) == Frame::Main);
        let start = || all.iter().position(|&function| regions.frame(function, labels) == Frame::StartUp);
        let count = main.map(|main| main + 1).or_else(start).unwrap_or(all.len());
        let functions = all.get(..count).unwrap_or_default();
        for (level, &function) in functions.iter().enumerate().rev().filter(|level| *level.1 != 0) {
            let region = regions.caller(function, labels);
            let line = levels
                .lines
                .get(level + 1)
                .copied()
                .filter(|_| level + 1 < count || count == all.len())
                .unwrap_or(0);
            path = self.number(Node { parent: Some(path), region, line });
        }
        path
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Node> {
        self.list.get(usize::try_from(number).ok()?)
    }

    pub(crate) fn list(&self) -> &[Node] {
        &self.list
    }

    fn depth(&self, number: u32) -> u32 {
        usize::try_from(number).ok().and_then(|number| self.depths.get(number)).copied().unwrap_or(0)
    }

    /// How many functions at the end of a path are not on another one.
    pub(crate) fn new_functions(&self, path: u32, before: Option<u32>) -> u32 {
        let parent = |number: u32| self.get(number).and_then(|node| node.parent);
        let (mut here, mut there, mut new) = (Some(path), before, 0);
        while here != there {
            let Some(number) = here else { break };
            if there.is_some_and(|there| self.depth(there) > self.depth(number)) {
                there = there.and_then(parent);
                continue;
            }
            if there.is_some_and(|there| self.depth(there) == self.depth(number)) {
                there = there.and_then(parent);
            }
            here = parent(number);
            new += 1;
        }
        new
    }
}

/// File and line in a label such as `solver.c:12 [/home/me/solver.c:12, ./a.out]`, or `12 (solver.c, ./a.out)` of older traces.
pub(crate) fn place(label: &str) -> Option<(&str, u32)> {
    let known = |file: &str, line: &str| line.parse().ok().filter(|&line| line > 0 && !file.is_empty());
    let begin = label.split(" [").next().unwrap_or_default().trim();
    if let Some((file, line)) = begin.rsplit_once(':') {
        return Some((file, known(file, line)?));
    }
    let (line, rest) = label.split_once(" (")?;
    let file = rest.split([',', ')']).next().unwrap_or_default().trim();
    Some((file, known(file, line.trim())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_paths_with_the_line_of_each_call() {
        let (mut regions, labels, mut contexts) =
            (Regions::default(), Labels::default(), Contexts::default());
        let program = regions.add_program("a");
        let mut levels = Levels::default();
        for (kind, value) in [(70_000_001, 5), (70_000_002, 6), (80_000_001, 10), (80_000_002, 20), (42, 1)] {
            levels.take(kind, value);
        }
        assert_eq!((levels.is_empty(), levels.first_line()), (false, 10));
        let inner = contexts.callers(&levels, program, &mut regions, &labels);
        assert_eq!(contexts.callers(&levels, program, &mut regions, &labels), inner);
        let nodes: Vec<(Option<u32>, u64)> =
            contexts.list().iter().map(|node| (node.parent, node.line)).collect();
        assert_eq!(nodes, [(None, 0), (Some(0), 0), (Some(1), 20)]);
        assert_eq!(regions.get(contexts.get(inner).unwrap().region).unwrap().name, "function 5");
    }

    #[test]
    fn functions_that_are_not_on_the_path_before_are_new() {
        let mut contexts = Contexts::default();
        let mut node = |parent, line| contexts.number(Node { parent, region: 0, line });
        let root = node(None, 0);
        let (a, b) = (node(Some(root), 1), node(Some(root), 2));
        let (aa, ab, ba) = (node(Some(a), 1), node(Some(a), 2), node(Some(b), 1));
        let new = |path, before| contexts.new_functions(path, before);
        assert_eq!([new(aa, None), new(aa, Some(root)), new(aa, Some(a)), new(aa, Some(aa))], [3, 2, 1, 0]);
        assert_eq!(
            [new(ab, Some(aa)), new(ba, Some(aa)), new(root, Some(aa)), new(b, Some(aa))],
            [1, 2, 0, 1]
        );
    }

    #[test]
    fn places_are_lines_with_files() {
        assert_eq!(place("12 (solver.c, ./a.out)"), Some(("solver.c", 12)));
        assert_eq!(place("12 (solver.c)"), Some(("solver.c", 12)));
        assert_eq!(place("solver.c:12 [/home/me/solver.c:12, ./a.out]"), Some(("solver.c", 12)));
        assert_eq!(place("solver.c:12"), Some(("solver.c", 12)));
        assert_eq!([place("Unresolved"), place(":7"), place("a.c:0"), place("a.c:x [b]")], [None; 4]);
        assert_eq!([place("0"), place("0 (x.c)"), place("12 ()"), place("")], [None; 4]);
    }
}
