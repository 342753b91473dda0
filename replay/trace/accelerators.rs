//! Accelerators of a trace: their streams, and what each region has to do with them (site.md, 6.1).

use model::accelerators::{self, Function};
use model::{Definitions, GroupType, LocationType, Members, Region};
use rustc_hash::FxHashMap;

use super::Location;
use crate::int::to_u32;

/// What a region has to do with streams of accelerators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AcceleratorPart {
    /// A function of the host.
    Function(Function),
    /// A kernel.
    Kernel,
    /// Time in which a stream runs nothing.
    Idle,
}

impl AcceleratorPart {
    /// Returns that of a region.
    pub(super) fn of(region: &Region) -> Option<AcceleratorPart> {
        if accelerators::is_kernel(region) {
            return Some(AcceleratorPart::Kernel);
        }
        if accelerators::is_idle(region) {
            return Some(AcceleratorPart::Idle);
        }
        accelerators::function(region).map(AcceleratorPart::Function)
    }
}

/// The streams of accelerators of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accelerators {
    /// Position of the location in the report by its reference, for streams.
    streams: FxHashMap<u64, u32>,
    /// By position of the window: whether each of its ranks is a stream; `None` if it is no window of an accelerator.
    windows: Vec<Option<Box<[bool]>>>,
    /// References of the parameters that are call sites of launches.
    call_sites: Vec<u64>,
}

impl Accelerators {
    /// Returns those of a trace; `None` if it has no streams, or nothing that runs on them.
    pub(super) fn find(definitions: &Definitions, locations: &[Location]) -> Option<Accelerators> {
        let streams = (0..).zip(locations).filter(|(_, it)| it.kind == LocationType::ACCELERATOR_STREAM);
        let streams: FxHashMap<u64, u32> = streams.map(|(at, location)| (location.reference, at)).collect();
        let has_regions = definitions.regions.iter().any(accelerators::is_of_accelerator);
        let is_stream = |reference: u64| streams.contains_key(&reference);
        let windows = definitions.windows.iter();
        let windows: Vec<_> =
            windows.map(|window| ranks(definitions, window.communicator, &is_stream)).collect();
        let has_any = !streams.is_empty() && (has_regions || windows.iter().any(Option::is_some));
        let parameters = &definitions.parameters;
        let named = (0..parameters.len()).filter(|&at| parameters[at] == accelerators::CALL_SITE);
        let call_sites = named.map(|at| parameters.reference(at)).collect();
        has_any.then_some(Accelerators { streams, windows, call_sites })
    }

    /// Returns the position in the report of the stream with a reference.
    pub fn stream(&self, reference: u64) -> Option<u32> {
        self.streams.get(&reference).copied()
    }

    /// Whether the parameter with a reference is the call site of a launch.
    pub fn is_call_site(&self, parameter: u64) -> bool {
        self.call_sites.contains(&parameter)
    }

    /// Whether a rank of the window at a position is a stream; `None` if it is no window of an accelerator, or has no such rank.
    pub fn is_stream(&self, window: usize, rank: u32) -> Option<bool> {
        self.windows.get(window)?.as_ref()?.get(rank as usize).copied()
    }

    /// Whether the window at a position is one of an accelerator.
    pub fn has_window(&self, window: usize) -> bool {
        self.windows.get(window).is_some_and(Option::is_some)
    }
}

/// Returns for each rank of a communicator of locations whether it is a stream; `None` if none is.
fn ranks(
    definitions: &Definitions,
    communicator: usize,
    is_stream: &dyn Fn(u64) -> bool,
) -> Option<Box<[bool]>> {
    let Members::Group(group) = definitions.communicators[communicator].members else { return None };
    let group = &definitions.groups[group];
    let all = definitions.groups.iter();
    let all = all
        .filter(|it| it.kind == GroupType::COMM_LOCATIONS && it.paradigm == group.paradigm)
        .find(|_| group.kind == GroupType::COMM_GROUP)?;
    let location = |&member: &u64| all.members.get(usize::try_from(member).ok()?).copied();
    let ranks: Box<[bool]> =
        group.members.iter().map(|member| location(member).is_some_and(is_stream)).collect();
    ranks.contains(&true).then_some(ranks)
}

/// Returns the positions in the report of the streams among locations, of which the first is at `first`.
pub fn streams_of(locations: &[Location], first: usize) -> impl Iterator<Item = u32> {
    let streams = (first..).zip(locations).filter(|(_, it)| it.kind == LocationType::ACCELERATOR_STREAM);
    streams.map(|(at, _)| to_u32(at))
}
