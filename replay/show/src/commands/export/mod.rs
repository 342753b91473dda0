//! `export`: a report in the formats of other tools, a file or folder here for each.
//!
//! A format is a function that gets a [`Source`] and a writer, and returns remarks: what was left out, and how to get it.
//! Output has its final name only when it is complete ([`sink`]). Texts from files are cleaned in [`text`].

mod chrome;
mod csv;
mod events;
mod events_csv;
mod folded;
mod json;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod relations;
mod sink;
mod source;
mod speedscope;
mod text;

use std::io::Write;

pub use options::{Args, Format};
use sink::Folder;
use source::Source;

use crate::error::{Error, Result};
use crate::opened::Opened;
use crate::output::Output;
use crate::status::Status;
use crate::values::Values;

/// What a format could not export, and how to get it: sentences for the user.
type Remarks = Vec<String>;

/// Exports a report.
///
/// # Errors
/// If the report cannot be read, lacks what the format needs, or the output cannot be written.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    args.check()?;
    let [file] = &args.files[..] else {
        return Err(Error::new(format!("export {} takes one report", args.format.name())));
    };
    let opened = Opened::open(file, output)?;
    let values = Values::new(&opened.report);
    let source = Source::new(args, &opened, &values)?;
    match args.format {
        Format::Folded => to_file(args, output, |out| folded::write(&source, out)),
        Format::Speedscope => to_file(args, output, |out| speedscope::write(&source, out)),
        Format::Chrome => to_file(args, output, |out| chrome::write(&source, out)),
        Format::EventsCsv => to_file(args, output, |out| events_csv::write(&source, out)),
        Format::Json => to_file(args, output, |out| json::write(&source, out)),
        Format::Csv => to_folder(args, "csv", output, |folder| csv::write(&source, folder)),
        #[cfg(feature = "parquet")]
        Format::Parquet => to_folder(args, "parquet", output, |folder| parquet::write(&source, folder)),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            Err(Error::new("replay-show was built without the feature parquet: build it with, or export csv"))
        }
    }?;
    Ok(Status::Done)
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
    extension: &'static str,
    output: &mut Output<'_>,
    write: impl FnOnce(&mut Folder) -> Result<Remarks>,
) -> Result<()> {
    let path = args.out().ok_or_else(|| Error::new("name a directory with -o"))?;
    let mut folder = Folder::create(path, extension, args.limit())?;
    let remarks = write(&mut folder)?;
    folder.finish()?;
    remarks.into_iter().for_each(|remark| output.warn(remark));
    Ok(())
}
