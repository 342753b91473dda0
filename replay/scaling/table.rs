//! Runs of several sizes beside each other (what-if 5.3), and how they grow (what-if 5.4).

use std::collections::BTreeMap;

use super::growth::FEWEST;
use super::{Amdahl, Growth, Run, RunFacts};

/// From this mean growth of work, in relation to that of the number of ranks, on, the problem grows with it.
const WEAK: f64 = 0.9;

/// Call paths whose time is modelled.
const PATHS: usize = 10;

/// What stays the same from size to size.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScalingKind {
    /// The problem.
    Strong,
    /// The problem of each rank.
    Weak,
}

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// The run time, in seconds.
    RunTime,
    /// How much faster than the smallest run.
    SpeedUp,
    /// Parallel efficiency times computation scaling.
    GlobalEfficiency,
    /// Mean work in relation to the run time.
    ParallelEfficiency,
    /// Mean work in relation to the most.
    LoadBalance,
    /// The most work in relation to the run time.
    Communication,
    /// The most work in relation to the run time on an ideal network.
    Serialisation,
    /// The run time on an ideal network in relation to the real one.
    Transfer,
    /// Work of the smallest run in relation to the work.
    ComputationScaling,
    /// Instructions of the smallest run in relation to the instructions.
    InstructionScaling,
    /// Instructions a cycle in relation to those of the smallest run.
    IpcScaling,
    /// Cycles a second of work in relation to those of the smallest run.
    FrequencyScaling,
}

/// All rows, in the order of the table.
const QUANTITIES: [Quantity; 12] = [
    Quantity::RunTime,
    Quantity::SpeedUp,
    Quantity::GlobalEfficiency,
    Quantity::ParallelEfficiency,
    Quantity::LoadBalance,
    Quantity::Communication,
    Quantity::Serialisation,
    Quantity::Transfer,
    Quantity::ComputationScaling,
    Quantity::InstructionScaling,
    Quantity::IpcScaling,
    Quantity::FrequencyScaling,
];

/// What is modelled.
#[derive(Clone, PartialEq, Debug)]
pub enum Modelled {
    /// A row of the table.
    Quantity(Quantity),
    /// Time of a call path, in seconds of a rank.
    Path(String),
}

/// A model of how something grows.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    /// What grows.
    pub of: Modelled,
    /// By one term of Extra-P's set.
    pub growth: Growth,
    /// Of a part of the parallel efficiency: by Amdahl's curve.
    pub amdahl: Option<Amdahl>,
}

/// Runs of several sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Scaling {
    /// What stays the same.
    pub kind: ScalingKind,
    /// Whether the user has said so.
    pub is_said: bool,
    /// Whether instructions decided it, in place of work.
    pub by_instructions: bool,
    /// The runs, the smallest first.
    pub runs: Vec<RunFacts>,
    /// By quantity that is known of a run: its value for each of them, if known.
    pub rows: Vec<(Quantity, Vec<Option<f64>>)>,
    /// Models; none of fewer than five sizes.
    pub models: Vec<Model>,
}

impl Scaling {
    /// Of runs of different sizes, at least two.
    pub fn new(mut runs: Vec<Run>, said: Option<ScalingKind>) -> Scaling {
        runs.sort_by_key(|run| run.facts.ranks);
        let facts: Vec<RunFacts> = runs.iter().map(|run| run.facts).collect();
        let by_instructions = facts.iter().all(|facts| facts.instructions.is_some());
        let kind = said.unwrap_or_else(|| found_kind(&facts));
        let value =
            |of| facts.iter().map(|run| of_run(of, run, &facts[0], kind)).collect::<Vec<Option<f64>>>();
        let rows = QUANTITIES.into_iter().map(|of| (of, value(of)));
        let rows: Vec<(Quantity, Vec<Option<f64>>)> =
            rows.filter(|(_, values)| values.iter().any(Option::is_some)).collect();
        let models = match facts.len() < FEWEST {
            true => Vec::new(),
            false => models(&runs, &rows, kind == ScalingKind::Strong),
        };
        Scaling { kind, is_said: said.is_some(), by_instructions, runs: facts, rows, models }
    }
}

/// Whether the work grows with the number of ranks (what-if 5.3).
fn found_kind(runs: &[RunFacts]) -> ScalingKind {
    let has_counts = runs.iter().all(|run| run.instructions.is_some());
    let work = |run: &RunFacts| match run.instructions {
        Some(instructions) if has_counts => instructions as f64,
        _ => run.work,
    };
    let [base, others @ ..] = runs else { return ScalingKind::Strong };
    let growth = others.iter().map(|run| work(run) / work(base) / (run.ranks as f64 / base.ranks as f64));
    let mean = growth.sum::<f64>() / others.len() as f64;
    if mean > WEAK { ScalingKind::Weak } else { ScalingKind::Strong }
}

