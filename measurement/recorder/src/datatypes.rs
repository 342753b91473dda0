//! The types of MPI that the views of files consist of: their sizes, and their shapes as MPI decodes them
//! (MPI 4.0, 5.1.13).
//!
//! MPI-4 has functions that also decode types which were made with large counts; the older ones refuse those. So
//! the newer ones are used wherever the library has them.

use std::ffi::c_int;

use crate::mpi::{Mpi, handle_at, is_open_mpi};
use crate::next::symbol;
use crate::shapes::Shape;

/// Numbers and types that are looked at to describe one type: HDF5 sets a view for each access (io.md, 2.4).
const MOST_NUMBERS: usize = 4096;
/// Types within types that are looked at.
const MOST_LEVELS: usize = 32;

/// Values of `MPI_COMBINER_*`, as Open MPI counts them; those of MPICH are larger by one.
mod combiner {
    pub(super) const NAMED: i32 = 0;
    pub(super) const DUP: i32 = 1;
    pub(super) const CONTIGUOUS: i32 = 2;
    pub(super) const VECTOR: i32 = 3;
    pub(super) const HVECTOR_INTEGER: i32 = 4;
    pub(super) const HVECTOR: i32 = 5;
    pub(super) const INDEXED: i32 = 6;
    pub(super) const HINDEXED_INTEGER: i32 = 7;
    pub(super) const HINDEXED: i32 = 8;
    pub(super) const INDEXED_BLOCK: i32 = 9;
    pub(super) const STRUCT_INTEGER: i32 = 10;
    pub(super) const STRUCT: i32 = 11;
    pub(super) const SUBARRAY: i32 = 12;
    pub(super) const DARRAY: i32 = 13;
    pub(super) const F90_REAL: i32 = 14;
    pub(super) const F90_INTEGER: i32 = 16;
    pub(super) const RESIZED: i32 = 17;
    pub(super) const HINDEXED_BLOCK: i32 = 18;
}

type Envelope = unsafe extern "C" fn(usize, *mut c_int, *mut c_int, *mut c_int, *mut c_int) -> c_int;
type Contents = unsafe extern "C" fn(usize, c_int, c_int, c_int, *mut c_int, *mut i64, *mut usize) -> c_int;
type LargeEnvelope = unsafe extern "C" fn(usize, *mut i64, *mut i64, *mut i64, *mut i64, *mut c_int) -> c_int;
type LargeContents =
    unsafe extern "C" fn(usize, i64, i64, i64, i64, *mut c_int, *mut i64, *mut i64, *mut usize) -> c_int;

/// The functions that decode types.
enum Decoder {
    Plain(Envelope, Contents),
    Large(LargeEnvelope, LargeContents),
}

/// The functions of MPI for types.
pub(crate) struct Datatypes {
    decoder: Decoder,
    extent: unsafe extern "C" fn(usize, *mut i64, *mut i64) -> c_int,
    free: unsafe extern "C" fn(*mut usize) -> c_int,
}

/// Numbers of the parts of a type's description.
#[derive(Clone, Copy, Default)]
struct Counts {
    integers: i64,
    addresses: i64,
    large: i64,
    types: i64,
}

/// The description of a derived type.
struct Parts {
    /// Counts, lengths and the like, and displacements where those are no addresses.
    numbers: Vec<i64>,
    addresses: Vec<i64>,
    types: Vec<usize>,
    has_large_counts: bool,
}

impl Datatypes {
    /// Finds the functions; `None` if the library lacks some.
    pub(crate) fn find() -> Option<Datatypes> {
        // SAFETY: the symbols are the functions of these names, with the parameters that MPI 4.0 fixes.
        unsafe {
            let large = symbol(c"PMPI_Type_get_envelope_c").zip(symbol(c"PMPI_Type_get_contents_c"));
            let decoder = match large {
                Some((envelope, contents)) => Decoder::Large(
                    std::mem::transmute::<usize, LargeEnvelope>(envelope),
                    std::mem::transmute::<usize, LargeContents>(contents),
                ),
                None => Decoder::Plain(
                    std::mem::transmute::<usize, Envelope>(symbol(c"PMPI_Type_get_envelope")?),
                    std::mem::transmute::<usize, Contents>(symbol(c"PMPI_Type_get_contents")?),
                ),
            };
            Some(Datatypes {
                decoder,
                extent: std::mem::transmute::<usize, unsafe extern "C" fn(usize, *mut i64, *mut i64) -> c_int>(
                    symbol(c"PMPI_Type_get_extent_x")?,
                ),
                free: std::mem::transmute::<usize, unsafe extern "C" fn(*mut usize) -> c_int>(symbol(
                    c"PMPI_Type_free",
                )?),
            })
        }
    }

