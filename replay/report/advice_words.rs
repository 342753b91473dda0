//! The block *Advice* of the summary in words, from the member of the report (advice 6).

use std::fmt;

use details::advice::{AdviceFile, Advised, AdvisedAlso, AdvisedPlace, AdvisedRun};

use super::summary::printable;

/// Columns of a line; an option to be copied may be longer.
const WIDTH: usize = 120;

/// Columns of a line of text, behind its indentation.
const TEXT: usize = 110;

/// Lines of an advice, unless its text is longer.
const LINES: usize = 5;

/// Columns of a place that are kept in any case.
const PLACE: usize = 30;

/// The share of the time in MPI below which advice begins with it.
const COVERED: f64 = 0.8;

/// The share of the run from which on a bound is said where there is no advice.
const LOST: f64 = 0.05;

/// What a change saves by itself, and what that is a share of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    pub(super) file: &'a AdviceFile,
    /// Whether what is hidden is printed, too.
    pub(super) all: bool,
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AdviceFile { advice, run, .. } = self.file;
        writeln!(f)?;
        if let Some(coverage) = run.coverage.filter(|&coverage| coverage < COVERED) {
            let analysed = 100.0 * coverage;
            writeln!(
                f,
                "Only {analysed:.1} % of the time in MPI was analysed: what is lost in the rest is not known here."
            )?;
        }
        let shown: Vec<&Advised> = advice.iter().filter(|it| self.all || it.hidden.is_none()).collect();
        if shown.is_empty() {
            return self.write_nothing(f);
        }
        writeln!(f, "Advice (of a run of {:.3} s; each by itself):", run.seconds)?;
        for (it, number) in shown.iter().zip(1..) {
            write_advice(f, number, it, run)?;
        }
        self.write_together(f, shown.len())?;
        match advice.len() - shown.len() {
            0 => Ok(()),
            more => writeln!(f, "  {more} more with --advice=all"),
        }
    }
}

impl Words<'_> {
    /// Writes that there is no advice, and what bounds the loss all the same.
    fn write_nothing(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AdviceFile { advice, run, .. } = self.file;
        match advice.len() {
            0 => {
                let least = run.least_percent;
                writeln!(
                    f,
                    "No advice: none of the changes that were tried would save {least} % of the run."
                )?;
            }
            1 => writeln!(
                f,
                "No advice that is sure enough; of low confidence: 1 change (--advice=all prints it)"
            )?,
            several => writeln!(
                f,
                "No advice that is sure enough; of low confidence: {several} changes (--advice=all prints them)"
            )?,
        }
        if run.conserve_bound < LOST * run.seconds {
            return Ok(());
        }
        let [moved, unmoved] = [run.conserve_bound, run.wait_bound].map(|seconds| percent(seconds, run));
        writeln!(
            f,
            "Bounds, by the waiting that is known: {moved:.1} % at most is saved by moving work between ranks, {unmoved:.1} % \
             without."
        )
    }

    /// Writes what is saved together, of so many that are printed.
    fn write_together(&self, f: &mut fmt::Formatter<'_>, printed: usize) -> fmt::Result {
        let AdviceFile { advice, run, together, .. } = self.file;
        let Some(together) = *together else { return Ok(()) };
        let of: Vec<&Advised> = advice.iter().filter(|it| it.hidden.is_none()).collect();
        let these = if of.len() < printed { format!("1 to {}", of.len()) } else { "all of these".to_owned() };
        let which = match of.iter().all(|it| it.gain.expected.is_some()) {
            true => these,
            false => format!("{these} that say \"about\""),
        };
        writeln!(f, "  {which} together: about {together:.3} s, {:.1} %", percent(together, run))
    }
}

fn percent(seconds: f64, run: &AdvisedRun) -> f64 {
    100.0 * seconds / run.seconds.max(f64::MIN_POSITIVE)
}

fn write_advice(f: &mut fmt::Formatter<'_>, number: usize, it: &Advised, run: &AdvisedRun) -> fmt::Result {
    let (how, seconds) = it.gain.expected.map_or(("at most", it.gain.most), |expected| ("about", expected));
    let front = format!("  {number}. {how} {seconds:.3} s, {:.1} %   ", percent(seconds, run));
    let behind = format!("   [{}]", word(it.confidence));
    writeln!(f, "{front}{}{behind}", titled(&it.title, &it.place, WIDTH - length(&front) - length(&behind)))?;
    let text = wrapped(&printable(&it.text));
    text.iter().try_for_each(|line| writeln!(f, "       {line}"))?;
    if !it.evidence.is_empty() {
        let values = it.evidence.iter().map(|shown| format!("{} {}", shown.name, shown.text));
        let values = wrapped(&printable(&values.collect::<Vec<_>>().join(", ")));
        values.iter().try_for_each(|line| writeln!(f, "       {line}"))?;
    }
    if let Some(library) = &it.library {
        writeln!(f, "       rule: {} for {}", it.rule, printable(library))?;
    }
    let has_scenario = usize::from(it.scenario.is_some());
    write_others(f, &it.also, LINES.saturating_sub(1 + text.len() + has_scenario).max(1))?;
    match &it.scenario {
        Some(scenario) => writeln!(f, "       check: --what-if={}", printable(scenario)),
        None => Ok(()),
    }
}

