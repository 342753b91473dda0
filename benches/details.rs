//! Targets of what the report has for `replay-show`: what details cost (`docs/details.md`), how fast they are shown.

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use cubex::Report;
use details::manifest::{MANIFEST, Manifest};
use replay::details::windows::TraceWindows;
use show::output::Surroundings;
use show::status::Status;

use crate::bench::Bench;
use crate::targets::{Outcome, Target, at_most, scale};

pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "details",
        what: "time for details, stencil 1,000 × 5,000, all cores",
        wanted: "≤ +8 %",
        measure: |bench| more_time(bench, "stencil", 1000, 5000),
    },
    Target {
        name: "details-long",
        what: "time for details, stencil 16 × 600,000, all cores",
        wanted: "≤ +8 %",
        measure: |bench| more_time(bench, "stencil", 16, 600_000),
    },
    Target {
        name: "details-collective",
        what: "time for details, all-to-all 512 × 5,000, all cores",
        wanted: "≤ +8 %",
        measure: |bench| more_time(bench, "all-to-all", 512, 5000),
    },
    Target {
        name: "details-size-4",
        what: "size of details, stencil 4 × 5,000",
        wanted: "≤ 1 MB",
        measure: |bench| more_bytes(bench, 4, 5000, 1.0),
    },
    Target {
        name: "details-size-1000",
        what: "size of details, stencil 1,000 × 5,000",
        wanted: "≤ 8 MB",
        measure: |bench| more_bytes(bench, 1000, 5000, 8.0),
    },
    Target {
        name: "show-1000",
        what: "first screen, stencil 1,000 × 5,000",
        wanted: "≤ 0.1 s",
        measure: |bench| first_screen(bench, 1000, 5000, 0.1),
    },
    Target {
        name: "show-65536",
        what: "first screen, stencil 65,536 × 200",
        wanted: "≤ 1 s",
        measure: |bench| first_screen(bench, 65_536, 200, 1.0),
    },
    Target {
        name: "page-4",
        what: "page, stencil 4 × 5,000: size, time to make it",
        wanted: "≤ 1 MB, ≤ 1 s",
        measure: |bench| page(bench, 4, 5000, 1.0, 1.0),
    },
    Target {
        name: "page-1000",
        what: "page, stencil 1,000 × 5,000: size, time to make it",
        wanted: "≤ 3 MB, ≤ 1 s",
        measure: |bench| page(bench, 1000, 5000, 3.0, 1.0),
    },
    Target {
        name: "page-65536",
        what: "page, stencil 65,536 × 200: size, time to make it",
        wanted: "≤ 12 MB, ≤ 8 s",
        measure: |bench| page(bench, 65_536, 200, 12.0, 8.0),
    },
    Target {
        name: "browser-4",
        what: "page of 4 in Chromium: first paint, time at full resolution",
        wanted: "< 0.5 s, < 0.5 s",
        measure: |bench| in_browser(bench, 4, 5000, [0.5, 0.5]),
    },
    Target {
        name: "browser-1000",
        what: "page of 1,000 in Chromium: first paint, time at full resolution",
        wanted: "< 1 s, < 1 s",
        measure: |bench| in_browser(bench, 1000, 5000, [1.0, 1.0]),
    },
    Target {
        name: "browser-65536",
        what: "page of 65,536 in Chromium: first paint, time at full resolution",
        wanted: "< 1 s, < 3 s",
        measure: |bench| in_browser(bench, 65_536, 200, [1.0, 3.0]),
    },
    Target {
        name: "window",
        what: "window of events on demand, stencil 64 × 100,000, all locations",
        wanted: "≥ 100 M events/s",
        measure: window,
    },
    Target {
        name: "details-size-65536",
        what: "size of details, stencil 65,536 × 200",
        wanted: "≤ 80 MB",
        measure: |bench| more_bytes(bench, 65_536, 200, 80.0),
    },
    Target {
        name: "details-65536",
        what: "time for details, stencil 65,536 × 200, all cores",
        wanted: "≤ +8 %",
        measure: |bench| more_time(bench, "stencil", 65_536, 200),
    },
    Target {
        name: "all-65536",
        what: "everything on, with details, stencil 65,536 × 200",
        wanted: "≤ 4 s, ≤ 0.7 GiB",
        measure: |bench| scale(bench, "stencil", 65_536, 200, 4.0, 0.7),
    },
];

