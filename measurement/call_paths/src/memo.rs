//! Memo of unwound stacks: a known path costs a load and a comparison a function.
//!
//! Unwinding is a function that reads words one after the other ([`crate::unwind`]): where the next one is
//! depends on the words before it and on the start (registers, the search), and so does the result. The memo
//! is a prefix tree (trie) of all such reads so far. A lookup descends from its root: the start says where
//! the first word is, and each word's value says where the next one is. At a leaf, unwinding would have read
//! the same words and found the same node. Nothing is assumed of what the words mean or of the frames between
//! them: stale words are only read if unwinding would read them. Words that unwinding does not need
//! (registers that are saved but never used to find a caller) are not in it.
//!
//! The tree is stored as its branches. A branch's key says where it comes off: that of a root is the start,
//! that of any other is the branch that it leaves, the position on that, and the value of the word there. So
//! alternating paths cost one step of a hash table for each position at which they differ, however many they
//! are.
//!
//! Words are in a ring: new ones overwrite old ones, and a branch detects whether its own are still there.

use crate::pages::{Pages, Plain};
use crate::unwind::Word;
use std::io;

/// Branches, a power of two.
const BRANCHES: usize = 4096;
/// Slots behind its hash in which a branch may be.
const WAYS: usize = 4;
/// Words of the native stack that are kept, a power of two.
pub(crate) const WORDS: usize = 64 << 10;

/// The key of a branch: where it comes off. The last word is not 0 in the key of a root, and 0 in that of any
/// other branch.
pub(crate) type BranchKey = [u64; 5];

/// The result of unwinding.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct FoundPath {
    /// The node of the path.
    pub(crate) node: u32,
    /// Words from the stack pointer at the start to that of the innermost function of the path.
    pub(crate) caller: u16,
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Branch {
    key: BranchKey,
    /// Unique among all branches there ever were; 0 for a free slot.
    serial: u64,
    /// Position of the first word in all that were ever written; its place in the ring is the remainder.
    start: u64,
    node: u32,
    caller: u16,
    /// Number of words.
    length: u16,
}

impl Branch {
    #[inline(always)]
    fn answer(&self) -> FoundPath {
        FoundPath { node: self.node, caller: self.caller }
    }
}

// SAFETY: integers; zero is a value of each.
unsafe impl Plain for Branch {}

/// A position where the tree ends, for [`Memo::insert`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeEnd {
    key: BranchKey,
    /// Number of words that lead there.
    words: usize,
}

impl TreeEnd {
    /// Returns the position where a branch is left for another, or would be, at one of its words.
    #[inline(always)]
    fn at(self, branch: &Branch, at: usize, actual: u64) -> Self {
        Self { key: [actual, branch.serial, at as u64, 0, 0], words: self.words + at + 1 }
    }
}

// One cache line.
const _: () = assert!(size_of::<Branch>() == 64);

/// The tree, with a ring of `SIZE` words, a power of two.
pub(crate) struct Memo<const SIZE: usize = WORDS> {
    branches: Pages<Branch>,
    words: Pages<Word>,
    /// Position behind the last word.
    written: u64,
    serial: u64,
}