/// Writes what an advice makes worthless, in so many lines at most.
fn write_others(f: &mut fmt::Formatter<'_>, also: &[AdvisedAlso], lines: usize) -> fmt::Result {
    for (at, it) in also.iter().take(lines).enumerate() {
        let more = if at + 1 == lines { also.len() - lines.min(also.len()) } else { 0 };
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let (front, behind) = ("       or: ", format!(" ({:.3} s by itself){more}", it.expected));
        writeln!(
            f,
            "{front}{}{behind}",
            titled(&it.title, &it.place, WIDTH - length(front) - length(&behind))
        )?;
    }
    Ok(())
}

/// A title with its place in so many columns: if they are too few, the place is cut in its middle, then the title.
fn titled(title: &str, place: &AdvisedPlace, room: usize) -> String {
    let (title, place) = (printable(title), printable(&in_words(place)));
    let place = cut(&place, room.saturating_sub(length(&title) + 2).max(PLACE));
    format!("{}: {place}", cut(&title, room.saturating_sub(length(&place) + 2)))
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

/// A text in lines, as long as words allow.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.len() - 1;
        if !lines[line].is_empty() && length(&lines[line]) + 1 + length(word) > TEXT {
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

/// The word for a confidence.
fn word(confidence: f64) -> &'static str {
    match confidence {
        0.7.. => "high",
        0.4.. => "fair",
        _ => "low",
    }
}

/// The names of a place, with file and line.
pub(super) fn in_words(place: &AdvisedPlace) -> String {
    match &place.line {
        Some(line) => format!("{} ({line})", place.path),
        None => place.path.clone(),
    }
}

#[cfg(test)]
mod tests {
    use details::advice::AdvisedGain;

    use super::*;

    fn place(path: &str) -> AdvisedPlace {
        AdvisedPlace { path: path.into(), line: Some("solver.f90:120".into()), ..AdvisedPlace::default() }
    }

    fn run(coverage: f64) -> AdvisedRun {
        AdvisedRun { seconds: 2.0, least_percent: 1.0, coverage: Some(coverage), ..AdvisedRun::default() }
    }

    fn said(file: &AdviceFile) -> Vec<String> {
        Words { file, all: false }.to_string().lines().map(str::to_owned).collect()
    }

    #[test]
    fn long_titles_and_places_fit_a_line_with_their_ends() {
        let long = place(&format!("main/{}/last", "between".repeat(20)));
        let also = AdvisedAlso { title: "Another".into(), place: long.clone(), ..AdvisedAlso::default() };
        for title in ["Work is uneven", &format!("A title{}", " of many words".repeat(20))] {
            let advised = Advised {
                title: title.into(),
                place: long.clone(),
                also: vec![also.clone()],
                gain: AdvisedGain { expected: Some(0.5), ..AdvisedGain::default() },
                ..Advised::default()
            };
            let lines = said(&AdviceFile { advice: vec![advised], run: run(1.0), ..AdviceFile::default() });
            let headline = &lines[2];
            assert!(headline.starts_with("  1. about 0.500 s, 25.0 %   "), "{headline}");
            assert!(headline.ends_with(" (solver.f90:120)   [low]"), "{headline}");
            assert_eq!(length(headline), WIDTH, "{headline}");
            assert!(lines.iter().all(|line| length(line) <= WIDTH), "{lines:?}");
        }
        assert_eq!(titled("Title", &place("main/f"), 60), "Title: main/f (solver.f90:120)");
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
            said(&AdviceFile { advice: vec![advised], run: run(1.0), ..AdviceFile::default() })[2..].to_vec()
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
    fn little_coverage_comes_first_and_unknown_coverage_is_not_said() {
        let of = |coverage| AdviceFile { run: AdvisedRun { coverage, ..run(1.0) }, ..AdviceFile::default() };
        let lines = said(&of(Some(0.631)));
        assert!(lines[1].starts_with("Only 63.1 % of the time in MPI was analysed"), "{lines:?}");
        assert!(
            lines[2].starts_with("No advice: none of the changes that were tried would save 1 %"),
            "{lines:?}"
        );
        for coverage in [Some(0.8), None] {
            assert!(said(&of(coverage))[1].starts_with("No advice"));
        }
    }

    #[test]
    fn bounds_are_said_without_advice_from_a_twentieth_of_the_run_on() {
        let of = |conserve_bound| {
            let run = AdvisedRun { conserve_bound, wait_bound: 0.03, ..run(1.0) };
            said(&AdviceFile { run, ..AdviceFile::default() })
        };
        let lines = of(0.1);
        assert_eq!(lines.len(), 3);
        assert!(
            lines[2].contains(": 5.0 % at most is saved by moving work")
                && lines[2].contains("1.5 % without")
        );
        assert!(length(&lines[2]) <= WIDTH, "{}", lines[2]);
        assert_eq!(of(0.099).len(), 2);
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
        assert_eq!((text.len(), text.concat().contains(char::is_control)), (5, false));
    }
}
