//! What the messages of a run tell of its network: a scenario that asks for more has no answer (what-if 2.5).

use super::dependencies::DependencyKind;
use super::explain::LinesOfPairs;
use super::graph::Graph;
use super::nodes::Nodes;
use super::scenario::{Change, Scenario};
use crate::error::Error;
use crate::exchange::{Exchange, share};

/// What is known of the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownNetwork {
    /// How long messages take: there are some.
    latency: bool,
    /// How it depends on their size: the longest are of several sizes.
    bandwidth: bool,
}

impl KnownNetwork {
    /// What the lines say of those messages that are the longest, on one node and between nodes.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn new(
        graph: &Graph,
        nodes: &Nodes,
        lines: &LinesOfPairs,
        exchange: &mut dyn Exchange,
    ) -> Result<KnownNetwork, Error> {
        // By pairs, of eager messages and of those by rendezvous: the largest.
        let mut largest = [[0; 2]; 2];
        for (location, of) in (graph.first..).zip(&graph.locations) {
            for dependency in of.dependencies.iter().filter(|dependency| dependency.kind.is_of_receive()) {
                let class = usize::from(dependency.is_remote(location, nodes));
                let kind = usize::from(dependency.kind == DependencyKind::Rendezvous);
                largest[class][kind] = dependency.bytes.max(largest[class][kind]);
            }
        }
        let told = share(exchange, largest.as_flattened().to_vec())?;
        let of_all = |at: usize| told.iter().map(|words| words[at]).max().unwrap_or(0);
        let latency = lines.iter().any(|lines| lines.are_known());
        let kinds = [DependencyKind::Eager, DependencyKind::Rendezvous];
        let is_told = |class: usize| {
            let [eager, rendezvous] = [of_all(2 * class), of_all(2 * class + 1)];
            let kind = kinds[usize::from(rendezvous >= eager)];
            lines[class].of(kind).slope > 0
        };
        let has_messages = |class: &usize| lines[*class].are_known();
        Ok(KnownNetwork { latency, bandwidth: latency && (0..2).filter(has_messages).all(is_told) })
    }

    /// Whether that is enough for a scenario.
    pub(super) fn tells(self, scenario: &Scenario) -> bool {
        scenario.changes.iter().all(|change| match *change {
            Change::Latency(factor) => self.latency || factor == 1.0,
            Change::Bandwidth(factor) => self.bandwidth || factor == 1.0,
            _ => true,
        })
    }
}
