//! The shape of a type of MPI: its bytes in their order, as text (`docs/recorder.md`, views of files).
//!
//! Everything is computed from the description, never from single pieces, of which a type may have billions.

use std::fmt::{self, Display, Formatter};

/// A type of MPI without what its bytes mean. Displacements, strides and extents are in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// So many bytes without holes.
    Bytes(i64),
    /// So many in a row.
    Contiguous(i64, Box<Shape>),
    /// `count` blocks of `length`.
    Vector { count: i64, length: i64, stride: i64, of: Box<Shape> },
    /// Size, size of the part, and its start for each dimension, the slowest first.
    Subarray(Vec<[i64; 3]>, Box<Shape>),
    /// Length and displacement of each block.
    Indexed(Vec<(i64, i64)>, Box<Shape>),
    /// Length, displacement and type of each block.
    Struct(Vec<(i64, i64, Shape)>),
    /// Another lower bound and extent.
    Resized { lower: i64, extent: i64, of: Box<Shape> },
}

/// What copies of a shape in a row look like.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Layout {
    /// Number of its bytes.
    pub(crate) size: i64,
    /// Number of contiguous pieces: neighbours in its order that touch are one.
    pub(crate) pieces: i64,
    /// Where its first piece begins, and where its last one ends.
    first: i64,
    end: i64,
    /// Distance from one copy to the next.
    pub(crate) extent: i64,
}

impl Layout {
    /// Returns the layout of so many copies at a distance; `None` if numbers overflow. Its extent is unchanged.
    fn copies(self, count: i64, step: i64, base: i64) -> Option<Layout> {
        if count <= 0 || self.size == 0 {
            return Some(Layout { extent: self.extent, ..Layout::default() });
        }
        let touching = if step.checked_add(self.first)? == self.end { count - 1 } else { 0 };
        Some(Layout {
            size: self.size.checked_mul(count)?,
            pieces: self.pieces.checked_mul(count)?.checked_sub(touching)?,
            first: self.first.checked_add(base)?,
            end: step.checked_mul(count - 1)?.checked_add(self.end)?.checked_add(base)?,
            extent: self.extent,
        })
    }

    /// Returns the layout of this and what comes behind it.
    fn then(self, next: Layout) -> Option<Layout> {
        let extent = self.extent.max(next.extent);
        if self.size == 0 || next.size == 0 {
            return Some(Layout { extent, ..if self.size == 0 { next } else { self } });
        }
        let touching = i64::from(self.end == next.first);
        Some(Layout {
            size: self.size.checked_add(next.size)?,
            pieces: self.pieces.checked_add(next.pieces)?.checked_sub(touching)?,
            first: self.first,
            end: next.end,
            extent,
        })
    }

    /// Whether copies in a row have no holes.
    fn is_dense(&self) -> bool {
        self.size == self.extent && self.pieces <= 1 && self.first == 0
    }
}

impl Shape {
    /// Returns the layout; `None` if numbers overflow.
    pub(crate) fn layout(&self) -> Option<Layout> {
        match self {
            Shape::Bytes(size) => {
                Some(Layout { size: *size, pieces: (*size).min(1), first: 0, end: *size, extent: *size })
            }
            Shape::Contiguous(count, of) => {
                let of = of.layout()?;
                let extent = of.extent.checked_mul(*count)?;
                Some(Layout { extent, ..of.copies(*count, of.extent, 0)? })
            }
            Shape::Vector { count, length, stride, of } => {
                let of = of.layout()?;
                let block = of.copies(*length, of.extent, 0)?;
                let end = of.extent.checked_mul(*length)?;
                let extent = stride.checked_mul(count.checked_sub(1)?)?.checked_add(end)?;
                Some(Layout { extent, ..block.copies(*count, *stride, 0)? })
            }
            Shape::Subarray(dimensions, of) => {
                dimensions.iter().rev().try_fold(of.layout()?, |row, dimension| {
                    let &[size, part, start] = dimension;
                    let extent = row.extent.checked_mul(size)?;
                    Some(Layout { extent, ..row.copies(part, row.extent, start.checked_mul(row.extent)?)? })
                })
            }
            Shape::Indexed(blocks, of) => {
                let of = of.layout()?;
                blocks.iter().try_fold(Layout::default(), |so_far, &block| so_far.then(at(of, block)?))
            }
            Shape::Struct(blocks) => {
                blocks.iter().try_fold(Layout::default(), |so_far, (length, place, of)| {
                    so_far.then(at(of.layout()?, (*length, *place))?)
                })
            }
            Shape::Resized { extent, of, .. } => Some(Layout { extent: *extent, ..of.layout()? }),
        }
    }

    /// Returns the shape with these bounds in the shortest words: equal types shall have equal texts. `None` if
    /// numbers overflow.
    pub(crate) fn simplified(self, lower: i64, extent: i64) -> Option<Shape> {
        let layout = self.layout()?;
        if lower == 0 && (Layout { extent, ..layout }).is_dense() {
            return Some(Shape::Bytes(layout.size));
        }
        let shape = match self {
            Shape::Contiguous(1, of) => *of,
            Shape::Vector { count: 1, length, of, .. } => {
                Shape::Contiguous(length, of).simplified(lower, extent)?
            }
            Shape::Vector { count, length, stride, of }
                if Some(stride) == of.layout()?.extent.checked_mul(length) =>
            {
                Shape::Contiguous(count.checked_mul(length)?, of)
            }
            Shape::Indexed(blocks, of) => match &blocks[..] {
                &[(length, 0)] => Shape::Contiguous(length, of).simplified(lower, extent)?,
                _ => Shape::Indexed(blocks, of),
            },
            shape => shape,
        };
        let inner = match shape {
            Shape::Resized { of, .. } => of,
            shape => Box::new(shape),
        };
        if lower == 0 && inner.layout()?.extent == extent {
            return Some(*inner);
        }
        Some(Shape::Resized { lower, extent, of: inner })
    }
}

