//! Folding of tandem repeats into loops while a sequence comes, bottom up (structure 2.9).
//!
//! Behind each new symbol, until nothing applies: the terms behind one of the latest loops are its body once more; or the last
//! terms are those before them once more, and both become a loop. Loops are equal if their bodies are, however often they are
//! repeated, so that inner loops may vary.

use rustc_hash::FxHashMap;

/// Latest loops that may be extended.
const LOOPS: usize = 8;

/// Latest places of a term at which a repeat may begin.
const PLACES: usize = 16;

/// Modulus and base of the rolling hash of terms.
const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 1_000_003;

/// A term of a folded sequence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Term {
    /// A symbol.
    Symbol(u32),
    /// A loop, by the number of its body.
    Loop(u32),
}

impl Term {
    fn hash(self) -> u64 {
        let [kind, number] = self.place();
        (2 * number + kind + 1) as u64
    }

    /// Its place in lists by kind and number.
    fn place(self) -> [usize; 2] {
        match self {
            Term::Symbol(symbol) => [0, symbol as usize],
            Term::Loop(body) => [1, body as usize],
        }
    }
}

/// A folded sequence.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The terms of each body.
    bodies: Vec<Vec<Term>>,
    numbers: FxHashMap<Vec<Term>, u32>,
    terms: Vec<Term>,
    /// The loops among the terms.
    loops: Vec<LoopTerm>,
    /// Hashes of the first terms, by their number; and powers of the base.
    hashes: Vec<u64>,
    powers: Vec<u64>,
    /// Places of each symbol, and of the loops of each body, rising.
    places: [Vec<Vec<u32>>; 2],
}

/// A loop among the terms of a folded sequence.
#[derive(Clone, Debug)]
struct LoopTerm {
    place: u32,
    /// Terms of its body.
    length: u32,
    /// How often it is repeated; then for each repetition the same of each loop in it.
    repeats: Vec<u32>,
}

impl Default for Fold {
    fn default() -> Fold {
        Fold {
            bodies: Vec::new(),
            numbers: FxHashMap::default(),
            terms: Vec::new(),
            loops: Vec::new(),
            hashes: vec![0],
            powers: vec![1],
            places: [Vec::new(), Vec::new()],
        }
    }
}

impl Fold {
    /// Folds a sequence of small numbers: memory is needed for each number up to the largest.
    pub fn of(sequence: impl IntoIterator<Item = u32>) -> Fold {
        let mut fold = Fold::default();
        sequence.into_iter().for_each(|symbol| fold.push(symbol));
        fold
    }

    /// Adds the next symbol.
    pub fn push(&mut self, symbol: u32) {
        self.put(Term::Symbol(symbol));
        while self.extend() || self.repeat() {}
    }

    /// The terms of the sequence.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The terms of a body.
    pub fn body(&self, number: u32) -> &[Term] {
        &self.bodies[number as usize]
    }

    /// How a term of the sequence is repeated: nothing for a symbol; of a loop how often, then for each repetition the same of
    /// each loop in its body.
    pub fn repeats(&self, place: usize) -> &[u32] {
        let found = self.loops.binary_search_by_key(&place, |it| it.place as usize);
        found.map_or(&[], |at| &self.loops[at].repeats)
    }

    /// Number of symbols in a term of the sequence.
    pub fn symbols(&self, place: usize) -> u64 {
        let Term::Loop(body) = self.terms[place] else { return 1 };
        let is_symbol = |term: &Term| matches!(term, Term::Symbol(_));
        let body = self.body(body);
        if body.iter().all(is_symbol) {
            return u64::from(self.repeats(place)[0]) * body.len() as u64;
        }
        let mut count = 0;
        self.walk(place, (), |(), _| (), |(), _, _| count += 1);
        count
    }

