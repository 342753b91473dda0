//! Families of files (io.md 4.4).

use std::collections::{BTreeMap, BTreeSet};

/// The name of the family of each file, of the ranks that use each: numbers in names become `{n}` where that joins files that have
/// one rank each, or files that all ranks of the others use as well (time steps). Ranks may be in any order, but once each.
pub fn file_families<'a>(users: &BTreeMap<&'a str, BTreeSet<u32>>) -> BTreeMap<&'a str, String> {
    let mut alike: BTreeMap<Vec<&str>, Vec<&'a str>> = BTreeMap::new();
    for name in users.keys() {
        alike.entry(split(name).0).or_default().push(name);
    }
    let mut families = BTreeMap::new();
    for names in alike.into_values() {
        let single = names.iter().all(|name| users[name].len() == 1);
        let equal = names.iter().all(|name| users[name] == users[names[0]]);
        let joined = if names.len() > 1 && (single || equal) { joined(&names) } else { None };
        families
            .extend(names.into_iter().map(|name| (name, joined.clone().unwrap_or_else(|| name.to_owned()))));
    }
    families
}

/// What is around the numbers in a name, and the numbers: one less.
fn split(name: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut words, mut numbers) = (Vec::new(), Vec::new());
    let mut rest = name;
    while let Some(begin) = rest.find(|it: char| it.is_ascii_digit()) {
        let behind = &rest[begin..];
        let end = behind.find(|it: char| !it.is_ascii_digit()).unwrap_or(behind.len());
        words.push(&rest[..begin]);
        numbers.push(&behind[..end]);
        rest = &behind[end..];
    }
    words.push(rest);
    (words, numbers)
}

/// One name for names that differ in numbers only.
fn joined(names: &[&str]) -> Option<String> {
    let (words, mut numbers) = split(names.first()?);
    for name in names {
        for (number, other) in numbers.iter_mut().zip(split(name).1) {
            if *number != other {
                *number = "{n}";
            }
        }
    }
    numbers.push("");
    Some(words.into_iter().zip(numbers).flat_map(|(word, number)| [word, number]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn families(users: &[(&'static str, &[u32])]) -> Vec<String> {
        let users = users.iter().map(|(name, ranks)| (*name, ranks.iter().copied().collect())).collect();
        file_families(&users).into_values().collect()
    }

    #[test]
    fn a_file_of_each_rank_and_of_each_step_are_families() {
        assert_eq!(families(&[("b.0", &[0]), ("b.1", &[1])]), ["b.{n}", "b.{n}"]);
        assert_eq!(
            families(&[("3d/o.01.h5", &[0, 1]), ("3d/o.02.h5", &[0, 1])]),
            ["3d/o.{n}.h5", "3d/o.{n}.h5"]
        );
        assert_eq!(families(&[("o1", &[0, 1]), ("o2", &[0])]), ["o1", "o2"]);
        assert_eq!(families(&[("o1", &[0]), ("x", &[0])]), ["o1", "x"]);
        assert_eq!(families(&[("o{n}", &[0]), ("o1", &[0])]), ["o1", "o{n}"]);
    }
}
