//! Tests of the memo of stacks.

use super::*;

/// A made-up stack, and the memo of what was read from it.
struct Readings {
    memo: Memo,
    stack: Vec<u64>,
}

impl Readings {
    fn new(size: usize) -> Self {
        Self { memo: Memo::new().unwrap(), stack: vec![0; size] }
    }

    fn word(&self, at: usize) -> Word {
        Word { address: &raw const self.stack[at] as u64, value: self.stack[at] }
    }

    fn find(&self, root: BranchKey) -> Option<u32> {
        // SAFETY: all addresses are in the vector, which is not resized.
        unsafe { self.memo.find(root) }.ok().map(|answer| answer.node)
    }

    /// Inserts a search that has read the words in these places.
    fn insert(&mut self, root: BranchKey, places: &[usize], node: u32) {
        let words: Vec<Word> = places.iter().map(|at| self.word(*at)).collect();
        // SAFETY: as above.
        let end = unsafe { self.memo.find(root) }.expect_err("it is known already");
        self.memo.insert(end, &words, FoundPath { node, caller: 0 });
    }
}

const ROOT: BranchKey = [1, 2, 3, 4, 1 << 63];

#[test]
fn what_was_read_is_found_as_long_as_it_would_be_read_again() {
    let mut readings = Readings::new(8);
    assert_eq!(readings.find(ROOT), None);
    readings.stack = vec![10, 11, 12, 13, 14, 15, 16, 17];
    readings.insert(ROOT, &[0, 2, 4], 1);
    assert_eq!(readings.find(ROOT), Some(1));
    readings.stack[1] = 99;
    assert_eq!(readings.find(ROOT), Some(1), "never read");
    readings.stack[2] = 20;
    assert_eq!(readings.find(ROOT), None);
    // From there on other places are read.
    readings.insert(ROOT, &[0, 2, 5, 6], 2);
    assert_eq!(readings.find(ROOT), Some(2));
    readings.stack[4] = 99;
    assert_eq!(readings.find(ROOT), Some(2));
    readings.stack[2] = 12;
    assert_eq!(readings.find(ROOT), None, "now that is read again, and it is another");
    readings.stack[4] = 14;
    assert_eq!(readings.find(ROOT), Some(1));
    assert_eq!(readings.find([1, 2, 3, 5, 1 << 63]), None);
    readings.memo.forget();
    assert_eq!(readings.find(ROOT), None);
}

#[test]
fn a_reading_may_have_no_words() {
    let mut readings = Readings::new(1);
    readings.insert(ROOT, &[], 5);
    assert_eq!(readings.find(ROOT), Some(5));
}

#[test]
fn a_difference_in_any_place_is_noticed() {
    let places: Vec<usize> = (0..23).collect();
    let mut readings = Readings::new(23);
    readings.insert(ROOT, &places, 0);
    for at in 0..23 {
        readings.stack[at] = 1;
        assert_eq!(readings.find(ROOT), None, "{at}");
        readings.insert(ROOT, &places, at as u32 + 1);
        assert_eq!(readings.find(ROOT), Some(at as u32 + 1));
        readings.stack[at] = 0;
        assert_eq!(readings.find(ROOT), Some(0));
    }
}

#[test]
fn what_does_not_fit_any_more_is_forgotten_but_nothing_is_mistaken() {
    // More branches and more words than there is space for.
    let (roots, length) = (10_000, 30);
    let mut readings = Readings::new(length);
    let places: Vec<usize> = (0..length).collect();
    let root = |i: u64| [i * 16, 7, u64::MAX, 3, 1 << 63];
    for round in 0..2 {
        for i in 0..roots {
            readings.stack.fill(i);
            match readings.find(root(i)) {
                Some(node) => assert_eq!(u64::from(node), i),
                None => readings.insert(root(i), &places, i as u32),
            }
            assert_eq!(readings.find(root(i)), Some(i as u32), "the last one is there in round {round}");
        }
    }
    let kept = (0..roots).filter(|i| {
        readings.stack.fill(*i);
        readings.find(root(*i)).is_some()
    });
    assert!((500..=WORDS / length).contains(&kept.count()));
}

#[test]
fn words_that_follow_a_difference_are_not_read() {
    let mut readings = Readings::new(2);
    readings.stack = vec![5, 6];
    let (first, second) = (readings.word(0), Word { address: 8, value: 7 });
    // SAFETY: the tree is empty, so nothing is read.
    let end = unsafe { readings.memo.find_in_order(ROOT) }.unwrap_err();
    let serial = readings.memo.insert(end, &[first, second], FoundPath { node: 3, ..FoundPath::default() });
    readings.stack[0] = 50;
    // SAFETY: the first word has changed, so the second one, which is not readable, is not read.
    let end = unsafe { readings.memo.find_in_order(ROOT) }.unwrap_err();
    let first = readings.word(0);
    let other = readings.memo.insert(end, &[first], FoundPath { node: 4, ..FoundPath::default() });
    // SAFETY: as above.
    let found = unsafe { readings.memo.find_in_order(ROOT) }.unwrap();
    assert_eq!(found.node, 4);
    assert!(serial != 0 && other != 0 && other != serial);
}
