//! Reading of words that another worker has written.

/// Words that are read front to back.
#[derive(Debug)]
pub(crate) struct Reader<'w> {
    words: &'w [u64],
}

impl<'w> Reader<'w> {
    pub(crate) fn new(words: &'w [u64]) -> Reader<'w> {
        Reader { words }
    }

    /// The next word.
    pub(crate) fn word(&mut self) -> Option<u64> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(*first)
    }

    /// The next word as a number with a sign.
    pub(crate) fn number(&mut self) -> Option<i64> {
        self.word().map(u64::cast_signed)
    }

    /// The next two words as one number.
    pub(crate) fn wide(&mut self) -> Option<i128> {
        let (low, high) = (self.word()?, self.word()?);
        Some((u128::from(high) << 64 | u128::from(low)).cast_signed())
    }

    /// Whether all words have been read.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}
