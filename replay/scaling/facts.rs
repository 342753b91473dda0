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
    /// Instructions of this work, if all ranks count them.
    pub instructions: Option<u64>,
    /// Cycles of this work, if all ranks count them.
    pub cycles: Option<u64>,
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

    /// Reads the facts from the attributes of a report; `None` if they are not there.
    pub fn of_attributes(attributes: &[Attribute]) -> Option<RunFacts> {
        let text = |name: &str| {
            let of = |attribute: &&Attribute| attribute.key.strip_prefix(PREFIX) == Some(name);
            attributes.iter().find(of).map(|attribute| attribute.value.as_str())
        };
        let seconds = |name: &str| {
            let seconds = text(name)?.parse::<f64>().ok();
            seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
        };
        let count = |name: &str| text(name)?.parse::<u64>().ok();
        Some(RunFacts {
            ranks: count("ranks").filter(|&ranks| ranks > 0)?,
            run: seconds("run time").filter(|&run| run > 0.0)?,
            ideal: seconds("ideal run time"),
            work: seconds("work")?,
            most: seconds("most work")?,
            instructions: count("instructions"),
            cycles: count("cycles"),
        })
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
        let counts =
            [("ranks", Some(self.ranks)), ("instructions", self.instructions), ("cycles", self.cycles)];
        let counts = counts.into_iter().filter_map(|(name, count)| Some((name, count?.to_string())));
        counts.chain(numbers).map(|(name, value)| Attribute::new(format!("{PREFIX}{name}"), value))
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
        let facts = RunFacts {
            ranks: 4,
            run: 1.0,
            ideal: Some(0.8),
            work: 1.2,
            most: 0.6,
            instructions: None,
            cycles: None,
        };
        assert_eq!([facts.load_balance(), facts.communication()], [0.5, 0.6]);
        assert!((facts.parallel() - 0.3).abs() < 1e-12);
        assert!((facts.serialisation().unwrap() * facts.transfer().unwrap() - 0.6).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_known_is_no_attribute() {
        let facts = RunFacts {
            ranks: 2,
            run: 2.0,
            ideal: None,
            work: 1.5,
            most: 1.0,
            instructions: None,
            cycles: None,
        };
        let found: Vec<(String, String)> = facts.attributes().map(|it| (it.key, it.value)).collect();
        let names = ["ranks", "run time", "work", "most work", "load balance", "communication", "parallel"];
        assert_eq!(found.len(), names.len());
        for ((key, _), name) in found.iter().zip(names) {
            assert_eq!(key, &format!("Replay::Efficiency::{name}"));
        }
        assert_eq!((found[0].1.as_str(), found[1].1.as_str()), ("2", "2.000000000"));
    }

    #[test]
    fn facts_are_read_back_from_attributes_and_are_not_there_without_one_of_them() {
        let counted = RunFacts {
            ranks: 4,
            run: 1.5,
            ideal: Some(1.25),
            work: 4.0,
            most: 1.125,
            instructions: Some(1 << 60),
            cycles: None,
        };
        let attributes: Vec<Attribute> = counted.attributes().collect();
        assert_eq!(RunFacts::of_attributes(&attributes), Some(counted));
        let without = |name: &str| {
            let others = attributes.iter().filter(|it| !it.key.ends_with(name)).cloned();
            RunFacts::of_attributes(&others.collect::<Vec<Attribute>>())
        };
        assert_eq!(without("::work"), None);
        assert_eq!(without("::ideal run time").unwrap().ideal, None);
    }
}
