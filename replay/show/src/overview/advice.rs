//! Advice on the first screen: what of it is shown, and where it is in the call tree.

use cubex::{CnodeId, Cube};
use details::advice::{AdviceFile, Advised, AdvisedPlace};

use crate::paths;

/// The most that the first screen shows.
const MOST: usize = 3;

/// What the first screen shows of advice, and how much there is besides.
pub fn first(file: &AdviceFile) -> (&[Advised], usize) {
    // What is hidden is behind all that is not.
    let count = file.advice.iter().take_while(|it| it.hidden.is_none()).count();
    let (shown, others) = file.advice[..count].split_at(count.min(MOST));
    (shown, others.len())
}

/// The call path of a place; `None` if the report does not have it.
pub fn cnode(cube: &Cube, place: &AdvisedPlace) -> Option<CnodeId> {
    let cnode = CnodeId(usize::try_from(place.cnode?).ok()?);
    (cnode.0 < cube.cnodes.len() && paths::name(cube, cnode) == place.region).then_some(cnode)
}

/// The gain as a share of the run: as replayed, or at most.
pub fn share(file: &AdviceFile, advised: &Advised) -> f64 {
    advised.gain.expected.unwrap_or(advised.gain.most) / file.run.seconds.max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cubex::{Cnode, Region};

    #[test]
    fn place_that_the_report_does_not_have_is_no_call_path() {
        let mut cube = Cube::default();
        let region = cube.add_region(Region::named("work"));
        cube.add_cnode(Cnode { region, ..Cnode::default() });
        let of = |number: Option<u32>, region: &str| {
            cnode(&cube, &AdvisedPlace { cnode: number, region: region.into(), ..AdvisedPlace::default() })
        };
        assert_eq!(of(Some(0), "work"), Some(CnodeId(0)));
        assert_eq!([of(Some(1), "work"), of(Some(0), "other"), of(None, "work")], [None; 3]);
    }
}
