//! Encoding of messages between workers in 64-bit words: each type lists its words once, for sending and for
//! receiving.
//!
//! ```text
//! wire!(Spot { [location, position] });            one word of two halves
//! wire!(Blocked { time, spot });                   two words: a number, and a Spot
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::exchange::Batch;
use crate::exchange::batch::{BatchReader, halves, pair, put_text, wide};
use crate::int::{low, to_u64, to_usize};

/// A value that workers send each other.
pub trait Wire: Sized {
    /// Appends its words to a batch.
    fn put(&self, batch: &mut Batch);

    /// Reads the words that [`put`](Wire::put) appended.
    ///
    /// # Panics
    /// If there are fewer: batches come from this program.
    fn get(reader: &mut BatchReader<'_>) -> Self;
}

/// A value that takes half a word.
pub trait Half: Copy {
    /// Returns its 32 bits.
    fn to_half(self) -> u32;

    /// Returns the value with these bits, which [`to_half`](Half::to_half) returned.
    fn of_half(half: u32) -> Self;
}

/// Two halves in one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Halves<A, B>(pub A, pub B);

/// Reads the value that a batch contains.
///
/// # Panics
/// If the batch has fewer words.
pub fn one<T: Wire>(batch: &[u64]) -> T {
    T::get(&mut BatchReader::new(batch))
}

/// Reads the values that a batch consists of.
pub fn all<T: Wire>(batch: &[u64]) -> impl Iterator<Item = T> {
    let mut reader = BatchReader::new(batch);
    std::iter::from_fn(move || (!reader.is_empty()).then(|| T::get(&mut reader)))
}

/// Returns a batch of values.
pub fn batch_of<'a, T: Wire + 'a>(values: impl IntoIterator<Item = &'a T>) -> Batch {
    let mut batch = Batch::new();
    values.into_iter().for_each(|value| value.put(&mut batch));
    batch
}

/// Implements [`Wire`] for a type with fields: each item is a word, a field that is itself [`Wire`] or
/// `[high, low]`.
macro_rules! wire {
    ($type:ty { $($item:tt),+ $(,)? }) => {
        impl $crate::wire::Wire for $type {
            #[inline]
            fn put(&self, batch: &mut $crate::exchange::Batch) {
                $( $crate::wire::wire!(@put self batch $item); )+
            }

            #[inline]
            fn get(reader: &mut $crate::exchange::batch::BatchReader<'_>) -> Self {
                $( $crate::wire::wire!(@get reader $item); )+
                $crate::wire::wire!(@new Self {} $($item)+)
            }
        }
    };
    (@put $self:ident $batch:ident [$high:ident, $low:ident]) => {
        $crate::wire::Wire::put(&$crate::wire::Halves($self.$high, $self.$low), $batch)
    };
    (@put $self:ident $batch:ident $field:ident) => { $crate::wire::Wire::put(&$self.$field, $batch) };
    (@get $reader:ident [$high:ident, $low:ident]) => {
        let $crate::wire::Halves($high, $low) = $crate::wire::Wire::get($reader);
    };
    (@get $reader:ident $field:ident) => { let $field = $crate::wire::Wire::get($reader); };
    (@new $type:ident { $($field:ident)* } [$high:ident, $low:ident] $($rest:tt)*) => {
        $crate::wire::wire!(@new $type { $($field)* $high $low } $($rest)*)
    };
    (@new $type:ident { $($field:ident)* } $next:ident $($rest:tt)*) => {
        $crate::wire::wire!(@new $type { $($field)* $next } $($rest)*)
    };
    (@new $type:ident { $($field:ident)* }) => { $type { $($field),* } };
}
pub(crate) use wire;

macro_rules! words {
    ($($type:ty: |$value:ident| $to:expr, |$word:ident| $from:expr;)+) => {$(
        impl Wire for $type {
            #[inline]
            fn put(&self, batch: &mut Batch) {
                let $value = *self;
                batch.push($to);
            }

            #[inline]
            fn get(reader: &mut BatchReader<'_>) -> Self {
                let $word = reader.word();
                $from
            }
        }
    )+};
}

words! {
    u64: |value| value, |word| word;
    i64: |value| value.cast_unsigned(), |word| word.cast_signed();
    f64: |value| value.to_bits(), |word| f64::from_bits(word);
    u32: |value| value.into(), |word| low(word);
    usize: |value| to_u64(value), |word| to_usize(word);
    bool: |value| value.into(), |word| word == 1;
}

macro_rules! halves_of {
    ($($type:ty: |$value:ident| $to:expr, |$half:ident| $from:expr;)+) => {$(
        impl Half for $type {
            #[inline]
            fn to_half(self) -> u32 {
                let $value = self;
                $to
            }

            #[inline]
            fn of_half($half: u32) -> Self {
                $from
            }
        }
    )+};
}

halves_of! {
    u32: |value| value, |half| half;
    i32: |value| value.cast_unsigned(), |half| half.cast_signed();
    u8: |value| value.into(), |half| half.to_le_bytes()[0];
    bool: |value| value.into(), |half| half == 1;
}

impl<A: Half, B: Half> Wire for Halves<A, B> {
    #[inline]
    fn put(&self, batch: &mut Batch) {
        batch.push(pair(self.0.to_half(), self.1.to_half()));
    }

