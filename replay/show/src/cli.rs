//! The command line: every command with its arguments, and which function runs it.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use tracing::debug_span;

use crate::commands;
use crate::error::Result;
use crate::output::{Output, OutputArgs, Surroundings};
use crate::status::Status;

/// Show a report of replay-analyze, Score-P or Scalasca: what is wrong, where, and because of whom.
///
/// Exit status: 0 done; 1 a gate failed; 2 anything else.
#[derive(Parser, Debug)]
#[command(
    name = "replay-show",
    version,
    max_term_width = 100,
    subcommand_negates_reqs = true,
    override_usage = "replay-show [OPTIONS] FILE\n       replay-show [OPTIONS] COMMAND ..."
)]
struct Cli {
    /// The report (.cubex), or an experiment directory
    #[arg(required = true)]
    file: Option<PathBuf>,

    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    output: OutputArgs,
}

/// Commands. Each has its arguments and its `run` in its own file.
#[derive(Subcommand, Debug)]
enum Command {
    /// Show which changes of the program save run time, and how much
    Advice(commands::advice::Args),
    /// Explain a metric: what it means, when it is large, what to do
    Explain(commands::explain::Args),
    /// Show the call tree with values of metrics
    Tree(commands::tree::Args),
    /// Show values by rank, node or place in a topology, and how unequal they are
    Ranks(commands::ranks::Args),
    /// Compare reports: what changed, where, and by how much
    Diff(commands::diff::Args),
    /// Evaluate gates on a report
    Check(commands::check::Args),
    /// Keep the numbers of reports in a log, and show how they change
    History(commands::history::Args),
    /// Show locations over time
    Time(commands::time::Args),
    /// Show the iterations of the main loop
    Iterations(commands::iterations::Args),
    /// Show what the program does repeatedly: its loops and calls
    Structure(commands::structure::Args),
    /// Write the report in a format of another tool
    Export(commands::export::Args),
    /// Show the severest waits, and how each came about
    Waits(commands::waits::Args),
    /// Show who communicates with whom, and on which pairs they wait
    Matrix(commands::matrix::Args),
    /// Look at a report on the terminal: metrics, call tree and locations
    #[cfg(feature = "explore")]
    Explore(commands::explore::Args),
    /// Serve the page over HTTP, with events of the trace on demand
    #[cfg(feature = "serve")]
    Serve(commands::serve::Args),
    /// Write a page for browsers
    Html(commands::html::Args),
    /// Write manual pages and completions of shells
    #[command(hide = true)]
    Manual(commands::manual::Args),
}

impl Command {
    fn run(&self, output: &mut Output<'_>) -> Result<Status> {
        match self {
            Command::Advice(args) => commands::advice::run(args, output),
            Command::Explain(args) => commands::explain::run(args, output),
            Command::Tree(args) => commands::tree::run(args, output),
            Command::Ranks(args) => commands::ranks::run(args, output),
            Command::Diff(args) => commands::diff::run(args, output),
            Command::Check(args) => commands::check::run(args, output),
            Command::History(args) => commands::history::run(args, output),
            Command::Time(args) => commands::time::run(args, output),
            Command::Iterations(args) => commands::iterations::run(args, output),
            Command::Structure(args) => commands::structure::run(args, output),
            Command::Waits(args) => commands::waits::run(args, output),
            Command::Export(args) => commands::export::run(args, output),
            Command::Matrix(args) => commands::matrix::run(args, output),
            #[cfg(feature = "explore")]
            Command::Explore(args) => commands::explore::run(args, output),
            #[cfg(feature = "serve")]
            Command::Serve(args) => commands::serve::run(args, output),
            Command::Html(args) => commands::html::run(args, output),
            Command::Manual(args) => commands::manual::run(args, Cli::command()),
        }
    }
}

/// Runs the program: `arguments` begin with its name; results and messages go to the writers.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    surroundings: &Surroundings,
    results: &mut dyn Write,
    messages: &mut dyn Write,
) -> Status {
    let parsed = Cli::command().try_get_matches_from(arguments).and_then(|matches| {
        let name = matches.subcommand_name().unwrap_or("overview").to_owned();
        Ok((name, Cli::from_arg_matches(&matches)?))
    });
    let (name, cli) = match parsed {
        Ok(parsed) => parsed,
        Err(answer) => return tell(&answer, surroundings, results, messages),
    };
    let _span = debug_span!("command", name).entered();
    let mut output = Output::new(&cli.output, surroundings, results, messages);
    let done = match (&cli.command, &cli.file) {
        (Some(command), _) => command.run(&mut output),
        (None, Some(file)) => commands::first::run(file, &mut output),
        // The parser has refused this.
        (None, None) => Ok(Status::Failed),
    };
    match done {
        Ok(status) => status,
        Err(error) => {
            output.warn(&error);
            if let Some((text, at)) = error.excerpt() {
                output.point_at(text, at);
            }
            Status::Failed
        }
    }
}

/// Prints help, the version or a usage error.
fn tell(
    answer: &clap::Error,
    surroundings: &Surroundings,
    results: &mut dyn Write,
    messages: &mut dyn Write,
) -> Status {
    if matches!(answer.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let mut output = Output::new(&OutputArgs::default(), surroundings, results, messages);
        let text = answer.render().to_string();
        return match output.write(|results| results.write_all(text.as_bytes())) {
            Ok(()) => Status::Done,
            Err(error) => {
                output.warn(error);
                Status::Failed
            }
        };
    }
    // There is no other place to report that this fails.
    let _ = write!(messages, "{}", answer.render());
    Status::Failed
}
