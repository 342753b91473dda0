//! Wait for Device, the part in which it copies (site.md, 6.2).

use model::Ticks;

use crate::explanation::Explanation;
use crate::matched::DeviceWait;
use crate::metric::Metric;
use crate::pattern::{Detect, Pattern};

pub(crate) const PATTERN: Pattern = Pattern {
    metric: Metric::wait(
        "accel_wait",
        "accel_wait_copy",
        "For copies",
        "Part of Wait for Device in which what is waited for last was a copy, or came behind one that was going on.",
    )
    .not_work()
    .beyond_reference(),
    instances: None,
    title: "Wait for Copy",
    is_waiting: true,
    statistics: None,
    explanation: Explanation {
        picture: None,
        meaning: "The part of *Wait for Device* in which the device copied data of the chain that the call waited for longest.",
        large_when: Some("much data is copied between host and device, or often."),
        what_to_do: "Keep data on the device, copy it while kernels run (on another stream, from pinned memory), or copy less often.",
    },
    detect: Detect::DeviceWait(copies),
};

fn copies(wait: &DeviceWait) -> Ticks {
    wait.copies
}
