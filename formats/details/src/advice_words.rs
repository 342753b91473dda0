//! Advice in words, the same in the summary of the analysis and wherever a report is shown (advice 6).

use std::fmt;

use crate::advice::{AdviceFile, Advised, AdvisedGain, AdvisedPlace, AdvisedRun};

/// Columns of the block in the summary.
pub const COLUMNS: usize = 117;

/// What the option with which a gain is replayed once more begins with.
pub const CHECK: &str = "check: ";

/// Columns in front of what is said about an advice.
const INDENT: usize = 7;

/// The block *Advice*.
#[derive(Clone, Copy, Debug)]
pub struct Words<'w> {
    /// What is said.
    pub file: &'w AdviceFile,
    /// Columns of lines of texts.
    pub columns: usize,
    /// What makes names of a trace fit to be printed: without it they may break lines.
    pub printable: fn(&str) -> String,
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AdviceFile { advice, run, .. } = self.file;
        if advice.is_empty() {
            return writeln!(f, "{}", nothing());
        }
        writeln!(f, "Advice (of a run of {:.3} s; each by itself):", run.seconds)?;
        for (it, number) in advice.iter().zip(1..) {
            self.write_advice(f, number, it)?;
        }
        match together(self.file) {
            Some(together) => writeln!(f, "  {together}"),
            None => Ok(()),
        }
    }
}

impl Words<'_> {
    fn write_advice(&self, f: &mut fmt::Formatter<'_>, number: usize, it: &Advised) -> fmt::Result {
        let clean = self.printable;
        let (title, place) = (clean(&it.title), clean(&place(&it.place)));
        let (gain, confidence) = (gain(&it.gain, &self.file.run), confidence(it.confidence));
        writeln!(f, "  {number}. {gain}   {title}: {place}   [{confidence}]")?;
        self.write_wrapped(f, &clean(&it.text))?;
        for also in &it.also {
            let also_in = format!("{}: {}", also.title, self::place(&also.place));
            writeln!(f, "{:INDENT$}or: {} ({:.3} s by itself)", "", clean(&also_in), also.expected)?;
        }
        match &it.scenario {
            Some(scenario) => writeln!(f, "{:INDENT$}{}", "", check(&clean(scenario))),
            None => Ok(()),
        }
    }

    /// Writes a text in lines, as long as words allow.
    fn write_wrapped(&self, f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
        let room = self.columns.saturating_sub(INDENT);
        let mut line = String::new();
        for word in text.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
                writeln!(f, "{:INDENT$}{line}", "")?;
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        writeln!(f, "{:INDENT$}{line}", "")
    }
}

/// That advice was looked for, and there is none.
pub fn nothing() -> &'static str {
    "No advice: none of the changes that were tried would save 1 % of the run."
}

/// What all that could be replayed saves together, if that is known.
pub fn together(file: &AdviceFile) -> Option<String> {
    let which = if file.advice.iter().all(|it| it.gain.expected.is_some()) {
        "all of these"
    } else {
        "all of these that say \"about\""
    };
    Some(format!("{which} together: {}", amount("about", file.together?, &file.run)))
}

/// What a change saves by itself: as replayed, or at most.
pub fn gain(gain: &AdvisedGain, run: &AdvisedRun) -> String {
    let (how, seconds) = gain.expected.map_or(("at most", gain.most), |expected| ("about", expected));
    amount(how, seconds, run)
}

fn amount(how: &str, seconds: f64, run: &AdvisedRun) -> String {
    format!("{how} {seconds:.3} s, {:.1} %", 100.0 * seconds / run.seconds.max(f64::MIN_POSITIVE))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::AdvisedAlso;

    fn clean(text: &str) -> String {
        text.replace(char::is_control, "?")
    }

    fn lines(file: &AdviceFile, columns: usize) -> Vec<String> {
        Words { file, columns, printable: clean }.to_string().lines().map(str::to_owned).collect()
    }

    fn file() -> AdviceFile {
        let place =
            AdvisedPlace { path: "main/w\nrk".into(), line: Some("a.c:3".into()), ..Default::default() };
        let advised = Advised {
            also: vec![AdvisedAlso {
                title: "Other".into(),
                place: place.clone(),
                expected: 0.25,
                ..Default::default()
            }],
            confidence: 0.6,
            gain: AdvisedGain { expected: Some(0.5), most: 0.75, ..Default::default() },
            place,
            scenario: Some("remove=a".into()),
            text: "Share the work.".into(),
            title: "Work is uneven".into(),
            ..Default::default()
        };
        let run = AdvisedRun { seconds: 2.0, ..Default::default() };
        AdviceFile { advice: vec![advised], run, together: Some(0.5), ..Default::default() }
    }

    #[test]
    fn names_break_no_lines_and_texts_break_where_there_is_no_room() {
        assert_eq!(
            lines(&file(), 18),
            [
                "Advice (of a run of 2.000 s; each by itself):",
                "  1. about 0.500 s, 25.0 %   Work is uneven: main/w?rk (a.c:3)   [fair]",
                "       Share the",
                "       work.",
                "       or: Other: main/w?rk (a.c:3) (0.250 s by itself)",
                "       check: --what-if=remove=a",
                "  all of these together: about 0.500 s, 25.0 %",
            ]
        );
    }

    #[test]
    fn what_was_not_replayed_is_a_bound_and_not_among_what_is_saved_together() {
        let mut file = file();
        file.advice[0].gain.expected = None;
        let lines = lines(&file, COLUMNS);
        assert!(lines[1].starts_with("  1. at most 0.750 s, 37.5 %   "), "{lines:?}");
        assert_eq!(lines[5], "  all of these that say \"about\" together: about 0.500 s, 25.0 %");
    }

    #[test]
    fn no_advice_is_said() {
        assert_eq!(lines(&AdviceFile::default(), COLUMNS), [nothing()]);
    }
}
