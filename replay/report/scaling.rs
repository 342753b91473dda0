//! Runs of several sizes beside each other, in words and for programs (what-if 5.3, 5.4).

use std::fmt;

use details::scaling::{AmdahlCurve, Forecast, GrowthModel, Row, Run, SCHEMA, ScalingFile};

use super::names::cut_front;
use super::summary::printable;
use crate::error::Error;
use crate::exchange::{Batch, Exchange, reduce};
use crate::report_paths::ReportPaths;
use crate::results::Results;
use crate::scaling::{self, Growth, Model, Modelled, OtherRuns, Quantity, RunFacts, Scaling, ScalingKind};
use crate::tools::Tools;

/// Characters of the first column, and of others.
const FIRST: usize = 26;
const COLUMN: usize = 11;

/// Characters of a call path: its end says more than its begin.
const PATH: usize = 60;

/// Ticks by call path of the report, exclusive, of all locations; at worker 0.
///
/// # Errors
/// If a worker failed.
pub(super) fn ticks_by_path(
    tools: &Tools<'_>,
    results: &[Results],
    paths: &ReportPaths,
    exchange: &mut dyn Exchange,
) -> Result<Vec<i64>, Error> {
    let mut sums = vec![0_i64; paths.len()];
    for (results, numbers) in results.iter().zip(&paths.numbers) {
        for severities in &results.severities {
            for (path, ticks) in severities.paths().iter().zip(severities.dense(tools.metrics.time)) {
                let sum = &mut sums[numbers[path.index()].index()];
                *sum = sum.saturating_add(*ticks);
            }
        }
    }
    let encode = |sums: &Vec<i64>| sums.iter().map(|sum| sum.cast_unsigned()).collect::<Batch>();
    reduce(exchange, sums, encode, |sums, words| {
        for (sum, word) in sums.iter_mut().zip(words) {
            *sum = sum.saturating_add(word.cast_signed());
        }
    })
}

/// Runs of several sizes beside each other; `None` if this run is not to be compared: its facts are not known, or a run of its size
/// is there.
#[derive(Clone, PartialEq, Debug)]
pub struct ScalingSummary(pub Option<Scaling>);

impl ScalingSummary {
    /// Of this run and others; `ticks` by call path.
    pub(super) fn new(
        tools: &Tools<'_>,
        paths: &ReportPaths,
        others: &OtherRuns,
        facts: Option<RunFacts>,
        ticks: &[i64],
    ) -> ScalingSummary {
        let Some(facts) = facts.filter(|facts| others.runs.iter().all(|run| run.facts.ranks != facts.ranks))
        else {
            return ScalingSummary(None);
        };
        let mut names: Vec<String> = Vec::with_capacity(paths.len());
        let mut own = scaling::Run { report: "this run".into(), facts, times: Default::default() };
        for (path, &ticks) in paths.all().zip(ticks) {
            let name = tools.trace.region_name(paths.region(path));
            let above = paths.parent(path).map(|parent| &names[parent.index()]);
            names.push(above.map_or_else(|| name.to_owned(), |above| format!("{above}/{name}")));
            if ticks > 0 {
                let seconds = tools.trace.definitions.clock.seconds(ticks.into());
                *own.times.entry(names[path.index()].clone()).or_default() += seconds;
            }
        }
        let runs = others.runs.iter().cloned().chain([own]).collect();
        ScalingSummary(Some(Scaling::new(runs, others.kind)))
    }

    /// The same for programs; `None` if nothing is compared.
    pub(super) fn file(&self) -> Option<ScalingFile> {
        let scaling = self.0.as_ref()?;
        let run = |facts: &RunFacts| Run {
            cycles: facts.cycles,
            ideal_run_time: facts.ideal,
            instructions: facts.instructions,
            most_work: facts.most,
            ranks: facts.ranks,
            run_time: facts.run,
            work: facts.work,
        };
        let decided_by = match (scaling.is_said, scaling.by_instructions) {
            (true, _) => "user",
            (false, true) => "instructions",
            (false, false) => "work",
        };
        Some(ScalingFile {
            decided_by: decided_by.into(),
            kind: match scaling.kind {
                ScalingKind::Strong => "strong".into(),
                ScalingKind::Weak => "weak".into(),
            },
            models: scaling.models.iter().map(model).collect(),
            rows: scaling
                .rows
                .iter()
                .map(|(of, values)| Row { name: names(*of).0.into(), values: values.clone() })
                .collect(),
            runs: scaling.runs.iter().map(run).collect(),
            schema: SCHEMA.into(),
        })
    }
}

fn model(Model { of, growth, amdahl }: &Model) -> GrowthModel {
    let (name, path) = match of {
        Modelled::Quantity(quantity) => (names(*quantity).0, String::new()),
        Modelled::Path(path) => ("time", path.clone()),
    };
    let forecast = |it: &scaling::Forecast| Forecast {
        high: it.interval[1],
        low: it.interval[0],
        ranks: it.ranks,
        value: it.value,
    };
    GrowthModel {
        adjusted_r2: growth.adjusted_r2,
        amdahl: amdahl.map(|curve| AmdahlCurve { first: curve.first, parallel: curve.parallel }),
        constant: growth.constant,
        denominator: growth.term.denominator,
        error: growth.error,
        factor: growth.factor,
        forecasts: growth.forecasts.iter().map(forecast).collect(),
        logarithm: growth.term.logarithm,
        name: name.into(),
        numerator: growth.term.numerator,
        path,
    }
}

