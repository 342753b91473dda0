//! Wait for Device: a call on the host waits for a kernel or a copy on an accelerator (site.md, 6.2).

use crate::explanation::{Explanation, Picture};
use crate::matched::DeviceWait;
use crate::metric::{Metric, Source, Unit};
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::root(
        "accel_wait",
        "Wait for Device",
        Unit::Seconds,
        Source::Measured,
        "Time in calls of CUDA, HIP or OpenCL until the last kernel or copy that they wait for was done.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait for Device",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: Some(Picture(
            "\
host       ==[ launch ]==[ synchronize ~~~~~~~~~~~~ ]==
stream     =======[ kernel ==========================]=
",
        )),
        meaning: "Time in a call that waits for a device (`cudaDeviceSynchronize`, `cudaStreamSynchronize`, \
         `cudaEventSynchronize`, a blocking copy, and the same of HIP) from its begin until the last kernel or copy \
         that it waits for was done. It counts in calls outside of MPI only.",
        large_when: Some(
            "the host has no work while the device computes, or waits for it earlier than it needs the result.",
        ),
        what_to_do: "Give the host work that does not depend on the device, such as communication, before it waits; wait for an \
         event or a stream instead of the device; or make the kernels faster that the culprits name.",
    },
    detect: Detect::DeviceWait(DeviceWait::waiting),
};
