//! The user's settings: one table, by environment variables. The launcher's options and configuration file
//! set the same variables for the processes that it starts.

use crate::counters::{self, Counter};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// An environment variable.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Its value if it is not set.
    pub default: &'static str,
    /// Its meaning, with its unit.
    pub meaning: &'static str,
}

/// All variables that the recorder reads.
pub const VARIABLES: &[Variable] = &[
    Variable {
        name: "REPLAY_OUTPUT",
        default: "replay_<program>_<ranks>x<threads>[_<job>]",
        meaning: "the experiment directory; the default gets a number if it exists",
    },
    Variable {
        name: "REPLAY_BUFFER",
        default: "1M",
        meaning: "memory for the events of a thread, 256K to 16M bytes; written out whenever it is full",
    },
    Variable {
        name: "REPLAY_DEPTH",
        default: "64",
        meaning: "innermost functions of a call path that are recorded; 0 for none",
    },
    Variable {
        name: "REPLAY_FUNCTIONS",
        default: "cg,coll,env,io,p2p,perf,rma,spawn,topo",
        meaning: "MPI functions to record: names or groups, comma separated; with + or - in front they change the default",
    },
    Variable {
        name: "REPLAY_PROFILE",
        default: "0",
        meaning: "1: count visits, time and bytes of each call path instead of recording events, which gives a profile.cubex; estimate: do so and say how large a trace would be",
    },
    Variable {
        name: "REPLAY_RECORDS",
        default: "calling-contexts",
        meaning: "calling-contexts: the records of the archive name whole call paths; enter-leave: plain Enter and Leave records, for tools that do not know calling contexts",
    },
    Variable {
        name: "REPLAY_FILTER",
        default: "",
        meaning: "a filter file (Score-P's format) for regions that the program names and for instrumented functions (-finstrument-functions)",
    },
    Variable {
        name: "REPLAY_SAMPLE",
        default: "0",
        meaning: "samples of each thread for a second of its processor time, outside of MPI; 0 for none",
    },
    Variable {
        name: "REPLAY_OFF_CPU",
        default: "auto",
        meaning: "on, off, or auto: record for how long threads were off the processor, preempted or blocked; auto: where the system permits it",
    },
    Variable {
        name: "REPLAY_COUNTERS",
        default: "",
        meaning: "counters to record at each event, at most 6, comma separated: cycles, instructions, page-faults and others, PAPI's names for them, or raw events (docs/recorder.md)",
    },
    Variable {
        name: "REPLAY_OPENMP",
        default: "on",
        meaning: "on, or off: whether OpenMP is recorded (parallel regions, barriers, critical sections, locks), of programs that use GCC's libgomp",
    },
    Variable {
        name: "REPLAY_IO",
        default: "mpi",
        meaning: "mpi: record files of MPI-IO; posix: also those that are opened, read and written by functions of the C library, by the program or by MPI",
    },
    Variable {
        name: "REPLAY_IO_EXCLUDE",
        default: "",
        meaning: "with posix: absolute paths, separated by colons, at or below which files are not recorded; the longest path decides",
    },
    Variable {
        name: "REPLAY_IO_INCLUDE",
        default: "",
        meaning: "with posix: likewise those that are, although they are below one of which files are not recorded",
    },
    Variable {
        name: "REPLAY_NO_ARGUMENTS",
        default: "0",
        meaning: "1: leave out the arguments of the program, which may hold secrets; 0: record them",
    },
    Variable {
        name: "REPLAY_ANONYMOUS",
        default: "0",
        meaning: "1: leave out the arguments, too, and make an archive without names of hosts and without paths: hosts have numbers, files the last part of their paths",
    },
    Variable {
        name: "REPLAY_STOP_AFTER",
        default: "",
        meaning: "stop the program by SIGTERM after this time, such as 90s, 55m or 2h, and complete the archive",
    },
    Variable {
        name: "REPLAY_CLOCK",
        default: "auto",
        meaning: "tsc, monotonic, or auto: tsc where it is reliable",
    },
    Variable {
        name: "REPLAY_CLOCK_INTERVAL",
        default: "60",
        meaning: "seconds between measurements of clock offsets at collective calls; 0 for none in between",
    },
    Variable {
        name: "REPLAY_FIRST",
        default: "",
        meaning: "record the first N rounds only; a round ends at a collective call on MPI_COMM_WORLD",
    },
    Variable { name: "REPLAY_EVERY", default: "1", meaning: "record every N-th round only" },
    Variable { name: "REPLAY_WINDOW", default: "", meaning: "record rounds FIRST-LAST only, counted from 0" },
    Variable {
        name: "REPLAY_ITERATIONS",
        default: "",
        meaning: "record N iterations of the loop that the program repeats, which is found while it runs",
    },
    Variable {
        name: "REPLAY_SKIP",
        default: "0",
        meaning: "with iterations: those of the loop that are not recorded before the first one that is",
    },
    Variable {
        name: "REPLAY_UNTIL_STABLE",
        default: "16M",
        meaning: "with iterations: bytes of events of a process that are recorded before a loop is found; 0 for none",
    },
];