/// The name of a row for programs, and in words; parts of a product stand further in.
fn names(of: Quantity) -> (&'static str, &'static str) {
    match of {
        Quantity::RunTime => ("run_time", "run time in seconds"),
        Quantity::SpeedUp => ("speed_up", "speed-up"),
        Quantity::GlobalEfficiency => ("global_efficiency", "global efficiency, %"),
        Quantity::ParallelEfficiency => ("parallel_efficiency", "  parallel efficiency"),
        Quantity::LoadBalance => ("load_balance", "    load balance"),
        Quantity::Communication => ("communication", "    communication"),
        Quantity::Serialisation => ("serialisation", "      serialisation"),
        Quantity::Transfer => ("transfer", "      transfer"),
        Quantity::ComputationScaling => ("computation_scaling", "  computation scaling"),
        Quantity::InstructionScaling => ("instruction_scaling", "    instructions"),
        Quantity::IpcScaling => ("ipc_scaling", "    instructions a cycle"),
        Quantity::FrequencyScaling => ("frequency_scaling", "    frequency"),
    }
}

/// A number of a row, with few digits.
fn cell(of: Quantity, value: Option<f64>) -> String {
    match (of, value) {
        (_, None) => "–".into(),
        (Quantity::RunTime, Some(seconds)) => format!("{seconds:.6}"),
        (Quantity::SpeedUp, Some(factor)) => format!("{factor:.2}"),
        (_, Some(share)) => format!("{:.1}", 100.0 * share),
    }
}

impl fmt::Display for ScalingSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(scaling) = &self.0 else {
            return writeln!(
                f,
                "\nOther sizes: not compared, as parts of this run were not recorded, or as many of its processes call MPI_Init \
                 as another run has ranks"
            );
        };
        let (kind, what) = match scaling.kind {
            ScalingKind::Strong => ("Strong", "the problem stays the same"),
            ScalingKind::Weak => ("Weak", "the problem of each rank stays the same"),
        };
        let why = match (scaling.is_said, scaling.by_instructions) {
            (true, _) => "as was said",
            (false, true) => "by instructions",
            (false, false) => "by work",
        };
        writeln!(f, "\n{kind} scaling over {} sizes ({what}, {why}):", scaling.runs.len())?;
        write!(f, "    {:FIRST$}", "ranks")?;
        for run in &scaling.runs {
            write!(f, "{:>COLUMN$}", run.ranks)?;
        }
        writeln!(f)?;
        for (of, values) in &scaling.rows {
            write!(f, "    {:FIRST$}", names(*of).1)?;
            for value in values {
                write!(f, "{:>COLUMN$}", cell(*of, *value))?;
            }
            writeln!(f)?;
        }
        write_models(f, &scaling.models)
    }
}

fn write_models(f: &mut fmt::Formatter<'_>, models: &[Model]) -> fmt::Result {
    let Some(first) = models.first() else { return Ok(()) };
    let [double, four] = first.growth.forecasts.map(|forecast| forecast.ranks);
    writeln!(
        f,
        "\nGrowth with the number of ranks P (seconds of a rank, shares; at {double} and {four} ranks, 95 % intervals in brackets):"
    )?;
    for Model { of, growth, amdahl } in models {
        let name = match of {
            Modelled::Quantity(quantity) => names(*quantity).1.trim().to_owned(),
            Modelled::Path(path) => format!("time in {}", printable(&cut_front(path, PATH))),
        };
        writeln!(f, "    {name}: {}", formula(growth))?;
        let [double, four] = growth.forecasts.map(|it| {
            let [low, high] = it.interval;
            format!("{} ({} to {})", digits(it.value), digits(low), digits(high))
        });
        let error = growth.error;
        let r2 = match growth.term.is_constant() {
            true => String::new(),
            false => format!("adjusted R² {:.3}, ", growth.adjusted_r2),
        };
        writeln!(f, "        {r2}error {error:.1} %; {double}, {four}")?;
        if let Some(curve) = amdahl {
            let [double, four] = growth.forecasts.map(|it| digits(curve.at(it.ranks as f64)));
            let (first, parallel) = (digits(curve.first), digits(curve.parallel));
            let serial = digits(1.0 - curve.parallel);
            writeln!(f, "        by Amdahl: {first} / ({parallel} + {serial} · P); {double}, {four}")?;
        }
    }
    Ok(())
}

/// A model in one line.
fn formula(Growth { term, constant, factor, .. }: &Growth) -> String {
    match term.is_constant() {
        true => digits(*constant),
        false => {
            let sign = if *factor < 0.0 { '-' } else { '+' };
            format!("{} {sign} {} · {term}", digits(*constant), digits(factor.abs()))
        }
    }
}

/// A number with four significant digits.
fn digits(number: f64) -> String {
    match number.abs() {
        0.0 => "0".into(),
        size if (1e-4..1e4).contains(&size) => {
            let places = (3.0 - size.log10().floor()).max(0.0);
            // Between 0 and 7, as the size is bounded.
            let places =
                [0, 1, 2, 3, 4, 5, 6, 7].into_iter().find(|&it| f64::from(it) >= places).unwrap_or(7);
            format!("{number:.*}", usize::from(u8::try_from(places).unwrap_or(7)))
        }
        _ => format!("{number:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let texts = [0.0, 1.0, 0.25, -12.345678, 1234.5, 0.00098765, 1.0e-7, 123456.0].map(digits);
        let wanted =
            ["0", "1.000", "0.2500", "-12.35", "1234", "0.0009877", "1.000e-7", "1.235e5"].map(String::from);
        assert_eq!(texts, wanted);
    }

    #[test]
    fn long_call_paths_lose_their_begin() {
        assert_eq!(cut_front("main/work", PATH), "main/work");
        let long = format!("{}/work", "a".repeat(100));
        let end = cut_front(&long, PATH);
        assert!(end.chars().count() == PATH && end.starts_with('…') && end.ends_with("a/work"));
    }
}
