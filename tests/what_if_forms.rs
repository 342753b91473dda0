//! Run times under other conditions of programs whose run times are known in closed form, and of the same programs simulated under
//! these conditions (what-if 3.2).

use std::collections::VecDeque;
use std::fmt::Write;

use replay::exchange::Solo;
use replay::progress::Progress;
use replay::report::WhatIfSummary;
use replay::{DetailsPlace, Options, Semantics, WhatIf};

use crate::support::parse::Case;
use crate::support::{in_memory, options, write};

/// What a process does.
#[derive(Clone, Copy)]
enum Op {
    /// Work of so many ticks in a region.
    Work(&'static str, i64),
    Send(usize),
    Receive(usize),
    Allreduce,
}

/// How long calls take, in ticks (nanoseconds).
#[derive(Clone, Copy)]
struct Network {
    /// From the begin of a send to the end of a receive that waits for it.
    transfer: i64,
    /// A send; a receive whose message is there.
    send: i64,
    copy: i64,
    /// An operation of many after all are there.
    operation: i64,
}

const NETWORK: Network = Network { transfer: 5_000, send: 700, copy: 300, operation: 2_000 };

/// Runs a program: the script of its trace, and its run time.
fn simulate(program: &[Vec<Op>], network: Network) -> (String, i64) {
    let ranks = program.len();
    let mut scripts = vec![String::from("  0 > MPI_Init ; 10 <"); ranks];
    let (mut now, mut next) = (vec![10_i64; ranks], vec![0; ranks]);
    let mut sent = vec![vec![VecDeque::new(); ranks]; ranks];
    let mut entered: Vec<Option<i64>> = vec![None; ranks];
    loop {
        let mut goes_on = false;
        for rank in 0..ranks {
            while let Some(&op) = program[rank].get(next[rank]) {
                let (script, at) = (&mut scripts[rank], now[rank]);
                let end = match op {
                    Op::Work(region, ticks) => {
                        write!(script, " ; {at} > {region} ; {} <", at + ticks).unwrap();
                        at + ticks
                    }
                    Op::Send(to) => {
                        sent[rank][to].push_back(at);
                        let end = at + network.send;
                        write!(script, " ; {at} > MPI_Send ; send {to} ; {end} <").unwrap();
                        end
                    }
                    Op::Receive(from) => {
                        let Some(start) = sent[from][rank].pop_front() else { break };
                        let end = (at + network.copy).max(start + network.transfer);
                        write!(script, " ; {at} > MPI_Recv ; {end} recv {from} ; <").unwrap();
                        end
                    }
                    Op::Allreduce => {
                        entered[rank] = Some(at);
                        break;
                    }
                };
                now[rank] = end;
                next[rank] += 1;
                goes_on = true;
            }
        }
        if let Some(all) = entered.iter().copied().collect::<Option<Vec<i64>>>() {
            let end = all.iter().max().unwrap() + network.operation;
            for rank in 0..ranks {
                write!(
                    scripts[rank],
                    " ; {} > MPI_Allreduce ; begin ; {end} end allreduce sent 8 received 8 ; <",
                    now[rank]
                )
                .unwrap();
                (now[rank], entered[rank]) = (end, None);
                next[rank] += 1;
            }
            goes_on = true;
        }
        if !goes_on {
            break;
        }
    }
    assert!(next.iter().zip(program).all(|(&next, ops)| next == ops.len()), "the program does not end");
    let last = now.iter().max().unwrap();
    let mut text = String::from("program prog\n");
    for (rank, script) in scripts.iter().enumerate() {
        let end = now[rank];
        write!(text, "rank {rank}\n {script} ; {end} > MPI_Finalize ; {} <\n", last + 10).unwrap();
    }
    (text, last - 10)
}

fn what_if(script: &str, scenarios: &str) -> WhatIfSummary {
    let directory = in_memory();
    let case = Case::parse(script).unwrap();
    write::write(&case.trace, directory.path());
    let options = Options {
        what_if: Some(WhatIf::parse(scenarios).unwrap()),
        details: Some(DetailsPlace::Nowhere),
        structure: false,
        ..options(directory.path(), &directory.path().join("trace.cubex"), Semantics::Corrected)
    };
    let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
    outcome.summary.unwrap().what_if.unwrap()
}

/// The work of a program is so many times as long in a region.
fn scaled(program: &[Vec<Op>], region: &str, numerator: i64, denominator: i64) -> Vec<Vec<Op>> {
    let scale = |op: &Op| match *op {
        Op::Work(name, ticks) if name == region => Op::Work(name, ticks * numerator / denominator),
        op => op,
    };
    program.iter().map(|ops| ops.iter().map(scale).collect()).collect()
}

/// Messages take so long from send to receive.
fn transfer(ticks: i64) -> Network {
    Network { transfer: ticks, ..NETWORK }
}

/// What is predicted from the run of a program is how long it takes when it is simulated under the other conditions.
fn predictions_hold(program: &[Vec<Op>]) {
    let (script, run) = simulate(program, NETWORK);
    let scenarios =
        "same,cpu=0.5@work,cpu=2@work,cpu=0@work,add=3,latency=0,latency=0.5,latency=4,cpu=0.5@work+add=3";
    let found = what_if(&script, scenarios);
    let half = scaled(program, "work", 1, 2);
    let wanted = [
        run,
        simulate(&half, NETWORK).1,
        simulate(&scaled(program, "work", 2, 1), NETWORK).1,
        simulate(&scaled(program, "work", 0, 1), NETWORK).1,
        simulate(program, transfer(NETWORK.transfer + 3_000)).1,
        simulate(program, transfer(0)).1,
        simulate(program, transfer(NETWORK.transfer / 2)).1,
        simulate(program, transfer(NETWORK.transfer * 4)).1,
        simulate(&half, transfer(NETWORK.transfer + 3_000)).1,
    ];
    for (gain, wanted) in found.gains.iter().zip(wanted) {
        assert_eq!(gain.ticks, wanted, "{}, of {run}", gain.scenario);
    }
}

const WORK: i64 = 1_000_000;

/// Each rank works a step after the one before.
fn pipeline(ranks: usize, steps: usize) -> Vec<Vec<Op>> {
    let step = |rank: usize| {
        let from = (rank > 0).then(|| Op::Receive(rank - 1));
        let to = (rank + 1 < ranks).then_some(Op::Send(rank + 1));
        [from, Some(Op::Work("work", WORK)), to].into_iter().flatten()
    };
    (0..ranks).map(|rank| (0..steps).flat_map(|_| step(rank)).collect()).collect()
}

#[test]
fn pipeline_takes_a_step_more_for_each_rank_and_so_many_messages() {
    let (ranks, steps) = (4, 20);
    let program = pipeline(ranks, steps);
    predictions_hold(&program);
    let (script, run) = simulate(&program, Network { send: 0, copy: 0, ..NETWORK });
    let filled = i64::try_from(ranks - 1).unwrap();
    let steps = i64::try_from(steps).unwrap();
    assert_eq!(run, (steps + filled) * WORK + filled * NETWORK.transfer);
    let found = what_if(&script, "same,cpu=0.5@work,add=1");
    let ticks: Vec<i64> = found.gains.iter().map(|gain| gain.ticks).collect();
    assert_eq!(ticks, [run, run - (steps + filled) * WORK / 2, run + filled * 1000]);
}

#[test]
fn wavefront_sweeps_over_a_grid_from_one_corner() {
    let (width, height, sweeps) = (3, 2, 12);
    let at = |x: usize, y: usize| y * width + x;
    let mut program = vec![Vec::new(); width * height];
    for _ in 0..sweeps {
        for y in 0..height {
            for x in 0..width {
                let ops: &mut Vec<Op> = &mut program[at(x, y)];
                if x > 0 {
                    ops.push(Op::Receive(at(x - 1, y)));
                }
                if y > 0 {
                    ops.push(Op::Receive(at(x, y - 1)));
                }
                ops.push(Op::Work("work", WORK));
                if x + 1 < width {
                    ops.push(Op::Send(at(x + 1, y)));
                }
                if y + 1 < height {
                    ops.push(Op::Send(at(x, y + 1)));
                }
            }
        }
    }
    predictions_hold(&program);
    let free = Network { transfer: 0, send: 0, copy: 0, operation: 0 };
    let run = simulate(&program, free).1;
    assert_eq!(run, i64::try_from(sweeps + width + height - 2).unwrap() * WORK);
}

#[test]
fn token_on_a_ring_waits_for_each_message_and_an_ideal_network_leaves_the_work() {
    let (ranks, rounds) = (4, 6);
    let mut program = vec![Vec::new(); ranks];
    for round in 0..rounds {
        for (rank, ops) in program.iter_mut().enumerate() {
            if round + rank > 0 {
                ops.push(Op::Receive((rank + ranks - 1) % ranks));
            }
            ops.push(Op::Work("work", WORK));
            if round + 1 < rounds || rank + 1 < ranks {
                ops.push(Op::Send((rank + 1) % ranks));
            }
        }
    }
    predictions_hold(&program);
    let (script, run) = simulate(&program, NETWORK);
    let works = i64::try_from(ranks * rounds).unwrap();
    let found = what_if(&script, "ideal,add=1");
    assert_eq!(found.gains[0].ticks, works * WORK);
    assert_eq!(found.gains[1].ticks - run, (works - 1) * 1000);
    let latency = what_if(&script, "").latency.unwrap();
    assert_eq!((latency.messages, latency.operations), ((works - 1).cast_unsigned(), 0));
    for (percent, tolerated) in [1.0, 2.0, 5.0].into_iter().zip(latency.tolerance) {
        let nanoseconds = percent / 100.0 * run as f64 / (works - 1) as f64;
        assert!((1e9 * tolerated.unwrap() - nanoseconds).abs() < 1.0, "{percent} %: {tolerated:?}");
    }
}

#[test]
fn two_chains_of_equal_length_gain_nothing_alone_and_much_together() {
    // Rank 0 and 1 are one chain, rank 2 and 3 another one; all meet in the end of each step.
    let mut program = vec![Vec::new(); 4];
    for _ in 0..10 {
        for chain in [0, 2] {
            program[chain].extend([Op::Work("long", 4 * WORK), Op::Send(chain + 1)]);
            program[chain + 1].extend([Op::Receive(chain), Op::Work("short", WORK)]);
        }
        program.iter_mut().for_each(|ops| ops.push(Op::Allreduce));
    }
    let (script, run) = simulate(&program, NETWORK);
    let found = what_if(&script, "level=long@0,level=long@2,level=long@0+level=long@2");
    let ticks: Vec<i64> = found.gains.iter().map(|gain| gain.ticks).collect();
    // The mean of all four is half of what two do.
    assert_eq!(ticks, [run, run, run - 10 * 2 * WORK]);
}

#[test]
fn work_that_is_shared_evenly_gains_if_it_is_always_the_same_rank_that_has_more() {
    let (ranks, steps) = (4_i64, 12_i64);
    let program = |in_turn: bool| {
        let of = |rank: i64| {
            let is_slow = |step: i64| if in_turn { step % ranks == rank } else { rank == 0 };
            let step =
                |step: i64| [Op::Work("work", if is_slow(step) { 5 * WORK } else { WORK }), Op::Allreduce];
            (0..steps).flat_map(step).collect()
        };
        (0..ranks).map(of).collect::<Vec<Vec<Op>>>()
    };
    let (script, run) = simulate(&program(false), NETWORK);
    assert_eq!(run, steps * (5 * WORK + NETWORK.operation));
    let found = what_if(&script, "balance=work,remove=MPI_Allreduce");
    // Factors are multiples of a millionth.
    let is_near = |found: i64, wanted: i64| (found - wanted).abs() <= steps * 5;
    assert!(is_near(found.gains[0].ticks, steps * (2 * WORK + NETWORK.operation)), "{found}");
    assert_eq!(found.gains[1].ticks, steps * 5 * WORK);
    // Totals are the same where each has more in turn.
    let (script, run) = simulate(&program(true), NETWORK);
    let found = what_if(&script, "balance=work,without=work,remove=MPI_Allreduce");
    assert_eq!(found.gains[0].ticks, run);
    assert!(is_near(found.gains[1].ticks, steps * (WORK + NETWORK.operation)), "{found}");
    assert_eq!(found.gains[2].ticks, steps / ranks * 5 * WORK + (steps - steps / ranks) * WORK);
}

#[test]
fn call_path_alone_is_without_what_it_calls() {
    let steps = 12;
    // A step calls work of another function: of rank 0 both are twice as long.
    let rank = |factor: i64| {
        let step = |step: i64| {
            let at = 10 + step * (6 * WORK + NETWORK.operation);
            let (called, end) = (at + factor * 2 * WORK, at + factor * 3 * WORK);
            let left = at + 6 * WORK + NETWORK.operation;
            format!(
                "{at} > step ; {at} > relax ; {called} < ; {end} < ; \
                 {end} > MPI_Allreduce ; begin ; {left} end allreduce sent 8 received 8 ; <"
            )
        };
        let end = 10 + steps * (6 * WORK + NETWORK.operation);
        let all = (0..steps).map(step).collect::<Vec<_>>().join(" ; ");
        format!("0 > MPI_Init ; 10 < ; {all} ; {end} > MPI_Finalize ; {} <\n", end + 10)
    };
    let script = format!("program prog\nrank 0\n {}rank 1\n {}", rank(2), rank(1));
    let found = what_if(&script, "balance=step,balance=step/.,balance=step/relax,balance=prog/.");
    let step = |gain: usize| (found.gains[gain].ticks + steps * 5) / steps / 10 * 10;
    let shorter = |ticks: i64| (6 * WORK - ticks + NETWORK.operation) / 10 * 10;
    assert_eq!(
        [0, 1, 2, 3].map(step),
        [shorter(3 * WORK / 2), shorter(WORK / 2), shorter(WORK), shorter(0)],
        "{found}"
    );
}

#[test]
fn noise_that_is_gone_leaves_the_usual_work() {
    let of = |rank: usize| {
        let step =
            |step: usize| [Op::Work("work", if step % 5 == rank { 3 * WORK } else { WORK }), Op::Allreduce];
        (0..40).flat_map(step).collect()
    };
    let program: Vec<Vec<Op>> = (0..2).map(of).collect();
    let (script, run) = simulate(&program, NETWORK);
    assert_eq!(run, 40 * (WORK + NETWORK.operation) + 16 * 2 * WORK);
    let found = what_if(&script, "quiet,quiet=work,quiet=MPI_Allreduce");
    let ticks: Vec<i64> = found.gains.iter().map(|gain| gain.ticks).collect();
    // The first stretch follows MPI_Init, and the one before MPI_Finalize is empty.
    let quiet = 40 * (WORK + NETWORK.operation) + 2 * WORK;
    assert_eq!(ticks, [quiet, quiet, run]);
}

#[test]
fn message_that_comes_before_it_is_sent_is_no_later_on_an_ideal_network() {
    let script = "program prog\nrank 0\n  0 > MPI_Init ; 10 < ; > work ; 500 < ; > MPI_Send ; send 1 ; 600 < ; > MPI_Finalize ; 700 <\n\
                  rank 1\n  0 > MPI_Init ; 10 < ; 100 > MPI_Recv ; 400 recv 0 ; < ; > work ; 600 < ; > MPI_Finalize ; 700 <\n";
    let found = what_if(script, "same,ideal");
    assert_eq!(found.gains[0].ticks, found.run_ticks);
    assert!(found.gains[1].ticks <= found.run_ticks);
}

#[test]
fn two_sends_before_their_receives_would_deadlock_without_a_buffer() {
    let program: Vec<Vec<Op>> = [1, 0]
        .map(|other| {
            [Op::Work("work", WORK), Op::Send(other), Op::Work("work", WORK), Op::Receive(other)].to_vec()
        })
        .into();
    let (script, run) = simulate(&program, NETWORK);
    let found = what_if(&script, "rendezvous=0,same");
    assert!(found.gains[0].deadlocks && !found.gains[1].deadlocks);
    assert_eq!(found.gains[1].ticks, run);
}

#[test]
fn work_that_is_spread_is_the_mean_of_all_ranks_between_operations_of_all() {
    // Who has most of it changes, and one has none.
    let program = |is_spread: bool| {
        let of = |rank: usize| {
            let step = |step: usize| {
                let shares = [8, 4, 0, 4];
                let share = if is_spread { 4 } else { shares[(rank + step) % 4] };
                [Op::Work("own", 1_000), Op::Work("shared", share * WORK), Op::Allreduce]
            };
            (0..10).flat_map(step).collect()
        };
        (0..4).map(of).collect::<Vec<Vec<Op>>>()
    };
    let (script, run) = simulate(&program(false), NETWORK);
    let found = what_if(&script, "spread=shared,spread=shared+cpu=0.5@own,spread=own");
    let wanted = simulate(&program(true), NETWORK).1;
    let ticks: Vec<i64> = found.gains.iter().map(|gain| gain.ticks).collect();
    assert_eq!(ticks, [wanted, wanted - 10 * 500, run]);
}

/// Rank 0 receives from all others in each step, which take so long before they send.
fn receiver(works: [i64; 3], order: [usize; 3]) -> Vec<Vec<Op>> {
    let mut program = vec![Vec::new(); 4];
    for _ in 0..8 {
        for (sender, work) in (1..4).zip(works) {
            program[sender].extend([Op::Work("work", work), Op::Send(0)]);
        }
        for sender in order {
            program[0].extend([Op::Receive(sender), Op::Work("use", WORK)]);
        }
        program.iter_mut().for_each(|ops| ops.push(Op::Allreduce));
    }
    program
}

#[test]
fn receives_in_the_order_of_arrival_take_as_long_as_in_a_program_that_receives_so() {
    let works = [9 * WORK, 5 * WORK, WORK];
    let (script, run) = simulate(&receiver(works, [1, 2, 3]), NETWORK);
    let wanted = simulate(&receiver(works, [3, 2, 1]), NETWORK).1;
    let found = what_if(&script, "arrival=MPI_Recv,same,arrival=MPI_Recv+cpu=0.5@use,arrival=MPI_Allreduce");
    let half = simulate(&scaled(&receiver(works, [3, 2, 1]), "use", 1, 2), NETWORK).1;
    let ticks: Vec<i64> = found.gains.iter().map(|gain| gain.ticks).collect();
    assert_eq!(ticks, [wanted, run, half, run]);
    // Who comes in the order of the receives gains nothing.
    let (script, run) = simulate(&receiver([WORK, 5 * WORK, 9 * WORK], [1, 2, 3]), NETWORK);
    assert_eq!(what_if(&script, "arrival=MPI_Recv").gains[0].ticks, run);
}

#[test]
fn pipeline_in_parts_fills_sooner() {
    // Calls take no time by themselves: there are more of them.
    let network = Network { send: 0, copy: 0, ..NETWORK };
    for works in [[WORK; 4], [WORK, 4 * WORK, WORK, 2 * WORK], [4 * WORK, WORK, WORK, WORK]] {
        let program = |parts: i64| {
            let of = |rank: usize| {
                let part = move |_| {
                    let from = (rank > 0).then(|| Op::Receive(rank - 1));
                    let to = (rank < 3).then_some(Op::Send(rank + 1));
                    [from, Some(Op::Work("work", works[rank] / parts)), to].into_iter().flatten()
                };
                (0..5).flat_map(|_| (0..parts).flat_map(part).chain([Op::Allreduce])).collect()
            };
            (0..4).map(of).collect::<Vec<Vec<Op>>>()
        };
        let script = simulate(&program(1), network).0;
        let found = what_if(&script, "split=MPI_Recv:4,split=MPI_Recv:2,split=MPI_Allreduce:4,same");
        for (gain, parts) in found.gains.iter().zip([4, 2, 1, 1]) {
            assert_eq!(gain.ticks, simulate(&program(parts), network).1, "{}", gain.scenario);
        }
    }
}

#[test]
fn synchronous_sends_do_not_wait_for_receives_that_are_posted_before() {
    let script = "program prog\n\
                  rank 0\n  0 > MPI_Init ; 10 < ; > MPI_Ssend ; send 1 ; 1100 < ; > work ; 2100 < ; > MPI_Finalize ; 3200 <\n\
                  rank 1\n  0 > MPI_Init ; 10 < ; > work ; 1000 < ; > MPI_Recv ; 1100 recv 0 ; < ; > MPI_Finalize ; 3200 <\n";
    let found = what_if(script, "same,posted=MPI_Ssend,posted=MPI_Recv,posted=MPI_Ssend+posted=MPI_Recv");
    let ticks: Vec<i64> = found.gains.iter().map(|gain| gain.ticks).collect();
    // The message takes 100; the receive of a message that is there has its own overhead.
    // The receive takes its 100 from when it is entered.
    assert_eq!((ticks[0], ticks[1], ticks[2], ticks[3]), (2090, 1100, 2090, 1100), "{found}");
}

#[test]
fn messages_that_make_progress_do_not_wait_until_the_other_side_is_in_mpi_again() {
    // Usual messages, which tell how long one takes, and one that the library moves only once its sender is in MPI again.
    let (mut sends, mut receives) = (String::new(), String::new());
    for at in (100..1000).step_by(100) {
        write!(sends, " ; {at} > MPI_Send ; send 1 ; {} <", at + 10).unwrap();
        write!(receives, " ; {at} > MPI_Recv ; {} recv 0 ; <", at + 50).unwrap();
    }
    let script = format!(
        "program prog\n\
         rank 0\n  0 > MPI_Init ; 10 <{sends} ; 1000 > MPI_Isend ; isend 1 req 1 ; 1010 < ; > work ; 1001010 < ; \
         > MPI_Wait ; sent 1 ; 1001050 < ; > MPI_Finalize ; 2000000 <\n\
         rank 1\n  0 > MPI_Init ; 10 <{receives} ; 1000 > MPI_Recv ; 1001060 recv 0 ; < ; > later ; 1501060 < ; \
         > MPI_Finalize ; 2000000 <\n"
    );
    let found = what_if(&script, "same,progress=MPI_Recv,progress=MPI_Wait,eager=all");
    let ticks: Vec<i64> = found.gains.iter().map(|gain| gain.ticks).collect();
    assert_eq!((ticks[0], ticks[2]), (1_501_050, 1_501_050), "{found}");
    // The sender ends when its own work does.
    assert!(ticks[1] < 1_002_000 && ticks[3] == ticks[1], "{found}");
}
