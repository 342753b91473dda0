//! Efficiencies of runs, and how they develop with the number of ranks (what-if 5).
//!
//! ```text
//!   walk ──► facts of this run ──┬─► summary, attributes of the report
//!   reports of other sizes ──────┘
//! ```

mod facts;

pub use facts::RunFacts;
