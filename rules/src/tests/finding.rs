//! What rules find in rows, and what absent values do.

use super::{Known, add, filter, found, gathered, outcome, rule, rules, run, when};
use crate::{ABSENT, Outcome, Over, Scanner, Site, Type};

/// Five rows of collective operations: two call paths.
fn five() -> Vec<(&'static str, Vec<i64>)> {
    vec![
        ("operation", vec![3, 0, 3, 3, 0]),
        ("wait", vec![2_000, 10_000, 4_000, 6_000, ABSENT]),
        ("bytes", vec![8, 0, 8, 1024, 0]),
        ("last_rank", vec![1, 0, 1, 2, 3]),
        ("rank", vec![0, 0, 1, 1, 2]),
        ("path", vec![0, 1, 0, 0, 1]),
        ("region", vec![0, 1, 0, 0, 1]),
        ("next_region", vec![3, 2, 3, 3, 3]),
        ("previous_region", vec![3, 3, 3, 3, 2]),
    ]
}

/// How many of the five rows fulfil a condition.
#[track_caller]
fn rows(condition: &str) -> u64 {
    let outcome = found(&filter(condition), &five());
    outcome.findings.first().map_or(0, |finding| finding.rows)
}

/// Whether an expression of groups holds of all five rows as one group.
#[track_caller]
fn holds(condition: &str) -> bool {
    let text = rule("", &format!("when = '{condition}'\nseverity = '1 s'"));
    let outcome = found(&text, &five());
    assert!(outcome.not_evaluated.is_empty(), "{:?}", outcome.not_evaluated);
    !outcome.findings.is_empty()
}

#[test]
fn rows_are_chosen_by_comparisons_and_words() {
    assert_eq!(rows("wait > 2 ms"), 3);
    assert_eq!(rows("wait >= 2 ms and bytes < 1 KiB"), 3);
    assert_eq!(rows("not (wait >= 4 ms)"), 2);
    assert_eq!(rows("wait == 2 ms or rank == 2"), 2);
    assert_eq!(rows("wait + 1 ms > bytes / 8 B * 1 ms + 1 ms"), 3);
    assert_eq!(rows("(if bytes == 0 B then 1 s else wait) > 5 ms"), 3);
    assert_eq!(rows("abs(wait - 5 ms) < 2 ms"), 2);
    assert_eq!(rows("clamp(wait, 3 ms, 5 ms) == 5 ms"), 2);
    assert_eq!(rows("max(wait, 5 ms) == 5 ms and min(wait, 3 ms) < 3 ms"), 1);
    assert_eq!(rows("same(rank, last_rank)"), 2);
    assert_eq!(rows("run.ranks == 4"), 5);
    assert_eq!(rows("wait * 1000 >= run.T"), 1);
}

#[test]
fn rows_are_chosen_by_names() {
    assert_eq!(rows("operation == Barrier"), 2);
    assert_eq!(rows("operation != Barrier"), 3);
    assert_eq!(rows("operation in [Reduce, Allreduce]"), 3);
    assert_eq!(rows("region == \"MPI_Barrier\""), 2);
    assert_eq!(rows("\"MPI_Barrier\" != region"), 3);
    assert_eq!(rows("matches(region, \"MPI_*\")"), 5);
    assert_eq!(rows("matches(operation, \"*reduce\")"), 3);
    assert_eq!(rows("under(\"*/solve\")"), 3);
    assert_eq!(rows("next_to(\"MPI_File_*\")"), 2);
    assert_eq!(rows("not next_to(\"MPI_File_*\", \"relax\")"), 0);
    assert_eq!(rows("rank in [0, 2]"), 3);
}

#[test]
fn rows_inside_of_an_event_are_those_below_its_region() {
    let event = "[[event]]\nid = 'solving'\nregion = ['solve*', 'x']\n";
    let outcome = found(&(filter("inside(solving)") + event), &five());
    assert_eq!(outcome.findings[0].rows, 3);
}

