//! Requests: the head of an HTTP/1.1 request, with a limit on its size and on the time that it may take.

use std::io;
use std::time::{Duration, Instant};

use super::address::Stream;

/// The most bytes of a head.
pub(super) const MOST: usize = 8192;

/// How long a client may take to send its head.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    /// What is in front of a question mark.
    pub(super) path: String,
    /// What is behind it.
    pub(super) query: String,
    /// The header `Host`; none if there is none or several.
    pub(super) host: Option<String>,
}

/// Why there is no request.
#[derive(Debug)]
pub(super) enum Refused {
    /// It is none, as far as it goes.
    Malformed,
    /// It is longer than the limit.
    TooLarge,
    /// It took too long.
    TooSlow,
    /// The client has gone.
    Gone,
}

/// Reads a request.
pub(super) fn read(stream: &mut Stream) -> Result<Request, Refused> {
    let deadline = Instant::now() + PATIENCE;
    let mut head = Vec::new();
    let mut bytes = [0; 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Refused::TooSlow);
        }
        stream.set_read_timeout(left).map_err(|_| Refused::Gone)?;
        let count = match stream.read(&mut bytes) {
            Ok(0) => return Err(Refused::Gone),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return Err(Refused::TooSlow);
            }
            Err(_) => return Err(Refused::Gone),
        };
        // The end may be in what was there before, and what has come.
        let from = head.len().saturating_sub(3);
        head.extend_from_slice(&bytes[..count]);
        if let Some(end) = head[from..].windows(4).position(|window| window == b"\r\n\r\n") {
            return parse(&head[..from + end]).ok_or(Refused::Malformed);
        }
        if head.len() > MOST {
            return Err(Refused::TooLarge);
        }
    }
}

/// Reads a head without the empty line that ends it.
fn parse(head: &[u8]) -> Option<Request> {
    let head = std::str::from_utf8(head).ok()?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") || !target.starts_with('/') {
        return None;
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut hosts = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':')?;
        if name.eq_ignore_ascii_case("host") {
            hosts.push(value.trim().to_owned());
        }
    }
    let host = if hosts.len() == 1 { hosts.pop() } else { None };
    Some(Request { method: method.into(), path: path.into(), query: query.into(), host })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_in_parts() {
        let request = parse(b"GET /a/b?c=d HTTP/1.1\r\nhOsT:  localhost:1 \r\nX: y: z").unwrap();
        assert_eq!(
            (request.method.as_str(), request.path.as_str(), request.query.as_str()),
            ("GET", "/a/b", "c=d")
        );
        assert_eq!(request.host.as_deref(), Some("localhost:1"));
        assert_eq!(parse(b"GET / HTTP/1.1").unwrap().host, None);
        assert_eq!(parse(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b").unwrap().host, None, "which one?");
    }

    #[test]
    fn what_is_no_head_is_refused() {
        let wrong: [&[u8]; 7] = [
            b"",
            b"GET",
            b"GET /",
            b"GET / HTTP/2",
            b"GET http://x/ HTTP/1.1",
            b"GET / x HTTP/1.1",
            b"GET /\xff HTTP/1.1",
        ];
        for head in wrong {
            assert_eq!(parse(head), None, "{head:?}");
        }
        assert_eq!(parse(b"GET / HTTP/1.1\r\nnothing"), None);
    }
}
