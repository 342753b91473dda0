//! Write and read Cube 4 reports (`.cubex`), the profiles of Score-P, Scalasca and CubeGUI.
//!
//! A report gives a value for each *metric* (what was measured), *cnode* (call path, in what part of the
//! program) and *location* (thread of the measured program). A [`Cube`] describes the three; the values come
//! in *rows*: one metric, one call path, one number per location.
//!
//! ```
//! use cubex::*;
//!
//! // Describe: one metric; main calls MPI_Recv; one process on one node.
//! let mut cube = Cube::default();
//! let time = cube.add_metric(Metric {
//!     unique_name: "time".into(),
//!     display_name: "Time".into(),
//!     unit: "sec".into(),
//!     ..Metric::default()
//! });
//! let main = cube.add_region(Region::named("main"));
//! let recv = cube.add_region(Region { paradigm: "mpi".into(), ..Region::named("MPI_Recv") });
//! let root = cube.add_cnode(Cnode { region: main, ..Cnode::default() });
//! let call = cube.add_cnode(Cnode { parent: Some(root), region: recv, ..Cnode::default() });
//! let node = cube.add_system_tree_node(SystemTreeNode { name: "machine m".into(), ..Default::default() });
//! let rank = cube.add_location_group(LocationGroup { system_tree_node: node, ..Default::default() });
//! cube.add_location(Location { group: rank, name: "Master thread".into(), ..Location::default() });
//!
//! // Write.
//! # let directory = std::env::temp_dir();
//! # let path = directory.join(format!("cubex-doc-{}.cubex", std::process::id()));
//! let mut writer = Writer::create(&path, cube)?;
//! writer.add_member("findings.txt", b"all is well\n")?;
//! let mut rows = writer.metric(time, &[root, call])?;
//! rows.push_f64(root, &[1.5])?;
//! rows.push_f64(call, &[0.25])?;
//! rows.finish()?;
//! writer.finish()?;
//!
//! // Read.
//! let report = Report::open(&path)?;
//! let time = report.cube().metric_named("time").expect("it was written");
//! assert_eq!(report.rows(time)?.next()?, Some((root, Values::F64(vec![1.5]))));
//! assert_eq!(report.severities(time)?.inclusive(root, LocationId(0)), 1.75);
//! # std::fs::remove_file(&path).unwrap();
//! # Ok::<(), cubex::Error>(())
//! ```
//!
//! Guarantees:
//!
//! * Reports are written row by row, or in any order, so they may be larger than memory, and appear under
//!   their name only when complete.
//! * The same calls give the same bytes: no time, user or host name goes into a report.
//! * A [`Writer`] refuses descriptions that some reader of the format is known to reject or misread.
//! * A [`Report`] can be opened on any bytes: errors name the member and the byte; nothing panics, recurses,
//!   or allocates out of proportion to the file's size.
//!
//! Deliberately absent: evaluation of derived metrics (their expressions are kept as text), writing of
//! compressed data, Cube 3 files. The bytes are described in `FORMAT.md`.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::cast_possible_truncation,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

mod anchor;
mod check;
mod container;
mod cube;
mod data;
mod datatype;
mod error;
mod forest;
mod id;
mod index;
mod members;
mod metric;
mod program;
mod report;
mod severities;
mod statistics;
mod system;
mod temporary;
mod topology;
mod writer;
mod xml;

pub use cube::{Attribute, Cube};
pub use data::Values;
pub use datatype::DataType;
pub use error::{Error, Result};
pub use forest::{Forest, Step};
pub use id::{CnodeId, LocationGroupId, LocationId, MetricId, RegionId, SystemTreeNodeId};
pub use members::Members;
pub use metric::{Aggregation, Expression, Metric, MetricKind};
pub use program::{Cnode, Parameter, Region};
pub use report::{Report, RowReader};
pub use severities::Severities;
pub use statistics::{CAUSE_WORDS, PatternInstance, PatternStatistics, STATISTICS_TITLES, statistics_text};
pub use system::{Location, LocationGroup, LocationGroupKind, LocationKind, SystemTreeNode};
pub use temporary::{Removed, remove_temporaries};
pub use topology::{Coordinate, Dimension, Placed, Topology};
pub use writer::{Complete, RowWriter, Writer};
