//! Numbers of a line with separators between them, as headers and records have them.

use crate::error::{Fault, excerpt};

/// The rest of a line that has not been parsed yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'t> {
    line: &'t [u8],
    at: usize,
}

impl<'t> Fields<'t> {
    pub(crate) fn new(line: &'t [u8], at: usize) -> Fields<'t> {
        Fields { line, at }
    }

    /// The byte of the line that comes next.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// What is left of the line.
    pub(crate) fn rest(&self) -> &'t [u8] {
        self.line.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.line.len()
    }

    /// A number without sign.
    #[inline]
    pub(crate) fn number(&mut self, what: &str) -> Result<u64, Fault> {
        let begin = self.at;
        let mut number: u64 = 0;
        while let Some(digit) = self.line.get(self.at).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            let more = number.checked_mul(10).and_then(|number| number.checked_add(digit.into()));
            let Some(more) = more else { return Err(self.wrong(begin, what, " below 2^64")) };
            number = more;
            self.at += 1;
        }
        if self.at == begin { Err(self.wrong(begin, what, "")) } else { Ok(number) }
    }

    /// A number with or without sign.
    #[inline]
    pub(crate) fn signed(&mut self, what: &str) -> Result<i128, Fault> {
        let is_negative = self.skip(b'-');
        let number = i128::from(self.number(what)?);
        Ok(if is_negative { -number } else { number })
    }

    /// Takes a byte if it comes next.
    #[inline]
    pub(crate) fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.line.get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Takes bytes that have been looked at.
    pub(crate) fn skip_bytes(&mut self, count: usize) {
        self.at = self.line.len().min(self.at + count);
    }

    /// Takes the byte that must come next.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8, before: &str) -> Result<(), Fault> {
        if self.skip(byte) {
            return Ok(());
        }
        let expected = format!("{:?} and {before}", char::from(byte));
        Err(Fault::new(self.at, format_args!("found {}, expected {expected}{}", self.found(), ADVICE)))
    }

    /// A colon, and the number behind it.
    #[inline]
    pub(crate) fn next(&mut self, what: &str) -> Result<u64, Fault> {
        self.expect(b':', what)?;
        self.number(what)
    }

    #[cold]
    fn wrong(&self, at: usize, what: &str, more: &str) -> Fault {
        let found = Fields { at, ..*self }.found();
        Fault::new(at, format_args!("found {found}, expected {what}, a number{more}{ADVICE}"))
    }

    /// What comes next, for messages.
    fn found(&self) -> String {
        if self.is_at_end() { "the end of the line".to_owned() } else { excerpt(self.rest()) }
    }
}

/// What helps against records that are no records.
const ADVICE: &str = "; the file is damaged or no trace of Paraver: write it anew";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_or_refused_with_their_place() {
        let mut fields = Fields::new(b"12:-7:x", 0);
        assert_eq!(fields.number("a").unwrap(), 12);
        fields.expect(b':', "b").unwrap();
        assert_eq!(fields.signed("b").unwrap(), -7);
        let fault = fields.next("the time").unwrap_err();
        assert_eq!(fault.at, 6);
        assert!(fault.message.starts_with("found \"x\", expected the time, a number;"), "{}", fault.message);
        let mut large = Fields::new(b"99999999999999999999", 0);
        assert_eq!(large.number("a").unwrap_err().at, 0);
        assert_eq!(Fields::new(b"18446744073709551615", 0).number("a").unwrap(), u64::MAX);
        assert!(Fields::new(b"", 0).number("a").unwrap_err().message.contains("the end of the line"));
    }
}