    #[inline]
    fn get(reader: &mut BatchReader<'_>) -> Self {
        let (high, low) = halves(reader.word());
        Halves(A::of_half(high), B::of_half(low))
    }
}

impl Wire for u128 {
    fn put(&self, batch: &mut Batch) {
        batch.extend(wide(*self));
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        reader.wide()
    }
}

impl Wire for i128 {
    fn put(&self, batch: &mut Batch) {
        batch.extend(wide(self.cast_unsigned()));
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        reader.wide().cast_signed()
    }
}

impl Wire for String {
    fn put(&self, batch: &mut Batch) {
        put_text(batch, self);
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        reader.text()
    }
}

impl<T: Wire> Wire for Box<T> {
    fn put(&self, batch: &mut Batch) {
        (**self).put(batch);
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        Box::new(T::get(reader))
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    #[inline]
    fn put(&self, batch: &mut Batch) {
        self.0.put(batch);
        self.1.put(batch);
    }

    #[inline]
    fn get(reader: &mut BatchReader<'_>) -> Self {
        (A::get(reader), B::get(reader))
    }
}

impl<T: Wire, const N: usize> Wire for [T; N] {
    fn put(&self, batch: &mut Batch) {
        self.iter().for_each(|value| value.put(batch));
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        std::array::from_fn(|_| T::get(reader))
    }
}

/// A flag, and the value if there is one.
impl<T: Wire> Wire for Option<T> {
    fn put(&self, batch: &mut Batch) {
        self.is_some().put(batch);
        self.iter().for_each(|value| value.put(batch));
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        bool::get(reader).then(|| T::get(reader))
    }
}

/// The number of values, and the values.
impl<T: Wire> Wire for Vec<T> {
    fn put(&self, batch: &mut Batch) {
        self.len().put(batch);
        self.iter().for_each(|value| value.put(batch));
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        let count = usize::get(reader);
        (0..count).map(|_| T::get(reader)).collect()
    }
}

/// The number of values, and the values.
impl<T: Wire + Ord> Wire for BTreeSet<T> {
    fn put(&self, batch: &mut Batch) {
        self.len().put(batch);
        self.iter().for_each(|value| value.put(batch));
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        let count = usize::get(reader);
        (0..count).map(|_| T::get(reader)).collect()
    }
}

/// The number of entries, and the entries.
impl<K: Wire + Ord, V: Wire> Wire for BTreeMap<K, V> {
    fn put(&self, batch: &mut Batch) {
        self.len().put(batch);
        self.iter().for_each(|(key, value)| {
            key.put(batch);
            value.put(batch);
        });
    }

    fn get(reader: &mut BatchReader<'_>) -> Self {
        let count = usize::get(reader);
        (0..count).map(|_| Wire::get(reader)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, PartialEq, Debug)]
    struct Message {
        time: i64,
        high: u32,
        low: bool,
        cost: f64,
        list: Vec<(usize, Option<i128>)>,
        name: String,
    }

    wire!(Message { time, [high, low], cost, list, name });

    #[test]
    fn messages_come_back_one_after_the_other() {
        let message = |time| Message {
            time,
            high: u32::MAX,
            low: true,
            cost: -0.5,
            list: vec![(7, None), (8, Some(i128::MIN))],
            name: "späte Sender".into(),
        };
        let messages = [message(i64::MIN), message(3)];
        let batch = batch_of(&messages);
        assert_eq!(all::<Message>(&batch).collect::<Vec<_>>(), messages);
        assert_eq!(batch[..3], [1 << 63, pair(u32::MAX, 1), (-0.5_f64).to_bits()]);
    }
}
