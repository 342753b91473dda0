//! In which iterations of a loop something is done, in words.

use std::collections::BTreeSet;

use super::counted;
use crate::tables::structure::{Loop, Word};

/// Iterations that are named, at most.
const NAMED: usize = 3;

/// Iterations whose numbers are looked at, at most.
const LOOKED_AT: usize = 1 << 16;

/// Says in which iterations of a loop something is done; `None` if it is in all of them. `words` are all of the loop that are
/// kept, and `has` says which of them have it, by position; it is done in `done` iterations.
pub(super) fn when(it: &Loop, words: &[&Word], has: impl Fn(usize) -> bool, done: u64) -> Option<String> {
    if done >= it.iterations {
        return None;
    }
    let is_rare = 2 * done <= it.iterations;
    let count = if is_rare { done } else { it.iterations - done };
    let word = if is_rare { "only in" } else { "not in" };
    // Those that are named are of words that have it, or of those that do not.
    let wanted = words.iter().enumerate().filter(|&(at, _)| has(at) == is_rare);
    let wanted: Vec<&Word> = wanted.map(|(_, &word)| word).collect();
    let is_known = wanted.iter().map(|word| word.count).sum::<u64>() == count
        && wanted.iter().all(|word| !word.guard.is_empty());
    let by_instance = it.instances > 1 && wanted.iter().all(|word| word.is_by_instance);
    let through_all = it.instances == 1 || wanted.iter().all(|word| !word.is_by_instance);
    let unknown = format!("{word} {count} of {}", counted(it.iterations, "iteration"));
    if !is_known || !(by_instance || through_all) {
        return Some(unknown);
    }
    let numbers = wanted.iter().flat_map(|word| word.guard.iter().flat_map(structure::Progression::numbers));
    let numbers: BTreeSet<u64> = numbers.take(LOOKED_AT).map(|number| u64::from(number) + 1).collect();
    let numbers: Vec<u64> = numbers.into_iter().collect();
    let last = if by_instance { it.largest } else { it.iterations };
    // In an instance the last number is known only if all have as many iterations.
    let has_last = !by_instance || it.fewest == it.largest;
    let text = match numbers[..] {
        [1] => "the first".to_owned(),
        [only] if only == last && has_last => "the last".to_owned(),
        _ if numbers.len() <= NAMED => format!("iteration{} {}", plural(&numbers), joined(&numbers)),
        [first, second, ..] if is_regular(&numbers) => {
            let end = numbers.last().unwrap_or(&first);
            match second - first {
                1 => format!("iterations {first} to {end}"),
                step => format!("iterations {first} to {end} in steps of {step}"),
            }
        }
        _ => return Some(unknown),
    };
    Some(format!("{word} {text}{}", if by_instance { " of each instance" } else { "" }))
}

fn plural(numbers: &[u64]) -> &'static str {
    if numbers.len() == 1 { "" } else { "s" }
}

/// `2`, `2 and 4`, `2, 4 and 9`.
fn joined(numbers: &[u64]) -> String {
    let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
    match texts.split_last() {
        Some((last, front)) if !front.is_empty() => format!("{} and {last}", front.join(", ")),
        _ => texts.concat(),
    }
}

fn is_regular(numbers: &[u64]) -> bool {
    numbers.len() < LOOKED_AT && numbers.windows(2).all(|pair| pair[1] - pair[0] == numbers[1] - numbers[0])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{published, structure_of};
    use super::*;
    use crate::tables::structure::{Part, Structure};

    /// When a call is made in a loop, by number.
    fn of(structure: &Structure, number: u32, call: &str) -> Option<String> {
        let group = &structure.groups[0];
        let node = group.nodes.iter().find(|node| &*node.call == call).unwrap();
        let words: Vec<&Word> = group.words.iter().filter(|word| word.of == Some(number)).collect();
        let has = |at: usize| words[at].parts.contains(&Part::Step(node.number));
        when(group.loop_of(number).unwrap(), &words, has, node.visits)
    }

    #[test]
    fn guards_of_the_published_program_are_by_instance() {
        let structure = published();
        assert_eq!(of(&structure, 1, "E").as_deref(), Some("only in iteration 2 of each instance"));
        assert_eq!(of(&structure, 1, "F").as_deref(), Some("only in iteration 4 of each instance"));
        assert_eq!((of(&structure, 1, "C"), of(&structure, 0, "H")), (None, None));
    }

    #[test]
    fn what_is_rare_or_rarely_missing_is_named_by_its_iterations() {
        // x in the last 3 of 5 iterations, y in the first and third, z not in the last, u in each second one.
        let calls = "a z y u b | a z b | a z x y u b | a z x b | a x u b | c";
        let structure = structure_of(&calls.split(' ').filter(|call| *call != "|").collect::<Vec<_>>());
        let of = |call| of(&structure, 0, call);
        assert_eq!(of("x").as_deref(), Some("not in iterations 1 and 2"));
        assert_eq!(of("y").as_deref(), Some("only in iterations 1 and 3"));
        assert_eq!(of("z").as_deref(), Some("not in the last"));
        assert_eq!(of("u").as_deref(), Some("not in iterations 2 and 4"));
    }

    #[test]
    fn many_iterations_are_named_if_they_are_regular() {
        let body = |at: usize| if at % 10 == 4 { vec!["a", "x", "b"] } else { vec!["a", "b"] };
        let calls: Vec<&str> = (0..50).flat_map(body).chain(["c"]).collect();
        let structure = structure_of(&calls);
        assert_eq!(of(&structure, 0, "x").as_deref(), Some("only in iterations 5 to 45 in steps of 10"));
        let mut without = structure.clone();
        without.groups[0].words.iter_mut().for_each(|word| word.guard.clear());
        assert_eq!(of(&without, 0, "x").as_deref(), Some("only in 5 of 50 iterations"));
    }
}
