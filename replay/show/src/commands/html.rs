//! `html`: a report, or a comparison, as a page for browsers.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{diff, sink};
use crate::error::Result;
use crate::opened::Opened;
use crate::output::{Document, Output, numbers};
use crate::page::{self, Options};
use crate::status::Status;

/// Arguments of `html`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The report, or an experiment directory
    #[arg(required_unless_present = "diff")]
    pub file: Option<PathBuf>,

    /// Compare reports, as the command diff does: A B, or with several runs A1 A2 -- B1 B2
    #[arg(long, value_name = "A", num_args = 1.., conflicts_with = "file")]
    pub diff: Vec<PathBuf>,

    /// The reports of B
    #[arg(last = true, value_name = "B", requires = "diff")]
    pub others: Vec<PathBuf>,

    /// The file to write; - is standard output [default: the report's name with .html, in the current directory]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// The title of the page [default: the report's name]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,

    /// The size that details may make the page grow to, such as 12M; what does not fit is left out, and said
    #[arg(long, value_name = "SIZE", default_value = "12M", value_parser = size)]
    pub max_size: usize,

    /// Write a directory for web servers instead: index.html, and its style, script and data as files
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "diff"])]
    pub split: Option<PathBuf>,

    /// Replace the names of programs, functions, files and hosts by numbers
    #[arg(long, conflicts_with = "diff")]
    pub anonymous: bool,
}

/// Reads a size in bytes: `900k`, `12M`, `1G`, or a number.
fn size(text: &str) -> std::result::Result<usize, String> {
    let units = [("k", 1_000), ("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];
    let unit = units.into_iter().find_map(|(sign, unit)| Some((text.strip_suffix(sign)?, unit)));
    let (number, unit) = unit.unwrap_or((text, 1));
    let size = number.parse().ok().and_then(|number: usize| number.checked_mul(unit));
    size.ok_or("a size is a number of bytes, such as 900k, 12M or 1G".into())
}

/// Writes the page of a report, or of a comparison.
///
/// # Errors
/// If a report cannot be read, reports cannot be compared, or the page not be written.
pub fn run(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    match &args.file {
        Some(file) => of_report(args, file, output),
        None => of_comparison(args, output),
    }
}

fn of_report(args: &Args, file: &Path, output: &mut Output<'_>) -> Result<Status> {
    let mut opened = Opened::open(file, output)?;
    let named = |opened: &Opened| {
        opened.path.file_name().unwrap_or(OsStr::new("report")).to_string_lossy().into_owned()
    };
    let place = Place::of(args, Path::new(&named(&opened)));
    if args.anonymous
        && let Some(left_out) = page::anonymous(&mut opened)
    {
        output.warn(left_out);
    }
    let name = named(&opened);
    let title = args.title.clone().unwrap_or_else(|| name.clone());
    let options = Options { title, file: name, max_size: args.max_size, has_server: false };
    if let Some(folder) = &args.split {
        return split(&opened, &options, folder, output);
    }
    let remarks = sink::file(place.file(), u64::MAX, output, |out| page::write(&opened, &options, out))?;
    place.tell(opened.path.display().to_string(), remarks, IN_BROWSER, output)
}

/// Writes the page of a report as a directory of files.
fn split(opened: &Opened, options: &Options, path: &Path, output: &mut Output<'_>) -> Result<Status> {
    let (files, remarks) = page::split(opened, options)?;
    let extensions = ["html", "css", "js", "json", "bin"];
    let mut folder = sink::Folder::create(path, &extensions, u64::MAX, output.written())?;
    for (name, contents) in files {
        folder.file(&name, |out| Ok(out.write_all(&contents)?))?;
    }
    folder.finish()?;
    let place = Place(path.join("index.html"));
    place.tell(
        opened.path.display().to_string(),
        remarks,
        "for a web server, opened from disk it has the first screen only",
        output,
    )
}

fn of_comparison(args: &Args, output: &mut Output<'_>) -> Result<Status> {
    let comparison = diff::Args::of(args.diff.clone(), args.others.clone());
    diff::compare(&comparison, diff::Form::PAGE, output, |made, output| {
        let names = made.opened.each_ref().map(|side| {
            let name =
                |opened: &Opened| opened.path.file_name().map(|name| name.to_string_lossy().into_owned());
            side.iter().filter_map(name).collect::<Vec<_>>().join(", ")
        });
        let title = args.title.clone().unwrap_or_else(|| names.join(" → "));
        let place = Place::of(args, Path::new("diff"));
        let remarks =
            sink::file(place.file(), u64::MAX, output, |out| page::write_comparison(&made, &title, out))?;
        place.tell(names.join(" "), remarks, IN_BROWSER, output)
    })
}

/// What to do with a page in one file.
const IN_BROWSER: &str = "open it in a browser";

/// Where a page goes.
struct Place(PathBuf);

impl Place {
    /// Where the user says, or a file of this name.
    fn of(args: &Args, name: &Path) -> Place {
        Place(args.output.clone().unwrap_or_else(|| name.with_extension("html")))
    }

    /// The file; `None` for standard output.
    fn file(&self) -> Option<&Path> {
        Some(&*self.0).filter(|path| *path != Path::new("-"))
    }

    /// Says what was written, what is missing, and what to do with it.
    fn tell(&self, of: String, remarks: Vec<String>, how: &str, output: &mut Output<'_>) -> Result<Status> {
        for remark in &remarks {
            output.warn(remark);
        }
        let Some(file) = self.file() else { return Ok(Status::Done) };
        let bytes = std::fs::metadata(file).map_or(0, |metadata| metadata.len());
        let mut document = Document::new("html");
        document.fact("file", of);
        document.fact("page", file.display().to_string());
        document.fact("bytes", bytes);
        document.fact("remarks", remarks);
        #[expect(clippy::cast_precision_loss, reason = "a size for people")]
        let size = numbers::bytes(bytes as f64);
        document.text(format!("{} ({size}): {how}", file.display()));
        output.print(&document)?;
        Ok(Status::Done)
    }
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
