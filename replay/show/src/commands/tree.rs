//! `tree`: the call tree with values of metrics.

use std::path::PathBuf;

use crate::error::Result;
use crate::opened::Opened;
use crate::output::{Cell, Column, Document, Output, Table};
use crate::status::Status;
use crate::values::Values;
use crate::{paths, places};

/// Arguments of `tree`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The report, or an experiment directory
    pub file: PathBuf,

    /// Metrics, with commas between them
    #[arg(short, long, value_name = "LIST", value_delimiter = ',', default_value = "time,waiting,delay")]
    pub metrics: Vec<String>,
}

/// Prints the call tree.
///
/// # Errors
/// If the report or a metric cannot be read.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(&args.file, output)?;
    let values = Values::new(&opened.report);
    let cube = values.cube();
    let mut columns = vec![Column::new("path", "")];
    let mut all = Vec::new();
    for name in &args.metrics {
        let quantity = values.quantity(name)?;
        columns.push(Column::new(quantity.name.clone(), quantity.title.clone()));
        let totals = values.totals(&quantity, &places::threads(cube))?;
        all.push((quantity, totals));
    }
    let mut table = Table::new("paths", columns);
    for at in 0..cube.cnodes.len() {
        let name = Cell::Name(paths::path(cube, cubex::CnodeId(at)));
        let values =
            all.iter().map(|(quantity, totals)| Cell::Number(totals.inclusive[at], quantity.unit.clone()));
        table.rows.push([name].into_iter().chain(values).collect());
    }
    let mut document = Document::new("tree");
    document.table(table);
    output.print(&document)?;
    Ok(Status::Done)
}
