//! Tests of `replay-import`.

mod command_line;
mod contents;
mod damage;
mod law;
mod recorded;
mod support;

// Scripts name types of the analyzer: here they are those of `support`.
extern crate self as replay;
use support::{Focus, Semantics};
