//! Where the main loop is in the program: the functions that all of its calls have in common, and the call that it begins with.

use super::agree::{Agreed, LocationIterations, Numbering};
use crate::call_tree::{CallPath, NO_SITE};
use crate::error::Error;
use crate::exchange::{Batch, Exchange, share};
use crate::ids::PathId;
use crate::int::to_u32;
use crate::walk::{Steps, Walked, WalkedProcess};
use crate::wire::{self, Wire, wire};

/// Where a loop is.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Place {
    /// The regions of the call path that all its calls have in common, from the root.
    pub regions: Vec<u32>,
    /// Those inside it of the call that all its iterations begin with, the call's own last; empty if they begin with several.
    pub header: Vec<u32>,
    /// The call site of that call, or [`NO_SITE`].
    pub site: u32,
    /// The location that was looked at: the first one that has as many iterations as all have.
    pub location: u32,
    /// Whether the iterations of all locations begin with that call, as far as these are numbered alike.
    pub is_everywhere: bool,
}

wire!(Place { regions, header, site, location, is_everywhere });

/// Finds the place of the main loop, at the first location that has as many iterations as all have.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    processes: &[Walked],
    agreed: &Agreed,
    exchange: &mut dyn Exchange,
) -> Result<Place, Error> {
    let own: Vec<&LocationIterations> =
        agreed.locations.iter().filter(|line| line.numbering == Numbering::Own).collect();
    let first = own.first().and_then(|line| at(processes, line));
    let mut batch = Batch::new();
    first.put(&mut batch);
    let all = share(exchange, batch)?;
    let first =
        all.iter().filter_map(|batch| wire::one::<Option<Place>>(batch)).min_by_key(|place| place.location);
    let Some(place) = first else { return Ok(Place::default()) };
    let header: Vec<u32> = place.regions.iter().chain(&place.header).copied().collect();
    let begins_with_it = |line: &&LocationIterations| {
        let begin = walked(processes, line.location).zip(line.own.first());
        begin.is_some_and(|((process, steps), own)| {
            let key = steps.key_numbers().nth(own.first as usize).map(|key| steps.keys[key as usize]);
            key.is_some_and(|key| regions(&process.paths, key.path) == header)
        })
    };
    let do_all = own.iter().all(begins_with_it);
    let is_everywhere = share(exchange, vec![u64::from(do_all)])?.iter().all(|batch| batch[..] == [1]);
    Ok(Place { is_everywhere, ..place })
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
    Some(Place { regions: common, header, site, location: line.location, is_everywhere: false })
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
