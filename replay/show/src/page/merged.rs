//! Call paths of both sides of a comparison as one tree: what each has itself, and how that has changed.

use crate::commands::diff::{Made, style};
use crate::compare::changes::CallChange;
use crate::compare::matching::{Matching, Pair, Way};
use crate::compare::quantities::metrics_of_changes;
use crate::compare::samples::State;
use crate::output::{Cell, Column, Table};

/// Rows that are shown. The changes that are largest are shown in any case, in a table of their own.
const MOST: usize = 5000;

/// The table, and how many call paths were left out. Call paths without any value stand there for those below them.
pub(super) fn merged(made: &Made<'_, '_>) -> (Table, usize) {
    let compared = &made.compared;
    let metrics = metrics_of_changes(compared.sides);
    let metrics: Vec<&str> = metrics.iter().map(String::as_str).collect();
    let mut changes: Vec<Vec<CallChange>> = vec![Vec::new(); compared.matching.pairs.len()];
    for change in compared.by_call(&metrics) {
        let has_value = change.change.a != 0.0 || change.change.b != 0.0;
        if let Some(own) = changes.get_mut(change.pair).filter(|_| has_value) {
            own.push(change);
        }
    }
    let columns = vec![
        Column::new("call path", "call path"),
        Column::text(""),
        Column::new("metric", "what it has itself"),
        Column::new("a", "A").of_group("values"),
        Column::new("b", "B").of_group("values"),
        Column::new("difference", "change").of_group("values"),
    ];
    let mut table = Table::new("merged", columns);
    let mut left_out = 0;
    let caller = |side: usize, call: usize| compared.sides[side].calls.list[call].parent;
    for (pair, depth) in preorder(compared.matching, caller) {
        let own = &changes[pair];
        if table.rows.len() + own.len().max(1) > MOST {
            left_out += 1;
            continue;
        }
        let name = compared.names(pair).last().copied().unwrap_or_default();
        let mut node = Cell::Title(format!("{}{name}", "  ".repeat(depth)));
        let mut words = vec![way(&compared.matching.pairs[pair])];
        if own.is_empty() {
            let nothing = [const { Cell::Nothing }; 3];
            let row = [node, Cell::Words(words[0].into()), Cell::Words("".into())].into_iter().chain(nothing);
            table.rows.push(row.collect());
            continue;
        }
        for change in own {
            if change.change.state == State::Unclear {
                words.push("unclear");
            }
            let number = |value: f64| Cell::Number(value, change.unit.clone());
            table.rows.push(vec![
                std::mem::replace(&mut node, Cell::Title(String::new())),
                Cell::Words(words.join(" ").trim().into()),
                Cell::Words(change.metric.clone().into()),
                number(change.change.a),
                number(change.change.b),
                Cell::Signed(change.change.difference(), change.unit.clone(), style(change.change.state)),
            ]);
            words.clear();
        }
    }
    (table, left_out)
}

/// Which side has a call path, if not both under one name.
fn way(pair: &Pair) -> &'static str {
    match pair {
        Pair { a: None, .. } => "new",
        Pair { b: None, .. } => "gone",
        Pair { way: Way::Renamed, .. } => "renamed",
        Pair { way: Way::Mapped, .. } => "mapped",
        Pair { .. } => "",
    }
}

/// All pairs with their depth, each below the pair of its caller; what both sides have goes where B calls it.
fn preorder(matching: &Matching, caller: impl Fn(usize, usize) -> Option<usize>) -> Vec<(usize, usize)> {
    let parent = |pair: &Pair| {
        let (side, call) = pair.b.map(|call| (1, call)).or(pair.a.map(|call| (0, call)))?;
        caller(side, call).map(|caller| matching.of[side][caller])
    };
    let mut callees: Vec<Vec<usize>> = vec![Vec::new(); matching.pairs.len()];
    let mut open = Vec::new();
    // From the last on, as the next is taken from the end.
    for (at, pair) in matching.pairs.iter().enumerate().rev() {
        match parent(pair).filter(|&parent| parent != at) {
            Some(parent) => callees[parent].push(at),
            None => open.push((at, 0)),
        }
    }
    let mut all = Vec::with_capacity(matching.pairs.len());
    while let Some((at, depth)) = open.pop() {
        all.push((at, depth));
        open.extend(callees[at].iter().map(|&callee| (callee, depth + 1)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callees_follow_their_callers() {
        let pair = |a, b| Pair { a, b, way: Way::Same };
        // main of both; f of both; g of A alone, below f; h of B alone, below main.
        let matching = Matching {
            pairs: vec![
                pair(Some(0), Some(0)),
                pair(Some(1), Some(2)),
                pair(Some(2), None),
                pair(None, Some(1)),
            ],
            of: [vec![0, 1, 2], vec![0, 3, 1]],
            ..Matching::default()
        };
        let callers = [[None, Some(0), Some(1)], [None, Some(0), Some(0)]];
        let order = preorder(&matching, |side, call| callers[side][call]);
        assert_eq!(order, [(0, 0), (1, 1), (2, 2), (3, 1)]);
    }
}
