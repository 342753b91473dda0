//! Impact of the critical path on all locations (specification 8.2 to 8.4).

use std::collections::{BTreeMap, BTreeSet};

use replay::Semantics;

use super::time_map::{TimeMap, difference};
use super::{Causes, Found};

/// Shares of the excess of the path over locations, by call path.
type Shares = BTreeMap<String, f64>;

/// Q13: the reference divides by zero, and a NaN spoils the sum. Corrected, the share is 0 then.
fn add_shares(shares: &mut Shares, excess: &TimeMap, lacking: i64, semantics: Semantics) {
    let sum: i64 = excess.values().sum();
    if sum == 0 && semantics == Semantics::Corrected {
        return;
    }
    let factor = lacking as f64 / sum as f64;
    for (path, &ticks) in excess {
        *shares.entry(path.clone()).or_default() += ticks as f64 * factor;
    }
}

impl Causes<'_> {
    pub(super) fn impact(&self, path: &[TimeMap], found: &mut Found) {
        let semantics = self.analysis.semantics;
        let mut global = TimeMap::new();
        for (name, ticks) in path.iter().flatten() {
            *global.entry(name.clone()).or_default() += ticks;
        }
        let total: i64 = global.values().sum();
        let work: Vec<TimeMap> = (0..self.locations()).map(|location| self.work(location)).collect();
        let paths: BTreeSet<&String> = global.keys().chain(work.iter().flat_map(BTreeMap::keys)).collect();
        let (mut all, mut foreign) = (Shares::new(), Shares::new());
        for (location, work) in work.iter().enumerate() {
            // The reference counts threads without events.
            if self.analysis.locations[location].end.is_none() && semantics == Semantics::Corrected {
                continue;
            }
            let own = |path: &str| work.get(path).copied().unwrap_or(0);
            let on_path = |path: &str| global.get(path).copied().unwrap_or(0);
            let (mut excess, mut rest, mut covered) = (TimeMap::new(), TimeMap::new(), 0);
            for &name in &paths {
                let (own, on_path) = (own(name), on_path(name));
                excess.insert(name.clone(), (on_path - own).max(0));
                rest.insert(name.clone(), if own > 0 { 0 } else { on_path });
                covered += if own > 0 { own + (on_path - own.min(on_path)) } else { 0 };
                let key = |metric: &str| (metric.to_owned(), name.clone(), location);
                if on_path > 0 {
                    found.severities.insert(key("critical_path_activities"), on_path.min(own));
                }
                if own > on_path {
                    found.severities.insert(key("non_critical_path_activities"), own - on_path);
                }
            }
            add_shares(&mut all, &excess, total - work.values().sum::<i64>(), semantics);
            add_shares(&mut foreign, &rest, total - covered, semantics);
        }
        for (location, path) in path.iter().enumerate() {
            for (name, &ticks) in path.iter().filter(|(_, ticks)| **ticks > 0) {
                found.severities.insert(("critical_path".into(), name.clone(), location), ticks);
                let share = ticks as f64 / global[name] as f64;
                let shares = [("critical_imbalance_impact", &all), ("inter_partition_imbalance", &foreign)];
                for (metric, shares) in shares {
                    let value = share * shares.get(name).copied().unwrap_or(0.0);
                    if value > 0.0 {
                        found.add(metric, name, location, value);
                    }
                }
            }
        }
    }

    /// τ: the time of a location without its waiting. What lies in windows is not more than all of it: a wait may be longer than
    /// the time of its call path behind it.
    fn work(&self, location: usize) -> TimeMap {
        let (end, points) = (self.end(location), self.points.of(location));
        let all = difference(&self.runtimes(None, end), &self.waits(&points));
        let mut map = self.focused(None, end, &points);
        map.iter_mut().for_each(|(path, ticks)| *ticks = all.get(path).map_or(0, |&all| all.min(*ticks)));
        map
    }
}
