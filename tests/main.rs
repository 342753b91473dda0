//! Integration tests. One binary, so that they link once; each topic is a module.

mod bad_input;
mod causes;
mod citations;
mod clocks;
mod command_line;
mod comparison;
mod crates;
mod culprits;
mod damage;
mod diagnostics;
mod documentation;
mod equivalence;
mod faults;
mod generated;
mod golden;
mod interop;
mod laws;
mod masks;
mod oracle;
mod pauses;
mod reference;
mod robustness;
mod second_implementation;
mod support;
