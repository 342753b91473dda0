//! Views: from what a rank sees of a file to where it is (io.md 2.4).

use smallvec::SmallVec;

use crate::datatype::{Datatype, Piece};
use crate::finding::Finding;
use crate::numbers::{divided, offset, to_u64};

/// What was recorded of a call that sets a view.
#[derive(Clone, Copy, Default, Debug)]
pub struct SetView<'a> {
    /// Displacement in bytes.
    pub displacement: u64,
    /// Bytes of the etype; `None` if unknown.
    pub etype: Option<u64>,
    /// Bytes of the filetype without holes.
    pub size: Option<u64>,
    /// Bytes from one filetype to the next.
    pub extent: Option<u64>,
    /// Pieces without holes of the filetype.
    pub pieces: Option<u64>,
    /// The filetype as text (see [`Datatype::parse`]).
    pub text: Option<&'a str>,
}

/// Offset and length in bytes of each piece of a request in the file. Most requests have one, and there may be millions.
pub type Pieces = SmallVec<[(u64, u64); 1]>;

/// Most pieces that are made of one request.
const MOST: usize = 1 << 20;

/// Where the bytes that a rank sees of a file are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    displacement: u64,
    etype: u64,
    shape: Shape,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Shape {
    /// All bytes.
    Bytes,
    /// Pieces of a filetype, and how many bytes are in those before each.
    Pieces { pieces: Vec<Piece>, before: Vec<i128>, size: i128, extent: i128, is_rising: bool },
    /// A filetype of which only size and extent are known.
    Numbers { size: i128, extent: i128 },
    /// Nothing is known.
    Unknown,
}

/// Where a request is in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// First byte; `None` if unknown.
    pub first: Option<u64>,
    /// Bytes from the first one to the last one; an estimate where only size and extent of the view are known.
    pub length: u64,
}

impl View {
    /// All bytes, which a file is opened with.
    pub fn bytes() -> View {
        View { displacement: 0, etype: 1, shape: Shape::Bytes }
    }

    /// A view as it was recorded, and what is wrong with that. The extent that was recorded is taken before that of the text, as MPI
    /// libraries may align structs.
    pub fn new(set: &SetView) -> (View, Option<Finding>) {
        let view = |shape| View { displacement: set.displacement, etype: set.etype.unwrap_or(0), shape };
        if set.etype.is_none_or(|etype| etype == 0) {
            return (view(Shape::Unknown), Some(Finding::UnknownEtype));
        }
        let numbers = || match (set.size, set.extent) {
            (Some(size), Some(extent)) if size == extent && set.pieces == Some(1) => Shape::Bytes,
            (Some(size), Some(extent)) => Shape::Numbers { size: size.into(), extent: extent.into() },
            _ => Shape::Unknown,
        };
        let made = match set.text.map(Datatype::parse) {
            None => return (view(numbers()), None),
            Some(Err(_)) => return (view(numbers()), Some(Finding::BadViewType)),
            Some(Ok(made)) => made,
        };
        let (size, extent) = (made.size, set.extent.map_or(made.extent(), i128::from));
        let finding =
            set.size.is_some_and(|recorded| i128::from(recorded) != size).then_some(Finding::BadViewType);
        match made.pieces {
            None => (view(Shape::Numbers { size, extent }), finding.or(Some(Finding::TooManyPieces))),
            Some(pieces) => (view(shape(pieces, size, extent)), finding),
        }
    }

    /// Bytes of the etype, in which offsets are counted; `None` if unknown.
    pub fn etype(&self) -> Option<u64> {
        (self.etype > 0).then_some(self.etype)
    }

    /// Where a request is in the file.
    pub(crate) fn place(&self, at: u64, size: u64) -> Place {
        let (from, count) = (i128::from(at), i128::from(size));
        let bounds = match &self.shape {
            Shape::Bytes => Some((from, from.saturating_add(count))),
            Shape::Pieces { is_rising: true, .. } if size > 0 => self
                .position(from)
                .zip(self.position(from.saturating_add(count) - 1))
                .map(|(low, high)| (low, high + 1)),
            Shape::Pieces { .. } if size > 0 => self.bounds(from, count),
            Shape::Pieces { .. } => self.position(from).map(|at| (at, at)),
            Shape::Numbers { size, extent } => {
                let length = count.saturating_mul(*extent).checked_div(*size).unwrap_or(count);
                return Place { first: None, length: to_u64(length.max(count).unsigned_abs()) };
            }
            Shape::Unknown => None,
        };
        let place = bounds.and_then(|(low, high)| {
            let displacement = i128::from(self.displacement);
            let (first, end) =
                (offset(low.checked_add(displacement)?)?, offset(high.checked_add(displacement)?)?);
            Some(Place { first: Some(first), length: end.saturating_sub(first) })
        });
        place.unwrap_or(Place { first: None, length: size })
    }