/// Returns the layout of a block of a length at a displacement; its extent is where it ends.
fn at(of: Layout, (length, place): (i64, i64)) -> Option<Layout> {
    let extent = of.extent.checked_mul(length)?.checked_add(place)?;
    Some(Layout { extent, ..of.copies(length, of.extent, place)? })
}

impl Display for Shape {
    fn fmt(&self, text: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Bytes(size) => write!(text, "b{size}"),
            Shape::Contiguous(count, of) => write!(text, "c({count},{of})"),
            Shape::Vector { count, length, stride, of } => write!(text, "v({count},{length},{stride},{of})"),
            Shape::Subarray(dimensions, of) => {
                for (which, begin) in ["s[", ";", ";"].into_iter().enumerate() {
                    text.write_str(begin)?;
                    list(text, dimensions, |text, dimension| write!(text, "{}", dimension[which]))?;
                }
                write!(text, "]({of})")
            }
            Shape::Indexed(blocks, of) => {
                text.write_str("x(")?;
                list(text, blocks, |text, (length, place)| write!(text, "{length}@{place}"))?;
                write!(text, ";{of})")
            }
            Shape::Struct(blocks) => {
                text.write_str("t(")?;
                list(text, blocks, |text, (length, place, of)| write!(text, "{length}@{place}:{of}"))?;
                text.write_str(")")
            }
            Shape::Resized { lower, extent, of } => write!(text, "r({lower},{extent},{of})"),
        }
    }
}

/// Writes items with commas between them.
fn list<T>(
    text: &mut Formatter<'_>,
    items: &[T],
    write: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.write_str(",")?;
        }
        write(text, item)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(size: i64) -> Box<Shape> {
        Box::new(Shape::Bytes(size))
    }

    fn cell(start: i64) -> Shape {
        Shape::Subarray(vec![[24, 12, start]; 3], bytes(40))
    }

    /// Size, number of pieces and extent.
    fn layout(shape: &Shape) -> (i64, i64, i64) {
        let Layout { size, pieces, extent, .. } = shape.layout().unwrap();
        (size, pieces, extent)
    }

    #[test]
    fn view_of_the_specification_has_its_text_and_its_numbers() {
        let view = Shape::Struct(vec![(1, 0, cell(0)), (1, 0, cell(12))]);
        assert_eq!(
            view.to_string(),
            "t(1@0:s[24,24,24;12,12,12;0,0,0](b40),1@0:s[24,24,24;12,12,12;12,12,12](b40))"
        );
        assert_eq!(layout(&view), (138_240, 288, 552_960));
    }

    #[test]
    fn neighbours_in_the_order_of_a_type_that_touch_are_one_piece() {
        let end = Shape::Subarray(vec![[4, 2, 2], [8, 4, 4]], bytes(1));
        assert_eq!(layout(&end), (8, 2, 32));
        // The last row ends where the next copy would begin; its own begin is at 20.
        assert_eq!(layout(&Shape::Struct(vec![(1, 0, end), (1, 32, Shape::Bytes(4))])), (12, 2, 36));
        let backward = Shape::Indexed(vec![(1, 8), (1, 0)], bytes(8));
        assert_eq!(layout(&backward), (16, 2, 16));
        let vector = |stride| Shape::Vector { count: 3, length: 2, stride, of: bytes(8) };
        assert_eq!([layout(&vector(40)), layout(&vector(16))], [(48, 3, 96), (48, 1, 48)]);
    }

    #[test]
    fn types_that_are_equal_have_one_text() {
        let text = |shape: Shape, lower, extent| shape.simplified(lower, extent).unwrap().to_string();
        let vector = |count, stride| Shape::Vector { count, length: 2, stride, of: bytes(8) };
        assert_eq!(text(Shape::Contiguous(5, bytes(8)), 0, 40), "b40");
        assert_eq!(text(vector(3, 16), 0, 48), "b48");
        assert_eq!(text(vector(1, 999), 0, 16), "b16");
        assert_eq!(text(vector(3, 40), 0, 96), "v(3,2,40,b8)");
        assert_eq!(text(vector(3, 40), 0, 120), "r(0,120,v(3,2,40,b8))");
        let resized = Box::new(Shape::Resized { lower: 0, extent: 16, of: bytes(8) });
        assert_eq!(text(Shape::Contiguous(1, resized.clone()), 0, 16), "r(0,16,b8)");
        assert_eq!(
            text(Shape::Vector { count: 3, length: 1, stride: 16, of: resized }, 0, 48),
            "c(3,r(0,16,b8))"
        );
        let blocks = Shape::Indexed(vec![(1, 8), (2, 24)], bytes(4));
        assert_eq!(text(blocks, 8, 24), "r(8,24,x(1@8,2@24;b4))");
        let again = Shape::Resized { lower: 1, extent: 99, of: bytes(8) };
        assert_eq!(text(again, 0, 8), "b8");
    }

    #[test]
    fn numbers_beyond_those_of_files_have_no_layout() {
        let huge = Shape::Contiguous(i64::MAX, bytes(2));
        assert_eq!((huge.layout(), huge.clone().simplified(0, 1)), (None, None));
        assert_eq!(layout(&Shape::Contiguous(0, bytes(8))), (0, 0, 0));
    }
}
