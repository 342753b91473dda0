//! Advice in words, the same in the summary of the analysis and wherever a report is shown (advice 6).

use std::fmt;

use crate::advice::{AdviceFile, Advised, AdvisedAlso, AdvisedGain, AdvisedPlace, AdvisedRun};

/// Columns of a line in the summary; an option to be copied may be longer.
pub const COLUMNS: usize = 120;

/// What the option with which a gain is replayed once more begins with.
pub const CHECK: &str = "check: ";

/// Columns in front of what is said about an advice.
const INDENT: usize = 7;

/// Columns at the end of lines that texts leave empty.
const MARGIN: usize = 3;

/// Lines of an advice, unless its text is longer.
const LINES: usize = 5;

/// Columns of a place that are kept in the line of its title.
const PLACE: usize = 30;

/// The share of the time in MPI below which advice begins with it.
const COVERED: f64 = 0.8;

/// The share of the run from which on a bound is said where there is no advice.
const LOST: f64 = 0.05;

/// The block *Advice*.
#[derive(Clone, Copy, Debug)]
pub struct Words<'w> {
    /// What is said.
    pub file: &'w AdviceFile,
    /// Whether what is hidden is printed, too.
    pub all: bool,
    /// The option with which it is.
    pub option: &'w str,
    /// Columns of lines.
    pub columns: usize,
    /// What makes names of a trace fit to be printed: without it they may break lines.
    pub printable: fn(&str) -> String,
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AdviceFile { advice, run, .. } = self.file;
        caveats(run).iter().try_for_each(|line| writeln!(f, "{line}"))?;
        let shown: Vec<&Advised> = advice.iter().filter(|it| self.all || it.hidden.is_none()).collect();
        if shown.is_empty() {
            nothing(self.file, self.option).iter().try_for_each(|line| writeln!(f, "{line}"))?;
            return self.write_unjudged(f);
        }
        writeln!(f, "Advice (of a run of {:.3} s; each by itself):", run.seconds)?;
        for (it, number) in shown.iter().zip(1..) {
            self.write_advice(f, number, it)?;
        }
        self.write_together(f, shown.len())?;
        self.write_unjudged(f)?;
        match advice.len() - shown.len() {
            0 => Ok(()),
            more => writeln!(f, "  {more} more with {}", self.option),
        }
    }
}

