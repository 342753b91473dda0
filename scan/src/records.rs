//! What is in an experiment directory beside the measurement: what was chosen, the filter, and what the files are.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Result};
use crate::run::CONFIGURATIONS;
use crate::steps::Step;
use crate::variables::Variables;

/// Files that may be in the directory, and what they are.
const FILES: [(&str, &str); 11] = [
    ("trace.cubex", "report of the trace: wait states and their causes"),
    ("scout.cubex", "the same, by the name that Scalasca's scan looks for"),
    ("trace.stat", "statistics of wait states"),
    ("profile.cubex", "visits, time and bytes of each call path"),
    ("traces.otf2", "anchor file of the trace"),
    ("traces", "events of the trace"),
    ("scorep.log", "output of the measured program"),
    ("scout.log", "output of the analysis"),
    ("scorep.cfg", "what was chosen, by Score-P's names"),
    ("scorep.filter", "what was left out"),
    (CONFIGURATIONS, "the configurations of several runs"),
];

/// Writes `scorep.cfg` and copies the filter to `scorep.filter`, where Score-P has not.
///
/// # Errors
/// If a file cannot be read or written.
pub(crate) fn write(directory: &Path, chosen: &Variables, filter: Option<&Path>) -> Result<()> {
    let lines: String = chosen.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    write_new(&directory.join("scorep.cfg"), &lines)?;
    match filter {
        Some(filter) => {
            let text =
                fs::read_to_string(filter).map_err(|cause| Error::io(filter, "read the filter", cause))?;
            write_new(&directory.join("scorep.filter"), &text)
        }
        None => Ok(()),
    }
}

/// Writes `MANIFEST.md`, when all else is there, where Score-P has not.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write_manifest(directory: &Path, steps: &[&Step]) -> Result<()> {
    let mut text = "# Measurement\n\nMade by `replay-scan`, with these commands:\n\n".to_owned();
    text.extend(steps.iter().map(|step| format!("    {step}\n")));
    text.push_str("\n| file | what |\n|---|---|\n");
    let there = FILES.iter().filter(|(name, _)| directory.join(name).exists());
    text.extend(there.map(|(name, what)| format!("| `{name}` | {what} |\n")));
    write_new(&directory.join("MANIFEST.md"), &text)
}

fn write_new(path: &Path, text: &str) -> Result<()> {
    let written =
        fs::File::create_new(path).and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    match written {
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => Ok(()),
        written => written.map_err(|cause| Error::io(path, "write the file", cause)),
    }
}

/// Whether a directory has something of an experiment, so that it may be overwritten if the user says so.
pub(crate) fn is_experiment(directory: &Path) -> bool {
    let is_empty = fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none());
    is_empty || FILES.iter().any(|(name, _)| directory.join(name).exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::of;

    #[test]
    fn files_of_scorep_stay_and_others_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let text = |name: &str| fs::read_to_string(path(name)).unwrap();
        assert!(is_experiment(folder.path()));
        fs::write(path("filter"), "SCOREP_REGION_NAMES_BEGIN\n").unwrap();
        assert!(!is_experiment(folder.path()));
        write(folder.path(), &of(&[("SCOREP_B", "2"), ("SCOREP_A", "1")]), Some(&path("filter"))).unwrap();
        assert!(is_experiment(folder.path()));
        assert_eq!(text("scorep.cfg"), "SCOREP_A=1\nSCOREP_B=2\n");
        assert_eq!(text("scorep.filter"), text("filter"));
        write(folder.path(), &of(&[]), None).unwrap();
        assert_eq!(text("scorep.cfg"), "SCOREP_A=1\nSCOREP_B=2\n");
        let step = Step { words: vec!["a".into(), "b c".into()], set: Vec::new(), unset: Vec::new() };
        write_manifest(folder.path(), &[&step]).unwrap();
        let manifest = text("MANIFEST.md");
        assert!(manifest.contains("    a 'b c'\n") && manifest.contains("| `scorep.filter` |"), "{manifest}");
        assert!(!manifest.contains("traces"), "{manifest}");
        assert!(write(&path("none"), &of(&[]), None).unwrap_err().to_string().contains("cannot write"));
    }
}
