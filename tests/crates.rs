//! Crates: each depends on those that `docs/architecture.md` names, and on no others of the project.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const ARCHITECTURE: &str = include_str!("../docs/architecture.md");

/// Manifests of all crates by their folders; the root manifest is the analyzer's.
fn manifests() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = [
        "patterns",
        "structure",
        "rules",
        "io",
        "diagnostics",
        "launched",
        "mpi_library",
        "import",
        "manual",
        "benches/generate",
        "replay/show",
        "scan",
        "site",
    ]
    .map(String::from)
    .to_vec();
    for folder in ["formats", "measurement"] {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        folders.extend(entries.map(|name| format!("{folder}/{}", name.to_str().unwrap())));
    }
    let read = |path: &Path| fs::read_to_string(path.join("Cargo.toml")).ok();
    let manifests =
        folders.into_iter().filter_map(|folder| Some((folder.clone(), read(&root.join(folder))?)));
    manifests.chain([("replay".to_string(), read(root).unwrap())]).collect()
}

/// Name of the crate in a folder: that of the folder, but for those whose name would be that of a module of Rust or of another crate.
fn name(folder: &str) -> &str {
    match folder {
        "io" => "io_model",
        "measurement/io" => "posix_io",
        "measurement/mpi" => "mpi_abi",
        _ => folder.rsplit('/').next().unwrap(),
    }
}

/// Names of the dependencies of a crate and of its build script.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    manifest.lines().filter_map(move |line| {
        if line.starts_with('[') {
            is_inside = matches!(line, "[dependencies]" | "[build-dependencies]");
        }
        line.split(['.', ' ', '=']).next().filter(|_| is_inside)
    })
}

#[test]
fn every_crate_builds_on_those_that_the_architecture_says() {
    let heading = "| crate | knows | must not know | builds on |\n|---|---|---|---|\n";
    let table = ARCHITECTURE.split_once(heading).expect("a table of crates").1;
    let rows = table.lines().map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let said: BTreeMap<&str, BTreeSet<&str>> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split(" | ").collect();
            (cells[0].split('`').nth(1).unwrap(), cells[3].split('`').skip(1).step_by(2).collect())
        })
        .collect();
    let manifests = manifests();
    let crates: BTreeSet<&str> = manifests.keys().map(|folder| name(folder)).collect();
    let is: BTreeMap<&str, BTreeSet<&str>> = manifests
        .iter()
        .map(|(folder, text)| (&**folder, dependencies(text).filter(|it| crates.contains(it)).collect()))
        .collect();
    assert!(is["replay"].contains("otf2"), "{is:?}");
    assert_eq!(is, said, "docs/architecture.md: crates");
}
