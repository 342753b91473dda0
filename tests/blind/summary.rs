//! Parser of the summary of `replay-analyze`, as far as root causes are concerned. Only this file knows its
//! wording.

use std::collections::BTreeSet;

/// The numbers and culprits of a summary.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    /// Seconds between `MPI_Init` and `MPI_Finalize`, summed over all threads.
    pub(crate) run: f64,
    /// Percentage of the MPI time that was analyzed; `None` if the summary has no coverage.
    pub(crate) coverage: Option<f64>,
    /// Whether the summary has no findings.
    pub(crate) has_no_findings: bool,
    /// The culprits, in descending order of costs.
    pub(crate) culprits: Vec<Culprit>,
}

/// A culprit: a call path of some ranks that made others wait.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Culprit {
    /// Delay costs in seconds.
    pub(crate) seconds: f64,
    /// The named ranks; empty if it names other locations, such as threads.
    pub(crate) ranks: BTreeSet<u32>,
    /// Names of the functions, the program first, without suffixes that compilers append to variants.
    pub(crate) path: Vec<String>,
    /// The named line.
    pub(crate) line: Option<Line>,
    /// The MPI functions before and after the named period.
    pub(crate) between: [Option<String>; 2],
    /// Whether the culprit is unexplained time in MPI.
    pub(crate) is_unexplained: bool,
    /// The complete entry.
    pub(crate) text: String,
}

/// A line of a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub(crate) file: String,
    pub(crate) number: u32,
    /// Whether the culprit is behind this line.
    pub(crate) is_before: bool,
}

impl Summary {
    /// Parses a printed summary; missing numbers keep their defaults.
    pub(crate) fn parse(text: &str) -> Summary {
        let after = |mark: &str| text.lines().find_map(|line| Some(line.split_once(mark)?.1.trim()));
        let run = after("Between MPI_Init and MPI_Finalize, summed over")
            .and_then(|rest| rest.split(' ').nth_back(1));
        let coverage = after("Coverage: ").and_then(|rest| rest.split_once(" %")?.0.parse().ok());
        Summary {
            run: run.and_then(|run| run.parse().ok()).unwrap_or_default(),
            coverage,
            has_no_findings: text.lines().any(|line| line == "Findings: none"),
            culprits: entries(text).iter().filter_map(|entry| Culprit::parse(entry)).collect(),
        }
    }
}

/// The entries of the list of culprits, each in one line.
fn entries(text: &str) -> Vec<String> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("Who made others wait"));
    lines.next();
    let mut entries: Vec<String> = Vec::new();
    for line in lines.take_while(|line| line.starts_with(' ')).map(str::trim) {
        let begins = line.split_once(" %").is_some_and(|(share, _)| share.parse::<f64>().is_ok());
        match entries.last_mut().filter(|_| !begins) {
            Some(entry) => *entry = format!("{entry} {line}"),
            None => entries.push(line.to_owned()),
        }
    }
    entries
}

impl Culprit {
    /// Parses `84.3 %  0.424105 s  rank 0 in prog/main/work (file.c:12) between MPI_A and MPI_B (69 %): late
    /// senders …`, or `… rank 0 in prog/main/work after line 12 (file.c), between MPI_A and MPI_B (69 %) …`.
    fn parse(entry: &str) -> Option<Culprit> {
        let (numbers, text) = entry.split_once(" s ")?;
        let (who, place) = text.trim_start().split_once(" in ")?;
        // The kind of waiting follows a colon.
        let place = place.split_once(": ").map_or(place, |(place, _)| place);
        let (path, rest) = place.split_once(' ').unwrap_or((place, ""));
        let path = path.trim_end_matches([',', ';', ':']).split('/');
        Some(Culprit {
            seconds: numbers.rsplit(' ').next()?.parse().ok()?,
            ranks: ranks(who).unwrap_or_default(),
            path: path.map(|name| name.split('.').next().unwrap_or(name).to_owned()).collect(),
            line: line_behind(rest).or_else(|| line_at(rest)),
            between: between(rest),
            is_unexplained: place.contains("no wait state"),
            text: text.trim_start().to_owned(),
        })
    }

    /// The functions of its path, without the program.
    pub(crate) fn functions(&self) -> &[String] {
        self.path.get(1..).unwrap_or_default()
    }
}

/// The ranks in `rank 2` or `ranks 0–3, 8–15 (12 ranks)`; `None` for other locations.
fn ranks(who: &str) -> Option<BTreeSet<u32>> {
    let list = who.strip_prefix("ranks ").or_else(|| who.strip_prefix("rank "))?;
    let list = list.split_once(" (").map_or(list, |(list, _)| list);
    let mut ranks = BTreeSet::new();
    for part in list.split(", ") {
        let (first, last) = part.split_once('–').unwrap_or((part, part));
        ranks.extend(first.parse::<u32>().ok()?..=last.parse().ok()?);
    }
    Some(ranks)
}

