//! Calls that look for something without waiting for it (rest of MPI 6.3, structure 2.2).

/// How a call looks for something without waiting for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Polling {
    /// `MPI_Test`, `MPI_Testall`: whether all requests are complete.
    All,
    /// `MPI_Testany`, `MPI_Testsome`: whether one is.
    Any,
    /// `MPI_Iprobe`, `MPI_Improbe`: whether there is a message.
    Probe,
    /// `MPI_Request_get_status`: whether a request is complete, which stays as it is.
    Status,
}

impl Polling {
    /// Of the function with this [plain](super::plain) name.
    pub fn of_plain(name: &str) -> Option<Polling> {
        match name {
            "test" | "testall" => Some(Polling::All),
            "testany" | "testsome" => Some(Polling::Any),
            "iprobe" | "improbe" => Some(Polling::Probe),
            "request_get_status" => Some(Polling::Status),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::{functions, plain};

    #[test]
    fn functions_that_poll_are_in_the_table_and_those_that_wait_are_none() {
        let polls = functions().iter().filter(|function| Polling::of_plain(&plain(function.name)).is_some());
        assert_eq!(polls.count(), 7);
        assert_eq!(["wait", "probe", "mprobe", "test_cancelled"].map(Polling::of_plain), [None; 4]);
    }
}
