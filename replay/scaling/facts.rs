//! Facts of a run, of which all efficiencies are made: a report has them as attributes (what-if 5.1, 5.3).

use cubex::Attribute;

/// What the names of these attributes begin with.
const PREFIX: &str = "Replay::Efficiency::";

/// Facts of a run. Times are in seconds, between the first end of `MPI_Init` and the last begin of `MPI_Finalize`; work is that of main
/// threads.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RunFacts {
    /// The number of ranks.
    pub ranks: u64,
    /// The run time.
    pub run: f64,
    /// The run time on an ideal network, if the run was replayed.
    pub ideal: Option<f64>,
    /// The work of all ranks.
    pub work: f64,
    /// The most work of one of them.
    pub most: f64,
}

impl RunFacts {
    /// Load balance: the mean work in relation to the most.
    pub fn load_balance(&self) -> f64 {
        share(self.mean(), self.most)
    }

    /// Communication efficiency: the most work in relation to the run time.
    pub fn communication(&self) -> f64 {
        share(self.most, self.run)
    }

    /// Parallel efficiency: the mean work in relation to the run time.
    pub fn parallel(&self) -> f64 {
        share(self.mean(), self.run)
    }

    /// Serialisation: the most work in relation to the run time on an ideal network.
    pub fn serialisation(&self) -> Option<f64> {
        Some(share(self.most, self.ideal?))
    }

    /// Transfer: the run time on an ideal network in relation to the real one.
    pub fn transfer(&self) -> Option<f64> {
        Some(share(self.ideal?, self.run))
    }

    fn mean(&self) -> f64 {
        self.work / self.ranks.max(1) as f64
    }

    /// The facts and what follows from them, as attributes of a report. What is not known is not there.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute> {
        let numbers = [
            ("run time", Some(self.run)),
            ("ideal run time", self.ideal),
            ("work", Some(self.work)),
            ("most work", Some(self.most)),
            ("load balance", Some(self.load_balance())),
            ("communication", Some(self.communication())),
            ("serialisation", self.serialisation()),
            ("transfer", self.transfer()),
            ("parallel", Some(self.parallel())),
        ];
        let numbers = numbers.into_iter().filter_map(|(name, value)| Some((name, format!("{:.9}", value?))));
        let all = [("ranks", self.ranks.to_string())].into_iter().chain(numbers);
        all.map(|(name, value)| Attribute::new(format!("{PREFIX}{name}"), value))
    }
}

/// A share of something; 1 of nothing, of which nothing is lost.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_efficiency_is_load_balance_times_communication() {
        let facts = RunFacts { ranks: 4, run: 1.0, ideal: Some(0.8), work: 1.2, most: 0.6 };
        assert_eq!([facts.load_balance(), facts.communication()], [0.5, 0.6]);
        assert!((facts.parallel() - 0.3).abs() < 1e-12);
        assert!((facts.serialisation().unwrap() * facts.transfer().unwrap() - 0.6).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_known_is_no_attribute() {
        let facts = RunFacts { ranks: 2, run: 2.0, ideal: None, work: 1.5, most: 1.0 };
        let found: Vec<(String, String)> = facts.attributes().map(|it| (it.key, it.value)).collect();
        let names = ["ranks", "run time", "work", "most work", "load balance", "communication", "parallel"];
        assert_eq!(found.len(), names.len());
        for ((key, _), name) in found.iter().zip(names) {
            assert_eq!(key, &format!("Replay::Efficiency::{name}"));
        }
        assert_eq!((found[0].1.as_str(), found[1].1.as_str()), ("2", "2.000000000"));
    }
}
