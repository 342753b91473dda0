//! The windows of each process: those of its main thread, which the other threads share.

use std::sync::Arc;

use model::Ticks;

use super::{Focus, Moment, Numbers, Part, Which, Window, Windows};
use crate::error::Error;
use crate::exchange::{Batch, Exchange, broadcast, share};
use crate::findings::Findings;
use crate::int::{to_u64, truncated};
use crate::job::Job;
use crate::progress::Progress;
use crate::report::FoundIterations;
use crate::structure::{self, Agreed, Asked, Signature, Structure};
use crate::tools::Tools;
use crate::trace::{Process, Trace};
use crate::walk::{Notes, Positions, Visit, Walked};
use crate::wire::{self, Wire};
use crate::{clock_errors, matching};

/// What a pass over the events has found for a focus that is no time.
#[derive(Debug, Default)]
struct FirstPass {
    /// The iterations of this worker's locations; `None` without a loop, or where they do not correspond.
    agreed: Option<Arc<Agreed>>,
    /// What has the iterations, in words.
    subject: String,
    /// Whether iterations of one number are the same at all locations.
    corresponds: bool,
    kinds: Kinds,
    /// Iterations with other numbers in the program, where only some were recorded; known at worker 0.
    recorded: Option<FoundIterations>,
    /// Visits of phases by the main thread of each process of this worker.
    visits: Vec<Box<[Visit]>>,
    /// Instances of the loops that are asked for, by location: the number of the loop's name among those, and when.
    instances: Vec<(u32, u32, Window)>,
}

impl FirstPass {
    /// Whether an iteration is one of these.
    fn is_wanted(&self, which: Which, number: u64) -> bool {
        match which {
            Which::Numbers(numbers) => numbers.contain(number),
            Which::First => number == 1,
            Which::Last => self.agreed.as_ref().is_some_and(|agreed| number == agreed.iterations),
            Which::Outliers => self.kinds.outliers.contains(&number),
            Which::Kind(kind) => {
                self.kinds.kinds.get(kind - 1).is_some_and(|kind| kind.binary_search(&number).is_ok())
            }
        }
    }
}

/// Iterations by what they are like, by number.
#[derive(Debug, Default)]
struct Kinds {
    outliers: Vec<u64>,
    /// Rising, of each kind.
    kinds: Vec<Vec<u64>>,
}

impl Kinds {
    fn new(structure: &mut Structure, clock_error: Ticks) -> Kinds {
        structure.sign(clock_error);
        let Some(Signature { clusters, outliers, .. }) = &structure.signature else {
            return Kinds::default();
        };
        let number = |place: &usize| to_u64(place + 1);
        Kinds {
            outliers: outliers.iter().map(|outlier| number(&outlier.place)).collect(),
            kinds: clusters.iter().map(|cluster| cluster.members.iter().map(number).collect()).collect(),
        }
    }
}

/// Finds the windows of each process of this worker: what lies in all of the job's focuses; and, at worker 0, which numbers their
/// iterations have in the program, if these are others. `times` are those of records, if clocks are corrected.
///
/// # Errors
/// If a worker failed, or a focus is empty.
pub(crate) fn windows(
    job: &Job,
    tools: &Tools<'_>,
    times: &[Vec<Vec<Ticks>>],
    exchange: &mut dyn Exchange,
    progress: &mut Progress,
) -> Result<(Vec<Arc<Windows>>, Option<String>), Error> {
    refuse(job)?;
    let block = job.blocks[exchange.worker()].clone();
    let first = match job.focus.iter().all(Focus::is_of_time) {
        true => FirstPass::default(),
        false => first_pass(job, tools, times, exchange, progress)?,
    };
    let mut all: Option<Vec<Windows>> = None;
    for focus in &job.focus {
        let mut found = vec![Windows::default(); block.len()];
        // What is asked for and is not there is not left out without a word.
        for part in &focus.parts {
            let of_part: Vec<Windows> = block
                .clone()
                .enumerate()
                .map(|(at, process)| Windows::new(of_process(job, part, &first, (at, process))))
                .collect();
            if are_empty(&of_part, exchange)? {
                let reason = reason(job, part, &first, exchange)?;
                return Err(Error::new(format!("--focus {focus}: {reason}")));
            }
            found = found.iter().zip(&of_part).map(|(one, other)| one.united(other)).collect();
        }
        let both = match all.take() {
            Some(before) => before.iter().zip(&found).map(|(one, other)| one.intersected(other)).collect(),
            None => found,
        };
        if are_empty(&both, exchange)? {
            return Err(Error::new(format!("--focus {focus}: has no time in common with the other focus")));
        }
        all = Some(both);
    }
    let in_program = first.recorded.as_ref().and_then(|recorded| {
        let is_named =
            |part: &Part, number| matches!(part, Part::Iterations(which) if first.is_wanted(*which, number));
        let named = job.focus.iter().filter(|focus| focus.has_iterations());
        let is_wanted =
            |number| named.clone().all(|focus| focus.parts.iter().any(|part| is_named(part, number)));
        recorded.only(is_wanted).in_program()
    });
    Ok((all.unwrap_or_default().into_iter().map(Arc::new).collect(), in_program))
}

