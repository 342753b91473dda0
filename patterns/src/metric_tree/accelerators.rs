//! Metrics of accelerators (site.md, 6.3): classes of the time in their interfaces, what runs on streams, and costs of waiting for
//! it.

use crate::accelerators as regions;
use crate::metric::Metric;
use crate::metric::Source::{Comparison, Measured, Shares, Sum, TimeIn, VisitsOf};
use crate::metric::Unit::{Bytes, Occurrences, Seconds};

/// Classes of time in functions of an interface, and of kernels, of traces that have such functions.
pub(super) const INTERFACES: &[Metric] = &[
    class(
        "opencl_time",
        "opencl_setup",
        "General management",
        regions::opencl_setup,
        "Time in platforms, devices, contexts and programs.",
    ),
    class(
        "opencl_time",
        "opencl_comm",
        "Memory management",
        regions::opencl_memory,
        "Time in buffers, images and copies.",
    ),
    class(
        "opencl_time",
        "opencl_sync",
        "Synchronization",
        regions::opencl_synchronization,
        "Time in finishing, waiting, barriers and markers.",
    ),
    class(
        "opencl_time",
        "opencl_kernel_launches",
        "Kernel launches",
        regions::opencl_launches,
        "Time in enqueuing kernels.",
    ),
    class(
        "cuda_time",
        "cuda_setup",
        "General management",
        regions::cuda_setup,
        "Time in devices, streams and events.",
    ),
    class(
        "cuda_time",
        "cuda_comm",
        "Memory management",
        regions::cuda_memory,
        "Time in allocation and copies.",
    ),
    class(
        "cuda_time",
        "cuda_sync",
        "Synchronization",
        regions::cuda_synchronization,
        "Time in functions that wait for devices.",
    ),
    class(
        "cuda_time",
        "cuda_kernel_launches",
        "Kernel launches",
        regions::cuda_launches,
        "Time in launching kernels and in setting memory.",
    ),
    class("execution", "hip_time", "HIP", regions::hip, "Time in HIP's API.").beyond_reference(),
    class("hip_time", "hip_stream", "Streams", regions::hip_streams, "Time in streams and events.")
        .beyond_reference(),
    class(
        "hip_time",
        "hip_malloc",
        "Memory",
        regions::hip_memory,
        "Time in allocation and release of memory.",
    )
    .beyond_reference(),
    class("hip_time", "hip_memcpy", "Copies", regions::hip_copies, "Time in copies.").beyond_reference(),
    class(
        "hip_time",
        "hip_sync",
        "Synchronization",
        regions::hip_synchronization,
        "Time in functions that wait for devices.",
    )
    .beyond_reference(),
    class(
        "hip_time",
        "hip_kernel_launches",
        "Kernel launches",
        regions::hip_launches,
        "Time in launching kernels and in setting memory.",
    )
    .beyond_reference(),
    class(
        "comp",
        "hip_kernel_executions",
        "HIP kernels",
        regions::hip_kernel,
        "Time of HIP kernels on their own location.",
    )
    .beyond_reference(),
];

/// A class of time.
const fn class(
    parent: &'static str,
    id: &'static str,
    name: &'static str,
    regions: fn(&model::Region) -> bool,
    about: &'static str,
) -> Metric {
    Metric::below(parent, id, name, Seconds, TimeIn(regions), about)
}

/// What is measured on streams.
pub(super) const STREAMS: &[Metric] = &[
    Metric::root(
        "accel_idle",
        "Idle devices",
        Seconds,
        Measured,
        "Time in which no stream of the device ran anything, at what ran next; from the first kernel or copy to the last.",
    )
    .beyond_reference(),
    Metric::root(
        "accel_late_launch",
        "Late launches",
        Seconds,
        Measured,
        "Time in which a stream had nothing to run since the next kernel or copy had not been launched, at that one.",
    )
    .beyond_reference(),
    Metric::root(
        "launch_latency",
        "Launch latency",
        Seconds,
        Measured,
        "Time from the end of a launch until the kernel or copy began, although nothing before it ran any more; at that one.",
    )
    .beyond_reference(),
    Metric::root(
        "accel_imbalance",
        "Imbalance of devices",
        Seconds,
        Comparison,
        "Time by which kernels run longer on a device than on the mean of all devices.",
    )
    .beyond_reference(),
    Metric::root(
        "accel_copies",
        "Copies of devices",
        Occurrences,
        VisitsOf(regions::accelerator_copies),
        "Copies on streams.",
    )
    .beyond_reference(),
    Metric::root("accel_bytes", "Bytes copied by devices", Bytes, Sum, "Data of copies on streams.").beyond_reference(),
    Metric::below("accel_bytes", "bytes_to_device", "To device", Bytes, Measured, "Data copied from the host.").beyond_reference(),
    Metric::below("accel_bytes", "bytes_from_device", "From device", Bytes, Measured, "Data copied to the host.").beyond_reference(),
    Metric::below("accel_bytes", "bytes_on_device", "On device", Bytes, Measured, "Data copied between memories of devices.")
        .beyond_reference(),
];

/// Costs of waiting for devices.
pub(super) const COSTS: &[Metric] = &[
    Metric::below(
        "delay",
        "delay_accel_wait_aggregate",
        "Wait for Device",
        Seconds,
        Sum,
        "Delay costs of waiting for kernels and copies.",
    )
    .beyond_reference(),
    Metric::below(
        "delay_accel_wait_aggregate",
        "delay_accel_wait",
        "Short-term",
        Seconds,
        Shares,
        "Cost of the kernels and copies that directly made others wait: waiting for devices.",
    )
    .beyond_reference(),
    Metric::below(
        "delay_accel_wait_aggregate",
        "delay_accel_wait_longterm",
        "Long-term",
        Seconds,
        Shares,
        "Cost of the work that made others wait through waiting it had caused before: waiting for devices.",
    )
    .beyond_reference(),
];
