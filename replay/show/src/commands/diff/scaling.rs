//! Scaling: what more ranks should bring, and what they brought.

use clap::ValueEnum;

use super::{Args, unsupported};
use crate::compare::changes::Compared;
use crate::compare::measure::Measure;
use crate::compare::quantities::Compare;
use crate::compare::reading::Reading;
use crate::error::Result;
use crate::opened::Opened;
use crate::output::{Cell, Column, Document, Output, Table};
use crate::values::Unit;

/// What more ranks should bring.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scaling {
    /// The same work in less time.
    Strong,
    /// More work in the same time.
    Weak,
}

impl Scaling {
    /// What B would be if the program scaled ideally, for each quantity: the work is shared by more locations, or stays with
    /// each; everything else does not grow.
    ///
    /// # Errors
    /// If the measure is none that adds up.
    pub(super) fn ideals(self, compared: &Compared<'_, '_>, all: &[Compare]) -> Result<Vec<Option<f64>>> {
        let [a, b] = compared.sides.map(|side| side.first().locations);
        let factor = match compared.measure {
            Measure::Mean => 1.0,
            Measure::Total => b / a,
            measure => return Err(unsupported("--scaling", measure, "mean or total")),
        };
        let work = if self == Scaling::Strong { a / b } else { 1.0 };
        let saved = all.iter().find(|it| it.name == "work").and_then(|it| it.medians[0]);
        let saved = saved.unwrap_or(0.0) * (1.0 - work);
        let mut is_work = false;
        let ideal = |it: &Compare| {
            if it.depth < 2 {
                is_work = it.name == "work";
            }
            let before = it.medians[0]?;
            let mean = match (it.depth, is_work) {
                (0, _) => before - saved,
                (_, true) => before * work,
                _ => before,
            };
            Some(mean * factor)
        };
        Ok(all.iter().map(ideal).collect())
    }
}

/// Adds the table over all files.
///
/// # Errors
/// If a report cannot be read.
pub(super) fn add(
    scaling: Scaling,
    args: &Args,
    output: &mut Output<'_>,
    document: &mut Document,
) -> Result<()> {
    let columns = vec![
        Column::new("file", " scaling"),
        Column::new("ranks", "ranks"),
        Column::new("run", "run"),
        Column::new("speed_up", "speed-up"),
        Column::new("load_balance", "load balance"),
        Column::new("communication_efficiency", "communication"),
        Column::new("parallel_efficiency", "parallel efficiency"),
    ];
    let mut table = Table::new("scaling", columns);
    let mut first = None;
    for file in args.files.iter().chain(&args.others) {
        let opened = Opened::open(file, output)?;
        let run = Reading::read(&opened, args.all)?;
        let (length, locations) = *first.get_or_insert((run.length, run.locations));
        // With more work, the same time on twice as many locations is twice as fast.
        let growth = if scaling == Scaling::Weak { run.locations / locations } else { 1.0 };
        let efficiency = efficiency(&run)?;
        let share = |share: Option<f64>| share.map_or(Cell::Obstacle("n/a"), Cell::Share);
        let speed_up = growth * length / run.length;
        table.rows.push(vec![
            Cell::Name(format!(" {}", run.label)),
            Cell::count(run.shape.ranks),
            Cell::Number(run.length, Unit::Seconds),
            if speed_up.is_finite() { Cell::Ratio(speed_up) } else { Cell::Obstacle("n/a") },
            share(efficiency.map(|(balance, _)| balance)),
            share(efficiency.map(|(_, communication)| communication)),
            share(efficiency.map(|(balance, communication)| balance * communication)),
        ]);
    }
    document.table(table);
    Ok(())
}

/// Load balance, mean through largest computation; and communication efficiency, largest computation through length.
fn efficiency(run: &Reading<'_>) -> Result<Option<(f64, f64)>> {
    let Some(mut work) = run.by_location("comp", None)? else { return Ok(None) };
    // Before MPI_Init and after MPI_Finalize there is work, too, which is not part of the run: on all locations alike.
    let all: f64 = run.by_location("time", None)?.unwrap_or_default().iter().sum();
    let outside = ((all - run.total) / run.locations).max(0.0);
    work.iter_mut().for_each(|work| *work = (*work - outside).max(0.0));
    let most = work.iter().copied().fold(0.0, f64::max);
    let mean = work.iter().sum::<f64>() / work.len().max(1) as f64;
    Ok((most > 0.0 && run.length > 0.0).then(|| (mean / most, (most / run.length).min(1.0))))
}
