//! Where files are, and in which blocks, is what the system says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use otf2::{Definition, UNDEFINED};
use replay::io::IoOptions;
use skip::{Need, skip};

use crate::support::archive;
use crate::support::modelled::analyzed;
use crate::support::record::{Invocation, Subject};

/// The file system besides that of the tests.
const OTHER: &str = "/dev/shm";
/// Kinds of file systems that one host has for itself.
const LOCAL: [&str; 5] = ["ext4", "xfs", "btrfs", "tmpfs", "overlay"];

/// What an archive says of files, by their names without folders: MPI may name one by its link.
#[derive(Default)]
struct Said {
    /// All scopes of each.
    scopes: BTreeMap<String, BTreeSet<u32>>,
    /// The file, the property and its value, with blanks between them.
    properties: BTreeSet<String>,
}

fn said(experiment: &Path) -> Said {
    let (mut strings, mut files, mut said) = (BTreeMap::new(), BTreeMap::new(), Said::default());
    archive::each_definition(experiment, |definition| match *definition {
        Definition::String { reference, string } => {
            strings.insert(u64::from(reference), String::from_utf8_lossy(string).into_owned());
        }
        Definition::IoRegularFile { reference, name, scope }
        | Definition::IoDirectory { reference, name, scope } => {
            let name = strings[&name.into()].rsplit('/').next().unwrap().to_owned();
            files.insert(reference, name.clone());
            said.scopes.entry(name).or_default().insert(scope);
        }
        Definition::IoFileProperty { io_file, name, value } => {
            assert_eq!(value.kind, otf2::ValueType::STRING);
            let (name, value) = (&strings[&name.into()], &strings[&value.bits]);
            said.properties.insert(format!("{} {name} {value}", files[&io_file]));
        }
        _ => {}
    });
    said
}

/// The program with files on two file systems, and what it has promised of those with these names, when it was recorded.
fn recorded(test: &str, option: Option<&'static str>, names: &[&str]) -> Option<(Subject, BTreeSet<String>)> {
    let Ok(other) = tempfile::Builder::new().prefix("replay-").tempdir_in(OTHER) else {
        skip(Need::System, format!("{test}: there is no {OTHER}"));
        return None;
    };
    let folder: &'static str = other.path().to_str().unwrap().to_owned().leak();
    let subject = Subject::new(test, "files/storage.c", 2, &[folder])?;
    let subject = option.into_iter().fold(subject, Subject::option).with("REPLAY_IO_INCLUDE", folder);
    subject.run_recorded(Invocation::InFront).expect_success();
    assert_eq!(archive::refusal(&subject.experiment), None);
    assert_eq!(archive::difference(&subject.experiment), None);
    let texts =
        [0, 1].map(|rank| fs::read_to_string(subject.folder.join(format!("promised.{rank}"))).unwrap());
    let lines = texts.iter().flat_map(|text| text.lines());
    let promised =
        lines.filter(|line| names.iter().any(|name| line.split(' ').next() == Some(name))).map(Into::into);
    let promised = promised.collect();
    Some((subject, promised))
}

/// The scopes of files are the node where the file system is local to it.
fn check_scopes(said: &Said) {
    let of = |name: &String, what: &str| {
        said.properties.iter().find_map(|line| line.strip_prefix(&format!("{name} {what} ")))
    };
    for (name, scopes) in &said.scopes {
        match of(name, "File system") {
            Some(kind) if LOCAL.contains(&kind) => assert_eq!(*scopes, [1].into(), "{name}"),
            None => assert_eq!(*scopes, [UNDEFINED].into(), "{name}"),
            Some(_) => {}
        }
    }
}

#[test]
fn files_of_mpi_have_their_file_system_behind_links() {
    let names = ["shared.out", "behind.out"];
    let Some((subject, promised)) = recorded("storage_of_mpi", None, &names) else { return };
    let said = said(&subject.experiment);
    assert_eq!(promised.len(), 8);
    assert_eq!(said.properties, promised);
    assert!(said.scopes.keys().eq(["behind.out", "shared.out"]));
    check_scopes(&said);
}

#[test]
fn files_of_the_c_library_have_their_file_system_and_blocks_and_the_model_has_these() {
    let names = ["shared.out", "behind.out", "own.0", "own.1", "their.0", "their.1", "folder.0", "folder.1"];
    let Some((subject, promised)) = recorded("storage", Some("--io=posix"), &names) else { return };
    let mut said = said(&subject.experiment);
    check_scopes(&said);
    // What the program writes to is a file as well; a link to nothing has no place.
    said.properties.retain(|line| !line.starts_with("promised."));
    assert_eq!(promised.len(), 4 * names.len());
    assert_eq!(said.properties, promised);
    assert!(["missing.0", "missing.1"].iter().all(|name| said.scopes[*name] == [UNDEFINED].into()));
    let (model, _) = analyzed(&subject, IoOptions::default());
    let blocks = model.files.values().map(|file| {
        let name = file.name.rsplit('/').next().unwrap();
        (name, file.facts.block.map(|bytes| format!("{name} Block Size {bytes}")))
    });
    let known: BTreeMap<&str, Option<String>> = blocks.collect();
    for name in ["shared.out", "behind.out", "own.0", "their.1"] {
        assert!(promised.contains(known[name].as_ref().unwrap()), "{name}: {known:?}");
    }
}
