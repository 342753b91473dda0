//! Blind test of root causes: a delay is put at a random place of a random rank of a program, and the
//! summary's first culprit must be that rank and that place. A draw depends on its seed only, which is
//! printed.
//!
//! `REPLAY_BLIND=160 cargo test --test recorder blind -- --nocapture --ignored` judges so many draws and
//! prints tables; `REPLAY_SEED=n` starts with the draw of this seed instead of one from the clock.
//! `REPLAY_BLIND=1` with the seed of a failure repeats it.

mod draw; // draws from seeds
mod judge; // compares summary and truth
mod sentences; // tests the summaries of programs in which the late rank is known
mod summary; // reads the summary
mod table; // results of many draws
mod trace; // finds the latest rank in the trace itself
mod truth; // reads the output of the program

use crate::support::build;
use crate::support::record::{Invocation, Subject, analyze};
use draw::{Draw, Mode};
use judge::judge;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use summary::Summary;
use table::Outcome;
use truth::GroundTruth;

/// Default number of draws, smallest number of right ones, and largest number of wrong ones, which disturbed
/// runs can cause. The others are unexplained.
const DRAWS: usize = 32;
const RIGHT: usize = 20;
const WRONG: usize = 7;

/// Records and judges a draw; `None`, with a message, if that cannot be done here.
fn outcome(draw: Draw) -> Option<Outcome> {
    let mpi = build::mpi("blind")?;
    let source = format!("culprits/{}.c", draw.shape.name);
    let mut program = build::program_with(mpi, &source, draw.recording.flags())?;
    program.extend(draw.arguments().map(Into::into));
    let subject = Subject::any(&format!("blind.{}", draw.seed), draw.ranks, program)?;
    // There are fewer processors than ranks: waiting ranks must not keep the late one from its work.
    let subject = subject.with("OMPI_MCA_mpi_yield_when_idle", "1");
    let subject = draw.recording.option().into_iter().fold(subject, Subject::option);
    let recorded = subject.run_recorded(Invocation::InFront);
    recorded.expect_success();
    let analysis = analyze(&subject.experiment, &subject.folder);
    analysis.expect_success();
    let (truth, summary) = (GroundTruth::parse(&recorded.stdout), Summary::parse(&analysis.stdout));
    let verdict = judge(&draw, &truth, &summary);
    let mut outcome = Outcome { draw, verdict, summary, truth, latest: None, command: String::new() };
    if outcome.is_wrong() {
        // Without a delay, ranks differ because they do different work.
        let is_of_delay = outcome.draw.mode != Mode::Balanced;
        outcome.latest = is_of_delay.then(|| trace::latest(&subject.experiment)).flatten();
    } else {
        std::fs::remove_dir_all(&subject.folder).unwrap();
    }
    let command = subject.recorded(Invocation::InFront);
    let words = [command.get_program()].into_iter().chain(command.get_args());
    outcome.command = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    Some(outcome)
}

/// The number in an environment variable.
fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name}: {value}")))
}

/// Judges and prints draws until there are so many cases; returns all of them.
fn outcomes(draws: usize) -> Option<Vec<Outcome>> {
    // Draws of one seed have one directory, and disturb each other's times.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mpi = build::mpi("blind")?;
    let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() % 1_000_000;
    let first = variable("REPLAY_SEED").unwrap_or_else(clock);
    println!("REPLAY_SEED={first} draws these again");
    // With MPICH waiting ranks never yield: more ranks than processors delay each other.
    let most = |mode| match mode {
        _ if mpi.is_open_mpi => 6,
        Mode::Balanced => 2,
        _ => 3,
    };
    let mut outcomes = Vec::new();
    for seed in (first..).take(2 * draws) {
        let outcome = outcome(Draw::new(seed, most))?;
        print!("{outcome}");
        outcomes.push(outcome);
        if outcomes.iter().filter(|outcome| outcome.is_case()).count() == draws {
            break;
        }
    }
    println!("{}", table::tables(&outcomes));
    Some(outcomes)
}

#[test]
fn first_culprit_is_the_delayed_rank_at_its_place() {
    let Some(outcomes) = outcomes(DRAWS) else { return };
    let right = outcomes.iter().filter(|outcome| outcome.verdict.is_right()).count();
    let wrong = outcomes.iter().filter(|outcome| outcome.is_wrong()).count();
    assert!(right >= RIGHT && wrong <= WRONG, "of {DRAWS} draws {right} are right and {wrong} wrong");
}

/// The complete test: `REPLAY_BLIND` draws.
#[test]
#[ignore = "takes seconds for each draw"]
fn first_culprits_of_many_draws_are_right_in_all_modes() {
    let draws = variable("REPLAY_BLIND").unwrap_or(110).max(1);
    let Some(outcomes) = outcomes(draws as usize) else { return };
    let shortfalls = table::shortfalls(&outcomes);
    assert!(shortfalls.is_empty(), "{}", shortfalls.join("\n"));
}
