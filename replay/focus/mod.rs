//! Focus: a part of the run that is counted alone, while everything is walked, matched and judged as without it (structure 3.4).
//!
//! ```text
//!     text ─► Focus ─► Windows of each process ─► walk, wait states, root causes: count what lies inside
//!                         ▲
//!              first pass: iterations, phases
//! ```

mod find;
mod windows;

use std::fmt;

pub(crate) use find::windows;
pub use windows::{Window, Windows, counted, counts};

/// A part of the run, as the user names it: one or more parts of one form, which unite.
#[derive(Clone, PartialEq, Debug)]
pub struct Focus {
    /// The words of the user.
    text: String,
    pub(crate) parts: Vec<Part>,
}

/// A part of a focus.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Part {
    /// From one time to another, on all locations; open without.
    Time(Option<Moment>, Option<Moment>),
    /// Some iterations of the main loop.
    Iterations(Which),
    /// Outermost visits of the regions of a name: those between two numbers, from 1 on, or all.
    Phase(String, Numbers),
    /// All instances of the loop of this name.
    Loop(String),
}

/// A time of the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Moment {
    /// Seconds since the trace begins.
    Seconds(f64),
    /// A share of the length of the trace, from 0 to 1.
    Share(f64),
}

/// The first and the last one of a sequence, from 1 on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Numbers {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Numbers {
    pub(crate) const ALL: Numbers = Numbers { first: 1, last: u64::MAX };

    /// Whether a number is one of them.
    pub(crate) fn contain(self, number: u64) -> bool {
        (self.first..=self.last).contains(&number)
    }
}

/// Iterations of the main loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Which {
    Numbers(Numbers),
    First,
    Last,
    /// Those unlike the ones around them.
    Outliers,
    /// Those of a kind, by its number from 1 on.
    Kind(usize),
}

/// The forms, for messages.
const FORMS: &str =
    "a focus is time=A-B, iterations=I-J, phase=NAME or loop=ID, such as time=12.5s-13s or iterations=3-5";

impl Focus {
    /// Reads a focus.
    ///
    /// # Errors
    /// If it has none of the forms; says what is expected.
    pub fn parse(text: &str) -> Result<Focus, String> {
        let (form, rest) = text.split_once('=').ok_or_else(|| FORMS.to_owned())?;
        let part: fn(&str) -> Result<Part, String> = match form {
            "time" => time,
            "iterations" => |part| iterations(part).map(Part::Iterations),
            "phase" => phase,
            "loop" => |part| Ok(Part::Loop(part.to_owned())),
            _ => return Err(FORMS.to_owned()),
        };
        let parts = split(rest).into_iter().map(|text| match text {
            "" => Err(format!("nothing behind {form}=: {FORMS}")),
            text => part(text),
        });
        Ok(Focus { parts: parts.collect::<Result<_, _>>()?, text: text.to_owned() })
    }

