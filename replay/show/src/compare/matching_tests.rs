//! Tests of matching: rules one by one, and laws on trees that are made up.

use proptest::prelude::*;

use super::calls::{Call, Calls};
use super::matching::{Matching, Seen, Way, by_path, by_region};
use super::normalise::normalise;

#[derive(Debug)]
/// A tree from lines: two spaces for each level, the name, and its time.
struct Tree {
    calls: Calls,
    names: Vec<String>,
    weights: Vec<f64>,
    mapped: Vec<Option<usize>>,
}

impl Tree {
    fn new(calls: Vec<(Option<usize>, &str, f64)>) -> Tree {
        let weights: Vec<f64> = calls.iter().map(|call| call.2).collect();
        let call = |&(parent, name, _): &(Option<usize>, &str, f64)| Call {
            parent,
            name: name.to_owned(),
            paradigm: match name.split('_').next() {
                Some("MPI") => "mpi",
                Some("s") => "sampling",
                _ => "user",
            }
            .into(),
            ..Call::default()
        };
        // Positions stay, as no two are equal: each has a line of its own.
        let list: Vec<Call> = calls
            .iter()
            .enumerate()
            .map(|(at, it)| Call { lines: (Some(at as u32), None), ..call(it) })
            .collect();
        let (calls, _) = Calls::join(&[list], false);
        let names: Vec<String> = calls.list.iter().map(|call| normalise(&call.name, true)).collect();
        Tree { mapped: vec![None; names.len()], calls, names, weights }
    }

    fn parse(text: &str) -> Tree {
        let mut calls: Vec<(Option<usize>, &str, f64)> = Vec::new();
        let mut above: Vec<usize> = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let level = (line.len() - line.trim_start().len()) / 2;
            let (name, weight) = line.trim().rsplit_once(' ').unwrap_or((line.trim(), "1"));
            above.truncate(level);
            calls.push((above.last().copied(), name, weight.parse().unwrap()));
            above.push(calls.len() - 1);
        }
        Tree::new(calls)
    }

    fn seen(&self) -> Seen<'_> {
        Seen { calls: &self.calls, names: &self.names, mapped: &self.mapped, weights: &self.weights }
    }

    fn at(&self, name: &str) -> usize {
        self.calls.list.iter().position(|call| call.name == name).unwrap()
    }
}

fn way(a: &Tree, b: &Tree, matching: &Matching, names: (&str, &str)) -> Option<Way> {
    let (a, b) = (a.at(names.0), b.at(names.1));
    let pair = matching.pairs[matching.of[0][a]];
    (pair.a == Some(a) && pair.b == Some(b)).then_some(pair.way)
}

const OLD: &str = "
prog 0
  main 1
    solve_block 1
      relax 5
      MPI_Waitall 3
    output 1
      MPI_File_write 1
";

#[test]
fn renamed_functions_match_by_what_they_call() {
    let (a, b) = (Tree::parse(OLD), Tree::parse(&OLD.replace("solve_block", "solve_blocks")));
    let matching = by_path(a.seen(), b.seen(), false);
    assert_eq!(way(&a, &b, &matching, ("solve_block", "solve_blocks")), Some(Way::Renamed));
    assert_eq!(way(&a, &b, &matching, ("relax", "relax")), Some(Way::Same));
    let strict = by_path(a.seen(), b.seen(), true);
    assert_eq!(way(&a, &b, &strict, ("solve_block", "solve_blocks")), None);
    assert!(!strict.is_matched(0, a.at("relax")));
}

#[test]
fn two_functions_that_are_as_similar_are_not_guessed() {
    let a = Tree::parse("prog 0\n  solve_block 1");
    let b = Tree::parse("prog 0\n  solve_blocka 1\n  solve_blockb 1");
    let matching = by_path(a.seen(), b.seen(), false);
    assert!(!matching.is_matched(0, a.at("solve_block")));
}

#[test]
fn inlined_frames_are_skipped() {
    let inlined = "prog 0\n  main 1\n    relax 5\n    MPI_Waitall 3\n    output 1\n      MPI_File_write 1";
    let (a, b) = (Tree::parse(OLD), Tree::parse(inlined));
    let matching = by_path(a.seen(), b.seen(), false);
    assert_eq!(way(&a, &b, &matching, ("relax", "relax")), Some(Way::Same));
    assert!(matching.is_skipped[0][a.at("solve_block")]);
    assert_eq!(
        matching.of[0][a.at("solve_block")],
        matching.of[0][a.at("main")],
        "its own value is its caller's"
    );
    assert!((0..a.names.len()).all(|call| matching.is_matched(0, call)));
}

