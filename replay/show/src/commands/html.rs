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

    /// The size that details may make the page grow to, such as 12M; what does not fit is left out, and said
    #[arg(long, value_name = "SIZE", default_value = "12M", value_parser = size)]
    pub max_size: usize,
}

/// Reads a size in bytes: `900k`, `12M`, `1G`, or a number.
fn size(text: &str) -> std::result::Result<usize, String> {
    let units = [("k", 1_000), ("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];
    let unit = units.into_iter().find_map(|(sign, unit)| Some((text.strip_suffix(sign)?, unit)));
    let (number, unit) = unit.unwrap_or((text, 1));
    let size = number.parse().ok().and_then(|number: usize| number.checked_mul(unit));
    size.ok_or("a size is a number of bytes, such as 900k, 12M or 1G".into())
}

/// Writes the page of a report.
///
/// # Errors
/// If the report cannot be read, or the page not be written.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let opened = Opened::open(&args.file, output)?;
    let name = opened.path.file_name().unwrap_or(OsStr::new("report")).to_string_lossy().into_owned();
    let options = Options {
        title: args.title.clone().unwrap_or_else(|| name.clone()),
        file: name.clone(),
        max_size: args.max_size,
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!((size("12M"), size("900k"), size("7")), (Ok(12_000_000), Ok(900_000), Ok(7)));
        for wrong in ["", "M", "1.5M", "-1", "12 MB", "99999999999999999999G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
