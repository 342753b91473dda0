//! Classes of time: predicates over a region's paradigm, role and name (specification 16.3). The table of MPI
//! functions classifies those by name ([`model::mpi`]).
//!
//! The classes are those of the reference's report, so that numbers can be compared; most of them correspond
//! to chapters of MPI (MPI 3.1: point-to-point 3, collective 5, communicators 6 and 7, environment 8,
//! one-sided 11, files 13).

use model::mpi::Class;
use model::{Paradigm, Region, RegionRole};

use crate::file_calls::{self, FileCall, file_call};

/// Overhead of the recorder. Recording switched off (`MEASUREMENT OFF`) is time of the program.
pub(crate) fn overhead(region: &Region) -> bool {
    match region.paradigm {
        Paradigm::MEASUREMENT_SYSTEM => matches!(region.name.as_str(), "TRACE BUFFER FLUSH" | "TRACING"),
        Paradigm::OPENCL | Paradigm::CUDA => region.name == "BUFFER FLUSH",
        _ => false,
    }
}

/// Execution: all but overhead.
pub(crate) fn execution(region: &Region) -> bool {
    !overhead(region)
}

/// All of MPI. Score-P's region for MPI's own parallel execution is not a call.
pub fn mpi(region: &Region) -> bool {
    region.paradigm == Paradigm::MPI && region.name != "PARALLEL"
}

/// The class of a region of MPI, by its name.
fn class(region: &Region) -> Class {
    if mpi(region) { model::mpi::class(&region.name) } else { Class::Other }
}

fn mpi_role(region: &Region, roles: &[RegionRole]) -> bool {
    mpi(region) && roles.contains(&region.role)
}

pub(crate) fn init_exit(region: &Region) -> bool {
    matches!(class(region), Class::Init | Class::Finalize | Class::Initialized)
}

pub(crate) fn communicator_management(region: &Region) -> bool {
    matches!(class(region), Class::CommunicatorAlone | Class::CommunicatorTogether)
}

pub(crate) fn file_management(region: &Region) -> bool {
    matches!(class(region), Class::FileAlone | Class::FileTogether)
}

pub(crate) fn window_management(region: &Region) -> bool {
    class(region) == Class::Window
}

pub(crate) fn barrier(region: &Region) -> bool {
    mpi_role(region, &[RegionRole::BARRIER])
}

pub(crate) fn active_target(region: &Region) -> bool {
    class(region) == Class::ActiveTarget
}

pub(crate) fn passive_target(region: &Region) -> bool {
    class(region) == Class::PassiveTarget
}

pub(crate) fn point_to_point(region: &Region) -> bool {
    mpi_role(region, &[RegionRole::POINT2POINT])
        || matches!(class(region), Class::Test | Class::WaitOne | Class::WaitMany)
}

pub(crate) fn collective(region: &Region) -> bool {
    mpi_role(
        region,
        &[
            RegionRole::COLL_ONE2ALL,
            RegionRole::COLL_ALL2ONE,
            RegionRole::COLL_ALL2ALL,
            RegionRole::COLL_OTHER,
        ],
    )
}

pub(crate) fn one_sided(region: &Region) -> bool {
    mpi_role(region, &[RegionRole::RMA, RegionRole::ATOMIC])
}

pub(crate) fn put(region: &Region) -> bool {
    class(region) == Class::Put
}

pub(crate) fn get(region: &Region) -> bool {
    class(region) == Class::Get
}

pub(crate) fn atomic(region: &Region) -> bool {
    mpi_role(region, &[RegionRole::ATOMIC])
}

pub(crate) fn file_individual(region: &Region) -> bool {
    file_individual_reads(region) || file_individual_writes(region)
}

pub(crate) fn file_collective(region: &Region) -> bool {
    file_collective_reads(region) || file_collective_writes(region)
}

pub(crate) fn file_individual_reads(region: &Region) -> bool {
    class(region) == Class::FileRead
}

pub(crate) fn file_individual_writes(region: &Region) -> bool {
    class(region) == Class::FileWrite
}

pub(crate) fn file_collective_reads(region: &Region) -> bool {
    class(region) == Class::FileReadTogether
}

pub(crate) fn file_collective_writes(region: &Region) -> bool {
    class(region) == Class::FileWriteTogether
}

pub(crate) fn file_individual_operations(region: &Region) -> bool {
    file_individual(region) || class(region) == Class::FileAlone
}

