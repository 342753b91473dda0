//! What a sequence of steps repeats: event flow graphs, their lossless order, loops, iterations, and those unlike the others.
//!
//! All are pure functions over sequences of [`Node`]s, of one location or of one group of locations with equal graphs; what a
//! step is, and the times, come from the analyzer. Sections named (structure 2.4) are those of docs/structure.md.
//!
//! Deliberately absent: traces, files, and exchange between workers.

// Casts that may lose bits are written nowhere: no reader need ask whether their numbers fit.
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_sign_loss))]

mod clusters;
mod components;
mod edge_numbers;
mod fold;
mod forest;
mod graph;
mod iterations;
mod main_loop;
mod node;
mod outliers;
mod partition;
mod sites;
mod temporal;
mod totals;
mod words;

pub use clusters::{Cluster, Features, clusters};
pub use fold::{Fold, Term};
pub use forest::{Forest, Loop, LoopId};
pub use graph::{Edge, Graph, GraphBuilder, NodeTotals, Polls, Step, Times};
pub use iterations::{Iteration, Iterations, iterations};
pub use main_loop::{LoopTotals, main_loop};
pub use node::Node;
pub use outliers::{Outlier, outliers, trend};
pub use partition::{PartitionBuilder, Progression, partition};
pub use sites::sites;
pub use temporal::{TemporalBuilder, TemporalGraph, Way};
pub use totals::{begins_iteration, loop_totals};
pub use words::{Word, WordPart, Words, word_numbers, words};

/// Converts a number of nodes, edges or steps of one location, of which there are less than 2^32.
///
/// # Panics
/// If there are more.
#[track_caller]
fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("less than 2^32 of a kind at a location")
}

/// Nodes with these numbers.
#[cfg(test)]
fn nodes(numbers: &[u32]) -> Vec<Node> {
    numbers.iter().copied().map(Node::new).collect()
}

/// The nodes of a sequence of keys.
#[cfg(test)]
fn numbered<K: std::hash::Hash + Eq>(keys: impl IntoIterator<Item = K>) -> Vec<Node> {
    let mut known = rustc_hash::FxHashMap::default();
    let mut number = |key| {
        let next = to_u32(known.len() + 1);
        Node::new(*known.entry(key).or_insert(next))
    };
    keys.into_iter().map(&mut number).collect()
}

/// Pseudo-random numbers below the one that is given.
#[cfg(test)]
fn random(seed: u64) -> impl FnMut(u32) -> u32 {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(below.max(1))) as u32
    }
}
