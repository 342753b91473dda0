//! Who has which bytes of a file.

/// Ranges of bytes, each with its owner. They do not overlap.
#[derive(Clone, Debug)]
pub(crate) struct Owners<T> {
    /// All ranges by their begins, in chunks of at least one and at most [`MOST`]: to put one between others moves few.
    chunks: Vec<Vec<Range<T>>>,
}

/// Where somebody was who goes on near to it: the chunk, and the range there.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Place(usize, usize);

/// So many ranges from a place on are looked at one by one.
const NEAR: usize = 8;

/// A range, from its first byte to what is behind the last one.
#[derive(Clone, Copy, Debug)]
struct Range<T> {
    begin: u64,
    end: u64,
    owner: T,
}

/// Most ranges of a chunk.
const MOST: usize = 256;

impl<T> Default for Owners<T> {
    fn default() -> Owners<T> {
        Owners { chunks: Vec::new() }
    }
}

impl<T: Copy + PartialEq> Owners<T> {
    /// Calls `each` with the parts of a range, cut where owners change, in their order. Whoever asks goes on near to this `place`.
    pub(crate) fn parts(
        &self,
        from: u64,
        to: u64,
        place: &mut Place,
        mut each: impl FnMut(u64, u64, Option<T>),
    ) {
        if from >= to {
            return;
        }
        *place = self.near(from, *place).unwrap_or_else(|| self.find(from));
        let (mut from, Place(at, mut first)) = (from, *place);
        for chunk in self.chunks.get(at..).unwrap_or_default() {
            for it in &chunk[std::mem::take(&mut first)..] {
                if it.begin >= to {
                    break;
                }
                if it.begin > from {
                    each(from, it.begin, None);
                }
                each(it.begin.max(from), it.end.min(to), Some(it.owner));
                from = it.end;
            }
            if chunk.last().is_some_and(|it| it.end >= to) {
                break;
            }
        }
        if from < to {
            each(from, to, None);
        }
    }

    /// Gives a range to an owner, who sets the next one near to this `place`.
    pub(crate) fn set(&mut self, from: u64, to: u64, owner: T, place: &mut Place) {
        if from >= to {
            return;
        }
        *place = self.near(from, *place).unwrap_or_else(|| self.find(from));
        let Place(at, mut first) = *place;
        let new = Range { begin: from, end: to, owner };
        let Some(chunk) = self.chunks.get_mut(at) else { return self.chunks.push(vec![new]) };
        // Most that were there before lie as they lay, or within a range of their owner.
        if let Some(it) = chunk.get_mut(first)
            && it.begin <= from
            && it.end >= to
            && (it.owner == owner || (it.begin, it.end) == (from, to))
        {
            it.owner = owner;
            return;
        }
        // From the first one that it overlaps, or that ends where it begins and is of its owner, up to the last one likewise.
        first -= usize::from(first > 0 && chunk[first - 1].end == from && chunk[first - 1].owner == owner);
        let is_met = |it: &Range<T>| it.begin < to || it.begin == to && it.owner == owner;
        let mut behind = first + chunk[first..].iter().take_while(|it| is_met(it)).count();
        if behind == chunk.len() && self.chunks.get(at + 1).is_some_and(|next| is_met(&next[0])) {
            let reached = self.chunks[at + 1..].partition_point(|chunk| is_met(&chunk[0]));
            let more: Vec<_> = self.chunks.drain(at + 1..=at + reached).flatten().collect();
            let chunk = &mut self.chunks[at];
            chunk.extend(more);
            behind = chunk.partition_point(is_met);
        }
        let chunk = &mut self.chunks[at];
        let (left, new, right) = joined(&chunk[first..behind], new);
        let all = left.into_iter().chain([new]).chain(right);
        match (behind - first, left, right) {
            // Most others follow the range before them, or lie apart from all others.
            (1, None, None) => chunk[first] = new,
            (0, None, None) => chunk.insert(first, new),
            _ => drop(chunk.splice(first..behind, all)),
        }
        if chunk.len() > MOST {
            self.split(at);
        }
    }

    /// The first range that ends behind a byte, if it is near to a place.
    fn near(&self, byte: u64, Place(at, place): Place) -> Option<Place> {
        let chunk = self.chunks.get(at)?;
        let before = chunk.get(place.checked_sub(1)?)?;
        if before.end > byte {
            return None;
        }
        let near = &chunk[place..chunk.len().min(place + NEAR)];
        let next = place + near.iter().position(|it| it.end > byte).unwrap_or(near.len());
        let goes_on = || self.chunks.get(at + 1).is_some_and(|next| next[0].begin <= byte);
        (next < place + near.len() || next == chunk.len() && !goes_on()).then_some(Place(at, next))
    }

