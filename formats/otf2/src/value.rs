//! Typed values: attributes of events, properties of definitions, samples of metrics.

use crate::bytes::Bytes;
use crate::field::{Body, Field};
use crate::list::List;
use crate::mappings::{MappingType, Mappings};

/// The type of a [`Value`]. Unknown numbers are kept; their values are stored like `UINT64`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ValueType(pub u8);

macro_rules! value_types {
    ($($name:ident = $code:literal)*) => {
        impl ValueType {
            $(#[doc = concat!("OTF2's type `", stringify!($name), "`.")] pub const $name: ValueType = ValueType($code);)*
        }
    };
}

value_types! {
    NONE = 0 UINT8 = 1 UINT16 = 2 UINT32 = 3 UINT64 = 4 INT8 = 5 INT16 = 6 INT32 = 7 INT64 = 8 FLOAT = 9 DOUBLE = 10
    STRING = 11 ATTRIBUTE = 12 LOCATION = 13 REGION = 14 GROUP = 15 METRIC = 16 COMM = 17 PARAMETER = 18 RMA_WIN = 19
    SOURCE_CODE_LOCATION = 20 CALLING_CONTEXT = 21 INTERRUPT_GENERATOR = 22 IO_FILE = 23 IO_HANDLE = 24
    LOCATION_GROUP = 25
}

impl ValueType {
    /// The kind of definition that a value of this type refers to, if any.
    pub fn reference(self) -> Option<MappingType> {
        self.0.checked_sub(ValueType::STRING.0).and_then(MappingType::from_code)
    }
}

/// A number, or a reference to a definition, with its type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Value {
    /// Type of the value.
    pub kind: ValueType,
    /// The bits of the value, zero-extended: signed types in two's complement of their width, `FLOAT` as an
    /// `f32`, `DOUBLE` as an `f64`.
    pub bits: u64,
}

impl Value {
    /// A value from its bits.
    pub fn new(kind: ValueType, bits: u64) -> Self {
        Value { kind, bits }
    }

    /// A reference to a string definition.
    pub fn string(reference: u32) -> Self {
        Value::new(ValueType::STRING, reference.into())
    }

    /// The value with a global reference, if it is a reference.
    pub fn map(self, mappings: &Mappings) -> Self {
        let bits = match self.kind.reference() {
            None => self.bits,
            Some(MappingType::Location) => mappings.global64(MappingType::Location, self.bits),
            Some(kind) => {
                u32::try_from(self.bits).map_or(self.bits, |local| mappings.global(kind, local).into())
            }
        };
        Value { bits, ..self }
    }

    /// Reads the value that follows a type byte.
    #[inline]
    pub(crate) fn read_as(kind: ValueType, bytes: &mut Bytes<'_>) -> Option<Self> {
        let bits = match kind {
            ValueType::UINT8 | ValueType::INT8 => bytes.u8()?.into(),
            ValueType::UINT16 | ValueType::INT16 => bytes.u16()?.into(),
            ValueType::FLOAT => bytes.u32()?.into(),
            ValueType::DOUBLE => bytes.u64()?,
            ValueType::LOCATION => bytes.compressed_u64()?,
            ValueType::UINT32 | ValueType::INT32 => bytes.compressed_u32()?.into(),
            kind if kind.reference().is_some() => bytes.compressed_u32()?.into(),
            _ => bytes.compressed_u64()?,
        };
        Some(Value { kind, bits })
    }
}

impl Field<'_> for ValueType {
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        bytes.u8().map(ValueType)
    }

    fn write(&self, body: &mut Body) {
        body.u8(self.0);
    }
}

impl Field<'_> for Value {
    #[inline]
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let kind = ValueType::read(bytes)?;
        Value::read_as(kind, bytes)
    }

    fn write(&self, body: &mut Body) {
        self.kind.write(body);
        let little = self.bits.to_le_bytes();
        let [b0, b1, b2, b3, ..] = little;
        let narrow = u32::from_le_bytes([b0, b1, b2, b3]);
        body.counted_as(9, |body| match self.kind {
            ValueType::UINT8 | ValueType::INT8 => body.u8(b0),
            ValueType::UINT16 | ValueType::INT16 => body.u16(u16::from_le_bytes([b0, b1])),
            ValueType::FLOAT => body.u32(narrow),
            ValueType::DOUBLE => body.u64(self.bits),
            ValueType::INT32 => body.compressed_signed(narrow.into(), 4),
            ValueType::INT64 => body.compressed_signed(self.bits, 8),
            ValueType::LOCATION => body.compressed_u64(self.bits),
            ValueType::UINT32 => body.compressed_u32(narrow),
            kind if kind.reference().is_some() => body.compressed_u32(narrow),
            _ => body.compressed_u64(self.bits),
        });
    }
}

/// An attribute of an event: a value beyond its fields.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Attribute {
    /// Reference to the attribute definition; local, like the references of the event itself.
    pub attribute: u32,
    /// Its value.
    pub value: Value,
}

/// The attributes of one event, in their order.
pub type Attributes<'a> = List<'a, Attribute>;

impl Attribute {
    /// The attribute with global references.
    pub fn map(self, mappings: &Mappings) -> Self {
        let attribute = mappings.global(MappingType::Attribute, self.attribute);
        Attribute { attribute, value: self.value.map(mappings) }
    }
}

impl Field<'_> for Attribute {
    #[inline]
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        Some(Attribute { attribute: u32::read(bytes)?, value: Value::read(bytes)? })
    }

    fn write(&self, body: &mut Body) {
        self.attribute.write(body);
        self.value.write(body);
    }
}

/// One value of a `Metric` event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MetricValue {
    /// `INT64`, `UINT64` or `DOUBLE`.
    pub kind: ValueType,
    /// The bits of the number. Unlike in a [`Value`], a double is compressed like an integer.
    pub bits: u64,
}

impl Field<'_> for MetricValue {
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        Some(MetricValue { kind: ValueType::read(bytes)?, bits: u64::read(bytes)? })
    }

    fn write(&self, body: &mut Body) {
        self.kind.write(body);
        self.bits.write(body);
    }
}

/// A property of an I/O paradigm.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IoParadigmProperty {
    /// The property: 0 version.
    pub property: u8,
    /// Its value.
    pub value: Value,
}

impl Field<'_> for IoParadigmProperty {
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        Some(IoParadigmProperty { property: u8::read(bytes)?, value: Value::read(bytes)? })
    }

    fn write(&self, body: &mut Body) {
        self.property.write(body);
        self.value.write(body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::ByteOrder;

    #[test]
    fn every_type_survives_writing_and_reading() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for kind in (0..=27).map(ValueType) {
                for bits in [0, 1, 200, 0xff] {
                    let mut body = Body::new(order, true);
                    Value::new(kind, bits).write(&mut body);
                    assert_eq!(body.bound(), 10, "a type byte and nine");
                    let mut bytes = Bytes::new(body.bytes(), 0, 99, order);
                    assert_eq!(Value::read(&mut bytes), Some(Value::new(kind, bits)));
                    assert_eq!(bytes.left(), 0);
                }
            }
        }
    }

    #[test]
    fn negative_values_have_no_short_form() {
        let mut body = Body::new(ByteOrder::Little, false);
        Value::new(ValueType::INT32, 0xffff_ffff).write(&mut body);
        assert_eq!(body.bytes(), [7, 4, 255, 255, 255, 255]);
    }
}
