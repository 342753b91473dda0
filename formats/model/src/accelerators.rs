//! Accelerators: what the regions of CUDA, HIP and OpenCL are, by paradigm, role, source file and name as Score-P writes them
//! (site.md, 6.1).

use crate::{Paradigm, Region, RegionRole};

/// Attribute of calls of CUDA: the location of the stream that they are about.
pub const STREAM: &str = "CUDA_STREAM_REF";

/// Attribute of calls of CUDA: the event that they are about.
pub const EVENT: &str = "CUDA_EVENT_REF";

/// Parameter of launches and of the kernels that they launch: a hash of the regions that the launch lies in. Launches of one place
/// have the same.
pub const CALL_SITE: &str = "callsite id";

/// The region that stands for a copy from the host on a stream.
pub const COPY_TO_DEVICE: &str = "COPY to device";

/// The region that stands for a copy to the host on a stream.
pub const COPY_FROM_DEVICE: &str = "COPY from device";

/// The region that stands for a copy between memories of devices on a stream.
pub const COPY_ON_DEVICE: &str = "COPY on device";

/// What a function of the host does with streams of accelerators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Function {
    /// Launches a kernel on a stream.
    Launch,
    /// Launches a graph: any number of kernels and copies.
    LaunchGraph,
    /// Starts a copy on a stream, and does not wait for it.
    StartCopy,
    /// Copies, and returns when the copy is done.
    Copy,
    /// Waits for all streams of a device.
    SynchronizeDevice,
    /// Waits for a stream.
    SynchronizeStream,
    /// Waits for an event, which is what a stream was given before.
    SynchronizeEvent,
    /// Records an event on a stream.
    RecordEvent,
    /// Makes a stream wait for an event.
    AwaitEvent,
}

/// Class of a function of the interface of an accelerator, as profiles of Score-P have them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Streams and events. Only HIP has this class of its own; of others it is a part of the management.
    Streams,
    /// Allocation and release of memory. Only HIP has this class of its own; of others it is together with copies.
    Memory,
    /// Copies.
    Copies,
    /// Waiting for a device.
    Synchronization,
    /// Launches of kernels, and what sets memory.
    Launches,
    /// All else.
    Management,
}

/// The region of Score-P around functions that wait for a device.
const SYNCHRONIZE: &str = "DEVICE SYNCHRONIZE";

/// Whether a region belongs to the interface or to the device of an accelerator.
pub fn is_of_accelerator(region: &Region) -> bool {
    matches!(region.paradigm, Paradigm::CUDA | Paradigm::HIP | Paradigm::OPENCL)
}

/// Whether a region is a kernel that runs on a stream. Before OTF2 3.1 kernels had no role of their own.
pub fn is_kernel(region: &Region) -> bool {
    is_of_accelerator(region)
        && (region.role == RegionRole::KERNEL
            || matches!(&*region.source_file, "CUDA_KERNEL" | "HIP_KERNEL" | "OPENCL_KERNEL"))
}

/// Whether a region on a stream stands for nothing that runs there.
pub fn is_idle(region: &Region) -> bool {
    is_of_accelerator(region) && matches!(&*region.name, "COMPUTE IDLE" | "GPU IDLE")
}

/// Returns the name of a function without the prefix of its interface, and without its version (`cuMemcpyDtoH_v2`,
/// `cudaMemcpy_ptds`).
fn plain(region: &Region) -> Option<&str> {
    let prefixes: &[&str] = match region.paradigm {
        Paradigm::CUDA => &["cuda", "cu"],
        Paradigm::HIP => &["hip"],
        Paradigm::OPENCL => &["cl"],
        _ => &[],
    };
    let name = prefixes.iter().find_map(|prefix| region.name.strip_prefix(prefix))?;
    let name = name.strip_suffix("_ptsz").or_else(|| name.strip_suffix("_ptds")).unwrap_or(name);
    let plain = name.rsplit_once("_v").filter(|(_, version)| version.bytes().all(|it| it.is_ascii_digit()));
    Some(plain.map_or(name, |(plain, _)| plain))
}

/// Returns what a function does with streams; `None` if nothing that kernels and copies depend on, or that depends on them.
pub fn function(region: &Region) -> Option<Function> {
    if !is_of_accelerator(region) {
        return None;
    }
    if region.name == SYNCHRONIZE {
        return Some(Function::SynchronizeDevice);
    }
    let name = plain(region)?;
    if region.paradigm == Paradigm::OPENCL {
        return match name {
            "EnqueueNDRangeKernel" | "EnqueueTask" => Some(Function::Launch),
            "Finish" => Some(Function::SynchronizeStream),
            _ => None,
        };
    }
    match name {
        "CtxSynchronize" | "DeviceSynchronize" | "ThreadSynchronize" => Some(Function::SynchronizeDevice),
        "StreamSynchronize" => Some(Function::SynchronizeStream),
        "EventSynchronize" => Some(Function::SynchronizeEvent),
        "EventRecord" | "EventRecordWithFlags" => Some(Function::RecordEvent),
        "StreamWaitEvent" => Some(Function::AwaitEvent),
        "GraphLaunch" => Some(Function::LaunchGraph),
        "Launch" | "LaunchGrid" | "LaunchGridAsync" => Some(Function::Launch),
        _ if name.ends_with("LaunchMultiKernelMultiDevice") => None,
        _ if name.starts_with("Launch") && name.contains("Kernel") => Some(Function::Launch),
        _ if name.starts_with("ModuleLaunch") || name.starts_with("ExtLaunchKernel") => {
            Some(Function::Launch)
        }
        _ if name.starts_with("Memcpy") && name.contains("Async") => Some(Function::StartCopy),
        _ if name.starts_with("Memcpy") => Some(Function::Copy),
        _ => None,
    }
}

