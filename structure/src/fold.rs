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
        match self {
            Term::Symbol(symbol) => 2 * u64::from(symbol) + 1,
            Term::Loop(body) => 2 * u64::from(body) + 2,
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
    /// By term: how it is repeated, empty for symbols. First how often; then for each repetition the same of each loop in it.
    repeats: Vec<Vec<u32>>,
    /// Hashes of the first terms, by their number; and powers of the base.
    hashes: Vec<u64>,
    powers: Vec<u64>,
    /// Places of each term, rising.
    places: FxHashMap<Term, Vec<u32>>,
    /// Places of loops, rising.
    loops: Vec<u32>,
}

impl Default for Fold {
    fn default() -> Fold {
        Fold {
            bodies: Vec::new(),
            numbers: FxHashMap::default(),
            terms: Vec::new(),
            repeats: Vec::new(),
            hashes: vec![0],
            powers: vec![1],
            places: FxHashMap::default(),
            loops: Vec::new(),
        }
    }
}

impl Fold {
    /// Folds a sequence.
    pub fn of(sequence: impl IntoIterator<Item = u32>) -> Fold {
        let mut fold = Fold::default();
        sequence.into_iter().for_each(|symbol| fold.push(symbol));
        fold
    }

    /// Adds the next symbol.
    pub fn push(&mut self, symbol: u32) {
        self.put(Term::Symbol(symbol), Vec::new());
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
        &self.repeats[place]
    }

    /// Number of symbols in a term of the sequence.
    pub fn symbols(&self, place: usize) -> u64 {
        let mut count = 0;
        self.walk(place, |_| count += 1);
        count
    }

    /// Calls a function for each symbol of a term of the sequence.
    pub(crate) fn walk(&self, place: usize, mut with: impl FnMut(Visit<'_>)) {
        let mut repeats = self.repeats[place].iter().copied();
        let mut way: Vec<Level> = Vec::new();
        let mut enter = |way: &mut Vec<Level>, body| {
            way.push(Level { body, at: 0, rest: repeats.next().unwrap_or(0) });
        };
        match self.terms[place] {
            Term::Symbol(symbol) => return with(Visit { way: &[], symbol }),
            Term::Loop(body) => enter(&mut way, body),
        }
        while let Some(level) = way.last_mut() {
            let body = &self.bodies[level.body as usize];
            if level.at == body.len() {
                (level.at, level.rest) = (0, level.rest.saturating_sub(1));
            }
            if level.rest == 0 {
                way.pop();
                continue;
            }
            level.at += 1;
            match body[level.at - 1] {
                Term::Symbol(symbol) => with(Visit { way: &way, symbol }),
                Term::Loop(body) => enter(&mut way, body),
            }
        }
    }

    /// The sequence.
    pub fn sequence(&self) -> Vec<u32> {
        let mut all = Vec::new();
        (0..self.terms.len()).for_each(|place| self.walk(place, |visit| all.push(visit.symbol)));
        all
    }

    fn put(&mut self, term: Term, repeats: Vec<u32>) {
        let place = crate::to_u32(self.terms.len());
        self.places.entry(term).or_default().push(place);
        if let Term::Loop(_) = term {
            self.loops.push(place);
        }
        self.terms.push(term);
        self.repeats.push(repeats);
        let before = self.hashes[self.hashes.len() - 1];
        self.hashes.push((times(before, BASE) + term.hash()) % PRIME);
    }

    /// Takes the last terms away, and returns how these were repeated, one behind the other.
    fn take(&mut self, count: usize) -> Vec<u32> {
        let first = self.terms.len() - count;
        for term in self.terms.drain(first..) {
            self.places.get_mut(&term).and_then(Vec::pop);
            if let Term::Loop(_) = term {
                self.loops.pop();
            }
        }
        self.hashes.truncate(first + 1);
        // A single list is taken as it is: it may be long.
        let mut lists = self.repeats.drain(first..).filter(|list| !list.is_empty());
        let mut all = lists.next().unwrap_or_default();
        lists.for_each(|list| all.extend(list));
        all
    }

    /// The hash of the terms in a range of places.
    fn hash(&mut self, begin: usize, end: usize) -> u64 {
        while self.powers.len() <= end - begin {
            self.powers.push(times(self.powers[self.powers.len() - 1], BASE));
        }
        (self.hashes[end] + PRIME - times(self.hashes[begin], self.powers[end - begin])) % PRIME
    }

    /// Takes the terms behind one of the latest loops into it, if they are its body.
    fn extend(&mut self) -> bool {
        let end = self.terms.len();
        // A loop that is the last term has nothing behind it.
        let behind = self.loops.iter().rev().map(|&place| place as usize).filter(|&place| place + 1 < end);
        let found = behind.take(LOOPS).find(|&place| {
            let Term::Loop(body) = self.terms[place] else { return false };
            self.bodies[body as usize] == self.terms[place + 1..]
        });
        let Some(place) = found else { return false };
        let once = self.take(end - 1 - place);
        let repeats = &mut self.repeats[place];
        repeats[0] = repeats[0].saturating_add(1);
        repeats.extend(once);
        true
    }

    /// Makes a loop of the last terms, if those before are the same; of the shortest such repeat.
    fn repeat(&mut self) -> bool {
        let end = self.terms.len();
        let places = &self.places[&self.terms[end - 1]];
        let candidates: Vec<u32> = places.iter().rev().skip(1).take(PLACES).copied().collect();
        for place in candidates {
            let length = end - 1 - place as usize;
            if 2 * length > end {
                return false;
            }
            let (first, second) = (end - 2 * length, end - length);
            if self.hash(second, end) != self.hash(first, second)
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
                    let place = self.terms.len() - 1;
                    let repeats = &mut self.repeats[place];
                    repeats[0] = repeats[0].saturating_add(2);
                    repeats.extend(both);
                }
                _ => {
                    both.insert(0, 2);
                    self.put(Term::Loop(number), both);
                }
            }
            return true;
        }
        false
    }
}

/// A symbol of a folded sequence, with the loops around it.
pub(crate) struct Visit<'a> {
    pub(crate) way: &'a [Level],
    pub(crate) symbol: u32,
}

/// A loop of a folded sequence that is walked through.
pub(crate) struct Level {
    pub(crate) body: u32,
    /// The place in the body behind the current term.
    pub(crate) at: usize,
    /// Repetitions that are left, with the current one.
    rest: u32,
}

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    // Less than the square of the modulus, so two halves of 61 bits.
    let [low, high] =
        [product & u128::from(PRIME), product >> 61].map(|half| u64::try_from(half).unwrap_or(0));
    (low + high) % PRIME
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
