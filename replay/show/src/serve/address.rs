//! Where the server listens: a port of the loopback interface, or a socket in the file system. Never another interface.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::Mode;
use rustix::process::umask;

/// Where to listen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Address {
    /// A port of the loopback interface; 0 is any.
    Port(u16),
    /// A socket that only its owner can use.
    Socket(PathBuf),
}

/// A listening socket. A file is removed when it is dropped.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener, u16),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Listens.
    ///
    /// # Errors
    /// If the port is taken, or there is a file of this name that is not the socket of a server that has ended.
    pub(super) fn open(address: &Address) -> io::Result<Listener> {
        let listener = match address {
            Address::Port(port) => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, *port))?;
                let port = listener.local_addr()?.port();
                Listener::Tcp(listener, port)
            }
            Address::Socket(path) => {
                remove_stale(path)?;
                // Nobody else can ever connect, also not before the mode is set.
                let before = umask(Mode::from_raw_mode(0o177));
                let bound = UnixListener::bind(path);
                umask(before);
                let listener = Listener::Unix(bound?, path.clone());
                fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
                listener
            }
        };
        match &listener {
            Listener::Tcp(listener, _) => listener.set_nonblocking(true)?,
            Listener::Unix(listener, _) => listener.set_nonblocking(true)?,
        }
        Ok(listener)
    }

    /// The next connection; none if none waits.
    ///
    /// # Errors
    /// If the system has no more connections to give.
    pub(super) fn accept(&self) -> io::Result<Option<Stream>> {
        let accepted = match self {
            Listener::Tcp(listener, _) => listener.accept().map(|(stream, _)| Stream::Tcp(stream)),
            Listener::Unix(listener, _) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
        };
        match accepted {
            Ok(stream) => {
                stream.set_blocking()?;
                Ok(Some(stream))
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The port, if it is one.
    pub(super) fn port(&self) -> Option<u16> {
        match *self {
            Listener::Tcp(_, port) => Some(port),
            Listener::Unix(..) => None,
        }
    }
}

/// Whether a header `Host` is of a server on a port, or on a socket: other names may be those of a page that wants to read what
/// is here.
pub(super) fn is_host(host: &str, own: Option<u16>) -> bool {
    let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
    // Of a socket the port is that of the other end of a tunnel.
    let is_port = port.parse().is_ok_and(|port: u16| own.is_none_or(|own| own == port));
    is_port && (name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1")
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Tcp(listener, _) => listener.as_fd(),
            Listener::Unix(listener, _) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            // Somebody may have removed it.
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes the socket of a server that has ended without removing it.
fn remove_stale(path: &Path) -> io::Result<()> {
    let is_socket = path.symlink_metadata().is_ok_and(|it| it.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if is_socket && UnixStream::connect(path).is_err_and(refused) {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// A connection.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn set_blocking(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_nonblocking(false),
            Stream::Unix(stream) => stream.set_nonblocking(false),
        }
    }

    /// How long reading may take from now on.
    pub(super) fn set_read_timeout(&self, time: Duration) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_read_timeout(Some(time)),
            Stream::Unix(stream) => stream.set_read_timeout(Some(time)),
        }
    }

    /// How long writing may take from now on.
    pub(super) fn set_write_timeout(&self, time: Duration) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_write_timeout(Some(time)),
            Stream::Unix(stream) => stream.set_write_timeout(Some(time)),
        }
    }

    /// Says that nothing more will be written.
    pub(super) fn end_writing(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Write),
        }
    }

    pub(super) fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(bytes),
            Stream::Unix(stream) => stream.read(bytes),
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Unix(stream) => stream.write(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_of_this_machine_with_the_port() {
        for host in ["localhost:8808", "LOCALHOST:8808", "127.0.0.1:8808"] {
            assert!(is_host(host, Some(8808)) && is_host(host, None), "{host}");
        }
        for host in ["localhost", "localhost:8809", "127.0.0.1"] {
            assert!(!is_host(host, Some(8808)) && is_host(host, None), "{host}");
        }
        for host in [
            "",
            "evil.example:8808",
            "localhost.evil.example:8808",
            "localhost:x",
            "127.0.0.2:8808",
            "[::1]:8808",
        ] {
            assert!(!is_host(host, Some(8808)) && !is_host(host, None), "{host}");
        }
    }
}
