//! Command line. The only file that names clap.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser};
use generate::{Every, Job, PATTERNS, Pattern, Slow, Tuning, noise, repetitions, trend};

/// Steps of a pattern, unless something else is asked for.
const ITERATIONS: u64 = 300;

/// Make an OTF2 trace of any size.
///
///   replay-generate --ranks 64 --events 100000 --pattern stencil trace
///   replay-analyze trace
///
/// The same options make the same bytes. Prints one line: how large the trace is, and how long it took.
///
/// Exit status: 0 there is a trace; 1 there is one, but the line could not be printed; 2 there is none.
#[derive(Parser, Debug)]
#[command(name = "replay-generate", version, verbatim_doc_comment, max_term_width = 100)]
pub(crate) struct Cli {
    /// Where the trace goes; must not exist
    pub(crate) directory: PathBuf,

    /// Number of ranks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    ranks: u32,

    /// Events of each rank, about
    #[arg(long, value_name = "N")]
    events: Option<u64>,

    /// Steps of the pattern, instead of a number of events [default: 300]
    #[arg(long, value_name = "N", conflicts_with = "events",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    iterations: Option<u64>,

    /// What the ranks do
    #[arg(long, value_name = "NAME", value_parser = pattern())]
    pattern: &'static Pattern,

    /// Threads of each rank, if the pattern has several [default: 4]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,

    /// Chooses how much work each rank has in each step
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Let each rank's clock be set wrong and drift by so many millionths at most; records correct it
    #[arg(long, value_name = "PPM", default_value_t = 0.0)]
    drift: f64,

    /// Let these records be wrong by so many nanoseconds at most: events are in wrong order then
    #[arg(long, value_name = "NS", default_value_t = 0, requires = "drift",
        value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    clock_error: u64,

    /// Write the line of each call, as the recorder does for programs with debug information; not with threads
    #[arg(long)]
    call_sites: bool,

    /// Size of the chunks of event files, from 262144 to 16777216 [default: 1048576]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(otf2::CHUNK_SIZES))]
    chunk: Option<u64>,

    #[command(flatten)]
    tuning: Tunable,
}

/// Options of patterns with loops that are known.
#[derive(Args, Debug)]
#[command(next_help_heading = "Options of iterations")]
struct Tunable {
    /// Standard deviation of the work of a rank [default: 3]
    #[arg(long, value_name = "PERCENT", value_parser = noise)]
    noise: Option<f64>,

    /// Repetitions of the inner loop: K, or K to L, drawn for each iteration [default: 4]
    #[arg(long, value_name = "K[-L]", value_parser = repetitions)]
    inner: Option<RangeInclusive<u32>>,

    /// Let work be longer in each iteration than in the one before, by so much of the first one's
    #[arg(long, value_name = "PERCENT", value_parser = trend, allow_negative_numbers = true)]
    trend: Option<f64>,

    /// Let work in iterations M, 2 M, … be longer by a factor, maybe with an additional MPI_Barrier
    #[arg(long, value_name = "M:FACTOR[:call]")]
    every: Option<Every>,

    /// Let a rank be slower by a factor, in an iteration (from 1 on), in relax or smooth [default: relax]
    #[arg(long, value_name = "RANK:ITERATION:FACTOR[:FUNCTION]")]
    slow: Option<Slow>,

    /// Number of call sites, rounded down to a multiple of 16 [default: 1024]
    #[arg(long, value_name = "N", help_heading = "Options of random-sites",
        value_parser = clap::value_parser!(u32).range(16..=16_000_000))]
    sites: Option<u32>,
}

impl Tunable {
    /// What is chosen, and what is usual otherwise.
    fn tuning(&self) -> Tuning {
        let usual = Tuning::default();
        Tuning {
            noise: self.noise.unwrap_or(usual.noise),
            trend: self.trend.unwrap_or(usual.trend),
            every: self.every,
            slow: self.slow,
            inner: self.inner.clone().unwrap_or(usual.inner),
            sites: self.sites.unwrap_or(usual.sites),
        }
    }
}

impl Cli {
    /// Parses the command line.
    pub(crate) fn try_parse() -> Result<Cli, clap::Error> {
        let lines = PATTERNS.iter().map(|pattern| format!("\n  {:<14} {}", pattern.name, pattern.about));
        let about_patterns = format!("Patterns:{}", lines.collect::<String>());
        Cli::from_arg_matches(&Cli::command().after_help(about_patterns).try_get_matches()?)
    }

    /// The job that the options describe.
    pub(crate) fn job(&self) -> Job {
        let job = Job::new(self.pattern, self.ranks, self.events.unwrap_or(0));
        Job {
            iterations: if self.events.is_some() {
                None
            } else {
                Some(self.iterations.unwrap_or(ITERATIONS))
            },
            threads: self.threads.unwrap_or(job.threads),
            seed: self.seed,
            drift: self.drift,
            clock_error: self.clock_error,
            call_sites: self.call_sites,
            tuning: self.tuning.tuning(),
            chunk: self.chunk.unwrap_or(job.chunk),
            ..job
        }
    }
}

/// Parser of a pattern's name.
fn pattern() -> impl TypedValueParser<Value = &'static Pattern> {
    let names = PossibleValuesParser::new(PATTERNS.iter().map(|pattern| pattern.name));
    // Only names that can be found are accepted.
    names.map(|name| Pattern::find(&name).unwrap_or(PATTERNS[0]))
}
