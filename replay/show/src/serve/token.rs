//! The token in the path of all addresses: who does not know it gets nothing. Ports of login nodes are open to all of their
//! users.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read};

/// Bytes of a token.
const BYTES: usize = 16;

/// A token of 128 random bits, as 32 hexadecimal digits.
#[derive(Clone, Debug)]
pub(super) struct Token(String);

impl Token {
    /// A new token.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub(super) fn random() -> io::Result<Token> {
        let mut bytes = [0; BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The digits.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Whether a text is the token. Takes as long for each text of its length.
    pub(super) fn is(&self, text: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), text.as_bytes());
        let difference = own.iter().zip(other).fold(0, |all, (a, b)| black_box(all | (a ^ b)));
        own.len() == other.len() && difference == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_is_the_token() {
        let token = Token::random().unwrap();
        let text = token.text().to_owned();
        assert!(token.is(&text) && text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(!token.is("") && !token.is(&text[..31]) && !token.is(&format!("{text}0")));
        let other = if text.starts_with('0') { "1" } else { "0" };
        assert!(!token.is(&format!("{other}{}", &text[1..])));
        assert_ne!(Token::random().unwrap().text(), text);
    }
}
