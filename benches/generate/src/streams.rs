//! Calls of CUDA and what they run on streams, as the records that Score-P writes unless it is told otherwise (site.md, 6.1):
//! functions of the driver with the stream and the event that they are about, kernels with parameters, and copies as accesses
//! to a window. What it writes as idle time is left out.

use model::accelerators;
use otf2::{Attributes, Event, ValueType};

use crate::location::{Location, reference};
use crate::objects::WINDOW;
use crate::offload::{Activity, Call, Function, Kind, Span};
use crate::regions::{cuda, function};
use crate::told::Told;

/// Attributes, with the names that Score-P gives them.
const STREAM: Told = Told::new(0, accelerators::STREAM, ValueType::LOCATION);
const EVENT: Told = Told::new(1, accelerators::EVENT, ValueType::UINT64);

/// All of them.
pub(crate) const ATTRIBUTES: [Told; 2] = [STREAM, EVENT];

/// Parameters of launches and kernels: the call site of the launch is that of both, the others are those of kernels.
pub(crate) const PARAMETERS: [&str; 8] = [
    accelerators::CALL_SITE,
    "blocks per grid",
    "threads per block",
    "threads per kernel",
    "static shared memory",
    "dynamic shared memory",
    "total local memory",
    "registers per thread",
];
const CALL_SITE: u32 = 0;
/// Values of those of kernels.
const VALUES: [u64; PARAMETERS.len() - 1] = [1024, 256, 1024 * 256, 2048, 0, 0, 40];

/// What matches the begin and the end of copies: Score-P has one number for all.
const COPY: u64 = 42;

/// Bytes of a copy to the device, and from it.
pub(crate) const BYTES: [u64; 2] = [1 << 16, 1 << 12];

/// Name of the window of copies.
pub(crate) const WINDOW_NAME: &str = "CUDA_WINDOW";

/// Number of a stream of CUDA by its place: that of the null stream is 7, the others follow at some distance.
pub(crate) fn name(stream: u32) -> String {
    format!("CUDA[0:{}]", if stream == 0 { 7 } else { 12 + stream })
}

/// The call site of a launch: a hash of the regions that it lies in.
fn call_site(kind: Kind) -> u64 {
    match kind {
        Kind::Assemble => 0x9d2c_5680,
        _ => 0xefc6_0001,
    }
}

impl Location<'_> {
    /// Reference of a region of CUDA, which is defined behind the functions of the pattern.
    fn region_of_cuda(&self, number: u32) -> u32 {
        function(self.job.pattern.functions.len() as u32 + number)
    }

    /// Reference of a stream of this rank.
    fn stream(&self, stream: usize) -> u64 {
        reference(self.rank, self.job.threads + stream as u32)
    }

    /// Writes a call of the host.
    #[track_caller]
    pub(crate) fn call_of_cuda(&mut self, call: &Call) -> Result<(), otf2::Error> {
        let stream = |stream: usize| STREAM.with(self.stream(stream));
        let (region, told) = match call.function {
            Function::Work => return Ok(()),
            Function::Launch(_, on) => (cuda::LAUNCH_KERNEL, vec![stream(on)]),
            Function::StartCopy(on) => (cuda::MEMCPY_ASYNC, vec![stream(on)]),
            Function::Copy => (cuda::MEMCPY_TO_HOST, Vec::new()),
            Function::Record(event, on) => (cuda::EVENT_RECORD, vec![stream(on), EVENT.with(event)]),
            Function::Await(event, on) => (cuda::STREAM_WAIT_EVENT, vec![stream(on), EVENT.with(event)]),
            Function::SynchronizeDevice => (cuda::CONTEXT_SYNCHRONIZE, Vec::new()),
            Function::SynchronizeStream(on) => (cuda::STREAM_SYNCHRONIZE, vec![stream(on)]),
            Function::SynchronizeEvent(event) => (cuda::EVENT_SYNCHRONIZE, vec![EVENT.with(event)]),
        };
        let region = self.region_of_cuda(region);
        let told = Attributes::from(&told[..]);
        let Span { begin, end } = call.time;
        let (enter, leave) = (Event::Enter { region }, Event::Leave { region });
        // Launches say where they are entered what others say where they are left.
        if let Function::Launch(kind, _) = call.function {
            self.event_with(begin, enter, told)?;
            let parameter = CALL_SITE;
            self.event(begin, Event::ParameterUnsignedInt { parameter, value: call_site(kind) })?;
            return self.event(end, leave);
        }
        self.event(begin, enter)?;
        self.event_with(end, leave, told)
    }

    /// Writes what a stream runs.
    #[track_caller]
    pub(crate) fn run_on_stream(&mut self, activity: &Activity) -> Result<(), otf2::Error> {
        let Span { begin, end } = activity.run;
        let (win, matching_id) = (WINDOW, COPY);
        let [to, from] = BYTES;
        // The host of each rank and its streams have numbers one after the other in the communicator of the window.
        let remote = self.rank * (1 + self.job.pattern.objects.streams);
        let region = match activity.kind {
            Kind::CopyToDevice => {
                self.event(begin, Event::RmaGet { win, remote, bytes: to, matching_id })?;
                return self.event(end, Event::RmaOpCompleteBlocking { win, matching_id });
            }
            Kind::CopyFromDevice => {
                self.event(begin, Event::RmaPut { win, remote, bytes: from, matching_id })?;
                return self.event(end, Event::RmaOpCompleteBlocking { win, matching_id });
            }
            Kind::Assemble => self.region_of_cuda(cuda::ASSEMBLE),
            Kind::Solve => self.region_of_cuda(cuda::SOLVE),
        };
        self.event(begin, Event::Enter { region })?;
        for (parameter, value) in (0..).zip([call_site(activity.kind)].into_iter().chain(VALUES)) {
            self.event(begin, Event::ParameterUnsignedInt { parameter, value })?;
        }
        self.event(end, Event::Leave { region })
    }
}