/// The line in `after line 19 (file.c)`.
fn line_behind(text: &str) -> Option<Line> {
    let (number, rest) = text.split_once("after line ")?.1.split_once(" (")?;
    let file = rest.split_once(')')?.0.to_owned();
    Some(Line { file, number: number.parse().ok()?, is_before: true })
}

/// The line in `(file.c:19)`.
fn line_at(text: &str) -> Option<Line> {
    let (file, number) = text.strip_prefix('(')?.split_once(')')?.0.rsplit_once(':')?;
    Some(Line { file: file.to_owned(), number: number.parse().ok()?, is_before: false })
}

/// The functions in `between MPI_A and MPI_B`, `before MPI_B` or `after MPI_A`.
fn between(text: &str) -> [Option<String>; 2] {
    let behind = |mark: &str| {
        let (_, rest) = text.split_once(mark)?;
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
        Some(format!("MPI_{}", &rest[..end]))
    };
    let before = behind("between MPI_").or_else(|| behind("after MPI_"));
    let after = before.as_ref().and_then(|before| behind(&format!("between {before} and MPI_")));
    [before, after.or_else(|| behind("before MPI_"))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> Culprit {
        let text = format!(
            "Who made others wait:\n{text}\n\nRanks that wait most:\n   1.0 %   0.1 s  rank 3, of 1 s\n"
        );
        let [culprit] = &Summary::parse(&text).culprits[..] else { panic!("{text}") };
        culprit.clone()
    }

    fn line(number: u32, is_before: bool) -> Option<Line> {
        Some(Line { file: "file.c".into(), number, is_before })
    }

    fn stretch(before: &str, after: &str) -> [Option<String>; 2] {
        [before, after].map(|name| Some(name.to_owned()).filter(|name| !name.is_empty()))
    }

    #[test]
    fn numbers_of_the_run_are_read() {
        let text = "Between MPI_Init and MPI_Finalize, summed over 4 threads: 1.725773 s\n\n\
                    Coverage: 99.5 % of the MPI time was analysed for wait states\nFindings: none\n";
        let summary = Summary::parse(text);
        assert_eq!((summary.run, summary.coverage, summary.has_no_findings), (1.725773, Some(99.5), true));
        let nothing = Summary::parse("");
        assert_eq!((nothing.run, nothing.coverage, nothing.culprits.len()), (0.0, None, 0));
    }

    #[test]
    fn culprit_in_one_line_is_read() {
        let culprit = only(
            "   84.3 %      0.424105 s  rank 0 in prog/main/work.isra.0 (file.c:12) between MPI_Wait and MPI_Allreduce (69 %): \
             late senders in MPI_Recv of ranks 1–3; on the critical path",
        );
        assert_eq!((culprit.seconds, culprit.ranks.clone()), (0.424105, [0].into()));
        assert_eq!(culprit.functions(), ["main", "work"]);
        assert_eq!(
            (&culprit.line, &culprit.between),
            (&line(12, false), &stretch("MPI_Wait", "MPI_Allreduce"))
        );
        assert!(!culprit.is_unexplained);
    }

    #[test]
    fn culprit_in_several_lines_is_read() {
        let culprit = only(
            "   24.3 %      0.424105 s  rank 2 in prog/main/solve after line 19 (file.c), between MPI_Wait and MPI_Allreduce (80 %)\n\
             \x20                             late senders in MPI_Waitall of ranks 1–3, between others",
        );
        assert_eq!(culprit.functions(), ["main", "solve"]);
        assert_eq!((culprit.line, culprit.between), (line(19, true), stretch("MPI_Wait", "MPI_Allreduce")));
    }

    #[test]
    fn groups_of_ranks_are_read_and_threads_are_none() {
        let ranks = |who: &str| only(&format!("  1.0 %  1.0 s  {who} in prog/main: late senders")).ranks;
        assert_eq!(ranks("ranks 1–3, 8–9 (5 ranks)"), [1, 2, 3, 8, 9].into());
        assert_eq!(ranks("rank 1 thread 2"), [].into());
        assert_eq!(ranks("ranks 1–3, 8–9 … (1,024 ranks)"), [].into());
    }

    #[test]
    fn stretch_with_one_side_is_read() {
        let stretch_of =
            |text: &str| only(&format!("  1.0 %  1.0 s  rank 1 in prog/main {text}: late")).between;
        assert_eq!(stretch_of("before MPI_Send"), stretch("", "MPI_Send"));
        assert_eq!(stretch_of("after MPI_Send (98 %)"), stretch("MPI_Send", ""));
        assert_eq!(stretch_of("(file.c:1)"), stretch("", ""));
    }

    #[test]
    fn unexplained_time_is_recognised() {
        let culprit = only("  1.0 %  1.0 s  rank 1 in prog/main/MPI_Wait, time in MPI that is no wait state");
        assert!(culprit.is_unexplained);
        assert_eq!(culprit.functions(), ["main", "MPI_Wait"]);
    }
}
