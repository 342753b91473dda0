//! The shared pointer of a file that several ranks have opened together: where their ordered transfers begin (io.md 3.2). A rank
//! knows what it has moved itself; where that was, only all of them together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::numbers::moved;

/// What a rank has done by a handle that concerns the shared pointer, which counts in etypes of the view.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum SharedStep {
    /// All ranks together have opened the file, set a view, or sought: the pointer is there, if that is known.
    To(Option<u64>),
    /// All ranks together have moved the pointer by so much.
    By(i64),
    /// All ranks together have moved so much in order, of which this is the rank's own part, if that is known.
    Ordered(Option<u64>),
    /// The rank by itself has moved so much, if that is known.
    Own(Option<u64>),
}

/// The steps of a rank, by handle.
pub type SharedSteps = BTreeMap<u64, Vec<SharedStep>>;

/// Where ordered transfers begin, in etypes, by member of the communicator and transfer, from the steps of the members in the order of
/// their ranks in it. A transfer begins behind those of the members before, and behind all that was moved before. What members have
/// moved by themselves between two steps of all counts, in whichever order that was. Where members do not agree in what they do
/// together, nothing is known from there on.
pub fn ordered_offsets(members: &[&[SharedStep]]) -> Vec<Vec<Option<u64>>> {
    let mut all: Vec<Vec<Option<u64>>> = vec![Vec::new(); members.len()];
    let mut rests = members.to_vec();
    let mut pointer = None;
    while let Some(steps) = next(&mut rests, &mut pointer) {
        let Some((&first, others)) = steps.split_first() else { break };
        match first {
            SharedStep::Ordered(_) => {
                let parts: Option<Vec<Option<u64>>> = steps.iter().map(|step| step.ordered()).collect();
                let Some(parts) = parts else { break };
                for (own, part) in all.iter_mut().zip(parts) {
                    own.push(pointer);
                    pointer = behind(pointer, part);
                }
            }
            // All say the same, or it is not known where that is.
            SharedStep::To(to) => pointer = to.filter(|_| others.iter().all(|other| *other == first)),
            SharedStep::By(by) => {
                let from = pointer.filter(|_| others.iter().all(|other| *other == first));
                pointer = from.and_then(|from| moved(from, by.into()));
            }
            SharedStep::Own(_) => {}
        }
    }
    for (own, steps) in all.iter_mut().zip(members) {
        own.resize(steps.iter().filter(|step| step.ordered().is_some()).count(), None);
    }
    all
}

/// Takes the next step of all, and moves the pointer by what members have moved by themselves before; `None` if one of them has none.
fn next(rests: &mut [&[SharedStep]], pointer: &mut Option<u64>) -> Option<Vec<SharedStep>> {
    let take = |rest: &mut &[SharedStep]| {
        loop {
            let (step, behind_it) = rest.split_first()?;
            *rest = behind_it;
            match *step {
                SharedStep::Own(part) => *pointer = behind(*pointer, part),
                step => return Some(step),
            }
        }
    };
    rests.iter_mut().map(take).collect()
}

fn behind(pointer: Option<u64>, part: Option<u64>) -> Option<u64> {
    moved(pointer?, part?.into())
}

/// The same steps with sums of what a rank has moved by itself.
pub(crate) fn summed(steps: &[SharedStep]) -> Vec<SharedStep> {
    let mut all: Vec<SharedStep> = Vec::new();
    for &step in steps {
        match (all.last_mut(), step) {
            (Some(SharedStep::Own(sum)), SharedStep::Own(part)) => *sum = behind(*sum, part),
            _ => all.push(step),
        }
    }
    all
}

impl SharedStep {
    /// The rank's part of an ordered transfer; `None` if it is none.
    pub(crate) fn ordered(self) -> Option<Option<u64>> {
        match self {
            SharedStep::Ordered(part) => Some(part),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SharedStep::{By, Ordered, Own, To};
    use super::*;

    #[test]
    fn ordered_transfers_lie_behind_each_other() {
        let one = [To(Some(5)), Ordered(Some(2)), Own(Some(10)), Ordered(Some(1)), By(-3), Ordered(Some(7))];
        let other = [To(Some(5)), Ordered(Some(0)), Ordered(Some(1)), Own(Some(100)), By(-3), Ordered(None)];
        assert_eq!(
            ordered_offsets(&[&one, &other]),
            [[Some(5), Some(17), Some(116)], [Some(7), Some(18), Some(123)]]
        );
        // Behind what nobody knows the bytes of nothing is known, up to the next place that all agree in.
        let list = [To(Some(1)), Own(None), Ordered(Some(1)), To(Some(0)), Ordered(Some(2))];
        assert_eq!(ordered_offsets(&[&list]), [[None, Some(0)]]);
        assert_eq!(
            ordered_offsets(&[&[To(Some(u64::MAX >> 1)), Ordered(Some(1)), Ordered(Some(1))]]),
            [[Some(u64::MAX >> 1), None]]
        );
        assert_eq!(ordered_offsets(&[]), [[None; 0]; 0]);
    }

    #[test]
    fn nothing_is_known_where_members_disagree() {
        let ordered = [Ordered(Some(1)); 2];
        let with = |first, second| {
            let [one, other] = [first, second].map(|step| [&[step][..], &ordered].concat());
            ordered_offsets(&[&one, &other])
        };
        assert_eq!(with(To(Some(0)), To(Some(0)))[1], [Some(1), Some(3)]);
        for (first, second) in
            [(To(Some(0)), To(Some(1))), (To(Some(0)), By(0)), (Ordered(Some(1)), To(None))]
        {
            let known = with(first, second).into_iter().flatten().flatten().count();
            assert_eq!(known, 0, "{first:?} {second:?}");
        }
        let missing = ordered_offsets(&[&[To(Some(0)), Ordered(Some(1))], &[To(Some(0))]]);
        assert_eq!(missing, [vec![None], vec![]]);
    }
}
