//! Integration tests of `replay-show`. One binary; each topic is a module.

mod support;
mod tree;
