//! Line tables of code objects (PEP 626; the format since 3.11 is described in `Objects/locations.md` of
//! CPython).

/// Returns the line of the instruction at a position; `None` if it has none, or the table is damaged.
///
/// `bytes` returns the bytes of the table one by one.
pub fn line_of(first_line: u32, instruction: u64, mut bytes: impl FnMut() -> Option<u8>) -> Option<u32> {
    let mut line = i64::from(first_line);
    let mut begin = 0_u64;
    loop {
        let head = bytes()?;
        // The first byte of an entry, and no other one, has the highest bit set.
        if head & 0x80 == 0 {
            return None;
        }
        let end = begin + u64::from(head & 7) + 1;
        let form = head >> 3 & 15;
        match form {
            15 => {}
            13 | 14 => {
                line = line.checked_add(signed(variable(&mut bytes)?))?;
                if form == 14 {
                    // End line, column, end column.
                    for _ in 0..3 {
                        variable(&mut bytes)?;
                    }
                }
            }
            10..=12 => {
                line += i64::from(form - 10);
                bytes()?;
                bytes()?;
            }
            _ => {
                bytes()?;
            }
        }
        if instruction < end {
            return if form == 15 { None } else { u32::try_from(line).ok() };
        }
        begin = end;
    }
}

/// Reads a number of variable length (varint): 6 bits in each byte, the lowest first.
fn variable(bytes: &mut impl FnMut() -> Option<u8>) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes()?;
        if shift > 56 {
            return None;
        }
        number |= u64::from(byte & 0x3f) << shift;
        if byte & 0x40 == 0 {
            return Some(number);
        }
        shift += 6;
    }
}

/// Decodes a signed number: the lowest bit is the sign.
fn signed(number: u64) -> i64 {
    let size = (number >> 1) as i64;
    if number & 1 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(table: &[u8], instruction: u64) -> Option<u32> {
        let mut bytes = table.iter().copied();
        line_of(10, instruction, || bytes.next())
    }

    #[test]
    fn each_form_of_an_entry_moves_the_line() {
        let table = [
            0x80 | 1,
            0x21, // 0-1: same line
            0x80 | 11 << 3,
            1,
            2,                  // 2: next line, 11
            0x80 | 15 << 3 | 7, // 3-10: no line
            0x80 | 13 << 3,
            0x02 << 1, // 11: 2 lines on, 13
            0x80 | 14 << 3 | 2,
            0x40 | 0x09,
            0x03,
            0,
            1,
            0x41,
            2, // 12-14: 100 lines back
            0x80 | 12 << 3,
            1,
            2, // 15: behind the table's sense
        ];
        let lines = [
            (0, Some(10)),
            (1, Some(10)),
            (2, Some(11)),
            (3, None),
            (10, None),
            (11, Some(13)),
            (12, None),
            (16, None),
        ];
        for (instruction, expected) in lines {
            assert_eq!(line(&table, instruction), expected, "{instruction}");
        }
    }

    #[test]
    fn line_goes_back_and_far() {
        // 0x40|1<<1 ... : 2 + 5 << 6 = 322, as a signed number 161.
        let table = [0x80 | 13 << 3, 0x42, 0x05, 0x80 | 13 << 3, 0x03];
        assert_eq!(line(&table, 0), Some(171));
        assert_eq!(line(&table, 1), Some(170));
        assert_eq!(line(&table, 2), None, "behind the end");
    }

    #[test]
    fn damage_is_no_line() {
        assert_eq!(line(&[], 0), None);
        assert_eq!(line(&[0x7f, 1], 0), None, "no start of an entry");
        assert_eq!(line(&[0x80 | 13 << 3], 0), None, "cut off");
        assert_eq!(line(&[&[0x80 | 13 << 3][..], &[0x7f; 20]].concat(), 0), None, "a number without an end");
    }
}
