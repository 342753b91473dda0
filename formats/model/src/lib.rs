//! The vocabulary of traces, in OTF2's and MPI's terms.
//!
//! Plain data that every other crate of the workspace agrees on: the numbers that OTF2 gives to paradigms,
//! roles and operations ([`enumerations`]), the functions of MPI ([`mpi`]), the definitions of a trace with
//! all references resolved ([`Definitions`]), the arithmetic of its clock ([`time`]), the attributes that
//! mark gaps in a trace ([`attributes`]), the metrics of time off the processor ([`off_cpu`]), what a run has used of
//! the machine ([`usage`]), and the regions of accelerators ([`accelerators`]).
//!
//! Deliberately absent: files, byte orders, threads, and everything that only one analysis needs.

pub mod accelerators;
pub mod attributes;
pub mod definitions;
pub mod enumerations;
pub mod mpi;
pub mod off_cpu;
pub mod recording;
pub mod table;
pub mod time;
pub mod usage;

pub use definitions::{
    CallingContext, CartDimension, CartTopology, Communicator, Counting, CountsSince, Definitions,
    FileHandle, FileProperty, Group, InterruptGenerator, Location, LocationGroup, Members, MetricClass,
    MetricMember, MetricValues, Region, State, SystemTreeNode, Window,
};
pub use enumerations::{
    CollectiveOp, GroupType, LocationGroupType, LocationType, MeasurementMode, Paradigm, RegionRole,
};
pub use table::Table;
pub use time::{ClockProperties, Ticks};
