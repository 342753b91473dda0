//! `serve`: the page over HTTP, with windows of events that are read from the trace on demand.
//!
//! The server is for one user: it listens on the loopback interface or on a socket of the file system, all addresses have a
//! token in them, and a request can choose among a fixed table of answers only. Nothing is read but the experiment.
//!
//! | file | content |
//! |---|---|
//! | `address` | ports and sockets |
//! | `token` | the token in addresses |
//! | `request`, `response` | HTTP/1.1, as much as is needed: GET, one request a connection |
//! | `routes` | which path gets what |
//! | `page`, `windows` | what they get |

mod address;
mod page;
mod request;
mod response;
mod routes;
mod token;
mod windows;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use replay::details::windows::TraceWindows;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use tracing::debug;

use crate::error::{Error, Result};
use crate::opened::Opened;
use address::{Address, Listener, Stream};
use request::Refused;
use response::Response;
use routes::Served;
use token::Token;
use windows::Windows;

/// Connections that are answered at a time; others wait.
const CONNECTIONS: usize = 16;

/// How often the server looks for signals, and whether it has been idle for too long.
const INTERVAL: Duration = Duration::from_millis(200);

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    served: Arc<Served>,
    /// Why there are no windows of events, if there are none.
    why_no_windows: Option<String>,
    /// Whether a signal has come that ends it.
    is_over: Arc<AtomicBool>,
}

/// Whether a signal has come from now on: whoever knows the address of a server may end it at once.
fn end_by_signals() -> Result<Arc<AtomicBool>> {
    let cannot = |error: io::Error| Error::new(format!("cannot wait for signals: {error}"));
    let is_over = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        // The second one ends the program at once, should the first not come through.
        flag::register_conditional_default(signal, Arc::clone(&is_over)).map_err(cannot)?;
        flag::register(signal, Arc::clone(&is_over)).map_err(cannot)?;
    }
    Ok(is_over)
}

impl Server {
    /// Listens for requests about a report: on a socket in the file system, or on a port of the loopback interface, any if it
    /// is 0. `trace` is the directory with its trace.
    ///
    /// # Errors
    /// If the report cannot be read, or nobody can listen there. A trace that cannot be read is none: there are no windows.
    pub fn start(opened: &Opened, trace: &Path, socket: Option<PathBuf>, port: u16) -> Result<Server> {
        let of_trace = match &opened.manifest {
            Some(manifest) => {
                TraceWindows::open(trace, opened.cube(), manifest).map_err(|error| error.to_string())
            }
            None => Err("no windows of events: the report has no details".into()),
        };
        let why_no_windows = of_trace.as_ref().err().cloned();
        let windows = Windows::new(of_trace, opened.manifest.as_ref());
        let token = Token::random().map_err(|error| Error::new(format!("no random numbers: {error}")))?;
        let address = socket.map_or(Address::Port(port), Address::Socket);
        let listener = Listener::open(&address).map_err(|error| {
            Error::new(match &address {
                Address::Port(port) => format!("cannot listen on port {port} of 127.0.0.1: {error}"),
                Address::Socket(path) => format!("{}: cannot listen on this socket: {error}", path.display()),
            })
        })?;
        let served = Served {
            token,
            port: listener.port(),
            page: page::page(opened, why_no_windows.is_none())?,
            windows,
        };
        Ok(Server { listener, served: Arc::new(served), why_no_windows, is_over: end_by_signals()? })
    }

    /// Why there are no windows of events, if there are none.
    pub fn why_no_windows(&self) -> Option<&str> {
        self.why_no_windows.as_deref()
    }

    /// The path of all addresses, with the token.
    pub fn path(&self) -> String {
        format!("/{}/", self.served.token.text())
    }

    /// The port, if it is one.
    pub fn port(&self) -> Option<u16> {
        self.listener.port()
    }

    /// The socket in the file system, if it is one.
    pub fn socket(&self) -> Option<&Path> {
        match &self.listener {
            Listener::Tcp(..) => None,
            Listener::Unix(_, path) => Some(path),
        }
    }

    /// Answers requests until a signal comes, or none came for so long. The socket in the file system is removed then.
    ///
    /// # Errors
    /// If signals cannot be waited for, or the system gives no connections.
    pub fn run(self, idle: Duration) -> Result<End> {
        let cannot = |error: io::Error| Error::new(format!("cannot serve: {error}"));
        let is_over = Arc::clone(&self.is_over);
        let open = Arc::new(AtomicUsize::new(0));
        let mut last = Instant::now();
        while !is_over.load(Ordering::SeqCst) {
            if open.load(Ordering::SeqCst) > 0 {
                last = Instant::now();
            }
            if last.elapsed() >= idle {
                return Ok(End::Idle);
            }
            if open.load(Ordering::SeqCst) >= CONNECTIONS {
                thread::sleep(INTERVAL / 10);
                continue;
            }
            wait_for(&self.listener).map_err(cannot)?;
            match self.listener.accept() {
                Ok(Some(stream)) => {
                    last = Instant::now();
                    self.start_answering(stream, &open);
                }
                Ok(None) => {}
                // Too many open files, and the like: better later.
                Err(error) => {
                    debug!(%error, "no connection");
                    thread::sleep(INTERVAL);
                }
            }
        }
        Ok(End::Signal)
    }

    /// Answers a connection on a thread of its own, so that slow clients keep nobody waiting.
    fn start_answering(&self, mut stream: Stream, open: &Arc<AtomicUsize>) {
        let served = Arc::clone(&self.served);
        let guard = Open::new(open);
        let work = move || {
            let _guard = guard;
            let response = match request::read(&mut stream) {
                Ok(request) => {
                    let response = routes::answer(&request, &served);
                    debug!(method = request.method, status = response.status, "request");
                    response
                }
                Err(Refused::Malformed) => Response::text(400, "no HTTP/1.1 request"),
                Err(Refused::TooLarge) => Response::text(431, "the head of the request is too large"),
                Err(Refused::TooSlow) => Response::text(408, "the request took too long"),
                Err(Refused::Gone) => return,
            };
            if let Err(error) = response.send(&mut stream) {
                debug!(%error, "response not received");
            }
        };
        // Without a thread the connection ends.
        let _ = thread::Builder::new().name("request".into()).spawn(work);
    }
}

/// Why a server has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// A signal came.
    Signal,
    /// No request came for long.
    Idle,
}

/// A connection that counts as open as long as this is there.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(open: &Arc<AtomicUsize>) -> Open {
        open.fetch_add(1, Ordering::SeqCst);
        Open(Arc::clone(open))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits for a connection, but not for long.
fn wait_for(listener: &Listener) -> io::Result<()> {
    let mut fds = [PollFd::new(listener, PollFlags::IN)];
    let interval = Timespec { tv_sec: 0, tv_nsec: INTERVAL.as_nanos().try_into().unwrap_or(0) };
    match poll(&mut fds, Some(&interval)) {
        Err(rustix::io::Errno::INTR) | Ok(_) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
