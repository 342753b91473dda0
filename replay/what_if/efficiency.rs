//! Efficiencies of the ranks, as POP defines them, from the run on an ideal network (what-if 5.1).

use model::Ticks;

/// Work and run times, of which all efficiencies are shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Efficiency {
    /// The work of all main threads between `MPI_Init` and `MPI_Finalize`, in ticks.
    pub work: Ticks,
    /// The most work of one of them, in ticks.
    pub most: Ticks,
    /// The number of main threads.
    pub ranks: u64,
    /// The run time, in ticks.
    pub run: Ticks,
    /// The run time on an ideal network, in ticks.
    pub ideal: Ticks,
}

impl Efficiency {
    /// Load balance: the mean work in relation to the most.
    pub fn load_balance(&self) -> f64 {
        share(self.mean(), self.most as f64)
    }

    /// Serialisation: the most work in relation to the run time on an ideal network.
    pub fn serialisation(&self) -> f64 {
        share(self.most as f64, self.ideal as f64)
    }

    /// Transfer: the run time on an ideal network in relation to the real one.
    pub fn transfer(&self) -> f64 {
        share(self.ideal as f64, self.run as f64)
    }

    /// Communication: serialisation and transfer together, the most work in relation to the run time.
    pub fn communication(&self) -> f64 {
        share(self.most as f64, self.run as f64)
    }

    /// Parallel efficiency: the product of all, the mean work in relation to the run time.
    pub fn parallel(&self) -> f64 {
        share(self.mean(), self.run as f64)
    }

    fn mean(&self) -> f64 {
        self.work as f64 / self.ranks.max(1) as f64
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
    fn parallel_efficiency_is_the_product_of_the_others() {
        let efficiency = Efficiency { work: 120, most: 60, ranks: 4, run: 100, ideal: 80 };
        let product = efficiency.load_balance() * efficiency.serialisation() * efficiency.transfer();
        assert_eq!(
            [efficiency.load_balance(), efficiency.serialisation(), efficiency.transfer()],
            [0.5, 0.75, 0.8]
        );
        assert!((product - efficiency.parallel()).abs() < 1e-12);
    }
}
