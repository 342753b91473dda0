//! Integration tests of `replay-show`. One binary; each topic is a module.

mod compare;
mod support;
mod tree;
