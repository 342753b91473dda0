//! Propagation of waiting: long-term costs (specification 9), indirect and propagating waiting (specification
//! 10).

use std::collections::BTreeMap;

use crate::oracle::EventRef;

use super::delays::{Delay, is_of_message};
use super::{Causes, Found};

/// cost[k] of an event, by class.
type Cost = BTreeMap<&'static str, f64>;

/// Costs of waiting points, by location and position, computed on demand.
struct CostCache<'a> {
    delays: &'a [Delay],
    /// `None` while the cost is being computed.
    known: BTreeMap<(usize, usize), Option<Cost>>,
    is_circular: bool,
}

impl CostCache<'_> {
    /// Long-term cost per tick of a delay, by class: that of the waiting that it causes.
    fn passed_on(&mut self, causes: &Causes<'_>, delay: &Delay) -> Cost {
        let (Some(waiting), denominator) = (delay.waiting, delay.denominator()) else { return Cost::new() };
        let mut costs = self.cost(causes, waiting);
        // Q16: not through barriers of threads.
        if delay.class == "ompbarrier" {
            costs.remove("ompbarrier");
        }
        costs.retain(|_, _| denominator > 0.0);
        costs.values_mut().for_each(|cost| *cost /= denominator);
        costs
    }

    /// Long-term cost of the waiting at an event.
    fn cost(&mut self, causes: &Causes<'_>, event: EventRef) -> Cost {
        let key = (event.location, event.at);
        match self.known.get(&key) {
            Some(Some(cost)) => return cost.clone(),
            Some(None) => {
                self.is_circular = true;
                return Cost::new();
            }
            None => {}
        }
        self.known.insert(key, None);
        let mut cost = Cost::new();
        let wait = causes.points.at(event).map_or(0, |point| point.wait) as f64;
        let reaches =
            |delay: &&Delay| delay.causing.location == event.location && delay.reach.contains(&event.at);
        for delay in self.delays.iter().filter(reaches) {
            for (class, share) in self.passed_on(causes, delay) {
                *cost.entry(class).or_default() += share * wait;
            }
            *cost.entry(delay.class).or_default() += delay.scale * delay.share * wait;
        }
        self.known.insert(key, Some(cost.clone()));
        cost
    }
}

impl Causes<'_> {
    pub(super) fn long_term(&self, delays: &[Delay], found: &mut Found) {
        let mut memory = CostCache { delays, known: BTreeMap::new(), is_circular: false };
        for delay in delays {
            for (class, share) in memory.passed_on(self, delay) {
                for (path, &ticks) in &delay.excess {
                    let metric = format!("delay_{class}_longterm");
                    found.add(&metric, path, delay.causing.location, share * ticks as f64);
                }
            }
        }
        found.is_circular = memory.is_circular;
    }

    /// Waiting for messages that is caused by other waiting.
    pub(super) fn indirect(&self, delays: &[Delay], found: &mut Found) {
        for delay in delays.iter().filter(|delay| is_of_message(delay.class)) {
            let waiting = delay.waiting.expect("an event that waits for a message");
            let metric = format!("mpi_wait_indirect_{}", delay.class);
            let value = delay.scale * delay.share * delay.waited as f64;
            found.add(&metric, self.analysis.path(waiting), waiting.location, value);
        }
    }

    /// Waiting for messages that causes further waiting for messages: the largest share that one delay
    /// propagates.
    pub(super) fn propagating(&self, delays: &[Delay], found: &mut Found) {
        for edge in self.analysis.edges.iter().filter(|edge| is_of_message(edge.class)) {
            let event = edge.waiting;
            let wait = self.points.at(event).map_or(0, |point| point.wait) as f64;
            let counted = wait * self.analysis.focus.share(edge.begin, edge.wait);
            let reaches = |delay: &&Delay| {
                is_of_message(delay.class)
                    && delay.causing.location == event.location
                    && delay.reach.contains(&event.at)
            };
            let shares = delays.iter().filter(reaches).map(|delay| delay.scale * counted);
            let largest = shares.fold(0.0, f64::max);
            let metric = match edge.class {
                "latesender" => "mpi_wait_propagating_ls",
                _ => "mpi_wait_propagating_lr",
            };
            found.add(metric, self.analysis.path(event), event.location, largest);
        }
    }
}
