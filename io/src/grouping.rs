//! Which simple phases of all ranks are one phase (io.md 4.4).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::files::Files;
use crate::simple::Simple;
use crate::sizes::clusters;

/// What phases agree in that are similar, and in part what makes them different (io.md 4.4). The order is that of phases which
/// begin at the same time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Key {
    /// Name of the family of files.
    pub family: String,
    /// What is repeated.
    pub pattern: Vec<Access>,
    /// Whether it is residue.
    pub residue: bool,
    /// Number of the cluster of sizes within family and pattern, from small to large.
    pub cluster: u64,
    /// Number of the opening, from 1 on.
    pub opening: u64,
    /// Epoch at the begin (io.md 4.1).
    pub epoch: u64,
    /// Position of the simple phase among those of its rank with an equal key.
    pub ordinal: u64,
}

/// What simple phases agree in that are one phase, but for their ordinal. There may be very many of them, so it is small.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Likeness {
    /// Number of the family, the pattern, and whether it is residue.
    kind: usize,
    cluster: u64,
    opening: u64,
    epoch: u64,
}

/// What is repeated in a family of files, and whether that is residue.
type Kind<'a> = (&'a str, &'a [Access], bool);

/// Simple phases of some families of files that are one phase, with its key: in the order of names of files, of ranks, and of their numbers.
/// Groups are in any order.
pub(crate) fn grouped(simple: Vec<Simple>, files: &Files) -> Vec<(Key, Vec<Simple>)> {
    let mut kinds: FxHashMap<Kind<'_>, usize> = FxHashMap::default();
    let mut sizes: Vec<BTreeSet<u64>> = Vec::new();
    let kind_of = simple.iter().map(|it| {
        let number = *kinds.entry((files.family(it.file), &it.pattern, it.residue)).or_insert(sizes.len());
        if number == sizes.len() {
            sizes.push(BTreeSet::new());
        }
        sizes[number].insert(it.largest());
        number
    });
    let kind_of: Vec<usize> = kind_of.collect();
    let cluster_of: Vec<BTreeMap<u64, u64>> = sizes.into_iter().map(clusters).collect();
    let mut ordinals: FxHashMap<(u32, Likeness), u64> = FxHashMap::default();
    let mut numbers: FxHashMap<(Likeness, u64), usize> = FxHashMap::default();
    let mut groups: Vec<(Key, Vec<Simple>)> = Vec::new();
    let order = in_order(&simple, files);
    let mut simple: Vec<Option<Simple>> = simple.into_iter().map(Some).collect();
    for (at, it) in order.into_iter().filter_map(|at| Some((at, simple[at].take()?))) {
        let kind = kind_of[at];
        let cluster = cluster_of[kind][&it.largest()];
        let likeness = Likeness { kind, cluster, opening: it.opening, epoch: it.epoch };
        let next = ordinals.entry((it.rank, likeness)).or_default();
        let ordinal = *next;
        *next += 1;
        let number = *numbers.entry((likeness, ordinal)).or_insert(groups.len());
        if number == groups.len() {
            let (family, pattern) = (files.family(it.file).to_owned(), it.pattern.clone());
            let Simple { residue, opening, epoch, .. } = it;
            groups.push((Key { family, pattern, residue, cluster, opening, epoch, ordinal }, Vec::new()));
        }
        groups[number].1.push(it);
    }
    groups
}

/// The positions of simple phases in the order of names of files, of ranks, and of their numbers.
fn in_order(simple: &[Simple], files: &Files) -> Vec<usize> {
    let used: BTreeSet<u32> = simple.iter().map(|it| it.file).collect();
    let names: BTreeSet<&str> = used.iter().map(|file| files.name(*file)).collect();
    let places: FxHashMap<&str, usize> = names.into_iter().zip(0..).collect();
    let places: FxHashMap<u32, usize> = used.iter().map(|file| (*file, places[files.name(*file)])).collect();
    let mut order: Vec<_> = simple
        .iter()
        .enumerate()
        .map(|(at, it)| ((places[&it.file], it.rank, it.number, it.file), at))
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, at)| at).collect()
}