impl Words<'_> {
    /// Writes what is saved together, of so many that are printed.
    fn write_together(&self, f: &mut fmt::Formatter<'_>, printed: usize) -> fmt::Result {
        let of = self.file.shown().count();
        let these = if of < printed { format!("1 to {of}") } else { "all of these".to_owned() };
        match together(self.file, &these) {
            Some(together) => writeln!(f, "  {together}"),
            None => Ok(()),
        }
    }

    /// Writes which rules could not be judged, if everything is to be printed.
    fn write_unjudged(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unjudged = self.file.not_evaluated.iter().filter(|_| self.all);
        let lines = unjudged.map(|it| (self.printable)(&format!("Not judged: {}: {}", it.rule, it.why)));
        lines.into_iter().try_for_each(|line| writeln!(f, "  {line}"))
    }

    fn write_advice(&self, f: &mut fmt::Formatter<'_>, number: usize, it: &Advised) -> fmt::Result {
        let clean = self.printable;
        let front = format!("  {number}. {}   ", gain(&it.gain, &self.file.run));
        let behind = format!("   [{}]", confidence(it.confidence));
        let mut lines = self.write_titled(f, (&front, &behind), (&it.title, &it.place))?;
        lines += self.write_wrapped(f, &it.text)?;
        if !it.evidence.is_empty() {
            let values = it.evidence.iter().map(|shown| format!("{} {}", shown.name, shown.text));
            lines += self.write_wrapped(f, &values.collect::<Vec<_>>().join(", "))?;
        }
        if let Some(library) = &it.library {
            writeln!(f, "{:INDENT$}rule: {} for {}", "", it.rule, clean(library))?;
            lines += 1;
        }
        lines += usize::from(it.scenario.is_some());
        self.write_others(f, &it.also, LINES.saturating_sub(lines).max(1))?;
        match &it.scenario {
            Some(scenario) => writeln!(f, "{:INDENT$}{}", "", check(&clean(scenario))),
            None => Ok(()),
        }
    }

    /// Writes a title with its place, between these, in a line; or the place in one of its own if little of it would be left. Returns how many.
    fn write_titled(
        &self,
        f: &mut fmt::Formatter<'_>,
        (front, behind): (&str, &str),
        (title, at): (&str, &AdvisedPlace),
    ) -> Result<usize, fmt::Error> {
        let clean = self.printable;
        let (title, place) = (clean(title), clean(&place(at)));
        let room = self.columns.saturating_sub(length(front) + length(behind));
        let of_place = room.saturating_sub(length(&title) + 2);
        if of_place >= PLACE.min(length(&place)) {
            writeln!(f, "{front}{title}: {}{behind}", cut(&place, of_place))?;
            return Ok(1);
        }
        writeln!(f, "{front}{}{behind}", cut(&title, room))?;
        writeln!(f, "{:INDENT$}in {}", "", cut(&place, self.columns.saturating_sub(INDENT + 3)))?;
        Ok(2)
    }

    /// Writes a text in lines, as long as words allow; returns how many.
    fn write_wrapped(&self, f: &mut fmt::Formatter<'_>, text: &str) -> Result<usize, fmt::Error> {
        let lines = wrapped(&(self.printable)(text), self.columns.saturating_sub(INDENT + MARGIN));
        lines.iter().try_for_each(|line| writeln!(f, "{:INDENT$}{line}", ""))?;
        Ok(lines.len())
    }

    /// Writes what an advice makes worthless, in so many lines at most.
    fn write_others(&self, f: &mut fmt::Formatter<'_>, also: &[AdvisedAlso], lines: usize) -> fmt::Result {
        for (at, it) in also.iter().take(lines).enumerate() {
            let more = if at + 1 == lines { also.len() - lines.min(also.len()) } else { 0 };
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            let (front, behind) =
                (format!("{:INDENT$}or: ", ""), format!(" ({:.3} s by itself){more}", it.expected));
            self.write_titled(f, (&front, &behind), (&it.title, &it.place))?;
        }
        Ok(())
    }
}

/// What makes all advice doubtful: that little was analysed, that waiting is short for the clocks, that the trace has findings.
pub fn caveats(run: &AdvisedRun) -> Vec<String> {
    let little = run.coverage.filter(|&coverage| coverage < COVERED).map(|coverage| {
        let coverage = 100.0 * coverage;
        format!("Only {coverage:.1} % of the time in MPI was analysed: what is lost in the rest is not known here.")
    });
    let short = run.certain.filter(|&certain| certain < COVERED).map(|certain| {
        let doubtful = 100.0 * (1.0 - certain);
        format!(
            "{doubtful:.1} % of all waiting is shorter than the error of the clocks: advice is less sure."
        )
    });
    let found = run.has_findings.then(|| {
        "The trace lacks data or contradicts itself (see the findings): all advice is half as sure as without.".to_owned()
    });
    [little, short, found].into_iter().flatten().collect()
}

/// That advice was looked for, and there is none that is sure enough, which this option prints; and what bounds the loss all the same.
pub fn nothing(file: &AdviceFile, option: &str) -> Vec<String> {
    let run = &file.run;
    let mut lines = vec![match file.advice.len() {
        0 => {
            let least = run.least_percent;
            format!("No advice: none of the changes that were tried would save {least} % of the run.")
        }
        1 => format!("No advice that is sure enough; of low confidence: 1 change ({option} prints it)"),
        several => {
            format!(
                "No advice that is sure enough; of low confidence: {several} changes ({option} prints them)"
            )
        }
    }];
    if run.conserve_bound >= LOST * run.seconds {
        let [moved, unmoved] = [run.conserve_bound, run.wait_bound].map(|seconds| percent(seconds, run));
        lines.push(format!(
            "Bounds, by the waiting that is known: {moved:.1} % at most is saved by moving work between ranks, \
             {unmoved:.1} % without."
        ));
    }
    lines
}

/// What all that is shown and could be replayed saves together, if that is known; in words `these` are.
pub fn together(file: &AdviceFile, these: &str) -> Option<String> {
    let which = match file.shown().all(|it| it.gain.expected.is_some()) {
        true => these.to_owned(),
        false => format!("{these} that say \"about\""),
    };
    Some(format!("{which} together: {}", amount("about", file.together?, &file.run)))
}

