//! How the requests of a phase lie in the file (io.md 4.5).

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::simple::Simple;

/// How requests of a rank follow each other in the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// One begins where the one before ended, or there is one only.
    Sequential,
    /// With holes inside, or with few different steps forward.
    Strided,
    /// Anything else.
    Random,
    /// Offsets are unknown.
    Unknown,
}

impl Mode {
    /// `sequential`, `strided`, `random` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Sequential => "sequential",
            Mode::Strided => "strided",
            Mode::Random => "random",
            Mode::Unknown => "unknown",
        }
    }
}

/// The mode of a phase, its most frequent step in bytes (the least one of equals; `None` if offsets are unknown), and whether
/// its requests have holes.
pub(crate) fn access_mode(members: &[Simple]) -> (Mode, Option<i64>, bool) {
    let lanes = || members.iter().flat_map(|member| &member.lanes);
    let mut steps: Vec<(i64, u64)> = Vec::new();
    let (mut total, mut consecutive, mut forward) = (0_u128, 0_u128, 0_u128);
    for it in lanes().flat_map(|lane| &lane.steps) {
        let count = u128::from(it.count);
        steps.push((it.step, it.count));
        total += count;
        let far = i128::from(it.step) - i128::from(it.length);
        consecutive += if far == 0 { count } else { 0 };
        forward += if far >= 0 { count } else { 0 };
    }
    steps.sort_unstable_by_key(|(step, _)| *step);
    // The three most frequent ones, of equals the least.
    let mut most = [(0, Reverse(i64::MAX)); 3];
    for equal in steps.chunk_by(|one, other| one.0 == other.0) {
        let mut next = (equal.iter().map(|it| u128::from(it.1)).sum::<u128>(), Reverse(equal[0].0));
        for place in &mut most {
            if next > *place {
                std::mem::swap(place, &mut next);
            }
        }
    }
    let requests: u128 = lanes().map(|lane| u128::from(lane.requests)).sum();
    let holes = lanes().map(|lane| u128::from(lane.holes)).sum::<u128>() * 10 >= requests * 9;
    let is_unknown = lanes().any(|lane| lane.unknown);
    let steady = |count: u128| 10 * count >= 9 * total;
    let mode = if holes {
        Mode::Strided
    } else if is_unknown {
        Mode::Unknown
    } else if total == 0 || steady(consecutive) {
        Mode::Sequential
    } else if steady(most.iter().map(|it| it.0).sum()) && steady(forward) {
        Mode::Strided
    } else {
        Mode::Random
    };
    let disp = if steps.is_empty() { 0 } else { most[0].1.0 };
    (mode, if is_unknown { None } else { Some(disp) }, holes)
}
