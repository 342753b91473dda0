//! Where the programs are that this one starts: beside it, or where both are installed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The folder of links by which scan finds programs, below the prefix of an installation (site 3.2).
const LINKS: &str = "libexec/replay";

/// The analyzer by a name at which it has the command line of Scalasca's scout.
const SCOUT: &str = "scout.replay";

/// Where programs are.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The folder of programs.
    folder: PathBuf,
}

impl Places {
    /// The places for a program at this path.
    pub(crate) fn of(program: &Path) -> Places {
        let folder = program.parent().unwrap_or(Path::new("."));
        match folder.ends_with(LINKS) {
            true => Places { folder: folder.ancestors().nth(2).unwrap_or(folder).join("bin") },
            false => Places { folder: folder.into() },
        }
    }

    /// The places for this program.
    pub(crate) fn of_this_program() -> Places {
        Places::of(&std::env::current_exe().unwrap_or_default())
    }

    /// The word that starts a program of Replay: its path, or its name if the path has it.
    pub(crate) fn program(&self, name: &str) -> OsString {
        let path = self.folder.join(name);
        if path.exists() { path.into() } else { name.into() }
    }

    /// The path of the analyzer by its name of scout, if it is installed.
    pub(crate) fn scout(&self) -> Option<PathBuf> {
        let installed = self.folder.parent().map(|prefix| prefix.join(LINKS).join(SCOUT));
        let places = installed.into_iter().chain([self.folder.join(SCOUT)]);
        places.into_iter().find(|path| path.exists()).or_else(|| launcher::find(OsStr::new(SCOUT)))
    }

    /// Where the analyzer was looked for, in words.
    pub(crate) fn no_scout(&self) -> String {
        format!(
            "there is no {SCOUT} in {LINKS} beside {}, nor in the path: make install in Replay's sources puts it there",
            self.folder.display()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn programs_are_found_from_both_folders() {
        let prefix = tempfile::tempdir().unwrap();
        let (bin, links) = (prefix.path().join("bin"), prefix.path().join(LINKS));
        for folder in [&bin, &links] {
            fs::create_dir_all(folder).unwrap();
        }
        let places = [bin.join("replay-scan"), links.join("scan")].map(|program| Places::of(&program));
        for places in &places {
            assert_eq!(places.program("replay-show"), "replay-show");
            assert_eq!(places.scout(), None);
            assert!(places.no_scout().contains("make install"));
        }
        fs::write(bin.join("replay-show"), "").unwrap();
        fs::write(links.join(SCOUT), "").unwrap();
        for places in &places {
            assert_eq!(places.program("replay-show"), bin.join("replay-show"));
            assert_eq!(places.scout(), Some(links.join(SCOUT)));
        }
    }
}