/// Whether no process of all has any window.
fn are_empty(windows: &[Windows], exchange: &mut dyn Exchange) -> Result<bool, Error> {
    let is_empty = windows.iter().all(|windows| windows.list().is_empty());
    Ok(share(exchange, vec![u64::from(is_empty)])?.iter().all(|batch| batch[..] == [1]))
}

/// Refuses what cannot be known.
fn refuse(job: &Job) -> Result<(), Error> {
    for focus in &job.focus {
        for part in &focus.parts {
            match part {
                Part::Iterations(_) | Part::Loop(_) if !job.trace.semantics.replays_all_of_mpi() => {
                    return Err(Error::new(format!(
                        "--focus {focus}: loops are looked for with --semantics corrected only"
                    )));
                }
                Part::Phase(name, visits) if *visits != Numbers::ALL && !job.trace.has_visits(name) => {
                    return Err(Error::new(format!(
                        "--focus {focus}: the trace knows where the program is at calls of MPI and at samples only, so \
                         visits of {name} cannot be numbered; phase={name} counts all of them"
                    )));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Walks all events to find iterations and visits.
fn first_pass(
    job: &Job,
    tools: &Tools<'_>,
    times: &[Vec<Vec<Ticks>>],
    exchange: &mut dyn Exchange,
    progress: &mut Progress,
) -> Result<FirstPass, Error> {
    let parts = || job.focus.iter().flat_map(|focus| &focus.parts);
    let has_steps = parts().any(|part| matches!(part, Part::Iterations(_) | Part::Loop(_)));
    let notes = Notes { has_steps, ..Notes::of(Positions::Nothing) };
    let mut walked = job.walk(notes, times, &[], |_, _| {}, exchange, progress)?;
    let visits = |walked: &mut Vec<Walked>| -> Vec<Box<[Visit]>> {
        walked.iter_mut().map(|walked| std::mem::take(&mut walked.visits)).collect()
    };
    let mut first = FirstPass { corresponds: true, ..FirstPass::default() };
    if !has_steps {
        first.visits = visits(&mut walked);
        return Ok(first);
    }
    progress.phase("find iterations");
    let is_alone = exchange.workers() == job.threads;
    job.memory.check(matching::bytes_needed(&job.trace, &walked, is_alone, false))?;
    let mut findings = Findings::default();
    let matches = matching::match_operations(tools, &walked, &mut findings, None, exchange)?;
    if structure::is_short(tools, structure::bytes_needed(&walked), exchange)? {
        return Err(Error::new(
            "too little memory to find the iterations for --focus: give more with --memory, or use more processes",
        ));
    }
    let loops = loops(&job.focus);
    let asked = Asked { choice: job.choice.as_ref(), loops: &loops };
    let found = structure::find(tools, &walked, &matches, asked, &mut findings, exchange)?;
    first.visits = visits(&mut walked);
    first.instances = found.instances;
    let clock_error = clock_errors::largest(&walked, &matches, exchange)?;
    let mut told = Batch::new();
    if let Some((agreed, mut structure)) = found.main {
        first.corresponds = agreed.correspondence.holds();
        first.subject = structure.subject(&job.trace);
        first.agreed = Some(agreed);
        if exchange.worker() == 0 {
            first.recorded = job.recorded.find(&job.trace, &structure.iterations);
            let Kinds { outliers, kinds } = Kinds::new(&mut structure, clock_error);
            (outliers, kinds).put(&mut told);
        }
    } else if exchange.worker() == 0 {
        (Vec::<u64>::new(), Vec::<Vec<u64>>::new()).put(&mut told);
    }
    let (outliers, kinds) = wire::one(&broadcast(exchange, told)?);
    first.kinds = Kinds { outliers, kinds };
    Ok(first)
}

/// The names of loops that are asked for.
fn loops(focuses: &[Focus]) -> Vec<&str> {
    focuses.iter().flat_map(Focus::loops).collect()
}

/// The windows that a part has at a process, given its place among those of this worker.
fn of_process(job: &Job, part: &Part, first: &FirstPass, (at, process): (usize, usize)) -> Vec<Window> {
    let process = &job.trace.processes[process];
    match part {
        Part::Time(from, to) => vec![of_time(&job.trace, *from, *to)],
        Part::Iterations(which) => of_iterations(first, *which, process),
        Part::Phase(name, visits) => {
            let number = job.phases.iter().position(|known| known == name);
            let own = first.visits[at].iter().filter(|visit| Some(visit.phase.into()) == number);
            let numbered = (1..).zip(own).filter(|&(number, _)| visits.contain(number));
            numbered.map(|(_, visit)| visit.window).collect()
        }
        Part::Loop(name) => {
            let number = loops(&job.focus).iter().position(|known| known == name);
            // Those of a location are together, in the order of locations.
            let main = |location: u32| (location as usize).cmp(&process.locations.start);
            let begin = first.instances.partition_point(|&(location, ..)| main(location).is_lt());
            let own = first.instances[begin..].iter().take_while(|&&(location, ..)| main(location).is_eq());
            let own = own.filter(|&&(_, which, _)| Some(which as usize) == number);
            own.map(|&(.., window)| window).collect()
        }
    }
}

fn of_time(trace: &Trace, from: Option<Moment>, to: Option<Moment>) -> Window {
    let ticks = |moment: Moment| {
        truncated(match moment {
            Moment::Seconds(seconds) => (seconds * trace.definitions.clock.resolution as f64).round(),
            Moment::Share(share) => (share * trace.length() as f64).round(),
        })
    };
    // The trace begins at 0; with wrong clocks a few events may lie before.
    let begin = from.map(ticks).filter(|&ticks| ticks > 0).unwrap_or(Ticks::MIN);
    let is_behind = trace.length() > 0 && u64::try_from(begin).is_ok_and(|begin| begin >= trace.length());
    let end = to.map_or(Ticks::MAX, ticks);
    Window { begin, end: if is_behind || end <= 0 { begin } else { end } }
}

fn of_iterations(first: &FirstPass, which: Which, process: &Process) -> Vec<Window> {
    let Some(agreed) = first.agreed.as_ref().filter(|_| first.corresponds) else { return Vec::new() };
    let process = &process.locations;
    let Some(line) = agreed.place_of(process.start, process).map(|at| &agreed.locations[at]) else {
        return Vec::new();
    };
    let numbered = line.own.iter().enumerate();
    let numbered = numbered.map(|(place, own)| (line.number_of_all(Some(place), agreed.iterations), own));
    let wanted = numbered.filter(|&(number, _)| number > 0 && first.is_wanted(which, number));
    wanted.map(|(_, own)| Window { begin: own.begin, end: own.end }).collect()
}

/// Why a part of a focus is empty, and what there is.
fn reason(job: &Job, part: &Part, first: &FirstPass, exchange: &mut dyn Exchange) -> Result<String, Error> {
    let trace = &job.trace;
    let reason = match part {
        Part::Time(..) => {
            let length = trace.length() as f64 / trace.definitions.clock.resolution as f64;
            format!("no time of the trace lies in it: the trace is {length:.6} s long")
        }
        Part::Iterations(_) if !first.corresponds => {
            "iterations of one number are not the same on all ranks, so no number names one; time=A-B needs none".into()
        }
        Part::Iterations(which) => {
            let Some(agreed) = &first.agreed else { return Ok("the program has no main loop".into()) };
            let all = format!("{} has {} iterations", first.subject, agreed.iterations);
            match which {
                Which::Outliers => format!("{all}, and none is unlike the others"),
                Which::Kind(_) => format!("{all} of {} kinds, numbered from 1", first.kinds.kinds.len()),
                _ => format!("{all}, numbered from 1"),
            }
        }
        Part::Phase(name, _) => {
            let number = job.phases.iter().position(|known| known == name);
            let is_it = |visit: &&Visit| Some(visit.phase.into()) == number;
            let own = first.visits.iter().map(|visits| visits.iter().filter(is_it).count());
            let most = to_u64(own.max().unwrap_or(0));
            let most = share(exchange, vec![most])?.iter().map(|batch| batch[0]).max().unwrap_or(0);
            match most {
                0 => format!("no main thread enters a region named {name}{}", trace.some_regions()),
                _ => format!("{name} is visited {most} times at most by a main thread"),
            }
        }
        Part::Loop(name) => format!("no main thread has a loop {name}; replay-show structure lists the loops"),
    };
    Ok(reason)
}