/// The user's settings, checked.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// The experiment directory, if the user named one.
    pub output: Option<PathBuf>,
    /// Size of a buffer and of a chunk, in bytes.
    pub buffer: u64,
    /// Length of call paths, in frames.
    pub depth: u32,
    /// MPI functions to record, as the user wrote them.
    pub functions: String,
    /// Whether call paths are counted instead of recording events.
    pub profile: ProfileMode,
    /// Event records of the archive.
    pub records: EventRecords,
    /// The filter file.
    pub filter: Option<PathBuf>,
    /// Samples a second; 0 for none.
    pub sample: u32,
    /// Whether time off the processor is recorded.
    pub off_cpu: OffCpu,
    /// Counters to record, at most [`counters::MOST`].
    pub counters: Vec<Counter>,
    /// Whether OpenMP is recorded.
    pub openmp: bool,
    /// Whether files of the C library are recorded.
    pub posix: bool,
    /// Paths of files that are not recorded then, separated by colons.
    pub io_exclude: String,
    /// Paths of files that are, although those above them are not.
    pub io_include: String,
    /// Whether the arguments of the program are recorded.
    pub arguments: bool,
    /// Whether the archive has neither names of hosts nor paths.
    pub anonymous: bool,
    /// How long the program may run; `None` if there is no limit.
    pub stop_after: Option<Duration>,
    /// The clock that times are read from.
    pub clock: ClockSource,
    /// Seconds between measurements of clock offsets; 0 for none in between.
    pub clock_interval: f64,
    /// Rounds to record.
    pub rounds: Rounds,
    /// Iterations to record instead, of a loop that is found while the program runs.
    pub iterations: Option<IterationChoice>,
}

/// Whether call paths are counted instead of traced, and the purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProfileMode {
    /// Traced.
    No,
    /// Counted, for a report.
    Report,
    /// Counted, to estimate the size of a trace.
    Estimate,
}

/// Whether time off the processor is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OffCpu {
    /// If the system permits it.
    Auto,
    /// Yes; the user is told where the system does not permit it.
    On,
    /// No.
    Off,
}

/// Event records of the archive for the call path of a thread. The files of the recorder do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventRecords {
    /// `CallingContextEnter` and its like, with whole call paths.
    CallingContexts,
    /// `Enter` and `Leave` of one region each.
    EnterLeave,
}

/// The clock that times are read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockSource {
    /// The processor's counter where it is reliable, else `Monotonic`.
    Auto,
    /// The processor's counter.
    Tsc,
    /// `CLOCK_MONOTONIC_RAW`.
    Monotonic,
}

/// The iterations that are recorded, of the loop that the program repeats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IterationChoice {
    /// How many are recorded.
    pub count: u64,
    /// How many are not before those.
    pub skip: u64,
    /// Bytes of events of a process that are recorded before a loop is found.
    pub until_stable: u64,
}

/// The rounds (intervals between collective calls on `MPI_COMM_WORLD`) that are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rounds {
    /// The first round.
    pub first: u64,
    /// The first round that is not recorded any more.
    pub end: u64,
    /// The stride: one of so many is recorded.
    pub every: u64,
}