pub(crate) fn file_collective_operations(region: &Region) -> bool {
    file_collective(region) || class(region) == Class::FileTogether
}

/// Functions of the C library for files.
pub fn file_functions(region: &Region) -> bool {
    file_calls::is_of_library(region)
}

pub(crate) fn file_handling_functions(region: &Region) -> bool {
    file_functions(region) && region.role == RegionRole::FILE_IO_METADATA
}

pub(crate) fn file_reading_functions(region: &Region) -> bool {
    transfers(region) && file_call(region) == Some(FileCall::Read)
}

/// What is flushed was written.
pub(crate) fn file_writing_functions(region: &Region) -> bool {
    transfers(region) && (file_call(region) == Some(FileCall::Write) || region.name.contains("fflush"))
}

fn transfers(region: &Region) -> bool {
    file_functions(region) && region.role == RegionRole::FILE_IO
}

pub(crate) fn file_reads(region: &Region) -> bool {
    matches!(file_call(region), Some(FileCall::Read | FileCall::Copy))
}

pub(crate) fn file_writes(region: &Region) -> bool {
    matches!(file_call(region), Some(FileCall::Write | FileCall::Copy))
}

pub(crate) fn file_opens(region: &Region) -> bool {
    file_call(region) == Some(FileCall::Open)
}

pub(crate) fn file_closes(region: &Region) -> bool {
    file_call(region) == Some(FileCall::Close)
}

pub(crate) fn file_stats(region: &Region) -> bool {
    file_call(region) == Some(FileCall::Stat)
}

pub(crate) fn file_seeks(region: &Region) -> bool {
    file_call(region) == Some(FileCall::Seek)
}

pub(crate) fn file_syncs(region: &Region) -> bool {
    file_call(region) == Some(FileCall::Sync)
}

pub(crate) fn file_locks(region: &Region) -> bool {
    file_call(region) == Some(FileCall::Lock)
}

pub(crate) fn file_rest(region: &Region) -> bool {
    file_call(region) == Some(FileCall::Other)
}

fn openmp_role(region: &Region, roles: &[RegionRole]) -> bool {
    region.paradigm == Paradigm::OPENMP && roles.contains(&region.role)
}

pub(crate) fn openmp_explicit_barrier(region: &Region) -> bool {
    openmp_role(region, &[RegionRole::BARRIER])
}

pub(crate) fn openmp_implicit_barrier(region: &Region) -> bool {
    openmp_role(region, &[RegionRole::IMPLICIT_BARRIER])
}

pub(crate) fn openmp_critical(region: &Region) -> bool {
    openmp_role(region, &[RegionRole::CRITICAL, RegionRole::ATOMIC])
}

pub(crate) fn openmp_lock_api(region: &Region) -> bool {
    let Some(name) = region.name.strip_prefix("omp_") else { return false };
    let Some(name) = name.strip_suffix("_lock") else { return false };
    region.paradigm == Paradigm::OPENMP
        && matches!(name.strip_suffix("_nest").unwrap_or(name), "destroy" | "init" | "set" | "test" | "unset")
}

pub(crate) fn openmp_ordered(region: &Region) -> bool {
    openmp_role(region, &[RegionRole::ORDERED])
}

pub(crate) fn openmp_taskwait(region: &Region) -> bool {
    openmp_role(region, &[RegionRole::TASK_WAIT])
}

pub(crate) fn openmp_flush(region: &Region) -> bool {
    openmp_role(region, &[RegionRole::FLUSH])
}

fn pthread_name<'a>(region: &'a Region, prefix: &str) -> Option<&'a str> {
    if region.paradigm == Paradigm::PTHREAD { region.name.strip_prefix(prefix) } else { None }
}

pub(crate) fn pthread_management(region: &Region) -> bool {
    matches!(pthread_name(region, "pthread_"), Some("cancel" | "create" | "detach" | "exit" | "join"))
}

pub(crate) fn pthread_mutex(region: &Region) -> bool {
    matches!(pthread_name(region, "pthread_mutex_"), Some("destroy" | "init" | "lock" | "trylock" | "unlock"))
}

pub(crate) fn pthread_condition(region: &Region) -> bool {
    matches!(
        pthread_name(region, "pthread_cond_"),
        Some("broadcast" | "destroy" | "init" | "signal" | "timedwait" | "wait")
    )
}

