//! Lists within records: borrowed from the file when read, from a slice when written.

use crate::bytes::{ByteOrder, Bytes};
use crate::field::{Body, Field};
use std::fmt;
use std::marker::PhantomData;

/// A sequence of `T` within a record, preceded on disk by its length as a `C`.
///
/// Reading a record checks every element once and keeps the encoded bytes; iterating decodes them again,
/// cannot fail and allocates nothing. To write a record, make the list from a slice.
#[derive(Clone, Copy)]
pub struct List<'a, T, C = u32> {
    elements: Storage<'a, T>,
    count: PhantomData<C>,
}

#[derive(Clone, Copy)]
enum Storage<'a, T> {
    /// `length` elements, validated, and what is behind them in the file.
    Encoded {
        bytes: &'a [u8],
        order: ByteOrder,
        length: u32,
    },
    Values(&'a [T]),
}

impl<'a, T, C> List<'a, T, C> {
    /// The empty list.
    pub const EMPTY: Self = List {
        elements: Storage::Encoded { bytes: &[], order: ByteOrder::Little, length: 0 },
        count: PhantomData,
    };

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self.elements {
            Storage::Encoded { length, .. } => length as usize,
            Storage::Values(values) => values.len(),
        }
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Validates `length` elements and steps over them.
    pub(crate) fn read_elements(bytes: &mut Bytes<'a>, length: u64) -> Option<Self>
    where
        T: Field<'a>,
    {
        // An element has at least a byte, so a wrong count is detected before the elements are read.
        let length = u32::try_from(length).ok().filter(|&length| length as usize <= bytes.left())?;
        let encoded = Storage::Encoded { bytes: bytes.rest_of_file(), order: bytes.order(), length };
        for _ in 0..length {
            T::read(bytes)?;
        }
        Some(List { elements: encoded, count: PhantomData })
    }
}

#[allow(private_bounds)] // Which types can stand in a record is decided by this crate alone.
impl<'a, T: Field<'a> + Copy, C> List<'a, T, C> {
    /// The elements in their order.
    pub fn iter(&self) -> ListIter<'a, T> {
        ListIter(match self.elements {
            Storage::Encoded { bytes, order, length } => {
                Source::Encoded { bytes: Bytes::new(bytes, 0, bytes.len(), order), left: length }
            }
            Storage::Values(values) => Source::Values(values.iter()),
        })
    }
}

/// Iterator over the elements of a [`List`].
#[derive(Debug)]
pub struct ListIter<'a, T>(Source<'a, T>);

#[derive(Debug)]
enum Source<'a, T> {
    Encoded { bytes: Bytes<'a>, left: u32 },
    Values(std::slice::Iter<'a, T>),
}

#[allow(private_bounds)]
impl<'a, T: Field<'a> + Copy> Iterator for ListIter<'a, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match &mut self.0 {
            Source::Encoded { bytes, left } => {
                *left = left.checked_sub(1)?;
                T::read(bytes)
            }
            Source::Values(values) => values.next().copied(),
        }
    }
}

#[allow(private_bounds)]
impl<'a, T: Field<'a> + Copy, C> IntoIterator for List<'a, T, C> {
    type Item = T;
    type IntoIter = ListIter<'a, T>;

    fn into_iter(self) -> ListIter<'a, T> {
        self.iter()
    }
}

impl<'a, T, C> From<&'a [T]> for List<'a, T, C> {
    fn from(values: &'a [T]) -> Self {
        List { elements: Storage::Values(values), count: PhantomData }
    }
}

impl<T, C> Default for List<'_, T, C> {
    fn default() -> Self {
        List::EMPTY
    }
}

impl<'a, T: Field<'a> + Copy + PartialEq, C> PartialEq for List<'a, T, C> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a, T: Field<'a> + Copy + fmt::Debug, C> fmt::Debug for List<'a, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T: Field<'a> + Copy, C: Field<'a> + Into<u64> + TryFrom<usize>> Field<'a> for List<'a, T, C> {
    fn read(bytes: &mut Bytes<'a>) -> Option<Self> {
        let length = C::read(bytes)?;
        List::read_elements(bytes, length.into())
    }

    fn write(&self, body: &mut Body) {
        match C::try_from(self.len()) {
            Ok(length) => length.write(body),
            Err(_) => body.refuse("more elements than the record can count"),
        }
        self.iter().for_each(|element| element.write(body));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_count_is_refused() {
        let read = |bytes: &[u8]| {
            let mut window = Bytes::new(bytes, 0, bytes.len(), ByteOrder::Little);
            List::<u32, u8>::read(&mut window).map(|list| list.iter().collect::<Vec<_>>())
        };
        assert_eq!(read(&[2, 1, 7, 0]), Some(vec![7, 0]));
        assert_eq!(read(&[3, 1, 7, 0]), None);
        assert_eq!(read(&[200]), None);
    }

    #[test]
    fn values_and_their_encoding_are_equal() {
        let values = [3u32, u32::MAX, 0];
        let list = List::<u32>::from(&values[..]);
        let mut body = Body::new(ByteOrder::Big, false);
        list.write(&mut body);
        let mut window = Bytes::new(body.bytes(), 0, 100, ByteOrder::Big);
        assert_eq!(List::read(&mut window), Some(list));
        assert_ne!(list, List::default());
    }

    #[test]
    fn list_longer_than_its_count_can_say_cannot_be_written() {
        let mut body = Body::new(ByteOrder::Little, false);
        List::<u32, u8>::from(&[0; 256][..]).write(&mut body);
        assert!(body.fault().is_some());
    }
}
