//! Runs `replay-show` in this process.

use std::ffi::OsString;

use serde_json::Value;
use show::output::Surroundings;
use show::status::Status;

/// How `replay-show` ends with some variables of the environment, what it prints, and its messages.
pub(crate) fn show(arguments: &[&str], variables: &[(&str, &str)]) -> (Status, String, String) {
    let (mut results, mut messages) = (Vec::new(), Vec::new());
    let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let surroundings = Surroundings { variables, ..Surroundings::default() };
    let arguments = ["replay-show"].iter().chain(arguments).map(OsString::from);
    let status = show::cli::run(arguments, &surroundings, &mut results, &mut messages);
    let [results, messages] = [results, messages].map(|bytes| String::from_utf8(bytes).unwrap());
    (status, results, messages)
}

/// What `replay-show` prints for scripts.
pub(crate) fn json(arguments: &[&str]) -> Value {
    let (status, results, messages) = show(&[&["--json"], arguments].concat(), &[]);
    assert_eq!(status, Status::Done, "{messages}");
    serde_json::from_str(&results).unwrap()
}
