//! The examples of the specification (advice 5.4), each in a made-up run that has what it is for, and in one that has not; and what rows of
//! messages have.

use std::collections::BTreeSet;
use std::fmt::Write;

use details::advice::AdviceFile;
use rules::Source;

use crate::advice_events::halo;
use crate::support::advice::{of_script, run};

const EXAMPLES: &str = include_str!("rules/examples.toml");

const STEPS: u64 = 10;

/// Four ranks that work and meet at a barrier, in front of which they call something; `is_late` says whose work is twice as long in a step.
fn at_barriers(call: Option<&str>, is_late: impl Fn(u64, u64) -> bool) -> String {
    run(4, (STEPS, 1700), |rank, step, begin| {
        rank.work("relax", if is_late(rank.number, step) { 1600 } else { 800 });
        call.iter().for_each(|call| rank.work(call, 10));
        rank.barrier(begin + 1640);
    })
}

/// Two ranks that work, send to each other, and receive; in turn one of them works longer.
fn exchange() -> String {
    run(2, (STEPS, 180), |rank, step, begin| {
        let other = 1 - rank.number;
        rank.work("relax", if (rank.number + step) % 2 == 0 { 160 } else { 100 });
        let sent = rank.now + 2;
        rank.call("MPI_Isend", [&format!("isend {other} bytes 64 req {step}"), ""], sent);
        rank.call("MPI_Recv", ["", &format!("recv {other} bytes 64")], begin + 170);
        rank.call("MPI_Wait", ["", &format!("sent {step}")], begin + 175);
    })
}

/// Rank 0 sends to rank 1 only, after more work.
fn one_way() -> String {
    run(2, (STEPS, 180), |rank, step, begin| {
        if rank.number == 0 {
            rank.work("relax", 160);
            rank.call("MPI_Isend", [&format!("isend 1 bytes 64 req {step}"), ""], begin + 162);
            rank.call("MPI_Wait", ["", &format!("sent {step}")], begin + 170);
        } else {
            rank.work("relax", 100);
            rank.call("MPI_Recv", ["", "recv 0 bytes 64"], begin + 170);
        }
    })
}

/// What rank 1 does before it sends to rank 0: it sends another message, whose receiver comes late or which takes long, or it works.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    LateReceiver,
    LongSend,
    Work,
}

fn behind(before: Before) -> String {
    run(3, (STEPS, 1100), |rank, step, begin| {
        let bytes = if before == Before::LongSend { 2000 } else { 100_000 };
        match rank.number {
            0 => {
                rank.call("MPI_Recv", ["", "recv 1 bytes 64"], begin + 514);
                rank.work("relax", 500);
            }
            1 => {
                if before == Before::Work {
                    rank.work("relax", 510);
                } else {
                    let other = format!("isend 2 bytes {bytes} req {}", 2 * step);
                    rank.call("MPI_Isend", [&other, ""], begin + 2);
                    rank.call("MPI_Wait", ["", &format!("sent {}", 2 * step)], begin + 510);
                }
                rank.within("pass_on", |rank| {
                    let small = format!("isend 0 bytes 64 req {}", 2 * step + 1);
                    rank.call("MPI_Isend", [&small, ""], begin + 512);
                });
                rank.call("MPI_Wait", ["", &format!("sent {}", 2 * step + 1)], begin + 516);
            }
            _ => {
                if before == Before::LateReceiver {
                    rank.work("relax", 500);
                }
                if before != Before::Work {
                    rank.call("MPI_Recv", ["", &format!("recv 1 bytes {bytes}")], begin + 508);
                }
            }
        }
        rank.barrier(begin + 1020);
    })
}

/// Rank 0 sends many small messages, so many in a row to each of two ranks in turn.
fn small(in_a_row: u64) -> String {
    run(3, (1200, 25), |rank, step, begin| {
        let receiver = 1 + step / in_a_row % 2;
        if rank.number == 0 {
            rank.call("MPI_Send", [&format!("send {receiver} bytes 8"), ""], begin + 20);
        } else if rank.number == receiver {
            rank.call("MPI_Recv", ["", "recv 0 bytes 8"], begin + 21);
        }
    })
}

/// Four ranks that work, after one or all of them have written.
fn writing(writers: u64) -> String {
    run(4, (STEPS, 1100), |rank, _, begin| {
        if rank.number < writers {
            rank.work("ourio_write", 600);
        }
        rank.work("relax", 400);
        rank.barrier(begin + 1010);
    })
}

