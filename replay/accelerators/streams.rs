//! Streams of a process: what runs on them, in the order of time.

use model::Ticks;

use crate::operations::Offload;
use crate::trace::Trace;

/// A stream.
#[derive(Clone, Debug)]
pub(super) struct StreamLine {
    /// Position of its location in the report.
    pub(super) location: u32,
    /// Its device: the position of its location group in the definitions.
    pub(super) device: usize,
    /// What runs on it, as positions in [`Offload::activities`], in the order of begins.
    pub(super) activities: Vec<u32>,
}

/// All streams of a process that run something.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams {
    /// In the order of locations.
    lines: Vec<StreamLine>,
    /// By activity: its place on its stream.
    places: Vec<u32>,
    /// By device: what runs on it, in the order of begins.
    devices: Vec<(usize, Vec<u32>)>,
    /// By activity: the last end of anything on its device that is no later than its begin.
    ran_until: Vec<Option<Ticks>>,
}

impl Streams {
    /// Sorts what runs on streams.
    pub(super) fn new(trace: &Trace, offload: &Offload) -> Streams {
        let activities = &offload.activities;
        let key = |at: u32| {
            let activity = &activities[at as usize];
            (activity.time.enter, activity.time.leave, activity.stream)
        };
        let mut streams = Streams { places: vec![0; activities.len()], ..Streams::default() };
        // By stream, counted from the first one: what it runs, in the order of ends.
        let first = activities.iter().map(|activity| activity.stream).min().unwrap_or(0);
        let mut of_streams: Vec<Vec<u32>> = Vec::new();
        for (at, activity) in (0..).zip(activities) {
            let stream = (activity.stream - first) as usize;
            if stream >= of_streams.len() {
                of_streams.resize_with(stream + 1, Vec::new);
            }
            of_streams[stream].push(at);
        }
        let mut device_of: Vec<usize> = vec![0; of_streams.len()];
        for ((location, mut of_stream), of_device) in (first..).zip(of_streams).zip(&mut device_of) {
            if of_stream.is_empty() {
                continue;
            }
            let definition = trace.locations[location as usize].definition;
            let device = trace.definitions.locations[definition].group;
            // They are in this order already, unless clocks are wrong.
            of_stream.sort_by_key(|&at| key(at));
            for (place, &at) in (0..).zip(&of_stream) {
                streams.places[at as usize] = place;
            }
            *of_device = streams.devices.iter().position(|known| known.0 == device).unwrap_or_else(|| {
                streams.devices.push((device, Vec::new()));
                streams.devices.len() - 1
            });
            streams.devices[*of_device].1.extend(&of_stream);
            streams.lines.push(StreamLine { location, device, activities: of_stream });
        }
        let mut ends = vec![Vec::new(); streams.devices.len()];
        for activity in activities {
            ends[device_of[(activity.stream - first) as usize]].push(activity.time.leave);
        }
        streams.ran_until = vec![None; activities.len()];
        for ((_, of_device), mut ends) in streams.devices.iter_mut().zip(ends) {
            of_device.sort_by_key(|&at| key(at));
            // Activities are numbered by their ends.
            ends.sort_unstable();
            let mut ends = ends.into_iter().peekable();
            let mut ran_until = None;
            for &at in &*of_device {
                while let Some(end) = ends.next_if(|&end| end <= activities[at as usize].time.enter) {
                    ran_until = Some(end);
                }
                streams.ran_until[at as usize] = ran_until;
            }
        }
        streams
    }

    /// All streams.
    pub(super) fn lines(&self) -> &[StreamLine] {
        &self.lines
    }

    /// The position of a stream among those that run something.
    pub(super) fn line(&self, location: u32) -> Option<usize> {
        self.lines.binary_search_by_key(&location, |line| line.location).ok()
    }

    /// What runs on a stream; nothing if it is none of these.
    pub(super) fn of(&self, location: u32) -> &[u32] {
        self.line(location).map_or(&[], |at| &self.lines[at].activities)
    }

    /// The device of a stream that runs something.
    pub(super) fn device(&self, location: u32) -> Option<usize> {
        self.line(location).map(|at| self.lines[at].device)
    }

    /// The place of an activity on its stream.
    pub(super) fn place(&self, activity: u32) -> usize {
        self.places[activity as usize] as usize
    }

    /// What runs on each device, in the order of begins.
    pub(super) fn by_device(&self) -> impl Iterator<Item = &[u32]> {
        self.devices.iter().map(|(_, of_device)| &of_device[..])
    }

    /// The last end of anything on the device of an activity that is no later than its begin.
    pub(super) fn ran_until(&self, activity: u32) -> Option<Ticks> {
        self.ran_until[activity as usize]
    }
}
