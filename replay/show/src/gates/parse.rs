//! Grammar of gates.
//!
//! ```text
//! gate     = quantity ( ">" | ">=" | "<" | "<=" ) limit
//! quantity = [ stat "(" ] name [ "@" path ] [ ")" ]
//! stat     = "mean" | "total" | "max" | "p95" | "imbalance" | "new"
//! limit    = number ( "x" | "%" | unit )  |  ( "+" | "-" ) number ( "%" | "pp" | unit )
//! unit     = [ "s" | "ms" | "us" | "B" | "KiB" | "MiB" | "GiB" ]
//! ```

use std::fmt;

use super::{AdviceNumber, Gate, Limit, Name, Operator, Stat};
use crate::error::Error;
use crate::paths::Glob;
use crate::values::Unit;

/// The longest gate, in bytes.
const LONGEST: usize = 4096;

/// Statistics by name.
const STATS: [(&str, Stat); 6] = [
    ("mean", Stat::Mean),
    ("total", Stat::Total),
    ("max", Stat::Max),
    ("p95", Stat::P95),
    ("imbalance", Stat::Imbalance),
    ("new", Stat::New),
];

/// Operators; a longer one goes before one that it begins with.
const OPERATORS: [(&str, Operator); 4] =
    [(">=", Operator::AtLeast), ("<=", Operator::AtMost), (">", Operator::Above), ("<", Operator::Below)];

/// Units of amounts: name, factor, whether it is one of time.
const UNITS: [(&str, f64, bool); 8] = [
    ("s", 1.0, true),
    ("ms", 1e-3, true),
    ("us", 1e-6, true),
    ("µs", 1e-6, true),
    ("B", 1.0, false),
    ("KiB", 1024.0, false),
    ("MiB", 1024.0 * 1024.0, false),
    ("GiB", 1024.0 * 1024.0 * 1024.0, false),
];

/// Classes of findings.
const CLASSES: [&str; 3] = ["note", "data loss", "wrong"];

/// Numbers of advice.
const ADVICE: [(&str, AdviceNumber); 3] =
    [("count", AdviceNumber::Count), ("most", AdviceNumber::Most), ("expected", AdviceNumber::Expected)];

/// Why a text is no gate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// The text.
    pub text: String,
    /// Where in it, in bytes.
    pub at: usize,
    /// What was found and expected.
    pub message: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gate {:?}: {}", self.text, self.message)
    }
}

impl std::error::Error for Wrong {}

impl From<Wrong> for Error {
    fn from(wrong: Wrong) -> Error {
        Error::new(wrong.to_string()).with_excerpt(wrong.text, wrong.at)
    }
}

/// Reads a gate.
///
/// # Errors
/// If it is none; the error knows where.
pub fn gate(text: &str) -> Result<Gate, Wrong> {
    if text.len() > LONGEST {
        let message = format!("{} bytes, expected at most {LONGEST}", text.len());
        let start: String = text.chars().take(60).collect();
        return Err(Wrong { text: start + "…", at: 0, message });
    }
    let mut reader = Reader { text, at: 0 };
    let gate = reader.gate()?;
    Ok(gate)
}

