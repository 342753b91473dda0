//! Attributes of events, which tell what OTF2 has no fields for.

use otf2::{Attribute, Value, ValueType};

/// An attribute of events of a pattern.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) reference: u32,
    pub(crate) name: &'static str,
    pub(crate) value_type: ValueType,
}

impl Told {
    /// Numbers begin at 0 in each list of attributes: readers want them without gaps, and no pattern has two lists.
    pub(crate) const fn new(reference: u32, name: &'static str, value_type: ValueType) -> Told {
        Told { reference, name, value_type }
    }

    /// The attribute of an event, with this value.
    pub(crate) fn with(self, bits: u64) -> Attribute {
        Attribute { attribute: self.reference, value: Value::new(self.value_type, bits) }
    }
}
