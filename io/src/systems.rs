//! Bandwidths of other systems, measured with IOR (io.md 4.9).
//!
//! A table is tab separated, with a line of names and `#` for comments; columns may be in any order:
//!
//! ```text
//! system  api    op  np  nodes  t         b         s  collective  fpp  random  fsync  MiB_s  runs  source
//! A       MPIIO  w   64  8      42448320  42448320  1  1           0    0       0      110.9  3     ior.json
//! ```

use std::fmt;

use crate::access::Kind;

/// What IOR did.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Manners {
    /// Whether it went through MPI-IO; through POSIX else.
    pub is_mpi: bool,
    /// Whether it read or wrote.
    pub kind: Kind,
    /// Whether it called collectively.
    pub collective: bool,
    /// Whether each task had a file.
    pub per_process: bool,
    /// Whether requests were out of order.
    pub random: bool,
    /// Whether the file was flushed.
    pub fsync: bool,
}

/// A line of a table: what IOR measured on a system.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// Name of the system.
    pub system: String,
    /// What IOR did.
    pub manners: Manners,
    /// Number of tasks.
    pub np: u64,
    /// Number of nodes.
    pub nodes: Option<u64>,
    /// Bytes of a request.
    pub transfer: u64,
    /// Bytes of a block.
    pub block: Option<u64>,
    /// Number of segments.
    pub segments: Option<u64>,
    /// Bytes a second, the median of all runs; more than 0.
    pub bandwidth: f64,
    /// Number of runs.
    pub runs: Option<u64>,
    /// Where the numbers come from.
    pub source: String,
}

/// What is wrong in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Name of the file.
    pub file: String,
    /// Line, from 1 on; 0 for the whole file.
    pub line: usize,
    /// The field, if it is one.
    pub field: String,
    /// What is wrong.
    pub text: String,
}

/// `table.tsv:3: np: no number: "x"`
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.text)
    }
}

impl std::error::Error for Problem {}

/// Names of all columns.
pub const COLUMNS: [&str; 15] = [
    "system",
    "api",
    "op",
    "np",
    "nodes",
    "t",
    "b",
    "s",
    "collective",
    "fpp",
    "random",
    "fsync",
    "MiB_s",
    "runs",
    "source",
];

/// Columns without which a line says nothing.
const NEEDED: [&str; 6] = ["system", "api", "op", "np", "t", "MiB_s"];

/// Bytes in a MiB.
pub(crate) const MIB: f64 = 1_048_576.0;

/// The lines of a table.
///
/// # Errors
/// All that is wrong in it.
pub fn read_systems(file: &str, text: &str) -> Result<Vec<Measured>, Vec<Problem>> {
    let problem = |line: usize, field: &str, text: String| Problem {
        file: file.to_owned(),
        line,
        field: field.to_owned(),
        text,
    };
    let mut lines = (1..)
        .zip(text.lines().map(|line| line.trim_end_matches('\r')))
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let Some((first, names)) = lines.next() else {
        return Err(vec![problem(0, "", "a line of names is missing".to_owned())]);
    };
    let names: Vec<&str> = names.split('\t').map(str::trim).collect();
    let unknown = names.iter().filter(|name| !COLUMNS.contains(name)).map(|name| (*name, "no such column"));
    let missing =
        NEEDED.iter().filter(|name| !names.contains(name)).map(|name| (*name, "the column is missing"));
    let twice = COLUMNS.iter().filter(|name| names.iter().filter(|it| it == name).count() > 1);
    let twice = twice.map(|name| (*name, "the column is there twice"));
    let wrong = unknown.chain(missing).chain(twice);
    let mut problems: Vec<Problem> =
        wrong.map(|(name, text)| problem(first, name, text.to_owned())).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut made = Vec::new();
    for (number, line) in lines {
        let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
        if fields.len() != names.len() {
            let text = format!("{} fields, where the line of names has {}", fields.len(), names.len());
            problems.push(problem(number, "", text));
            continue;
        }
        let mut row = Row { names: &names, fields: &fields, wrong: Vec::new() };
        let measured = row.measured();
        problems.extend(row.wrong.into_iter().map(|(field, text)| problem(number, field, text)));
        made.extend(measured);
    }
    if problems.is_empty() { Ok(made) } else { Err(problems) }
}