/// Reads an amount with its unit, such as `10ms`.
///
/// # Errors
/// If it is none, or negative.
pub fn amount(text: &str) -> Result<(f64, Unit), Wrong> {
    let mut reader = Reader { text, at: 0 };
    let number = reader.number()?;
    let at = reader.at;
    let (factor, unit) =
        reader.unit().ok_or_else(|| reader.wrong(at, "an unknown unit", "s, ms, us, B, KiB, MiB or GiB"))?;
    reader.end()?;
    Ok((number * factor, unit))
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, sign: &str) -> bool {
        let is_there = self.rest().starts_with(sign);
        if is_there {
            self.at += sign.len();
        }
        is_there
    }

    /// The text up to a letter for which `is_end` holds.
    fn until(&mut self, is_end: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    fn wrong(&self, at: usize, found: &str, expected: &str) -> Wrong {
        let message =
            format!("found {found} at column {}, expected {expected}", self.text[..at].chars().count() + 1);
        Wrong { text: self.text.to_owned(), at, message }
    }

    /// What stands here, in words.
    fn found(&self) -> String {
        match self.rest().chars().next() {
            Some(letter) => format!("{letter:?}"),
            None => "the end".to_owned(),
        }
    }

    fn expected(&self, expected: &str) -> Wrong {
        self.wrong(self.at, &self.found(), expected)
    }

    fn end(&mut self) -> Result<(), Wrong> {
        self.skip_spaces();
        if self.rest().is_empty() { Ok(()) } else { Err(self.expected("the end")) }
    }

    fn gate(&mut self) -> Result<Gate, Wrong> {
        self.skip_spaces();
        let begin = self.at;
        let stat = self.stat()?;
        let (name, name_at) = self.name()?;
        let path_at = self.at;
        let path = if self.take("@") { Some(self.path()?) } else { None };
        self.skip_spaces();
        if stat.is_some() && !self.take(")") {
            return Err(self.expected("a closing parenthesis"));
        }
        let stat = stat.unwrap_or_default();
        if !matches!(name, Name::Metric(_) | Name::Run) {
            let what = if path.is_some() { "a path" } else { "a statistic" };
            if path.is_some() || stat != Stat::Mean {
                let at = if path.is_some() { path_at } else { begin };
                return Err(self.wrong(
                    at,
                    what,
                    "a name alone, as this one is not measured by location and call path",
                ));
            }
        }
        if name == Name::Run && path.is_some() {
            return Err(self.wrong(path_at, "a path", "run alone; the time of call paths is time@PATH"));
        }
        self.skip_spaces();
        let operator = OPERATORS.into_iter().find(|(sign, _)| self.rest().starts_with(sign));
        let (sign, operator) = operator.ok_or_else(|| self.expected("one of > >= < <="))?;
        self.at += sign.len();
        self.skip_spaces();
        let limit_at = self.at;
        let limit = self.limit()?;
        self.end()?;
        self.check_limit(&name, name_at, stat, &limit, limit_at)?;
        Ok(Gate { text: self.text.trim().to_owned(), stat, name, path, operator, limit })
    }

    /// A statistic with its opening parenthesis, if there is one.
    fn stat(&mut self) -> Result<Option<Stat>, Wrong> {
        let rest = self.rest();
        let word = &rest[..rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len())];
        if !rest[word.len()..].trim_start().starts_with('(') {
            return Ok(None);
        }
        let Some((_, stat)) = STATS.iter().find(|(name, _)| *name == word) else {
            let names = STATS.map(|(name, _)| name).join(", ");
            return Err(self.wrong(self.at, &format!("{word:?}"), &format!("one of {names}")));
        };
        self.at += word.len();
        self.skip_spaces();
        self.take("(");
        self.skip_spaces();
        Ok(Some(*stat))
    }

    fn name(&mut self) -> Result<(Name, usize), Wrong> {
        let at = self.at;
        let word = self.until(|letter| letter.is_whitespace() || "()@<>=".contains(letter));
        if word.is_empty() {
            return Err(self.expected("the name of a metric, such as mpi_latesender, waiting or run"));
        }
        let name = match word {
            "run" => Name::Run,
            "coverage" => Name::Coverage,
            "actions.new" => Name::NewActions,
            _ if word.starts_with("advice.") => {
                let number = ADVICE.into_iter().find(|(name, _)| *name == &word["advice.".len()..]);
                let names = ADVICE.map(|(name, _)| name).join(", ");
                let (_, number) = number.ok_or_else(|| {
                    self.wrong(at, &format!("{word:?}"), &format!("advice. and one of {names}"))
                })?;
                Name::Advice(number)
            }
            _ if word.starts_with("findings.") => {
                let class = word["findings.".len()..].replace(['_', '-'], " ");
                // The only class of two words may be written as such.
                let class =
                    if class == "data" && self.take(" loss") { "data loss".to_owned() } else { class };
                if !CLASSES.contains(&class.as_str()) {
                    let classes = CLASSES.map(|class| class.replace(' ', "_")).join(", ");
                    return Err(self.wrong(
                        at,
                        &format!("class {class:?}"),
                        &format!("findings. and one of {classes}"),
                    ));
                }
                Name::Findings(class)
            }
            _ if word.starts_with("efficiency.") => Name::Efficiency(word["efficiency.".len()..].to_owned()),
            _ => Name::Metric(word.to_owned()),
        };
        Ok((name, at))
    }

    /// A path: up to a space, a parenthesis or an operator that is not in quotes.
    fn path(&mut self) -> Result<Glob, Wrong> {
        let begin = self.at;
        let mut is_quoted = false;
        let mut end = self.text.len();
        for (at, letter) in self.rest().char_indices() {
            match letter {
                '\'' => is_quoted = !is_quoted,
                letter if !is_quoted && (letter.is_whitespace() || "()<>=".contains(letter)) => {
                    end = begin + at;
                    break;
                }
                _ => {}
            }
        }
        self.at = end;
        if self.rest().starts_with('(') {
            return Err(self.expected(
                "an operator or the end of the path; names with such signs stand in single quotes",
            ));
        }
        Glob::parse(&self.text[begin..end]).map_err(|error| {
            let message = error.to_string();
            Wrong { text: self.text.to_owned(), at: begin, message }
        })
    }

    /// A number without sign.
    fn number(&mut self) -> Result<f64, Wrong> {
        let at = self.at;
        let rest = self.rest().as_bytes();
        let digits = |from: usize| {
            rest[from.min(rest.len())..].iter().take_while(|digit| digit.is_ascii_digit()).count()
        };
        let mut length = digits(0);
        if rest.get(length) == Some(&b'.') {
            length += 1 + digits(length + 1);
        }
        if length > 0 && matches!(rest.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
            let exponent = digits(length + 1 + sign);
            length += if exponent > 0 { 1 + sign + exponent } else { 0 };
        }
        let number = self.rest()[..length].parse().ok().filter(|number: &f64| number.is_finite());
        let number = number.ok_or_else(|| self.wrong(at, &self.found(), "a number"))?;
        self.at += length;
        self.skip_spaces();
        Ok(number)
    }

    /// The unit that is left: its factor, and what it is of. `None` if it is unknown.
    fn unit(&mut self) -> Option<(f64, Unit)> {
        let word = self.until(char::is_whitespace);
        if word.is_empty() {
            return Some((1.0, Unit::Count));
        }
        let (_, factor, is_time) = UNITS.into_iter().find(|(name, _, _)| *name == word)?;
        Some((factor, if is_time { Unit::Seconds } else { Unit::Bytes }))
    }

    fn limit(&mut self) -> Result<Limit, Wrong> {
        let begin = self.at;
        let sign = match self.rest().chars().next() {
            Some('+') => Some(1.0),
            Some('-') => Some(-1.0),
            _ => None,
        };
        if sign.is_some() {
            self.at += 1;
        }
        let number = self.number()?;
        let at = self.at;
        let value = sign.unwrap_or(1.0) * number;
        let limit = if self.take("x") {
            match sign {
                None => Limit::Ratio(value),
                Some(_) => return Err(self.wrong(begin, "a sign", "a ratio without one, such as 1.1x")),
            }
        } else if self.take("%") {
            if sign.is_some() { Limit::Relative(value / 100.0) } else { Limit::Share(value / 100.0) }
        } else if self.take("pp") {
            match sign {
                Some(_) => Limit::Points(value / 100.0),
                None => {
                    return Err(self.wrong(begin, "no sign", "a change of percentage points, such as +2pp"));
                }
            }
        } else {
            let (factor, unit) = self.unit().ok_or_else(|| {
                self.wrong(at, "an unknown unit", "x, %, pp, s, ms, us, B, KiB, MiB, GiB or none")
            })?;
            Limit::Amount { value: value * factor, unit, is_change: sign.is_some() }
        };
        Ok(limit)
    }

    /// Refuses limits that a quantity cannot have, as far as it is known without a report.
    fn check_limit(
        &self,
        name: &Name,
        name_at: usize,
        stat: Stat,
        limit: &Limit,
        at: usize,
    ) -> Result<(), Wrong> {
        let is_count = matches!(limit, Limit::Amount { unit: Unit::Count, .. });
        match name {
            Name::Findings(_) | Name::NewActions | Name::Advice(AdviceNumber::Count) if !is_count => {
                Err(self.wrong(at, "a limit with a unit", "a number, as these are counted"))
            }
            Name::NewActions if matches!(limit, Limit::Amount { is_change: true, .. }) => {
                Err(self.wrong(at, "a sign", "a number without one, as these are new already"))
            }
            Name::Advice(AdviceNumber::Most | AdviceNumber::Expected) if matches!(limit, Limit::Amount { unit, value, .. } if *unit != Unit::Seconds && *value != 0.0) => {
                Err(self.wrong(
                    at,
                    "a number of another unit",
                    "a share of the run such as 10%, or seconds such as 0.5s",
                ))
            }
            Name::Coverage if matches!(limit, Limit::Amount { .. }) => {
                Err(self.wrong(at, "an amount", "a share such as 80%, or a change such as -5pp"))
            }
            Name::Run if stat != Stat::Imbalance && matches!(limit, Limit::Share(_) | Limit::Points(_)) => {
                Err(self.wrong(at, "a share", "another limit: the run is all of its own time"))
            }
            Name::Run if stat == Stat::New => {
                Err(self.wrong(name_at, "new(run)", "a metric, such as new(time)"))
            }
            _ if stat == Stat::Imbalance
                && !is_count
                && !matches!(limit, Limit::Ratio(_) | Limit::Relative(_)) =>
            {
                Err(self.wrong(at, "a limit with a unit", "a number such as 1.5, as imbalance is a ratio"))
            }
            _ if stat == Stat::New
                && !matches!(limit, Limit::Share(_) | Limit::Amount { is_change: false, .. }) =>
            {
                Err(self.wrong(at, "a change", "an amount or a share, as A has no such call paths"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_forms_of_the_grammar_are_read() {
        let parsed = |text: &str| gate(text).unwrap();
        let plain = parsed("mpi_latesender > 1.1x");
        assert_eq!(
            (plain.stat, plain.name, plain.path),
            (Stat::Mean, Name::Metric("mpi_latesender".into()), None)
        );
        assert_eq!((plain.operator, plain.limit), (Operator::Above, Limit::Ratio(1.1)));
        assert_eq!(parsed("run > +5%").limit, Limit::Relative(0.05));
        assert_eq!(parsed("run>=-5 %").limit, Limit::Relative(-0.05));
        assert_eq!(parsed("waiting > +2pp").limit, Limit::Points(0.02));
        assert_eq!(parsed("waiting@**/solve/** > 20%").limit, Limit::Share(0.2));
        let amount = |value, unit, is_change| Limit::Amount { value, unit, is_change };
        assert_eq!(parsed("delay@**/halo > 0.5s").limit, amount(0.5, Unit::Seconds, false));
        assert_eq!(parsed("delay > -2 ms").limit, amount(-0.002, Unit::Seconds, true));
        assert_eq!(parsed("bytes <= 1.5KiB").limit, amount(1536.0, Unit::Bytes, false));
        assert_eq!(parsed("findings.wrong > 0").limit, amount(0.0, Unit::Count, false));
        assert_eq!(parsed("visits < +1e3").limit, amount(1000.0, Unit::Count, true));
        assert_eq!(parsed("max( time@a/'b > (c)' ) < 3us").stat, Stat::Max);
        assert!(parsed("time@a/'b > (c)' < 3us").path.unwrap().matches(&["a", "b > (c)"]));
        for class in ["findings.data_loss > 0", "findings.data-loss > 0", "findings.data loss > 0"] {
            assert_eq!(parsed(class).name, Name::Findings("data loss".into()));
        }
        assert_eq!(parsed("efficiency.transfer < 90%").name, Name::Efficiency("transfer".into()));
        assert_eq!(parsed("actions.new > 0").name, Name::NewActions);
        assert_eq!(parsed("advice.most > 10 %").name, Name::Advice(AdviceNumber::Most));
        for (name, stat) in STATS {
            assert_eq!(parsed(&format!("{name}(time) > 3")).stat, stat);
        }
    }

    #[test]
    fn errors_say_where() {
        for (text, at) in [
            ("", 0),
            ("time", 4),
            ("time = 3", 5),
            ("time >", 6),
            ("time > x", 7),
            ("time > 3 parsecs", 9),
            ("time > 3pp", 7),
            ("time > +3x", 7),
            ("time > 3 s 4", 11),
            ("median(time) > 3", 0),
            ("max(time > 3", 9),
            ("time@ > 3", 5),
            ("time@a//b > 3", 5),
            ("time@'a > 3", 5),
            ("time@f(int) > 3", 6),
            ("findings.fatal > 0", 0),
            ("findings.wrong > 3s", 17),
            ("coverage < 3", 11),
            ("coverage@a < 3%", 8),
            ("max(coverage) < 3%", 0),
            ("run > 20%", 6),
            ("run@main > 3s", 3),
            ("imbalance(time) > 3s", 18),
            ("new(time) > +3%", 12),
            ("actions.new > +1", 14),
            ("advice.more > 1", 0),
            ("advice.count > 10%", 15),
            ("advice.most > 3", 14),
            ("max(advice.most) > 3%", 0),
            ("time > 1e999", 7),
        ] {
            let wrong = gate(text).expect_err(text);
            assert_eq!((wrong.at, wrong.text.as_str()), (at, text), "{wrong}");
            assert!(wrong.message.contains("expected"), "{wrong}");
        }
        assert!(gate(&"a".repeat(10_000)).is_err());
    }

    /// Text that is nearly a gate: parts of gates in any order, and other letters.
    fn nearly_gates() -> impl Strategy<Value = String> {
        let parts = [
            "max",
            "new",
            "(",
            ")",
            "waiting",
            "run",
            "coverage",
            "findings.",
            "data loss",
            "actions.new",
            "advice.most",
            "@",
            "**/",
            "a",
            "'",
            "/",
            "*",
            " ",
            ">",
            ">=",
            "<",
            "+",
            "-",
            "1",
            ".5",
            "e9",
            "x",
            "%",
            "pp",
            "s",
            "µs",
            "KiB",
            "ä",
        ];
        let part = prop_oneof![
            8 => prop::sample::select(parts.to_vec()).prop_map(str::to_owned),
            1 => any::<char>().prop_map(String::from),
        ];
        prop::collection::vec(part, 0..16).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn any_text_is_a_gate_or_wrong_somewhere(text in nearly_gates()) {
            match gate(&text) {
                Ok(found) => prop_assert_eq!(gate(&found.text), Ok(found)),
                Err(wrong) => {
                    prop_assert!(text.is_char_boundary(wrong.at));
                    prop_assert!(!wrong.to_string().contains(char::is_control));
                }
            }
            if let Err(wrong) = amount(&text) {
                prop_assert!(text.is_char_boundary(wrong.at));
            }
        }
    }

    #[test]
    fn amounts_have_units() {
        assert_eq!(amount("10ms"), Ok((0.01, Unit::Seconds)));
        assert!(amount("-1s").is_err() && amount("1 light-year").is_err() && amount("").is_err());
    }
}
