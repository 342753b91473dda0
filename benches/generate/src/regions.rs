//! Regions of every trace, with their references.

use model::{Paradigm, RegionRole};

/// A region definition.
#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) role: RegionRole,
    pub(crate) paradigm: Paradigm,
}

/// Numbers the regions in the order of the list.
macro_rules! regions {
    ($($constant:ident $name:literal $file:literal $role:ident $paradigm:ident;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Number { $($constant,)* }

        $(pub(crate) const $constant: u32 = Number::$constant as u32;)*

        /// All regions of the list.
        pub(crate) const REGIONS: &[Region] = &[$(
            Region { name: $name, file: $file, role: RegionRole::$role, paradigm: Paradigm::$paradigm },
        )*];
    };
}

regions! {
    MAIN "main" "main.c" FUNCTION COMPILER;
    INIT "MPI_Init" "MPI" FUNCTION MPI;
    INIT_THREAD "MPI_Init_thread" "MPI" FUNCTION MPI;
    FINALIZE "MPI_Finalize" "MPI" FUNCTION MPI;
    COMM_RANK "MPI_Comm_rank" "MPI" FUNCTION MPI;
    COMM_SIZE "MPI_Comm_size" "MPI" FUNCTION MPI;
    SEND "MPI_Send" "MPI" POINT2POINT MPI;
    RECV "MPI_Recv" "MPI" POINT2POINT MPI;
    ISEND "MPI_Isend" "MPI" POINT2POINT MPI;
    IRECV "MPI_Irecv" "MPI" POINT2POINT MPI;
    WAITALL "MPI_Waitall" "MPI" POINT2POINT MPI;
    BARRIER "MPI_Barrier" "MPI" BARRIER MPI;
    BCAST "MPI_Bcast" "MPI" COLL_ONE2ALL MPI;
    REDUCE "MPI_Reduce" "MPI" COLL_ALL2ONE MPI;
    ALLREDUCE "MPI_Allreduce" "MPI" COLL_ALL2ALL MPI;
    ALLTOALL "MPI_Alltoall" "MPI" COLL_ALL2ALL MPI;
    WAIT "MPI_Wait" "MPI" POINT2POINT MPI;
    IBARRIER "MPI_Ibarrier" "MPI" BARRIER MPI;
    IALLREDUCE "MPI_Iallreduce" "MPI" COLL_ALL2ALL MPI;
    IALLTOALL "MPI_Ialltoall" "MPI" COLL_ALL2ALL MPI;
    CART_CREATE "MPI_Cart_create" "MPI" FUNCTION MPI;
    COMM_FREE "MPI_Comm_free" "MPI" FUNCTION MPI;
    NEIGHBOR_ALLTOALL "MPI_Neighbor_alltoall" "MPI" COLL_ALL2ALL MPI;
    NEIGHBOR_ALLTOALLV "MPI_Neighbor_alltoallv" "MPI" COLL_ALL2ALL MPI;
    INEIGHBOR_ALLTOALLV "MPI_Ineighbor_alltoallv" "MPI" COLL_ALL2ALL MPI;
    WIN_ALLOCATE "MPI_Win_allocate" "MPI" ALLOCATE MPI;
    WIN_FREE "MPI_Win_free" "MPI" FUNCTION MPI;
    PUT "MPI_Put" "MPI" RMA MPI;
    ACCUMULATE "MPI_Accumulate" "MPI" ATOMIC MPI;
    WIN_FENCE "MPI_Win_fence" "MPI" FUNCTION MPI;
    WIN_POST "MPI_Win_post" "MPI" FUNCTION MPI;
    WIN_START "MPI_Win_start" "MPI" FUNCTION MPI;
    WIN_COMPLETE "MPI_Win_complete" "MPI" FUNCTION MPI;
    WIN_WAIT "MPI_Win_wait" "MPI" FUNCTION MPI;
    WIN_LOCK "MPI_Win_lock" "MPI" FUNCTION MPI;
    WIN_UNLOCK "MPI_Win_unlock" "MPI" FUNCTION MPI;
    WIN_LOCK_ALL "MPI_Win_lock_all" "MPI" FUNCTION MPI;
    WIN_FLUSH "MPI_Win_flush" "MPI" FUNCTION MPI;
    WIN_FLUSH_LOCAL "MPI_Win_flush_local" "MPI" FUNCTION MPI;
    WIN_FLUSH_ALL "MPI_Win_flush_all" "MPI" FUNCTION MPI;
    WIN_UNLOCK_ALL "MPI_Win_unlock_all" "MPI" FUNCTION MPI;
    FILE_OPEN "MPI_File_open" "MPI" FILE_IO_METADATA MPI;
    FILE_SET_VIEW "MPI_File_set_view" "MPI" FUNCTION MPI;
    FILE_WRITE_AT "MPI_File_write_at" "MPI" FILE_IO MPI;
    FILE_WRITE_ALL "MPI_File_write_all" "MPI" FILE_IO MPI;
    FILE_READ_AT "MPI_File_read_at" "MPI" FILE_IO MPI;
    FILE_CLOSE "MPI_File_close" "MPI" FILE_IO_METADATA MPI;
    PARALLEL "!$omp parallel @main.c:40" "main.c" PARALLEL OPENMP;
    LOOP "!$omp for @main.c:42" "main.c" LOOP OPENMP;
    LOOP_BARRIER "!$omp implicit barrier @main.c:45" "main.c" IMPLICIT_BARRIER OPENMP;
    CRITICAL "!$omp critical @main.c:47" "main.c" CRITICAL OPENMP;
    CRITICAL_BLOCK "!$omp critical sblock @main.c:47" "main.c" CRITICAL_SBLOCK OPENMP;
    PARALLEL_BARRIER "!$omp implicit barrier @main.c:50" "main.c" IMPLICIT_BARRIER OPENMP;
}

/// Functions of CUDA, and kernels. Only traces with streams have them, behind the functions of the pattern.
pub(crate) mod cuda {
    use super::{Paradigm, Region, RegionRole};

    regions! {
        LAUNCH_KERNEL "cuLaunchKernel" "CUDRV" WRAPPER CUDA;
        MEMCPY_ASYNC "cuMemcpyAsync" "CUDRV" WRAPPER CUDA;
        MEMCPY_TO_HOST "cuMemcpyDtoH_v2" "CUDRV" WRAPPER CUDA;
        EVENT_RECORD "cuEventRecord" "CUDRV" WRAPPER CUDA;
        STREAM_WAIT_EVENT "cuStreamWaitEvent" "CUDRV" WRAPPER CUDA;
        CONTEXT_SYNCHRONIZE "cuCtxSynchronize" "CUDRV" WRAPPER CUDA;
        STREAM_SYNCHRONIZE "cuStreamSynchronize" "CUDRV" WRAPPER CUDA;
        EVENT_SYNCHRONIZE "cuEventSynchronize" "CUDRV" WRAPPER CUDA;
        ASSEMBLE "assemble" "CUDA_KERNEL" KERNEL CUDA;
        SOLVE "solve" "CUDA_KERNEL" KERNEL CUDA;
    }
}

/// Reference of a function of the pattern.
pub(crate) const fn function(number: u32) -> u32 {
    REGIONS.len() as u32 + number
}
