//! Remembers what unwinding has found, so that a path that is known costs a load and a comparison a function.
//!
//! Unwinding is a function that reads words one after the other ([`crate::unwind`]): where the next one is depends on
//! the words before it and on the beginning (registers, what was asked for), and so does the answer. The memo is the
//! tree of all such readings so far. To look something up is to go through it from its root: the beginning says where
//! the first word is, and each word's value says where the next one is. If one arrives at an end, unwinding would have
//! read the same words and found the same node. Nothing is assumed of what the words mean or of the frames between
//! them: words that lie unchanged where something else has been since are only read if unwinding would read them.
//! Words that unwinding does not need (registers that are saved but never used to find a caller) are not in it.
//!
//! The tree is stored as its branches. A branch's key says where it comes off: a root's is the beginning, any other's
//! is the branch that it leaves, the place on that, and the value of the word there. So alternating paths cost one step
//! of a hash table for each place at which they differ, however many they are.
//!
//! Words are in a ring: old ones are overwritten by new ones, and branches know whether theirs are still there.

use crate::pages::{Pages, Plain};
use crate::unwind::Word;
use std::io;

/// Branches, a power of two.
const BRANCHES: usize = 4096;
/// Branches of one key are at most this far from where its hash says.
const WAYS: usize = 4;
/// Words of the machine's stack that are kept, a power of two.
pub(crate) const WORDS: usize = 64 << 10;

/// Where a branch comes off. The last of a root's words is not 0, that of any other branch is.
pub(crate) type Key = [u64; 5];

/// What unwinding has found.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    /// The node.
    pub(crate) node: u32,
    /// From the stack pointer in the beginning to that of the innermost function of the path, in words.
    pub(crate) caller: u16,
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Branch {
    key: Key,
    /// No other branch has ever had it; 0 for none.
    serial: u64,
    /// Position of the first word, counted on and on; in the ring it is the remainder.
    start: u64,
    node: u32,
    caller: u16,
    /// Number of words.
    length: u16,
}

impl Branch {
    #[inline(always)]
    fn answer(&self) -> Answer {
        Answer { node: self.node, caller: self.caller }
    }
}

// SAFETY: numbers.
unsafe impl Plain for Branch {}

/// A place where the tree ends, for [`Memo::insert`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    key: Key,
    /// Number of words that lead there.
    words: usize,
}

impl End {
    /// Where a branch is left for another, or would be, at one of its words.
    #[inline(always)]
    fn at(self, branch: &Branch, at: usize, actual: u64) -> Self {
        Self { key: [actual, branch.serial, at as u64, 0, 0], words: self.words + at + 1 }
    }
}

// A line of the processor's cache.
const _: () = assert!(size_of::<Branch>() == 64);

/// The tree, with so many words, a power of two.
pub(crate) struct Memo<const SIZE: usize = WORDS> {
    branches: Pages<Branch>,
    words: Pages<Word>,
    /// Position behind the last word.
    written: u64,
    serial: u64,
}

