//! File I/O in the summary: phases that take time or move bytes, and what they would take elsewhere (io.md 6).

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use io_model::{Access, Bottom, Estimate, Family, Flaw, Kind, Model, Phase, Ranges, Requests, about};

use super::file_waiting::FileWaiting;
use super::names::{self, cut_front};
use super::summary::printable;
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::trace::Trace;

/// Most lines of phases.
const MOST: usize = 8;

/// Characters of a name of a file.
const NAME: usize = 24;

/// What is told of file I/O.
#[derive(Clone, PartialEq, Debug)]
pub struct IoSummary {
    /// Its model, if that was asked for.
    pub model: Option<IoModel>,
    /// What it costs others, if that is much.
    pub waiting: Option<FileWaiting>,
}

impl fmt::Display for IoSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let IoSummary { model, waiting } = self;
        let all = waiting.as_ref().map(FileWaiting::all);
        match (model, all) {
            (Some(model), Some(all)) => writeln!(f, "\nFile I/O: {}; {all}", model.title())?,
            (Some(model), None) => writeln!(f, "\nFile I/O: {}", model.title())?,
            (None, Some(all)) => writeln!(f, "\nFile I/O: {all}")?,
            (None, None) => {}
        }
        if let Some(model) = model {
            model.write_phases(f)?;
        }
        if let Some(waiting) = waiting {
            writeln!(f, "  {}", waiting.most)?;
        }
        if let Some(model) = model {
            model.write_reaching(f)?;
            model.write_inefficiencies(f)?;
            model.write_findings(f)?;
        }
        model.as_ref().map_or(Ok(()), |model| model.write_estimates(f))
    }
}

/// The model of file I/O in words.
#[derive(Clone, PartialEq, Debug)]
pub struct IoModel {
    /// The model.
    pub model: Box<Model>,
    /// Least share of the run, or of all bytes, of phases that have a line.
    pub relevance: f64,
    /// Names of the functions that are inefficient, by number of the call path in the report.
    pub functions: BTreeMap<u32, String>,
}

impl IoModel {
    /// A model with names from the report.
    pub(super) fn new(model: Model, relevance: f64, (trace, paths): (&Trace, &ReportPaths)) -> IoModel {
        let found = model.inefficiencies.iter().filter_map(|it| it.call_path);
        let known = found.filter(|&path| (path as usize) < paths.len());
        let name =
            |path: u32| names::function(trace.region_name(paths.region(ReportPath::new(path as usize))));
        let functions = known.map(|path| (path, name(path))).collect();
        IoModel { model: Box::new(model), relevance, functions }
    }

    fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 / self.model.resolution.max(1) as f64
    }

    /// How much was moved.
    fn title(&self) -> String {
        let model = &*self.model;
        if model.families.is_empty() {
            return "none was recorded".to_owned();
        }
        let [written, read] = [Kind::Write, Kind::Read].map(|kind| decimal(model.bytes_of(kind) as f64));
        let used = model.files.values().filter(|file| !file.facts.accesses.is_empty()).count();
        let plural = if used == 1 { "" } else { "s" };
        format!("{written} written, {read} read in {used} file{plural}")
    }

    /// The line of a family of phases, of which this is the first one.
    fn line(&self, family: &Family, phase: &Phase) -> [String; 8] {
        let count = if family.count > 1 { format!("{} × ", family.count) } else { String::new() };
        let rs: Vec<String> = phase.positions.iter().map(|it| size(it.rs)).collect();
        let seconds = self.seconds(family.time);
        let rate = if seconds > 0.0 {
            format!("{}/s", decimal(family.weight as f64 / seconds))
        } else {
            String::new()
        };
        [
            shortly(&family.numbers),
            name(&phase.key.family),
            what(phase),
            phase.np.to_string(),
            format!(
                "{count}{}{} × {}{}",
                about(phase.same_rep),
                phase.rep,
                about(phase.same_sizes),
                rs.join("+")
            ),
            size(family.weight),
            format!("{seconds:.3} s"),
            rate,
        ]
    }
}