    /// The first range that ends behind a byte, or the end of the chunk of the one before it.
    fn find(&self, byte: u64) -> Place {
        let at = self.chunks.partition_point(|chunk| chunk[0].begin <= byte).saturating_sub(1);
        let ranges = self.chunks.get(at).map_or(&[][..], Vec::as_slice);
        Place(at, ranges.partition_point(|it| it.end <= byte))
    }

    /// Cuts a chunk with too many ranges into such that are half full or more.
    fn split(&mut self, at: usize) {
        let chunk = &self.chunks[at];
        let length = chunk.len().div_ceil(chunk.len() / (MOST / 2));
        let parts: Vec<_> = chunk.chunks(length).map(<[_]>::to_vec).collect();
        self.chunks.splice(at..=at, parts);
    }
}

/// A new range in place of some that it overlaps or touches, in their order: what is left of the first one, the new one together with those of
/// its owner, and what is left of the last one.
fn joined<T: Copy + PartialEq>(
    others: &[Range<T>],
    new: Range<T>,
) -> (Option<Range<T>>, Range<T>, Option<Range<T>>) {
    let (mut left, mut right, mut all) = (None, None, new);
    if let Some(first) = others.first().filter(|it| it.begin < new.begin) {
        match first.owner == new.owner {
            true => all.begin = first.begin,
            false => left = Some(Range { end: new.begin, ..*first }),
        }
    }
    if let Some(last) = others.last().filter(|it| it.end > new.end) {
        match last.owner == new.owner {
            true => all.end = last.end,
            false => right = Some(Range { begin: new.end, ..*last }),
        }
    }
    (left, all, right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The owners of bytes, with ranges as they are found.
    fn owner_of(owners: &mut Owners<u8>, byte: u64) -> Option<u8> {
        let mut found = Vec::new();
        owners.parts(byte, byte + 1, &mut Place::default(), |from, to, owner| found.push((from, to, owner)));
        let [(from, to, owner)] = found[..] else { panic!("{found:?}") };
        assert_eq!((from, to), (byte, byte + 1));
        owner
    }

    proptest! {
        #[test]
        fn last_owner_of_each_byte_is_found_in_any_number_of_chunks(
            sets in prop::collection::vec((0..3000_u64, prop_oneof![99 => 1..4_u64, 1 => 1..1000_u64], 0..3_u8), 0..3000),
            asked in prop::collection::vec((0..3500_u64, 0..1000_u64), 20),
        ) {
            let (mut owners, mut plain) = (Owners::default(), vec![None; 5000]);
            // Places of three who take turns, wherever the others have changed something.
            let mut places = [Place::default(); 3];
            for (from, length, owner) in sets {
                owners.set(from, from + length, owner, &mut places[usize::from(owner)]);
                plain[from as usize..(from + length) as usize].fill(Some(owner));
            }
            for chunk in &owners.chunks {
                assert!((1..=MOST).contains(&chunk.len()));
            }
            let all: Vec<_> = owners.chunks.iter().flatten().collect();
            assert!(all.windows(2).all(|pair| pair[0].begin < pair[0].end && pair[0].end <= pair[1].begin));
            for (from, length) in asked {
                let mut next = from;
                owners.parts(from, from + length, &mut places[0], |begin, end, owner| {
                    assert_eq!(begin, next);
                    assert!(begin < end);
                    assert!(plain[begin as usize..end as usize].iter().all(|own| *own == owner));
                    next = end;
                });
                prop_assert_eq!(next, from + length);
            }
            for byte in (0..4500).step_by(7) {
                prop_assert_eq!(owner_of(&mut owners, byte), plain[byte as usize]);
            }
        }
    }

    #[test]
    fn ranges_of_one_owner_are_one_if_they_touch() {
        let (mut owners, mut place) = (Owners::default(), Place::default());
        let mut set = |owners: &mut Owners<()>, from, to| owners.set(from, to, (), &mut place);
        (0..1000).for_each(|at| set(&mut owners, 8 * at, 8 * at + 8));
        (0..1000).rev().for_each(|at| set(&mut owners, 9000 + 8 * at, 9000 + 8 * at + 8));
        set(&mut owners, 4, 40);
        assert_eq!(owners.chunks.iter().map(Vec::len).sum::<usize>(), 2);
        set(&mut owners, 8000, 9000);
        assert_eq!(owners.chunks.iter().map(Vec::len).sum::<usize>(), 1);
    }
}
