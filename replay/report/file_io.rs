//! File I/O in the summary: phases that take time or move bytes, and what they would take elsewhere (io.md 6).

use std::fmt;
use std::path::Path;

use io_model::{Access, Estimate, Family, Kind, Model, Phase};

use super::names::cut_front;
use super::summary::printable;

/// The share of the run, or of all bytes, from which on a phase has a line.
const RELEVANT: f64 = 0.01;

/// Most lines of phases.
const MOST: usize = 8;

/// Characters of a name of a file.
const NAME: usize = 24;

/// The model of file I/O in words.
#[derive(Clone, PartialEq, Debug)]
pub struct IoSummary(pub Box<Model>);

impl IoSummary {
    fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 / self.0.resolution.max(1) as f64
    }

    /// The line of a family of phases, of which this is the first one.
    fn line(&self, family: &Family, phase: &Phase) -> [String; 8] {
        let count = if family.count > 1 { format!("{} × ", family.count) } else { String::new() };
        let rs: Vec<String> = phase.positions.iter().map(|it| size(it.rs)).collect();
        let about = if phase.uniform { "" } else { "~" };
        let seconds = self.seconds(family.time);
        let rate = if seconds > 0.0 {
            format!("{}/s", decimal(family.weight as f64 / seconds))
        } else {
            String::new()
        };
        [
            family.numbers.to_string(),
            name(&phase.key.family),
            what(phase),
            phase.np.to_string(),
            format!("{count}{} × {about}{}", phase.rep, rs.join("+")),
            size(family.weight),
            format!("{seconds:.3} s"),
            rate,
        ]
    }
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
fn name(path: &str) -> String {
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

impl fmt::Display for IoSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = &*self.0;
        let [written, read] = [Kind::Write, Kind::Read].map(|kind| decimal(model.bytes_of(kind) as f64));
        let used = model.files.values().filter(|file| !file.facts.accesses.is_empty()).count();
        let plural = if used == 1 { "" } else { "s" };
        if model.families.is_empty() {
            return writeln!(f, "\nFile I/O: none was recorded");
        }
        writeln!(f, "\nFile I/O: {written} written, {read} read in {used} file{plural}")?;
        let all = model.bytes();
        let mut lines: Vec<&Family> =
            model.families.iter().filter(|it| it.is_relevant(RELEVANT, model.run, all)).collect();
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
        for Estimate { system, seconds, is_complete, .. } in &model.estimates {
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
    fn long_names_keep_their_end() {
        assert_eq!(name("/a/b.out"), "b.out");
        assert_eq!(name(&format!("/a/{}.out", "x".repeat(40))), format!("…{}.out", "x".repeat(19)));
    }
}
