//! Colours: which of the page's colours a class of time has. The style sheet says what they look like in each theme.

use crate::overview::ClassTime;

/// The colour of a class of time by its role and name: the last part of the names of its custom property (`--c-work`) and of its
/// class for fills (`c-work`).
pub(super) fn of_class(role: &str, name: &str) -> &'static str {
    let is_of = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match role {
        "work" => "work",
        "communicate" => "communicate",
        "files" => "files",
        "wait" if is_of(&["late_sender", "latesender", "late_receiver", "latereceiver"]) => "messages",
        "wait" if is_of(&["omp", "pthread", "thread", "lock"]) => "threads",
        "wait" => "collectives",
        "threads" if is_of(&["idle"]) => "idle",
        "threads" => "threads",
        "tool" => "tool",
        _ => "other",
    }
}

/// The colour where there are no styles: that of the light theme.
pub(super) fn plain(colour: &str) -> &'static str {
    match colour {
        "work" => "#bbbbbb",
        "communicate" => "#0072b2",
        "messages" => "#d55e00",
        "collectives" => "#e69f00",
        "threads" => "#f0e442",
        "idle" => "#56b4e9",
        "files" => "#cc79a7",
        "tool" => "#000000",
        _ => "#ffffff",
    }
}

/// The colour of a class with its time.
pub(super) fn of(class: &ClassTime) -> &'static str {
    of_class(&class.role, &class.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_messages_and_in_collective_operations_differ() {
        assert_eq!(of_class("wait", "mpi_latesender"), "messages");
        assert_eq!(of_class("wait", "late_receiver"), "messages");
        assert_eq!(of_class("wait", "mpi_barrier_wait"), "collectives");
        assert_eq!(of_class("wait", "omp_ibarrier_wait"), "threads");
        assert_eq!(of_class("", "other"), "other");
    }
}