    /// Returns the lower bound and the extent of a type that a call has accepted.
    pub(crate) fn bounds(&self, datatype: usize) -> (i64, i64) {
        let (mut lower, mut extent) = (0, 0);
        // SAFETY: the type is valid, as a call has accepted it or MPI has returned it; results are writable.
        unsafe { (self.extent)(datatype, &mut lower, &mut extent) };
        (lower, extent)
    }

    /// Returns the shape of a type that a call has accepted; `None` if it cannot be said, or has too many parts.
    pub(crate) fn shape(&self, mpi: &Mpi, datatype: usize) -> Option<Shape> {
        self.shape_within(mpi, datatype, MOST_LEVELS, &mut { MOST_NUMBERS })
    }

    /// As [`Datatypes::shape`], with so many levels and numbers that may still be looked at.
    fn shape_within(&self, mpi: &Mpi, datatype: usize, levels: usize, numbers: &mut usize) -> Option<Shape> {
        let (counts, combiner) = self.envelope(datatype);
        let size = i64::try_from(mpi.bytes(1, datatype)).ok()?;
        let (lower, extent) = self.bounds(datatype);
        if is_predefined(combiner) {
            return predefined(size, extent);
        }
        let wanted = [counts.integers, counts.addresses, counts.large, counts.types];
        let wanted = wanted.iter().try_fold(0usize, |sum, &part| sum.checked_add(part.try_into().ok()?))?;
        *numbers = numbers.checked_sub(wanted)?;
        let levels = levels.checked_sub(1)?;
        let parts = self.contents(datatype, counts)?;
        let mut inner = Vec::with_capacity(parts.types.len());
        for &part in &parts.types {
            inner.push(self.shape_within(mpi, part, levels, numbers));
            if !is_predefined(self.envelope(part).1) {
                // SAFETY: MPI has returned this derived type, which the caller is to free (MPI 4.0, 5.1.13).
                unsafe { (self.free)(&mut { part }) };
            }
        }
        let shape = built(combiner, &parts, inner.into_iter().collect::<Option<Vec<Shape>>>()?)?;
        // What does not have the type's size has been misunderstood.
        (shape.layout()?.size == size).then_some(shape)?.simplified(lower, extent)
    }

    /// Returns the numbers of parts of a type, and its combiner as Open MPI counts.
    fn envelope(&self, datatype: usize) -> (Counts, i32) {
        let mut combiner = 0;
        let mut counts = Counts::default();
        match self.decoder {
            Decoder::Plain(envelope, _) => {
                let (mut integers, mut addresses, mut types) = (0, 0, 0);
                // SAFETY: the type is valid, and results are writable.
                unsafe { envelope(datatype, &mut integers, &mut addresses, &mut types, &mut combiner) };
                counts.integers = integers.into();
                counts.addresses = addresses.into();
                counts.types = types.into();
            }
            Decoder::Large(envelope, _) => {
                let Counts { integers, addresses, large, types } = &mut counts;
                // SAFETY: as above.
                unsafe { envelope(datatype, integers, addresses, large, types, &mut combiner) };
            }
        }
        (counts, if is_open_mpi() { combiner } else { combiner - 1 })
    }

