//! Phases: the simple phases of all ranks that belong together (io.md 4.4).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::files::Files;
use crate::grouping::{Key, grouped};
use crate::mode::{Mode, access_mode};
use crate::numbers::{count, mean, sum};
use crate::origin::{Origin, over_ranks};
use crate::ranks::Ranges;
use crate::simple::{Flushes, Lane, Manner, Simple};
use crate::time::{Spread, measured_time};

/// The requests of a phase at one position of its pattern.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Position {
    /// Mean bytes of the first request of members that move data, rounded.
    pub rs: u64,
    /// Bytes of the smallest request of members that move data.
    pub least: u64,
    /// Bytes of the largest request.
    pub most: u64,
    /// Bytes of all requests.
    pub bytes: u64,
    /// How many consecutive requests of a rank are a block, if blocks of all ranks take turns (io.md 4.8).
    pub block: Option<u64>,
}

/// An occurrence of I/O of all ranks that belongs together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Phase {
    /// What it is.
    pub key: Key,
    /// Numbers of its files, rising.
    pub files: Vec<u32>,
    /// Ranks that call.
    pub ranks: Ranges,
    /// How many ranks call.
    pub members: u64,
    /// How many ranks move data.
    pub np: u64,
    /// Whether each member has a file of its own, and there are several.
    pub per_process: bool,
    /// How often the pattern comes at most members; of equally many that of the first one.
    pub rep: u64,
    /// Whether all members that move data do so with requests of equal sizes.
    pub same_sizes: bool,
    /// Whether they do so equally often.
    pub same_rep: bool,
    /// Bytes moved.
    pub weight: u64,
    /// Number of operations.
    pub operations: u64,
    /// The requests by position of the pattern; all together in residue.
    pub positions: Vec<Position>,
    /// How requests follow each other.
    pub mode: Mode,
    /// The most frequent step between requests of a rank, in bytes.
    pub disp: Option<i64>,
    /// Whether requests have holes: the view is strided.
    pub holes: bool,
    /// Whether views are known; if not, offsets are those of what ranks see.
    pub is_view_known: bool,
    /// Where ranks begin in what they see, in bytes.
    pub view: Origin,
    /// Where ranks begin in the file, in bytes.
    pub file: Origin,
    /// Where ranks would begin if their bytes lay side by side from 0 on (io.md 4.6).
    pub dense: Origin,
    /// When the first operation began, in ticks of the clock.
    pub begin: u64,
    /// When all were complete, in ticks of the clock.
    pub end: u64,
    /// T_MD in ticks of the clock (io.md 4.7).
    pub time: u64,
    /// How far the times of ranks are apart, with what they wait for each other in collective operations.
    pub spread: Spread,
    /// Ticks at the begin of the lowest rank (io.md 4.1).
    pub tick: u64,
    /// Call path of the first operation of the lowest rank.
    pub call_path: u32,
    /// How often files were flushed.
    pub flushes: Flushes,
    /// How the lowest rank opened its file.
    pub manner: Manner,
}

/// The mark of a number at which ranks differ: it is the mean of them, or the most frequent one (io.md 4.4).
pub fn about(is_same: bool) -> &'static str {
    if is_same { "" } else { "~" }
}

/// The phases of all simple phases of some families of files, in the order of their begin. Simple phases may come in any order.
pub fn phases(simple: Vec<Simple>, files: &Files) -> Vec<Phase> {
    let groups = grouped(simple, files);
    let mut made: Vec<Phase> = groups.into_iter().filter_map(|(key, members)| phase(key, members)).collect();
    made.sort_by(|one, other| (one.begin, &one.key).cmp(&(other.begin, &other.key)));
    made
}

