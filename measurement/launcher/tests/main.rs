//! Recordings made by hand become archives, in whatever state they are; programs run as without the launcher.

mod finishing;
mod interrupted;
mod launching;
mod profiled_programs;
mod profiling;
mod recordings;
mod records;
mod symbolisation;

#[path = "../../../tests/recorder/support/laws.rs"]
mod laws;
