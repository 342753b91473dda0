//! Integration tests. One binary, so that they link once.

mod command_line;
mod traces;
