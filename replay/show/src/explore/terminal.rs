//! The terminal: taken at the begin, and given back as it was, whatever ends the program.

use std::io::{self, Stdout, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use crossterm::cursor::Show;
use crossterm::event::{self, Event, KeyEventKind};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;

use super::keys;
use super::panes;
use super::state::State;
use super::worker::Worker;
use crate::error::{Error, Result};

/// Signals that end the program.
const SIGNALS: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// How long the program waits for a key before it looks for signals, and for values that it has asked for.
const PATIENCE: Duration = Duration::from_millis(200);
const SHORT: Duration = Duration::from_millis(15);

/// How long a signal waits for the loop to end by itself.
const PATIENCE_OF_SIGNALS: Duration = Duration::from_millis(600);

/// Whether the terminal is ours.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The signal that came, or 0.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// The terminal while it is ours.
struct Session {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    signals: Handle,
}

impl Session {
    fn start() -> io::Result<Session> {
        let signals = handle_signals()?;
        restore_on_panic();
        IS_TAKEN.store(true, Ordering::SeqCst);
        // From here on dropping it gives the terminal back, also if a step fails.
        let session = Session { terminal: Terminal::new(CrosstermBackend::new(stdout()))?, signals };
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen)?;
        Ok(session)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        restore();
        self.signals.close();
    }
}

/// Waits for signals on a thread: the loop may be where it cannot look for them, as when the terminal has gone.
fn handle_signals() -> io::Result<Handle> {
    let has_come = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        // The second one ends the program at once: giving the terminal back may not come to its end.
        flag::register_conditional_default(signal, Arc::clone(&has_come))?;
    }
    let mut signals = Signals::new(SIGNALS)?;
    let handle = signals.handle();
    let wait = move || {
        for signal in signals.forever() {
            SIGNAL.store(signal, Ordering::SeqCst);
            has_come.store(true, Ordering::SeqCst);
            thread::sleep(PATIENCE_OF_SIGNALS);
            restore();
            // As if nobody had waited for it: the status says which signal it was.
            let _ = emulate_default_handler(signal);
        }
    };
    thread::Builder::new().name("signals".into()).spawn(wait)?;
    Ok(handle)
}

/// Gives the terminal back. Does nothing if that was done.
fn restore() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        // There is nothing left to do if this fails: the terminal may be gone.
        let _ = execute!(stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Gives the terminal back before a panic prints its message.
fn restore_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore();
        report(panic);
    }));
}

/// Shows the state and does what keys say until one of them, or a signal, ends it.
///
/// # Errors
/// If the terminal cannot be used.
pub(super) fn run(state: &mut State<'_>, worker: &Worker) -> Result<()> {
    let cannot = |error: io::Error| Error::new(format!("cannot use the terminal: {error}"));
    let mut session = Session::start().map_err(cannot)?;
    let ended = session_loop(&mut session, state, worker).map_err(cannot);
    drop(session);
    match SIGNAL.load(Ordering::SeqCst) {
        0 => {}
        signal => drop(emulate_default_handler(signal)),
    }
    ended
}

fn session_loop(session: &mut Session, state: &mut State<'_>, worker: &Worker) -> io::Result<()> {
    let mut is_changed = true;
    let mut is_asked = false;
    while !state.is_over && SIGNAL.load(Ordering::SeqCst) == 0 {
        if is_changed {
            session.terminal.draw(|frame| panes::draw(frame, state))?;
            is_changed = false;
        }
        // After drawing: what is on the screen is part of what is wanted.
        if !is_asked && let Some(want) = state.wanted() {
            worker.ask(want);
            is_asked = true;
        }
        wait_for_keys(if is_asked { SHORT } else { PATIENCE })?;
        // All that have come, so that a key that is held is not drawn for minutes.
        while !state.is_over && event::poll(Duration::ZERO)? {
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => keys::press(state, key),
                _ => {}
            }
            is_changed = true;
        }
        if is_asked && let Some(answer) = worker.answer().map_err(io::Error::other)? {
            state.accept(answer);
            is_asked = false;
            is_changed = true;
        }
    }
    Ok(())
}

/// Waits for keys, but not for longer than a time; a new size of the terminal is a signal, which ends waiting.
///
/// # Errors
/// If the terminal has gone: reading from it would not end.
fn wait_for_keys(most: Duration) -> io::Result<()> {
    let keys = stdin();
    let mut fds = [PollFd::new(&keys, PollFlags::IN)];
    let most = Timespec { tv_sec: 0, tv_nsec: most.subsec_nanos().into() };
    match poll(&mut fds, Some(&most)) {
        Ok(_) if fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => {
            Err(io::Error::other("it has gone"))
        }
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
