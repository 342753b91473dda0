//! Element types: the type of the values of a row, and their size in bytes.
//!
//! All types of the format have a name and a size. The plain numbers among them are also decoded; the
//! compound ones (rates, histograms, ...) are left as bytes.

use std::fmt;

/// The element type of a metric (`dtype`).
///
/// The writer accepts rows of `Double`, `UInt64`, `Int64`, `MinDouble` and `MaxDouble`, which all readers
/// handle; shorter types could also give a member a size for which the padding of the container is ambiguous.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum DataType {
    /// 64-bit float. Cube's `FLOAT` is the same type.
    #[default]
    Double,
    /// 64-bit float; groups of values are combined by minimum.
    MinDouble,
    /// 64-bit float; groups of values are combined by maximum.
    MaxDouble,
    /// Unsigned, 64 bits.
    UInt64,
    /// Signed, 64 bits.
    Int64,
    /// Unsigned, 32 bits.
    UInt32,
    /// Signed, 32 bits.
    Int32,
    /// Unsigned, 16 bits.
    UInt16,
    /// Signed, 16 bits.
    Int16,
    /// Unsigned, 8 bits.
    UInt8,
    /// Signed, 8 bits.
    Int8,
    /// Two floats: real and imaginary part.
    Complex,
    /// Two floats: numerator and denominator.
    Rate,
    /// Count, minimum, maximum, sum and sum of squares; 36 bytes without padding.
    TauAtomic,
    /// The given number of floats.
    NDoubles(u32),
    /// Minimum, maximum and the given number of bins, all floats.
    Histogram(u32),
    /// A scaling function of Extra-P; 848 bytes.
    ScaleFunc,
    /// A name that this crate does not know. Its rows cannot be read.
    Unknown(String),
}

/// Interpretation of a plain number of at most eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberKind {
    Float,
    Unsigned,
    Signed,
}

impl DataType {
    /// The type with this name; aliases are understood, anything else becomes [`DataType::Unknown`].
    #[must_use]
    pub fn from_name(name: &str) -> DataType {
        let parameter = |kind: &str| {
            let inner = name.strip_prefix(kind)?.strip_prefix('(')?.strip_suffix(')')?;
            inner.trim().parse().ok()
        };
        match name {
            "DOUBLE" | "FLOAT" => DataType::Double,
            "MINDOUBLE" => DataType::MinDouble,
            "MAXDOUBLE" => DataType::MaxDouble,
            "UINT64" | "UNSIGNED INTEGER" => DataType::UInt64,
            "INT64" | "INTEGER" | "SIGNED INTEGER" => DataType::Int64,
            "UINT32" | "UNSIGNED INT" => DataType::UInt32,
            "INT32" | "INT" | "SIGNED INT" => DataType::Int32,
            "UINT16" | "UNSIGNED SHORT INT" => DataType::UInt16,
            "INT16" | "SHORT INT" | "SIGNED SHORT INT" => DataType::Int16,
            "UINT8" | "CHAR" => DataType::UInt8,
            "INT8" => DataType::Int8,
            "COMPLEX" => DataType::Complex,
            "RATE" => DataType::Rate,
            "TAU_ATOMIC" => DataType::TauAtomic,
            "SCALE_FUNC" => DataType::ScaleFunc,
            _ => parameter("NDOUBLES")
                .map(DataType::NDoubles)
                .or_else(|| parameter("HISTOGRAM").map(DataType::Histogram))
                .unwrap_or_else(|| DataType::Unknown(name.to_owned())),
        }
    }

