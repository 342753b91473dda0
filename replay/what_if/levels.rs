//! Efficiencies of processes and of their threads, from sums over all ranks (what-if 5.1, 5.2).

use model::Ticks;

/// Sums over the ranks, of which efficiencies are shares; in ticks.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Levels {
    /// The number of ranks.
    pub ranks: u64,
    /// The run time; of a phase that of all its windows together.
    pub run: Ticks,
    /// The same on an ideal network. At least the longest time of a main thread outside of MPI, in which it may wait for another one
    /// that is in MPI.
    pub ideal: Ticks,
    /// The time of main threads in parallel regions and outside of MPI.
    pub parallel: i128,
    /// The most time of a main thread outside of MPI.
    pub most: Ticks,
    /// The sums of ranks with equally many threads, by their number.
    pub by_threads: Vec<SameThreads>,
}

/// Sums over ranks with equally many threads, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SameThreads {
    /// The number of threads of each of them, with the main one.
    pub threads: u32,
    /// How many ranks have so many.
    pub ranks: u64,
    /// Work of all their threads in parallel regions.
    pub worked: i128,
    /// Time in which these waited for the slowest of their team.
    pub waited: i128,
    /// Work of main threads outside of parallel regions.
    pub serial: i128,
}

/// Efficiencies; each is 1 where nothing is lost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LevelShares {
    /// How evenly ranks spend time outside of MPI.
    pub load_balance: f64,
    /// What dependencies among ranks leave of the rest; unknown if visits of a phase take longer on an ideal network.
    pub serialisation: Option<f64>,
    /// What the network leaves of the rest; unknown in the same case.
    pub transfer: Option<f64>,
    /// Of these three together.
    pub process: f64,
    /// What threads in parallel regions leave of it.
    pub region: f64,
    /// What threads outside of parallel regions leave of the rest.
    pub serial: f64,
    /// Of both together.
    pub thread: f64,
}

/// Time in which threads do not work while their process is outside of MPI: shares of the run time of all threads. Together they are what
/// the additive efficiency of threads lacks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IdleShares {
    /// Outside of parallel regions.
    pub outside: f64,
    /// Waiting for the slowest thread in a parallel region.
    pub waiting: f64,
    /// All else in parallel regions: the runtime of threads, locks, and where fewer threads than there are were asked for.
    pub rest: f64,
}

impl Levels {
    /// Whether any rank has more than one thread.
    pub fn has_threads(&self) -> bool {
        self.by_threads.iter().any(|of| of.threads > 1)
    }

    /// The least and the most threads of a rank.
    pub fn threads(&self) -> (u32, u32) {
        let numbers = || self.by_threads.iter().map(|of| of.threads);
        (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0))
    }

    /// Work of all threads in relation to the run time of all threads.
    pub fn efficiency(&self) -> f64 {
        share(self.all_work(), self.time())
    }

    /// Efficiencies whose products are that of all threads.
    pub fn multiplicative(&self) -> LevelShares {
        let [outside_of_mpi, run, most] = [self.outside_of_mpi(), self.run as f64, self.most as f64];
        let ideal = comparable(self.ideal, self.run).map(|ideal| ideal as f64);
        let regions = self.worked() + self.serial();
        LevelShares {
            load_balance: share(outside_of_mpi, most * self.ranks as f64),
            serialisation: ideal.map(|ideal| share(most, ideal)),
            transfer: ideal.map(|ideal| share(ideal, run)),
            process: share(outside_of_mpi, self.time()),
            region: share(regions, outside_of_mpi),
            serial: share(self.all_work(), regions),
            thread: share(self.all_work(), outside_of_mpi),
        }
    }

    /// Efficiencies each of which lacks what is lost of the run time by one cause; what all lack together is what that of all threads
    /// lacks.
    pub fn additive(&self) -> LevelShares {
        let [ranks, run, most] = [self.ranks as f64, self.run as f64, self.most as f64];
        let ideal = comparable(self.ideal, self.run).map(|ideal| ideal as f64);
        let without = |lost: f64| if run > 0.0 { (1.0 - lost / run).clamp(0.0, 1.0) } else { 1.0 };
        let of_rank = |sum: f64| sum / ranks.max(1.0);
        let outside_of_mpi = of_rank(self.outside_of_mpi());
        LevelShares {
            load_balance: without(most - outside_of_mpi),
            serialisation: ideal.map(|ideal| without(ideal - most)),
            transfer: ideal.map(|ideal| share(ideal, run)),
            process: share(outside_of_mpi, run),
            region: without(of_rank(self.parallel as f64 - self.worked())),
            serial: without(of_rank(self.serial() - self.serial_of_thread())),
            thread: without(outside_of_mpi - of_rank(self.all_work())),
        }
    }

    /// What threads do while they do not work.
    pub fn idle(&self) -> IdleShares {
        let lost = |ticks: f64| if self.run > 0 { (ticks / self.time()).clamp(0.0, 1.0) } else { 0.0 };
        let waited = self.of_thread(|of| of.waited);
        IdleShares {
            outside: lost(self.serial() - self.serial_of_thread()),
            waiting: lost(waited),
            rest: lost(self.parallel as f64 - self.worked() - waited),
        }
    }

    /// Communication: serialisation and transfer together, in both forms.
    pub fn communication(&self) -> f64 {
        share(self.most as f64, self.run as f64)
    }

    /// The run time of all ranks.
    fn time(&self) -> f64 {
        self.run as f64 * self.ranks as f64
    }

    /// The sum over ranks of the mean of their threads.
    fn of_thread(&self, of: impl Fn(&SameThreads) -> i128) -> f64 {
        self.by_threads.iter().map(|same| of(same) as f64 / f64::from(same.threads.max(1))).sum()
    }

    fn worked(&self) -> f64 {
        self.of_thread(|of| of.worked)
    }

    fn serial(&self) -> f64 {
        self.by_threads.iter().map(|of| of.serial).sum::<i128>() as f64
    }

    fn serial_of_thread(&self) -> f64 {
        self.of_thread(|of| of.serial)
    }

    fn all_work(&self) -> f64 {
        self.worked() + self.serial_of_thread()
    }

    fn outside_of_mpi(&self) -> f64 {
        self.parallel as f64 + self.serial()
    }
}

