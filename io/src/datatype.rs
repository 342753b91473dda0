//! Types of MPI as the recorder writes them (io.md 2.4), and the pieces of bytes that they are.
//!
//! ```text
//! b<n>                                  n bytes without holes
//! c(<count>,T)                          contiguous
//! v(<count>,<length>,<stride>,T)        vector; stride in bytes
//! s[<sizes>;<subsizes>;<starts>](T)     subarray, slowest dimension first
//! x(<length>@<displacement>,…;T)        indexed; displacements in bytes
//! t(<length>@<displacement>:T,…)        struct
//! r(<lower bound>,<extent>,T)           resized
//! ```

use std::fmt;

/// How many pieces are made of a type at most.
pub const PIECES: usize = 4096;

/// How deep types may be nested.
const DEPTH: usize = 64;

/// Displacement and length in bytes.
pub(crate) type Piece = (i128, i128);

/// A type as MPI sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Datatype {
    /// Pieces in the order of the type, those that touch joined; `None` if there are more than [`PIECES`].
    pub(crate) pieces: Option<Vec<Piece>>,
    /// Bytes without holes.
    pub(crate) size: i128,
    /// First byte, and the byte behind the last one, which may have been moved by resizing; `None` of a type without bytes.
    pub(crate) bounds: Option<(i128, i128)>,
}

/// What is wrong with the text of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadType {
    /// Something else is expected at this byte.
    Syntax(usize),
    /// Types are nested too deep.
    TooDeep,
    /// Numbers become too large.
    TooLarge,
}

impl fmt::Display for BadType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadType::Syntax(at) => write!(f, "no type at byte {at}"),
            BadType::TooDeep => write!(f, "more than {DEPTH} types within each other"),
            BadType::TooLarge => f.write_str("numbers are too large"),
        }
    }
}

impl std::error::Error for BadType {}

impl Datatype {
    /// Reads the text of a type.
    ///
    /// # Errors
    /// If the text is none, or its numbers become too large.
    pub fn parse(text: &str) -> Result<Datatype, BadType> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let made = reader.datatype(DEPTH)?;
        if reader.at == text.len() { Ok(made) } else { Err(BadType::Syntax(reader.at)) }
    }

    /// From the first byte to behind the last one, or what resizing says.
    pub(crate) fn extent(&self) -> i128 {
        self.bounds.map_or(0, |(lower, upper)| upper.saturating_sub(lower))
    }

    fn none() -> Datatype {
        Datatype { pieces: Some(Vec::new()), size: 0, bounds: None }
    }

    /// So many of it, so many bytes from one to the next.
    fn copies(&self, count: i128, step: i128, base: i128) -> Option<Datatype> {
        let size = self.size.checked_mul(count)?;
        if count == 0 {
            return Some(Datatype::none());
        }
        let last = step.checked_mul(count - 1)?.checked_add(base)?;
        let bounds = match self.bounds {
            Some((lower, upper)) => {
                Some((base.min(last).checked_add(lower)?, base.max(last).checked_add(upper)?))
            }
            None => None,
        };
        let pieces = match self.pieces.as_deref() {
            Some([]) => Some(Vec::new()),
            Some(&[(at, length)]) if length == step => {
                Some(vec![(base.checked_add(at)?, length.checked_mul(count)?)])
            }
            Some(one) => repeated(one, count, step, base)?,
            None => None,
        };
        Some(Datatype { pieces, size, bounds })
    }

    /// Both, one behind the other in the order of the type.
    fn and(mut self, other: Datatype) -> Option<Datatype> {
        self.size = self.size.checked_add(other.size)?;
        self.bounds = match (self.bounds, other.bounds) {
            (Some((lower, upper)), Some((low, high))) => Some((lower.min(low), upper.max(high))),
            (bounds, None) | (None, bounds) => bounds,
        };
        self.pieces = match (self.pieces, other.pieces) {
            (Some(mut all), Some(more)) => {
                more.into_iter().for_each(|piece| join(&mut all, piece));
                (all.len() <= PIECES).then_some(all)
            }
            _ => None,
        };
        Some(self)
    }
}

