//! Watchdog: aborts the test run when something hangs, since a hanging test would report nothing.

use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

/// Time limit of the analysis of a small archive. It takes milliseconds; the rest is for busy machines.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// The running work, with its start.
type RunningWork = Mutex<Option<(Instant, String)>>;

/// Watches one thread of a test.
pub(crate) struct Watch(Arc<RunningWork>);

impl Watch {
    pub(crate) fn new() -> Watch {
        let running = Arc::new(RunningWork::default());
        let watched = Arc::downgrade(&running);
        std::thread::spawn(move || watch(&watched));
        Watch(running)
    }

    /// Does some work; if it exceeds the limit, the process is aborted, with `what` on standard error.
    pub(crate) fn run<T>(&self, what: &str, work: impl FnOnce() -> T) -> T {
        *self.0.lock().unwrap() = Some((Instant::now(), what.to_owned()));
        let done = work();
        *self.0.lock().unwrap() = None;
        done
    }
}

fn watch(watched: &Weak<RunningWork>) {
    while let Some(running) = watched.upgrade() {
        if let Some((_, what)) = running.lock().unwrap().as_ref().filter(|(begin, _)| begin.elapsed() > LIMIT)
        {
            eprintln!("{what}: not done after {LIMIT:?}");
            std::process::abort();
        }
        drop(running);
        std::thread::sleep(Duration::from_millis(50));
    }
}