/// Runs with and without details in turn, so that both meet the same machine.
fn more_time(bench: &Bench, pattern: &str, ranks: u32, events: u64) -> Outcome {
    let trace = bench.trace(pattern, ranks, events)?;
    let [mut without, mut with] = [f64::INFINITY; 2];
    for _ in 0..if ranks > 10_000 { 3 } else { 7 } {
        without = without.min(bench.seconds(&trace, bench.cores, &["--details", "none"], 1)?);
        with = with.min(bench.seconds(&trace, bench.cores, &["--details", "inside"], 1)?);
    }
    let more = 100.0 * (with / without - 1.0);
    Ok((format!("{more:+.0} %, {with:.3} s instead of {without:.3} s"), more <= 8.0))
}

/// Makes the page of a trace, and returns where it is and how long it took.
fn make_page(bench: &Bench, ranks: u32, events: u64) -> Result<(PathBuf, f64), Box<dyn Error>> {
    let trace = bench.trace("stencil", ranks, events)?;
    bench.seconds(&trace, bench.cores, &[], 1)?;
    let out = bench.target().with_extension("html");
    let mut arguments: Vec<OsString> = ["replay-show", "html"].map(OsString::from).into();
    arguments.extend([bench.target().into_os_string(), "-o".into(), out.clone().into_os_string()]);
    let (mut results, mut messages) = (Vec::new(), Vec::new());
    let start = Instant::now();
    if show::cli::run(arguments, &Surroundings::default(), &mut results, &mut messages) != Status::Done {
        return Err(String::from_utf8_lossy(&messages).into());
    }
    Ok((out, start.elapsed().as_secs_f64()))
}

fn page(bench: &Bench, ranks: u32, events: u64, most_megabytes: f64, most_seconds: f64) -> Outcome {
    let (page, seconds) = make_page(bench, ranks, events)?;
    let megabytes = std::fs::metadata(page)?.len() as f64 / 1e6;
    let is_reached = megabytes <= most_megabytes && seconds <= most_seconds;
    Ok((format!("{megabytes:.2} MB, {seconds:.2} s"), is_reached))
}

/// Opens a page in Chromium: seconds to the first paint, and until time by location is drawn as finely as the page has it.
fn in_browser(bench: &Bench, ranks: u32, events: u64, most: [f64; 2]) -> Outcome {
    let (page, _) = make_page(bench, ranks, events)?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/replay/show/page/tests/times.mjs");
    let printed = Command::new("node").arg(script).arg(page).output()?;
    let text = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
    let times: Vec<f64> = text.split(' ').filter_map(|time| time.parse().ok()).collect();
    match times[..] {
        [paint, full] => Ok((format!("{paint:.2} s, {full:.2} s"), paint < most[0] && full < most[1])),
        _ => Ok(("skipped: needs node, npm's packages of the page and Chromium (make judges)".into(), true)),
    }
}

/// Reads a short window at the end of a trace, as `replay-show serve` does: the files are read from their begin.
fn window(bench: &Bench) -> Outcome {
    let trace = bench.trace("stencil", 64, 100_000)?;
    bench.seconds(&trace, bench.cores, &[], 1)?;
    let report = Report::open(bench.target())?;
    let manifest = report.member(MANIFEST)?.ok_or("there are no details")?;
    let manifest = Manifest::parse(&manifest)?;
    let windows = TraceWindows::open(&trace.path, report.cube(), &manifest)?;
    let end = i64::try_from(manifest.end)?;
    let locations: Vec<u32> = (0..64).collect();
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        windows.read(end - end / 1000..end, &locations)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    let rate = trace.events as f64 / best / 1e6;
    Ok((format!("{rate:.0} M events/s, {best:.3} s"), rate >= 100.0))
}

fn more_bytes(bench: &Bench, ranks: u32, events: u64, most_megabytes: f64) -> Outcome {
    let trace = bench.trace("stencil", ranks, events)?;
    let mut bytes = [0.0; 2];
    for (bytes, details) in bytes.iter_mut().zip(["none", "inside"]) {
        bench.seconds(&trace, bench.cores, &["--details", details], 1)?;
        *bytes = bench.report_bytes()? as f64;
    }
    at_most((bytes[1] - bytes[0]) / 1e6, most_megabytes, "MB")
}

fn first_screen(bench: &Bench, ranks: u32, events: u64, most_seconds: f64) -> Outcome {
    let trace = bench.trace("stencil", ranks, events)?;
    bench.seconds(&trace, bench.cores, &[], 1)?;
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        let arguments = ["replay-show".into(), bench.target().into_os_string()];
        let (mut results, mut messages) = (Vec::new(), Vec::new());
        let surroundings = Surroundings::default();
        if show::cli::run(arguments, &surroundings, &mut results, &mut messages) != Status::Done {
            return Err(String::from_utf8_lossy(&messages).into());
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    at_most(best, most_seconds, "s")
}