#[test]
fn a_comparison_with_what_is_absent_is_false() {
    assert_eq!(rows("wait >= 0 s"), 4);
    assert_eq!(rows("wait < 0 s or wait != 2 ms"), 3);
    assert_eq!(rows("wait + 1 s > 0 s"), 4);
    assert_eq!(rows("not (wait > 0 s)"), 1);
    assert_eq!(rows("1 ms / wait >= 0 or 1 ms / wait < 0"), 4);
    assert_eq!(rows("1 B / bytes > 0"), 3);
    assert_eq!(rows("completion == completion"), 0);
}

#[test]
fn groups_have_what_their_functions_say() {
    assert!(holds("count() == 5"));
    assert!(holds("sum(wait) == 22 ms"));
    assert!(holds("mean(wait) == 5.5 ms"));
    assert!(holds("min(wait) == 2 ms and max(wait) == 10 ms"));
    assert!(holds("min(sum(wait), 1 ms) == 1 ms"));
    assert!(holds("share(bytes == 0 B) == 0.4"));
    assert!(holds("distinct(last_rank) == 4 and distinct(bytes) == 3"));
    assert!(holds("most(last_rank, wait) == 0"));
    assert!(holds("most(operation, bytes) == Allreduce"));
    assert!(holds("matches(most(region, wait), \"*reduce\")"));
    assert!(holds("quantile(bytes, 0.5) == 8 B and quantile(bytes, 0) == 0 B"));
    assert!(holds("abs(quantile(wait, 1) / 10 ms - 1) < 7 %"));
    assert!(holds("series(bytes > 0 B) == 1.5"));
    assert!(holds("run.library == \"relax\" and matches(run.library, \"r*\")"));
    assert!(!holds("count() == 4"));
}

#[test]
fn each_combination_of_keys_is_a_group_in_the_order_of_keys() {
    let outcome = found(&when("count() > 0"), &five());
    let groups: Vec<_> =
        outcome.findings.iter().map(|finding| (finding.keys.clone(), finding.rows)).collect();
    assert_eq!(groups, [(vec![0], 3), (vec![1], 2)]);
}

#[test]
fn severity_gain_and_confidence_are_values_of_the_group() {
    let finds = "when = 'count() > 0'\nseverity = 'waiting'\nmost = 'waiting / 2'\nconfidence = '0.5 + 0.25'";
    let outcome = found(&rule("[rule.let]\nwaiting = 'sum(wait)'", finds), &five());
    let finding = &outcome.findings[0];
    assert_eq!((finding.severity, finding.gain, finding.confidence), (22_000.0, Some(11_000.0), Some(0.75)));
}

#[test]
fn texts_are_filled_in() {
    let text = rule(
        "by = ['path']\n[rule.let]\nwaiting = 'sum(wait)'",
        "when = 'count() > 2'\nseverity = 'waiting'\nchange = 'path'\nshows = ['waiting', 'mean(bytes)', 'mean(completion)']",
    );
    let advice = "{path} at {line}: {waiting} ({waiting:ms}, {waiting / run.all:%}) in {count}, {mean(bytes)}, \
                  {most(last_rank, wait)}, {cause}, {{{mean(completion)}}} {count:1} {most(operation, wait)}";
    let outcome = found(&text.replace("\"a\"", &format!("\"{advice}\"")), &five());
    let finding = &outcome.findings[0];
    assert_eq!(finding.title, "t");
    assert_eq!(
        finding.advice,
        "main/solve/MPI_Allreduce at solver.c:10: 12.0 ms (12.0 ms, 0.0300 %) in 3, 347 B, rank 1, main/relax, \
         {unknown} 3.0 Allreduce"
    );
    let shown: Vec<_> =
        finding.shows.iter().map(|shown| (shown.label.as_str(), shown.text.as_str())).collect();
    assert_eq!(shown, [("waiting", "12.0 ms"), ("mean(bytes)", "347 B"), ("mean(completion)", "unknown")]);
    assert_eq!((finding.change, finding.cause, finding.shows[0].kind), (Some(0), Some(3), Type::Time));
}