/// Four ranks, of which one is late at reductions in a function.
fn solving(function: &str) -> String {
    run(4, (STEPS, 1700), |rank, _, begin| {
        rank.work("relax", if rank.number == 2 { 1600 } else { 800 });
        rank.within(function, |rank| {
            rank.call("MPI_Allreduce", ["begin", "end allreduce sent 8 received 8"], begin + 1640);
        });
    })
}

/// Four ranks that work one after the other, each once it has a message of the one before.
fn chain() -> String {
    run(4, (STEPS, 1000), |rank, step, begin| {
        let mine = begin + 210 * rank.number;
        if rank.number > 0 {
            rank.call("MPI_Recv", ["", &format!("recv {} bytes 64", rank.number - 1)], mine);
        }
        rank.work("relax", 200);
        if rank.number < 3 {
            rank.call("MPI_Send", [&format!("send {} bytes 64 tag {step}", rank.number + 1), ""], mine + 205);
        }
    })
}

/// The advice with some rules and none of the program.
fn with_rules(script: &str, rules: &str) -> AdviceFile {
    let mut off = String::from("format = 1\n");
    for rule in replay::advice::rules(&[]).unwrap().rules() {
        write!(off, "[set.\"{}\"]\noff = true\n", rule.id()).unwrap();
    }
    of_script(script, &[Source::new("rules.toml", rules), Source::new("off.toml", &*off)])
}

/// Rules that have found something, be it said by itself or below another one.
fn found(file: &AdviceFile) -> BTreeSet<&str> {
    let all = file.advice.iter().map(|it| it.rule.as_str());
    all.chain(file.advice.iter().flat_map(|it| it.also.iter().map(|also| also.rule.as_str()))).collect()
}

/// The text of an example about a run.
fn text(script: &str, example: &str) -> String {
    let file = with_rules(script, EXAMPLES);
    let advised = file.advice.iter().find(|it| it.rule == example);
    advised.unwrap_or_else(|| panic!("{example}: {:?}", found(&file))).text.clone()
}

#[track_caller]
fn is_silent(script: &str, example: &str) {
    let file = with_rules(script, EXAMPLES);
    assert!(!found(&file).contains(example), "{example}");
    assert!(file.not_evaluated.iter().all(|it| it.rule != example), "{:?}", file.not_evaluated);
}

#[test]
fn example_of_uneven_work_names_the_rank_with_more() {
    let found = text(&at_barriers(None, |rank, _| rank == 2), "example/static");
    assert_eq!(found, "rank 2 spend 1.60 times the mean in prog/main/relax. Give them less, in proportion.");
    is_silent(&at_barriers(None, |_, _| true), "example/static");
}

#[test]
fn example_of_late_sends_names_the_work_before_them() {
    let found = text(&exchange(), "example/late-send");
    assert!(found.starts_with("prog/main/MPI_Isend at unknown comes after "), "{found}");
    is_silent(&one_way(), "example/late-send");
}

#[test]
fn example_of_sends_behind_calls_names_the_call() {
    let found = text(&behind(Before::LongSend), "example/late-isend");
    assert_eq!(
        found,
        "The sender is in prog/main/MPI_Wait before it sends. Start all sends before waiting for any."
    );
    is_silent(&behind(Before::Work), "example/late-isend");
}

#[test]
fn example_of_barriers_names_who_was_last_but_not_beside_files() {
    let in_turn = |rank: u64, step: u64| step % 4 == rank || (step == 9 && rank == 3);
    let found = text(&at_barriers(None, in_turn), "example/barrier");
    assert!(found.ends_with("leave it out. Last were rank 0."), "{found}");
    is_silent(&at_barriers(Some("MPI_File_write_at"), in_turn), "example/barrier");
}

#[test]
fn example_of_small_messages_tells_how_many_are_in_a_row() {
    let found = text(&small(1200), "example/small-messages");
    assert_eq!(found, "1200 messages of 8.00 B, 1199 in a row to the same rank: pack them.");
    is_silent(&small(2), "example/small-messages");
}

#[test]
fn example_of_a_library_names_the_rank_that_writes() {
    let found = text(&writing(1), "ourio/one-writer");
    assert_eq!(
        found,
        "Only rank 0 calls ourio_write. Call ourio_write_all from all ranks (guide, section 4)."
    );
    is_silent(&writing(4), "ourio/one-writer");
}