/// The value of a quantity for a run; `None` if it is not known.
fn of_run(of: Quantity, run: &RunFacts, base: &RunFacts, kind: ScalingKind) -> Option<f64> {
    let larger = match kind {
        ScalingKind::Strong => 1.0,
        ScalingKind::Weak => run.ranks as f64 / base.ranks as f64,
    };
    let ratio = |part: f64, whole: f64| (whole > 0.0).then_some(part / whole);
    let per = |part: Option<u64>, whole: f64| ratio(part? as f64, whole);
    let ipc = |run: &RunFacts| per(run.instructions, run.cycles? as f64);
    let frequency = |run: &RunFacts| per(run.cycles, run.work);
    let computation = || Some(ratio(base.work, run.work)? * larger);
    match of {
        Quantity::RunTime => Some(run.run),
        Quantity::SpeedUp => Some(ratio(base.run, run.run)? * larger),
        Quantity::GlobalEfficiency => Some(run.parallel() * computation()?),
        Quantity::ParallelEfficiency => Some(run.parallel()),
        Quantity::LoadBalance => Some(run.load_balance()),
        Quantity::Communication => Some(run.communication()),
        Quantity::Serialisation => run.serialisation(),
        Quantity::Transfer => run.transfer(),
        Quantity::ComputationScaling => computation(),
        Quantity::InstructionScaling => Some(per(base.instructions, run.instructions? as f64)? * larger),
        Quantity::IpcScaling => ratio(ipc(run)?, ipc(base)?),
        Quantity::FrequencyScaling => ratio(frequency(run)?, frequency(base)?),
    }
}

/// Models of the run time, of the parts of the parallel efficiency, and of the call paths with most time.
fn models(runs: &[Run], rows: &[(Quantity, Vec<Option<f64>>)], falls: bool) -> Vec<Model> {
    let sizes = || runs.iter().map(|run| run.facts.ranks);
    let known = |of: Quantity| {
        let values = rows.iter().find(|(quantity, _)| *quantity == of).map(|(_, values)| values)?;
        sizes()
            .zip(values)
            .map(|(ranks, value)| Some((ranks, (*value)?)))
            .collect::<Option<Vec<(u64, f64)>>>()
    };
    // Where not all runs were replayed, the two last parts are known as one.
    let parts = match known(Quantity::Serialisation).is_some() && known(Quantity::Transfer).is_some() {
        true => &[Quantity::LoadBalance, Quantity::Serialisation, Quantity::Transfer][..],
        false => &[Quantity::LoadBalance, Quantity::Communication],
    };
    let model = |of: Modelled, points: &[(u64, f64)], amdahl| {
        Some(Model { of, growth: Growth::of(points, falls)?, amdahl })
    };
    let mut models = Vec::new();
    if let Some(points) = known(Quantity::RunTime) {
        models.extend(model(Modelled::Quantity(Quantity::RunTime), &points, None));
    }
    for &part in parts {
        if let Some(points) = known(part) {
            models.extend(model(Modelled::Quantity(part), &points, Amdahl::of(&points)));
        }
    }
    for path in longest(runs.last().map(|run| &run.times)) {
        // A rank that never comes to a call path spends no time there.
        let of_rank = |run: &Run| run.times.get(path).copied().unwrap_or(0.0) / run.facts.ranks as f64;
        let points: Vec<(u64, f64)> = runs.iter().map(|run| (run.facts.ranks, of_rank(run))).collect();
        models.extend(model(Modelled::Path(path.to_owned()), &points, None));
    }
    models
}

