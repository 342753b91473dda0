//! Models of file I/O of recorded programs.

use super::record::Subject;
use io_model::{Bottom, Family, Kind, Mode, Model, Origin, Phase};
use replay::exchange::Solo;
use replay::io::{IoOptions, OutputFile};
use replay::progress::Progress;
use replay::{DetailsPlace, Options, Summary};

/// The model of a recorded program, and the summary of its analysis, with these options.
pub(crate) fn analyzed(subject: &Subject, io_model: IoOptions) -> (Model, Summary) {
    let [report, json] = ["model.cubex", "model.json"].map(|name| subject.folder.join(name));
    let files = vec![OutputFile::of_model(json.to_str().unwrap()).unwrap()];
    let options = Options {
        details: Some(DetailsPlace::Nowhere),
        report: Some(report),
        structure: false,
        io_model: IoOptions { files, ..io_model },
        ..Options::new(&subject.experiment)
    };
    let outcome = replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
    (Model::from_json(&std::fs::read_to_string(json).unwrap()).unwrap(), outcome.summary.unwrap())
}

/// The model of a recorded program in which nothing is unknown or wrong.
#[track_caller]
pub(crate) fn model_of(subject: &Subject) -> Model {
    let (model, _) = analyzed(subject, IoOptions::default());
    assert!(model.findings.0.is_empty(), "{:?}", model.findings);
    model
}

/// What a line of the table says: how many phases, what the ranks do, how many move data, repetitions, bytes of a request, mode, and
/// bytes of the first phase.
pub(crate) type Row = (u64, Vec<(Kind, bool)>, u64, u64, u64, Mode, u64);

/// The lines of the table.
pub(crate) fn rows(model: &Model) -> Vec<Row> {
    let row = |family: &Family| {
        let phase = example(model, family);
        let kinds = phase.key.pattern.iter().map(|access| (access.kind, access.collective)).collect();
        (family.count, kinds, phase.np, phase.rep, phase.positions[0].rs, phase.mode, phase.weight)
    };
    model.families.iter().map(row).collect()
}

/// What operations on the only file became.
pub(crate) fn bottoms(model: &Model) -> Vec<Bottom> {
    let files: Vec<_> = model.files.values().collect();
    let [file] = &files[..] else { panic!("not one file: {files:?}") };
    file.bottoms.clone()
}

/// The first phase of a line.
pub(crate) fn example<'a>(model: &'a Model, family: &Family) -> &'a Phase {
    family.example(&model.phases).unwrap()
}

/// The name of the files of a line without folders.
pub(crate) fn name<'a>(model: &'a Model, family: &Family) -> &'a str {
    example(model, family).key.family.rsplit('/').next().unwrap()
}

/// An origin that is a linear function.
pub(crate) fn linear(start: u64, rank: i64, occurrence: i64) -> Origin {
    Origin::Linear { start, rank, occurrence }
}
