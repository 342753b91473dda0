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

/// Last terms of a repeat, of which a hash is kept for each place; and its base, and the power of it that the first one has.
const NEAR: usize = 16;
const NEAR_BASE: u32 = 0x9e37_79b1;
const NEAR_FIRST: u32 = NEAR_BASE.wrapping_pow(15);

/// Modulus and base of the rolling hash of terms.
const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 1_000_003;

/// A term of a folded sequence: a symbol, or a loop by the number of its body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term(u32);

impl Term {
    /// A symbol; there are less than 2^31.
    fn symbol(number: u32) -> Term {
        assert!(number < 1 << 31, "less than 2^31 symbols at a location");
        Term(number << 1)
    }

    /// The loop of a body.
    fn of_body(number: u32) -> Term {
        Term(Term::symbol(number).0 | 1)
    }

    /// Whether it is a symbol.
    pub fn is_symbol(self) -> bool {
        self.0 & 1 == 0
    }

    /// The number of the body of a loop; `None` for a symbol.
    pub fn body(self) -> Option<u32> {
        (!self.is_symbol()).then_some(self.0 >> 1)
    }

    /// The number of the symbol, or of the body.
    pub fn number(self) -> u32 {
        self.0 >> 1
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A folded sequence.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The terms of each body.
    bodies: Vec<Vec<Term>>,
    numbers: FxHashMap<Vec<Term>, u32>,
    terms: Vec<Term>,
    /// By place of a term: what is before it.
    before: Vec<Before>,
    /// By term: its latest place, or [`NO_PLACE`].
    latest: Vec<u32>,
    /// The loops among the terms; and where the terms behind each would end if they were its body once more.
    loops: Vec<LoopTerm>,
    ends: Vec<u32>,
    /// How the loops are repeated, one behind the other: each how often, then for each repetition the same of each loop in it.
    repeats: Vec<u32>,
    /// Hashes of the first terms, by their number, as far as anybody has asked; and powers of the base.
    hashes: Vec<u64>,
    powers: Vec<u64>,
}

/// What is before a term.
#[derive(Clone, Copy, Default, Debug)]
struct Before {
    /// The latest place of the same term, or [`NO_PLACE`].
    same: u32,
    /// Hash of the term and of those before it, [`NEAR`] together.
    near: u32,
}

/// Stands for no place.
const NO_PLACE: u32 = u32::MAX;

/// A loop among the terms of a folded sequence.
#[derive(Clone, Copy, Debug)]
struct LoopTerm {
    place: u32,
    /// Where it begins in the list of repeats.
    repeats: usize,
}

impl Default for Fold {
    fn default() -> Fold {
        Fold {
            bodies: Vec::new(),
            numbers: FxHashMap::default(),
            terms: Vec::new(),
            before: Vec::new(),
            latest: Vec::new(),
            loops: Vec::new(),
            ends: Vec::new(),
            repeats: Vec::new(),
            hashes: vec![0],
            powers: vec![1],
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
        self.put(Term::symbol(symbol));
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
        found.map_or(&[], |at| {
            let end = self.loops.get(at + 1).map_or(self.repeats.len(), |next| next.repeats);
            &self.repeats[self.loops[at].repeats..end]
        })
    }

    /// Number of symbols in a term of the sequence.
    pub fn symbols(&self, place: usize) -> u64 {
        let Some(body) = self.terms[place].body() else { return 1 };
        let body = self.body(body);
        if body.iter().all(|term| term.is_symbol()) {
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
        let mut way = match self.terms[place].body() {
            None => return with(outside, 0, self.terms[place].number()),
            Some(body) => vec![level(outside, body)],
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
            let term = terms[*at - 1];
            match term.body() {
                None => with(*inside, *at - 1, term.number()),
                Some(body) => {
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

    #[inline]
    fn put(&mut self, term: Term) {
        let place = crate::to_u32(self.terms.len());
        if self.latest.len() <= term.index() {
            self.latest.resize(term.index() + 1, NO_PLACE);
        }
        let same = std::mem::replace(&mut self.latest[term.index()], place);
        // The hash of the term before, without the first one of its terms.
        let before = self.before.last().map_or(0, |before| before.near);
        let first = self.terms.len().checked_sub(NEAR).map_or(0, |first| self.terms[first].0 + 1);
        let others = before.wrapping_sub(first.wrapping_mul(NEAR_FIRST)).wrapping_mul(NEAR_BASE);
        self.before.push(Before { same, near: others.wrapping_add(term.0 + 1) });
        self.terms.push(term);
    }

    /// Takes the terms from a place on away. How loops among these are repeated becomes part of the loop before, which a loop of
    /// so many leaves as the last one.
    #[inline]
    fn take(&mut self, first: usize, loops: usize) {
        for place in (first..self.terms.len()).rev() {
            self.latest[self.terms[place].index()] = self.before[place].same;
        }
        self.terms.truncate(first);
        self.before.truncate(first);
        self.hashes.truncate(first + 1);
        self.loops.truncate(loops);
        self.ends.truncate(loops);
    }

    /// The hash of the terms in a range of places.
    fn hash(&mut self, begin: usize, end: usize) -> u64 {
        while self.hashes.len() <= end {
            let term = self.terms[self.hashes.len() - 1];
            let before = self.hashes[self.hashes.len() - 1];
            self.hashes.push(reduced(times(before, BASE) + u64::from(term.0) + 1));
        }
        while self.powers.len() <= end - begin {
            self.powers.push(times(self.powers[self.powers.len() - 1], BASE));
        }
        reduced(self.hashes[end] + PRIME - times(self.hashes[begin], self.powers[end - begin]))
    }

    /// Takes the terms behind one of the latest loops into it, if they are its body.
    #[inline]
    fn extend(&mut self) -> bool {
        let end = crate::to_u32(self.terms.len());
        // A loop that is the last term has nothing behind it.
        let is_last = self.loops.last().is_some_and(|it| it.place + 1 == end);
        let behind = self.loops.len() - usize::from(is_last);
        let latest = behind.saturating_sub(LOOPS);
        // All are compared at once, as hardly ever one ends here.
        if self.ends[latest..behind].iter().fold(true, |none, &it| none & (it != end)) {
            return false;
        }
        for at in (latest..behind).rev().filter(|&at| self.ends[at] == end) {
            let LoopTerm { place, repeats } = self.loops[at];
            let first = place as usize + 1;
            if let Some(body) = self.terms[place as usize].body()
                && self.bodies[body as usize] == self.terms[first..]
            {
                self.take(first, at + 1);
                self.repeats[repeats] = self.repeats[repeats].saturating_add(1);
                return true;
            }
        }
        false
    }

    /// Makes a loop of the last terms, if those before are the same; of the shortest such repeat.
    #[inline]
    fn repeat(&mut self) -> bool {
        let end = self.terms.len();
        let last = self.before[end - 1];
        let mut place = last.same as usize;
        for _ in 0..PLACES {
            // No place is beyond all others.
            let Some(&before) = self.before.get(place) else { return false };
            let length = end - 1 - place;
            if 2 * length > end {
                return false;
            }
            // Most differ in one of the last terms.
            if (length < NEAR || before.near == last.near) && self.is_twice(length) {
                self.join(length);
                return true;
            }
            place = before.same as usize;
        }
        false
    }

    /// Whether the last terms are the same as so many before them.
    #[inline]
    fn is_twice(&mut self, length: usize) -> bool {
        let end = self.terms.len();
        let (first, second) = (end - 2 * length, end - length);
        (length < NEAR || self.hash(second, end) == self.hash(first, second))
            && self.terms[second..] == self.terms[first..second]
    }

    /// Makes a loop of the last terms and as many before, which are the same; or takes both into the same loop before them.
    fn join(&mut self, length: usize) {
        let end = self.terms.len();
        let (first, second) = (end - 2 * length, end - length);
        let body = &self.terms[second..];
        let number = match self.numbers.get(body) {
            Some(&number) => number,
            None => {
                let number = crate::to_u32(self.bodies.len());
                self.bodies.push(body.to_vec());
                self.numbers.insert(body.to_vec(), number);
                number
            }
        };
        let is_before = |it: &LoopTerm| (it.place as usize) < first;
        let loops = self.loops.iter().rposition(is_before).map_or(0, |at| at + 1);
        let repeats = self.loops.get(loops).map_or(self.repeats.len(), |it| it.repeats);
        self.take(first, loops);
        match self.loops.last() {
            Some(before) if self.terms.last() == Some(&Term::of_body(number)) => {
                self.repeats[before.repeats] = self.repeats[before.repeats].saturating_add(2);
            }
            _ => {
                self.repeats.insert(repeats, 2);
                self.loops.push(LoopTerm { place: crate::to_u32(first), repeats });
                self.ends.push(crate::to_u32(first + 1 + length));
                self.put(Term::of_body(number));
            }
        }
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
        let term = |term: &Term| match term.body() {
            None => term.number().to_string(),
            Some(body) => format!("({})", shown(fold, fold.body(body))),
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
