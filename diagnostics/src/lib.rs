//! Diagnostics of all programs: events selected by `REPLAY_LOG` go to standard error, one line each.
//!
//! Libraries report events through `tracing`, and do not depend on this crate; a program calls [`start`].
//! Without the variable nothing is printed, and an event costs a comparison. Messages to the user do not go
//! this way: no filter may hide them.

use std::env;
use std::fmt;
use std::io::stderr;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The environment variable with the filter.
const VARIABLE: &str = "REPLAY_LOG";

/// The crates that report events. A filter for others would never print anything.
const PARTS: [&str; 5] = ["generate", "import", "launcher", "replay", "show"];

/// The error of an invalid filter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrongFilter(String);

impl fmt::Display for WrongFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{VARIABLE} is {:?}, expected a level (error, warn, info, debug, trace, off), or levels of parts ({}), \
             such as replay=debug,replay::exchange=off",
            self.0,
            PARTS.join(", ")
        )
    }
}

impl std::error::Error for WrongFilter {}

/// Prints diagnostics from now on as the filter says: each event, and the end of each span with its time.
///
/// # Errors
/// If the filter is invalid.
pub fn start() -> Result<(), WrongFilter> {
    let Some(text) = env::var_os(VARIABLE).filter(|text| !text.is_empty()) else { return Ok(()) };
    let filter = filter(&text.to_string_lossy())?;
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(stderr)
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE)
        // A log that cannot be written is no reason to end, and there is no other place to report it.
        .log_internal_errors(false);
    tracing_subscriber::registry().with(filter).with(lines).init();
    Ok(())
}

fn filter(text: &str) -> Result<Targets, WrongFilter> {
    let wrong = || WrongFilter(text.to_string());
    let filter: Targets = text.parse().map_err(|_| wrong())?;
    let is_known = |target: &str| PARTS.iter().any(|part| target.split("::").next() == Some(part));
    if filter.iter().all(|(target, _)| is_known(target)) { Ok(filter) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_levels_of_parts_are_filters() {
        for text in
            ["debug", "TRACE", "off", "replay=trace", "info,replay::exchange=off,launcher=debug", "replay"]
        {
            assert!(filter(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn unknown_levels_and_parts_are_refused() {
        for text in
            ["debgu", "replay=loud", "replays=debug", "replay=debug=trace", "replay=debug launcher=debug"]
        {
            assert_eq!(filter(text).map(|_| ()), Err(WrongFilter(text.into())));
        }
    }
}