/// The part of a run time by which an ideal network may make it longer, and is still said to leave it as it is.
const ALIKE: i64 = 2_000;

/// The run time on an ideal network, if it can be compared with the real one. Of a phase it may be longer, if ranks come to it at times that
/// differ more: then serialisation and transfer cannot be told apart.
pub fn comparable(ideal: Ticks, run: Ticks) -> Option<Ticks> {
    (ideal - run <= run / ALIKE).then(|| ideal.min(run))
}

/// A share of something; 1 of nothing, of which nothing is lost. More than all, as damaged traces have it, is all.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ranks with 2 threads and one with 4, over 100 ticks. By rank: p, q of all threads, waits, s are (40, 60, 10, 20),
    /// (60, 120, 0, 0), (50, 160, 8, 40).
    fn levels() -> Levels {
        Levels {
            ranks: 3,
            run: 100,
            ideal: 95,
            parallel: 150,
            most: 90,
            by_threads: vec![
                SameThreads { threads: 2, ranks: 2, worked: 180, waited: 10, serial: 20 },
                SameThreads { threads: 4, ranks: 1, worked: 160, waited: 8, serial: 40 },
            ],
        }
    }

    fn is_near(found: f64, wanted: f64) -> bool {
        (found - wanted).abs() < 1e-12
    }

    #[test]
    fn efficiencies_of_ranks_with_different_numbers_of_threads_are_those_by_hand() {
        let levels = levels();
        // Means over ranks: m = 70, q = (30 + 60 + 40) / 3, s = 20, s / t = 20 / 3, so all work is 50.
        assert!(is_near(levels.efficiency(), 0.5));
        let of = levels.multiplicative();
        let found = [of.load_balance, of.process, of.region, of.serial, of.thread];
        let wanted = [70.0 / 90.0, 0.7, (130.0 / 3.0 + 20.0) / 70.0, 150.0 / 190.0, 5.0 / 7.0];
        assert!(found.into_iter().zip(wanted).all(|(found, wanted)| is_near(found, wanted)), "{of:?}");
        assert_eq!((of.serialisation, of.transfer), (Some(90.0 / 95.0), Some(0.95)));
        let of = levels.additive();
        let found = [of.load_balance, of.process, of.region, of.serial, of.thread];
        let wanted = [0.8, 0.7, 1.0 - (50.0 - 130.0 / 3.0) / 100.0, 1.0 - 40.0 / 300.0, 0.8];
        assert!(found.into_iter().zip(wanted).all(|(found, wanted)| is_near(found, wanted)), "{of:?}");
        let idle = levels.idle();
        let found = [idle.outside, idle.waiting, idle.rest];
        let wanted = [40.0 / 300.0, 7.0 / 300.0, 13.0 / 300.0];
        assert!(found.into_iter().zip(wanted).all(|(found, wanted)| is_near(found, wanted)), "{idle:?}");
    }

    #[test]
    fn what_levels_lack_adds_up_and_their_product_is_the_efficiency_of_all_threads() {
        let levels = levels();
        let of = levels.multiplicative();
        let product = of.load_balance * of.serialisation.unwrap() * of.transfer.unwrap();
        assert!(is_near(product, of.process) && is_near(of.region * of.serial, of.thread));
        assert!(is_near(of.process * of.thread, levels.efficiency()));
        let of = levels.additive();
        let parts = [of.load_balance, of.serialisation.unwrap(), of.transfer.unwrap(), of.region, of.serial];
        let lacking: f64 = parts.iter().map(|part| 1.0 - part).sum();
        assert!(is_near(lacking, 1.0 - levels.efficiency()));
        assert!(is_near(2.0 - of.region - of.serial, 1.0 - of.thread));
        let idle = levels.idle();
        assert!(is_near(idle.outside + idle.waiting + idle.rest, 1.0 - of.thread));
    }

    #[test]
    fn serialisation_of_visits_that_take_longer_on_an_ideal_network_is_unknown() {
        let longer = Levels { ideal: 101, ..levels() };
        assert_eq!((longer.multiplicative().serialisation, longer.additive().transfer), (None, None));
        assert_eq!(longer.communication(), 0.9);
        // By no more than 0.05 % it is as long.
        assert_eq!([10_005, 10_006].map(|ideal| comparable(ideal, 10_000)), [Some(10_000), None]);
    }
}
