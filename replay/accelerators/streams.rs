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
    /// The same: when what runs on it ends, in ascending order.
    ends: Vec<Vec<Ticks>>,
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
        for (location, mut of_stream) in (first..).zip(of_streams).filter(|(_, of)| !of.is_empty()) {
            let definition = trace.locations[location as usize].definition;
            let device = trace.definitions.locations[definition].group;
            // They are in this order already, unless clocks are wrong.
            of_stream.sort_by_key(|&at| key(at));
            for (place, &at) in (0..).zip(&of_stream) {
                streams.places[at as usize] = place;
            }
            match streams.devices.iter_mut().find(|known| known.0 == device) {
                Some(known) => known.1.extend(&of_stream),
                None => streams.devices.push((device, of_stream.clone())),
            }
            streams.lines.push(StreamLine { location, device, activities: of_stream });
        }
        for (_, of_device) in &mut streams.devices {
            // As they are numbered by their ends, these are sorted soonest.
            let mut ends = of_device.clone();
            ends.sort_unstable();
            let mut ends: Vec<Ticks> = ends.iter().map(|&at| activities[at as usize].time.leave).collect();
            ends.sort_unstable();
            streams.ends.push(ends);
            of_device.sort_by_key(|&at| key(at));
        }
        streams
    }

    /// All streams.
    pub(super) fn lines(&self) -> &[StreamLine] {
        &self.lines
    }

    /// What runs on a stream; nothing if it is none of these.
    pub(super) fn of(&self, location: u32) -> &[u32] {
        let found = self.lines.binary_search_by_key(&location, |line| line.location);
        found.map_or(&[], |at| &self.lines[at].activities)
    }

    /// The device of a stream that runs something.
    pub(super) fn device(&self, location: u32) -> Option<usize> {
        let found = self.lines.binary_search_by_key(&location, |line| line.location);
        found.ok().map(|at| self.lines[at].device)
    }

    /// The place of an activity on its stream.
    pub(super) fn place(&self, activity: u32) -> usize {
        self.places[activity as usize] as usize
    }

    /// What runs on each device, in the order of begins.
    pub(super) fn by_device(&self) -> impl Iterator<Item = &[u32]> {
        self.devices.iter().map(|(_, of_device)| &of_device[..])
    }

    /// The last end of anything on a device that is no later than a time.
    pub(super) fn last_end(&self, device: usize, time: Ticks) -> Option<Ticks> {
        let at = self.devices.iter().position(|known| known.0 == device)?;
        let ends = &self.ends[at];
        let before = ends.partition_point(|&end| end <= time);
        before.checked_sub(1).map(|last| ends[last])
    }
}
