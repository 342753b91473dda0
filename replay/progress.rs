//! The phases of a worker: worker 0 says them while it works, with their times, a bar on a terminal, plain lines in a log;
//! diagnostics have a span for each.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing::debug_span;
use tracing::span::EnteredSpan;

/// Prints a line; a log that cannot be written is no reason to lose a report.
fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// Tells how far the analysis is, on standard error. All other workers, and a quiet one, say nothing.
#[derive(Debug)]
pub struct Progress {
    is_silent: bool,
    is_verbose: bool,
    /// Whose phases these are: a process of the analysis, and a thread in it.
    process: usize,
    thread: usize,
    phase: Option<Phase>,
    bar: Option<ProgressBar>,
    /// Bytes done and to do in this phase, and when a line about it is due.
    done: u64,
    total: u64,
    due: Instant,
}

/// A phase that has begun.
#[derive(Debug)]
struct Phase {
    name: &'static str,
    start: Instant,
    /// What diagnostics know of it.
    _span: EnteredSpan,
}

/// Time between two lines about one phase where there is no terminal.
const INTERVAL: Duration = Duration::from_secs(30);

impl Progress {
    /// Says nothing.
    pub fn silent() -> Progress {
        Progress::new(true, false)
    }

    /// Tells the phases, and on a terminal how far each is; a verbose one tells details too.
    pub fn on_stderr(is_verbose: bool) -> Progress {
        Progress::new(false, is_verbose)
    }

    fn new(is_silent: bool, is_verbose: bool) -> Progress {
        let due = Instant::now() + INTERVAL;
        let (process, thread) = (0, 0);
        Progress { is_silent, is_verbose, process, thread, phase: None, bar: None, done: 0, total: 0, due }
    }

    /// The same for a worker that is not the first one: a process of the analysis, and a thread in it.
    #[must_use]
    pub fn of(self, process: usize, thread: usize) -> Progress {
        Progress { process, thread, ..self }
    }

    /// The phase before is over, this one begins.
    pub fn phase(&mut self, name: &'static str) {
        self.done();
        let _span = debug_span!("phase", name, process = self.process, thread = self.thread).entered();
        self.phase = Some(Phase { name, start: Instant::now(), _span });
    }

    /// Tells a detail.
    pub fn tell(&self, text: impl FnOnce() -> String) {
        if self.is_verbose {
            say(&text());
        }
    }

    /// The current phase has `total` bytes to do.
    pub fn expect(&mut self, total: u64) {
        (self.done, self.total, self.due) = (0, total, Instant::now() + INTERVAL);
        if self.is_silent || !stderr().is_terminal() {
            return;
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("  {bar:40} {bytes} of {total_bytes}, {eta} left") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        self.bar = Some(bar);
    }

    /// So many bytes more are done.
    pub fn advance(&mut self, bytes: u64) {
        self.done += bytes;
        if let Some(bar) = &self.bar {
            bar.inc(bytes);
        } else if let Some(Phase { name, .. }) = self.phase
            && !self.is_silent
            && Instant::now() >= self.due
        {
            self.due = Instant::now() + INTERVAL;
            let percent = 100.0 * self.done as f64 / self.total.max(1) as f64;
            say(&format!("{name:16} {percent:9.1} %"));
        }
    }

    /// The current phase is over.
    pub fn done(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        if let Some(Phase { name, start, _span }) = self.phase.take()
            && !self.is_silent
        {
            say(&format!("{name:16} {:9.3} s", start.elapsed().as_secs_f64()));
        }
    }
}