    /// Where a request is in the file; makes `found` its pieces there, offset and length of each, in the order of the view; none if they
    /// are unknown or too many.
    pub(crate) fn through(&self, at: u64, size: u64, found: &mut Pieces) -> Place {
        found.clear();
        if let Shape::Bytes = self.shape
            && let Some(first) = offset(i128::from(at) + i128::from(self.displacement))
            && offset(i128::from(first) + i128::from(size)).is_some()
        {
            found.extend((size > 0).then_some((first, size)));
            return Place { first: Some(first), length: size };
        }
        if self.add_small_pieces(at, size, found).is_none() {
            found.clear();
            if self.add_pieces(at, size, found).is_none() {
                found.clear();
            }
        }
        if let Shape::Pieces { is_rising: true, .. } = self.shape
            && let (Some(&(first, _)), Some(&(last, length))) = (found.first(), found.last())
            && let Some(end) = offset(i128::from(last) + i128::from(length))
        {
            return Place { first: Some(first), length: end - first };
        }
        self.place(at, size)
    }

    /// Adds the pieces of a request if those of the view rise, and all places lie below 2^62, as nearly all do: then this is much faster.
    fn add_small_pieces(&self, at: u64, size: u64, found: &mut Pieces) -> Option<()> {
        let Shape::Pieces { pieces, before, size: of_tile, extent, is_rising: true } = &self.shape else {
            return None;
        };
        let (of_tile, extent) = (small(*of_tile)?, small(*extent)?);
        small(pieces.first()?.0)?;
        let (last, length) = pieces.last()?;
        let end = at.checked_add(size)?.checked_div(of_tile)?.checked_mul(extent)?;
        small(i128::from(end) + i128::from(self.displacement) + last + length)?;
        let mut rest = i128::from(at % of_tile);
        let mut next = before.partition_point(|&before| before <= rest).checked_sub(1)?;
        rest -= before[next];
        let mut skip = small(rest)?;
        let (mut tile, mut left) = (self.displacement + at / of_tile * extent, size);
        while left > 0 {
            let (begin, length) = (small(pieces[next].0)?, small(pieces[next].1)?);
            let (place, part) = (tile + begin + skip, (length - skip).min(left));
            append(found, place, part)?;
            (left, skip, next) = (left - part, 0, next + 1);
            if next == pieces.len() {
                (tile, next) = (tile + extent, 0);
            }
        }
        Some(())
    }

    fn add_pieces(&self, at: u64, size: u64, found: &mut Pieces) -> Option<()> {
        let displacement = i128::from(self.displacement);
        let mut add =
            |at: i128, length: i128| append(found, offset(at.checked_add(displacement)?)?, offset(length)?);
        match &self.shape {
            Shape::Bytes => add(at.into(), size.into()),
            Shape::Pieces { pieces, extent, .. } => {
                let (mut tile, mut next, mut skip) = self.split(at.into())?;
                let mut left = i128::from(size);
                while left > 0 {
                    let (begin, length) = pieces[next];
                    let part = (length - skip).min(left);
                    add(tile.checked_add(begin)?.checked_add(skip)?, part)?;
                    (left, skip, next) = (left - part, 0, next + 1);
                    if next == pieces.len() {
                        (tile, next) = (tile.checked_add(*extent)?, 0);
                    }
                }
                Some(())
            }
            Shape::Numbers { .. } | Shape::Unknown => None,
        }
    }

    fn extent(&self) -> i128 {
        match &self.shape {
            Shape::Pieces { extent, .. } | Shape::Numbers { extent, .. } => *extent,
            Shape::Bytes | Shape::Unknown => 0,
        }
    }

    /// Begin of the tile of a byte, index of its piece, and where it is in that.
    fn split(&self, at: i128) -> Option<(i128, usize, i128)> {
        let Shape::Pieces { before, size, extent, .. } = &self.shape else { return None };
        let (tile, rest) = divided(at, *size)?;
        let piece = before.partition_point(|&before| before <= rest).checked_sub(1)?;
        Some((tile.checked_mul(*extent)?, piece, rest - before[piece]))
    }