#[test]
fn example_of_a_pair_finds_calls_without_work_between() {
    text(&halo(0), "halo/no-overlap");
    is_silent(&halo(300), "halo/no-overlap");
}

#[test]
fn example_of_a_solver_names_who_is_late() {
    let found = text(&solving("solver_cg"), "mylib/solver-allreduce");
    assert!(found.contains(" in 40 reductions, mostly for rank 2."), "{found}");
    is_silent(&solving("relaxation"), "mylib/solver-allreduce");
}

/// A rule that always finds something, with values that it shows.
fn showing(over: &str, by: &str, when: &str, change: &str, shows: &str) -> String {
    format!(
        "format = 1\n[[rule]]\nid = \"a/b\"\nover = \"{over}\"\n{by}\n[rule.finds]\nwhen = '{when}'\nseverity = \"run.all\"\n\
         most = \"run.T\"\nchange = \"{change}\"\ntitle = \"t\"\nadvice = \"a\"\nshows = [{shows}]\n"
    )
}

#[test]
fn work_of_ranks_that_wait_for_each_other_in_a_row_is_serial() {
    let rule = showing("culprit", "", "serial", "path", "");
    assert!(found(&with_rules(&chain(), &rule)).contains("a/b"));
    assert!(found(&with_rules(&exchange(), &rule)).is_empty());
    assert!(found(&with_rules(&at_barriers(None, |rank, _| rank == 2), &rule)).is_empty());
}

/// What the rule about messages shows of a run; times in nanoseconds.
fn shown(script: &str, expected: &[(&str, i64)]) {
    let shows: Vec<String> = expected.iter().map(|(name, _)| format!("{name:?}")).collect();
    let rule = showing("message", "", "count() > 0", "send_path", &shows.join(", "));
    let file = with_rules(script, &rule);
    let is_number =
        |name: &str| ["count", "distinct", "share", "(bytes"].iter().any(|word| name.contains(word));
    let value = |name: &str, value: f64| if is_number(name) { value } else { value * 1e9 };
    let found = file.advice[0].evidence.iter();
    let found = found.map(|it| (it.name.as_str(), value(&it.name, it.value.unwrap()).round() as i64));
    let found: Vec<(&str, i64)> = found.collect();
    assert_eq!(found, expected);
}

#[test]
fn rows_of_messages_have_both_sides() {
    let steps = STEPS as i64;
    shown(
        &behind(Before::LateReceiver),
        &[
            ("count()", 2 * steps),
            ("distinct(source)", 1),
            ("distinct(destination)", 2),
            ("distinct(path)", 2),
            ("distinct(receive_path)", 1),
            ("distinct(sender_call)", 1),
            ("sum(bytes)", (100_000 + 64) * steps),
            ("sum(late_sender)", 510 * steps),
            ("sum(late_receiver)", (500 - 2) * steps),
            ("sum(wrong_order)", 0),
            ("sum(stall)", 0),
            ("sum(sender_in_mpi)", 510 * steps),
            ("sum(send_time)", 4 * steps),
            ("sum(between_send)", 0),
            ("max(receive_leave - receive_enter)", 514),
            ("max(receive_enter - post_enter)", 0),
            ("min(send_enter)", 90),
            ("max(send_leave)", 90 + 1100 * (steps - 1) + 512),
            ("share(same_node)", 1),
            ("share(two_way)", 0),
            ("share(same_envelope)", 0),
        ],
    );
}

#[test]
fn message_that_is_received_before_earlier_ones_is_in_wrong_order() {
    // Rank 1 waits for the second message of each step first.
    let script = run(2, (STEPS, 300), |rank, _, begin| {
        if rank.number == 0 {
            rank.work("relax", 100);
            rank.call("MPI_Send", ["send 1 bytes 8 tag 1", ""], begin + 105);
            rank.work("relax", 95);
            rank.call("MPI_Send", ["send 1 bytes 8 tag 2", ""], begin + 210);
        } else {
            rank.call("MPI_Recv", ["", "recv 0 bytes 8 tag 2"], begin + 212);
            rank.call("MPI_Recv", ["", "recv 0 bytes 8 tag 1"], begin + 220);
        }
    });
    let steps = STEPS as i64;
    shown(&script, &[("sum(late_sender)", 200 * steps), ("sum(wrong_order)", 200 * steps)]);
}
