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

    /// This column with differences between rows, which compress better where rows are nearly sorted. Integers only.
    #[must_use]
    pub fn delta(self) -> Column {
        Column { codec: Codec::DeltaZlib, ..self }
    }
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
