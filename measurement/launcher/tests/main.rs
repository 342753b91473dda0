//! Recordings made by hand become archives, whatever state they are in; programs run as they do without the launcher.

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