#[test]
fn patterns_are_compared_with_whole_names_and_texts_have_shorter_ones() {
    struct Short;
    impl crate::Names for Short {
        fn name(&self, kind: Type, domain: u16, number: i64) -> Option<String> {
            Known.name(kind, domain, number)
        }
        fn printed(&self, kind: Type, domain: u16, number: i64) -> Option<String> {
            Some(format!("…{}", number + i64::from(domain) + i64::from(kind == Type::Path)))
        }
        fn line(&self, path: i64) -> Option<String> {
            Known.line(path)
        }
    }
    let rules = rules(&filter("under(\"main/solve\")").replace("\"a\"", "\"{most(path, wait)}\""));
    let totals = gathered(&rules, "collective", &five());
    let context = crate::Context { run: &run(), names: &Short, cause: &|_, _| None };
    let findings = rules.evaluate(&totals, &context).findings;
    assert_eq!((findings[0].rows, findings[0].advice.as_str()), (3, "…1"));
}

#[test]
fn a_function_without_parentheses_is_the_only_one_of_the_rule() {
    let text = when("series(bytes > 0 B) >= 1.5").replace("\"a\"", "\"{series:1}\"");
    assert_eq!(found(&text, &five()).findings[0].advice, "1.5");
}

#[test]
fn the_path_of_a_group_that_has_several_is_that_with_most_of_the_severity() {
    let finds = "when = 'count() > 0'\nseverity = 'sum(wait)'\nchange = 'path'";
    assert_eq!(found(&rule("", finds), &five()).findings[0].change, Some(0));
    let outcome = found(&rule("where = 'wait > 4 ms'", finds), &five());
    assert_eq!(outcome.findings[0].change, Some(1));
}

#[test]
fn protected_paths_are_left_out() {
    let text = rule("protects = ['*/solve']", "when = 'count() > 0'\nseverity = 'sum(wait)'");
    assert_eq!(found(&text, &five()).findings[0].rows, 2);
    let text = text.replace("protects", "where = 'wait > 0 s'\nprotects");
    assert_eq!(found(&text, &five()).findings[0].rows, 1);
}

#[track_caller]
fn reason(outcome: &Outcome) -> &str {
    assert!(outcome.findings.is_empty());
    assert_eq!(outcome.not_evaluated.len(), 1);
    &outcome.not_evaluated[0].reason
}

#[test]
fn a_rule_whose_condition_needs_what_is_absent_is_not_evaluated() {
    assert_eq!(reason(&found(&when("run.wait_bound > 1 s"), &five())), "run.wait_bound is not there");
    assert_eq!(reason(&found(&when("count() / distinct(rank) / 0 > 1"), &five())), "a division by zero");
    assert_eq!(
        reason(&found(&when("mean(completion) > 1 s"), &five())),
        "mean of completion, which no row has"
    );
    assert_eq!(reason(&found(&when("mean(wait / (bytes / 1 B) / 0) < 0 s"), &five())), "mean of no rows");
    assert_eq!(reason(&found(&filter("completion > 1 s"), &five())), "completion is not there");
}

#[test]
fn what_the_condition_does_not_need_may_be_absent() {
    let absent = "run.wait_bound > 1 s";
    assert_eq!(found(&when(&format!("{absent} or count() > 0")), &five()).findings.len(), 2);
    let outcome = found(&when(&format!("{absent} and count() > 9")), &five());
    assert!(outcome.findings.is_empty() && outcome.not_evaluated.is_empty());
    assert_eq!(
        found(&when(&format!("if count() > 0 then true_ else {absent}").replace("true_", "1 == 1")), &five())
            .findings
            .len(),
        2
    );
}

#[test]
fn a_row_that_is_a_group_gives_its_columns() {
    let text = rule("", "when = 'cost > 1 s and static_share >= 0.6 and not serial'\nseverity = 'cost'\nmost = 'work'\nchange = 'path'")
        .replace("collective", "culprit")
        .replace("\"a\"", "\"{ranks.most} spends {ranks.ratio} times the mean, {cost_by(late_sender)} of it\"");
    let rules = rules(&text);
    let given = [
        ("path", vec![3, 2, 0]),
        ("cost", vec![2_000_000, 3_000_000, 4_000_000]),
        ("cost_by(late_sender)", vec![1_000_000, 0, 0]),
        ("static_share", vec![99, 10, 99]),
        ("ranks.most", vec![2, 0, 0]),
        ("ranks.ratio", vec![150, 100, 100]),
        ("serial", vec![0, 0, 1]),
    ];
    let outcome = outcome(&rules, &gathered(&rules, "culprit", &given));
    assert_eq!(outcome.findings.len(), 1);
    assert_eq!(outcome.findings[0].change, Some(3));
    assert_eq!(outcome.findings[0].advice, "rank 2 spends 1.50 times the mean, 1.00 s of it");
    assert!(outcome.not_evaluated.is_empty());
}