/// A phase of its members, which are in the order of names of files, then of ranks.
fn phase(key: Key, mut members: Vec<Simple>) -> Option<Phase> {
    let rep = most_frequent(members.iter().map(|member| member.rep));
    members.sort_by_key(|member| member.rank);
    let (lowest, moving) = (members.first()?, || members.iter().filter(|member| member.bytes() > 0));
    let np = count(moving().count());
    let all_agree = |agree: &dyn Fn(&Simple, &Simple) -> bool| {
        moving().next().is_none_or(|first| moving().all(|it| agree(first, it)))
    };
    let (mode, disp, holes) = access_mode(&members);
    let files: BTreeSet<u32> = members.iter().map(|member| member.file).collect();
    let is_view_known = members.iter().all(|member| member.is_view_known);
    let place = |which: fn(&Simple) -> Option<u64>| {
        over_ranks(members.iter().map(|it| match which(it) {
            None if it.bytes() > 0 => Err(()),
            offset => Ok(offset),
        }))
    };
    let mut before = 0_u64;
    let dense = members.iter().map(|member| {
        let offset = before;
        before = before.saturating_add(member.bytes());
        Ok(Some(offset))
    });
    let per_process = members.len() > 1 && files.len() == members.len();
    let turns = !key.residue && !per_process;
    let position = |at: usize| {
        let lanes = || moving().filter_map(|member| member.lanes.get(at));
        let rs = mean(lanes().map(|lane| u128::from(lane.size)).sum(), np.into());
        let all = || members.iter().filter_map(|member| member.lanes.get(at));
        Position {
            rs,
            least: lanes().map(|lane| lane.least).min().unwrap_or(0),
            most: lanes().map(|lane| lane.most).max().unwrap_or(0),
            bytes: sum(lanes().map(|lane| lane.bytes)),
            block: if turns { block(all(), rs, np) } else { None },
        }
    };
    Some(Phase {
        positions: (0..lowest.lanes.len()).map(position).collect(),
        ranks: Ranges::of(members.iter().map(|member| member.rank.into())),
        members: count(members.len()),
        np,
        per_process,
        rep,
        same_sizes: all_agree(&|one, other| one.sizes().eq(other.sizes())),
        same_rep: all_agree(&|one, other| one.rep == other.rep),
        weight: sum(members.iter().map(Simple::bytes)),
        operations: sum(members.iter().map(Simple::operations)),
        mode,
        disp,
        holes,
        is_view_known,
        view: place(|member| member.offset),
        file: if is_view_known { place(|member| member.first) } else { Origin::Unknown },
        dense: over_ranks(dense),
        begin: members.iter().map(|member| member.begin).min()?,
        end: members.iter().map(|member| member.end).max()?,
        time: measured_time(&members),
        spread: Spread::of(members.iter().map(|member| (member.rank, member.time)))?,
        tick: lowest.tick,
        call_path: lowest.call_path,
        flushes: members.iter().map(|member| member.flushes).max()?,
        manner: lowest.manner.clone(),
        files: files.into_iter().collect(),
        key,
    })
}

/// The most frequent number; of equally frequent ones that which comes first.
fn most_frequent(numbers: impl Iterator<Item = u64>) -> u64 {
    let mut counts: BTreeMap<u64, (u64, std::cmp::Reverse<usize>)> = BTreeMap::new();
    for (at, number) in numbers.enumerate() {
        counts.entry(number).or_insert((0, std::cmp::Reverse(at))).0 += 1;
    }
    counts.into_iter().max_by_key(|(_, frequency)| *frequency).map_or(0, |(number, _)| number)
}

/// How many consecutive requests of a rank are a block, if blocks of all `np` ranks take turns (io.md 4.8). Parts of ranks may differ
/// by an element or so.
fn block<'a>(lanes: impl Iterator<Item = &'a Lane>, rs: u64, np: u64) -> Option<u64> {
    let mut found = None;
    let size = i128::from(rs);
    for lane in lanes {
        let steps = sum(lane.steps.iter().map(|it| it.count));
        if lane.bytes == 0 && steps == 0 {
            continue;
        }
        if lane.unknown || steps.checked_add(1)? != lane.requests {
            return None;
        }
        let mut begin = 0_u64;
        let mut other = lane.steps.iter().filter_map(|it| {
            let at = begin;
            begin += it.count;
            (i128::from(it.step) != size).then_some(at + 1)
        });
        let own = other.next().unwrap_or(lane.requests);
        if *found.get_or_insert(own) != own || lane.requests % own != 0 {
            return None;
        }
        let blocks = i128::from(np).checked_mul(i128::from(own))?.checked_mul(size)?;
        let jump = blocks - (i128::from(own) - 1).checked_mul(size)?;
        let near = |step: i64, to: i128| (i128::from(step) - to).unsigned_abs() <= 8 * u128::from(np);
        let mut at = 0_u64;
        for it in &lane.steps {
            let jumps = (at + it.count) / own - at / own;
            if jumps > 0 && !near(it.step, jump) || jumps < it.count && !near(it.step, size) {
                return None;
            }
            at += it.count;
        }
    }
    found
}
