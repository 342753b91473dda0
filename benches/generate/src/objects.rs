//! Objects that the events of some patterns name: a communicator with a grid, a window, a file, groups of partners, and streams
//! of a device.

use std::collections::HashMap;

use crate::files::View;
use crate::job::Job;
use crate::regions::Region;

/// The communicator with a grid.
pub(crate) const GRID: u32 = 2;

/// The window, on all ranks; or that of copies to devices and from them.
pub(crate) const WINDOW: u32 = 0;

/// Attributes of the end of an operation among neighbours.
pub(crate) const NEIGHBORS_IN: u32 = 0;
pub(crate) const NEIGHBORS_OUT: u32 = 1;

/// The first group of partners; those before are of the communicators of every trace.
pub(crate) const FIRST_GROUP: u32 = 3;

/// Objects of a pattern.
pub(crate) struct Objects {
    pub(crate) grid: bool,
    pub(crate) window: bool,
    /// A file, if there are views of it.
    pub(crate) views: Option<Views>,
    pub(crate) partners: Option<Partners>,
    /// Number of streams of each rank, on one device.
    pub(crate) streams: u32,
    /// Regions of the interface of that device, and its kernels.
    pub(crate) regions: &'static [Region],
}

/// Returns the views of the file that a rank sets; the filetypes are those of all ranks.
pub(crate) type Views = fn(&Job, u32) -> [View; 2];

/// Returns the ranks that send data to a rank, and those that it sends data to, in any order and maybe more than once.
pub(crate) type Partners = fn(&Job, u32) -> [Vec<u32>; 2];

impl Objects {
    pub(crate) const NONE: Objects =
        Objects { grid: false, window: false, views: None, partners: None, streams: 0, regions: &[] };
}

/// The groups of partners of all ranks. Equal ones are one definition.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// Members, in rising order.
    lists: Vec<Vec<u64>>,
    /// References of the groups of each rank: the ranks that send to it, and those that it sends to.
    of_ranks: Vec<[u32; 2]>,
}

impl Groups {
    pub(crate) fn of(job: &Job) -> Groups {
        let mut groups = Groups::default();
        let Some(partners) = job.pattern.objects.partners else { return groups };
        let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
        for rank in 0..job.ranks {
            groups.of_ranks.push(partners(job, rank).map(|partners| {
                let mut members: Vec<u64> = partners.into_iter().map(u64::from).collect();
                members.sort_unstable();
                members.dedup();
                *known.entry(members).or_insert_with_key(|members| {
                    groups.lists.push(members.clone());
                    FIRST_GROUP + groups.lists.len() as u32 - 1
                })
            }));
        }
        groups
    }

    /// The groups that a rank names; nothing refers to the result of a pattern without groups.
    pub(crate) fn of_rank(&self, rank: u32) -> [u32; 2] {
        self.of_ranks.get(rank as usize).copied().unwrap_or_default()
    }

    /// The members of all groups, in the order of references.
    pub(crate) fn lists(&self) -> &[Vec<u64>] {
        &self.lists
    }
}
