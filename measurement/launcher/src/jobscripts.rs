//! Scripts for batch systems, which `--jobscript` prints: those of `jobscripts/`.

use crate::Error;

macro_rules! scripts {
    ($($name:literal),* $(,)?) => {
        /// Names and texts.
        const SCRIPTS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../jobscripts/", $name, ".sh")))),*];
    };
}

scripts! {
    "slurm-record-analyze", "slurm-chain", "slurm-analyze", "slurm-scaling", "pbs-record-analyze", "pbs-analyze",
    "lsf-record-analyze", "flux-record-analyze", "shell-record-analyze", "apptainer-record",
}

/// Returns a script by its name, with or without `.sh`; with `list` all names.
///
/// # Errors
/// If there is no such script: its name, and those that there are.
pub(crate) fn find(name: &str) -> Result<String, Error> {
    let all = || SCRIPTS.iter().map(|(name, _)| *name);
    if name == "list" {
        return Ok(all().map(|name| format!("{name}\n")).collect());
    }
    let plain = name.strip_suffix(".sh").unwrap_or(name);
    let found = SCRIPTS.iter().find(|(known, _)| *known == plain).map(|(_, text)| (*text).to_owned());
    found.ok_or_else(|| {
        let names: Vec<&str> = all().collect();
        Error::new(format!("there is no script {name:?}, but {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn scripts_are_those_of_the_folder() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../jobscripts");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<String> = files
            .filter(|path| path.extension().is_some_and(|it| it == "sh"))
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        files.sort();
        let list = find("list").unwrap();
        let mut listed: Vec<&str> = list.lines().collect();
        listed.sort_unstable();
        assert_eq!(listed, files);
        for name in listed {
            assert_eq!(find(name).unwrap(), find(&format!("{name}.sh")).unwrap());
        }
    }
}