    /// Size of an element in bytes; `None` if the type is unknown.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        Some(match self {
            DataType::Double | DataType::MinDouble | DataType::MaxDouble => 8,
            DataType::UInt64 | DataType::Int64 => 8,
            DataType::UInt32 | DataType::Int32 => 4,
            DataType::UInt16 | DataType::Int16 => 2,
            DataType::UInt8 | DataType::Int8 => 1,
            DataType::Complex | DataType::Rate => 16,
            DataType::TauAtomic => 36,
            DataType::NDoubles(count) => 8 * u64::from(*count),
            DataType::Histogram(bins) => 8 * (u64::from(*bins) + 2),
            DataType::ScaleFunc => 848,
            DataType::Unknown(_) => return None,
        })
    }

    /// The value of a missing row, if the type is a plain number: zero, or for minima and maxima the neutral
    /// element of the operation.
    #[must_use]
    pub fn neutral(&self) -> f64 {
        match self {
            DataType::MinDouble => f64::MAX,
            DataType::MaxDouble => f64::MIN,
            _ => 0.0,
        }
    }

    /// Whether inclusive values may be stored, i.e. whether sums over the call tree can be undone by
    /// subtraction.
    #[must_use]
    pub fn can_be_inclusive(&self) -> bool {
        !matches!(
            self,
            DataType::MinDouble | DataType::MaxDouble | DataType::TauAtomic | DataType::Histogram(_)
        )
    }

    pub(crate) fn number_kind(&self) -> Option<NumberKind> {
        match self {
            DataType::Double | DataType::MinDouble | DataType::MaxDouble => Some(NumberKind::Float),
            DataType::UInt64 | DataType::UInt32 | DataType::UInt16 | DataType::UInt8 => {
                Some(NumberKind::Unsigned)
            }
            DataType::Int64 | DataType::Int32 | DataType::Int16 | DataType::Int8 => Some(NumberKind::Signed),
            _ => None,
        }
    }
}

/// The name in the file.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DataType::Double => "DOUBLE",
            DataType::MinDouble => "MINDOUBLE",
            DataType::MaxDouble => "MAXDOUBLE",
            DataType::UInt64 => "UINT64",
            DataType::Int64 => "INT64",
            DataType::UInt32 => "UINT32",
            DataType::Int32 => "INT32",
            DataType::UInt16 => "UINT16",
            DataType::Int16 => "INT16",
            DataType::UInt8 => "UINT8",
            DataType::Int8 => "INT8",
            DataType::Complex => "COMPLEX",
            DataType::Rate => "RATE",
            DataType::TauAtomic => "TAU_ATOMIC",
            DataType::ScaleFunc => "SCALE_FUNC",
            DataType::NDoubles(count) => return write!(f, "NDOUBLES({count})"),
            DataType::Histogram(bins) => return write!(f, "HISTOGRAM({bins})"),
            DataType::Unknown(name) => name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alias_becomes_the_type_and_name_is_canonical() {
        assert_eq!(DataType::from_name("FLOAT"), DataType::Double);
        assert_eq!(DataType::from_name("UNSIGNED INTEGER").to_string(), "UINT64");
        assert_eq!(DataType::from_name("HISTOGRAM(3)").size(), Some(40));
        assert_eq!(DataType::from_name("HISTOGRAM(-3)").size(), None);
        assert_eq!(DataType::from_name("NDOUBLES(4294967295)").size(), Some(34_359_738_360));
    }

    #[test]
    fn every_name_reads_back_and_has_its_size() {
        let sizes: [(&str, Option<u64>); 18] = [
            ("DOUBLE", Some(8)),
            ("MINDOUBLE", Some(8)),
            ("MAXDOUBLE", Some(8)),
            ("UINT64", Some(8)),
            ("INT64", Some(8)),
            ("UINT32", Some(4)),
            ("INT32", Some(4)),
            ("UINT16", Some(2)),
            ("INT16", Some(2)),
            ("UINT8", Some(1)),
            ("INT8", Some(1)),
            ("COMPLEX", Some(16)),
            ("RATE", Some(16)),
            ("TAU_ATOMIC", Some(36)),
            ("NDOUBLES(2)", Some(16)),
            ("HISTOGRAM(2)", Some(32)),
            ("SCALE_FUNC", Some(848)),
            ("something", None),
        ];
        for (name, size) in sizes {
            let data_type = DataType::from_name(name);
            assert_eq!((data_type.to_string(), data_type.size()), (name.to_owned(), size));
        }
    }
}
