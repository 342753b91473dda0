//! Idle threads (specification 16.4).

use replay::Semantics;

use super::Analysis;

/// The outermost parallel region of a path, as a path.
fn parallel(path: &str) -> Option<String> {
    let names: Vec<&str> = path.split('/').collect();
    let depth = names.iter().position(|name| name.starts_with("!$omp parallel"))?;
    Some(names[..=depth].join("/"))
}

impl Analysis {
    /// Idle time of a worker: all time of its main thread outside of parallel regions, and in each of them
    /// the difference. The reference omits it where POSIX threads are called.
    pub(crate) fn idle_threads(&mut self) {
        let has_pthreads = self.locations.iter().any(|it| it.has_pthreads);
        if has_pthreads && self.semantics == Semantics::Reference {
            return;
        }
        for worker in 0..self.locations.len() {
            if !self.locations[worker].is_worker {
                continue;
            }
            let process = self.locations[worker].process;
            let main = self.locations.iter().position(|it| it.process == process).unwrap();
            for (path, time) in self.times(main) {
                if parallel(&path).is_none() {
                    self.idle(worker, &path, time);
                }
            }
            let mut regions: Vec<String> =
                self.times(main).into_iter().filter_map(|(path, _)| parallel(&path)).collect();
            regions.sort();
            regions.dedup();
            for region in regions {
                let sum = |times: Vec<(String, i64)>| -> i64 {
                    let inside = times.into_iter().filter(|it| parallel(&it.0).as_ref() == Some(&region));
                    inside.map(|it| it.1).sum()
                };
                let lacking = sum(self.times(main)) - sum(self.times(worker));
                if lacking > 0 {
                    self.idle(worker, &region, lacking);
                }
            }
        }
    }

    fn times(&self, location: usize) -> Vec<(String, i64)> {
        let of = self.severities.iter().filter(|((metric, _, at), _)| metric == "time" && *at == location);
        of.map(|((_, path, _), &value)| (path.clone(), value)).collect()
    }

    fn idle(&mut self, worker: usize, path: &str, ticks: i64) {
        for metric in ["time", "omp_idle_threads"] {
            *self.severities.entry((metric.into(), path.into(), worker)).or_default() += ticks;
        }
    }
}
