//! Rules over visits of regions and pairs of calls (advice 5.2): a halo exchange of a library, with work between its two calls and without.

use std::fmt::Write;

use details::advice::{AdviceFile, Advised, AdvisedEvidence};
use rules::Source;

use crate::support::advice::of_script;

/// The rule of the specification (advice 5.4), with all columns, and one over steps.
const RULES: &str = r#"format = 1
[[event]]
id = "halo"
begin = "halo_start*"
end = "halo_wait*"
match = "fifo"
[[event]]
id = "step"
region = "step"
[[event]]
id = "open"
begin = "halo_start"
end = ["nothing", "halo_end*"]
[[rule]]
id = "halo/no-overlap"
over = "pair:halo"
by = ["path"]
[rule.finds]
when = "sum(between) < 10 % * sum(waiting) and sum(waiting) >= 1 % * run.all"
severity = "sum(waiting)"
most = "edges"
claims = "waits"
change = "path"
title = "halo_wait follows halo_start at once"
advice = "Put work on inner cells between {path} and {most(end_path, waiting)}."
shows = ["count()", "sum(time)", "sum(waiting)", "sum(mpi)", "sum(bytes)", "sum(calls)", "sum(between)", "min(begin)", "max(end)", "max(end - begin)", "max(thread)", "distinct(rank)"]
[[rule]]
id = "halo/steps"
over = "visit:step"
where = 'matches(region, "step")'
by = ["path"]
[rule.finds]
when = "sum(waiting) >= 1 % * run.all"
severity = "sum(waiting)"
most = "edges"
change = "path"
title = "Steps wait"
advice = "{sum(waiting)} of {sum(time)}."
shows = ["count()", "sum(time)", "sum(waiting)", "sum(mpi)", "sum(bytes)", "sum(calls)", "min(begin)"]
[[event]]
id = "tagged"
begin = "tag_start"
end = "tag_end"
match = "parameter:tag"
[[rule]]
id = "halo/tagged"
over = "pair:tagged"
[rule.finds]
when = "count() > 0"
severity = "sum(time)"
most = "run.T"
change = "path"
title = "Tagged"
advice = "Tagged."
shows = ["count()", "min(time)", "max(time)", "sum(between)"]
[[rule]]
id = "halo/open"
over = "pair:open"
[rule.finds]
when = "count() > 0"
severity = "sum(waiting)"
change = "path"
title = "Never"
advice = "Never."
"#;

const STEPS: u64 = 10;

/// Three ranks in steps of 1000 ns, the first of which has most work in front of its sends; the others do so much between posting a
/// receive and waiting for it.
pub(crate) fn halo(between: u64) -> String {
    let mut script = String::from("program prog\n");
    for rank in 0..3 {
        write!(script, "rank {rank}\n 0 > main ; 0 > MPI_Init ; 10 <\n").unwrap();
        for step in 0..STEPS {
            let at = |time: u64| 100 + 1000 * step + time;
            let (a, b) = (2 * step, 2 * step + 1);
            let events = match rank {
                0 => format!(
                    " {} > step ; {} > work ; {} < ; {} > halo_start ; {} > MPI_Isend ; isend 1 bytes 64 req {a} ; {} <\n \
                     {} > MPI_Isend ; isend 2 bytes 64 req {b} ; {} < ; {} < ; {} > halo_wait\n \
                     {} > MPI_Waitall ; sent {a} ; sent {b} ; {} < ; {} < ; {} > MPI_Barrier ; begin",
                    at(0),
                    at(0),
                    at(700),
                    at(700),
                    at(704),
                    at(706),
                    at(707),
                    at(709),
                    at(712),
                    at(714),
                    at(716),
                    at(718),
                    at(720),
                    at(722)
                ),
                _ => format!(
                    " {} > step ; {} > halo_start ; {} > MPI_Irecv ; post {a} ; {} < ; {} < ; {} > halo_wait\n \
                     {} > MPI_Wait ; {} irecv 0 bytes 64 req {a} ; {} < ; {} < ; {} > MPI_Barrier ; begin",
                    at(0),
                    at(10),
                    at(12),
                    at(14),
                    at(16),
                    at(20 + between),
                    at(22 + between),
                    at(750),
                    at(760),
                    at(762),
                    at(980)
                ),
            };
            writeln!(script, "{events} ; {} end barrier ; {} < ; {} <", at(990), at(990), at(990)).unwrap();
        }
        let end = 200 + 1000 * STEPS;
        writeln!(script, " {end} > MPI_Finalize ; {} < ; {} <", end + 10, end + 10).unwrap();
    }
    script
}

