//! `export`: a report in the formats of other tools, a file or folder here for each.
//!
//! A format is a function that gets a `Source` and a writer, and returns remarks: what was left out, and how to get it.
//! Output has its final name only when it is complete (`commands/sink.rs`). Texts from files are cleaned in `text`.

mod bmf;
mod chrome;
mod csv;
mod dot;
mod events;
mod events_csv;
mod extrap;
mod folded;
mod github_benchmark;
mod hatchet;
mod json;
mod openmetrics;
mod options;
mod paraver;
#[cfg(feature = "parquet")]
mod parquet;
mod perfetto;
mod quantities;
mod relations;
mod source;
mod speedscope;
mod structure_json;
mod svg;
mod temporal_graph;
mod text;

use std::io::Write;

pub use options::{Args, Format};
use source::Source;

use crate::commands::sink::{self, Folder};
use crate::compare::reading::Shape;
use crate::error::{Error, Result};
use crate::opened::Opened;
use crate::output::Output;
use crate::status::Status;
use crate::values::Values;

/// What a format could not export, and how to get it: sentences for the user.
type Remarks = Vec<String>;

/// Exports a report, or several.
///
/// # Errors
/// If a report cannot be read, lacks what the format needs, or the output cannot be written.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    args.check()?;
    let opened = args.files.iter().map(|file| Opened::open(file, output)).collect::<Result<Vec<_>>>()?;
    match args.format {
        Format::Extrap => to_file(args, output, |out| extrap::write(args, &opened, out))?,
        Format::Bmf | Format::GithubBenchmark | Format::OpenMetrics => of_runs(args, &opened, output)?,
        _ => opened.iter().try_for_each(|opened| of_report(args, opened, output))?,
    }
    Ok(Status::Done)
}

/// Exports one report.
fn of_report(args: &Args, opened: &Opened, output: &mut Output<'_>) -> Result<()> {
    let values = Values::new(&opened.report);
    let source = Source::new(args, opened, &values)?;
    match args.format {
        Format::Folded => to_file(args, output, |out| folded::write(&source, out)),
        Format::Speedscope => to_file(args, output, |out| speedscope::write(&source, out)),
        Format::Chrome => to_file(args, output, |out| chrome::write(&source, out)),
        Format::EventsCsv => to_file(args, output, |out| events_csv::write(&source, out)),
        Format::Perfetto => to_file(args, output, |out| perfetto::write(&source, out)),
        Format::Hatchet => to_file(args, output, |out| hatchet::write(&source, out)),
        Format::Json => to_file(args, output, |out| json::write(&source, out)),
        Format::Dot => to_file(args, output, |out| dot::write(&source, out)),
        Format::Svg => to_file(args, output, |out| svg::write(&source, out)),
        Format::StructureJson => to_file(args, output, |out| structure_json::write(&source, out)),
        Format::TemporalGraph => to_file(args, output, |out| temporal_graph::write(&source, out)),
        Format::Csv => to_folder(args, &["csv"], output, |folder| csv::write(&source, folder)),
        Format::Paraver => {
            let extensions = ["prv", "pcf", "row", "cfg"];
            to_folder(args, &extensions, output, |folder| paraver::write(&source, folder))
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => to_folder(args, &["parquet"], output, |folder| parquet::write(&source, folder)),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            Err(Error::new("replay-show was built without the feature parquet: build it with, or export csv"))
        }
        // Those of several reports.
        Format::Extrap | Format::Bmf | Format::GithubBenchmark | Format::OpenMetrics => Ok(()),
    }
}

/// Exports quantities of runs.
fn of_runs(args: &Args, opened: &[Opened], output: &mut Output<'_>) -> Result<()> {
    let mut title = String::new();
    let mut runs = Vec::new();
    if let [first, others @ ..] = opened
        && let Some(other) = others.iter().find(|other| Shape::of(other) != Shape::of(first))
    {
        let (a, b) = (Shape::of(first), Shape::of(other));
        return Err(Error::new(format!(
            "it is {b}, but {} is {a}: expected runs of the same size; export each size alone",
            first.path.display()
        ))
        .in_file(&other.path));
    }
    for opened in opened {
        let values = Values::new(&opened.report);
        let source = Source::new(args, opened, &values)?;
        if title.is_empty() {
            title = source.title();
        }
        runs.push(quantities::of(&source)?);
    }
    let tracked = quantities::over(&runs);
    to_file(args, output, |out| {
        match args.format {
            Format::Bmf => bmf::write(&title, &tracked, out),
            Format::GithubBenchmark => github_benchmark::write(&title, &tracked, out),
            _ => openmetrics::write(&title, &tracked, out),
        }?;
        Ok(Remarks::new())
    })
}

/// Makes a file, and prints the remarks.
fn to_file(
    args: &Args,
    output: &mut Output<'_>,
    write: impl FnOnce(&mut dyn Write) -> Result<Remarks>,
) -> Result<()> {
    let remarks = sink::file(args.out(), args.limit(), output, write)?;
    remarks.into_iter().for_each(|remark| output.warn(remark));
    Ok(())
}

/// Makes a directory of files, and prints the remarks.
fn to_folder(
    args: &Args,
    extensions: &[&str],
    output: &mut Output<'_>,
    write: impl FnOnce(&mut Folder) -> Result<Remarks>,
) -> Result<()> {
    let path = args.out().ok_or_else(|| Error::new("name a directory with -o"))?;
    let mut folder = Folder::create(path, extensions, args.limit(), output.written())?;
    let remarks = write(&mut folder)?;
    folder.finish()?;
    remarks.into_iter().for_each(|remark| output.warn(remark));
    Ok(())
}
