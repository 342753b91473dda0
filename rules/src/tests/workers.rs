//! Totals of workers: no order, no cut and no exchange has an influence.

use proptest::prelude::*;

use super::{Known, add, filter, outcome, read, rule, rules, run};
use crate::{ABSENT, Malformed, Over, Rules, Site, Totals};

const OVER: Over = Over { table: 0, event: None };

/// A rule with each kind of aggregate; values of numbers are not whole.
fn all() -> Rules {
    let lets = "by = ['path', 'operation']\n[rule.let]\na = 'mean(wait / 3)'\nb = 'max(wait) - min(wait)'\n\
                c = 'share(bytes > 9 B)'\nd = 'distinct(last_rank)'\ne = 'most(last_rank, bytes / 1 B / 7)'\n\
                f = 'quantile(wait, 0.3)'\ng = 'series(wait > 50 us)'\nh = 'sum(wait / 7 us)'\ni = 'most(rank, wait)'";
    let shows = "shows = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']";
    rules(&rule(lets, &format!("when = 'count() > 0'\nseverity = 'sum(wait)'\n{shows}")))
}

/// A row: rank, path, operation, wait, bytes, last rank.
type Row = (i64, i64, i64, i64, i64, i64);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let wait = prop_oneof![1 => Just(ABSENT), 9 => 0i64..100];
    let row = (0i64..4, 0i64..3, 0i64..2, wait, 0i64..20, 0i64..4);
    // Rows of one rank follow each other.
    proptest::collection::vec(row, 0..60).prop_map(|mut rows| {
        rows.sort_by_key(|row| row.0);
        rows
    })
}

fn totals(rules: &Rules, rows: &[Row]) -> Totals {
    let column = |of: fn(&Row) -> i64| rows.iter().map(of).collect::<Vec<i64>>();
    let given = [
        ("rank", column(|row| row.0)),
        ("path", column(|row| row.1)),
        ("operation", column(|row| row.2)),
        ("wait", column(|row| row.3)),
        ("bytes", column(|row| row.4)),
        ("last_rank", column(|row| row.5)),
    ];
    let mut totals = rules.totals();
    add(rules, OVER, &given, &mut totals);
    totals
}

/// Conditions about columns that rows of these tests have, of no more steps than a rule may have.
fn conditions() -> impl Strategy<Value = String> {
    nested().prop_filter("a condition of many steps", |condition| read(&filter(condition)).is_ok())
}

fn nested() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (0i64..100).prop_map(|limit| format!("wait > {limit} us")),
        (0i64..100).prop_map(|limit| format!("{limit} us != wait")),
        (0i64..20).prop_map(|limit| format!("bytes / 3 B <= {limit}.5")),
        (0i64..4).prop_map(|rank| format!("rank == {rank}")),
        Just("rank != last_rank".to_owned()),
        Just("operation == Bcast".to_owned()),
        Just("operation in [Reduce, Barrier]".to_owned()),
        Just("under(\"*/solve\")".to_owned()),
        Just("max(wait, 20 us) - abs(5 us - wait) < clamp(wait, 10 us, 30 us) * 2".to_owned()),
        Just("wait / (bytes / 1 B) >= 0 s".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) and ({b}))")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) or not ({b}))")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(({a}) == ({b}))")),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("(if {a} then {b} else {c})")),
        ]
    })
}