impl Rounds {
    /// All rounds.
    pub const ALL: Rounds = Rounds { first: 0, end: u64::MAX, every: 1 };

    /// Whether this round is recorded.
    pub fn contains(&self, round: u64) -> bool {
        round >= self.first && round < self.end && (round - self.first).is_multiple_of(self.every)
    }
}

impl EventRecords {
    /// Parses a value of `REPLAY_RECORDS`.
    ///
    /// # Errors
    /// If there is no such choice: what was found, what was expected.
    pub fn read(value: &str) -> Result<Self, String> {
        match value {
            "calling-contexts" => Ok(EventRecords::CallingContexts),
            "enter-leave" => Ok(EventRecords::EnterLeave),
            _ => Err(format!("REPLAY_RECORDS is {value:?}, expected calling-contexts or enter-leave")),
        }
    }
}

impl Settings {
    /// Reads the variables with `get`.
    ///
    /// # Errors
    /// If one has a value that it cannot have: its name, what was found, what was expected.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let text = |name: &str| get(name).filter(|value| !value.is_empty());
        let value = |name: &str| {
            let default = VARIABLES.iter().find(|variable| variable.name == name).map_or("", |v| v.default);
            text(name).unwrap_or_else(|| default.to_string())
        };
        let wrong = |name: &str, expected: &str| format!("{name} is {:?}, expected {expected}", value(name));
        let number = |name: &str| -> Result<u64, String> {
            value(name).parse().map_err(|_| wrong(name, "a whole number"))
        };
        let buffer = bytes(&value("REPLAY_BUFFER"))
            .filter(|bytes| (256 << 10..=16 << 20).contains(bytes))
            .ok_or_else(|| wrong("REPLAY_BUFFER", "a size from 256K to 16M"))?;
        let depth = number("REPLAY_DEPTH")?.min(1024) as u32;
        let sample = number("REPLAY_SAMPLE")?;
        if sample > 10_000 {
            return Err(wrong("REPLAY_SAMPLE", "at most 10000 samples a second"));
        }
        let off_cpu = match value("REPLAY_OFF_CPU").as_str() {
            "auto" => OffCpu::Auto,
            "on" => OffCpu::On,
            "off" => OffCpu::Off,
            _ => return Err(wrong("REPLAY_OFF_CPU", "auto, on or off")),
        };
        let counters = counters::parse(&value("REPLAY_COUNTERS"))
            .map_err(|problem| format!("REPLAY_COUNTERS has {problem}"))?;
        let openmp = match value("REPLAY_OPENMP").as_str() {
            "on" => true,
            "off" => false,
            _ => return Err(wrong("REPLAY_OPENMP", "on or off")),
        };
        let posix = match value("REPLAY_IO").as_str() {
            "mpi" => false,
            "posix" => true,
            _ => return Err(wrong("REPLAY_IO", "mpi or posix")),
        };
        for name in ["REPLAY_IO_EXCLUDE", "REPLAY_IO_INCLUDE"] {
            if value(name).split(':').any(|path| !path.is_empty() && !path.starts_with('/')) {
                return Err(wrong(name, "absolute paths"));
            }
        }
        let switch = |name: &str| match value(name).as_str() {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(wrong(name, "0 or 1")),
        };
        let anonymous = switch("REPLAY_ANONYMOUS")?;
        let arguments = !switch("REPLAY_NO_ARGUMENTS")? && !anonymous;
        let limit = || wrong("REPLAY_STOP_AFTER", "a time such as 90s, 55m or 2h");
        let stop_after =
            text("REPLAY_STOP_AFTER").map(|text| duration(&text).ok_or_else(limit)).transpose()?;
        let clock = match value("REPLAY_CLOCK").as_str() {
            "auto" => ClockSource::Auto,
            "tsc" => ClockSource::Tsc,
            "monotonic" => ClockSource::Monotonic,
            _ => return Err(wrong("REPLAY_CLOCK", "auto, tsc or monotonic")),
        };
        let profile = match value("REPLAY_PROFILE").as_str() {
            "0" => ProfileMode::No,
            "1" => ProfileMode::Report,
            "estimate" => ProfileMode::Estimate,
            _ => return Err(wrong("REPLAY_PROFILE", "0, 1 or estimate")),
        };
        let records = EventRecords::read(&value("REPLAY_RECORDS"))?;
        let clock_interval = value("REPLAY_CLOCK_INTERVAL")
            .parse()
            .ok()
            .filter(|&seconds: &f64| seconds >= 0.0)
            .ok_or_else(|| wrong("REPLAY_CLOCK_INTERVAL", "seconds"))?;
        let mut rounds = Rounds { every: number("REPLAY_EVERY")?, ..Rounds::ALL };
        if rounds.every == 0 {
            return Err(wrong("REPLAY_EVERY", "1 or more"));
        }
        if let Some(window) = text("REPLAY_WINDOW") {
            let parsed = window.split_once('-').and_then(|(first, last)| {
                Some((first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?))
            });
            let Some((first, last)) = parsed.filter(|(first, last)| first <= last) else {
                return Err(wrong("REPLAY_WINDOW", "FIRST-LAST, such as 100-199"));
            };
            (rounds.first, rounds.end) = (first, last.saturating_add(1));
        }
        if text("REPLAY_FIRST").is_some() {
            rounds.end = rounds.end.min(rounds.first.saturating_add(number("REPLAY_FIRST")?));
        }
        let iterations = match text("REPLAY_ITERATIONS") {
            None => None,
            Some(_) => Some(IterationChoice {
                count: number("REPLAY_ITERATIONS")?,
                skip: number("REPLAY_SKIP")?,
                until_stable: bytes(&value("REPLAY_UNTIL_STABLE"))
                    .ok_or_else(|| wrong("REPLAY_UNTIL_STABLE", "a size such as 16M"))?,
            }),
        };
        if let Some(IterationChoice { count, skip, .. }) = iterations {
            // So many that no sum of iterations overflows.
            const MOST: u64 = 1 << 40;
            if !(1..=MOST).contains(&count) {
                return Err(wrong("REPLAY_ITERATIONS", "1 or more"));
            }
            if skip > MOST {
                return Err(wrong("REPLAY_SKIP", "a number of iterations"));
            }
            if rounds != Rounds::ALL {
                return Err(wrong("REPLAY_ITERATIONS", "none besides rounds (first, every, window)"));
            }
            if profile != ProfileMode::No {
                return Err(wrong("REPLAY_ITERATIONS", "none besides a profile, which has all of them"));
            }
        }
        let functions = value("REPLAY_FUNCTIONS");
        if let Some(unknown) = crate::functions::unknown_in(&functions) {
            return Err(wrong(
                "REPLAY_FUNCTIONS",
                &format!("MPI functions or groups of them, not {unknown:?}"),
            ));
        }
        Ok(Settings {
            output: text("REPLAY_OUTPUT").map(PathBuf::from),
            buffer,
            depth,
            functions,
            profile,
            records,
            filter: text("REPLAY_FILTER").map(PathBuf::from),
            sample: sample as u32,
            off_cpu,
            counters,
            openmp,
            posix,
            io_exclude: value("REPLAY_IO_EXCLUDE"),
            io_include: value("REPLAY_IO_INCLUDE"),
            arguments,
            anonymous,
            stop_after,
            clock,
            clock_interval,
            rounds,
            iterations,
        })
    }
}