    /// Where a byte is, without the displacement.
    fn position(&self, at: i128) -> Option<i128> {
        let Shape::Pieces { pieces, .. } = &self.shape else { return None };
        let (tile, piece, rest) = self.split(at)?;
        tile.checked_add(pieces[piece].0)?.checked_add(rest)
    }

    /// The first byte and that behind the last one of a request through pieces that do not rise.
    fn bounds(&self, at: i128, count: i128) -> Option<(i128, i128)> {
        let Shape::Pieces { pieces, before, size, .. } = &self.shape else { return None };
        let (first, end) = (at.checked_div(*size)?, at.checked_add(count)?);
        let last = (end - 1).checked_div(*size)?;
        let mut found: Option<(i128, i128)> = None;
        // Tiles between are between those next to the first and the last one.
        let mut tiles = vec![first, first.saturating_add(1).min(last), (last - 1).max(first), last];
        tiles.dedup();
        for tile in tiles {
            let begin = tile.checked_mul(*size)?;
            let place = tile.checked_mul(self.extent())?;
            for (&(piece, length), &before) in pieces.iter().zip(before) {
                let from = (at - begin - before).clamp(0, length);
                let to = (end - begin - before).clamp(0, length);
                if from < to {
                    let low = place.checked_add(piece)?;
                    let (low, high) = (low.checked_add(from)?, low.checked_add(to)?);
                    found = Some(found.map_or((low, high), |(least, most)| (least.min(low), most.max(high))));
                }
            }
        }
        found
    }
}

/// Adds a piece behind others, with the last of which it is one where it follows that; `None` if there are too many.
fn append(found: &mut Pieces, at: u64, length: u64) -> Option<()> {
    match found.last_mut() {
        Some((begin, before)) if begin.checked_add(*before) == Some(at) => *before += length,
        _ if length > 0 => found.push((at, length)),
        _ => {}
    }
    (found.len() <= MOST).then_some(())
}

/// A number below 2^62 as one of 64 bits.
fn small(number: i128) -> Option<u64> {
    u64::try_from(number).ok().filter(|number| *number < 1 << 62)
}