/// Numbers in a column: of more than three ranges the first two, and the last number.
fn shortly(numbers: &Ranges) -> String {
    match &numbers.0[..] {
        [first, second, _, .., (_, last)] => format!("{},…,{last}", Ranges(vec![*first, *second])),
        _ => numbers.to_string(),
    }
}

/// A part of a whole.
fn share_of(part: u64, whole: u64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

/// Number of bytes in units of 1,024.
fn size(bytes: u64) -> String {
    scaled(bytes as f64, 1024.0, ["B", "KiB", "MiB", "GiB", "TiB"])
}

/// Number of bytes in units of 1,000.
fn decimal(bytes: f64) -> String {
    scaled(bytes, 1000.0, ["B", "kB", "MB", "GB", "TB"])
}

fn scaled(mut number: f64, step: f64, units: [&str; 5]) -> String {
    let mut unit = 0;
    // A number that is rounded up to the next unit is one of it.
    while number >= step - 0.05 && unit + 1 < units.len() {
        number /= step;
        unit += 1;
    }
    if unit == 0 { format!("{number:.0} {}", units[0]) } else { format!("{number:.1} {}", units[unit]) }
}

/// The end of a path.
pub(super) fn name(path: &str) -> String {
    let name = Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy());
    cut_front(&printable(&name), NAME)
}

/// What a phase does.
fn what(phase: &Phase) -> String {
    let joined = |word: fn(&Access) -> &'static str| {
        let mut words: Vec<&str> = phase.key.pattern.iter().map(word).collect();
        words.dedup();
        words.join("+")
    };
    let kind = |access: &Access| if access.kind == Kind::Read { "read" } else { "write" };
    let manner = |access: &Access| if access.collective { "collective" } else { "independent" };
    let mut words =
        vec![joined(kind), joined(manner), phase.mode.name().to_owned(), joined(|it| it.pointer.name())];
    if phase.key.pattern.iter().any(|it| it.non_blocking) {
        words.push("non-blocking".to_owned());
    }
    if phase.key.residue {
        words.push("residue".to_owned());
    }
    words.join(", ")
}

/// Which columns are numbers, which stand at the right.
const NUMBERS: [bool; 8] = [true, false, false, true, true, true, true, true];

