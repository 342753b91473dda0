//! Integration tests. One binary, so that they link once.

mod call_sites;
mod command_line;
mod iterations;
mod traces;
mod unlike;
