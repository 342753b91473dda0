//! Numbers as text. They are never cut, and have no thousands separators; a unit is joined by a space that no line breaks at.

use crate::values::Unit;

/// A space that lines do not break at; printed as a plain one.
pub const JOINT: char = '\u{a0}';

/// Decimals with which a value of seconds has three digits that count, from 3 to 9.
pub fn decimals(seconds: f64) -> usize {
    let seconds = seconds.abs();
    let mut decimals = 3;
    let mut least = 0.0995;
    while decimals < 9 && seconds < least && seconds > 0.0 {
        decimals += 1;
        least /= 10.0;
    }
    decimals
}

/// Seconds, such as `0.503 s`.
pub fn seconds(value: f64) -> String {
    seconds_with(value, decimals(value))
}

/// Seconds with so many decimals.
pub fn seconds_with(value: f64, decimals: usize) -> String {
    format!("{}{JOINT}s", plain(value, decimals))
}

/// A share, from 0 to 1, as `74.8 %`.
pub fn share(value: f64) -> String {
    format!("{}{JOINT}%", plain(100.0 * value, 1))
}

/// A share without decimals, as `75 %`.
pub fn percent(value: f64) -> String {
    format!("{}{JOINT}%", plain(100.0 * value, 0))
}

/// Bytes, such as `1.5 MiB`.
pub fn bytes(value: f64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut scaled, mut at) = (value, 0);
    while scaled.abs() >= 1024.0 && at + 1 < UNITS.len() {
        scaled /= 1024.0;
        at += 1;
    }
    format!("{}{JOINT}{}", plain(scaled, usize::from(at > 0)), UNITS[at])
}

/// A count, or a number of unknown unit: whole if it is.
pub fn count(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { plain(value, 0) } else { significant(value) }
}

/// A value of a unit; those of seconds with so many decimals.
pub fn of_unit(value: f64, unit: &Unit, decimals: usize) -> String {
    match unit {
        Unit::Seconds => seconds_with(value, decimals),
        Unit::Bytes => bytes(value),
        Unit::Count => count(value),
        Unit::Other(name) if name.is_empty() => count(value),
        Unit::Other(name) if name == "%" => share(value / 100.0),
        Unit::Other(name) => format!("{}{JOINT}{name}", count(value)),
    }
}

/// A change of a value, with its sign; one of a percentage in percentage points.
pub fn signed(value: f64, unit: &Unit, decimals: usize) -> String {
    let mut size = of_unit(value.abs(), unit, decimals);
    if matches!(unit, Unit::Other(name) if name == "%") {
        size = size.replace('%', "pp");
    }
    // A number that is rounded to 0 has no sign.
    match size.contains(|digit| matches!(digit, '1'..='9')) {
        true if value < 0.0 => format!("−{size}"),
        true => format!("+{size}"),
        false => size,
    }
}

/// A change as a fraction, as `+36 %`; small ones with a decimal, large ones as a factor, `×12`. From 0 there is no such number: `new`.
pub fn change(fraction: f64) -> String {
    /// From here on nobody reads a percentage.
    const LARGE: f64 = 10.0;
    if !fraction.is_finite() {
        return "new".to_owned();
    }
    if fraction >= LARGE {
        return format!("×{}", plain(1.0 + fraction, 0));
    }
    let percent = 100.0 * fraction;
    let size = plain(percent.abs(), usize::from(percent.abs() < 9.95));
    match size.as_str() {
        "0.0" => format!("0{JOINT}%"),
        _ if fraction < 0.0 => format!("−{size}{JOINT}%"),
        _ => format!("+{size}{JOINT}%"),
    }
}

/// So many decimals, and no minus in front of a zero.
fn plain(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|letter| matches!(letter, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
}

/// Six digits that count.
fn significant(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    if value.abs() >= 1e15 || value.abs() < 1e-4 && value != 0.0 {
        return format!("{value:.5e}");
    }
    let whole = format!("{:.0}", value.abs().trunc()).len();
    let text = format!("{value:.*}", 6_usize.saturating_sub(whole).max(1));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_three_digits_that_count() {
        assert_eq!(seconds(1.9434), "1.943\u{a0}s");
        assert_eq!(seconds(0.0411), "0.0411\u{a0}s");
        assert_eq!(seconds(0.0), "0.000\u{a0}s");
        assert_eq!(seconds(-0.0), "0.000\u{a0}s");
        assert_eq!(seconds(1e-30), "0.000000000\u{a0}s");
    }

    #[test]
    fn changes_have_signs() {
        assert_eq!(signed(-0.0134, &Unit::Seconds, 3), "−0.013\u{a0}s");
        assert_eq!(signed(3.0, &Unit::Count, 3), "+3");
        assert_eq!(signed(-1e-9, &Unit::Seconds, 3), "0.000\u{a0}s");
        assert_eq!((change(0.36), change(-0.0512)), ("+36\u{a0}%".into(), "−5.1\u{a0}%".into()));
        assert_eq!((change(9.99), change(10_108.3)), ("+999\u{a0}%".into(), "×10109".into()));
        assert_eq!((change(0.0), change(f64::INFINITY)), ("0\u{a0}%".into(), "new".into()));
    }

    #[test]
    fn bytes_and_counts_are_short_and_exact() {
        assert_eq!((bytes(1536.0), bytes(12.0)), ("1.5\u{a0}KiB".into(), "12\u{a0}B".into()));
        assert_eq!(
            (count(12.0), count(0.25), count(1e20)),
            ("12".into(), "0.25".into(), "1.00000e20".into())
        );
        assert_eq!(count(f64::NAN), "NaN");
    }
}
