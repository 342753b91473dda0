//! What waiting costs that has made others wait: costs in the long term (specification 9), indirect and
//! propagating waiting (specification 10).

use std::collections::BTreeMap;

use crate::oracle::Place;

use super::delays::Delay;
use super::{Causes, Found};

/// cost[k] of an event, by class.
type Cost = BTreeMap<&'static str, f64>;

/// Costs of points that wait, by location and position.
struct Memory<'a> {
    delays: &'a [Delay],
    /// None as long as it is asked for.
    known: BTreeMap<(usize, usize), Option<Cost>>,
    is_circular: bool,
}

impl Memory<'_> {
    /// What a tick of each class costs that a delay has caused, of what the waiting costs that it causes in
    /// turn.
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

    /// What the waiting at an event costs in the long term.
    fn cost(&mut self, causes: &Causes<'_>, event: Place) -> Cost {
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
            *cost.entry(delay.class).or_default() += delay.scale * wait;
        }
        self.known.insert(key, Some(cost.clone()));
        cost
    }
}

impl Causes<'_> {
    pub(super) fn long_term(&self, delays: &[Delay], found: &mut Found) {
        let mut memory = Memory { delays, known: BTreeMap::new(), is_circular: false };
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

    /// Waiting for messages that is caused by waiting.
    pub(super) fn indirect(&self, delays: &[Delay], found: &mut Found) {
        for delay in delays.iter().filter(|delay| delay.is_of_message()) {
            let waiting = delay.waiting.expect("an event that waits for a message");
            let metric = format!("mpi_wait_indirect_{}", delay.class);
            let value = delay.scale * delay.waited as f64;
            found.add(&metric, self.analysis.path(waiting), waiting.location, value);
        }
    }

    /// Waiting for messages that causes waiting for messages: the largest share that one delay passes on.
    pub(super) fn propagating(&self, delays: &[Delay], found: &mut Found) {
        for waiting in delays.iter().filter(|delay| delay.is_of_message()) {
            let event = waiting.waiting.expect("an event that waits for a message");
            let wait = self.points.at(event).map_or(0, |point| point.wait) as f64;
            let reaches = |delay: &&Delay| {
                delay.is_of_message()
                    && delay.causing.location == event.location
                    && delay.reach.contains(&event.at)
            };
            let shares = delays.iter().filter(reaches).map(|delay| delay.scale * wait);
            let largest = shares.fold(0.0, f64::max);
            let metric = match waiting.class {
                "latesender" => "mpi_wait_propagating_ls",
                _ => "mpi_wait_propagating_lr",
            };
            found.add(metric, self.analysis.path(event), event.location, largest);
        }
    }
}
