//! Types of values, and units of literals (advice 5.2).

use std::fmt;

/// The type of a value; `text` is never computed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Type {
    /// True or false.
    Bool,
    /// A number of things.
    Count,
    /// A length of time, in ticks.
    Time,
    /// A moment, in ticks since the begin of the run.
    Instant,
    /// A number of bytes.
    Bytes,
    /// A ratio, or another number without a unit.
    Number,
    /// Bytes per time.
    Rate,
    /// A process.
    Rank,
    /// A call path.
    Path,
    /// A kind of collective operation.
    Operation,
    /// A name, such as that of a region.
    Text,
}

impl Type {
    /// The word for it in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Type::Bool => "bool",
            Type::Count => "count",
            Type::Time => "time",
            Type::Instant => "instant",
            Type::Bytes => "bytes",
            Type::Number => "number",
            Type::Rate => "rate",
            Type::Rank => "rank",
            Type::Path => "path",
            Type::Operation => "operation",
            Type::Text => "text",
        }
    }

    /// Whether values are numbers of things that have names.
    #[must_use]
    pub fn is_name(self) -> bool {
        matches!(self, Type::Rank | Type::Path | Type::Operation | Type::Text)
    }

    /// Whether it has no unit.
    pub(crate) fn is_plain(self) -> bool {
        matches!(self, Type::Count | Type::Number)
    }

    /// Whether a product with a plain number has a meaning.
    pub(crate) fn can_scale(self) -> bool {
        self.is_plain() || matches!(self, Type::Time | Type::Bytes | Type::Rate)
    }

    /// Whether values are whole numbers.
    pub(crate) fn is_whole(self) -> bool {
        !matches!(self, Type::Number | Type::Rate)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Units of literals: name, type, factor; of times the factor makes seconds.
const UNITS: [(&str, Type, f64); 12] = [
    ("s", Type::Time, 1.0),
    ("ms", Type::Time, 1e-3),
    ("us", Type::Time, 1e-6),
    // The micro sign and the Greek letter look the same.
    ("\u{b5}s", Type::Time, 1e-6),
    ("\u{3bc}s", Type::Time, 1e-6),
    ("ns", Type::Time, 1e-9),
    ("B", Type::Bytes, 1.0),
    ("KiB", Type::Bytes, 1024.0),
    ("MiB", Type::Bytes, 1_048_576.0),
    ("GiB", Type::Bytes, 1_073_741_824.0),
    ("TiB", Type::Bytes, 1_099_511_627_776.0),
    ("%", Type::Number, 0.01),
];

/// What messages say about units.
pub(crate) const UNIT_NAMES: &str = "s, ms, us, ns, B, KiB, MiB, GiB, TiB or %";

/// The type and factor of a unit.
pub(crate) fn unit(name: &str) -> Option<(Type, f64)> {
    UNITS.iter().find(|unit| unit.0 == name).map(|&(_, kind, factor)| (kind, factor))
}
