//! The report to the user on the estimated size of a trace.

use crate::finish::{Estimate, Omission, Share};
use crate::report::{grouped, size};

/// Maximum number of functions that are listed, of those with most bytes.
const NAMED: usize = 12;

/// Marks of functions that an analysis needs.
const OPERATIONS: &str = " *";
const IDLE_CALLS: &str = " +";

/// Returns the lines about an estimate.
pub(crate) fn lines(estimate: &Estimate) -> Vec<String> {
    let Estimate { events, bytes, definitions, largest, nanoseconds, buffer, flushes, .. } = *estimate;
    let seconds = nanoseconds as f64 / 1e9;
    let a_second = |amount: u64| (amount as f64 / seconds.max(1e-9)) as u64;
    let mut lines = vec![
        format!(
            "a full trace of this run would have {} events in {} (and {} of definitions); \
             rank {} most, {} events in {}",
            grouped(events),
            size(bytes),
            size(definitions),
            largest.0,
            grouped(largest.1),
            size(largest.2)
        ),
        format!(
            "the run took {seconds:.3} s: {} events in {} a second",
            grouped(a_second(events)),
            size(a_second(bytes))
        ),
        match flushes {
            (0, _) => format!("no buffer of {} KiB would be written out before the end", buffer >> 10),
            (all, most) => format!(
                "buffers of {} KiB would be written out {} times, that of one thread {} times",
                buffer >> 10,
                grouped(all),
                grouped(most)
            ),
        },
    ];
    lines.extend(table(estimate));
    lines
}

/// Returns the table of the functions with most bytes, and how to leave them out.
fn table(Estimate { shares, bytes, .. }: &Estimate) -> Vec<String> {
    if shares.is_empty() {
        return Vec::new();
    }
    let named = &shares[..shares.len().min(NAMED)];
    let width = named.iter().map(|share| share.name.chars().count()).max().unwrap_or(0).max(9);
    let row = |part: f64, share: &Share, about: &str| {
        let (events, visits) = (grouped(share.events), grouped(share.visits));
        let (bytes, name) = (size(share.bytes), &share.name);
        let line = format!("{part:>5.1} %  {bytes:>11}  {events:>14}  {visits:>14}  {name:<width$}  {about}");
        line.trim_end().to_string()
    };
    let part = |share: &Share| 100.0 * share.bytes as f64 / (*bytes).max(1) as f64;
    let head = format!(
        "{:>7}  {:>11}  {:>14}  {:>14}  {:<width$}  to leave it out",
        "saved", "bytes", "events", "visits", "function"
    );
    let mut lines = vec![head];
    for share in named {
        let mark = match share.price {
            _ if share.option.is_none() => "",
            Omission::Calls => "",
            Omission::IdleCalls => IDLE_CALLS,
            Omission::Operations => OPERATIONS,
        };
        let about = format!("{}{mark}", share.option.as_deref().unwrap_or_default());
        lines.push(row(part(share), share, &about));
    }
    let mut others = Share { name: "others".into(), ..Share::default() };
    for share in &shares[named.len()..] {
        others.visits += share.visits;
        others.events += share.events;
        others.bytes += share.bytes;
    }
    if others.bytes > 0 {
        lines.push(row(part(&others), &others, ""));
    }
    let is_marked = |mark: &str| lines.iter().any(|line| line.ends_with(mark));
    let notes = [
        (is_marked(OPERATIONS), "* tells of messages or operations: an analysis without it misses them"),
        (is_marked(IDLE_CALLS), "+ calls that do something stay: it saves less, if any do"),
    ];
    lines.extend(notes.into_iter().filter(|(is_marked, _)| *is_marked).map(|(_, note)| note.to_string()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_come_with_what_leaving_them_out_saves() {
        let probe = Share {
            name: "MPI_Iprobe".into(),
            visits: 5000,
            events: 10_000,
            bytes: 75_000,
            option: Some("--functions -MPI_Iprobe".into()),
            price: Omission::Calls,
        };
        let send = Share {
            name: "MPI_Send".into(),
            bytes: 20_000,
            option: Some("--functions -MPI_Send".into()),
            price: Omission::Operations,
            ..Share::default()
        };
        let estimate = Estimate {
            events: 12_000,
            bytes: 100_000,
            definitions: 4000,
            largest: (1, 7000, 60_000),
            nanoseconds: 500_000_000,
            buffer: 1 << 20,
            flushes: (0, 0),
            shares: vec![probe, send],
        };
        let lines = lines(&estimate);
        assert_eq!(
            lines[0],
            "a full trace of this run would have 12,000 events in 100 kB (and 4 kB of definitions); \
             rank 1 most, 7,000 events in 60 kB"
        );
        assert_eq!(lines[1], "the run took 0.500 s: 24,000 events in 200 kB a second");
        assert_eq!(lines[2], "no buffer of 1024 KiB would be written out before the end");
        assert_eq!(
            lines[4],
            " 75.0 %        75 kB          10,000           5,000  MPI_Iprobe  --functions -MPI_Iprobe"
        );
        assert!(lines[5].ends_with("MPI_Send    --functions -MPI_Send *"), "{}", lines[5]);
        assert_eq!(lines.len(), 7);
    }
}
