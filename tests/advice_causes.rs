//! Causes of the catalogue that need several nodes, or messages that cost time, in made-up runs: each in one that has it, and one that has not.

use std::fmt::Write;

use details::advice::AdviceFile;

use crate::support::advice::{of_script, run};

const STEPS: u64 = 10;

/// Four ranks, two on each of two nodes, in three functions and a barrier; those of the second node take so many per cent as long.
fn nodes(percent: u64, of_rank: impl Fn(u64) -> bool) -> String {
    let mut script = String::from("program prog\n");
    for rank in 0..4 {
        let node = if rank < 2 { "one" } else { "two" };
        write!(script, "rank {rank} node {node}\n 0 > main ; 0 > MPI_Init ; 10 <\n").unwrap();
        for step in 0..STEPS {
            let mut now = 100 + 4000 * step;
            for name in ["pack", "relax", "unpack"] {
                let length = if of_rank(rank) { 10 * percent } else { 1000 };
                write!(script, " {now} > {name} ; {} <", now + length).unwrap();
                now += length;
                script += " ;";
            }
            let end = 100 + 4000 * step + 3900;
            writeln!(script, " {now} > MPI_Barrier ; begin ; {end} end barrier ; {end} <").unwrap();
        }
        let end = 200 + 4000 * STEPS;
        writeln!(script, " {end} > MPI_Finalize ; {} < ; {} <", end + 10, end + 10).unwrap();
    }
    script
}

/// Three ranks that receive from each other in a call that takes a time for each byte, and meet at a sum; rank 0 receives so many bytes
/// from each.
fn messages(bytes: u64, time: u64) -> String {
    let mut script = String::from("program prog\n");
    for rank in 0..3_u64 {
        write!(script, "rank {rank}\n 0 > main ; 0 > MPI_Init ; 10 <\n").unwrap();
        for step in 0..STEPS {
            let begin = 100 + 1000 * step;
            write!(script, " {begin} > MPI_Isend").unwrap();
            for (at, to) in (0..3).filter(|&to| to != rank).enumerate() {
                let length = if to == 0 { bytes } else { 100 };
                write!(script, " ; isend {to} bytes {length} req {}", 4 * step + at as u64).unwrap();
            }
            write!(script, " ; {} < ; {} > MPI_Waitall", begin + 5, begin + 10).unwrap();
            for at in 0..2 {
                write!(script, " ; sent {}", 4 * step + at).unwrap();
            }
            writeln!(script, " ; {} <", begin + 12).unwrap();
            let end = begin + 20 + if rank == 0 { time } else { 100 };
            write!(script, " {} > MPI_Recv", begin + 20).unwrap();
            for from in (0..3).filter(|&from| from != rank) {
                let length = if rank == 0 { bytes } else { 100 };
                write!(script, " ; {} recv {from} bytes {length}", end - 1).unwrap();
            }
            writeln!(
                script,
                " ; {end} < ; {end} > MPI_Allreduce ; begin ; {} end allreduce sent 8 received 8 ; {} <",
                begin + 900,
                begin + 900
            )
            .unwrap();
        }
        let end = 200 + 1000 * STEPS;
        writeln!(script, " {end} > MPI_Finalize ; {} < ; {} <", end + 10, end + 10).unwrap();
    }
    script
}

/// Four ranks, of which so many write 8 bytes to a file by this call, so many times in a step, and meet at a barrier. Calls with an offset
/// leave as many bytes out.
fn writes(writers: u64, times: u64, call: &str) -> String {
    let script = run(4, (STEPS, 4000), |rank, step, begin| {
        for at in 0..if rank.number < writers { times } else { 0 } {
            let offset = 16 * (step * times + at);
            let at_offset =
                if call.ends_with("_at") { format!("with offset {offset} : ") } else { String::new() };
            let transfer = format!("{at_offset}transfer f id 1 flags 0 bytes 8");
            rank.call(call, [&*transfer, "transferred f id 1 bytes 8"], rank.now + 5);
            rank.now += 5;
        }
        rank.now = begin + 3850;
        rank.barrier(begin + 3900);
    });
    script.replacen("program prog\n", "program prog\nfile f world\n", 1)
}

/// Three ranks that work in main behind MPI_Init and then behind barriers, the third one for longer; in each step so many samples find it
/// in a function, and the others in a third of them.
fn work_behind_calls(samples: u64) -> String {
    let mut script = String::from(
        "program prog\ncontext m1 main line 1\ncontext i MPI_Init in m1\ncontext m2 main line 2\ncontext w work in m2\n\
         context b MPI_Barrier in m2\ncontext m3 main line 3\ncontext f MPI_Finalize in m3\n",
    );
    for rank in 0..3 {
        let (work, samples) = if rank == 2 { (3000, samples) } else { (1000, samples / 3) };
        write!(script, "rank {rank}\n 0 ctx> i unwind 3 ; 10 ctx< i").unwrap();
        for step in 0..STEPS {
            let begin = 10 + 3200 * step;
            let mut new = if step == 0 { 3 } else { 2 };
            for sample in 1..=samples {
                write!(script, " ; {} sample w unwind {new}", begin + work * sample / samples).unwrap();
                new = 1;
            }
            let new = if step == 0 && samples == 0 { 3 } else { 2 };
            let end = begin + 3200;
            write!(script, " ; {} ctx> b unwind {new} ; begin ; {end} end barrier ; ctx< b", begin + work)
                .unwrap();
        }
        let end = 10 + 3200 * STEPS;
        writeln!(script, " ; {end} ctx> f unwind 3 ; {} ctx< f", end + 10).unwrap();
    }
    script
}