/// Parses a time such as `90s`, `55m` or `2h`; without a unit it is in seconds.
fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (digits, seconds) = match text.char_indices().next_back()? {
        (at, 's') => (&text[..at], 1),
        (at, 'm') => (&text[..at], 60),
        (at, 'h') => (&text[..at], 3600),
        _ => (text, 1),
    };
    let number = digits.parse::<u64>().ok().filter(|number| *number > 0)?;
    number.checked_mul(seconds).map(Duration::from_secs)
}

/// Parses a number of bytes such as `1M`, `256K` or `300000`.
pub fn bytes(text: &str) -> Option<u64> {
    let (digits, unit) = match text.trim().trim_end_matches(['b', 'B']).trim_end_matches('i') {
        text if text.ends_with(['k', 'K']) => (&text[..text.len() - 1], 1 << 10),
        text if text.ends_with(['m', 'M']) => (&text[..text.len() - 1], 1 << 20),
        text if text.ends_with(['g', 'G']) => (&text[..text.len() - 1], 1 << 30),
        text => (text, 1),
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::read(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        })
    }

    #[test]
    fn nothing_set_means_the_defaults() {
        let settings = read(&[]).unwrap();
        assert_eq!((settings.buffer, settings.depth, settings.sample), (1 << 20, 64, 0));
        assert_eq!(
            (settings.clock, settings.rounds, settings.output),
            (ClockSource::Auto, Rounds::ALL, None)
        );
        assert_eq!((settings.records, settings.openmp), (EventRecords::CallingContexts, true));
        assert!(!settings.posix && settings.io_include.is_empty());
    }

    #[test]
    fn window_and_every_and_first_choose_rounds() {
        let rounds = read(&[("REPLAY_WINDOW", "10-19"), ("REPLAY_EVERY", "5")]).unwrap().rounds;
        let chosen: Vec<u64> = (0..30).filter(|&round| rounds.contains(round)).collect();
        assert_eq!(chosen, [10, 15]);
        let rounds = read(&[("REPLAY_FIRST", "3")]).unwrap().rounds;
        assert!(rounds.contains(2) && !rounds.contains(3));
    }

    #[test]
    fn times_have_units() {
        assert_eq!(read(&[]).unwrap().stop_after, None);
        let seconds = |text| Some(read(&[("REPLAY_STOP_AFTER", text)]).ok()?.stop_after?.as_secs());
        assert_eq!(["7", "90s", "55m", " 2h "].map(seconds), [7, 90, 3300, 7200].map(Some));
        for wrong in ["0", "m", "-1s", "1.5h", "1d", "99999999999999999999h", "9999999999999999999h", "é"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn wrong_values_are_named() {
        for (name, value) in [
            ("REPLAY_BUFFER", "1"),
            ("REPLAY_BUFFER", "x"),
            ("REPLAY_DEPTH", "-1"),
            ("REPLAY_SAMPLE", "1000000"),
            ("REPLAY_OPENMP", "yes"),
            ("REPLAY_IO", "on"),
            ("REPLAY_IO_EXCLUDE", "/tmp:data"),
            ("REPLAY_CLOCK", "sun"),
            ("REPLAY_CLOCK_INTERVAL", "-1"),
            ("REPLAY_EVERY", "0"),
            ("REPLAY_WINDOW", "5"),
            ("REPLAY_WINDOW", "5-1"),
            ("REPLAY_FIRST", "some"),
            ("REPLAY_ITERATIONS", "0"),
            ("REPLAY_RECORDS", "enter"),
            ("REPLAY_FUNCTIONS", "p2p,MPI_Sned"),
        ] {
            let message = read(&[(name, value)]).unwrap_err();
            assert!(message.contains(name) && message.contains(value), "{message}");
        }
    }

    #[test]
    fn iterations_exclude_other_choices_of_what_is_recorded() {
        let choice = read(&[("REPLAY_ITERATIONS", "10"), ("REPLAY_SKIP", "5")]).unwrap().iterations;
        assert_eq!(choice, Some(IterationChoice { count: 10, skip: 5, until_stable: 16 << 20 }));
        assert_eq!(read(&[("REPLAY_SKIP", "5")]).unwrap().iterations, None);
        for other in [("REPLAY_WINDOW", "1-2"), ("REPLAY_PROFILE", "1"), ("REPLAY_UNTIL_STABLE", "much")] {
            assert!(read(&[("REPLAY_ITERATIONS", "10"), other]).is_err(), "{other:?}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("256K"), Some(256 << 10));
        assert_eq!(bytes("2MiB"), Some(2 << 20));
        assert_eq!(bytes("17"), Some(17));
        assert_eq!(bytes("1.5M"), None);
    }
}
