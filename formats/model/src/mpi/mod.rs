//! Table of MPI functions, `functions.txt`: the only place that classifies them. The recorder generates its
//! wrappers from it, the analysis classifies calls by it.
//!
//! It has the union of what Open MPI and MPICH export, but for conversions of handles (`*_f2c`, `*_c2f`),
//! clocks (`MPI_Wtime`, `MPI_Wtick`), addresses (`MPI_Aint_*`) and the tools interface (`MPI_T_*`). A line is
//! a function:
//!
//! | column | content |
//! |---|---|
//! | name | in alphabetical order; with a question mark behind it if some MPI libraries lack the function |
//! | role | OTF2's role, as Score-P assigns it |
//! | class | the [`Class`]; `-` if the role suffices or no analysis needs one |
//! | the rest | columns of the recorder, which parses them itself (`recording::functions`) |
//!
//! A class is as fine as its users need: code that must distinguish two functions of one class splits the
//! class.
//!
//! Traces may have functions of later versions of MPI, which are not in the table, and other roles than the
//! table has: what depends on a role depends on the role in the trace.

mod polling;
mod progress;

use std::sync::LazyLock;

use crate::RegionRole;

pub use polling::Polling;
pub use progress::makes_progress;

/// A line of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name, such as `MPI_Send`.
    pub name: &'static str,
    /// Whether some MPI libraries lack it.
    pub is_optional: bool,
    /// OTF2's role.
    pub role: RegionRole,
    /// Class for the analysis.
    pub class: Class,
    /// The columns of the recorder.
    pub recorder: &'static str,
}

/// Defines the classes, each with its keyword in the table.
macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident = $word:literal;)*) => {
        /// Classes of MPI functions, where the role is not enough: for the classes of time (specification
        /// 16.3), for the completion of messages (specification 3.1), and for waiting that no record
        /// describes.
        ///
        /// Variants with large counts (`MPI_Put_c`) have the class `Other`, since the names of the
        /// specification are exact.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub enum Class {
            $($(#[$doc])* $class,)*
        }

        impl Class {
            fn of_word(word: &str) -> Option<Class> {
                match word {
                    $($word => Some(Class::$class),)*
                    _ => None,
                }
            }
        }
    };
}

classes! {
    /// None of these.
    #[default]
    Other = "-";
    /// Starts MPI (`MPI_Init`).
    Init = "init";
    /// Ends MPI (`MPI_Finalize`).
    Finalize = "finalize";
    /// Queries whether MPI has been started or finalized.
    Initialized = "initialized";
    /// Management of communicators, topologies, ports and names that is not known to need other processes.
    CommunicatorAlone = "communicator_alone";
    /// Collective creation or release of a communicator.
    CommunicatorTogether = "communicator_together";
    /// Local management of a file.
    FileAlone = "file_alone";
    /// Collective management of a file.
    FileTogether = "file_together";
    /// Reads from a file, not collectively.
    FileRead = "file_read";
    /// Writes to a file, not collectively.
    FileWrite = "file_write";
    /// Reads from a file collectively.
    FileReadTogether = "file_read_together";
    /// Writes to a file collectively.
    FileWriteTogether = "file_write_together";
    /// Management of windows.
    Window = "window";
    /// Active target synchronisation of a window.
    ActiveTarget = "active_target";
    /// Passive target synchronisation of a window.
    PassiveTarget = "passive_target";
    /// One-sided communication that sends data.
    Put = "put";
    /// One-sided communication that fetches data.
    Get = "get";
    /// Sends a message, and may block until the receive is posted.
    BlockingSend = "blocking_send";
    /// Sends a message and receives one, in one call.
    SendReceive = "send_receive";
    /// Completes the requests that are done, without waiting.
    Test = "test";
    /// Waits for one request.
    WaitOne = "wait_one";
    /// Waits for several requests.
    WaitMany = "wait_many";
    /// Waits for a message without receiving it.
    Probe = "probe";
}

/// All functions in the order of the table; a function's position is its number.
///
/// # Panics
/// If the table, which is part of the program, is wrong.
pub fn functions() -> &'static [Function] {
    static FUNCTIONS: LazyLock<Vec<Function>> =
        LazyLock::new(|| include_str!("functions.txt").lines().map(parse).collect());
    &FUNCTIONS
}

/// The class of the function with exactly this name (`MPI_Send`).
pub fn class(name: &str) -> Class {
    class_at(functions().binary_search_by_key(&name, |function| function.name))
}

