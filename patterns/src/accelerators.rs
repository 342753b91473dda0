//! Classes of time of accelerators: predicates over regions of CUDA, HIP and OpenCL (site.md, 6.3).

use model::accelerators::{self, Class};
use model::{Paradigm, Region, RegionRole};

pub(crate) fn hip_kernel(region: &Region) -> bool {
    region.paradigm == Paradigm::HIP && accelerators::is_kernel(region)
}

pub(crate) fn hip(region: &Region) -> bool {
    region.paradigm == Paradigm::HIP && accelerators::class(region).is_some()
}

/// Whether a region is a function of a class of the interface of an accelerator.
fn is_of(region: &Region, paradigm: Paradigm, classes: &[Class]) -> bool {
    region.paradigm == paradigm && accelerators::class(region).is_some_and(|class| classes.contains(&class))
}

/// Classes that CUDA and OpenCL have together: all but copies, synchronisation and launches, and memory with its copies.
const SETUP: &[Class] = &[Class::Management, Class::Streams];
const COMMUNICATION: &[Class] = &[Class::Memory, Class::Copies];

pub(crate) fn cuda_setup(region: &Region) -> bool {
    is_of(region, Paradigm::CUDA, SETUP)
}

pub(crate) fn cuda_memory(region: &Region) -> bool {
    is_of(region, Paradigm::CUDA, COMMUNICATION)
}

pub(crate) fn cuda_synchronization(region: &Region) -> bool {
    is_of(region, Paradigm::CUDA, &[Class::Synchronization])
}

pub(crate) fn cuda_launches(region: &Region) -> bool {
    is_of(region, Paradigm::CUDA, &[Class::Launches])
}

pub(crate) fn opencl_setup(region: &Region) -> bool {
    is_of(region, Paradigm::OPENCL, SETUP)
}

pub(crate) fn opencl_memory(region: &Region) -> bool {
    is_of(region, Paradigm::OPENCL, COMMUNICATION)
}

pub(crate) fn opencl_synchronization(region: &Region) -> bool {
    is_of(region, Paradigm::OPENCL, &[Class::Synchronization])
}

pub(crate) fn opencl_launches(region: &Region) -> bool {
    is_of(region, Paradigm::OPENCL, &[Class::Launches])
}

pub(crate) fn hip_streams(region: &Region) -> bool {
    is_of(region, Paradigm::HIP, &[Class::Streams])
}

pub(crate) fn hip_memory(region: &Region) -> bool {
    is_of(region, Paradigm::HIP, &[Class::Memory])
}

pub(crate) fn hip_copies(region: &Region) -> bool {
    is_of(region, Paradigm::HIP, &[Class::Copies])
}

pub(crate) fn hip_synchronization(region: &Region) -> bool {
    is_of(region, Paradigm::HIP, &[Class::Synchronization])
}

pub(crate) fn hip_launches(region: &Region) -> bool {
    is_of(region, Paradigm::HIP, &[Class::Launches])
}

/// Names of the regions that stand for copies on streams.
const COPIES: [&str; 3] =
    [accelerators::COPY_TO_DEVICE, accelerators::COPY_FROM_DEVICE, accelerators::COPY_ON_DEVICE];

/// Whether a region stands for a copy on a stream.
pub(crate) fn accelerator_copies(region: &Region) -> bool {
    region.role == RegionRole::ARTIFICIAL && COPIES.contains(&&*region.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_a_paradigm_are_not_those_of_another_one() {
        let region = |paradigm, name: &str| Region { name: name.into(), paradigm, ..Region::default() };
        let cuda = region(Paradigm::CUDA, "cuMemcpyDtoH");
        assert_eq!([cuda_memory(&cuda), cuda_setup(&cuda), hip_copies(&cuda)], [true, false, false]);
        let hip = region(Paradigm::HIP, "hipMemcpyAsync");
        assert_eq!([hip_copies(&hip), hip_memory(&hip), hip_synchronization(&hip)], [true, false, false]);
        let copy =
            Region { role: RegionRole::ARTIFICIAL, ..region(Paradigm::MEASUREMENT_SYSTEM, "COPY on device") };
        assert!(accelerator_copies(&copy));
    }
}
