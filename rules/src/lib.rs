//! Rules as data (docs/rules.md): files of rules are read and checked, rows of tables are gone through, and groups of rows are
//! judged.
//!
//! The crate knows nothing of traces. A caller says in a [`Schema`] which tables, columns and facts there are; [`read()`] makes
//! [`Rules`] of files, or lists all that is wrong in them. A [`Scanner`] takes rows of a table by column, and gathers
//! [`Totals`], which workers exchange as words and merge; [`Rules::evaluate`] says what was found. Sections named (advice 5.2)
//! are those of the specification of advice.
//!
//! Deliberately absent: traces, delay costs, gains that need a replay, files, and exchange between workers.

// Casts that may lose bits are written nowhere without saying why.
#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)
)]

mod check;
mod code;
mod evaluate;
mod example;
mod gathered;
mod glob;
mod lex;
mod machine;
mod parse;
mod program;
mod read;
mod rows;
mod rule;
mod scan;
mod schema;
mod site;
mod source;
mod suggest;
mod template;
#[cfg(test)]
mod tests;
mod totals;
mod types;
mod words;

pub use evaluate::{Context, Finding, NotEvaluated, Outcome, Shown};
pub use example::{Tried, try_examples};
pub use read::{Objection, read, read_with};
pub use rows::{ABSENT, ABSENT_FLAG, OwnedValues, Rows, Run, Values};
pub use rule::{Claims, Event, EventKind, Gain, Matching, Over, Place, Rule, Rules, Scenario};
pub use scan::Scanner;
pub use schema::{Column, Grouping, Names, Schema, Table};
pub use site::Site;
pub use source::{Problem, Source};
pub use suggest::suggestion;
pub use totals::{Malformed, Totals};
pub use types::Type;
