//! Integration tests of `replay-show`. One binary; each topic is a module.

mod advice;
mod compare;
mod conventions;
mod damage;
mod derived;
#[cfg(feature = "explore")]
mod explore;
mod export;
mod first;
mod hostile;
mod matrix;
mod page;
mod ranks;
mod screens;
#[cfg(feature = "serve")]
mod serve;
mod support;
mod terminal;
mod tree;
mod waiting;
mod waits;
