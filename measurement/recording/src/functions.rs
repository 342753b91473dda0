//! MPI functions as the recorder sees them: its columns of the table of MPI functions ([`model::mpi`]), and
//! the choice of functions by the user.
//!
//! The columns are group, hook, parameters. Groups have Score-P's names (`SCOREP_MPI_ENABLE_GROUPS`). The
//! hook is the function of the recorder that records what the call does, `-` if entering and leaving it is
//! all. Parameters have classes, which is all that a wrapper must know of them:
//!
//! | class | type |
//! |---|---|
//! | `p` | a pointer |
//! | `i` | an `int` |
//! | `n` | 64 bits: `MPI_Aint`, `MPI_Count`, `MPI_Offset`, and `MPI_File`, a pointer in every MPI |
//! | `h` | a handle by value: an `int` (MPICH) or a pointer (Open MPI) |

use std::sync::LazyLock;

use model::{RegionRole, mpi};

/// An MPI function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MpiFunction {
    /// Its name, such as `MPI_Send`.
    pub name: &'static str,
    /// Whether some MPI libraries lack it.
    pub is_optional: bool,
    /// Its role in OTF2 (`OTF2_RegionRole`).
    pub role: RegionRole,
    /// Its group in configurations, such as `p2p`.
    pub group: &'static str,
    /// The recorder's function for it, such as `point_to_point::send`.
    pub hook: Option<&'static str>,
    /// Its parameters: name and class.
    pub parameters: Vec<(&'static str, char)>,
}

/// Hooks that other calls depend on: they run even if their function is not chosen.
const FOLLOWED: [&str; 14] = [
    "communicators::",
    "files::open",
    "files::close",
    "partitioned::",
    "probes::matched",
    "requests::free",
    "requests::some",
    "requests::start",
    "requests::test",
    "requests::wait",
    "windows::create",
    "windows::free",
    "windows::set_name",
    "windows::allocate",
];

/// Hooks that add attributes to the leave, and no record: without their functions a trace lacks no message
/// and no operation.
const DESCRIBED: [&str; 2] = ["probes::probe", "probes::test"];

impl MpiFunction {
    /// Whether calls that do something (complete a request, make a communicator) are recorded even if the
    /// function is not chosen.
    pub fn is_followed(&self) -> bool {
        let hook = self.hook.unwrap_or_default();
        FOLLOWED.iter().any(|prefix| hook.starts_with(prefix))
    }

    /// Whether its calls leave records of messages or operations.
    pub fn has_records(&self) -> bool {
        self.hook.is_some_and(|hook| !DESCRIBED.contains(&hook))
    }

    /// Whether a word of a choice of functions selects it: its name, also without the suffix `_c` of large
    /// counts, its group, or `all`.
    pub fn is_meant_by(&self, word: &str) -> bool {
        let base = self.name.strip_suffix("_c").unwrap_or(self.name);
        word == "all" || self.group == word || self.name == word || base == word
    }
}

/// Returns all functions, in the order of the table: a function's position is its number.
///
/// # Panics
/// If the table, which is part of the program, is wrong.
pub fn all() -> &'static [MpiFunction] {
    static FUNCTIONS: LazyLock<Vec<MpiFunction>> =
        LazyLock::new(|| mpi::functions().iter().map(function).collect());
    &FUNCTIONS
}

/// Returns a word of a choice of functions that is neither a name nor a group.
pub fn unknown_in(choice: &str) -> Option<&str> {
    let is_known = |word: &str| all().iter().any(|function| function.is_meant_by(word));
    let words = choice.split(',').map(|word| word.trim().trim_start_matches(['+', '-']));
    words.filter(|word| !word.is_empty()).find(|word| !is_known(word))
}

fn function(of: &mpi::Function) -> MpiFunction {
    let mpi::Function { name, is_optional, role, recorder, .. } = *of;
    let mut words = recorder.split(' ');
    let mut word = || words.next().unwrap_or_else(|| panic!("functions.txt: too few words for {name}"));
    let (group, hook) = (word(), word());
    let parameters = words.map(|parameter| {
        let (name, class) = parameter.split_once(':').unwrap_or_else(|| panic!("functions.txt: {parameter}"));
        (name, class.chars().next().unwrap_or_else(|| panic!("functions.txt: {parameter}")))
    });
    let hook = (hook != "-").then_some(hook);
    MpiFunction { name, is_optional, role, group, hook, parameters: parameters.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_of_known_classes_and_few_enough() {
        for function in all() {
            assert!(
                function.parameters.iter().all(|(_, class)| "pinh".contains(*class)),
                "{}",
                function.name
            );
            // A wrapper passes on six parameters in registers and the others on the stack.
            assert!(function.parameters.len() <= 16);
        }
    }

    #[test]
    fn columns_of_a_function_are_those_of_the_table() {
        let free = all().iter().find(|function| function.name == "MPI_Request_free").unwrap();
        assert_eq!((free.group, free.hook), ("p2p", Some("requests::free")));
        assert_eq!(free.parameters, [("request", 'p')]);
        assert!(free.is_followed() && free.has_records() && !free.is_optional);
        let known = |name: &str| all().iter().any(|function| function.hook == Some(name));
        assert!(DESCRIBED.iter().all(|hook| known(hook)));
    }
}