    /// Goes through a term of the sequence: calls `enter` with what is around a loop and its body whenever the loop begins,
    /// which says what is around the terms of that body; and `with` for each symbol with what is around it, and its place in the
    /// body.
    pub(crate) fn walk<T: Copy>(
        &self,
        place: usize,
        outside: T,
        mut enter: impl FnMut(T, u32) -> T,
        mut with: impl FnMut(T, usize, u32),
    ) {
        let mut repeats = self.repeats(place).iter().copied();
        let mut level = |around: T, body: u32| Level {
            terms: self.body(body),
            at: 0,
            rest: repeats.next().unwrap_or(0),
            inside: enter(around, body),
        };
        let mut way = match self.terms[place] {
            Term::Symbol(symbol) => return with(outside, 0, symbol),
            Term::Loop(body) => vec![level(outside, body)],
        };
        while let Some(Level { terms, at, rest, inside }) = way.last_mut() {
            if *at == terms.len() {
                (*at, *rest) = (0, rest.saturating_sub(1));
            }
            if *rest == 0 {
                way.pop();
                continue;
            }
            *at += 1;
            match terms[*at - 1] {
                Term::Symbol(symbol) => with(*inside, *at - 1, symbol),
                Term::Loop(body) => {
                    let inner = level(*inside, body);
                    way.push(inner);
                }
            }
        }
    }

    /// The sequence.
    pub fn sequence(&self) -> Vec<u32> {
        let mut all = Vec::new();
        (0..self.terms.len())
            .for_each(|place| self.walk(place, (), |(), _| (), |(), _, symbol| all.push(symbol)));
        all
    }

    fn put(&mut self, term: Term) {
        let place = crate::to_u32(self.terms.len());
        let [kind, number] = term.place();
        let places = &mut self.places[kind];
        if places.len() <= number {
            places.resize_with(number + 1, Vec::new);
        }
        places[number].push(place);
        self.terms.push(term);
        let before = self.hashes[self.hashes.len() - 1];
        self.hashes.push(reduced(times(before, BASE) + term.hash()));
    }

    /// Takes the last terms away, and returns how these were repeated, one behind the other.
    fn take(&mut self, count: usize) -> Vec<u32> {
        let first = self.terms.len() - count;
        for term in self.terms.drain(first..) {
            let [kind, number] = term.place();
            self.places[kind][number].pop();
        }
        self.hashes.truncate(first + 1);
        let loops = self.loops.iter().rposition(|it| (it.place as usize) < first).map_or(0, |at| at + 1);
        // A single list is taken as it is: it may be long.
        let mut lists = self.loops.drain(loops..).map(|it| it.repeats);
        let mut all = lists.next().unwrap_or_default();
        lists.for_each(|list| all.extend(list));
        all
    }

    /// The hash of the terms in a range of places.
    fn hash(&mut self, begin: usize, end: usize) -> u64 {
        while self.powers.len() <= end - begin {
            self.powers.push(times(self.powers[self.powers.len() - 1], BASE));
        }
        reduced(self.hashes[end] + PRIME - times(self.hashes[begin], self.powers[end - begin]))
    }

    /// Takes the terms behind one of the latest loops into it, if they are its body.
    fn extend(&mut self) -> bool {
        let end = self.terms.len();
        // A loop that is the last term has nothing behind it.
        let behind = self.loops.iter().enumerate().rev().filter(|(_, it)| it.place as usize + 1 < end);
        let found = behind.take(LOOPS).find(|(_, it)| {
            let behind = it.place as usize + 1;
            behind + it.length as usize == end
                && matches!(self.terms[behind - 1], Term::Loop(body) if self.bodies[body as usize] == self.terms[behind..])
        });
        let Some((at, LoopTerm { length, .. })) = found else { return false };
        let once = self.take(*length as usize);
        let repeats = &mut self.loops[at].repeats;
        repeats[0] = repeats[0].saturating_add(1);
        repeats.extend(once);
        true
    }

