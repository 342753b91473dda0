//! Python strings (PEP 393), and their conversion to UTF-8.

use crate::interpreter::Types;
use crate::layout::Layout;
use crate::memory::Memory;

/// Maximum length in characters: no name and no path is longer.
const LONGEST: u64 = 1 << 16;

/// A string: address, number and width of its characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Text {
    /// Address of the first character.
    data: u64,
    /// Number of characters.
    length: u64,
    /// Bytes of a character: 1, 2 or 4.
    width: u64,
}

impl Text {
    /// Returns the string that is the object at an address. `None` for other objects, for strings of
    /// subclasses, for strings in the form of Python 3.2 and before, and for strings that are too long.
    pub fn of(layout: &Layout, types: &Types, memory: &mut impl Memory, object: u64) -> Option<Self> {
        if memory.peek(object.wrapping_add(layout.object_type))? != types.string {
            return None;
        }
        let length = memory.word(object.wrapping_add(layout.length))?;
        let state = object.wrapping_add(layout.state);
        memory.word(state & !7)?;
        let state = memory.number(state)?;
        // Bits: 2 for interning, 3 for the width, 1 for characters that follow the object, 1 for ASCII.
        let (width, is_compact, is_ascii) =
            (u64::from(state >> 2 & 7), state >> 5 & 1 == 1, state >> 6 & 1 == 1);
        let header = if is_ascii { layout.ascii } else { layout.compact };
        let is_string = is_compact && matches!(width, 1 | 2 | 4) && length <= LONGEST;
        is_string.then_some(Self { data: object.wrapping_add(header), length, width })
    }

    /// Returns the address of the word that holds the last character.
    pub fn last_word(&self) -> u64 {
        self.data.wrapping_add((self.length * self.width).saturating_sub(1)) & !7
    }

    /// Writes the string as UTF-8, as far as there is room for whole characters; returns the number of bytes
    /// written. `None` if it cannot be read. Unpaired surrogates are replaced.
    pub fn write(&self, memory: &mut impl Memory, room: &mut [u8]) -> Option<usize> {
        let mut written = 0;
        for i in 0..self.length {
            let at = self.data + i * self.width;
            let bytes = memory.peek(at & !7)?.to_ne_bytes();
            let bytes = bytes.get((at & 7) as usize..)?;
            let number = match self.width {
                1 => u32::from(*bytes.first()?),
                2 => u32::from(u16::from_ne_bytes(*bytes.first_chunk()?)),
                _ => u32::from_ne_bytes(*bytes.first_chunk()?),
            };
            let character = char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER);
            let mut encoded = [0; 4];
            let encoded = character.encode_utf8(&mut encoded).as_bytes();
            let Some(place) = room.get_mut(written..written + encoded.len()) else { break };
            place.copy_from_slice(encoded);
            written += encoded.len();
        }
        Some(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{MockInterpreter, layouts};

    fn written(text: &str, room: usize) -> Option<String> {
        let mut mock = MockInterpreter::new(layouts()[0]);
        let object = mock.string(text);
        let text = Text::of(&mock.layout.clone(), &mock.types.clone(), &mut mock, object)?;
        let mut bytes = vec![0; room];
        let length = text.write(&mut mock, &mut bytes)?;
        bytes.truncate(length);
        String::from_utf8(bytes).ok()
    }

    #[test]
    fn strings_of_each_width_become_utf8() {
        for text in
            ["", "a", "main.<locals>.step", "Löser.größe", "解く", "ядро🚀", "12345678", "a/b/c/d/e.py"]
        {
            assert_eq!(written(text, 100).as_deref(), Some(text));
        }
    }

    #[test]
    fn strings_are_cut_between_characters() {
        assert_eq!(written("aäöü", 4).as_deref(), Some("aä"));
        assert_eq!(written("解く", 2).as_deref(), Some(""));
    }

    #[test]
    fn half_of_a_pair_is_replaced() {
        let mut mock = MockInterpreter::new(layouts()[0]);
        let object = mock.string_of(2, &[0x61, 0xdc80]);
        let text = Text::of(&mock.layout.clone(), &mock.types.clone(), &mut mock, object).unwrap();
        let mut bytes = [0; 8];
        assert_eq!(text.write(&mut mock, &mut bytes), Some(4));
        assert_eq!(&bytes[..4], "a\u{fffd}".as_bytes());
    }

    #[test]
    fn other_objects_are_no_strings() {
        let mut mock = MockInterpreter::new(layouts()[0]);
        let (layout, types) = (mock.layout, mock.types);
        let bytes = mock.bytes_object(b"abc");
        assert_eq!(Text::of(&layout, &types, &mut mock, bytes), None);
        assert_eq!(Text::of(&layout, &types, &mut mock, 0), None);
        let string = mock.string("abc");
        mock.set(string + layout.length, u64::MAX);
        assert_eq!(Text::of(&layout, &types, &mut mock, string), None, "too long");
    }
}
