//! Many numbers in few words: `ranks 1–3, 7`.

/// Ranges that are told, at most.
const RANGES: usize = 4;

/// A list of rising numbers; `what` they are, several.
pub(super) fn list(what: &str, numbers: Vec<u32>) -> String {
    let ranges: Vec<&[u32]> = numbers.chunk_by(|a, b| a + 1 == *b).collect();
    let named = &ranges[..ranges.len().min(RANGES)];
    let text = |range: &&[u32]| match range {
        [first, .., last] => format!("{first}–{last}"),
        range => format!("{}", range[0]),
    };
    let texts: Vec<String> = named.iter().map(text).collect();
    match ranges[named.len()..].iter().map(|range| range.len()).sum() {
        0 => format!("{what} {}", texts.join(", ")),
        1 => format!("{what} {} and 1 other", texts.join(", ")),
        others => format!("{what} {} and {others} others", texts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_a_range_and_many_ranges_are_cut() {
        let ranks = |numbers: &[u32]| list("ranks", numbers.to_vec());
        assert_eq!(ranks(&[0, 1]), "ranks 0–1");
        assert_eq!(ranks(&[1, 2, 3, 7]), "ranks 1–3, 7");
        assert_eq!(ranks(&[1, 3, 5, 7, 9]), "ranks 1, 3, 5, 7 and 1 other");
        assert_eq!(ranks(&[0, 2, 3, 9, 12, 13, 14, 20]), "ranks 0, 2–3, 9, 12–14 and 1 other");
        assert_eq!(ranks(&[0, 2, 4, 6, 8, 9, 11]), "ranks 0, 2, 4, 6 and 3 others");
        assert_eq!(ranks(&(0..4096).collect::<Vec<_>>()), "ranks 0–4095");
    }
}