#[test]
fn at_most_three_frames_in_a_row_are_skipped() {
    let flat = Tree::parse("prog 0\n  MPI_Send 1\n  MPI_Recv 1");
    let deep = |frames: usize| {
        let mut text = "prog 0\n".to_owned();
        (1..=frames).for_each(|level| text += &format!("{}frame{level} 0\n", "  ".repeat(level)));
        text + &format!("{0}MPI_Send 1\n{0}MPI_Recv 1\n", "  ".repeat(frames + 1))
    };
    for (frames, is_matched) in [(1, true), (3, true), (4, false)] {
        let deep = Tree::parse(&deep(frames));
        let matching = by_path(flat.seen(), deep.seen(), false);
        assert_eq!(matching.is_matched(0, 1), is_matched, "{frames} frames");
    }
}

#[test]
fn added_calls_are_new_and_the_rest_matches() {
    let added = OLD.replace("    output 1", "    MPI_Barrier 2\n    output 1");
    let (a, b) = (Tree::parse(OLD), Tree::parse(&added));
    let matching = by_path(a.seen(), b.seen(), false);
    assert!((0..a.names.len()).all(|call| matching.is_matched(0, call)));
    let new: Vec<usize> = (0..b.names.len()).filter(|&call| !matching.is_matched(1, call)).collect();
    assert_eq!(new, [b.at("MPI_Barrier")]);
}

#[test]
fn templates_match_without_arguments() {
    let of = |argument: &str| OLD.replace("solve_block", &format!("solve<{argument}>"));
    let (a, b) = (Tree::parse(&of("float")), Tree::parse(&of("double,2>::part<long")));
    let matching = by_path(a.seen(), b.seen(), true);
    assert!(!matching.is_matched(0, 2), "solve and solve::part");
    let b = Tree::parse(&of("double"));
    let matching = by_path(a.seen(), b.seen(), true);
    assert!((0..a.names.len()).all(|call| matching.is_matched(0, call)));
}

#[test]
fn the_map_goes_first() {
    let (mut a, mut b) = (Tree::parse(OLD), Tree::parse(&OLD.replace("solve_block", "gauss")));
    let matching = by_path(a.seen(), b.seen(), true);
    assert_eq!(way(&a, &b, &matching, ("solve_block", "gauss")), None);
    let (old, new) = (a.at("solve_block"), b.at("gauss"));
    (a.mapped[old], b.mapped[new]) = (Some(0), Some(0));
    let matching = by_path(a.seen(), b.seen(), true);
    assert_eq!(way(&a, &b, &matching, ("solve_block", "gauss")), Some(Way::Mapped));
    assert_eq!(way(&a, &b, &matching, ("relax", "relax")), Some(Way::Same));
}

#[test]
fn calls_of_one_name_match_in_order_of_lines() {
    let text = "prog 0\n  f 1\n  f 2\n  f 3";
    let (a, b) = (Tree::parse(text), Tree::parse("prog 0\n  f 1\n  f 2"));
    let matching = by_path(a.seen(), b.seen(), false);
    assert!(matching.is_matched(0, 1) && matching.is_matched(0, 2) && !matching.is_matched(0, 3));
    assert_eq!(matching.of[0][1], matching.of[1][1]);
}

#[test]
fn lines_that_samples_have_met_are_one_call_path() {
    let a = Tree::parse("main\n  s_f 3\n  s_f 2\n    MPI_Send 1\n  s_f 1\n  s_g 1\n    MPI_Recv 1");
    let b = Tree::parse(
        "main\n  s_f 1\n  s_f 1\n  s_f 1\n  s_f 2\n    MPI_Send 1\n  s_g 2\n  s_g 1\n    MPI_Recv 1",
    );
    for (a, b) in [(&a, &b), (&b, &a)] {
        let matching = by_path(a.seen(), b.seen(), false);
        assert!(matching.pairs.iter().all(|pair| pair.a.is_some() && pair.b.is_some()), "{matching:?}");
        let pairs = |side: usize, tree: &Tree, name: &str| {
            let calls = (0..tree.names.len()).filter(|&call| tree.names[call] == name);
            calls
                .map(|call| (matching.of[side][call], tree.calls.forest.children(call).len()))
                .collect::<Vec<_>>()
        };
        let [of_a, of_b] = [pairs(0, a, "s_f"), pairs(1, b, "s_f")];
        let one = |pairs: &[(usize, usize)], callees: usize| {
            let mut own: Vec<usize> =
                pairs.iter().filter(|pair| pair.1 == callees).map(|pair| pair.0).collect();
            own.dedup();
            assert_eq!(own.len(), 1, "{pairs:?}");
            own[0]
        };
        assert_eq!((one(&of_a, 0), one(&of_a, 1)), (one(&of_b, 0), one(&of_b, 1)));
        assert_ne!(one(&of_a, 0), one(&of_a, 1), "a line that calls something is another one");
    }
}

