//! What a list of requests repeats (io.md 4.3).

use crate::access::Access;
use crate::burst::LONGEST;
use crate::sizes::are_alike;

/// Requests that are of one kind and size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Same {
    pub access: Access,
    /// Bytes of each.
    pub size: u64,
    pub count: u64,
}

impl Same {
    fn can_follow(&self, other: &Same) -> bool {
        self.access == other.access && are_alike(self.size, other.size)
    }
}

/// A piece of the list: a pattern of requests, and how often it comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Repeat {
    /// Requests in the pattern.
    pub length: u64,
    pub times: u64,
}

/// Cuts a list into repeated patterns: from the left what covers most, of equals the shortest.
pub(crate) fn repeats(list: &[Same]) -> Vec<Repeat> {
    let all = list.iter().fold(0_u64, |all, same| all.saturating_add(same.count));
    let mut pairs: Vec<Pairs> = Vec::new();
    let (mut found, mut at, mut here) = (Vec::new(), 0, Cursor { element: 0, inside: 0 });
    while at < all {
        let best = here.alone(list).unwrap_or_else(|| {
            if pairs.is_empty() {
                pairs.extend((1..=LONGEST as u64).filter(|&by| by <= all / 2).map(|by| Pairs::new(list, by)));
            }
            best(list, &mut pairs, at)
        });
        found.push(best);
        here.forward(list, best.length * best.times);
        at += best.length * best.times;
    }
    found
}

/// The pattern that covers most from a place on.
fn best(list: &[Same], pairs: &mut [Pairs], at: u64) -> Repeat {
    let mut best = Repeat { length: 1, times: 1 };
    for pairs in pairs {
        let times = 1 + (pairs.equal_until(list, at) - at) / pairs.by;
        if times > 1 && pairs.by * times > best.length * best.times {
            best = Repeat { length: pairs.by, times };
        }
    }
    best
}

/// A place in the list.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    /// Index of the element.
    element: usize,
    /// Requests of it that are before the place.
    inside: u64,
}

impl Cursor {
    /// Requests of the element from the place on; `None` at the end of the list.
    fn left(self, list: &[Same]) -> Option<u64> {
        list.get(self.element).map(|same| same.count - self.inside)
    }

    /// The rest of the element, if no pattern can cover more: it is not shorter than the longest one, so that what is unlike it behind
    /// it would be compared with it.
    fn alone(self, list: &[Same]) -> Option<Repeat> {
        let left = self.left(list)?;
        let goes_on = list.get(self.element + 1).is_some_and(|next| list[self.element].can_follow(next));
        (left >= LONGEST as u64 && !goes_on).then_some(Repeat { length: 1, times: left })
    }

    fn forward(&mut self, list: &[Same], mut by: u64) {
        while let Some(left) = self.left(list) {
            if by < left {
                self.inside += by;
                return;
            }
            by -= left;
            *self = Cursor { element: self.element + 1, inside: 0 };
        }
    }
}

/// Compares each request with the one that comes so many behind it; goes through the list once.
struct Pairs {
    by: u64,
    at: u64,
    one: Cursor,
    other: Cursor,
}

impl Pairs {
    fn new(list: &[Same], by: u64) -> Pairs {
        let begin = Cursor { element: 0, inside: 0 };
        let mut other = begin;
        other.forward(list, by);
        Pairs { by, at: 0, one: begin, other }
    }

    fn forward(&mut self, list: &[Same], by: u64) {
        self.one.forward(list, by);
        self.other.forward(list, by);
        self.at += by;
    }

    /// The first request from `place` on that is unlike the one behind it. Places never go back.
    fn equal_until(&mut self, list: &[Same], place: u64) -> u64 {
        if let Some(skipped) = place.checked_sub(self.at) {
            self.forward(list, skipped);
        }
        while let (Some(left), Some(other_left)) = (self.one.left(list), self.other.left(list))
            && list[self.one.element].can_follow(&list[self.other.element])
        {
            self.forward(list, left.min(other_left));
        }
        self.at.max(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Kind;
    use crate::tests::access;
    use proptest::prelude::*;

    /// Reads and writes of 8 bytes; a digit is the size of a write.
    fn found(text: &str) -> String {
        let same = |letter: char| Same {
            access: access(if letter == 'R' { Kind::Read } else { Kind::Write }),
            size: letter.to_digit(10).map_or(8, u64::from),
            count: 1,
        };
        let list: Vec<Same> = text.chars().map(same).collect();
        let shown = |repeat: &Repeat| format!("{}x{}", repeat.length, repeat.times);
        let each = repeats(&list).iter().map(shown).collect::<Vec<_>>().join(" ");
        // Equal ones that follow each other may be one element.
        let mut joined: Vec<Same> = Vec::new();
        for same in list {
            match joined.last_mut() {
                Some(last) if (last.access, last.size) == (same.access, same.size) => last.count += 1,
                _ => joined.push(same),
            }
        }
        assert_eq!(repeats(&joined).iter().map(shown).collect::<Vec<_>>().join(" "), each);
        each
    }

    #[test]
    fn what_covers_most_is_taken_from_the_left() {
        assert_eq!(found("WWWRRR"), "1x3 1x3");
        assert_eq!(found("WRWRWR"), "2x3");
        assert_eq!(found("WRRWRRW"), "3x2 1x1");
        assert_eq!(found("WWRWRWR"), "1x2 2x2 1x1");
        assert_eq!(found("WRWWRWWWW"), "3x2 1x3");
        assert_eq!(found("456"), "1x3");
        assert_eq!(found("457"), "1x2 1x1");
        assert_eq!(found("W"), "1x1");
        assert_eq!(found(""), "");
    }

    #[test]
    fn patterns_have_at_most_16_requests() {
        let pattern = |length: usize| format!("{}R", "W".repeat(length - 1)).repeat(2);
        assert_eq!(found(&pattern(16)), "16x2");
        assert_eq!(found(&pattern(17)), "1x16 1x1 1x16 1x1");
    }

    #[test]
    fn long_loops_are_not_walked_one_by_one() {
        let list = [(8, 1 << 40), (80, 1), (8, 1 << 40)];
        let list = list.map(|(size, count)| Same { access: access(Kind::Write), size, count });
        let [first, alone, last] = repeats(&list)[..] else { panic!("not three") };
        assert_eq!((first.times, alone.times, last.times), (1 << 40, 1, 1 << 40));
    }

    proptest! {
        #[test]
        fn long_elements_are_what_all_patterns_say(all in prop::collection::vec((0..4_u64, prop_oneof![1..4_u64, 14..40_u64]), 0..6)) {
            let mut list: Vec<Same> = Vec::new();
            for (size, count) in all {
                let same = Same { access: access(Kind::Write), size: [8, 10, 12, 40][size as usize], count };
                match list.last_mut() {
                    Some(last) if last.size == same.size => last.count += count,
                    _ => list.push(same),
                }
            }
            let all: u64 = list.iter().map(|same| same.count).sum();
            let mut pairs: Vec<Pairs> = (1..=16).filter(|by| *by <= all / 2).map(|by| Pairs::new(&list, by)).collect();
            let (mut plain, mut at) = (Vec::new(), 0);
            while at < all {
                plain.push(best(&list, &mut pairs, at));
                at += plain.last().map_or(1, |it| it.length * it.times);
            }
            prop_assert_eq!(repeats(&list), plain);
        }
    }
}
