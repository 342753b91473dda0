//! Progress of commands that take longer than a second: a line on the terminal until there is something to print.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long nothing is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line changes.
const INTERVAL: Duration = Duration::from_millis(200);

/// Number of bytes that a command has written so far.
#[derive(Clone, Debug, Default)]
pub struct Written(Arc<AtomicU64>);

impl Written {
    /// Adds bytes.
    pub fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Relaxed);
    }
}

/// A line that is shown while a command runs, and removed when this is dropped.
#[derive(Debug)]
pub(super) struct Progress {
    /// Dropped to end the thread.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Shows the line on standard error, after a second. Without a thread for it there is no line.
    pub(super) fn on_stderr(written: Written) -> Progress {
        let (running, ended) = channel();
        let waits = move |time| ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        let thread = std::thread::Builder::new().spawn(move || {
            if !waits(PATIENCE) {
                return;
            }
            // Nothing is drawn where standard error is no terminal.
            let line =
                ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_elapsed(PATIENCE);
            loop {
                let bytes = written.0.load(Relaxed);
                let template =
                    if bytes > 0 { "{spinner} {elapsed}, {bytes} written" } else { "{spinner} {elapsed}" };
                if let Ok(style) = ProgressStyle::with_template(template) {
                    line.set_style(style.tick_chars("|/-\\\\ "));
                }
                line.set_position(bytes);
                line.tick();
                if !waits(INTERVAL) {
                    break;
                }
            }
            line.finish_and_clear();
        });
        Progress { running: Some(running), thread: thread.ok() }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.running = None;
        if let Some(thread) = self.thread.take() {
            // It cannot fail.
            let _ = thread.join();
        }
    }
}
