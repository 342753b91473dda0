//! Goes through rows of a table and gathers what its rules ask for (advice 5.3).

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::Type;
use crate::code::Code;
use crate::gathered::{Gathered, class, fixed, widen};
use crate::machine::{Block, Bound, Machine};
use crate::program::{Place, Program};
use crate::rows::{ABSENT, ABSENT_FLAG, BLOCK, Rows, Run, Values};
use crate::rule::{Over, Rule, Rules};
use crate::schema::{Column, Names};
use crate::site::{Site, can_hold};
use crate::template::whole;
use crate::totals::{RuleTotals, Totals};

/// Goes through rows of a table for all rules over it.
#[derive(Debug)]
pub struct Scanner<'r> {
    columns: &'r [Column],
    run: Run,
    rules: Vec<OfRule<'r>>,
    machine: Machine,
    /// Positions of rows that fulfil `where`.
    chosen: Vec<usize>,
    /// For each of them its group.
    groups: Vec<usize>,
}

/// A rule with its programs.
#[derive(Debug)]
struct OfRule<'r> {
    position: usize,
    rule: &'r Rule,
    /// Columns without which no row can be chosen.
    needs: BTreeSet<usize>,
    filter: Option<Bound<'r>>,
    /// For each aggregate of its input and its weight.
    inputs: Vec<(Bound<'r>, Option<Bound<'r>>)>,
    /// For each group and aggregate the rank of the last row, and whether it fulfilled the condition.
    series: FxHashMap<(usize, usize), (i64, bool)>,
}

impl<'r> OfRule<'r> {
    fn new(position: usize, rule: &'r Rule, run: &Run) -> OfRule<'r> {
        let bind = |program: &'r Program| Bound::new(program, run);
        let inputs =
            rule.programs.inputs.iter().map(|(input, weight)| (bind(input), weight.as_ref().map(bind)));
        OfRule {
            position,
            rule,
            needs: rule.filter.iter().flat_map(Code::columns).collect(),
            filter: rule.programs.filter.as_ref().map(bind),
            inputs: inputs.collect(),
            series: FxHashMap::default(),
        }
    }

    fn programs(&mut self) -> impl Iterator<Item = &mut Bound<'r>> {
        let inputs = self.inputs.iter_mut().flat_map(|(input, weight)| [Some(input), weight.as_mut()]);
        self.filter.iter_mut().chain(inputs.flatten())
    }
}

impl Rules {
    /// Makes ready to go through a table. Rows of one rank must come in their order, and those of different ranks one rank
    /// after the other, as far as rules use `series`.
    #[must_use]
    pub fn scanner(&self, over: Over, run: &Run) -> Scanner<'_> {
        let table = &self.schema.tables[over.table];
        let rules = self.rules.iter().enumerate().filter(|(_, rule)| rule.over == over);
        let mut rules: Vec<OfRule<'_>> =
            rules.map(|(position, rule)| OfRule::new(position, rule, run)).collect();
        let mut machine = Machine::new();
        machine.share(rules.iter_mut().flat_map(OfRule::programs));
        Scanner {
            columns: &table.columns,
            run: run.clone(),
            rules,
            machine,
            chosen: Vec::with_capacity(BLOCK),
            groups: Vec::with_capacity(BLOCK),
        }
    }
}