/// Pieces again and again; nothing within if there are too many, nothing at all if numbers become too large.
#[expect(clippy::option_option, reason = "one says too large, the other too many")]
fn repeated(one: &[Piece], count: i128, step: i128, base: i128) -> Option<Option<Vec<Piece>>> {
    let mut all = Vec::new();
    let mut begin = base;
    for _ in 0..count {
        for &(at, length) in one {
            join(&mut all, (begin.checked_add(at)?, length));
        }
        if all.len() > PIECES {
            return Some(None);
        }
        begin = begin.checked_add(step)?;
    }
    Some(Some(all))
}

/// Adds a piece to those before it.
pub(crate) fn join(pieces: &mut Vec<Piece>, (at, length): Piece) {
    match pieces.last_mut() {
        Some((begin, before)) if begin.checked_add(*before) == Some(at) => {
            *before = before.saturating_add(length)
        }
        _ if length > 0 => pieces.push((at, length)),
        _ => {}
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn datatype(&mut self, depth: usize) -> Result<Datatype, BadType> {
        let depth = depth.checked_sub(1).ok_or(BadType::TooDeep)?;
        let head = self.text.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        match head {
            b'b' => {
                let size = self.count()?;
                let pieces = if size > 0 { vec![(0, size)] } else { Vec::new() };
                return Ok(Datatype { pieces: Some(pieces), size, bounds: Some((0, size)) });
            }
            b's' => return self.subarray(depth),
            b'c' | b'v' | b'x' | b't' | b'r' => self.take(b'(')?,
            _ => return Err(BadType::Syntax(self.at - 1)),
        }
        let made = match head {
            b'c' => {
                let count = self.count_then(b',')?;
                let one = self.datatype(depth)?;
                one.copies(count, one.extent(), 0)
            }
            b'v' => {
                let (count, length) = (self.count_then(b',')?, self.count_then(b',')?);
                let stride = self.number_then(b',')?;
                let one = self.datatype(depth)?;
                one.copies(length, one.extent(), 0).and_then(|block| block.copies(count, stride, 0))
            }
            b'r' => {
                let (lower, extent) = (self.number_then(b',')?, self.number_then(b',')?);
                let one = self.datatype(depth)?;
                Some(Datatype { bounds: lower.checked_add(extent).map(|upper| (lower, upper)), ..one })
            }
            b'x' => {
                let mut blocks = Vec::new();
                while self.peek() != b';' {
                    self.take_between(blocks.is_empty())?;
                    blocks.push((self.count_then(b'@')?, self.number()?));
                }
                self.take(b';')?;
                let one = self.datatype(depth)?;
                blocks.into_iter().try_fold(Datatype::none(), |all, (count, at)| {
                    all.and(one.copies(count, one.extent(), at)?)
                })
            }
            _ => {
                let mut all = Some(Datatype::none());
                let mut is_first = true;
                while self.peek() != b')' {
                    self.take_between(is_first)?;
                    is_first = false;
                    let (count, at) = (self.count_then(b'@')?, self.number_then(b':')?);
                    let one = self.datatype(depth)?;
                    let block = one.copies(count, one.extent(), at);
                    all = all.zip(block).and_then(|(all, block)| all.and(block));
                }
                all
            }
        };
        self.take(b')')?;
        made.ok_or(BadType::TooLarge)
    }

    fn subarray(&mut self, depth: usize) -> Result<Datatype, BadType> {
        self.take(b'[')?;
        let sizes = self.list(b';')?;
        let (subsizes, starts) = (self.list(b';')?, self.list(b']')?);
        if sizes.len() != subsizes.len() || sizes.len() != starts.len() {
            return Err(BadType::Syntax(self.at));
        }
        self.take(b'(')?;
        let mut one = self.datatype(depth)?;
        self.take(b')')?;
        let mut extent = one.extent();
        for ((size, sub), start) in sizes.into_iter().zip(subsizes).zip(starts).rev() {
            let made = extent.checked_mul(start).and_then(|base| one.copies(sub, extent, base));
            one = made.ok_or(BadType::TooLarge)?;
            extent = extent.checked_mul(size).ok_or(BadType::TooLarge)?;
        }
        Ok(Datatype { bounds: Some((0, extent)), ..one })
    }

    fn list(&mut self, end: u8) -> Result<Vec<i128>, BadType> {
        let mut all = vec![self.count()?];
        while self.peek() == b',' {
            self.at += 1;
            all.push(self.count()?);
        }
        self.take(end)?;
        Ok(all)
    }

    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn take(&mut self, what: u8) -> Result<(), BadType> {
        if self.peek() != what || what == 0 {
            return Err(BadType::Syntax(self.at));
        }
        self.at += 1;
        Ok(())
    }

    /// Takes what is between elements of a list.
    fn take_between(&mut self, is_first: bool) -> Result<(), BadType> {
        if is_first { Ok(()) } else { self.take(b',') }
    }

    fn number(&mut self) -> Result<i128, BadType> {
        let is_digit = |(at, byte): (usize, &u8)| byte.is_ascii_digit() || at == 0 && *byte == b'-';
        let rest = self.text.get(self.at..).unwrap_or(&[]);
        let length = rest.iter().enumerate().take_while(|&it| is_digit(it)).count();
        let number = std::str::from_utf8(&rest[..length]).ok().and_then(|text| text.parse::<i64>().ok());
        let number = number.ok_or(BadType::Syntax(self.at))?;
        self.at += length;
        Ok(number.into())
    }

    /// A number that is not negative.
    fn count(&mut self) -> Result<i128, BadType> {
        let at = self.at;
        self.number().and_then(|number| if number < 0 { Err(BadType::Syntax(at)) } else { Ok(number) })
    }

    fn number_then(&mut self, behind: u8) -> Result<i128, BadType> {
        let number = self.number()?;
        self.take(behind).map(|()| number)
    }

    fn count_then(&mut self, behind: u8) -> Result<i128, BadType> {
        let count = self.count()?;
        self.take(behind).map(|()| count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(text: &str) -> (Vec<Piece>, i128) {
        let made = Datatype::parse(text).unwrap();
        let extent = made.extent();
        assert_eq!(made.size, made.pieces.iter().flatten().map(|(_, length)| length).sum::<i128>());
        (made.pieces.unwrap(), extent)
    }

    #[test]
    fn types_become_pieces() {
        assert_eq!(flat("b8"), (vec![(0, 8)], 8));
        assert_eq!(flat("c(1000000,b8)"), (vec![(0, 8_000_000)], 8_000_000));
        assert_eq!(flat("v(3,2,40,b8)"), (vec![(0, 16), (40, 16), (80, 16)], 96));
        assert_eq!(flat("r(0,64,x(1@8,2@24;b4))"), (vec![(8, 4), (24, 8)], 64));
        assert_eq!(flat("s[4,4;2,2;1,1](b1)"), (vec![(5, 2), (9, 2)], 16));
        assert_eq!(flat("t(1@0:b4,2@8:r(0,8,b4))"), (vec![(0, 4), (8, 4), (16, 4)], 24));
        assert_eq!(flat("c(0,b8)"), (vec![], 0));
    }

    #[test]
    fn the_extent_begins_at_the_first_byte_as_in_mpi() {
        assert_eq!(flat("x(1@8,2@24;b4)").1, 24);
        assert_eq!(flat("v(2,1,-16,b8)"), (vec![(0, 8), (-16, 8)], 24));
    }

    #[test]
    fn too_many_pieces_keep_size_and_extent() {
        let made = Datatype::parse("v(5000,1,16,b8)").unwrap();
        assert_eq!((made.pieces.clone(), made.size, made.extent()), (None, 40_000, 4999 * 16 + 8));
        assert_eq!(Datatype::parse("v(4096,1,16,b8)").unwrap().pieces.unwrap().len(), 4096);
        assert!(Datatype::parse("v(1000000000000000000,1,16,b8)").unwrap().pieces.is_none());
    }

    #[test]
    fn other_texts_are_none() {
        for (text, at) in [
            ("", 0),
            ("q", 0),
            ("b", 1),
            ("b-1", 1),
            ("c(2,b8", 6),
            ("b8b", 2),
            ("s[1;1](b1)", 5),
            ("x(1@2,;b1)", 6),
        ] {
            assert_eq!(Datatype::parse(text), Err(BadType::Syntax(at)), "{text}");
        }
        assert_eq!(Datatype::parse(&"c(1,".repeat(1000)), Err(BadType::TooDeep));
        let large = format!("{}b9{}", "c(9000000000000000000,".repeat(3), ")".repeat(3));
        assert_eq!(Datatype::parse(&large), Err(BadType::TooLarge));
    }
}