/// The call paths with most time, of equals the first by name.
fn longest(times: Option<&BTreeMap<String, f64>>) -> impl Iterator<Item = &str> {
    let mut all: Vec<(&str, f64)> =
        times.into_iter().flatten().map(|(name, &seconds)| (name.as_str(), seconds)).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all.into_iter().take(PATHS).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn facts(ranks: u64, run: f64, work: f64, most: f64) -> RunFacts {
        RunFacts { ranks, run, ideal: None, work, most, instructions: None, cycles: None }
    }

    fn run(facts: RunFacts) -> Run {
        let times = BTreeMap::from([("main/work".to_owned(), facts.work)]);
        Run { report: PathBuf::from("trace.cubex"), facts, times }
    }

    fn row(scaling: &Scaling, of: Quantity) -> Option<Vec<Option<f64>>> {
        scaling.rows.iter().find(|(quantity, _)| *quantity == of).map(|(_, values)| values.clone())
    }

    #[test]
    fn strong_scaling_compares_with_the_smallest_run() {
        // By hand: 8 s of work on 2 ranks in 5 s; 10 s of work on 8 ranks in 2 s.
        let runs = vec![run(facts(8, 2.0, 10.0, 1.6)), run(facts(2, 5.0, 8.0, 4.0))];
        let scaling = Scaling::new(runs, None);
        assert_eq!(scaling.kind, ScalingKind::Strong);
        assert_eq!(scaling.runs.iter().map(|run| run.ranks).collect::<Vec<u64>>(), [2, 8]);
        assert_eq!(row(&scaling, Quantity::SpeedUp), Some(vec![Some(1.0), Some(2.5)]));
        assert_eq!(row(&scaling, Quantity::ComputationScaling), Some(vec![Some(1.0), Some(0.8)]));
        assert_eq!(row(&scaling, Quantity::ParallelEfficiency), Some(vec![Some(0.8), Some(0.625)]));
        assert_eq!(row(&scaling, Quantity::GlobalEfficiency), Some(vec![Some(0.8), Some(0.5)]));
        assert_eq!(row(&scaling, Quantity::LoadBalance), Some(vec![Some(1.0), Some(0.78125)]));
        assert_eq!(row(&scaling, Quantity::Communication), Some(vec![Some(0.8), Some(0.8)]));
        // What no run knows is no row, and two sizes make no model.
        assert_eq!(row(&scaling, Quantity::Serialisation), None);
        assert_eq!(row(&scaling, Quantity::IpcScaling), None);
        assert_eq!(scaling.models, []);
    }

    #[test]
    fn weak_scaling_counts_the_larger_problem() {
        let runs = || vec![run(facts(2, 5.0, 8.0, 4.0)), run(facts(8, 8.0, 40.0, 5.0))];
        let scaling = Scaling::new(runs(), None);
        // 40 / 8 / 4 = 1.25 is above 0.9.
        assert_eq!((scaling.kind, scaling.is_said), (ScalingKind::Weak, false));
        assert_eq!(row(&scaling, Quantity::SpeedUp), Some(vec![Some(1.0), Some(2.5)]));
        assert_eq!(row(&scaling, Quantity::ComputationScaling), Some(vec![Some(1.0), Some(0.8)]));
        let said = Scaling::new(runs(), Some(ScalingKind::Strong));
        assert_eq!((said.kind, said.is_said), (ScalingKind::Strong, true));
        assert_eq!(row(&said, Quantity::SpeedUp), Some(vec![Some(1.0), Some(0.625)]));
    }

    #[test]
    fn counters_decide_the_kind_and_computation_is_the_product_of_three() {
        let counted = |ranks, work, instructions, cycles| {
            let facts = facts(ranks, 5.0, work, work / ranks as f64);
            run(RunFacts { instructions: Some(instructions), cycles: Some(cycles), ..facts })
        };
        // Work grows as if it were weak, instructions hardly do.
        let scaling = Scaling::new(vec![counted(2, 8.0, 800, 1600), counted(4, 16.0, 1000, 2500)], None);
        assert!(scaling.kind == ScalingKind::Strong && scaling.by_instructions);
        let last = |of| row(&scaling, of).unwrap()[1].unwrap();
        let [instructions, ipc, frequency] =
            [Quantity::InstructionScaling, Quantity::IpcScaling, Quantity::FrequencyScaling].map(last);
        assert_eq!((instructions, ipc, frequency), (0.8, 0.8, 0.78125));
        assert!((instructions * ipc * frequency - last(Quantity::ComputationScaling)).abs() < 1e-12);
    }

    #[test]
    fn what_one_run_does_not_know_is_missing_there_only() {
        let replayed = RunFacts { ideal: Some(4.5), ..facts(2, 5.0, 8.0, 4.0) };
        let scaling = Scaling::new(vec![run(replayed), run(facts(8, 2.0, 10.0, 1.6))], None);
        assert_eq!(row(&scaling, Quantity::Transfer), Some(vec![Some(0.9), None]));
    }

    #[test]
    fn five_sizes_make_models_of_run_time_parts_and_call_paths() {
        let of = |ranks: u64| {
            let run_time = 1.0 + 16.0 / ranks as f64;
            run(facts(ranks, run_time, 15.0, 15.0 / ranks as f64))
        };
        let scaling = Scaling::new([1, 2, 4, 8, 16].map(of).into(), None);
        let found: Vec<&Modelled> = scaling.models.iter().map(|model| &model.of).collect();
        let quantity = Modelled::Quantity;
        let [run, balance, communication] =
            [Quantity::RunTime, Quantity::LoadBalance, Quantity::Communication].map(quantity);
        assert_eq!(found, [&run, &balance, &communication, &Modelled::Path("main/work".into())]);
        assert_eq!(scaling.models[0].growth.term.to_string(), "P^-1");
        assert!(scaling.models[1].growth.term.is_constant() && scaling.models[1].amdahl.is_some());
        let work = &scaling.models[3].growth;
        assert_eq!(work.term.to_string(), "P^-1");
        assert!((work.factor - 15.0).abs() < 1e-9 && scaling.models[3].amdahl.is_none());
    }
}