impl Scanner<'_> {
    /// Rules whose `where` may hold for rows of a call site, by their positions in [`Rules::rules`]: it is worked out as far
    /// as it depends on what is known of the site.
    #[must_use]
    pub fn rules_at(&self, site: &Site<'_>, names: &dyn Names) -> Vec<usize> {
        let may_hold = |of_rule: &&OfRule<'_>| match &of_rule.rule.filter {
            Some(filter) => can_hold(filter, site, &self.run, names),
            None => true,
        };
        self.rules.iter().filter(may_hold).map(|of_rule| of_rule.position).collect()
    }

    /// Adds rows to the totals, of all rules or, if all rows are of one call site, of `only` those that [`Scanner::rules_at`]
    /// has found.
    ///
    /// # Panics
    /// If a column is missing in the list, has too few values, or ones of another type.
    pub fn add(&mut self, rows: Rows<'_>, only: Option<&[usize]>, names: &dyn Names, totals: &mut Totals) {
        check(self.columns, rows);
        for from in (0..rows.count).step_by(BLOCK) {
            let block = Block { columns: rows.columns, from, count: BLOCK.min(rows.count - from) };
            self.machine.forget();
            for of_rule in &mut self.rules {
                let totals = &mut totals.rules[of_rule.position];
                if totals.has_too_many || only.is_some_and(|only| !only.contains(&of_rule.position)) {
                    continue;
                }
                for &column in &of_rule.needs {
                    if matches!(block.columns[column], Values::Missing) {
                        totals.lacks = Some(totals.lacks.map_or(column, |lacks| lacks.min(column)));
                    }
                }
                choose(&mut self.machine, of_rule, block, names, &mut self.chosen);
                if !self.chosen.is_empty() {
                    find_groups(of_rule.rule, block, &self.chosen, &mut self.groups, totals);
                    gather(&mut self.machine, of_rule, block, names, (&self.chosen, &self.groups), totals);
                }
            }
        }
    }
}

/// Checks that columns are what the caller has said about them.
fn check(columns: &[Column], rows: Rows<'_>) {
    assert_eq!(columns.len(), rows.columns.len(), "a list of values for each column of the table");
    for (column, values) in columns.iter().zip(rows.columns) {
        let (length, fits) = match values {
            Values::Whole(values) => (values.len(), column.kind.is_whole() && column.kind != Type::Bool),
            Values::Numbers(values) => (values.len(), !column.kind.is_whole()),
            Values::Flags(values) => (values.len(), column.kind == Type::Bool),
            Values::Missing => (rows.count, true),
        };
        assert!(fits, "values of column {} are of another type than {}", column.name, column.kind);
        assert_eq!(length, rows.count, "as many values of column {} as rows", column.name);
    }
}

/// Finds the rows that fulfil `where`.
fn choose(
    machine: &mut Machine,
    of_rule: &mut OfRule<'_>,
    block: Block<'_>,
    names: &dyn Names,
    chosen: &mut Vec<usize>,
) {
    chosen.clear();
    let Some(filter) = &mut of_rule.filter else {
        chosen.extend(0..block.count);
        return;
    };
    let (true, Place::Flags(register)) = (machine.run(filter, block, names), filter.program.result) else {
        return;
    };
    let flags = &machine.flags[register][..block.count];
    chosen.extend(flags.iter().enumerate().filter(|(_, flag)| **flag == 1).map(|(row, _)| row));
}

/// Finds the group of each chosen row, and counts the row there.
fn find_groups(
    rule: &Rule,
    block: Block<'_>,
    chosen: &[usize],
    groups: &mut Vec<usize>,
    totals: &mut RuleTotals,
) {
    groups.clear();
    let mut keys = vec![0; rule.by.len()];
    // Rows that follow each other are often of one group.
    let mut last: Option<usize> = None;
    for &row in chosen {
        let mut is_same = last.is_some();
        for (key, &column) in keys.iter_mut().zip(&rule.by) {
            let value = match block.columns[column] {
                Values::Whole(values) => values[block.from + row],
                Values::Flags(values) if values[block.from + row] < ABSENT_FLAG => {
                    i64::from(values[block.from + row])
                }
                _ => ABSENT,
            };
            is_same &= *key == value;
            *key = value;
        }
        if !is_same {
            last = totals.group(rule, &keys);
        }
        let Some(group) = last else {
            groups.clear();
            return;
        };
        totals.groups[group].rows += 1;
        groups.push(group);
    }
}