    /// Returns the parts of a derived type that has so many.
    fn contents(&self, datatype: usize, counts: Counts) -> Option<Parts> {
        let room = |count: i64| Some(usize::try_from(count).ok()?.max(1));
        let mut integers = vec![0 as c_int; room(counts.integers)?];
        let mut addresses = vec![0i64; room(counts.addresses)?];
        let mut large = vec![0i64; room(counts.large)?];
        // Handles of MPICH are half as long.
        let mut types = vec![0usize; room(counts.types)?];
        let (integers_at, addresses_at) = (integers.as_mut_ptr(), addresses.as_mut_ptr());
        let (large_at, types_at) = (large.as_mut_ptr(), types.as_mut_ptr());
        let failed = match self.decoder {
            // SAFETY: the type is a derived one, and there is room for as many parts as it has.
            Decoder::Plain(_, contents) => unsafe {
                let (most, more) = (counts.integers as c_int, counts.addresses as c_int);
                contents(datatype, most, more, counts.types as c_int, integers_at, addresses_at, types_at)
            },
            // SAFETY: as above.
            Decoder::Large(_, contents) => unsafe {
                let Counts { integers, addresses, large, types } = counts;
                contents(
                    datatype,
                    integers,
                    addresses,
                    large,
                    types,
                    integers_at,
                    addresses_at,
                    large_at,
                    types_at,
                )
            },
        };
        if failed != 0 {
            return None;
        }
        integers.truncate(counts.integers as usize);
        addresses.truncate(counts.addresses as usize);
        large.truncate(counts.large as usize);
        // SAFETY: MPI has set so many handles.
        let types =
            (0..counts.types as usize).map(|at| unsafe { handle_at(types_at as usize, at) }).collect();
        let integers: Vec<i64> = integers.into_iter().map(i64::from).collect();
        let has_large_counts = !large.is_empty();
        let numbers = match (has_large_counts, &integers[..]) {
            (false, _) => integers,
            (true, []) => large,
            // A subarray has its number of dimensions and its order elsewhere.
            (true, &[dimensions, order]) => [&[dimensions], &large[..], &[order]].concat(),
            (true, _) => return None,
        };
        Some(Parts { numbers, addresses, types, has_large_counts })
    }
}

/// Whether a type with that combiner is MPI's own: it has no parts, and must not be freed.
fn is_predefined(combiner: i32) -> bool {
    combiner == combiner::NAMED || (combiner::F90_REAL..=combiner::F90_INTEGER).contains(&combiner)
}

/// Returns the shape of a predefined type.
fn predefined(size: i64, extent: i64) -> Option<Shape> {
    match (size, extent) {
        // MPI_SHORT_INT is the only one with a hole that is not at its end.
        (6, 8) => Some(Shape::Struct(vec![(1, 0, Shape::Bytes(2)), (1, 4, Shape::Bytes(4))])),
        _ => Shape::Bytes(size).simplified(0, extent),
    }
}

/// Returns the shape of a derived type with these parts, of which `inner` are the shapes.
fn built(combiner: i32, parts: &Parts, mut inner: Vec<Shape>) -> Option<Shape> {
    let Parts { numbers, addresses, has_large_counts, .. } = parts;
    let number = |at: usize| numbers.get(at).copied();
    if combiner == combiner::STRUCT || combiner == combiner::STRUCT_INTEGER {
        let (lengths, places) = blocks(numbers, addresses)?;
        let blocks = lengths.iter().zip(places).zip(inner).filter(|((length, _), _)| **length > 0);
        return Some(Shape::Struct(blocks.map(|((&length, &place), of)| (length, place, of)).collect()));
    }
    let of = Box::new(inner.pop()?);
    let extent = of.layout()?.extent;
    Some(match combiner {
        combiner::DUP => *of,
        combiner::CONTIGUOUS => Shape::Contiguous(number(0)?, of),
        combiner::VECTOR => {
            let stride = number(2)?.checked_mul(extent)?;
            Shape::Vector { count: number(0)?, length: number(1)?, stride, of }
        }
        combiner::HVECTOR | combiner::HVECTOR_INTEGER => {
            let stride = addresses.first().copied().or(number(2))?;
            Shape::Vector { count: number(0)?, length: number(1)?, stride, of }
        }
        combiner::INDEXED => {
            let (lengths, places) = blocks(numbers, addresses)?;
            let places = places.iter().map(|place| place.checked_mul(extent));
            indexed(lengths.iter().copied(), places, of)?
        }
        combiner::HINDEXED | combiner::HINDEXED_INTEGER => {
            let (lengths, places) = blocks(numbers, addresses)?;
            indexed(lengths.iter().copied(), places.iter().copied().map(Some), of)?
        }
        combiner::INDEXED_BLOCK => {
            let places = numbers.get(2..)?.iter().map(|place| place.checked_mul(extent));
            indexed(std::iter::repeat(number(1)?), places, of)?
        }
        combiner::HINDEXED_BLOCK => {
            let places = if addresses.is_empty() { numbers.get(2..)? } else { addresses };
            indexed(std::iter::repeat(number(1)?), places.iter().copied().map(Some), of)?
        }
        combiner::SUBARRAY => {
            let count = usize::try_from(number(0)?).ok()?;
            let dimension =
                |at: usize| Some([number(1 + at)?, number(1 + count + at)?, number(1 + 2 * count + at)?]);
            let dimensions = (0..count).map(dimension).collect::<Option<Vec<_>>>()?;
            Shape::Subarray(slowest_first(dimensions, number(1 + 3 * count)?), of)
        }
        combiner::DARRAY if !has_large_counts => Shape::Subarray(distributed(numbers)?, of),
        combiner::RESIZED => {
            let extent = addresses.get(1).copied().or(number(1))?;
            Shape::Resized { lower: addresses.first().copied().or(number(0))?, extent, of }
        }
        _ => return None,
    })
}

