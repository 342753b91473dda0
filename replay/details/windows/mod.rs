//! Tables of windows: full events around the severest waits.
//!
//! Events are gone when waits are known, so the owners of a window's locations walk the event files of their processes a
//! second time. These are a few of thousands.
//!
//! | file | content |
//! |---|---|
//! | `plan` | which windows there are |
//! | `read` | the second walk: calls and messages |
//! | `rows` | all rows at worker 0, and waits with the calls that they lie in |
//! | `table` | the tables |
//! | `demand` | windows that users ask for when there is a report: any time, any locations |
//! | `demand_paths` | call paths of the report by those of a process |

mod demand;
mod demand_paths;
mod plan;
mod read;
mod rows;
mod table;

pub use demand::{MOST_LOCATIONS, TraceWindows};
pub use plan::{Limits, Plan, Window};
pub(super) use read::read;
pub(super) use rows::{Rows, gather};
pub(super) use table::tables;