impl<const SIZE: usize> Memo<SIZE> {
    /// An empty one.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { branches: Pages::new(BRANCHES)?, words: Pages::new(SIZE)?, written: 0, serial: 0 })
    }

    /// Makes it empty.
    pub(crate) fn forget(&mut self) {
        self.branches.iter_mut().for_each(|branch| branch.serial = 0);
    }

    /// What unwinding has found before, or where the tree ends.
    ///
    /// # Safety
    /// For every search with the same root as one of those whose words were inserted, the addresses of all words that
    /// it has read must be readable.
    #[inline(always)]
    pub(crate) unsafe fn find(&self, root: Key) -> Result<Answer, End> {
        // SAFETY: the caller's.
        unsafe { self.find_branch(root) }.map(Branch::answer)
    }

    /// The number of that answer: no other one has it, nor had it before.
    ///
    /// # Safety
    /// As for [`Self::find`].
    #[inline(always)]
    pub(crate) unsafe fn find_number(&self, root: Key) -> Result<u64, End> {
        // SAFETY: the caller's.
        unsafe { self.find_branch(root) }.map(|branch| branch.serial)
    }

    /// The branch that ends in the answer.
    ///
    /// # Safety
    /// As for [`Self::find`].
    #[inline(always)]
    unsafe fn find_branch(&self, root: Key) -> Result<&Branch, End> {
        let end = End { key: root, words: 0 };
        // Nearly always it is where the hash says, and its path is the one that is looked for.
        let Some(branch) = self.branch(&root, 0) else {
            // SAFETY: the caller's.
            return unsafe { self.find_further(end) };
        };
        // SAFETY: the caller's.
        match unsafe { first_difference(self.words_of(branch)) } {
            None => Ok(branch),
            // SAFETY: the caller's.
            Some((at, actual)) => unsafe { self.find_further(end.at(branch, at, actual)) },
        }
    }

    /// Goes on from a place in the tree.
    ///
    /// # Safety
    /// As for [`Self::find`].
    #[inline(never)]
    unsafe fn find_further(&self, end: End) -> Result<&Branch, End> {
        // SAFETY: the caller's.
        self.follow(end, |words| unsafe { first_difference(words) })
    }

    /// The same as [`Self::find`] for words of which each may be readable only if those before it are what they were.
    ///
    /// # Safety
    /// The address of a word that a search with the same root has read must be readable if all words that it had read
    /// before have their values still.
    #[inline]
    pub(crate) unsafe fn find_in_order(&self, root: Key) -> Result<Answer, End> {
        self.follow(End { key: root, words: 0 }, |words| {
            words.iter().enumerate().find_map(|(at, word)| {
                // SAFETY: the caller's, as the words before are as they were. Volatile: not before those.
                let actual = unsafe { std::ptr::read_volatile(word.address as *const u64) };
                (actual != word.value).then_some((at, actual))
            })
        })
        .map(Branch::answer)
    }

    /// Goes through the tree from a place on.
    #[inline(always)]
    fn follow(
        &self,
        mut end: End,
        first_difference: impl Fn(&[Word]) -> Option<(usize, u64)>,
    ) -> Result<&Branch, End> {
        loop {
            let Some(branch) = (0..WAYS).find_map(|way| self.branch(&end.key, way)) else { return Err(end) };
            match first_difference(self.words_of(branch)) {
                None => return Ok(branch),
                Some((at, actual)) => end = end.at(branch, at, actual),
            }
        }
    }

    /// The branch with that key, if it is that many places from where its hash says.
    #[inline(always)]
    fn branch(&self, key: &Key, way: usize) -> Option<&Branch> {
        let branch = self.branches.get((hash(key) + way) & (BRANCHES - 1))?;
        (same(&branch.key, key) && branch.serial != 0 && self.has_words(branch)).then_some(branch)
    }

    /// Whether the words of a branch have not been overwritten.
    #[inline(always)]
    fn has_words(&self, branch: &Branch) -> bool {
        self.written - branch.start <= SIZE as u64
    }

    #[inline(always)]
    fn words_of(&self, branch: &Branch) -> &[Word] {
        let start = branch.start as usize & (SIZE - 1);
        self.words.get(start..start + usize::from(branch.length)).unwrap_or_default()
    }

    /// Adds what unwinding has read and found, where the tree ended. Answers the answer's number; 0 if it is not kept.
    pub(crate) fn insert(&mut self, end: End, words: &[Word], answer: Answer) -> u64 {
        // The last word that leads to the end is the one in the key; roots have none.
        let leads = end
            .words
            .checked_sub(1)
            .is_none_or(|last| words.get(last).is_some_and(|w| Some(&w.value) == end.key.first()));
        let (true, Some(words)) = (leads, words.get(end.words..)) else { return 0 };
        let Ok(length) = u16::try_from(words.len()) else { return 0 };
        // A branch's words are in one piece.
        let mut start = self.written;
        if (start as usize & (SIZE - 1)) + words.len() > SIZE {
            start = start.next_multiple_of(SIZE as u64);
        }
        let Some(place) = self.words.get_mut(start as usize & (SIZE - 1)..) else { return 0 };
        let Some(place) = place.get_mut(..words.len()) else { return 0 };
        place.copy_from_slice(words);
        self.written = start + words.len() as u64;
        self.serial += 1;
        let branch = Branch {
            key: end.key,
            serial: self.serial,
            start,
            node: answer.node,
            caller: answer.caller,
            length,
        };
        let place = |way| (hash(&end.key) + way) & (BRANCHES - 1);
        let free = |way: &usize| {
            let old = self.branches.get(place(*way));
            old.is_some_and(|old| old.serial == 0 || old.key == end.key || !self.has_words(old))
        };
        // If none is free, any will do: which one must not be the same each time.
        let way = (0..WAYS).find(free).unwrap_or(self.serial as usize % WAYS);
        if let Some(place) = self.branches.get_mut(place(way)) {
            *place = branch;
        }
        self.serial
    }
}

/// Where a branch with that key is, or at most [`WAYS`] behind.
#[inline(always)]
fn hash(key: &Key) -> usize {
    let [a, b, c, d, e] = *key;
    let mixed = a ^ b.rotate_left(13) ^ c.rotate_left(27) ^ d.rotate_left(41) ^ e.rotate_left(53);
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BRANCHES.ilog2())) as usize
}

/// Whether two keys are the same, without a jump for each of their words.
#[inline(always)]
fn same(one: &Key, other: &Key) -> bool {
    let [a, b, c, d, e] = *one;
    let [v, w, x, y, z] = *other;
    (a ^ v) | (b ^ w) | (c ^ x) | (d ^ y) | (e ^ z) == 0
}

/// The first word whose value is another now, and that value.
///
/// # Safety
/// All addresses must be readable.
#[inline(always)]
unsafe fn first_difference(words: &[Word]) -> Option<(usize, u64)> {
    // SAFETY: the caller's.
    let actual = |word: &Word| unsafe { std::ptr::read_volatile(word.address as *const u64) };
    let (blocks, rest) = words.as_chunks::<4>();
    // One jump for four words.
    let differs =
        |block: &[Word; 4]| block.iter().fold(0, |all, word| all | (actual(word) ^ word.value)) != 0;
    let begin = match blocks.iter().position(differs) {
        Some(block) => block * 4,
        None => words.len() - rest.len(),
    };
    for (at, word) in words.iter().enumerate().skip(begin) {
        let actual = actual(word);
        if actual != word.value {
            return Some((at, actual));
        }
    }
    None
}

#[cfg(test)]
#[path = "memo_tests.rs"]
mod tests;