    /// Makes a loop of the last terms, if those before are the same; of the shortest such repeat.
    fn repeat(&mut self) -> bool {
        let end = self.terms.len();
        let [kind, number] = self.terms[end - 1].place();
        let places = self.places[kind][number].len() - 1;
        for at in (places.saturating_sub(PLACES)..places).rev() {
            let place = self.places[kind][number][at];
            let length = end - 1 - place as usize;
            if 2 * length > end {
                return false;
            }
            let (first, second) = (end - 2 * length, end - length);
            // Most differ in one of the last terms.
            let near = length.min(4);
            if self.terms[end - near..] != self.terms[second - near..second]
                || self.hash(second, end) != self.hash(first, second)
                || self.terms[second..] != self.terms[first..second]
            {
                continue;
            }
            let body = self.terms[second..].to_vec();
            let next = crate::to_u32(self.bodies.len());
            let number = match self.numbers.get(&body) {
                Some(&number) => number,
                None => {
                    self.bodies.push(body.clone());
                    self.numbers.insert(body, next);
                    next
                }
            };
            let last = self.take(length);
            let mut both = self.take(length);
            both.extend(last);
            match self.terms.last() {
                Some(&Term::Loop(before)) if before == number => {
                    let Some(LoopTerm { repeats, .. }) = self.loops.last_mut() else { return false };
                    repeats[0] = repeats[0].saturating_add(2);
                    repeats.extend(both);
                }
                _ => {
                    both.insert(0, 2);
                    let (place, length) = (crate::to_u32(self.terms.len()), crate::to_u32(length));
                    self.loops.push(LoopTerm { place, length, repeats: both });
                    self.put(Term::Loop(number));
                }
            }
            return true;
        }
        false
    }
}

/// A loop of a folded sequence that is walked through.
struct Level<'a, T> {
    terms: &'a [Term],
    /// The place in the body behind the current term.
    at: usize,
    /// Repetitions that are left, with the current one.
    rest: u32,
    /// What is around its terms.
    inside: T,
}

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    // Less than the square of the modulus, so two halves of 61 bits.
    let [low, high] =
        [product & u128::from(PRIME), product >> 61].map(|half| u64::try_from(half).unwrap_or(0));
    reduced(low + high)
}

/// The rest by the modulus of a number below twice the modulus.
fn reduced(number: u64) -> u64 {
    if number >= PRIME { number - PRIME } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    fn shown(fold: &Fold, terms: &[Term]) -> String {
        let term = |term: &Term| match *term {
            Term::Symbol(symbol) => symbol.to_string(),
            Term::Loop(body) => format!("({})", shown(fold, fold.body(body))),
        };
        terms.iter().map(term).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn repeats_become_loops_of_loops() {
        let inner = |count| [vec![1], [2, 3].repeat(count), vec![4]].concat();
        let fold = Fold::of([vec![9], inner(3), inner(5), inner(3), vec![7]].concat());
        assert_eq!(shown(&fold, fold.terms()), "9 (1 (2 3) 4) 7");
        assert_eq!(fold.repeats(1), [3, 3, 5, 3]);
        assert_eq!((fold.symbols(0), fold.symbols(1)), (1, 6 + 22));
    }

    #[test]
    fn folded_sequences_come_back() {
        let mut draw = random(31);
        for _ in 0..1500 {
            let (alphabet, length) = (draw(6) + 1, draw(200));
            let mut sequence: Vec<u32> = Vec::new();
            while sequence.len() < length as usize {
                let begin = sequence.len().saturating_sub(draw(12) as usize);
                match draw(3) {
                    0 => sequence.push(draw(alphabet)),
                    _ => sequence.extend_from_within(begin..),
                }
            }
            let fold = Fold::of(sequence.iter().copied());
            assert_eq!(fold.sequence(), sequence);
            let symbols: u64 = (0..fold.terms().len()).map(|place| fold.symbols(place)).sum();
            assert_eq!(symbols, sequence.len() as u64);
        }
    }

    #[test]
    fn a_loop_nested_thousands_deep_is_walked_without_recursion() {
        // Each symbol doubles what is before.
        let mut fold = Fold::default();
        let mut sequence = vec![0];
        for symbol in 1..12 {
            sequence = [&sequence[..], &sequence[..], &[symbol]].concat();
        }
        sequence.iter().for_each(|&symbol| fold.push(symbol));
        assert_eq!(fold.sequence(), sequence);
    }
}
