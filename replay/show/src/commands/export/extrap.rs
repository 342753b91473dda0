//! `extrap`: lines of JSON for Extra-P's `--json`, one for each call path and metric of each report.

use std::io::Write;
use std::path::Path;

use cubex::CnodeId;

use super::Remarks;
use super::options::Args;
use super::source::Source;
use super::text::{json_number, json_string, name};
use crate::error::{Error, Result, or_obstacle};
use crate::opened::Opened;
use crate::values::{Unit, Values};
use crate::{paths, places};

/// Metrics that are exported if none are named, as far as a report has them.
const METRICS: [&str; 4] = ["time", "visits", "waiting", "delay"];

/// Writes the values of all reports: each call path alone, the mean over threads for times and the sum for all else. Several
/// reports of equal parameters are repetitions.
///
/// # Errors
/// If a report cannot be read, parameters contradict each other, or the output cannot be written.
pub(super) fn write(args: &Args, opened: &[Opened], out: &mut dyn Write) -> Result<Remarks> {
    let mut remarks = Remarks::new();
    let mut names: Option<Vec<String>> = None;
    for (opened, file) in opened.iter().zip(&args.files) {
        let values = Values::new(&opened.report);
        let source = Source::new(args, opened, &values)?;
        let parameters = parameters(&source, file)?;
        let these: Vec<String> = parameters.iter().map(|(name, _)| name.clone()).collect();
        if names.get_or_insert_with(|| these.clone()) != &these {
            return Err(Error::new(format!(
                "{}: parameters {}, but those before have {}: name them with --param, or in the names of files, \
                 as run.p16.n1000.r1.cubex",
                file.display(),
                these.join(", "),
                names.unwrap_or_default().join(", ")
            )));
        }
        let parameters: Vec<String> = parameters
            .iter()
            .map(|(name, value)| format!("{}:{}", json_string(name), json_number(*value)))
            .collect();
        add(&source, &parameters.join(","), out, &mut remarks)?;
    }
    Ok(remarks)
}

fn add(source: &Source<'_>, parameters: &str, out: &mut dyn Write, remarks: &mut Remarks) -> Result<()> {
    let cube = source.cube();
    let threads = places::threads(cube).into_iter().filter(|is_thread| *is_thread).count().max(1);
    for quantity in source.quantities(&METRICS)? {
        let totals = match or_obstacle(source.values.totals(&quantity, &source.locations))? {
            Ok(totals) => totals,
            Err(why) => {
                remarks.push(format!("{}: without {}: {why}", source.opened.path.display(), quantity.name));
                continue;
            }
        };
        #[expect(clippy::cast_precision_loss, reason = "a number of threads")]
        let parts = if quantity.unit == Unit::Seconds && quantity.is_sum() { threads as f64 } else { 1.0 };
        let metric = json_string(&quantity.name);
        for (at, &value) in totals.exclusive.iter().enumerate() {
            if quantity.known(value).is_none_or(f64::is_infinite) {
                continue;
            }
            let names = paths::names(cube, CnodeId(at)).into_iter();
            // Arrows stand between names.
            let names: Vec<String> = names.map(|it| name(it).replace("->", "=>")).collect();
            writeln!(
                out,
                "{{\"params\":{{{parameters}}},\"callpath\":{},\"metric\":{metric},\"value\":{}}}",
                json_string(&names.join("->")),
                json_number(value / parts)
            )?;
        }
    }
    Ok(())
}

/// Parameters of a report: those of `--param`, those in its name, else the number of ranks.
fn parameters(source: &Source<'_>, file: &Path) -> Result<Vec<(String, f64)>> {
    let mut parameters = Vec::new();
    for text in &source.args.param {
        let parameter = text.split_once('=').and_then(|(name, value)| {
            let value: f64 = value.trim().parse().ok()?;
            (!name.trim().is_empty() && value.is_finite()).then(|| (name.trim().to_owned(), value))
        });
        let wrong = || Error::new(format!("--param {text}: expected a name and a number, such as n=1000"));
        parameters.push(parameter.ok_or_else(wrong)?);
    }
    let mut named = in_name(file);
    if named.is_empty() {
        // An experiment directory may have the name.
        named = file.parent().map(in_name).unwrap_or_default();
    }
    for (name, value) in named {
        if !parameters.iter().any(|(known, _)| *known == name) {
            parameters.push((name, value));
        }
    }
    if !parameters.iter().any(|(name, _)| name == "p") && parameters.is_empty() {
        let processes = source.cube().location_groups.iter();
        let ranks = processes.filter(|group| group.kind == cubex::LocationGroupKind::Process).count();
        #[expect(clippy::cast_precision_loss, reason = "a number of ranks")]
        parameters.push(("p".to_owned(), ranks as f64));
    }
    Ok(parameters)
}

/// Parameters in a name such as `run.p16.n1000.r1.cubex`: parts of letters and a number. `r` is a repetition.
fn in_name(path: &Path) -> Vec<(String, f64)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let parts = name.split('.').skip(1).filter_map(|part| {
        let digits = part.find(|letter: char| letter.is_ascii_digit())?;
        let (name, number) = part.split_at(digits);
        let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphabetic());
        let value = number.parse().ok()?;
        (is_name && name != "r").then(|| (name.to_owned(), value))
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_in_names() {
        let of = |name: &str| in_name(Path::new(name));
        assert_eq!(of("a/run.p16.n1000.r1.cubex"), [("p".into(), 16.0), ("n".into(), 1000.0)]);
        assert_eq!(of("p16.cubex"), []);
        assert_eq!(of(".."), []);
    }
}
