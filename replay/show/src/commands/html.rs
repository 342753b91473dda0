//! `html`: the report as a page for browsers.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::sink;
use crate::error::Result;
use crate::opened::Opened;
use crate::output::{Document, Output, numbers};
use crate::page::{self, Options};
use crate::status::Status;

/// Arguments of `html`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The report, or an experiment directory
    pub file: PathBuf,

    /// The file to write; - is standard output [default: the report's name with .html, in the current directory]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// The title of the page [default: the report's name]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
}

/// Writes the page of a report.
///
/// # Errors
/// If the report cannot be read, or the page not be written.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(&args.file, output)?;
    let name = opened.path.file_name().unwrap_or(OsStr::new("report")).to_string_lossy().into_owned();
    let options = Options { title: args.title.clone().unwrap_or_else(|| name.clone()) };
    let out = args.output.clone().unwrap_or_else(|| Path::new(&name).with_extension("html"));
    let file = Some(&*out).filter(|path| *path != Path::new("-"));
    let remarks = sink::file(file, u64::MAX, output, |out| page::write(&opened, &options, out))?;
    for remark in &remarks {
        output.warn(remark);
    }
    if let Some(file) = file {
        let bytes = std::fs::metadata(file).map_or(0, |metadata| metadata.len());
        let mut document = Document::new("html");
        document.fact("file", opened.path.display().to_string());
        document.fact("page", file.display().to_string());
        document.fact("bytes", bytes);
        document.fact("remarks", remarks);
        #[expect(clippy::cast_precision_loss, reason = "a size for people")]
        let size = numbers::bytes(bytes as f64);
        document.text(format!("{} ({size}): open it in a browser", file.display()));
        output.print(&document)?;
    }
    Ok(Status::Done)
}
