//! Where the main loop is in the program: the functions that all of its calls have in common, and the call that it begins with.

use super::agree::{Agreed, LocationIterations, Numbering};
use crate::call_tree::{CallPath, NO_SITE};
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, share};
use crate::ids::PathId;
use crate::int::to_u32;
use crate::walk::{Steps, Walked, WalkedProcess};
use crate::wire::{Wire, wire};

/// Where a loop is.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Place {
    /// The regions of the call path that all its calls have in common, from the root.
    pub regions: Vec<u32>,
    /// Those inside it of the call that all its iterations begin with, the call's own last; empty if they begin with several.
    pub header: Vec<u32>,
    /// The call site of that call, or [`NO_SITE`].
    pub site: u32,
}

wire!(Place { regions, header, site });

/// Finds the place of the main loop, at the first location that has as many iterations as all have.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    processes: &[Walked],
    agreed: &Agreed,
    exchange: &mut dyn Exchange,
) -> Result<Place, Error> {
    let is_own = |line: &&LocationIterations| line.numbering == Numbering::Own;
    let own =
        agreed.locations.iter().find(is_own).and_then(|line| Some((line.location, at(processes, line)?)));
    let mut batch = Batch::new();
    if let Some((location, place)) = own {
        location.put(&mut batch);
        place.put(&mut batch);
    }
    let get = |batch: &Batch| {
        let mut reader = BatchReader::new(batch);
        (!reader.is_empty()).then(|| (u32::get(&mut reader), Place::get(&mut reader)))
    };
    let all = share(exchange, batch)?;
    let first = all.iter().filter_map(get).min_by_key(|(location, _)| *location);
    Ok(first.map(|(_, place)| place).unwrap_or_default())
}

/// The place of the loop with the iterations of a location.
fn at(processes: &[Walked], line: &LocationIterations) -> Option<Place> {
    let (process, steps) = walked(processes, line.location)?;
    let numbers: Vec<u32> = steps.key_numbers().collect();
    let mut is_inside = vec![false; steps.keys.len()];
    for own in line.own.iter() {
        let inside = &numbers[own.first as usize..own.behind as usize];
        inside.iter().for_each(|&key| is_inside[key as usize] = true);
    }
    let paths = &process.paths;
    let keys = steps.keys.iter().zip(is_inside).filter(|(key, is_inside)| *is_inside && !key.is_gap);
    // The calls themselves are left out: the loop is in what calls them.
    let mut chains = keys.map(|(key, _)| {
        let mut chain = regions(paths, key.path);
        chain.pop();
        chain
    });
    let first = chains.next()?;
    let common = chains.fold(first, |common, chain| {
        let both = common.into_iter().zip(chain);
        both.take_while(|(a, b)| a == b).map(|(region, _)| region).collect()
    });
    let begin = |number: u32| steps.keys[numbers[number as usize] as usize].path;
    let first = begin(line.own.first()?.first);
    let has_one = line.own.iter().all(|own| begin(own.first) == first);
    let header = if has_one { regions(paths, first).split_off(common.len()) } else { Vec::new() };
    // The line of a call of MPI stands with its caller.
    let own = paths[first.index()];
    let site = if own.site == NO_SITE {
        paths.get(own.parent.index()).map_or(NO_SITE, |it| it.site)
    } else {
        own.site
    };
    Some(Place { regions: common, header, site })
}

/// The steps of a location of these processes.
fn walked(processes: &[Walked], location: u32) -> Option<(&WalkedProcess, &Steps)> {
    let find = |walked: &'_ Walked| {
        let locations = &walked.process.locations;
        locations.iter().position(|it| to_u32(it.location) == location)
    };
    processes.iter().find_map(|walked| Some((&walked.process, &walked.steps[find(walked)?])))
}

/// The regions of a call path, from the root.
fn regions(paths: &[CallPath], path: PathId) -> Vec<u32> {
    let parent =
        |path: &PathId| Some(paths.get(path.index())?.parent).filter(|&parent| parent != PathId::NONE);
    let chain = std::iter::successors(Some(path), parent).filter_map(|path| paths.get(path.index()));
    let mut regions: Vec<u32> = chain.map(|path| path.region).collect();
    regions.reverse();
    regions
}
