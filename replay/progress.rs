//! What worker 0 says while it works: phases with their times, a bar on a terminal, plain lines in a log.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Tells how far the analysis is, on standard error. All other workers, and a quiet one, say nothing.
#[derive(Debug)]
pub struct Progress {
    is_silent: bool,
    is_verbose: bool,
    phase: Option<(&'static str, Instant)>,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Says nothing.
    pub fn silent() -> Progress {
        Progress { is_silent: true, is_verbose: false, phase: None, bar: None }
    }

    /// Tells the phases, and on a terminal how far each is; a verbose one tells details too.
    pub fn on_stderr(is_verbose: bool) -> Progress {
        Progress { is_silent: false, is_verbose, phase: None, bar: None }
    }

    /// The phase before is over, this one begins.
    pub fn phase(&mut self, name: &'static str) {
        self.done();
        self.phase = Some((name, Instant::now()));
    }

    /// Tells a detail.
    pub fn tell(&self, text: impl FnOnce() -> String) {
        if self.is_verbose {
            eprintln!("{}", text());
        }
    }

    /// The current phase has `total` bytes to do.
    pub fn expect(&mut self, total: u64) {
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
        if let Some(bar) = &self.bar {
            bar.inc(bytes);
        }
    }

    /// The current phase is over.
    pub fn done(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        if let Some((name, start)) = self.phase.take()
            && !self.is_silent
        {
            eprintln!("{name:16} {:9.3} s", start.elapsed().as_secs_f64());
        }
    }
}
