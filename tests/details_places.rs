//! Where details go: into the report, beside it, or nowhere; and what their manifest looks like.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use cubex::{Members, Report};
use details::manifest::{BESIDE, MANIFEST};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{DetailsPlace, Options, Semantics};
use skip::{Need, skip};

use crate::interop::python;
use crate::show::printed;
use crate::support::parse::Case;
use crate::support::{analyze, archive, archives, fresh, golden, name, options, project, run, write};

/// Analyses an experiment with details at a place.
fn analyze_with(experiment: &Path, report: &Path, place: DetailsPlace) {
    let options = Options { details: Some(place), ..options(experiment, report, Semantics::Corrected) };
    replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
}

/// The contents of the members of an archive, by name.
fn members(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let members = Members::open(path).unwrap();
    let read = |name: &str| (name.to_owned(), members.read(name).unwrap().unwrap());
    members.names().map(read).collect()
}

#[test]
fn details_change_nothing_else_in_the_report_wherever_they_are() {
    let directory = fresh();
    let [inside, beside, none] =
        ["inside", "beside", "none"].map(|it| directory.path().join(format!("{it}.cubex")));
    for experiment in archives() {
        analyze_with(&experiment, &inside, DetailsPlace::Inside);
        analyze_with(&experiment, &beside, DetailsPlace::Beside);
        analyze_with(&experiment, &none, DetailsPlace::Nowhere);
        let none = members(&none);
        let (details, rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
            members(&inside).into_iter().partition(|(name, _)| name.starts_with("replay."));
        assert!(rest == none, "{}: other members", experiment.display());
        assert!(members(&beside.with_extension("details")) == details, "{}: details", experiment.display());
        let mut cube = Report::open(&beside).unwrap().cube().clone();
        cube.attributes.retain(|attribute| attribute.key != BESIDE);
        assert!(&cube == Report::open(&inside).unwrap().cube(), "{}: description", experiment.display());
        let mut beside = members(&beside);
        beside.insert("anchor.xml".into(), none["anchor.xml"].clone());
        assert!(beside == none, "{}: members with details beside them", experiment.display());
    }
}

#[test]
fn details_of_an_earlier_analysis_are_not_those_of_a_report_without() {
    let directory = fresh();
    let report = directory.path().join("r.cubex");
    let waits = |place| {
        analyze_with(&archive("imbalance_chain.4"), &report, place);
        printed(&["waits", report.to_str().unwrap()])
    };
    let inside = waits(DetailsPlace::Inside).unwrap();
    assert_eq!(waits(DetailsPlace::Beside).unwrap(), inside);
    let message = waits(DetailsPlace::Nowhere).unwrap_err();
    assert!(message.contains("no member"), "those beside it are of another analysis: {message}");
    assert!(report.with_extension("details").exists());
    assert_eq!(waits(DetailsPlace::Inside).unwrap(), inside);
}

#[test]
fn manifests_follow_their_schema_and_are_short() {
    let Some(python) = python() else { return };
    let probe = Command::new(&python).args(["-c", "import jsonschema"]).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        let python = python.display();
        return skip(Need::Python, format!("{python} cannot import jsonschema (make judges installs it)"));
    }
    let directory = fresh();
    // Scripts have traces without time, without MPI, and with each finding.
    let mut experiments: Vec<PathBuf> = archives();
    for script in golden() {
        let experiment = directory.path().join(name(&script));
        write::write(&Case::read(&script).trace, &experiment);
        experiments.push(experiment);
    }
    let mut check = Command::new(&python);
    check.arg(project("replay/show/tests/export/judges/schema.py"));
    check.arg(project("docs/schemas/replay-details.json"));
    let report = directory.path().join("r.cubex");
    for experiment in experiments {
        analyze(&experiment, &report, Semantics::Corrected).unwrap();
        let manifest = Report::open(&report).unwrap().member(MANIFEST).unwrap().unwrap();
        assert!(manifest.len() <= 1 << 20, "{}: {} bytes", experiment.display(), manifest.len());
        let path = directory.path().join(format!("{}.json", name(&experiment)));
        std::fs::write(&path, manifest).unwrap();
        check.arg(path);
    }
    run::run(&mut check).expect(0);
}