    /// Whether its windows are known without any event.
    pub(crate) fn is_of_time(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Time(..)))
    }

    /// Whether it counts iterations.
    pub(crate) fn has_iterations(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Iterations(_)))
    }

    /// Names of regions that it needs the visits of.
    pub(crate) fn phases(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Phase(name, _) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Names of loops that it needs the instances of.
    pub(crate) fn loops(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Loop(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// A part of the name of a file.
    pub fn file_name(&self) -> String {
        file_name(&self.text)
    }
}

/// Words of the user as a part of the name of a file.
pub(crate) fn file_name(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '%' | '_') { c } else { '-' };
    text.chars().take(64).map(plain).collect()
}

impl fmt::Display for Focus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Splits at commas, but not inside of brackets: names of functions have them there.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0_i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

fn time(text: &str) -> Result<Part, String> {
    let ends = text.split_once('-').filter(|&ends| ends != ("", ""));
    let (from, to) = ends.ok_or("a time is A-B, A- or -B, such as 0.5-2, 500ms- or 20%-30%")?;
    let [from, to] = [from, to].map(|text| (!text.is_empty()).then(|| moment(text)).transpose());
    Ok(Part::Time(from?, to?))
}

fn moment(text: &str) -> Result<Moment, String> {
    let units =
        [("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9), ("min", 60.0), ("%", 0.01), ("s", 1.0)];
    let unit = units.iter().find_map(|&(unit, scale)| Some((text.strip_suffix(unit)?, unit, scale)));
    let (digits, unit, scale) = unit.unwrap_or((text, "s", 1.0));
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let value: Option<f64> = digits.parse().ok().filter(|_| is_number);
    let value = value.ok_or_else(|| {
        format!("\"{text}\" is no time: a number of seconds, or one with min, ms, us, ns or %, such as 12.5 or 500ms")
    })?;
    Ok(if unit == "%" { Moment::Share(value * scale) } else { Moment::Seconds(value * scale) })
}

fn iterations(text: &str) -> Result<Which, String> {
    let kind = text.strip_prefix("cluster=").or_else(|| text.strip_prefix("kind="));
    match text {
        "first" => Ok(Which::First),
        "last" => Ok(Which::Last),
        "outliers" => Ok(Which::Outliers),
        _ => match kind {
            Some(kind) => match kind.parse() {
                Ok(kind) if kind > 0 => Ok(Which::Kind(kind)),
                _ => Err(format!("\"{kind}\" is no number of a kind of iterations: these begin with 1")),
            },
            None => numbers(text).map(Which::Numbers).ok_or_else(|| {
                format!("\"{text}\" names no iterations: I-J, I, I-, first, last, outliers or cluster=K, numbered from 1")
            }),
        },
    }
}

fn phase(text: &str) -> Result<Part, String> {
    let visits = text.rsplit_once('#').and_then(|(name, visits)| Some((name, numbers(visits)?)));
    let (name, visits) = visits.unwrap_or((text, Numbers::ALL));
    match name {
        "" => Err("phase=NAME needs the name of a region".into()),
        name => Ok(Part::Phase(name.to_owned(), visits)),
    }
}

/// Reads `I`, `I-J`, `I-` or `-J`.
fn numbers(text: &str) -> Option<Numbers> {
    let number = |text: &str| text.parse::<u64>().ok().filter(|&number| number > 0);
    let Some((first, last)) = text.split_once('-') else {
        return number(text).map(|number| Numbers { first: number, last: number });
    };
    if first.is_empty() && last.is_empty() {
        return None;
    }
    let first = if first.is_empty() { 1 } else { number(first)? };
    let last = if last.is_empty() { u64::MAX } else { number(last)? };
    (first <= last).then_some(Numbers { first, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<Part> {
        Focus::parse(text).map_err(|error| format!("{text}: {error}")).unwrap().parts
    }

    #[test]
    fn times_have_units_and_open_ends() {
        let seconds = |s| Some(Moment::Seconds(s));
        assert_eq!(parts("time=0.5-2"), [Part::Time(seconds(0.5), seconds(2.0))]);
        assert_eq!(
            parts("time=12.5s-13s,500ms-"),
            [Part::Time(seconds(12.5), seconds(13.0)), Part::Time(seconds(0.5), None)]
        );
        assert_eq!(parts("time=20%-50%"), [Part::Time(Some(Moment::Share(0.2)), Some(Moment::Share(0.5)))]);
    }

    #[test]
    fn iterations_are_numbers_or_have_names() {
        let of = |text| match &parts(text)[..] {
            [Part::Iterations(which)] => *which,
            others => panic!("{others:?}"),
        };
        assert_eq!(of("iterations=3-5"), Which::Numbers(Numbers { first: 3, last: 5 }));
        assert_eq!(of("iterations=7"), Which::Numbers(Numbers { first: 7, last: 7 }));
        assert_eq!(of("iterations=7-"), Which::Numbers(Numbers { first: 7, last: u64::MAX }));
        assert_eq!([of("iterations=first"), of("iterations=last")], [Which::First, Which::Last]);
        assert_eq!(
            [of("iterations=outliers"), of("iterations=cluster=2")],
            [Which::Outliers, Which::Kind(2)]
        );
    }

    #[test]
    fn phases_are_names_with_visits_and_commas_in_brackets_do_not_split_them() {
        let all = Numbers { first: 1, last: u64::MAX };
        assert_eq!(
            parts("phase=step(int, f<a, b>),out#2-3"),
            [
                Part::Phase("step(int, f<a, b>)".into(), all),
                Part::Phase("out".into(), Numbers { first: 2, last: 3 })
            ]
        );
        // That is no number of a visit.
        assert_eq!(parts("phase=a#b"), [Part::Phase("a#b".into(), all)]);
    }

    #[test]
    fn what_is_no_focus_is_refused_with_what_is_expected() {
        let wrong = [
            "",
            "time",
            "when=3",
            "time=",
            "time=3",
            "time=x-",
            "time=1e3-",
            "time=3,4-5",
            "time=-",
            "iterations=0",
        ];
        for text in
            wrong.into_iter().chain(["iterations=5-3", "iterations=-", "iterations=cluster=0", "phase=#2"])
        {
            assert!(Focus::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn name_for_a_file_has_no_separators() {
        assert_eq!(Focus::parse("phase=a/b c").unwrap().file_name(), "phase-a-b-c");
    }
}
