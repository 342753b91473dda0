//! Progress of a worker: worker 0 prints its phases with their times, as a bar on a terminal, as plain lines
//! in a log; diagnostics have a span for each.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing::debug_span;
use tracing::span::EnteredSpan;

/// Prints a line, and ignores failures: a log that cannot be written is no reason to lose a report.
fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// Prints on standard error how far the analysis is. All workers but the first print nothing, and neither
/// does a quiet one.
#[derive(Debug)]
pub struct Progress {
    is_silent: bool,
    is_verbose: bool,
    /// The worker of these phases: a process of the analysis, and a thread in it.
    process: usize,
    thread: usize,
    phase: Option<Phase>,
    bar: Option<ProgressBar>,
    /// Bytes done and to do in this phase, and when a line about it is due.
    done: u64,
    total: u64,
    due: Instant,
}

/// A phase in progress.
#[derive(Debug)]
struct Phase {
    name: &'static str,
    start: Instant,
    /// The span of the phase in diagnostics.
    _span: EnteredSpan,
}

/// Time between two lines about one phase if there is no terminal.
const INTERVAL: Duration = Duration::from_secs(30);

impl Progress {
    /// Makes progress that prints nothing.
    pub fn silent() -> Progress {
        Progress::new(true, false)
    }

    /// Makes progress that prints the phases, and on a terminal how far each is; a verbose one prints
    /// details, too.
    pub fn on_stderr(is_verbose: bool) -> Progress {
        Progress::new(false, is_verbose)
    }

    fn new(is_silent: bool, is_verbose: bool) -> Progress {
        let due = Instant::now() + INTERVAL;
        let (process, thread) = (0, 0);
        Progress { is_silent, is_verbose, process, thread, phase: None, bar: None, done: 0, total: 0, due }
    }

    /// Sets the worker: a process of the analysis, and a thread in it.
    #[must_use]
    pub fn of(self, process: usize, thread: usize) -> Progress {
        Progress { process, thread, ..self }
    }

    /// Ends the current phase and begins this one.
    pub fn phase(&mut self, name: &'static str) {
        self.done();
        let _span = debug_span!("phase", name, process = self.process, thread = self.thread).entered();
        self.phase = Some(Phase { name, start: Instant::now(), _span });
    }

    /// Prints a detail, if the progress is verbose.
    pub fn tell(&self, text: impl FnOnce() -> String) {
        if self.is_verbose {
            say(&text());
        }
    }

    /// Sets the bytes to do in the current phase.
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

    /// Adds to the bytes done.
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

    /// Ends the current phase.
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
