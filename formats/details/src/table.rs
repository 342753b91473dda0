//! Table in memory: named columns of equally many rows.

use crate::error::{Error, Result};
use crate::header::{Codec, Kind, Unit};

/// The rows of a column.
#[derive(Clone, PartialEq, Debug)]
pub enum Values {
    /// Numbers of 8 bits.
    U8(Vec<u8>),
    /// Numbers of 16 bits.
    U16(Vec<u16>),
    /// Numbers of 32 bits.
    U32(Vec<u32>),
    /// Numbers of 64 bits.
    U64(Vec<u64>),
    /// Signed numbers of 64 bits.
    I64(Vec<i64>),
    /// Doubles.
    F64(Vec<f64>),
    /// Strings of bytes.
    Bytes(Vec<Vec<u8>>),
}

impl Values {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::U8(rows) => rows.len(),
            Values::U16(rows) => rows.len(),
            Values::U32(rows) => rows.len(),
            Values::U64(rows) => rows.len(),
            Values::I64(rows) => rows.len(),
            Values::F64(rows) => rows.len(),
            Values::Bytes(rows) => rows.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Numbers in the narrowest unsigned type that has room for all.
    pub fn narrowest(numbers: impl Iterator<Item = u64> + Clone) -> Values {
        let most = numbers.clone().max().unwrap_or(0);
        fn all<T: TryFrom<u64>>(numbers: impl Iterator<Item = u64>) -> Vec<T> {
            numbers.filter_map(|number| T::try_from(number).ok()).collect()
        }
        match most {
            0..=0xff => Values::U8(all(numbers)),
            0x100..=0xffff => Values::U16(all(numbers)),
            0x1_0000..=0xffff_ffff => Values::U32(all(numbers)),
            _ => Values::U64(numbers.collect()),
        }
    }

    /// The rows as numbers, whatever unsigned type they have; `None` for others.
    pub fn numbers(&self) -> Option<Vec<u64>> {
        match self {
            Values::U8(rows) => Some(rows.iter().map(|&row| row.into()).collect()),
            Values::U16(rows) => Some(rows.iter().map(|&row| row.into()).collect()),
            Values::U32(rows) => Some(rows.iter().map(|&row| row.into()).collect()),
            Values::U64(rows) => Some(rows.clone()),
            Values::I64(_) | Values::F64(_) | Values::Bytes(_) => None,
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Values::U8(_) => Kind::U8,
            Values::U16(_) => Kind::U16,
            Values::U32(_) => Kind::U32,
            Values::U64(_) => Kind::U64,
            Values::I64(_) => Kind::I64,
            Values::F64(_) => Kind::F64,
            Values::Bytes(_) => Kind::Bytes,
        }
    }
}

/// Bytes of a column from which on compression pays: each column that is compressed takes some 0.1 ms.
const SHORT: usize = 512;

/// A column of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The unit of its values, or the numbering that they refer to.
    pub unit: Option<Unit>,
    /// How its blocks are stored.
    pub codec: Codec,
    /// Its rows.
    pub values: Values,
}

impl Column {
    /// A column of compressed blocks.
    pub fn new(name: &str, unit: Option<Unit>, values: Values) -> Column {
        Column { name: name.into(), unit, codec: Codec::Zlib, values }
    }

    /// This column without compression, for bytes that are noise.
    #[must_use]
    pub fn raw(self) -> Column {
        Column { codec: Codec::Raw, ..self }
    }

    /// A column of numbers in the narrowest type, which saves work where there are many rows; compressed unless it is so
    /// short that it does not pay.
    pub fn of_numbers(name: &str, unit: Option<Unit>, numbers: impl Iterator<Item = u64> + Clone) -> Column {
        let values = Values::narrowest(numbers);
        let width = values.kind().width().unwrap_or(0);
        let codec = if width * values.len() < SHORT { Codec::Raw } else { Codec::Zlib };
        Column { name: name.into(), unit, codec, values }
    }

    /// This column as it is, if it seems to be noise: most rows differ from the one before. Compressing it would take longer
    /// than all else, and hardly make it shorter.
    #[must_use]
    pub fn raw_if_noise(self) -> Column {
        let is_noise = match &self.values {
            Values::U8(rows) => differ(rows),
            Values::U16(rows) => differ(rows),
            Values::U32(rows) => differ(rows),
            Values::U64(rows) => differ(rows),
            Values::I64(_) | Values::F64(_) | Values::Bytes(_) => false,
        };
        if is_noise { Column { codec: Codec::Raw, ..self } } else { self }
    }

    /// This column with differences between rows, which compress better where rows are nearly sorted, if it is compressed.
    /// Integers only.
    #[must_use]
    pub fn delta(self) -> Column {
        match self.codec {
            Codec::Raw => self,
            Codec::Zlib | Codec::DeltaZlib => Column { codec: Codec::DeltaZlib, ..self },
        }
    }
}

/// Whether most rows differ from the one before.
fn differ<T: PartialEq>(rows: &[T]) -> bool {
    2 * rows.windows(2).filter(|pair| pair[0] != pair[1]).count() > rows.len()
}

/// A table.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns, all with equally many rows.
    pub columns: Vec<Column>,
}

impl Table {
    /// The number of rows; 0 without columns.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The column of a name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Whether the columns make a table.
    pub(crate) fn check(&self) -> Result<()> {
        for (at, column) in self.columns.iter().enumerate() {
            let name = &column.name;
            if column.values.len() != self.rows() {
                let rows = column.values.len();
                return Err(Error::new(format!("column {name}: {rows} rows, expected {}", self.rows())));
            }
            if self.columns[..at].iter().any(|before| before.name == *name) {
                return Err(Error::new(format!("two columns are called {name}")));
            }
            column
                .values
                .kind()
                .check(column.codec)
                .map_err(|what| Error::new(format!("column {name}: {what}")))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_narrowest_type_with_room_for_all() {
        let of = |numbers: &[u64]| Values::narrowest(numbers.iter().copied());
        assert_eq!(of(&[]), Values::U8(vec![]));
        assert_eq!(of(&[255, 0]), Values::U8(vec![255, 0]));
        assert_eq!(of(&[256, 0]), Values::U16(vec![256, 0]));
        assert_eq!(of(&[7, 1 << 16]), Values::U32(vec![7, 1 << 16]));
        assert_eq!(of(&[1 << 32, u64::MAX]), Values::U64(vec![1 << 32, u64::MAX]));
    }

    #[test]
    fn short_columns_are_not_compressed() {
        let codec = |rows| Column::of_numbers("ticks", None, std::iter::repeat_n(1 << 20, rows)).codec;
        assert_eq!((codec(SHORT / 4 - 1), codec(SHORT / 4)), (Codec::Raw, Codec::Zlib));
    }

    #[test]
    fn noise_is_not_compressed() {
        let codec = |number: fn(u64) -> u64| {
            Column::of_numbers("ticks", None, (0..SHORT as u64).map(number)).raw_if_noise().codec
        };
        assert_eq!(codec(|row| row << 20), Codec::Raw);
        assert_eq!(codec(|row| if row % 5 == 0 { row << 20 } else { 0 }), Codec::Zlib);
    }
}