proptest! {
    #[test]
    fn rows_that_are_chosen_are_those_whose_site_would_allow_it_if_all_were_known(
        condition in conditions(), rows in rows()
    ) {
        let rules = rules(&filter(&condition));
        let chosen = totals(&rules, &rows);
        let scanner = rules.scanner(OVER, &run());
        let fulfils = |row: &&Row| {
            let values = [(7, row.0), (8, row.1), (0, row.2), (1, row.3), (3, row.4), (4, row.5)];
            !scanner.rules_at(&Site { values: &values }, &Known).is_empty()
        };
        let expected = rows.iter().filter(fulfils).count();
        let count = chosen.rules[0].groups.first().map_or(0, |group| group.rows);
        prop_assert_eq!(count, u64::try_from(expected).unwrap(), "{}", condition);
    }

    #[test]
    fn a_site_never_rules_out_what_a_row_fulfils(condition in conditions(), rows in rows()) {
        let rules = rules(&filter(&condition));
        let scanner = rules.scanner(OVER, &run());
        for row in rows {
            let chosen = totals(&rules, &[row]).groups(0) > 0;
            let may_hold = !scanner.rules_at(&Site { values: &[(8, row.1), (0, row.2)] }, &Known).is_empty();
            prop_assert!(may_hold || !chosen, "{}", condition);
        }
    }

    #[test]
    fn a_rule_finds_the_same_beside_others(one in conditions(), other in conditions(), rows in rows()) {
        let text = |id: &str, condition: &str| filter(condition).replace("a/b", id).replace("format = 1\n", "");
        let all = rules(&format!("format = 1\n{}{}{}", text("a/b", &one), text("a/c", &other), text("a/d", &one)));
        let (alone, beside) = (totals(&rules(&filter(&one)), &rows), totals(&all, &rows));
        prop_assert_eq!(&beside.rules[0], &alone.rules[0]);
        prop_assert_eq!(&beside.rules[2], &alone.rules[0]);
        prop_assert_eq!(&beside.rules[1], &totals(&rules(&filter(&other)), &rows).rules[0]);
    }

    #[test]
    fn any_ranks_at_any_workers_in_any_order_make_the_same_words(
        rows in rows(), workers in proptest::collection::vec(0usize..3, 4), order in Just([0, 1, 2]).prop_shuffle()
    ) {
        let rules = all();
        let whole = totals(&rules, &rows);
        let of_worker = |worker: usize| -> Vec<Row> {
            rows.iter().copied().filter(|row| workers[usize::try_from(row.0).unwrap()] == worker).collect()
        };
        let mut merged = rules.totals();
        for worker in order {
            merged.merge(totals(&rules, &of_worker(worker)));
        }
        prop_assert_eq!(whole.to_words(), merged.to_words());
        prop_assert_eq!(&whole, &merged);
        prop_assert_eq!(outcome(&rules, &whole), outcome(&rules, &merged));
    }

    #[test]
    fn totals_that_are_written_are_read_again(rows in rows()) {
        let rules = all();
        let totals = totals(&rules, &rows);
        prop_assert_eq!(rules.totals_from_words(&totals.to_words()), Ok(totals));
    }

    #[test]
    fn any_words_are_totals_or_refused(mut words in proptest::collection::vec(any::<u64>(), 0..60), small in 0u64..5) {
        for word in words.iter_mut().step_by(2) {
            *word %= 8;
        }
        words.splice(0..0, [0, 0, small]);
        let _ = all().totals_from_words(&words);
    }

    #[test]
    fn words_that_are_changed_are_no_reason_to_panic(rows in rows(), at in any::<prop::sample::Index>(), to in any::<u64>()) {
        let rules = all();
        let mut words = totals(&rules, &rows).to_words();
        let at = at.index(words.len());
        words[at] = to;
        let _ = rules.totals_from_words(&words);
    }
}

#[test]
fn words_of_other_rules_are_refused() {
    assert_eq!(all().totals_from_words(&[]), Err(Malformed));
    assert_eq!(all().totals_from_words(&[2, 0, 0]), Err(Malformed));
    assert_eq!(all().totals_from_words(&[0, 0, 0, 0]), Err(Malformed));
    assert_eq!(all().totals_from_words(&[0, 0, 0]), Ok(all().totals()));
    assert!(Malformed.to_string().contains("no totals"));
}

#[test]
fn too_many_groups_of_all_workers_are_too_many() {
    let rules = rules(&rule("by = ['rank']", "when = 'count() > 0'\nseverity = 'sum(wait)'"));
    let of = |ranks: std::ops::Range<i64>| {
        let mut totals = rules.totals();
        add(&rules, OVER, &[("rank", ranks.collect())], &mut totals);
        totals
    };
    let mut one = of(0..40_000);
    one.merge(of(30_000..65_536));
    assert_eq!(one.groups(0), 65_536);
    one.merge(of(65_536..65_537));
    assert_eq!(one.groups(0), 0);
    one.merge(of(0..5));
    assert_eq!(outcome(&rules, &one).with_too_many_groups, [0]);
    assert_eq!(one, of(0..65_537));
}
