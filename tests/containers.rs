//! Archives in SION containers: their reports and copies are those of the plain archive.

use std::fs;

use otf2::Archive;
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, WhatIf};

use crate::support::{SEMANTICS, analyze, archive, in_containers, in_memory, options, written};

#[test]
fn report_is_that_of_the_plain_archive() {
    let directory = in_memory();
    let experiment = directory.path().join("hybrid.2x3");
    in_containers(&experiment);
    let report = |name: &str| directory.path().join(format!("{name}.cubex"));
    for semantics in SEMANTICS {
        analyze(&archive("hybrid.2x3"), &report("plain"), semantics).unwrap();
        analyze(&experiment, &report("containers"), semantics).unwrap();
        assert!(written(&report("containers")) == written(&report("plain")), "{}", semantics.name());
    }
}

#[test]
fn copies_are_in_plain_files() {
    let directory = in_memory();
    let experiment = directory.path().join("hybrid.2x3");
    in_containers(&experiment);
    let predicted = ["plain", "containers"].map(|name| directory.path().join(name));
    for (source, place) in [&archive("hybrid.2x3"), &experiment].into_iter().zip(&predicted) {
        let (what_if, predict) = (Some(WhatIf::parse("ideal").unwrap()), Some(place.clone()));
        let report = place.with_extension("cubex");
        let options = Options { what_if, predict, ..options(source, &report, SEMANTICS[0]) };
        replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
    }
    let [plain, containers] = predicted.each_ref().map(|path| Archive::open(path).unwrap());
    assert_eq!(containers.anchor(), plain.anchor());
    for file in fs::read_dir(predicted[0].join("traces")).unwrap().map(|entry| entry.unwrap().file_name()) {
        let [plain, of_containers] =
            predicted.each_ref().map(|path| fs::read(path.join("traces").join(&file)));
        assert!(of_containers.unwrap() == plain.unwrap(), "{}", file.display());
    }
}