/// The class of the function with this [`plain`] name (`send`).
pub fn class_of_plain(name: &str) -> Class {
    let lower = |name: &'static str| name.bytes().skip(PREFIX.len()).map(|byte| byte.to_ascii_lowercase());
    class_at(functions().binary_search_by(|function| lower(function.name).cmp(name.bytes())))
}

/// The function of MPI 3 that a function of MPI 4 is like, as classes of time are concerned (rest of MPI 6.4, 7.1, and 10).
/// Classes are by exact names, and the reference has those of MPI 3 only.
pub fn counterpart(name: &str) -> Option<&'static Function> {
    let known = match name {
        "MPI_Psend_init" | "MPI_Precv_init" | "MPI_Pready" | "MPI_Pready_list" | "MPI_Pready_range"
        | "MPI_Parrived" => "MPI_Isend",
        "MPI_Comm_create_from_group" => "MPI_Comm_create_group",
        "MPI_Comm_idup_with_info" => "MPI_Comm_idup",
        "MPI_Intercomm_create_from_groups" => "MPI_Intercomm_create",
        "MPI_Session_init" => "MPI_Init",
        "MPI_Session_finalize" => "MPI_Finalize",
        _ => return None,
    };
    functions().iter().find(|function| function.name == known)
}

/// A name in lower case and without `MPI_` in front, whatever the language (specification 3.1).
pub fn plain(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    name.strip_prefix("mpi_").map(str::to_owned).unwrap_or(name)
}

/// Prefix of all names in the table.
const PREFIX: &str = "MPI_";

fn class_at(found: Result<usize, usize>) -> Class {
    found.map_or(Class::Other, |at| functions()[at].class)
}

fn parse(line: &'static str) -> Function {
    let wrong = || -> ! { panic!("functions.txt: {line:?}") };
    let mut columns = line.splitn(4, ' ');
    let mut column = || columns.next().unwrap_or_else(|| wrong());
    let (name, role, class, recorder) = (column(), column(), column(), column());
    let (name, is_optional) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
    let role = self::role(role).unwrap_or_else(|| wrong());
    let class = Class::of_word(class).unwrap_or_else(|| wrong());
    Function { name, is_optional, role, class, recorder }
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
    fn table_is_in_the_order_of_names_and_of_plain_names() {
        let functions = functions();
        assert!(functions.len() > 500);
        assert!(functions.iter().all(|function| function.name.starts_with(PREFIX)));
        for pair in functions.windows(2) {
            assert!(pair[0].name < pair[1].name, "{}", pair[1].name);
            assert!(plain(pair[0].name) < plain(pair[1].name), "{}", pair[1].name);
        }
    }

    #[test]
    fn every_function_is_found_by_both_names() {
        for function in functions() {
            assert_eq!(class(function.name), function.class);
            assert_eq!(class_of_plain(&plain(function.name)), function.class);
        }
    }

    #[test]
    fn functions_of_mpi_4_are_like_functions_of_mpi_3() {
        let of = |name: &str| counterpart(name).map(|function| (function.name, function.role));
        assert_eq!(of("MPI_Pready_list"), Some(("MPI_Isend", RegionRole::POINT2POINT)));
        assert_eq!(of("MPI_Session_init"), Some(("MPI_Init", RegionRole::FUNCTION)));
        assert_eq!([of("MPI_Isend"), of("MPI_Session_get_info"), of("MPI_Put_c")], [None; 3]);
        let known = functions().iter().filter(|function| counterpart(function.name).is_some());
        assert_eq!(known.count(), 11);
    }

    #[test]
    fn line_of_the_table_is_what_it_says() {
        let line = "MPI_Put_c? RMA - rma one_sided::put origin_addr:p origin_count:n";
        let recorder = "rma one_sided::put origin_addr:p origin_count:n";
        let (role, class) = (RegionRole::RMA, Class::Other);
        assert_eq!(parse(line), Function { name: "MPI_Put_c", is_optional: true, role, class, recorder });
    }

    #[test]
    fn name_is_exact_and_a_plain_one_is_of_any_language() {
        assert_eq!(class("MPI_Waitall"), Class::WaitMany);
        for name in ["mpi_waitall", "Waitall", "MPI_Waitall_", "PMPI_Waitall", ""] {
            assert_eq!(class(name), Class::Other, "{name}");
        }
        for name in ["mpi_waitall", "MPI_WAITALL", "Waitall", "waitall"] {
            assert_eq!(class_of_plain(&plain(name)), Class::WaitMany, "{name}");
        }
        for name in ["PMPI_Waitall", "MPI_MPI_Waitall", "MPI_", "", "wäit"] {
            assert_eq!(class_of_plain(&plain(name)), Class::Other, "{name}");
        }
    }
}
