//! The bundle: it is what its sources make. `page.sum` has the SHA-256 of all of them; `make page` writes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The most bytes of the script.
const MOST: u64 = 200_000;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn script_and_style_are_those_of_the_sources() {
    let listed = fs::read_to_string(folder().join("page.sum")).unwrap();
    let listed: Vec<(&str, &str)> = listed.lines().map(|line| line.split_once("  ").unwrap()).collect();
    for (sum, name) in &listed {
        let contents = fs::read(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found: String = Sha256::digest(contents).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, **sum, "{name} has changed since page.sum was written: make page");
    }
    let names: BTreeSet<PathBuf> = listed.iter().map(|(_, name)| folder().join(name)).collect();
    for source in sources(&folder().join("page/src")) {
        assert!(names.contains(&source), "{} is not in page.sum: make page", source.display());
    }
    for name in ["page.js", "page.css", "page/package-lock.json", "page/build.mjs"] {
        assert!(names.contains(&folder().join(name)), "{name}");
    }
}

#[test]
fn script_is_small() {
    let size = fs::metadata(folder().join("page.js")).unwrap().len();
    assert!(size <= MOST, "{size} bytes");
}

/// Ways by which a name could become more than text.
const FORBIDDEN: [&str; 7] = [
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "eval(",
    "new Function",
    "dangerouslySetInnerHTML",
];

#[test]
fn sources_make_text_of_names_and_nothing_else() {
    for source in sources(&folder().join("page/src")) {
        let text = fs::read_to_string(&source).unwrap();
        for word in FORBIDDEN {
            assert!(!text.contains(word), "{}: {word}", source.display());
        }
        assert!(
            !text.contains("setAttribute(\"style") && !text.contains("setAttribute(\"on"),
            "{}",
            source.display()
        );
        assert!(text.lines().count() <= 600, "{} is long", source.display());
    }
}

#[test]
fn licences_of_what_is_bundled_are_in_its_head_and_beside_it() {
    let licences = fs::read_to_string(folder().join("LICENSES-page")).unwrap();
    let script = fs::read_to_string(folder().join("page.js")).unwrap();
    let permission = "Permission is hereby granted, free of charge";
    assert!(script.starts_with("/*") && script.contains(permission) && licences.contains(permission));
    let packages = fs::read_to_string(folder().join("page/package.json")).unwrap();
    let packages: serde_json::Value = serde_json::from_str(&packages).unwrap();
    for (package, version) in packages["dependencies"].as_object().unwrap() {
        let head = format!("{package} {}", version.as_str().unwrap());
        assert!(licences.to_lowercase().contains(&head) && script.to_lowercase().contains(&head), "{head}");
    }
}