/// The advice about a script with the rules.
fn events_of(script: &str) -> AdviceFile {
    of_script(script, &[Source::new("halo.toml", RULES)])
}

fn find<'a>(file: &'a AdviceFile, rule: &str) -> Option<&'a Advised> {
    file.advice.iter().find(|it| it.rule == rule)
}

/// What a rule shows; times in nanoseconds.
fn shown(found: &Advised) -> Vec<(&str, i64)> {
    let value = |name: &str, value: f64| match name {
        name if ["count", "bytes", "calls", "thread", "rank"].iter().any(|it| name.contains(it)) => value,
        _ => value * 1e9,
    };
    let of = |it: &AdvisedEvidence| value(&it.name, it.value.unwrap()).round() as i64;
    found.evidence.iter().map(|it| (it.name.as_str(), of(it))).collect()
}

#[test]
fn exchange_without_work_between_its_calls_is_found_with_all_that_is_in_it() {
    let file = events_of(&halo(0));
    let found = find(&file, "halo/no-overlap").unwrap();
    assert_eq!(found.place.path, "prog/main/step/halo_start");
    let text = "Put work on inner cells between prog/main/step/halo_start and prog/main/step/halo_wait.";
    assert_eq!(found.text, text);
    let steps = STEPS as i64;
    // Of each step what the sender adds to what the receivers have.
    let expected = [
        ("count()", 3 * steps),
        ("sum(time)", (20 + 2 * 752) * steps),
        ("sum(waiting)", (704 - 22 + 707 - 22) * steps),
        ("sum(mpi)", (6 + 2 * 740) * steps),
        ("sum(bytes)", (128 + 2 * 64) * steps),
        ("sum(calls)", (3 + 2 * 2) * steps),
        ("sum(between)", (2 + 2 * 4) * steps),
        // Since the end of MPI_Init.
        ("min(begin)", 100),
        ("max(end)", 90 + 1000 * (steps - 1) + 762),
        ("max(end - begin)", 752),
        ("max(thread)", 0),
        ("distinct(rank)", 3),
    ];
    assert_eq!(shown(found), expected);
}

#[test]
fn exchange_with_work_between_its_calls_is_not_found() {
    let file = events_of(&halo(300));
    assert!(find(&file, "halo/no-overlap").is_none());
    let also = file.advice.iter().flat_map(|it| &it.also).any(|also| also.rule == "halo/no-overlap");
    assert!(!also && find(&file, "halo/steps").is_some());
}

#[test]
fn visits_have_what_is_inside() {
    let file = events_of(&halo(0));
    let found = find(&file, "halo/steps").unwrap();
    let steps = STEPS as i64;
    let expected = [
        ("count()", 3 * steps),
        ("sum(time)", 3 * 990 * steps),
        ("sum(waiting)", (704 - 22 + 707 - 22 + 980 - 722) * steps),
        ("sum(mpi)", (6 + 268 + 2 * (740 + 10)) * steps),
        ("sum(bytes)", (128 + 2 * 64) * steps),
        ("sum(calls)", (3 + 2 * 2 + 3) * steps),
        ("min(begin)", 90),
    ];
    assert_eq!(shown(found), expected);
}

#[test]
fn rule_over_pairs_that_are_not_there_says_why() {
    let file = events_of(&halo(0));
    let found = file.not_evaluated.iter().find(|it| it.rule == "halo/open").unwrap();
    assert_eq!(found.why, "no pair of open: 30 begins without an end, 0 ends without a begin");
}

#[test]
fn pairs_of_a_parameter_are_those_with_its_value() {
    let mut script = String::from("program prog\n");
    for rank in 0..3 {
        write!(
            script,
            "rank {rank}\n 0 > main ; 0 > MPI_Init ; 10 <\n 10 > tag_start ; param other 3 ; param tag 1 ; 20 <\n \
             30 > tag_start ; param tag 2 ; param other 3 ; 40 <\n 60 > tag_end ; param tag 2 ; 70 <\n \
             100 > tag_end ; param tag 1 ; 110 < ; 120 > MPI_Finalize ; 130 < ; 130 <\n"
        )
        .unwrap();
    }
    let file = events_of(&script);
    let expected = [("count()", 6), ("min(time)", 40), ("max(time)", 100), ("sum(between)", 3 * (20 + 80))];
    assert_eq!(shown(find(&file, "halo/tagged").unwrap()), expected);
}