/// The text of a rule's advice, whether shown or not.
fn text<'a>(file: &'a AdviceFile, rule: &str) -> Option<&'a str> {
    file.advice.iter().find(|it| it.rule == rule).map(|it| it.text.as_str())
}

#[test]
fn node_that_is_slower_in_all_work_is_named() {
    let file = of_script(&nodes(125, |rank| rank >= 2), &[]);
    let text = text(&file, "work/node").unwrap();
    assert!(
        text.starts_with("Ranks of two take 25.0 % longer than on other nodes in 3 call paths"),
        "{text}"
    );
}

#[test]
fn ranks_that_are_slower_on_both_nodes_are_no_matter_of_a_node() {
    let file = of_script(&nodes(125, |rank| rank % 2 == 1), &[]);
    assert!(text(&file, "work/node").is_none() && text(&file, "work/static").is_some());
}

#[test]
fn rank_with_more_bytes_that_takes_longer_to_receive_them_is_named() {
    let file = of_script(&messages(800, 800), &[]);
    let text = text(&file, "p2p/uneven-messages").unwrap();
    assert!(
        text.starts_with(
            "rank 0 is 2.40 times as long in MPI_Recv as the mean, and has 2.40 times as many bytes"
        ),
        "{text}"
    );
}

#[test]
fn rank_that_takes_longer_for_as_many_bytes_has_no_uneven_messages() {
    let file = of_script(&messages(100, 800), &[]);
    assert!(text(&file, "p2p/uneven-messages").is_none());
}

#[test]
fn short_writes_at_places_of_all_ranks_are_to_be_collective_and_those_of_one_to_be_longer() {
    let file = of_script(&writes(4, 100, "MPI_File_write_at"), &[]);
    let found = text(&file, "io/not-collective").unwrap();
    assert!(
        found.starts_with("4 ranks move 8.00 B at a time in prog/main/MPI_File_write_at, 4000 times"),
        "{found}"
    );
    assert_eq!(text(&file, "io/small-io"), None);
    let file = of_script(&writes(1, 300, "MPI_File_write"), &[]);
    let found = text(&file, "io/small-io").unwrap();
    assert!(
        found.starts_with("prog/main/MPI_File_write moves 8.00 B at a time, 3000 times in all"),
        "{found}"
    );
    assert_eq!(text(&file, "io/not-collective"), None);
}

#[test]
fn short_writes_of_all_ranks_that_follow_each_other_are_to_be_longer() {
    let file = of_script(&writes(4, 100, "MPI_File_write"), &[]);
    assert!(text(&file, "io/small-io").is_some() && text(&file, "io/not-collective").is_none());
}

#[test]
fn few_writes_of_all_ranks_are_left_as_they_are() {
    let file = of_script(&writes(4, 20, "MPI_File_write_at"), &[]);
    assert_eq!([text(&file, "io/not-collective"), text(&file, "io/small-io")], [None; 2]);
}

#[test]
fn function_behind_several_calls_is_said_once_where_most_of_it_is() {
    let file = of_script(&work_behind_calls(0), &[]);
    let found = file.advice.iter().find(|it| it.rule == "work/static").unwrap();
    assert_eq!((found.place.path.as_str(), found.place.line.as_deref()), ("prog/main", Some("prog.c:2")));
    let again = file.advice.iter().flat_map(|it| &it.also).filter(|it| it.rule == "work/static");
    assert_eq!(again.count(), 0);
}

#[test]
fn ranks_are_compared_in_functions_with_enough_samples() {
    let file = of_script(&work_behind_calls(3), &[]);
    let found = file.advice.iter().find(|it| it.rule == "work/static").unwrap();
    assert_eq!(found.place.path, "prog/main/work");
    assert!(file.not_evaluated.iter().all(|it| it.rule != "work/static"), "{:?}", file.not_evaluated);
    // Those that are a third of the time in it have no sample of it.
    let file = of_script(&work_behind_calls(2), &[]);
    assert!(file.advice.iter().all(|it| !it.rule.starts_with("work/")), "{:?}", file.advice);
    let why = &file.not_evaluated.iter().find(|it| it.rule == "work/one-rank").unwrap().why;
    assert!(why.starts_with("rank 2 has 20 samples in work, and ranks are compared from 25 on"), "{why}");
}
