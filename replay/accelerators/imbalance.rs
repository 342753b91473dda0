//! Imbalance of devices: how much longer a kernel runs on a device than on the mean of all devices (site.md, 6.3).
//!
//! A device is what one process uses as a device: the streams of a location group. Devices that run neither a kernel nor a
//! copy do not count. The time of a kernel on a device is that of all of its streams together, and what exceeds the mean is
//! divided among these in proportion to their times. Sums are whole numbers, so they do not depend on workers.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::exchange::batch::Batch;
use crate::exchange::{Exchange, broadcast, reduce};
use crate::fraction::quotient;
use crate::ids::{ReportPath, Row};
use crate::report_paths::ReportPaths;
use crate::results::Results;
use crate::severity::Severities;
use crate::tools::Tools;
use crate::trace::{AcceleratorPart, Artificial, Trace, streams_of};
use crate::walk::WalkedProcess;
use crate::wire::{self, batch_of, wire};

/// Kernels of all devices.
#[derive(Clone, Debug, Default)]
struct Kernels {
    /// Number of devices.
    devices: u64,
    /// By call path of the report: the time of all devices together, in ticks.
    times: BTreeMap<ReportPath, i128>,
}

wire!(Kernels { devices, times });

impl Kernels {
    /// Adds a device.
    fn add(&mut self, device: &Device) {
        self.devices += 1;
        for (&path, streams) in &device.kernels {
            *self.times.entry(path).or_default() += total(streams);
        }
    }

    /// Adds those of another worker.
    fn merge(&mut self, other: Kernels) {
        self.devices += other.devices;
        other.times.into_iter().for_each(|(path, time)| *self.times.entry(path).or_default() += time);
    }

    /// How much more than the mean of all devices a device runs a kernel, as a share of ticks; 0 if it is less.
    fn excess(&self, path: ReportPath, time: i128) -> i128 {
        let devices = i128::from(self.devices.max(1));
        let all = self.times.get(&path).copied().unwrap_or(0);
        quotient((time * devices - all).max(0), devices)
    }
}

/// The kernels of a device.
#[derive(Clone, Debug, Default)]
struct Device {
    /// Whether it has run anything.
    is_used: bool,
    /// By call path of the report: streams, as the positions of their locations in the report, the rows of the call path there, and
    /// their times in ticks.
    kernels: BTreeMap<ReportPath, Vec<(usize, Row, i64)>>,
}

fn total(streams: &[(usize, Row, i64)]) -> i128 {
    streams.iter().map(|&(.., time)| i128::from(time)).sum()
}

/// Adds the imbalance of devices to the severities of the processes of this worker.
///
/// # Errors
/// If a worker failed.
pub fn add_imbalance(
    tools: &Tools<'_>,
    processes: &[WalkedProcess],
    results: &mut [Results],
    paths: &ReportPaths,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    // All workers have the same metrics.
    let Some(metrics) = tools.metrics.streams else { return Ok(()) };
    let mut kernels = Kernels::default();
    let mut of_processes = Vec::with_capacity(processes.len());
    for ((process, results), numbers) in processes.iter().zip(&*results).zip(&paths.numbers) {
        let devices = devices(tools, process, &results.severities, numbers);
        devices.iter().for_each(|device| kernels.add(device));
        of_processes.push(devices);
    }
    let kernels =
        reduce(exchange, kernels, |kernels| batch_of([kernels]), |sum, words| sum.merge(wire::one(words)))?;
    let is_first = exchange.worker() == 0;
    let words = broadcast(exchange, if is_first { batch_of([&kernels]) } else { Batch::new() })?;
    let kernels: Kernels = wire::one(&words);
    for ((process, results), devices) in processes.iter().zip(results).zip(of_processes) {
        let first = process.range().start;
        for (path, streams) in devices.into_iter().flat_map(|device| device.kernels) {
            let time = total(&streams);
            let excess = kernels.excess(path, time);
            for (location, row, of_stream) in streams.into_iter().filter(|_| excess > 0) {
                let of_stream = i128::from(of_stream);
                // Divided before it is multiplied, so that it does not overflow.
                let share = excess / time * of_stream + excess % time * of_stream / time;
                results.severities[location - first].add_share(metrics.imbalance, row, share);
            }
        }
    }
    Ok(())
}

/// Returns the devices of a process that have run anything.
fn devices(
    tools: &Tools<'_>,
    process: &WalkedProcess,
    severities: &[Severities],
    numbers: &[ReportPath],
) -> Vec<Device> {
    let Tools { trace, metrics, .. } = *tools;
    let range = process.range();
    let mut devices: BTreeMap<usize, Device> = BTreeMap::new();
    for stream in streams_of(&trace.locations[range.clone()], range.start) {
        let location = stream as usize;
        let group = trace.definitions.locations[trace.locations[location].definition].group;
        let device = devices.entry(group).or_default();
        let severities = &severities[location - range.start];
        let [times, visits] = [metrics.time, metrics.visits].map(|metric| severities.column(metric));
        for (at, &path) in severities.paths().iter().enumerate() {
            let [time, visits] = [&times, &visits].map(|column| column.get(at).copied().unwrap_or(0));
            let region = process.paths[path.index()].region;
            let is_kernel = is_kernel(trace, region);
            device.is_used |= visits > 0 && (is_kernel || is_copy(trace, region));
            if is_kernel && time > 0 {
                let of_kernel = device.kernels.entry(numbers[path.index()]).or_default();
                of_kernel.push((location, Row::new(at), time));
            }
        }
    }
    devices.into_values().filter(|device| device.is_used).collect()
}

fn is_kernel(trace: &Trace, region: u32) -> bool {
    let kind = trace.kinds.get(region as usize);
    kind.is_some_and(|kind| kind.accelerator == Some(AcceleratorPart::Kernel))
}

fn is_copy(trace: &Trace, region: u32) -> bool {
    let copies = [Artificial::CopyToDevice, Artificial::CopyFromDevice, Artificial::CopyOnDevice];
    copies.into_iter().any(|copy| trace.artificial(copy) == region)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fraction::FRACTION;

    fn device(time: i64) -> Device {
        let kernels = BTreeMap::from([(ReportPath::new(2), vec![(1, Row::default(), time)])]);
        Device { is_used: true, kernels }
    }

    #[test]
    fn excess_is_what_exceeds_the_mean_of_all_devices() {
        let mut kernels = Kernels::default();
        [device(10), device(4), Device::default()].iter().for_each(|device| kernels.add(device));
        let thirds = |number: i128| (number << FRACTION) / 3;
        let excess = |time| kernels.excess(ReportPath::new(2), time);
        // 14 ticks on three devices.
        assert_eq!([excess(10), excess(4), excess(5)], [thirds(16), 0, thirds(1)]);
        assert_eq!(kernels.excess(ReportPath::new(1), 0), 0);
    }

    #[test]
    fn sums_survive_the_way_to_another_worker() {
        let mut kernels = Kernels::default();
        kernels.add(&device(10));
        let other: Kernels = wire::one(&batch_of([&kernels]));
        kernels.merge(other);
        assert_eq!((kernels.devices, kernels.times[&ReportPath::new(2)]), (2, 20));
    }
}
