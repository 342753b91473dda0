//! Unique names in the report of metrics that a trace has.

/// Returns the unique name of a metric: its name, with an underscore for whatever unique names of Cube cannot have, and behind it what
/// makes it differ from those that are taken.
pub(super) fn id_of(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut id = name.replace(|c: char| !c.is_ascii_alphanumeric() && !"_:=".contains(c), "_");
    while is_taken(&id) {
        id.push_str("_counter");
    }
    id
}
