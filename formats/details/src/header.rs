//! Header of a table: names, types, and places of blocks, as JSON.

use serde::{Deserialize, Serialize};

/// The first bytes of a table.
pub(crate) const MAGIC: &[u8; 8] = b"RPTABLE1";

/// Rows of a block; the last one of a column may have fewer.
pub(crate) const ROWS: usize = 1 << 16;

/// Types of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    U8,
    U16,
    U32,
    U64,
    I64,
    F64,
    Bytes,
}

impl Kind {
    /// The bytes of a row; `None` where rows have their own.
    pub(crate) fn width(self) -> Option<usize> {
        match self {
            Kind::U8 => Some(1),
            Kind::U16 => Some(2),
            Kind::U32 => Some(4),
            Kind::U64 | Kind::I64 | Kind::F64 => Some(8),
            Kind::Bytes => None,
        }
    }

    /// Whether rows can be stored in a way.
    pub(crate) fn check(self, codec: Codec) -> Result<(), &'static str> {
        match (self, codec) {
            (Kind::F64 | Kind::Bytes, Codec::DeltaZlib) => Err("only integers have differences"),
            _ => Ok(()),
        }
    }
}

/// Units of values, and numberings that they refer to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Ticks of the report's clock.
    Tick,
    /// Seconds.
    Second,
    /// Bytes.
    Byte,
    /// Numbers of things.
    Count,
    /// Positions of locations in the report.
    Location,
    /// Ranks.
    Process,
    /// Positions of call paths in the report.
    Cnode,
    /// Fine bins of time.
    Bin,
}

/// How the blocks of a column are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Codec {
    /// As they are.
    #[serde(rename = "raw")]
    Raw,
    /// Compressed.
    #[serde(rename = "zlib")]
    Zlib,
    /// Compressed differences between rows.
    #[serde(rename = "delta+zlib")]
    DeltaZlib,
}

/// Offset behind the header in bytes, size in bytes, number of rows.
pub(crate) type Block = (u64, u64, u64);

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ColumnHeader {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    pub(crate) unit: Option<Unit>,
    pub(crate) codec: Codec,
    pub(crate) blocks: Vec<Block>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) rows: u64,
    pub(crate) columns: Vec<ColumnHeader>,
}
