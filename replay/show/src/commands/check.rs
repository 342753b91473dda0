//! `check`: gates on one report.

use std::path::PathBuf;

use super::gates;
use crate::compare::changes::Floor;
use crate::compare::reading::{Base, Reading};
use crate::compare::side::Side;
use crate::error::{Error, Result};
use crate::gates::evaluate::Subject;
use crate::opened::Opened;
use crate::output::{Document, Line, Output};
use crate::status::Status;

/// Arguments of `check`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The report, or an experiment directory
    pub file: PathBuf,

    /// Include start-up and shutdown: MPI_Init and MPI_Finalize
    #[arg(long)]
    pub all: bool,

    // A comment for users would replace that of the command.
    #[command(flatten)]
    #[expect(missing_docs, reason = "see above")]
    pub gates: gates::GateArgs,
}

/// Evaluates gates on a report.
///
/// # Errors
/// If the report or a gate cannot be read.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let gates = args.gates.read()?;
    if gates.is_empty() {
        return Err(Error::new(
            "no gates: expected --fail-if GATE, such as --fail-if 'waiting > 20%', or --gates FILE",
        ));
    }
    let opened = Opened::open(&args.file, output)?;
    let side = Side::new(vec![Reading::read(&opened, args.all)?], false)?;
    let floor = Floor::default();
    let subject = Subject { a: None, b: &side, floor: &floor, gates: gates.len() };
    let run = side.first();
    let mut document = Document::new("check");
    document.fact("file", run.label.clone());
    document.text(Line::from(format!("{}: {}{}", run.label, run.shape, run.base.map_or("", Base::remark))));
    let title = format!("check {}", run.label);
    gates::judge(&args.gates, &gates, &subject, None, &title, document, output)
}
