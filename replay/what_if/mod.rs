//! What-if replay: the run as it would have been under other conditions (`docs/what-if.md`).
//!
//! ```text
//!   walk ──► marks ─┬─► messages ─┐
//!                   ├─► members ──┼─► graph ─► explain ─► forward (lanes) ─► run times
//!                   └─► threads ──┘                          ▲
//!                    standard ─► scenarios ─► changes, lanes ┘
//! ```
//!
//! Who waits for whom is kept, when is computed anew.

mod arrival;
mod asked;
mod changes;
mod classes;
mod compact;
mod completing;
mod completions;
mod dependencies;
mod efficiency;
mod explain;
mod forward;
mod goals;
mod graph;
mod known;
mod lanes;
mod latency;
mod levels;
mod levers;
mod lines;
mod marks;
mod members;
mod messages;
mod near;
mod nodes;
mod parts;
mod phases;
mod polls;
mod predict;
mod purpose;
mod rebuild;
mod record_times;
mod replayed;
mod scenario;
mod spread;
mod standard;
mod stretches;
mod threads;
mod usage;
mod void;
mod workers;

pub use changes::ITSELF;
pub use classes::RowClass;
pub use efficiency::Efficiency;
pub use latency::{Latency, TOLERATED};
pub use levels::{IdleShares, LevelShares, Levels, SameThreads, comparable};
pub use levers::{Lever, WORTH};
pub use nodes::Nodes;
pub use phases::{Phase, PhaseWindows, RankVisits};
pub use predict::{Prediction, Predictions, TimedGraph};
pub use purpose::Purpose;
pub use record_times::RecordTimes;
pub use replayed::Replayed;
pub use scenario::{Change, Place, Scenario, WhatIf};
pub use stretches::{RareWork, TENTHS};
pub use workers::{Formula, Master, Policy, PolicyKind, Unknown};