/// Returns lengths and displacements of blocks: behind their number, or the displacements as addresses.
fn blocks<'a>(numbers: &'a [i64], addresses: &'a [i64]) -> Option<(&'a [i64], &'a [i64])> {
    let count = usize::try_from(*numbers.first()?).ok()?;
    let lengths = numbers.get(1..=count)?;
    let places = if addresses.is_empty() { numbers.get(1 + count..)? } else { addresses };
    (places.len() == count).then_some((lengths, places))
}

/// Returns blocks of a type, without those that are empty; `None` if a displacement is too large.
fn indexed(
    lengths: impl Iterator<Item = i64>,
    places: impl Iterator<Item = Option<i64>>,
    of: Box<Shape>,
) -> Option<Shape> {
    let blocks = lengths.zip(places).filter(|(length, _)| *length > 0);
    Some(Shape::Indexed(blocks.map(|(length, place)| Some((length, place?))).collect::<Option<_>>()?, of))
}

/// Returns dimensions with the slowest first, which in C's order they have.
fn slowest_first(mut dimensions: Vec<[i64; 3]>, order: i64) -> Vec<[i64; 3]> {
    const FORTRAN: [i64; 2] = [1, 57];
    if order == FORTRAN[usize::from(!is_open_mpi())] {
        dimensions.reverse();
    }
    dimensions
}

