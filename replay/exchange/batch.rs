//! Batches: sequences of 64-bit words for other workers, written and read in the same order.

use crate::int::{high, low, to_usize, words};

/// A sequence of words for one worker.
pub type Batch = Vec<u64>;

/// Two numbers in one word.
pub const fn pair(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// The numbers in a word of [`pair`].
pub const fn halves(word: u64) -> (u32, u32) {
    (high(word), low(word))
}

/// The two words of a 128-bit number; of a signed one, its bits.
pub const fn wide(number: u128) -> [u64; 2] {
    words(number)
}

/// Appends a text.
pub fn put_text(batch: &mut Batch, text: &str) {
    put_bytes(batch, text.as_bytes());
}

/// Appends bytes: their number, then the bytes, eight to a word.
pub fn put_bytes(batch: &mut Batch, bytes: &[u8]) {
    batch.push(bytes.len() as u64);
    let (words, rest) = bytes.as_chunks();
    batch.extend(words.iter().map(|&word| u64::from_le_bytes(word)));
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        batch.push(u64::from_le_bytes(word));
    }
}

/// Reads a batch from front to back.
///
/// Batches come from this program: reading more than was written is an error of the program, and panics.
#[derive(Debug)]
pub struct BatchReader<'a> {
    words: &'a [u64],
}

impl<'a> BatchReader<'a> {
    /// A reader at the first word.
    pub fn new(words: &'a [u64]) -> BatchReader<'a> {
        BatchReader { words }
    }

    /// Whether all words were read.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The unread words.
    pub fn rest(&self) -> &'a [u64] {
        self.words
    }

    /// The next word.
    ///
    /// # Panics
    /// If there is none.
    pub fn word(&mut self) -> u64 {
        self.words(1)[0]
    }

    /// The next `count` words.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn words(&mut self, count: usize) -> &'a [u64] {
        let (words, rest) = self.words.split_at(count);
        self.words = rest;
        words
    }

    /// A number written by [`wide`].
    ///
    /// # Panics
    /// If there are fewer than two words.
    pub fn wide(&mut self) -> u128 {
        u128::from(self.word()) << 64 | u128::from(self.word())
    }

    /// A text written by [`put_text`].
    ///
    /// # Panics
    /// If the words are not of a text.
    pub fn text(&mut self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// Bytes written by [`put_bytes`].
    ///
    /// # Panics
    /// If the words are not of bytes.
    pub fn bytes(&mut self) -> Vec<u8> {
        let length = to_usize(self.word());
        let words = self.words(length.div_ceil(8));
        let mut bytes = vec![0; 8 * words.len()];
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        bytes.truncate(length);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_half_a_word_and_of_two_come_back() {
        assert_eq!(halves(pair(7, u32::MAX)), (7, u32::MAX));
        for number in [0, -1, i128::MIN, 1 << 70] {
            let words = wide(number.cast_unsigned());
            assert_eq!(BatchReader::new(&words).wide().cast_signed(), number);
        }
    }

    #[test]
    fn texts_and_words_are_read_as_they_were_written() {
        let mut batch = vec![7];
        for text in ["", "12345678", "späte Sender"] {
            put_text(&mut batch, text);
        }
        let mut reader = BatchReader::new(&batch);
        assert_eq!(reader.word(), 7);
        assert_eq!([reader.text(), reader.text(), reader.text()], ["", "12345678", "späte Sender"]);
        assert!(reader.is_empty());
    }
}
