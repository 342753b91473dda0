//! Command line. The only file that names clap.

use std::path::PathBuf;

use clap::Parser;

/// Write a trace of Paraver as an OTF2 archive, which replay-analyze analyses.
///
///   replay-import trace.prv -o exp
///   replay-analyze exp
///
/// FILE.pcf and FILE.row are read beside FILE.prv. Prints a line with the size of the trace, and on standard error what of
/// it is not in the archive as it was.
///
/// Exit status: 0 there is an archive; 1 there is one, but the line could not be printed; 2 there is none.
#[derive(Parser, Debug)]
#[command(name = "replay-import", version, verbatim_doc_comment, max_term_width = 100)]
pub(crate) struct Cli {
    /// The trace, FILE.prv or FILE.prv.gz
    #[arg(required_unless_present = "manual")]
    pub(crate) file: Option<PathBuf>,

    /// Directory of the archive; must not exist
    #[arg(short, long, value_name = "DIR", required_unless_present = "manual")]
    pub(crate) output: Option<PathBuf>,

    /// Replace DIR with all that is in it, if it is an experiment
    #[arg(long)]
    pub(crate) force: bool,

    /// Write the manual page and the completions of shells below a directory
    #[arg(long, value_name = "DIR", hide = true, exclusive = true)]
    pub(crate) manual: Option<PathBuf>,
}
