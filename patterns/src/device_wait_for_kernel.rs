//! Wait for Device, the part in which it runs kernels (site.md, 6.2).

use model::Ticks;

use crate::explanation::Explanation;
use crate::matched::DeviceWait;
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "accel_wait",
        "accel_wait_kernel",
        "For kernels",
        "Part of Wait for Device in which what is waited for last was a kernel, or came behind one that ran.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait for Kernel",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: None,
        meaning: "The part of *Wait for Device* in which the device ran kernels of the chain that the call waited for longest.",
        large_when: Some("kernels take long, and the host has nothing else to do."),
        what_to_do: "Make these kernels faster, or give the host work meanwhile.",
    },
    detect: Detect::DeviceWait(kernels),
};

fn kernels(wait: &DeviceWait) -> Ticks {
    wait.kernels
}