/// Adds values of the chosen rows to their groups.
fn gather(
    machine: &mut Machine,
    of_rule: &mut OfRule<'_>,
    block: Block<'_>,
    names: &dyn Names,
    (chosen, groups): (&[usize], &[usize]),
    totals: &mut RuleTotals,
) {
    let (mut numbers, mut weights) = (Vec::with_capacity(chosen.len()), Vec::new());
    for (position, (input, weight)) in of_rule.inputs.iter_mut().enumerate() {
        if totals.has_too_many {
            return;
        }
        let aggregate = &of_rule.rule.aggregates[position];
        if let (Some(weight), Some(code)) = (weight, &aggregate.weight) {
            machine.run(weight, block, names);
            let kind = code.kind().kind;
            machine.numbers_at(weight.program.result, chosen, &weight.constants, &mut numbers);
            weights.clear();
            weights.extend(
                numbers.iter().map(|&weight| if weight.is_finite() { fixed(weight, kind) } else { 0 }),
            );
        }
        machine.run(input, block, names);
        machine.numbers_at(input.program.result, chosen, &input.constants, &mut numbers);
        let kind = aggregate.input.kind().kind;
        let rank_of = |at: usize| match of_rule.rule.rank.map(|rank| block.columns[rank]) {
            Some(Values::Whole(ranks)) => ranks[block.from + chosen[at]],
            _ => ABSENT,
        };
        let mut listed = 0;
        let mut end = 0;
        // Rows that follow each other are often of one group, and in it of one value.
        for of_group in groups.chunk_by(|one, next| one == next) {
            let (group, begin) = (of_group[0], end);
            end += of_group.len();
            let of_rows = &numbers[begin..end];
            // What is absent is left out; so is what has become larger than any number.
            let present = of_rows.iter().copied().filter(|value| value.is_finite());
            let by_row = (begin..).zip(of_rows.iter().copied()).filter(|(_, value)| value.is_finite());
            match &mut totals.groups[group].gathered[position] {
                Gathered::Sum { sum, count } => {
                    let (more, rows) = sum_of(present, kind);
                    *sum = sum.wrapping_add(more);
                    *count += rows;
                }
                Gathered::Extremes(extremes) => present.for_each(|value| widen(extremes, value)),
                Gathered::Share { yes, count } => {
                    for value in present {
                        *yes += u64::from(value == 1.0);
                        *count += 1;
                    }
                }
                Gathered::Distinct(values) => {
                    let mut recent = Recent::default();
                    for value in present.map(whole).filter(|&value| recent.is_new(value)) {
                        listed += usize::from(values.insert(value));
                    }
                }
                Gathered::Most(sums) => {
                    let before = sums.len();
                    let weighed = by_row.map(|(at, value)| (whole(value), weights[at]));
                    in_runs(weighed, i128::wrapping_add, |value, weight| {
                        let sum = sums.entry(value).or_default();
                        *sum = sum.wrapping_add(weight);
                    });
                    listed += sums.len() - before;
                }
                Gathered::Histogram(classes) => {
                    in_runs(
                        present.map(|value| (class(value), 1)),
                        |one, more| one + more,
                        |class, count| {
                            *classes.entry(class).or_default() += count;
                        },
                    );
                }
                Gathered::Series { yes, runs } => {
                    let mut last = of_rule.series.get(&(group, position)).copied();
                    for (at, value) in by_row {
                        let (rank, fulfils) = (rank_of(at), value == 1.0);
                        *yes += u64::from(fulfils);
                        *runs += u64::from(fulfils && last != Some((rank, true)));
                        last = Some((rank, fulfils));
                    }
                    of_rule.series.extend(last.map(|last| ((group, position), last)));
                }
            }
        }
        totals.count_listed(listed);
    }
}

/// The sum of values as integers, and how many there are.
fn sum_of(values: impl Iterator<Item = f64>, kind: Type) -> (i128, u64) {
    values.fold((0i128, 0), |(sum, count), value| (sum.wrapping_add(fixed(value, kind)), count + 1))
}

/// Values that have come a short time ago, one for each of their last digits: most rows have values that others had before.
#[derive(Default)]
struct Recent([Option<i64>; 8]);

impl Recent {
    /// Whether a value is none of those that are remembered; it is from now on.
    // The remainder is from 0 to 7.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn is_new(&mut self, value: i64) -> bool {
        self.0[value.rem_euclid(8) as usize].replace(value) != Some(value)
    }
}

/// Gives what is equal and follows each other once, with the sum of what belongs to it.
fn in_runs<K: PartialEq, S>(
    mut items: impl Iterator<Item = (K, S)>,
    add: impl Fn(S, S) -> S,
    mut give: impl FnMut(K, S),
) {
    let Some((mut key, mut sum)) = items.next() else { return };
    for (next, more) in items {
        if next == key {
            sum = add(sum, more);
        } else {
            give(key, sum);
            (key, sum) = (next, more);
        }
    }
    give(key, sum);
}
