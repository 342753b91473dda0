//! An archive that is written from another one: its anchor, and the names of its files below a directory.

use std::path::{Path, PathBuf};

use otf2::{Anchor, Archive};

/// The path of the anchor.
pub(crate) fn anchor_path(source: &Archive, directory: &Path) -> PathBuf {
    let mut name = source.name().to_owned();
    name.push(".otf2");
    directory.join(name)
}

/// The directory of the files of locations.
pub(crate) fn of_locations(source: &Archive, directory: &Path) -> PathBuf {
    directory.join(source.name())
}

/// The anchor, but for properties. The copy is in plain files, whatever the source is in.
pub(crate) fn anchor(source: &Archive) -> Anchor {
    let Anchor { anchor_format, trace_format, substrate, .. } = Anchor::default();
    Anchor { anchor_format, trace_format, substrate, properties: Vec::new(), ..source.anchor().clone() }
}
