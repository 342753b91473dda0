//! Calls in which MPI makes progress: those in which a library moves what other processes wait for (rest of MPI 2.5).

/// Beginnings of [plain](super::plain) names of queries and of local bookkeeping.
const LOCAL: [&str; 62] = [
    "add_error_",
    "address",
    "alloc_mem",
    "attr_",
    "buffer_",
    "cart_coords",
    "cart_get",
    "cart_map",
    "cart_rank",
    "cart_shift",
    "cartdim_get",
    "comm_call_err",
    "comm_compare",
    "comm_create_keyval",
    "comm_delete_attr",
    "comm_free_keyval",
    "comm_get_",
    "comm_group",
    "comm_rank",
    "comm_remote_",
    "comm_set_",
    "comm_size",
    "comm_test_inter",
    "dims_create",
    "dist_graph_neighbors",
    "err",
    "file_call_err",
    "file_get_",
    "file_set_atomicity",
    "file_set_info",
    "finalized",
    "free_mem",
    "get_",
    "graph_get",
    "graph_map",
    "graph_neighbors",
    "graphdims_get",
    "group_",
    "info_",
    "initialized",
    "is_thread_main",
    "keyval_",
    "op_",
    "pack",
    "pcontrol",
    "query_thread",
    "session_",
    "status_",
    "topo_test",
    "type_",
    "unpack",
    "win_attach",
    "win_call_err",
    "win_create_keyval",
    "win_delete_attr",
    "win_detach",
    "win_free_keyval",
    "win_get_",
    "win_set_",
    "win_shared_query",
    "win_sync",
    "wti",
];

/// Returns whether MPI makes progress in calls of the function with this [plain](super::plain) name. Functions that the
/// specification does not list do.
pub fn makes_progress(name: &str) -> bool {
    // MPI_File_seek_shared is collective, MPI_Get_accumulate one-sided communication.
    name != "file_seek"
        && (name.starts_with("get_accumulate") || !LOCAL.iter().any(|begin| name.starts_with(begin)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::{functions, plain};

    #[test]
    fn every_beginning_is_of_a_function() {
        // Of time, and of status objects, the table has none.
        for begin in LOCAL.iter().filter(|begin| !["wti", "status_"].contains(begin)) {
            assert!(functions().iter().any(|function| plain(function.name).starts_with(begin)), "{begin}");
        }
    }

    #[test]
    fn queries_make_no_progress_and_all_that_communicates_does() {
        for name in ["comm_rank", "wtime", "type_commit", "get_count", "win_sync", "file_seek", "err_class"] {
            assert!(!makes_progress(name), "{name}");
        }
        let others = [
            "comm_split",
            "wait",
            "test",
            "iprobe",
            "get",
            "get_accumulate",
            "file_seek_shared",
            "win_fence",
        ];
        for name in others {
            assert!(makes_progress(name), "{name}");
        }
    }
}