/// What a change saves by itself: as replayed, or at most.
pub fn gain(gain: &AdvisedGain, run: &AdvisedRun) -> String {
    let (how, seconds) = gain.expected.map_or(("at most", gain.most), |expected| ("about", expected));
    amount(how, seconds, run)
}

fn amount(how: &str, seconds: f64, run: &AdvisedRun) -> String {
    format!("{how} {seconds:.3} s, {:.1} %", percent(seconds, run))
}

fn percent(seconds: f64, run: &AdvisedRun) -> f64 {
    100.0 * seconds / run.seconds.max(f64::MIN_POSITIVE)
}

/// The word for a confidence.
pub fn confidence(confidence: f64) -> &'static str {
    match confidence {
        0.7.. => "high",
        0.4.. => "fair",
        _ => "low",
    }
}

/// The names of a place, with file and line.
pub fn place(place: &AdvisedPlace) -> String {
    match &place.line {
        Some(line) => format!("{} ({line})", place.path),
        None => place.path.clone(),
    }
}

/// How a scenario is replayed once more.
pub fn check(scenario: &str) -> String {
    format!("{CHECK}--what-if={scenario}")
}

/// A text in so many columns, without a part in its middle if it is longer: most of a place is said by its end.
fn cut(text: &str, room: usize) -> String {
    let length = length(text);
    if length <= room {
        return text.to_owned();
    }
    let kept = room.saturating_sub(1);
    let front = kept / 3;
    let chars = |from: usize, count: usize| text.chars().skip(from).take(count).collect::<String>();
    format!("{}…{}", chars(0, front), chars(length - (kept - front), kept - front))
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// A text in lines of so many columns, as long as words allow.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.len() - 1;
        if !lines[line].is_empty() && length(&lines[line]) + 1 + length(word) > room {
            lines.push(word.to_owned());
            continue;
        }
        if !lines[line].is_empty() {
            lines[line].push(' ');
        }
        lines[line].push_str(word);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str) -> String {
        text.replace(char::is_control, "?")
    }

    fn place(path: &str) -> AdvisedPlace {
        AdvisedPlace { path: path.into(), line: Some("solver.f90:120".into()), ..AdvisedPlace::default() }
    }

    fn run(coverage: f64) -> AdvisedRun {
        AdvisedRun { seconds: 2.0, least_percent: 1.0, coverage: Some(coverage), ..AdvisedRun::default() }
    }

    fn said(file: &AdviceFile) -> Vec<String> {
        Words { file, all: false, option: "--advice=all", columns: COLUMNS, printable: clean }
            .to_string()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn long_titles_and_places_fit_a_line_with_their_ends() {
        let long = place(&format!("main/{}/last", "between".repeat(20)));
        let also = AdvisedAlso { title: "Another".into(), place: long.clone(), ..AdvisedAlso::default() };
        let of = |title: &str, place: AdvisedPlace| {
            let advised = Advised {
                title: title.into(),
                place,
                also: vec![also.clone()],
                gain: AdvisedGain { expected: Some(0.5), ..AdvisedGain::default() },
                ..Advised::default()
            };
            let lines = said(&AdviceFile { advice: vec![advised], run: run(1.0), ..AdviceFile::default() });
            assert!(lines.iter().all(|line| length(line) <= COLUMNS), "{lines:?}");
            lines[1..3].to_vec()
        };
        let front = "  1. about 0.500 s, 25.0 %   ";
        let lines = of("Work is uneven", long.clone());
        assert!(lines[0].starts_with(&format!("{front}Work is uneven: main/")), "{lines:?}");
        assert!(lines[0].ends_with("/last (solver.f90:120)   [low]"), "{lines:?}");
        assert_eq!(length(&lines[0]), COLUMNS, "{lines:?}");
        // A place of which little would be left has a line of its own.
        let title = format!("A title{}", " of many words".repeat(4));
        let lines = of(&title, long.clone());
        assert_eq!(lines[0], format!("{front}{title}   [low]"));
        assert!(
            lines[1].starts_with("       in main/") && lines[1].ends_with("/last (solver.f90:120)"),
            "{lines:?}"
        );
        let lines = of(&title.repeat(2), long.clone());
        assert!(
            lines[0].starts_with(&format!("{front}A title")) && lines[0].ends_with("words   [low]"),
            "{lines:?}"
        );
        let lines = of("Title", place("main/f"));
        assert_eq!(lines[0], format!("{front}Title: main/f (solver.f90:120)   [low]"));
        assert_eq!(
            [cut("abcdefg", 7), cut("abcdefgh", 7), cut("ü€abcdef", 4)],
            ["abcdefg", "ab…efgh", "ü…ef"]
        );
    }

    #[test]
    fn advice_has_five_lines_with_as_many_others_as_fit() {
        let also = |number: usize| AdvisedAlso { title: format!("Other {number}"), ..AdvisedAlso::default() };
        let lines = |text: &str, others: usize| {
            let advised = Advised {
                text: text.into(),
                also: (1..=others).map(also).collect(),
                scenario: Some("remove=a".into()),
                ..Advised::default()
            };
            said(&AdviceFile { advice: vec![advised], run: run(1.0), ..AdviceFile::default() })[1..].to_vec()
        };
        let short = lines("Short.", 2);
        assert_eq!(short.len(), 5);
        assert!(short[3].contains("Other 2:") && !short[3].contains("more"), "{short:?}");
        let many = lines("Short.", 4);
        assert_eq!(many.len(), 5);
        assert!(many[2].contains("Other 1:") && !many[2].contains("more"), "{many:?}");
        assert!(many[3].contains("Other 2:") && many[3].ends_with(", and 2 more"), "{many:?}");
        let long = lines(&"word ".repeat(80), 3);
        assert!(long.len() == 7 && long[5].ends_with(", and 2 more"), "{long:?}");
        assert_eq!(long[6], "       check: --what-if=remove=a");
    }

    #[test]
    fn clocks_and_findings_that_make_advice_less_sure_are_said_first() {
        let good = AdvisedRun { certain: Some(0.9), ..run(1.0) };
        assert!(caveats(&good).is_empty() && caveats(&run(1.0)).is_empty());
        let bad = caveats(&AdvisedRun { certain: Some(0.25), has_findings: true, ..run(0.5) });
        assert!(bad[0].starts_with("Only 50.0 % of the time in MPI"), "{bad:?}");
        assert!(
            bad[1].starts_with("75.0 % of all waiting is shorter than the error of the clocks"),
            "{bad:?}"
        );
        assert!(bad[2].starts_with("The trace lacks data or contradicts itself"), "{bad:?}");
    }

    #[test]
    fn little_coverage_comes_first_and_unknown_coverage_is_not_said() {
        let of = |coverage| AdviceFile { run: AdvisedRun { coverage, ..run(1.0) }, ..AdviceFile::default() };
        let lines = said(&of(Some(0.631)));
        assert!(lines[0].starts_with("Only 63.1 % of the time in MPI was analysed"), "{lines:?}");
        assert!(
            lines[1].starts_with("No advice: none of the changes that were tried would save 1 %"),
            "{lines:?}"
        );
        for coverage in [Some(0.8), None] {
            assert!(said(&of(coverage))[0].starts_with("No advice"));
        }
    }

    #[test]
    fn bounds_are_said_without_advice_from_a_twentieth_of_the_run_on() {
        let of = |conserve_bound| {
            let run = AdvisedRun { conserve_bound, wait_bound: 0.03, ..run(1.0) };
            said(&AdviceFile { run, ..AdviceFile::default() })
        };
        let lines = of(0.1);
        assert_eq!(lines.len(), 2);
        assert!(
            lines[1].contains(": 5.0 % at most is saved by moving work")
                && lines[1].contains("1.5 % without")
        );
        assert!(length(&lines[1]) <= COLUMNS, "{}", lines[1]);
        assert_eq!(of(0.099).len(), 1);
    }

    #[test]
    fn names_with_control_characters_do_not_reach_the_terminal() {
        let advised = Advised {
            title: "a\u{1b}b".into(),
            place: place("c\nd"),
            text: "e\u{7}".into(),
            scenario: Some("remove=\r".into()),
            ..Advised::default()
        };
        let text = said(&AdviceFile { advice: vec![advised], run: run(1.0), ..AdviceFile::default() });
        assert_eq!((text.len(), text.concat().contains(char::is_control)), (4, false));
    }
}
