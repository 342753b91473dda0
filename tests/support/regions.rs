//! Properties that Score-P gives to regions by name: paradigm, role, source file.

use model::{Paradigm, RegionRole};

/// Fields of a region definition besides its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Properties {
    pub(crate) paradigm: Paradigm,
    pub(crate) role: RegionRole,
    pub(crate) file: String,
    /// First line in the file; 0 if unknown.
    pub(crate) line: u32,
    /// OTF2's flags.
    pub(crate) flags: u32,
}

/// The properties that Score-P gives to a region of this name.
pub(crate) fn properties(name: &str) -> Properties {
    let of = |paradigm, role, file: &str| Properties { paradigm, role, file: file.into(), line: 0, flags: 0 };
    if let Some(call) = name.strip_prefix("MPI_") {
        return of(Paradigm::MPI, mpi_role(call), "MPI");
    }
    let openmp = |role| of(Paradigm::OPENMP, role, "prog.c");
    let api = |paradigm| of(paradigm, RegionRole::FUNCTION, "prog.c");
    if let Some((paradigm, file)) = interface(name) {
        return of(paradigm, RegionRole::WRAPPER, file);
    }
    match name {
        "!$omp critical" => openmp(RegionRole::CRITICAL),
        "!$omp critical sblock" => openmp(RegionRole::CRITICAL_SBLOCK),
        _ if name.starts_with("omp_") => api(Paradigm::OPENMP),
        _ if name.starts_with("pthread_") => api(Paradigm::PTHREAD),
        "!$omp parallel" => openmp(RegionRole::PARALLEL),
        "!$omp implicit barrier" => openmp(RegionRole::IMPLICIT_BARRIER),
        "!$omp barrier" => openmp(RegionRole::BARRIER),
        "!$omp task" => openmp(RegionRole::TASK),
        "!$omp create task" => openmp(RegionRole::TASK_CREATE),
        "!$omp taskwait" => openmp(RegionRole::TASK_WAIT),
        "!$omp for" => openmp(RegionRole::LOOP),
        _ => of(Paradigm::COMPILER, RegionRole::FUNCTION, "prog.c"),
    }
}

/// The interface of accelerators that a function belongs to, with the source file that Score-P gives to it.
fn interface(name: &str) -> Option<(Paradigm, &'static str)> {
    let is_of = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_uppercase()))
    };
    match () {
        () if is_of("cu") => Some((Paradigm::CUDA, "CUDRV")),
        () if is_of("cuda") => Some((Paradigm::CUDA, "CUDART")),
        () if is_of("hip") => Some((Paradigm::HIP, "HIP_API")),
        () if is_of("cl") => Some((Paradigm::OPENCL, "OPENCL")),
        () => None,
    }
}

/// Role of an MPI call: collective calls have the same role whether they block or not.
fn mpi_role(call: &str) -> RegionRole {
    // MPI_Isend, MPI_Improbe, MPI_Iallreduce, but not MPI_Init.
    let blocking = call.strip_prefix('I').filter(|rest| *rest != "nit").map(capitalised);
    let call = blocking.as_deref().unwrap_or(call);
    match call {
        "Send" | "Ssend" | "Bsend" | "Rsend" | "Send_init" | "Recv" | "Recv_init" | "Sendrecv" | "Mrecv"
        | "Probe" | "Mprobe" => RegionRole::POINT2POINT,
        "Barrier" => RegionRole::BARRIER,
        "Bcast" | "Scatter" | "Scatterv" => RegionRole::COLL_ONE2ALL,
        "Reduce" | "Gather" | "Gatherv" => RegionRole::COLL_ALL2ONE,
        "Allreduce"
        | "Allgather"
        | "Allgatherv"
        | "Alltoall"
        | "Alltoallv"
        | "Alltoallw"
        | "Reduce_scatter"
        | "Reduce_scatter_block" => RegionRole::COLL_ALL2ALL,
        "Scan" | "Exscan" => RegionRole::COLL_OTHER,
        "Put" | "Get" | "Accumulate" | "Rput" | "Rget" | "Raccumulate" | "Get_accumulate" => RegionRole::RMA,
        "Fetch_and_op" | "Compare_and_swap" => RegionRole::ATOMIC,
        _ if call.starts_with("File_") => RegionRole::FILE_IO,
        _ if call.starts_with("Neighbor_") => RegionRole::COLL_ALL2ALL,
        _ => RegionRole::FUNCTION,
    }
}

fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

/// Collective operation by the name in reports.
pub(crate) fn operation(name: &str) -> Option<model::CollectiveOp> {
    (0..=22)
        .map(model::CollectiveOp)
        .find(|op| op.name().is_some_and(|known| known.replace(' ', "_") == name))
}

/// A paradigm or role by name.
pub(crate) fn by_name<T>(name: &str, make: fn(u8) -> T, name_of: fn(T) -> Option<&'static str>) -> Option<T>
where
    T: Copy,
{
    // A name of several words has hyphens in scripts.
    let is_it = |known: &str| known == name || known == name.replace('-', " ");
    (0..=60).map(make).find(|&value| name_of(value).is_some_and(is_it))
}
