//! Messages to the user, on standard error: standard output is the program's.

use crate::estimate;
use crate::finish::{NO_END, Summary, name_ranks};
use recording::layout;
use std::fmt::Display;
use std::io::{Write, stderr};
use std::path::Path;

/// Prints a message.
pub fn complain(message: &impl Display) {
    // Names from a command line or a recording must not control the terminal.
    let message = message.to_string().replace(char::is_control, "\u{fffd}");
    // There is no one to report a failure to. One write, so that messages of many ranks stay whole.
    let _ = stderr().write_all(format!("replay-record: {message}\n").as_bytes());
}

/// Returns the lines about an archive that was completed.
pub fn lines(summary: &Summary) -> Vec<String> {
    let mut lines = summary.notices.clone();
    let missing = summary.died.len() + summary.silent.len();
    if missing > 0 {
        let ended = summary.processes as usize - missing;
        let mut line = format!("{ended} of {} processes came to their exit", summary.processes);
        if !summary.died.is_empty() {
            line += &format!("; {} did not: {NO_END}", name_ranks(&summary.died));
        }
        for (rank, signal) in &summary.faults {
            line += &format!("; rank {rank} died of {signal}");
        }
        if !summary.silent.is_empty() {
            line += &format!("; {} left nothing", name_ranks(&summary.silent));
        }
        line += match (summary.has_losses, summary.silent.is_empty()) {
            (true, _) => "",
            (false, true) => "; nothing that was recorded is lost",
            (false, false) => "; of the others nothing that was recorded is lost",
        };
        lines.push(line);
    }
    if let Some(estimate) = &summary.estimate {
        lines.extend(estimate::lines(estimate));
    }
    let processes = format!(
        "{} process{}",
        grouped(summary.processes.into()),
        if summary.processes == 1 { "" } else { "es" }
    );
    let (shown, size) = (shown(&summary.directory), size(summary.bytes));
    match summary.call_paths {
        Some(paths) => lines.push(format!(
            "wrote {} ({processes}, {} call paths, {size})",
            shown.join(layout::PROFILE).display(),
            grouped(paths as u64)
        )),
        // An estimate alone leaves nothing.
        None if summary.estimate.is_some() => {}
        None => lines.push(format!(
            "wrote {} ({processes}, {} events, {size})",
            shown.display(),
            grouped(summary.events)
        )),
    }
    lines.extend(summary.iterations.clone());
    lines
}

/// Returns a path relative to the working directory if it is below that.
fn shown(path: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok())
        .filter(|rest| !rest.as_os_str().is_empty())
        .unwrap_or(path)
}

/// Returns a number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a size in the unit that fits.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{} kB", bytes / 1000),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Summary {
        Summary {
            directory: "/x/run".into(),
            processes: 4,
            events: 12345,
            bytes: 160_999,
            ..Summary::default()
        }
    }

    #[test]
    fn one_line_says_what_was_written() {
        assert_eq!(lines(&summary()), ["wrote /x/run (4 processes, 12,345 events, 160 kB)"]);
        let one = Summary { processes: 1, events: 1_000_000, bytes: 2_500_000, ..summary() };
        assert_eq!(lines(&one), ["wrote /x/run (1 process, 1,000,000 events, 2.5 MB)"]);
    }

    #[test]
    fn dead_and_silent_ranks_are_named() {
        let died = Summary { died: vec![2], ..summary() };
        let first = &lines(&died)[0];
        assert_eq!(
            first,
            "3 of 4 processes came to their exit; rank 2 did not: killed, aborted, or ended by _exit; nothing that was recorded \
             is lost"
        );
        let several = Summary { died: vec![0, 2], faults: vec![(2, "SIGSEGV")], ..summary() };
        let said = "ranks 0,2 did not: killed, aborted, or ended by _exit; rank 2 died of SIGSEGV; nothing";
        assert!(lines(&several)[0].contains(said), "{:?}", lines(&several));
        let silent = &lines(&Summary { silent: vec![3], ..summary() })[0];
        assert!(
            silent.ends_with("rank 3 left nothing; of the others nothing that was recorded is lost"),
            "{silent}"
        );
        let lost = Summary { silent: vec![0, 1], has_losses: true, notices: vec!["x".into()], ..summary() };
        assert_eq!(lines(&lost)[..2], ["x", "2 of 4 processes came to their exit; ranks 0-1 left nothing"]);
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!([7, 999, 1000, 3_000_000_000].map(size), ["7 bytes", "999 bytes", "1 kB", "3.0 GB"]);
        assert_eq!([0, 999, 1000, 1234567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
