//! Ranks with a device of four streams each: they copy to it, launch kernels, some of them late, copy back, wait in different
//! ways, and send to the next rank (site.md, 6.4).

use super::{Pattern, Plan};
use crate::job::Job;
use crate::location::Location;
use crate::mpi::{BETWEEN, CALL, MESSAGE};
use crate::objects::Objects;
use crate::offload::{Activity, Call, Function, KINDS, Kind, SLOT, STREAMS, Spot, Step};
use crate::regions::{cuda, function};
use crate::severities::Severities;
use crate::streams::BYTES;

pub(super) const PATTERN: Pattern = Pattern {
    name: "offload",
    about: "ranks with a device of four streams (CUDA): copies, kernels that wait for each other, and calls that wait for them \
            (cuLaunchKernel, cuCtxSynchronize, …); then each sends to the next rank (MPI_Send, MPI_Recv)",
    threads: 1,
    least_ranks: 1,
    functions: &["prepare"],
    options: &[],
    objects: Objects { streams: STREAMS as u32, regions: cuda::REGIONS, ..Objects::NONE },
    plan,
    run,
    severities: Some(severities),
};
const PREPARE: u32 = function(0);

const MESSAGE_BYTES: u64 = 4096;
const TAG: u32 = 1;

/// Events of a kernel, of a copy, and of a call, which launches have one more of.
const OF_KERNEL: u64 = 10;
const OF_COPY: u64 = 2;
const OF_CALL: u64 = 2;
/// Events of as many steps as there are kinds: each stream runs two kernels and two copies, which four calls start; the host works
/// twice, records an event, makes a stream wait, sends and receives. In addition there is what each kind waits by: the device, each
/// stream, an event that is recorded and the device; and copies that wait are no other calls.
const EVENTS: u64 = {
    let of_stream = 2 * OF_KERNEL + 2 * OF_COPY + 4 * OF_CALL + 2;
    let of_host = 4 * OF_CALL + 2 * 3;
    KINDS * (STREAMS as u64 * of_stream + of_host) + OF_CALL * (1 + STREAMS as u64 + 3)
};

fn plan(job: &Job) -> Plan {
    let steps = job.steps(KINDS, EVENTS);
    Plan { steps, ticks: steps.saturating_mul(SLOT) }
}

fn run(location: &mut Location<'_>, steps: u64) -> Result<(), otf2::Error> {
    let (job, rank) = (location.job, location.rank);
    let stream = location.thread.checked_sub(job.threads);
    for number in 0..steps {
        let step = Step::new(job, rank, number);
        match stream {
            Some(stream) => {
                step.streams[stream as usize].iter().try_for_each(|it| location.run_on_stream(it))?;
            }
            None => host(location, number, &step)?,
        }
    }
    Ok(())
}

fn host(location: &mut Location<'_>, number: u64, step: &Step<'_>) -> Result<(), otf2::Error> {
    for call in &step.calls {
        match call.function {
            Function::Work => {
                location.wait_until(call.time.begin - 10);
                location.work(PREPARE, call.time.end)?;
            }
            _ => location.call_of_cuda(call)?,
        }
    }
    let [before, after] = location.job.neighbours(location.rank);
    location.send(after, TAG, MESSAGE_BYTES)?;
    let sent = sends(&Step::new(location.job, before, number));
    location.receive(sent + MESSAGE, before, TAG, MESSAGE_BYTES)
}

/// Time at which a rank enters the call that sends.
fn sends(step: &Step<'_>) -> u64 {
    step.end() + BETWEEN
}

fn severities(job: &Job, rank: u32) -> Severities {
    let [before, _] = job.neighbours(rank);
    let mut severities = Severities::default();
    // When each stream has been done, and the device.
    let mut done: [Option<u64>; STREAMS] = [None; STREAMS];
    for number in 0..plan(job).steps {
        let step = Step::new(job, rank, number);
        step.calls.iter().for_each(|call| add_call(&mut severities, &step, call));
        add_activities(&mut severities, &step, &mut done);
        let receives = sends(&step) + CALL + BETWEEN;
        let late = sends(&Step::new(job, before, number)).saturating_sub(receives);
        severities.add("mpi_latesender", late);
    }
    severities
}

/// Adds the time of a call to its class, and what it waits (site.md, 6.2).
fn add_call(severities: &mut Severities, step: &Step<'_>, call: &Call) {
    let class = match call.function {
        Function::Work => return,
        Function::Launch(..) => "cuda_kernel_launches",
        Function::StartCopy(_) | Function::Copy => "cuda_comm",
        Function::Record(..) | Function::Await(..) => "cuda_setup",
        Function::SynchronizeDevice | Function::SynchronizeStream(_) | Function::SynchronizeEvent(_) => {
            "cuda_sync"
        }
    };
    severities.add(class, call.time.end - call.time.begin);
    let Some(awaited) = call.awaited else { return };
    severities.add("accel_wait", step.activity(awaited).run.end.saturating_sub(call.time.begin));
    let mut next = Some(awaited);
    while let Some(spot) = next.filter(|&spot| step.activity(spot).run.end > call.time.begin) {
        let activity = step.activity(spot);
        let part = if is_kernel(activity) { "accel_wait_kernel" } else { "accel_wait_copy" };
        severities.add(part, activity.run.end - activity.run.begin.max(call.time.begin));
        next = waited_for(step, spot);
    }
}

fn is_kernel(activity: &Activity) -> bool {
    matches!(activity.kind, Kind::Assemble | Kind::Solve)
}

/// What something has waited for before it began: the one in front of it, or that of an event, whichever was done later.
fn waited_for(step: &Step<'_>, (stream, place): Spot) -> Option<Spot> {
    let in_front = place.checked_sub(1).map(|place| (stream, place));
    let by_event = step.activity((stream, place)).after;
    let both = [in_front, by_event].into_iter().flatten();
    both.max_by_key(|&spot| step.activity(spot).run.end)
}

/// Adds what streams run in a step; all of them were done at certain times in the step before.
fn add_activities(severities: &mut Severities, step: &Step<'_>, done: &mut [Option<u64>; STREAMS]) {
    let mut device_done = done.iter().copied().max().flatten();
    let ends: Vec<u64> = step.streams.iter().flatten().map(|it| it.run.end).chain(device_done).collect();
    for (of_stream, done) in step.streams.iter().zip(done) {
        for activity in of_stream {
            let (launch, begin) = (activity.launch, activity.run.begin);
            if let Some(done) = *done {
                severities.add("accel_late_launch", launch.begin.min(begin).saturating_sub(done));
            }
            let ready = ends.iter().copied().filter(|&end| end <= begin).max().unwrap_or(0).max(launch.end);
            let latency = if activity.is_blocking { 0 } else { begin.saturating_sub(ready) };
            severities.add("launch_latency", latency);
            match activity.kind {
                Kind::CopyToDevice => severities.add("bytes_to_device", BYTES[0]),
                Kind::CopyFromDevice => severities.add("bytes_from_device", BYTES[1]),
                Kind::Assemble | Kind::Solve => {}
            }
            severities.add("accel_copies", u64::from(!is_kernel(activity)));
            *done = Some(activity.run.end);
        }
    }
    let mut runs: Vec<_> = step.streams.iter().flatten().map(|it| it.run).collect();
    runs.sort_unstable_by_key(|run| run.begin);
    for run in runs {
        if let Some(done) = device_done {
            severities.add("accel_idle", run.begin.saturating_sub(done));
        }
        device_done = device_done.max(Some(run.end));
    }
}
