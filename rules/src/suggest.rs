//! The known name nearest to an unknown one.

/// Longer names than this are not compared: no name of ours is, and the work grows with the square.
const LONGEST: usize = 48;

/// Says which known name may have been meant: `, did you mean "wait"?`, or nothing.
#[must_use]
pub fn suggestion<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    match nearest(name, known) {
        Some(nearest) => format!(", did you mean \"{nearest}\"?"),
        None => String::new(),
    }
}

/// The known name that the fewest changes of letters lead to, at most one in three; of several the first one of the alphabet.
fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > LONGEST {
        return None;
    }
    let most = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .filter(|known| known.len() <= LONGEST && known.len().abs_diff(name.len()) <= 4 * most)
        .map(|known| (distance(name, known), known))
        .filter(|&(distance, _)| distance <= most)
        .min()
        .map(|(_, known)| known)
}

/// How many letters must be put in, left out or changed; two neighbours that have changed places count once.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = vec![0; right.len() + 1];
    let mut last: Vec<usize> = (0..=right.len()).collect();
    let mut previous = None;
    for (i, a) in left.chars().enumerate() {
        let mut row = vec![i + 1];
        for (j, &b) in right.iter().enumerate() {
            let mut least = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if j > 0 && previous == Some(b) && right[j - 1] == a {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
        previous = Some(a);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_left_out_finds_the_name() {
        assert_eq!(suggestion("wat", ["wait", "bytes"]), ", did you mean \"wait\"?");
    }

    #[test]
    fn neighbours_that_changed_places_find_the_name() {
        assert_eq!(nearest("btyes", ["wait", "bytes"]), Some("bytes"));
    }

    #[test]
    fn another_word_finds_nothing() {
        assert_eq!(suggestion("colour", ["wait", "bytes"]), "");
    }

    #[test]
    fn of_two_as_near_the_first_of_the_alphabet_is_found() {
        assert_eq!(nearest("bat", ["cat", "bar"]), Some("bar"));
    }

    #[test]
    fn very_long_names_are_not_compared() {
        assert_eq!(nearest(&"a".repeat(1 << 20), ["a"]), None);
    }
}
