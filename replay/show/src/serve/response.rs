//! Responses: status, headers that keep browsers from doing anything else with them, and the body.

use std::io;
use std::time::{Duration, Instant};

use super::address::Stream;

/// Bytes that are written at once, how long each may take, and how long all.
const PIECE: usize = 1 << 16;
const PATIENCE: Duration = Duration::from_secs(30);
const PATIENCE_FOR_ALL: Duration = Duration::from_secs(600);

/// How much and how long is read after the response, so that the client gets it before the connection ends.
const DRAINED: usize = 1 << 18;
const PATIENCE_AT_END: Duration = Duration::from_secs(2);

/// Headers of all responses. Addresses have the token in them and must not be told to others; nothing is to be kept, framed or
/// taken for something else.
const HEADERS: &str = "Cache-Control: no-store\r\n\
    Referrer-Policy: no-referrer\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Connection: close\r\n";

/// A response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) body: Vec<u8>,
    /// What a page may do.
    pub(super) policy: String,
}

impl Response {
    /// A message with a status.
    pub(super) fn text(status: u16, message: &str) -> Response {
        Response::new(status, "text/plain; charset=utf-8", format!("{message}\n").into_bytes())
    }

    /// A response that may do nothing.
    pub(super) fn new(status: u16, content_type: &'static str, body: Vec<u8>) -> Response {
        Response { status, content_type, body, policy: "default-src 'none'; sandbox".into() }
    }

    fn head(&self) -> String {
        let reason = match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            431 => "Request Header Fields Too Large",
            _ => "Internal Server Error",
        };
        let allow = if self.status == 405 { "Allow: GET\r\n" } else { "" };
        format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\
             Content-Security-Policy: {}\r\n{allow}{HEADERS}\r\n",
            self.status,
            self.content_type,
            self.body.len(),
            self.policy
        )
    }

    /// Writes the response and ends the connection.
    ///
    /// # Errors
    /// If the client has gone, or takes too long.
    pub(super) fn send(&self, stream: &mut Stream) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE_FOR_ALL;
        for part in [self.head().as_bytes(), &self.body] {
            for mut piece in part.chunks(PIECE) {
                while !piece.is_empty() {
                    let left = deadline.saturating_duration_since(Instant::now()).min(PATIENCE);
                    if left.is_zero() {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    stream.set_write_timeout(left)?;
                    match stream.write(piece) {
                        Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                        Ok(count) => piece = &piece[count..],
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        stream.end_writing()?;
        let deadline = Instant::now() + PATIENCE_AT_END;
        let (mut drained, mut bytes) = (0, [0; 4096]);
        while drained < DRAINED {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            stream.set_read_timeout(left)?;
            match stream.read(&mut bytes)? {
                0 => break,
                count => drained += count,
            }
        }
        Ok(())
    }
}