/// Returns the class of a function of the host; `None` for kernels and for what is no function.
pub fn class(region: &Region) -> Option<Class> {
    if !is_of_accelerator(region) || is_kernel(region) || is_idle(region) || region.name == "BUFFER FLUSH" {
        return None;
    }
    let name = plain(region).unwrap_or(&region.name);
    let starts = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    Some(match region.paradigm {
        _ if region.name == SYNCHRONIZE => Class::Synchronization,
        Paradigm::OPENCL => match () {
            () if matches!(name, "EnqueueNDRangeKernel" | "EnqueueTask" | "EnqueueNativeKernel") => {
                Class::Launches
            }
            () if starts(&["Finish", "Flush", "WaitForEvents"])
                || has(&["Barrier", "Marker", "WaitForEvents"]) =>
            {
                Class::Synchronization
            }
            () if has(&["Buffer", "Image", "MemObject", "SVM"]) => Class::Copies,
            () => Class::Management,
        },
        _ if has(&["Synchronize"]) || region.source_file == "HIP_SYNC" => Class::Synchronization,
        _ if has(&["Launch", "Memset"]) => Class::Launches,
        _ if starts(&["Memcpy"]) || region.source_file == "HIP_MEMCPY" => Class::Copies,
        _ if starts(&[
            "Mem",
            "Malloc",
            "Free",
            "Array",
            "Mipmapped",
            "HostAlloc",
            "HostMalloc",
            "HostFree",
        ]) || starts(&["HostRegister", "HostUnregister", "ExtMalloc"])
            || region.source_file == "HIP_MALLOC" =>
        {
            Class::Memory
        }
        _ if starts(&["Stream", "Event"]) => Class::Streams,
        _ => Class::Management,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(paradigm: Paradigm, name: &str) -> Region {
        Region { name: name.into(), paradigm, ..Region::default() }
    }

    #[test]
    fn functions_are_known_in_all_versions_and_interfaces() {
        let of = |paradigm, name| function(&region(paradigm, name));
        assert_eq!(of(Paradigm::CUDA, "cuLaunchKernel_ptsz"), Some(Function::Launch));
        assert_eq!(of(Paradigm::CUDA, "cudaLaunchKernelExC_v11060"), Some(Function::Launch));
        assert_eq!(of(Paradigm::CUDA, "cuGraphLaunch_ptsz"), Some(Function::LaunchGraph));
        assert_eq!(of(Paradigm::HIP, "hipGraphLaunch"), Some(Function::LaunchGraph));
        assert_eq!(of(Paradigm::CUDA, "cuGraphInstantiate"), None);
        assert_eq!(of(Paradigm::CUDA, "cuMemcpyDtoH_v2"), Some(Function::Copy));
        assert_eq!(of(Paradigm::CUDA, "cuMemcpyHtoDAsync_v2"), Some(Function::StartCopy));
        assert_eq!(of(Paradigm::CUDA, "cudaDeviceSynchronize"), Some(Function::SynchronizeDevice));
        assert_eq!(of(Paradigm::CUDA, "DEVICE SYNCHRONIZE"), Some(Function::SynchronizeDevice));
        assert_eq!(of(Paradigm::HIP, "hipModuleLaunchKernel"), Some(Function::Launch));
        assert_eq!(of(Paradigm::HIP, "hipStreamWaitEvent"), Some(Function::AwaitEvent));
        assert_eq!(of(Paradigm::OPENCL, "clFinish"), Some(Function::SynchronizeStream));
        assert_eq!(of(Paradigm::USER, "cuLaunchKernel"), None);
    }

    #[test]
    fn classes_are_those_of_profiles() {
        let of = |paradigm, name| class(&region(paradigm, name));
        assert_eq!(of(Paradigm::CUDA, "cuMemAlloc_v2"), Some(Class::Memory));
        assert_eq!(of(Paradigm::CUDA, "cuMemcpyDtoH_v2"), Some(Class::Copies));
        assert_eq!(of(Paradigm::CUDA, "cuMemsetD8_v2"), Some(Class::Launches));
        assert_eq!(of(Paradigm::CUDA, "cuEventSynchronize"), Some(Class::Synchronization));
        assert_eq!(of(Paradigm::CUDA, "cuStreamCreate"), Some(Class::Streams));
        assert_eq!(of(Paradigm::CUDA, "cuInit"), Some(Class::Management));
        assert_eq!(of(Paradigm::HIP, "hipFree"), Some(Class::Memory));
        assert_eq!(of(Paradigm::OPENCL, "clEnqueueReadBuffer"), Some(Class::Copies));
        assert_eq!(of(Paradigm::OPENCL, "clEnqueueBarrier"), Some(Class::Synchronization));
        assert_eq!(of(Paradigm::OPENCL, "clBuildProgram"), Some(Class::Management));
        let kernel = Region { role: RegionRole::KERNEL, ..region(Paradigm::CUDA, "saxpy") };
        assert!(is_kernel(&kernel));
        assert_eq!(class(&kernel), None);
    }
}