#[test]
fn a_rule_with_too_many_groups_is_dropped_whole() {
    let rules = rules(&when("count() > 0").replace("path", "rank"));
    let ranks = |count: i64| vec![("rank", (0..count).collect::<Vec<_>>())];
    let totals = gathered(&rules, "collective", &ranks(65_536));
    assert_eq!(outcome(&rules, &totals).findings.len(), 65_536);
    let totals = gathered(&rules, "collective", &ranks(65_537));
    assert_eq!(outcome(&rules, &totals), Outcome { with_too_many_groups: vec![0], ..Outcome::default() });
}

#[test]
fn blocks_end_anywhere_without_an_influence() {
    let rules = rules(&when("sum(wait) == 4999950000 * 1 us and count() == 100000"));
    let given = [("wait", (0..100_000).collect()), ("path", vec![0; 100_000])];
    assert_eq!(outcome(&rules, &gathered(&rules, "collective", &given)).findings.len(), 1);
}

/// A scanner of the table that the only rule is over.
fn scanner(rules: &crate::Rules) -> Scanner<'_> {
    rules.scanner(rules.rules()[0].over(), &run())
}

#[track_caller]
fn may_hold(condition: &str) -> bool {
    let rules = rules(&filter(condition));
    // The operation is Barrier, the path main/MPI_Barrier, no region is known.
    let site = Site { values: &[(0, 0), (8, 1), (9, ABSENT)] };
    !scanner(&rules).rules_at(&site, &Known).is_empty()
}

#[test]
fn conditions_that_cannot_hold_at_a_site_are_known_before_its_rows() {
    assert!(may_hold("operation == Barrier") && !may_hold("operation == Bcast"));
    assert!(may_hold("wait > 1 s") && may_hold("operation == Barrier and wait > 1 s"));
    assert!(!may_hold("operation != Barrier and wait > 1 s"));
    assert!(may_hold("operation != Barrier or wait > 1 s"));
    assert!(!may_hold("under(\"*/solve\")") && may_hold("not under(\"*/solve\")"));
    assert!(
        !may_hold("region == \"x\"") && !may_hold("region != \"x\"") && may_hold("not (region == \"x\")")
    );
    assert!(!may_hold("(if operation == Barrier then run.T else wait) < 1 s"));
    assert!(!may_hold("run.wait_bound > 1 s"));
}

#[test]
fn columns_that_are_read_are_known_and_which_of_them_are_of_the_site() {
    let text = rule(
        "where = 'operation == Barrier and wait > 1 s'\nby = ['path']",
        "when = 'sum(bytes) > 1 B'\nseverity = '1 s'",
    );
    let rules = rules(&text);
    let over = rules.rules()[0].over();
    assert_eq!(rules.columns(over), [0, 1, 3, 8]);
    assert_eq!(rules.columns_of_site(over), [0]);
}

#[test]
fn rules_that_are_left_out_at_a_site_gather_nothing() {
    let rules = rules(&when("count() > 0"));
    let mut totals = rules.totals();
    add(&rules, Over { table: 0, event: None }, &five(), &mut totals);
    assert_eq!(totals.groups(0), 2);
    let mut none = rules.totals();
    let columns = vec![crate::Values::Missing; 11];
    scanner(&rules).add(crate::Rows { count: 5, columns: &columns }, Some(&[]), &Known, &mut none);
    assert_eq!(none.groups(0), 0);
}

#[test]
#[should_panic(expected = "values of column wait are of another type than time")]
fn values_of_another_type_are_an_error_of_the_caller() {
    let rules = rules(&filter("wait > 0 s"));
    let mut columns = vec![crate::Values::Missing; 11];
    columns[1] = crate::Values::Numbers(&[1.0]);
    scanner(&rules).add(crate::Rows { count: 1, columns: &columns }, None, &Known, &mut rules.totals());
}
