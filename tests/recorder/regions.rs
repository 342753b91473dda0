//! Instrumented regions: named regions and phases, and the functions of `-finstrument-functions`.

use crate::support::archive::{self, visits};
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::findings;
use replay::findings::FindingClass;
use std::collections::BTreeMap;

const NAMES: &str = concat!("--filter=", env!("CARGO_MANIFEST_DIR"), "/tests/programs/regions/names.filter");
const FILES: &str = concat!("--filter=", env!("CARGO_MANIFEST_DIR"), "/tests/programs/regions/files.filter");

/// Visits of regions that are not MPI's in a recording of two processes; `None` if it cannot be made here.
fn recorded(
    test: &str,
    source: &str,
    arguments: &[&str],
    options: &[&'static str],
) -> Option<BTreeMap<String, u64>> {
    let subject = Subject::new(test, source, 2, arguments)?;
    let subject = options.iter().fold(subject, |subject, option| subject.option(option));
    subject.run_recorded(Invocation::InFront).expect_success();
    assert_eq!(archive::refusal(&subject.experiment), None);
    analyze(&subject.experiment, &subject.folder).expect_success();
    let odd = findings(&subject.experiment);
    assert!(odd.iter().all(|(_, class, _)| *class == FindingClass::Note), "{odd:?}");
    let mut visits = visits(&subject.experiment);
    visits.retain(|name, _| !name.starts_with("MPI_"));
    Some(visits)
}

fn named<const N: usize>(visits: [(&str, u64); N]) -> BTreeMap<String, u64> {
    visits.map(|(name, count)| (name.to_string(), count)).into()
}

#[test]
fn functions_that_tell_of_themselves_are_entered_as_often_as_called() {
    let visits = recorded("instrumented", "regions/instrumented.cc", &[], &[]);
    let expected = named([
        ("main", 2),
        ("solver::Step::run() const", 10),
        ("solver::sum<int>(int, int)", 10),
        ("solver::small(int)", 100),
    ]);
    assert!(visits.as_ref().is_none_or(|visits| *visits == expected), "{visits:?}");
}

#[test]
fn functions_that_a_filter_excludes_leave_nothing_at_any_depth() {
    let visits = recorded("filtered_names", "regions/instrumented.cc", &["deep"], &[NAMES]);
    // Of 2,001 active calls only as many are recorded as there is room for.
    let visits = visits.map(|mut visits| (visits.remove("deep(int)"), visits));
    let expected = named([("main", 2), ("solver::sum<int>(int, int)", 10)]);
    assert!(visits.as_ref().is_none_or(|(_, visits)| *visits == expected), "{visits:?}");
    assert!(visits.is_none_or(|(deep, _)| deep.is_some_and(|deep| deep > 2000 && deep < 4002)));
}

#[test]
fn functions_of_files_that_a_filter_excludes_leave_nothing() {
    let visits = recorded("filtered_files", "regions/instrumented.cc", &[], &[FILES]);
    assert!(visits.as_ref().is_none_or(BTreeMap::is_empty), "{visits:?}");
}

#[test]
fn regions_that_the_program_names_are_entered_while_recording_is_on() {
    let visits = recorded("named", "regions/named.c", &[], &[]);
    let expected = named([("step", 8), ("assembly", 8), ("exchange", 10)]);
    assert!(visits.as_ref().is_none_or(|visits| *visits == expected), "{visits:?}");
}

#[test]
fn regions_that_a_filter_excludes_leave_nothing() {
    let visits = recorded("filtered_regions", "regions/named.c", &[], &[NAMES]);
    let expected = named([("step", 8), ("exchange", 10)]);
    assert!(visits.as_ref().is_none_or(|visits| *visits == expected), "{visits:?}");
}

/// Without the recorder the macros do nothing.
#[test]
fn regions_of_scorep_are_those_of_the_recorder() {
    let expected = [("step", 8), ("assembly", 8), ("named", 8), ("exchange", 10)];
    let visits = recorded("scorep_user", "regions/scorep_user.c", &[], &[]);
    assert!(visits.as_ref().is_none_or(|visits| *visits == named(expected)), "{visits:?}");
    let visits = recorded("scorep_blocks", "regions/scorep_blocks.cc", &[], &[]);
    let mut with_block = named(expected);
    with_block.insert("block".into(), 8);
    assert!(visits.as_ref().is_none_or(|visits| *visits == with_block), "{visits:?}");
}
