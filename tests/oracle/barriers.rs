//! Barriers of threads, specification 11.2.

use super::Analysis;
use super::read::Role;

impl Analysis {
    /// Each thread of a team waits for the last one, but not while it runs tasks.
    pub(crate) fn thread_barriers(&mut self) {
        let mut visits = Vec::new();
        for (at, location) in self.locations.iter().enumerate() {
            for (call, it) in location.calls.iter().enumerate() {
                let metric = match it.role {
                    Role::ExplicitBarrier => "omp_ebarrier_wait",
                    Role::ImplicitBarrier => "omp_ibarrier_wait",
                    Role::Parallel | Role::Other => continue,
                };
                visits.push((location.process, it.team, metric, at, call));
            }
        }
        for &(process, team, metric, at, call) in &visits {
            // The position of a visit among those of its thread is the same for all threads.
            let of = |location: usize| -> Vec<usize> {
                let same = visits.iter().filter(|it| (it.0, it.1, it.3) == (process, team, location));
                same.map(|it| it.4).collect()
            };
            let number = of(at).iter().position(|&it| it == call).unwrap();
            let others = (0..self.locations.len()).filter_map(|it| Some((it, *of(it).get(number)?)));
            let enter = |(location, call): (usize, usize)| self.locations[location].calls[call].enter;
            let latest = others.map(enter).max().unwrap();
            let idle = latest - enter((at, call)) - self.locations[at].calls[call].suspended;
            if idle > 0 {
                self.add(metric, at, call, idle);
            }
        }
    }
}