/// The table of measurements.
pub fn write_systems(measured: &[Measured]) -> String {
    let number = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
    let flag = |flag: bool| u8::from(flag).to_string();
    let plain = |text: &str| text.replace(['\t', '\n', '\r'], " ");
    let mut text = COLUMNS.join("\t") + "\n";
    for it in measured {
        let fields = [
            plain(&it.system),
            if it.manners.is_mpi { "MPIIO" } else { "POSIX" }.to_owned(),
            it.manners.kind.letter().to_lowercase().to_string(),
            it.np.to_string(),
            number(it.nodes),
            it.transfer.to_string(),
            number(it.block),
            number(it.segments),
            flag(it.manners.collective),
            flag(it.manners.per_process),
            flag(it.manners.random),
            flag(it.manners.fsync),
            (it.bandwidth / MIB).to_string(),
            number(it.runs),
            plain(&it.source),
        ];
        text += &(fields.join("\t") + "\n");
    }
    text
}

/// A line, and what is wrong with its fields.
struct Row<'a> {
    names: &'a [&'a str],
    fields: &'a [&'a str],
    wrong: Vec<(&'static str, String)>,
}

impl Row<'_> {
    fn text(&self, name: &str) -> &str {
        self.names.iter().position(|it| *it == name).map_or("", |at| self.fields[at])
    }

    /// What a field says, unless that is wrong.
    fn read<T>(&mut self, name: &'static str, what: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let text = self.text(name).to_owned();
        let found = read(&text);
        if found.is_none() {
            self.wrong.push((name, format!("{what}: {text:?}")));
        }
        found
    }

    fn optional(&mut self, name: &'static str) -> Option<u64> {
        self.read(
            name,
            "no number",
            |text| if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) },
        )?
    }

    fn flag(&mut self, name: &'static str) -> Option<bool> {
        self.read(name, "neither 0 nor 1", |text| match text {
            "" | "0" => Some(false),
            "1" => Some(true),
            _ => None,
        })
    }

    fn measured(&mut self) -> Option<Measured> {
        let positive = |text: &str| text.parse().ok().filter(|&number: &u64| number > 0);
        let is_mpi = self.read("api", "neither MPIIO nor POSIX", |text| match text {
            "MPIIO" => Some(true),
            "POSIX" => Some(false),
            _ => None,
        });
        let kind = self.read("op", "neither w nor r", |text| match text {
            "w" => Some(Kind::Write),
            "r" => Some(Kind::Read),
            _ => None,
        });
        let system = self.read("system", "no name", |text| (!text.is_empty()).then(|| text.to_owned()));
        let np = self.read("np", "no number above 0", positive);
        let transfer = self.read("t", "no number above 0", positive);
        let bandwidth = self.read("MiB_s", "no number above 0", |text| {
            text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0)
        });
        let [collective, per_process, random, fsync] =
            ["collective", "fpp", "random", "fsync"].map(|name| self.flag(name));
        let [nodes, block, segments, runs] = ["nodes", "b", "s", "runs"].map(|name| self.optional(name));
        Some(Measured {
            system: system?,
            manners: Manners {
                is_mpi: is_mpi?,
                kind: kind?,
                collective: collective?,
                per_process: per_process?,
                random: random?,
                fsync: fsync?,
            },
            np: np?,
            nodes,
            transfer: transfer?,
            block,
            segments,
            bandwidth: bandwidth? * MIB,
            runs,
            source: self.text("source").to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &str = "system\tapi\top\tnp\tt\tcollective\tMiB_s\n";

    fn wrong(text: &str) -> Vec<String> {
        read_systems("a.tsv", text).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn tables_come_back() {
        let text =
            format!("# mine\n{NAMES}A\tMPIIO\tw\t64\t42448320\t1\t110.9\n\nB\tPOSIX\tr\t1\t8\t\t0.5\n");
        let read = read_systems("a.tsv", &text).unwrap();
        assert_eq!((read[0].np, read[0].manners.collective, read[1].bandwidth), (64, true, 524_288.0));
        assert_eq!(read_systems("b.tsv", &write_systems(&read)).unwrap(), read);
    }

    #[test]
    fn problems_name_file_line_and_field() {
        assert_eq!(wrong("# nothing\n"), ["a.tsv: a line of names is missing"]);
        let text = NAMES.replace("np", "tasks");
        assert_eq!(wrong(&text), ["a.tsv:1: tasks: no such column", "a.tsv:1: np: the column is missing"]);
        assert_eq!(
            wrong(&format!("{NAMES}A\tHDF5\tw\t0\t8\t2\tnan\n")),
            [
                "a.tsv:2: api: neither MPIIO nor POSIX: \"HDF5\"",
                "a.tsv:2: np: no number above 0: \"0\"",
                "a.tsv:2: MiB_s: no number above 0: \"nan\"",
                "a.tsv:2: collective: neither 0 nor 1: \"2\"",
            ]
        );
        assert_eq!(wrong(&format!("{NAMES}A\n")), ["a.tsv:2: 1 fields, where the line of names has 7"]);
    }
}
