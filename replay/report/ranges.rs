//! Short form of many numbers: `ranks 1–3, 7`.

/// Maximum number of ranges in a list.
const RANGES: usize = 4;

/// Returns a list of ascending numbers; `what` is their plural noun. If there are many ranges, the first ones
/// and the count of all numbers.
pub(super) fn list(what: &str, numbers: Vec<u32>) -> String {
    let ranges: Vec<&[u32]> = numbers.chunk_by(|a, b| a + 1 == *b).collect();
    let text = |range: &&[u32]| match range {
        [first, .., last] => format!("{first}–{last}"),
        range => format!("{}", range[0]),
    };
    let named: Vec<String> = ranges.iter().take(RANGES).map(text).collect();
    let named = named.join(", ");
    match ranges.len() > RANGES {
        true => format!("{what} {named} … ({} {what})", grouped(numbers.len())),
        false => format!("{what} {named}"),
    }
}

/// Returns a number with commas between thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let (head, rest) = digits.split_at(digits.len() % 3);
    let groups = rest.as_bytes().chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    let head = Some(head.to_owned()).filter(|head| !head.is_empty());
    head.into_iter().chain(groups).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_a_range_and_many_ranges_are_cut() {
        let ranks = |numbers: &[u32]| list("ranks", numbers.to_vec());
        assert_eq!(ranks(&[0, 1]), "ranks 0–1");
        assert_eq!(ranks(&[1, 2, 3, 7]), "ranks 1–3, 7");
        assert_eq!(ranks(&[1, 3, 5, 7, 9]), "ranks 1, 3, 5, 7 … (5 ranks)");
        assert_eq!(ranks(&[0, 2, 3, 9, 12, 13, 14, 20]), "ranks 0, 2–3, 9, 12–14 … (8 ranks)");
        assert_eq!(ranks(&[0, 2, 4, 6, 8, 9, 11]), "ranks 0, 2, 4, 6 … (7 ranks)");
        assert_eq!(ranks(&(0..4096).collect::<Vec<_>>()), "ranks 0–4095");
        let every_other_eight: Vec<u32> = (0..2048).filter(|rank| rank % 16 > 7).collect();
        assert_eq!(ranks(&every_other_eight), "ranks 8–15, 24–31, 40–47, 56–63 … (1,024 ranks)");
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(
            [7, 123, 1024, 65536, 1_000_000].map(grouped),
            ["7", "123", "1,024", "65,536", "1,000,000"]
        );
    }
}
