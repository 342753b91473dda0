//! Artificial regions: those that no archive defines.

use model::accelerators::{COPY_FROM_DEVICE, COPY_ON_DEVICE, COPY_TO_DEVICE};
use model::{Paradigm, Region, RegionRole};

/// Regions that no archive defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Artificial {
    /// The root above several programs, or where the trace does not name its program.
    Program,
    /// The recorder was switched off.
    MeasurementOff,
    /// The recorder wrote out its buffer.
    BufferFlush,
    /// The root above threads that no parallel region started.
    Threads,
    /// The root above accelerator streams.
    Kernels,
    /// The root above tasks, in the reference.
    Tasks,
    /// A copy from the host on a stream.
    CopyToDevice,
    /// A copy to the host on a stream.
    CopyFromDevice,
    /// A copy between memories of devices on a stream.
    CopyOnDevice,
}

/// Name and role of each, in the order of the variants.
const ARTIFICIAL: [(&str, RegionRole); 9] = [
    ("PROGRAM", RegionRole::ARTIFICIAL),
    ("MEASUREMENT OFF", RegionRole::ARTIFICIAL),
    ("TRACE BUFFER FLUSH", RegionRole::ARTIFICIAL),
    ("THREADS", RegionRole::ARTIFICIAL),
    ("KERNELS", RegionRole::ARTIFICIAL),
    ("TASKS", RegionRole::ARTIFICIAL),
    (COPY_TO_DEVICE, RegionRole::ARTIFICIAL),
    (COPY_FROM_DEVICE, RegionRole::ARTIFICIAL),
    (COPY_ON_DEVICE, RegionRole::ARTIFICIAL),
];

/// Returns their properties, in the order of the variants.
pub(super) fn regions() -> Vec<Region> {
    let regions = ARTIFICIAL.into_iter().map(|(name, role)| Region {
        name: name.into(),
        canonical_name: name.into(),
        role,
        paradigm: Paradigm::MEASUREMENT_SYSTEM,
        ..Region::default()
    });
    regions.collect()
}
