//! OTF2's enumerations. A number that is not listed here is kept, never rejected: newer writers add some.

/// Defines a number with named values; `name()` returns `None` for a value that has no name.
macro_rules! enumeration {
    ($(#[$doc:meta])* $type:ident { $($constant:ident = $value:literal, $name:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $type(pub u8);

        impl $type {
            $(#[doc = concat!("`", $name, "`")] pub const $constant: $type = $type($value);)*

            /// The name in reports (Score-P's spelling), or `None` for a number that is not known.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($name),)*
                    _ => None,
                }
            }
        }
    };
}

enumeration! {
    /// The programming model that a region, group or thread team belongs to. Names as in Cube reports.
    Paradigm {
        UNKNOWN = 0, "unknown"; USER = 1, "user"; COMPILER = 2, "compiler"; OPENMP = 3, "openmp";
        MPI = 4, "mpi"; CUDA = 5, "cuda"; MEASUREMENT_SYSTEM = 6, "measurement"; PTHREAD = 7, "pthread";
        HMPP = 8, "hmpp"; OMPSS = 9, "ompss"; HARDWARE = 10, "hardware"; GASPI = 11, "gaspi"; UPC = 12, "upc";
        SHMEM = 13, "shmem"; WINTHREAD = 14, "winthread"; QTTHREAD = 15, "qtthread"; ACETHREAD = 16, "acethread";
        TBBTHREAD = 17, "tbbthread"; OPENACC = 18, "openacc"; OPENCL = 19, "opencl"; MTAPI = 20, "mtapi";
        SAMPLING = 21, "sampling"; NONE = 22, "none"; HIP = 23, "hip"; KOKKOS = 24, "kokkos";
        OPENMP_TARGET = 25, "openmp target";
    }
}

enumeration! {
    /// Role of a region (OTF2, `OTF2_RegionRole`). Names as in Cube reports.
    RegionRole {
        UNKNOWN = 0, "unknown"; FUNCTION = 1, "function"; WRAPPER = 2, "wrapper"; LOOP = 3, "loop"; CODE = 4, "code";
        PARALLEL = 5, "parallel"; SECTIONS = 6, "sections"; SECTION = 7, "section"; WORKSHARE = 8, "workshare";
        SINGLE = 9, "single"; SINGLE_SBLOCK = 10, "single sblock"; MASTER = 11, "master"; CRITICAL = 12, "critical";
        CRITICAL_SBLOCK = 13, "critical sblock"; ATOMIC = 14, "atomic"; BARRIER = 15, "barrier";
        IMPLICIT_BARRIER = 16, "implicit barrier"; FLUSH = 17, "flush"; ORDERED = 18, "ordered";
        ORDERED_SBLOCK = 19, "ordered sblock"; TASK = 20, "task"; TASK_CREATE = 21, "task create";
        TASK_WAIT = 22, "taskwait"; COLL_ONE2ALL = 23, "one2all"; COLL_ALL2ONE = 24, "all2one";
        COLL_ALL2ALL = 25, "all2all"; COLL_OTHER = 26, "other collective"; FILE_IO = 27, "file io";
        POINT2POINT = 28, "point2point"; RMA = 29, "rma"; DATA_TRANSFER = 30, "data transfer";
        ARTIFICIAL = 31, "artificial"; THREAD_CREATE = 32, "thread create"; THREAD_WAIT = 33, "thread wait";
        TASK_UNTIED = 34, "untied task"; ALLOCATE = 35, "allocate"; DEALLOCATE = 36, "deallocate";
        REALLOCATE = 37, "reallocate"; FILE_IO_METADATA = 38, "file io metadata"; CANCEL = 39, "cancel";
        KERNEL = 40, "kernel";
    }
}

enumeration! {
    /// The operation of an `MpiCollectiveEnd` record.
    CollectiveOp {
        BARRIER = 0, "barrier"; BCAST = 1, "bcast"; GATHER = 2, "gather"; GATHERV = 3, "gatherv"; SCATTER = 4, "scatter";
        SCATTERV = 5, "scatterv"; ALLGATHER = 6, "allgather"; ALLGATHERV = 7, "allgatherv"; ALLTOALL = 8, "alltoall";
        ALLTOALLV = 9, "alltoallv"; ALLTOALLW = 10, "alltoallw"; ALLREDUCE = 11, "allreduce"; REDUCE = 12, "reduce";
        REDUCE_SCATTER = 13, "reduce_scatter"; SCAN = 14, "scan"; EXSCAN = 15, "exscan";
        REDUCE_SCATTER_BLOCK = 16, "reduce_scatter_block"; CREATE_HANDLE = 17, "create handle";
        DESTROY_HANDLE = 18, "destroy handle"; ALLOCATE = 19, "allocate"; DEALLOCATE = 20, "deallocate";
        CREATE_HANDLE_AND_ALLOCATE = 21, "create handle and allocate";
        DESTROY_HANDLE_AND_DEALLOCATE = 22, "destroy handle and deallocate";
    }
}

enumeration! {
    /// Type of a location (OTF2, `OTF2_LocationType`).
    LocationType {
        UNKNOWN = 0, "unknown"; CPU_THREAD = 1, "thread"; ACCELERATOR_STREAM = 2, "accelerator stream"; METRIC = 3, "metric";
    }
}

enumeration! {
    /// Type of a location group (OTF2, `OTF2_LocationGroupType`).
    LocationGroupType { UNKNOWN = 0, "unknown"; PROCESS = 1, "process"; ACCELERATOR = 2, "accelerator"; }
}

enumeration! {
    /// Type of the members of a group (OTF2, `OTF2_GroupType`).
    GroupType {
        UNKNOWN = 0, "unknown"; LOCATIONS = 1, "locations"; REGIONS = 2, "regions"; METRIC = 3, "metric";
        COMM_LOCATIONS = 4, "comm locations"; COMM_GROUP = 5, "comm group"; COMM_SELF = 6, "comm self";
        COMM_LOCATION_GROUPS = 7, "comm location groups";
    }
}

enumeration! {
    /// The new state of a `MeasurementOnOff` record.
    MeasurementMode { ON = 1, "on"; OFF = 2, "off"; }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlisted_number_has_no_name_but_keeps_its_value() {
        let role = RegionRole(200);
        assert_eq!((role.0, role.name()), (200, None));
        assert_eq!(RegionRole::POINT2POINT.name(), Some("point2point"));
    }
}