#[test]
fn calls_of_one_name_are_told_apart_though_they_call_nothing() {
    for name in ["MPI_Send", "f"] {
        let parse = |calls: usize| Tree::parse(&format!("main{}", format!("\n  {name} 1").repeat(calls)));
        let (a, b) = (parse(2), parse(1));
        let matching = by_path(a.seen(), b.seen(), false);
        assert_eq!(matching.pairs.iter().filter(|pair| pair.b.is_none()).count(), 1, "{name}");
    }
}

#[test]
fn call_that_is_added_to_a_function_moves_no_other() {
    let before = Tree::parse("prog 0\n  main 0\n    MPI_Bcast 4\n  main 0\n    MPI_Barrier 3\n  main 1");
    let after = Tree::parse(
        "prog 0\n  main 0\n    MPI_Bcast 5\n  main 0\n    MPI_Allreduce 1\n  main 0\n    MPI_Barrier 2\n  main 1",
    );
    for (a, b, is_turned) in [(&before, &after, false), (&after, &before, true)] {
        let matching = by_path(a.seen(), b.seen(), false);
        for name in ["MPI_Bcast", "MPI_Barrier"] {
            assert_eq!(way(a, b, &matching, (name, name)), Some(Way::Same), "{name}");
        }
        let side = usize::from(!is_turned);
        assert!(!matching.is_matched(side, after.at("MPI_Allreduce")));
    }
}

#[test]
fn regions_match_wherever_they_are() {
    let (a, b) = (Tree::parse(OLD), Tree::parse("other 0\n  relax 1\n  relax 2\n    MPI_Waitall 1"));
    let matching = by_region(a.seen(), b.seen());
    assert_eq!(matching.of[0][a.at("relax")], matching.of[1][1]);
    assert_eq!(matching.of[1][1], matching.of[1][2]);
    assert!(matching.is_matched(0, a.at("MPI_Waitall")) && !matching.is_matched(0, a.at("output")));
}

/// Trees of up to 24 call paths with few names, so that many are equal.
fn trees() -> impl Strategy<Value = Tree> {
    let names = ["f", "g", "solve", "solver", "relax_a", "relax_b", "MPI_Send", "MPI_Recv", ""];
    let call = (any::<prop::sample::Index>(), prop::sample::select(names.to_vec()), 0..4_u8);
    prop::collection::vec(call, 0..24).prop_map(|calls| {
        let mut all = vec![(None, "prog", 0.0)];
        for (at, (parent, name, weight)) in calls.into_iter().enumerate() {
            all.push((Some(parent.index(at + 1)), name, f64::from(weight)));
        }
        Tree::new(all)
    })
}

/// What matters of a matching: partners, and skipped frames with the caller that has their value.
fn partners(matching: &Matching, sides: [usize; 2]) -> Vec<(Option<usize>, Option<usize>, Way)> {
    let of = |pair: &super::matching::Pair, side: usize| if side == 0 { pair.a } else { pair.b };
    let mut pairs: Vec<_> =
        matching.pairs.iter().map(|pair| (of(pair, sides[0]), of(pair, sides[1]), pair.way)).collect();
    pairs.sort_by_key(|pair| (pair.0, pair.1));
    pairs
}

proptest! {
    #[test]
    fn a_tree_matches_itself(tree in trees()) {
        let matching = by_path(tree.seen(), tree.seen(), false);
        for call in 0..tree.names.len() {
            let pair = matching.pairs[matching.of[0][call]];
            prop_assert_eq!((pair.a, pair.b), (Some(call), Some(call)));
        }
    }

    #[test]
    fn exchanged_sides_give_the_mirrored_result(a in trees(), b in trees()) {
        let (one, other) = (by_path(a.seen(), b.seen(), false), by_path(b.seen(), a.seen(), false));
        prop_assert_eq!(partners(&one, [0, 1]), partners(&other, [1, 0]));
        for (side, mirrored) in [(0, 1), (1, 0)] {
            prop_assert_eq!(&one.is_skipped[side], &other.is_skipped[mirrored]);
        }
        let (one, other) = (by_region(a.seen(), b.seen()), by_region(b.seen(), a.seen()));
        prop_assert_eq!(partners(&one, [0, 1]), partners(&other, [1, 0]));
    }

    #[test]
    fn every_call_path_has_one_pair(a in trees(), b in trees()) {
        let matching = by_path(a.seen(), b.seen(), false);
        for (side, count) in [a.names.len(), b.names.len()].into_iter().enumerate() {
            for call in 0..count {
                let pair = matching.pairs[matching.of[side][call]];
                let own = if side == 0 { pair.a } else { pair.b };
                prop_assert!(own == Some(call) || matching.is_skipped[side][call]);
            }
        }
    }
}