fn shape(pieces: Vec<Piece>, size: i128, extent: i128) -> Shape {
    if let [(0, length)] = pieces[..]
        && length == extent
    {
        return Shape::Bytes;
    }
    let mut before = Vec::with_capacity(pieces.len());
    let mut sum = 0;
    for (_, length) in &pieces {
        before.push(sum);
        sum += length;
    }
    let ends = pieces.iter().map(|(at, length)| at.saturating_add(*length));
    let starts = pieces.iter().skip(1).chain(pieces.first()).map(|(at, _)| *at);
    let count = pieces.len();
    // The first piece of the next tile comes behind the last one of this.
    let is_rising = ends
        .zip(starts)
        .enumerate()
        .all(|(at, (end, next))| end <= if at + 1 == count { next.saturating_add(extent) } else { next });
    Shape::Pieces { pieces, before, size, extent, is_rising }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::join;
    use proptest::prelude::*;

    fn pieces(view: &View, at: u64, size: u64) -> Pieces {
        let mut found = Pieces::new();
        assert_eq!(view.through(at, size, &mut found), view.place(at, size));
        found
    }

    fn view(displacement: u64, text: &str) -> View {
        let (view, finding) =
            View::new(&SetView { displacement, etype: Some(1), text: Some(text), ..SetView::default() });
        assert_eq!(finding, None);
        view
    }

    #[test]
    fn bytes_go_through_tiles() {
        let view = view(100, "r(0,64,x(16@0,16@40;b1))");
        assert_eq!(pieces(&view, 24, 20)[..], [(148, 8), (164, 12)]);
        assert_eq!(view.place(24, 20), Place { first: Some(148), length: 28 });
        assert_eq!(view.place(33, 0), Place { first: Some(165), length: 0 });
    }

    #[test]
    fn pieces_that_fall_or_overlap_have_bounds() {
        for text in ["x(4@8,4@0;b1)", "x(4@0,4@2;b1)", "r(0,-16,x(4@8,4@0;b1))", "r(0,2,b4)"] {
            let view = view(1000, text);
            for (at, size) in (0..24).flat_map(|at| (1..40).map(move |size| (at, size))) {
                let pieces = pieces(&view, at, size);
                let first = pieces.iter().map(|piece| piece.0).min().unwrap();
                let end = pieces.iter().map(|piece| piece.0 + piece.1).max().unwrap();
                assert_eq!(
                    view.place(at, size),
                    Place { first: Some(first), length: end - first },
                    "{text} {at} {size}"
                );
                assert_eq!(pieces.iter().map(|piece| piece.1).sum::<u64>(), size);
            }
        }
    }

    proptest! {
        #[test]
        fn small_numbers_say_what_large_ones_say(
            pieces in prop::collection::vec((0..3_u64, 0..9_u64), 1..5), hole in -3..3_i64, displacement in prop_oneof![0..99_u64, Just(u64::MAX >> 2)],
            at in prop_oneof![0..200_u64, Just(1 << 61)], size in 0..200_u64,
        ) {
            let (mut list, mut place) = (Vec::new(), 0);
            for (gap, length) in pieces {
                list.push((i128::from(place + gap), i128::from(length)));
                place += gap + length;
            }
            let bytes = list.iter().map(|(_, length)| length).sum();
            let view = View { displacement, etype: 1, shape: shape(list, bytes, i128::from(place) + i128::from(hole)) };
            let (mut small, mut large) = (Pieces::new(), Pieces::new());
            let is_known = view.add_pieces(at, size, &mut large).is_some();
            if view.add_small_pieces(at, size, &mut small).is_some() {
                prop_assert!(is_known);
                prop_assert_eq!(small, large);
            }
        }
    }

    #[test]
    fn numbers_alone_tell_of_holes() {
        let set = SetView {
            etype: Some(8),
            size: Some(16),
            extent: Some(64),
            pieces: Some(2),
            ..SetView::default()
        };
        let place = View::new(&set).0.place(0, 32);
        assert_eq!(place, Place { first: None, length: 128 });
        let set = SetView { size: Some(64), pieces: Some(1), displacement: 8, ..set };
        assert_eq!(View::new(&set).0.place(8, 32), Place { first: Some(16), length: 32 });
    }

    #[test]
    fn what_is_wrong_is_told() {
        let set = SetView { etype: Some(8), ..SetView::default() };
        let finding = |set| View::new(&set).1;
        assert_eq!(finding(SetView { text: Some("z"), ..set }), Some(Finding::BadViewType));
        assert_eq!(finding(SetView { text: Some("b8"), size: Some(9), ..set }), Some(Finding::BadViewType));
        assert_eq!(finding(SetView { text: Some("v(5000,1,16,b8)"), ..set }), Some(Finding::TooManyPieces));
        assert_eq!(finding(SetView { etype: Some(0), ..set }), Some(Finding::UnknownEtype));
    }

    #[test]
    fn offsets_beyond_2_to_the_63_are_unknown() {
        assert_eq!(view(u64::MAX, "b8").place(0, 8).first, None);
        assert_eq!(view(0, "v(2,1,9000000000000000000,b8)").place(u64::MAX, u64::MAX).first, None);
        assert_eq!(view(0, "c(0,b1)").place(0, 8).first, None);
        assert_eq!(pieces(&view(0, "c(0,b1)"), 0, 8)[..], []);
    }

    /// A rank of BT-IO class W on 4 (io.md 2.4), with what it has of the fourth dump.
    #[test]
    fn ranks_of_btio_fill_a_dump() {
        let mut covered: Vec<Piece> = Vec::new();
        let mut all: Vec<(u64, u64)> = Vec::new();
        let (n, q) = (24, 2);
        for rank in 0..4 {
            let cell = |c: u64| {
                let [x, y, z] = [(rank % q + c) % q, (rank / q + q - c) % q, c].map(|at| at * n / q);
                format!("1@0:s[24,24,24;12,12,12;{z},{y},{x}](b40)")
            };
            let view = view(0, &format!("t({},{})", cell(0), cell(1)));
            let pieces = pieces(&view, 3 * 138_240, 138_240);
            assert_eq!(pieces.len(), if rank == 3 { 287 } else { 288 });
            assert_eq!(view.place(3 * 138_240, 138_240).first, Some(pieces[0].0));
            all.extend(pieces);
        }
        all.sort_unstable();
        all.into_iter().for_each(|(at, length)| join(&mut covered, (at.into(), length.into())));
        assert_eq!(covered, [(1_658_880, 552_960)]);
    }
}
