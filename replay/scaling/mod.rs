//! Efficiencies of runs, and how they develop with the number of ranks (what-if 5).
//!
//! ```text
//!   walk ──► facts of this run ─┬─► summary, attributes of the report
//!                               └─┐
//!   reports ──► references ───────┴─► table ──► growth models ──► summary, member of the report
//! ```

mod amdahl;
mod facts;
mod growth;
mod references;
mod student;
mod table;

pub use amdahl::Amdahl;
pub use facts::RunFacts;
pub use growth::{FEWEST, Forecast, Growth, Term};
pub use references::{OtherRuns, Run};
pub use table::{Model, Modelled, Quantity, Scaling, ScalingKind};