/// Returns the part of a process in an array that is distributed in blocks (MPI 4.0, 5.1.4); `None` if it is
/// distributed otherwise.
fn distributed(numbers: &[i64]) -> Option<Vec<[i64; 3]>> {
    // MPI_DISTRIBUTE_BLOCK, _NONE and _DFLT_DARG.
    let (block, none, default) = if is_open_mpi() { (0, 2, -1) } else { (121, 123, -49767) };
    let &[_, rank, count, ref lists @ ..] = numbers else { return None };
    let count = usize::try_from(count).ok()?;
    if count == 0 || lists.len() != 4 * count + 1 {
        return None;
    }
    let mut by = lists.chunks(count);
    let (sizes, ways, arguments, processes) = (by.next()?, by.next()?, by.next()?, by.next()?);
    let mut rest = rank;
    let mut dimensions = vec![[0; 3]; count];
    // Processes are numbered in C's order, whatever that of the array is.
    for at in (0..count).rev() {
        let (size, others) = (sizes[at], processes[at].max(1));
        let place = rest.checked_rem(others)?;
        rest /= others;
        dimensions[at] = match ways[at] {
            way if way == none => [size, size, 0],
            way if way == block => {
                let fair = size.checked_add(others - 1)? / others;
                let length = if arguments[at] == default { fair } else { arguments[at] };
                let start = place.checked_mul(length)?.min(size);
                [size, length.min(size - start), start]
            }
            _ => return None,
        };
    }
    Some(slowest_first(dimensions, *lists.last()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a type with these parts, as in Open MPI before it is found.
    fn text(combiner: i32, numbers: &[i64], addresses: &[i64], inner: &[Shape]) -> Option<String> {
        let (numbers, addresses) = (numbers.to_vec(), addresses.to_vec());
        let parts = Parts { numbers, addresses, types: Vec::new(), has_large_counts: false };
        Some(built(combiner, &parts, inner.to_vec())?.to_string())
    }

    #[test]
    fn displacements_are_in_bytes_whether_they_are_addresses_elements_or_large_counts() {
        let eight = [Shape::Bytes(8)];
        let of = |combiner, numbers: &[i64], addresses: &[i64]| {
            text(combiner, numbers, addresses, &eight).unwrap()
        };
        assert_eq!(of(combiner::VECTOR, &[3, 2, 5], &[]), "v(3,2,40,b8)");
        assert_eq!(of(combiner::HVECTOR, &[3, 2], &[40]), "v(3,2,40,b8)");
        assert_eq!(of(combiner::HVECTOR, &[3, 2, 40], &[]), "v(3,2,40,b8)");
        assert_eq!(of(combiner::INDEXED, &[2, 1, 2, 3, 4], &[]), "x(1@24,2@32;b8)");
        assert_eq!(of(combiner::HINDEXED, &[3, 1, 0, 2], &[24, 5, 32]), "x(1@24,2@32;b8)");
        assert_eq!(of(combiner::HINDEXED, &[2, 1, 2, 24, 32], &[]), "x(1@24,2@32;b8)");
        assert_eq!(of(combiner::INDEXED_BLOCK, &[2, 7, 0, 10], &[]), "x(7@0,7@80;b8)");
        assert_eq!(of(combiner::HINDEXED_BLOCK, &[2, 7], &[0, 10]), "x(7@0,7@10;b8)");
        assert_eq!(of(combiner::RESIZED, &[], &[-4, 64]), "r(-4,64,b8)");
    }

    #[test]
    fn blocks_of_a_struct_keep_their_types() {
        let inner = [Shape::Bytes(8), Shape::Bytes(4), Shape::Bytes(1)];
        let found = text(combiner::STRUCT, &[3, 1, 0, 5], &[0, 8, 16], &inner);
        assert_eq!(found.as_deref(), Some("t(1@0:b8,5@16:b1)"));
    }

    #[test]
    fn arrays_of_blocks_are_subarrays_and_others_cannot_be_said() {
        // MPICH's numbers, as no MPI has been found: 10 x 8 on 2 x 2, order of C, the process of row 1 and column 0.
        let (block, cyclic, none, default) = (121, 122, 123, -49767);
        let array = |ways: [i64; 2], order| {
            let [one, two] = ways;
            text(
                combiner::DARRAY,
                &[4, 2, 2, 10, 8, one, two, default, default, 2, 2, order],
                &[],
                &[Shape::Bytes(8)],
            )
        };
        assert_eq!(array([block, block], 56).as_deref(), Some("s[10,8;5,4;5,0](b8)"));
        assert_eq!(array([block, block], 57).as_deref(), Some("s[8,10;4,5;0,5](b8)"));
        assert_eq!(array([block, none], 56).as_deref(), Some("s[10,8;5,8;5,0](b8)"));
        assert_eq!(array([block, cyclic], 56), None);
    }

    #[test]
    fn damaged_descriptions_have_no_shape() {
        let of = |combiner, numbers: &[i64]| text(combiner, numbers, &[], &[Shape::Bytes(8)]);
        for (combiner, numbers) in [
            (combiner::VECTOR, &[3, 2][..]),
            (combiner::INDEXED, &[2, 1]),
            (combiner::INDEXED, &[-1]),
            (combiner::SUBARRAY, &[2, 4]),
            (combiner::DARRAY, &[4, 0, 0, 56]),
            (99, &[1]),
        ] {
            assert_eq!(of(combiner, numbers), None, "{combiner} {numbers:?}");
        }
    }

    #[test]
    fn predefined_types_with_holes_have_them() {
        assert_eq!(predefined(8, 8).unwrap().to_string(), "b8");
        assert_eq!(predefined(12, 16).unwrap().to_string(), "r(0,16,b12)");
        assert_eq!(predefined(6, 8).unwrap().layout().unwrap().pieces, 2);
    }
}
