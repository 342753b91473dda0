//! Time in which recording was off: nobody knows what was done then, so it is in no share and no place to do anything about.

use cubex::{CnodeId, Cube};
use details::manifest::{Manifest, Recorded};

use crate::output::numbers::{percent, share};
use crate::paths;

/// The region that stands for such time in reports.
const OFF: &str = "MEASUREMENT OFF";

/// What is shown instead of a function that nobody knows.
pub const UNKNOWN: &str = "(not recorded)";

/// Whether a call path is time in which recording was off.
pub fn is_off(cube: &Cube, cnode: CnodeId) -> bool {
    let region = cube.cnodes.get(cnode.0).and_then(|cnode| cube.regions.get(cnode.region.0));
    region.is_some_and(|region| region.name == OFF && region.paradigm == "measurement")
}

/// Whether any call path is such time.
pub fn has_any(cube: &Cube) -> bool {
    (0..cube.cnodes.len()).any(|at| is_off(cube, CnodeId(at)))
}

/// A name for people of the function of a call path.
pub fn function(cube: &Cube, cnode: CnodeId) -> &str {
    if is_off(cube, cnode) { UNKNOWN } else { paths::name(cube, cnode) }
}

/// The same of the whole call path.
pub fn path(cube: &Cube, cnode: CnodeId) -> String {
    if is_off(cube, cnode) { UNKNOWN.to_owned() } else { paths::path(cube, cnode) }
}

/// The share of the time that was recorded, between `MPI_Init` and `MPI_Finalize`; `None` if all was, or nobody knows.
fn recorded_share(manifest: &Manifest) -> Option<f64> {
    let summary = &manifest.summary;
    (summary.not_recorded > 0.0).then(|| summary.run / (summary.run + summary.not_recorded))
}

/// That only a part of the time was recorded; `None` if all was.
pub fn warning(manifest: Option<&Manifest>, cube: &Cube) -> Option<String> {
    let Some(manifest) = manifest else {
        return has_any(cube)
            .then(|| "recording was off for a while: what happened then is not known".to_owned());
    };
    let part = share(recorded_share(manifest)?);
    Some(match kept(manifest) {
        Some(kept) => format!("a short archive, {kept}: it has {part} of the time"),
        None => format!("only {part} of the time was recorded"),
    })
}

/// How many iterations a short archive has.
pub fn kept(manifest: &Manifest) -> Option<String> {
    let Recorded { iterations, of, .. } = manifest.recorded.as_ref().filter(|recorded| recorded.is_short)?;
    Some(format!("{iterations} of {of} iterations"))
}

/// Which part of a length of the run was recorded, in words; `None` if all was.
pub fn part(recorded: f64, not_recorded: f64) -> Option<String> {
    let all = recorded + not_recorded;
    (not_recorded > 0.0).then(|| format!("{} of it recorded", percent(recorded / all)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cubex::{Cnode, Region};
    use details::manifest::Summary;

    fn cube(paradigm: &str) -> Cube {
        let mut cube = Cube::default();
        let region = Region { name: OFF.into(), paradigm: paradigm.into(), ..Region::default() };
        let region = cube.add_region(region);
        cube.add_cnode(Cnode { region, ..Cnode::default() });
        cube
    }

    #[test]
    fn a_function_of_the_program_may_have_any_name() {
        assert_eq!(function(&cube("measurement"), CnodeId(0)), UNKNOWN);
        assert_eq!(function(&cube("compiler"), CnodeId(0)), OFF);
        assert_eq!(path(&cube("measurement"), CnodeId(0)), UNKNOWN);
    }

    #[test]
    fn what_was_not_recorded_is_said_if_there_is_any() {
        let said = |not_recorded: f64, recorded: Option<Recorded>| {
            let summary = Summary { run: 1.0, not_recorded, ..Summary::default() };
            let manifest = Manifest { summary, recorded, ..Manifest::default() };
            warning(Some(&manifest), &Cube::default()).map(|text| text.replace('\u{a0}', " "))
        };
        let kept = Recorded { is_short: true, iterations: 6, of: 60, ..Recorded::default() };
        assert_eq!(said(0.0, None), None);
        assert_eq!(said(3.0, None).unwrap(), "only 25.0 % of the time was recorded");
        assert_eq!(
            said(3.0, Some(kept.clone())).unwrap(),
            "a short archive, 6 of 60 iterations: it has 25.0 % of the time"
        );
        let window = Recorded { is_short: false, ..kept };
        assert!(said(3.0, Some(window)).unwrap().starts_with("only 25.0 % of the time was recorded"));
        assert_eq!(warning(None, &cube("compiler")), None);
        assert!(warning(None, &cube("measurement")).unwrap().starts_with("recording was off"));
        assert_eq!(part(1.0, 0.0), None);
        assert_eq!(part(1.0, 3.0).unwrap().replace('\u{a0}', " "), "25 % of it recorded");
    }
}
