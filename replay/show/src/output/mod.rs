//! Output: results to one writer as text, JSON, CSV or TSV, and messages to another one.
//!
//! A command makes a [`Document`] and gives it to [`Output::print`]; what writes bytes of its own, such as an export, has
//! [`Output::write`]. Names are cleaned where they are rendered, never before.

mod data;
mod document;
mod line;
pub mod names;
pub mod numbers;
mod pager;
mod progress;
mod screen;
pub(crate) mod table;
pub(crate) mod text;

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};

use clap::Args;

pub(crate) use data::escaped;
pub use document::{Cell, Column, Document, Part, Shown, Table};
pub use line::{Line, Span, Style};
pub use progress::Written;
pub use screen::{Colour, Screen, Surroundings};
pub(crate) use table::written;
pub use text::render;

use crate::error::{Error, Result};
use progress::Progress;

/// How results are printed. These options hold for all commands.
#[derive(Args, Clone, PartialEq, Eq, Debug, Default)]
pub struct OutputArgs {
    /// Print JSON, with all digits and times in seconds
    #[arg(long, global = true, conflicts_with_all = ["csv", "tsv"], help_heading = "Output")]
    pub json: bool,

    /// Print the main table as CSV
    #[arg(long, global = true, conflicts_with = "tsv", help_heading = "Output")]
    pub csv: bool,

    /// Print the main table as TSV
    #[arg(long, global = true, help_heading = "Output")]
    pub tsv: bool,

    /// When to use colour
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output"
    )]
    pub color: Colour,

    /// Use plain ASCII only
    #[arg(long, global = true, help_heading = "Output")]
    pub ascii: bool,

    /// Never start a pager
    #[arg(long, global = true, help_heading = "Output")]
    pub no_pager: bool,
}

/// The form of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For people.
    Text,
    /// An object.
    Json,
    /// The main table, comma-separated.
    Csv,
    /// The main table, tab-separated.
    Tsv,
}

/// Where results and messages go.
pub struct Output<'o> {
    results: &'o mut dyn Write,
    messages: &'o mut dyn Write,
    surroundings: Surroundings,
    screen: Screen,
    format: Format,
    is_paged: bool,
    written: Written,
    /// Shown until there is something to print.
    progress: Option<Progress>,
}

impl std::fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output")
            .field("screen", &self.screen)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

impl<'o> Output<'o> {
    /// Output to these writers, which are standard output and standard error but in tests.
    pub fn new(
        args: &OutputArgs,
        surroundings: &Surroundings,
        results: &'o mut dyn Write,
        messages: &'o mut dyn Write,
    ) -> Output<'o> {
        let format = match args {
            OutputArgs { json: true, .. } => Format::Json,
            OutputArgs { csv: true, .. } => Format::Csv,
            OutputArgs { tsv: true, .. } => Format::Tsv,
            _ => Format::Text,
        };
        let written = Written::default();
        let progress = surroundings.has_terminal_for_messages.then(|| Progress::on_stderr(written.clone()));
        Output {
            results,
            messages,
            surroundings: surroundings.clone(),
            screen: Screen::new(surroundings, args.color, args.ascii),
            format,
            is_paged: !args.no_pager,
            written,
            progress,
        }
    }

    /// The screen that text is for.
    pub fn screen(&self) -> &Screen {
        &self.screen
    }

    /// The form of results.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether results are for scripts, which get everything unless they ask for less.
    pub fn is_for_scripts(&self) -> bool {
        self.format != Format::Text
    }

    /// Counts bytes of files that a command writes, for the progress.
    pub fn written(&self) -> Written {
        self.written.clone()
    }

    /// A variable of the environment that is set and not empty, of those that [`Surroundings`] keeps.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.surroundings.variable(name)
    }

    /// Whether results go to a terminal that can place its cursor, and keys come from one.
    pub fn is_on_terminal(&self) -> bool {
        let Surroundings { terminal, .. } = &self.surroundings;
        let is_dumb = matches!(self.variable("TERM"), None | Some("dumb"));
        terminal.is_some() && !is_dumb && io::stdin().is_terminal()
    }

    /// Ends what is shown while a command takes long, for one that draws on the terminal itself.
    pub fn hide_progress(&mut self) {
        self.progress = None;
    }

    /// Prints a document.
    ///
    /// # Errors
    /// If it cannot be written. A reader that has gone away is no error.
    pub fn print(&mut self, document: &Document) -> Result<()> {
        self.progress = None;
        let text = match self.format {
            Format::Text => render(document, &self.screen),
            Format::Json => data::json(document),
            Format::Csv => data::csv(document),
            Format::Tsv => data::tsv(document),
        };
        if self.format == Format::Text && self.is_paged {
            let is_shown = pager::show(&text, &self.surroundings).map_err(|error| cannot_write(&error))?;
            if is_shown {
                return Ok(());
            }
        }
        self.write(|results| results.write_all(text.as_bytes()))
    }

    /// Writes bytes that are no document, such as an export; `write` gets the writer of results.
    ///
    /// # Errors
    /// If they cannot be written. A reader that has gone away is no error.
    pub fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        self.progress = None;
        let results = &mut *self.results;
        match write(results).and_then(|()| self.results.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(cannot_write(&error)),
            _ => Ok(()),
        }
    }

    /// Prints a message to the user: `replay-show: MESSAGE`.
    pub fn warn(&mut self, message: impl Display) {
        self.progress = None;
        let message = names::printable(&message.to_string());
        // There is no other place to report that this fails.
        let _ = writeln!(self.messages, "replay-show: {message}");
    }

    /// Shows a text of the user with a caret below one of its bytes, after a message about it.
    pub fn point_at(&mut self, text: &str, at: usize) {
        let (front, rest) = text.split_at_checked(at).unwrap_or((text, ""));
        let front = names::printable(front);
        let caret = " ".repeat(names::width(&front));
        // There is no other place to report that this fails.
        let _ = writeln!(self.messages, "  {front}{}\n  {caret}^", names::printable(rest));
    }
}

fn cannot_write(error: &io::Error) -> Error {
    Error::new(format!("cannot write the results: {error}"))
}