pub(crate) fn openacc(region: &Region) -> bool {
    region.paradigm == Paradigm::OPENACC
}

/// The name of an OpenACC region; the recorder may append `@file:line`.
fn openacc_name(region: &Region) -> Option<&str> {
    if openacc(region) { region.name.split('@').next().map(str::trim_end) } else { None }
}

pub(crate) fn openacc_setup(region: &Region) -> bool {
    matches!(openacc_name(region), Some("acc_init" | "acc_shutdown"))
}

pub(crate) fn openacc_memory(region: &Region) -> bool {
    matches!(openacc_name(region), Some("acc_upload" | "acc_download"))
}

pub(crate) fn openacc_wait(region: &Region) -> bool {
    openacc_name(region) == Some("acc_wait")
}

pub(crate) fn openacc_launch(region: &Region) -> bool {
    openacc_name(region) == Some("acc_launch_kernel")
}

pub(crate) fn opencl_kernel(region: &Region) -> bool {
    region.paradigm == Paradigm::OPENCL && region.source_file == "OPENCL_KERNEL"
}

pub(crate) fn opencl(region: &Region) -> bool {
    region.paradigm == Paradigm::OPENCL && !overhead(region) && !opencl_kernel(region)
}

pub(crate) fn cuda_kernel(region: &Region) -> bool {
    region.paradigm == Paradigm::CUDA && region.source_file == "CUDA_KERNEL"
}

pub(crate) fn cuda(region: &Region) -> bool {
    region.paradigm == Paradigm::CUDA && !overhead(region) && !cuda_kernel(region)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(paradigm: Paradigm, role: RegionRole, name: &str) -> Region {
        Region { name: name.into(), paradigm, role, ..Region::default() }
    }

    fn mpi_function(name: &str) -> Region {
        region(Paradigm::MPI, RegionRole::FUNCTION, name)
    }

    #[test]
    fn file_functions_are_sorted_by_access_and_participation() {
        type Predicate = fn(&Region) -> bool;
        let of = |name| {
            let access: [Predicate; 4] = [
                file_individual_reads,
                file_individual_writes,
                file_collective_reads,
                file_collective_writes,
            ];
            access.map(|is_so| is_so(&mpi_function(name)))
        };
        assert_eq!(of("MPI_File_read"), [true, false, false, false]);
        assert_eq!(of("MPI_File_iwrite_shared"), [false, true, false, false]);
        assert_eq!(of("MPI_File_iread_at_all"), [false, false, true, false]);
        assert_eq!(of("MPI_File_write_ordered_begin"), [false, false, false, true]);
        assert_eq!(of("MPI_File_iread_ordered"), [false; 4]);
        assert_eq!(of("MPI_File_open"), [false; 4]);
        assert!(file_individual_operations(&mpi_function("MPI_File_seek_shared")));
        assert!(file_collective_operations(&mpi_function("MPI_File_set_view")));
    }

    #[test]
    fn name_of_mpi_in_another_paradigm_does_not_count() {
        assert!(init_exit(&mpi_function("MPI_Init")));
        assert!(!init_exit(&region(Paradigm::USER, RegionRole::FUNCTION, "MPI_Init")));
        assert!(!mpi(&mpi_function("PARALLEL")));
    }

    #[test]
    fn wait_is_point_to_point_whatever_its_role() {
        assert!(point_to_point(&mpi_function("MPI_Waitall")));
        assert!(point_to_point(&region(Paradigm::MPI, RegionRole::POINT2POINT, "MPI_Send")));
        assert!(!point_to_point(&mpi_function("MPI_Win_wait")));
    }

    #[test]
    fn buffer_flush_is_overhead_and_recording_off_is_not() {
        let measurement = |name| region(Paradigm::MEASUREMENT_SYSTEM, RegionRole::ARTIFICIAL, name);
        assert!(overhead(&measurement("TRACE BUFFER FLUSH")));
        assert!(execution(&measurement("MEASUREMENT OFF")));
    }

    #[test]
    fn nested_lock_functions_belong_to_the_lock_api() {
        for name in ["omp_set_lock", "omp_unset_nest_lock"] {
            assert!(openmp_lock_api(&region(Paradigm::OPENMP, RegionRole::FUNCTION, name)));
        }
        assert!(!openmp_lock_api(&region(Paradigm::OPENMP, RegionRole::FUNCTION, "omp_get_lock")));
    }
}