impl<const SIZE: usize> Memo<SIZE> {
    /// Creates an empty memo.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { branches: Pages::new(BRANCHES)?, words: Pages::new(SIZE)?, written: 0, serial: 0 })
    }

    /// Empties the memo.
    pub(crate) fn forget(&mut self) {
        self.branches.iter_mut().for_each(|branch| branch.serial = 0);
    }

    /// Returns the result of the search with that root, or where the tree ends.
    ///
    /// # Safety
    /// Of every inserted search with the same root, the addresses of all words that it has read must be
    /// readable.
    #[inline(always)]
    pub(crate) unsafe fn find(&self, root: BranchKey) -> Result<FoundPath, TreeEnd> {
        // SAFETY: the caller guarantees it.
        unsafe { self.find_branch(root) }.map(Branch::answer)
    }

    /// Returns the serial number of that result, which no other one has or has had.
    ///
    /// # Safety
    /// As for [`Self::find`].
    #[inline(always)]
    pub(crate) unsafe fn find_number(&self, root: BranchKey) -> Result<u64, TreeEnd> {
        // SAFETY: the caller guarantees it.
        unsafe { self.find_branch(root) }.map(|branch| branch.serial)
    }

    /// Returns the branch that ends with the result.
    ///
    /// # Safety
    /// As for [`Self::find`].
    #[inline(always)]
    unsafe fn find_branch(&self, root: BranchKey) -> Result<&Branch, TreeEnd> {
        let end = TreeEnd { key: root, words: 0 };
        // Nearly always the branch is in the first slot, and its path is the one that is looked for.
        let Some(branch) = self.branch(&root, 0) else {
            // SAFETY: the caller guarantees it.
            return unsafe { self.find_further(end) };
        };
        // SAFETY: the words of branches below this root were inserted for it, and the caller guarantees that
        // those are readable.
        match unsafe { first_difference(self.words_of(branch)) } {
            None => Ok(branch),
            // SAFETY: the caller guarantees it.
            Some((at, actual)) => unsafe { self.find_further(end.at(branch, at, actual)) },
        }
    }

    /// Descends further from a position in the tree.
    ///
    /// # Safety
    /// As for [`Self::find`].
    #[inline(never)]
    unsafe fn find_further(&self, end: TreeEnd) -> Result<&Branch, TreeEnd> {
        // SAFETY: as in `find_branch`.
        self.follow(end, |words| unsafe { first_difference(words) })
    }

    /// As [`Self::find`], for words of which each may be readable only if those before it are unchanged.
    ///
    /// # Safety
    /// The address of a word that an inserted search with the same root has read must be readable if all
    /// words that it had read before still have their values.
    #[inline]
    pub(crate) unsafe fn find_in_order(&self, root: BranchKey) -> Result<FoundPath, TreeEnd> {
        self.follow(TreeEnd { key: root, words: 0 }, |words| {
            words.iter().enumerate().find_map(|(at, word)| {
                // SAFETY: the caller guarantees it, as the words before are unchanged. Volatile keeps the
                // reads in order.
                let actual = unsafe { std::ptr::read_volatile(word.address as *const u64) };
                (actual != word.value).then_some((at, actual))
            })
        })
        .map(Branch::answer)
    }

    /// Descends from a position in the tree; `first_difference` compares the words of a branch with memory.
    #[inline(always)]
    fn follow(
        &self,
        mut end: TreeEnd,
        first_difference: impl Fn(&[Word]) -> Option<(usize, u64)>,
    ) -> Result<&Branch, TreeEnd> {
        loop {
            let Some(branch) = (0..WAYS).find_map(|way| self.branch(&end.key, way)) else { return Err(end) };
            match first_difference(self.words_of(branch)) {
                None => return Ok(branch),
                Some((at, actual)) => end = end.at(branch, at, actual),
            }
        }
    }

    /// Returns the branch with that key, if it is `way` slots behind its hash.
    #[inline(always)]
    fn branch(&self, key: &BranchKey, way: usize) -> Option<&Branch> {
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

    /// Inserts the words and the result of a search where the tree ended. Returns its serial number; 0 if it
    /// is not kept.
    pub(crate) fn insert(&mut self, end: TreeEnd, words: &[Word], answer: FoundPath) -> u64 {
        // The last word that leads to the end is the one in the key; a root has none.
        let leads = end
            .words
            .checked_sub(1)
            .is_none_or(|last| words.get(last).is_some_and(|w| Some(&w.value) == end.key.first()));
        let (true, Some(words)) = (leads, words.get(end.words..)) else { return 0 };
        let Ok(length) = u16::try_from(words.len()) else { return 0 };
        // A branch's words are contiguous.
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
        // If none is free, any will do, but not the same one each time.
        let way = (0..WAYS).find(free).unwrap_or(self.serial as usize % WAYS);
        if let Some(place) = self.branches.get_mut(place(way)) {
            *place = branch;
        }
        self.serial
    }
}

/// Returns the slot of a branch with that key; it may be up to [`WAYS`] − 1 behind.
#[inline(always)]
fn hash(key: &BranchKey) -> usize {
    let [a, b, c, d, e] = *key;
    let mixed = a ^ b.rotate_left(13) ^ c.rotate_left(27) ^ d.rotate_left(41) ^ e.rotate_left(53);
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BRANCHES.ilog2())) as usize
}

/// Whether two keys are equal, without a jump for each of their words.
#[inline(always)]
fn same(one: &BranchKey, other: &BranchKey) -> bool {
    let [a, b, c, d, e] = *one;
    let [v, w, x, y, z] = *other;
    (a ^ v) | (b ^ w) | (c ^ x) | (d ^ y) | (e ^ z) == 0
}

/// Returns the first word with a changed value, and its present value.
///
/// # Safety
/// All addresses must be readable and aligned.
#[inline(always)]
unsafe fn first_difference(words: &[Word]) -> Option<(usize, u64)> {
    // SAFETY: the caller guarantees it; addresses of words are multiples of 8.
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
