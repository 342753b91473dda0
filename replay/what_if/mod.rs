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

mod changes;
mod classes;
mod efficiency;
mod explain;
mod forward;
mod graph;
mod lanes;
mod levels;
mod lines;
mod marks;
mod members;
mod messages;
mod phases;
mod predict;
mod scenario;
mod standard;
mod threads;
mod usage;

pub use efficiency::Efficiency;
pub use levels::{IdleShares, LevelShares, Levels, SameThreads, comparable};
pub use phases::{Phase, PhaseWindows, RankVisits};
pub use predict::{Prediction, Predictions, TimedGraph};
pub use scenario::{Change, Place, Scenario, WhatIf};