impl IoModel {
    /// The table of phases that take time or move bytes.
    fn write_phases(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = &*self.model;
        if model.families.is_empty() {
            return Ok(());
        }
        let all = model.bytes();
        let mut lines: Vec<&Family> =
            model.families.iter().filter(|it| it.is_relevant(self.relevance, model.run, all)).collect();
        lines.sort_by_key(|it| (std::cmp::Reverse(it.time), it.first));
        lines.truncate(MOST);
        lines.sort_by_key(|it| it.first);
        let titles = ["phase", "file", "what", "ranks", "requests", "in all", "time", "rate"];
        let rows = lines.iter().filter_map(|family| Some(self.line(family, family.example(&model.phases)?)));
        let rows: Vec<[String; 8]> = [titles.map(str::to_owned)].into_iter().chain(rows).collect();
        let long = |text: &String| text.chars().count();
        let widths: Vec<usize> =
            (0..titles.len()).map(|at| rows.iter().map(|row| long(&row[at])).max().unwrap_or(0)).collect();
        for row in &rows {
            let mut line = String::new();
            for ((cell, width), is_number) in row.iter().zip(&widths).zip(NUMBERS) {
                line += "  ";
                line += &if is_number { format!("{cell:>width$}") } else { format!("{cell:width$}") };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        let others = || model.families.iter().filter(|it| !lines.contains(it));
        let (phases, bytes, time) = others().fold((0_u64, 0_u64, 0_u64), |(phases, bytes, time), it| {
            (phases + it.count, bytes.saturating_add(it.weight), time.saturating_add(it.time))
        });
        if phases > 0 {
            let plural = if phases == 1 { "" } else { "s" };
            writeln!(f, "  {phases} other phase{plural}: {}, {:.3} s", size(bytes), self.seconds(time))?;
        }
        Ok(())
    }

    /// How many ranks reach files for all in collective operations.
    fn write_reaching(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.model.files.values();
        let all = files.flat_map(|file| file.bottoms.iter().map(|bottom| (&*file.name, bottom)));
        let mut lines: Vec<(&str, &Bottom)> =
            all.filter(|(_, it)| it.collective && it.reaching < it.np).collect();
        lines.sort_by_key(|(_, it)| std::cmp::Reverse(it.asked));
        for (file, it) in lines.into_iter().take(MOST) {
            let what = if it.kind == Kind::Read { "reads" } else { "writes" };
            let reach = if it.reaching == 1 { "reaches" } else { "reach" };
            let Requests { count, bytes, .. } = it.requests;
            let (file, mean) = (name(file), size(bytes / count.max(1)));
            let plural = if count == 1 { "" } else { "s" };
            writeln!(
                f,
                "  {file}: {} of {} ranks {reach} it in collective {what}: {count} request{plural} of {mean}",
                it.reaching, it.np
            )?;
        }
        Ok(())
    }

    /// What is inefficient, and what helps.
    fn write_inefficiencies(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for it in self.model.inefficiencies.iter().take(MOST) {
            let (what, advice) = it.flaw.text();
            let function = it.call_path.and_then(|path| self.functions.get(&path));
            let function = function.map_or(String::new(), |name| format!(" in {}", printable(name)));
            let rank = it.rank.map_or(String::new(), |rank| format!(" (rank {rank}{function})"));
            let share = 100.0 * share_of(it.concerned, it.of);
            let cost = 100.0 * it.cost;
            let cost = match it.flaw {
                Flaw::OneRank => format!("others wait {cost:.1} % of the time for it"),
                Flaw::Late => format!("waiting for the last one is {cost:.1} % of the time of all"),
                _ => format!("{cost:.1} % of the run"),
            };
            let doubt = if it.is_possible { "possibly " } else { "" };
            let file = name(&it.file);
            let of = if it.flaw.is_of_time() {
                format!("{:.3} s", self.seconds(it.of))
            } else {
                it.of.to_string()
            };
            writeln!(f, "  {file}: {share:.0} % of {of} {doubt}{what}{rank}; {cost}. Try {advice}")?;
        }
        Ok(())
    }

    /// What is unknown or wrong in what was recorded of files.
    fn write_findings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (finding, count) in &self.model.findings.0 {
            writeln!(f, "  {}: {count}", finding.text())?;
        }
        Ok(())
    }

    /// What this takes elsewhere.
    fn write_estimates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Estimate { system, seconds, is_complete, .. } in &self.model.estimates {
            let least = if *is_complete { "" } else { "at least " };
            writeln!(
                f,
                "  On \"{}\" this I/O takes {least}{seconds:.1} s (estimated from IOR)",
                printable(system)
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(["0 B", "1.0 KiB", "1.0 MiB", "12.0 MiB"], [0, 1024, (1 << 20) - 1, 12 << 20].map(size));
        assert_eq!(["999 B", "1.0 kB", "131.9 MB"], [999.0, 1000.0, 131_900_000.0].map(decimal));
    }

    #[test]
    fn many_numbers_are_the_first_two_and_the_last() {
        let of = |numbers: &[u64]| shortly(&Ranges::of(numbers.iter().copied()));
        assert_eq!([of(&[1, 4, 7]), of(&[1, 2, 4, 7, 8])], ["1,4,7", "1-2,4,7-8"]);
        assert_eq!(of(&[1, 2, 4, 7, 10, 11]), "1-2,4,…,11");
    }

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(name("/a/b.out"), "b.out");
        assert_eq!(name(&format!("/a/{}.out", "x".repeat(40))), format!("…{}.out", "x".repeat(19)));
    }
}
