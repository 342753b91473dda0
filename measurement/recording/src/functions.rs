//! The table of all MPI functions that are recorded, `functions.txt`: the union of what Open MPI and MPICH export, but
//! for conversions of handles (`*_f2c`, `*_c2f`), clocks (`MPI_Wtime`, `MPI_Wtick`), addresses (`MPI_Aint_*`) and the
//! tools interface (`MPI_T_*`).
//!
//! A line is: name (with a question mark if not every MPI library has the function), group, role, hook, parameters. Groups have Score-P's names (`SCOREP_MPI_ENABLE_GROUPS`), roles are
//! OTF2's as Score-P gives them. The hook is the function of the recorder that records what the call does, `-` if
//! entering and leaving it is all. Parameters have classes, which is all that a wrapper must know of them:
//!
//! | class | what |
//! |---|---|
//! | `p` | a pointer |
//! | `i` | an `int` |
//! | `n` | 64 bits: `MPI_Aint`, `MPI_Count`, `MPI_Offset`, and `MPI_File`, a pointer in every MPI |
//! | `h` | a handle by value: an `int` (MPICH) or a pointer (Open MPI) |

use std::sync::LazyLock;

use model::RegionRole;

/// The table as it is in the file.
pub const TABLE: &str = include_str!("../functions.txt");

/// An MPI function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name, such as `MPI_Send`.
    pub name: &'static str,
    /// Whether some MPI libraries lack it.
    pub is_optional: bool,
    /// The group that configurations know it by, such as `p2p`.
    pub group: &'static str,
    /// What OTF2 calls its role.
    pub role: RegionRole,
    /// The recorder's function for it, such as `point_to_point::send`.
    pub hook: Option<&'static str>,
    /// Its parameters: name and class.
    pub parameters: Vec<(&'static str, char)>,
}

/// Hooks that other calls depend on: they run even if their function is not chosen.
const FOLLOWED: [&str; 12] = [
    "communicators::",
    "files::open",
    "files::close",
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

impl Function {
    /// Whether calls that do something (complete a request, make a communicator) are recorded even if the function is
    /// not chosen.
    pub fn is_followed(&self) -> bool {
        let hook = self.hook.unwrap_or_default();
        FOLLOWED.iter().any(|prefix| hook.starts_with(prefix))
    }

    /// Whether a word of a choice of functions means it: its name, also without the ending of large counts, its group, or
    /// `all`.
    pub fn is_meant_by(&self, word: &str) -> bool {
        let base = self.name.strip_suffix("_c").unwrap_or(self.name);
        word == "all" || self.group == word || self.name == word || base == word
    }
}

/// All functions, in the order of the table: a function's position is its number.
///
/// # Panics
/// If the table, which is part of the program, is wrong.
pub fn all() -> &'static [Function] {
    static FUNCTIONS: LazyLock<Vec<Function>> =
        LazyLock::new(|| TABLE.lines().filter(|line| !line.starts_with('#')).map(parse).collect());
    &FUNCTIONS
}

/// A word of a choice of functions that stands for none: neither a name nor a group.
pub fn unknown_in(choice: &str) -> Option<&str> {
    let is_known = |word: &str| all().iter().any(|function| function.is_meant_by(word));
    let words = choice.split(',').map(|word| word.trim().trim_start_matches(['+', '-']));
    words.filter(|word| !word.is_empty()).find(|word| !is_known(word))
}

fn parse(line: &'static str) -> Function {
    let mut words = line.split_ascii_whitespace();
    let mut word = || words.next().unwrap_or_else(|| panic!("functions.txt: too few words in {line:?}"));
    let (name, group, role, hook) = (word(), word(), word(), word());
    let (name, is_optional) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
    let parameters = words.map(|parameter| {
        let (name, class) = parameter.split_once(':').unwrap_or_else(|| panic!("functions.txt: {parameter}"));
        (name, class.chars().next().unwrap_or_else(|| panic!("functions.txt: {parameter}")))
    });
    Function {
        name,
        is_optional,
        group,
        role: self::role(role).unwrap_or_else(|| panic!("functions.txt: role {role} of {name}")),
        hook: (hook != "-").then_some(hook),
        parameters: parameters.collect(),
    }
}

/// OTF2's name of a role that MPI functions have.
fn role(name: &str) -> Option<RegionRole> {
    Some(match name {
        "FUNCTION" => RegionRole::FUNCTION,
        "POINT2POINT" => RegionRole::POINT2POINT,
        "BARRIER" => RegionRole::BARRIER,
        "COLL_ONE2ALL" => RegionRole::COLL_ONE2ALL,
        "COLL_ALL2ONE" => RegionRole::COLL_ALL2ONE,
        "COLL_ALL2ALL" => RegionRole::COLL_ALL2ALL,
        "COLL_OTHER" => RegionRole::COLL_OTHER,
        "RMA" => RegionRole::RMA,
        "ATOMIC" => RegionRole::ATOMIC,
        "FILE_IO" => RegionRole::FILE_IO,
        "FILE_IO_METADATA" => RegionRole::FILE_IO_METADATA,
        "ALLOCATE" => RegionRole::ALLOCATE,
        "DEALLOCATE" => RegionRole::DEALLOCATE,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_sorted_and_complete() {
        let functions = all();
        assert!(functions.len() > 500);
        assert!(functions.windows(2).all(|pair| pair[0].name < pair[1].name));
        for function in functions {
            assert!(function.name.starts_with("MPI_"));
            assert!(
                function.parameters.iter().all(|(_, class)| "pinh".contains(*class)),
                "{}",
                function.name
            );
            // A wrapper passes on six parameters in registers and the others on the stack.
            assert!(function.parameters.len() <= 16);
        }
    }
}
