//! Pictures of what a program does repeatedly: a tree of loops, and graphs as Graphviz and SVG have them (structure 2.4, 2.11).
//!
//! All are functions of the tables alone ([`crate::tables::structure`]).

pub mod dot;
#[cfg(test)]
mod examples;
mod guard;
mod layers;
pub mod shown;
pub mod svg;
pub mod tree;

use cubex::{Cube, LocationId};

use crate::output::numbers::JOINT;
use crate::places;
use crate::tables::structure::Group;

/// The name of the lowest location of a group.
pub(crate) fn name_of(cube: &Cube, sizes: &places::Sizes, group: &Group) -> String {
    group.location.map_or(String::new(), |at| places::name(cube, sizes, LocationId(at)))
}

/// What a group is called, given the name of its lowest location.
pub(crate) fn title(name: &str, group: &Group) -> String {
    match group.locations.saturating_sub(1) {
        0 => name.to_owned(),
        others => format!("{name} and {others} alike"),
    }
}

/// Seconds for people: milliseconds below a second, microseconds below a millisecond.
pub(crate) fn duration(seconds: f64) -> String {
    let size = seconds.abs();
    let digits = |value: f64| match value.abs() {
        // 99.96 would be 100.0.
        99.95.. => format!("{value:.0}"),
        9.995.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    };
    if size >= 1.0 {
        format!("{}{JOINT}s", digits(seconds))
    } else if size >= 1e-3 {
        format!("{}{JOINT}ms", digits(seconds * 1e3))
    } else {
        format!("{}{JOINT}µs", digits(seconds * 1e6))
    }
}

/// A number of things: `1 call`, `2 calls`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        let all: Vec<String> =
            [0.0, 2.5e-7, 1.234e-3, 0.0521, 0.5214, 1.0, 12.34, 1234.0].map(duration).into();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let expected = ["0.00 µs", "0.25 µs", "1.23 ms", "52.1 ms", "521 ms", "1.00 s", "12.3 s", "1234 s"];
        assert_eq!(all, expected.map(|text| text.replace(' ', "\u{a0}")));
    }
}
