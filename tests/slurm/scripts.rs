//! Form of scripts: those of `jobscripts/`, and of all that are run here.

use crate::support::project;
use std::path::PathBuf;
use std::process::Command;

use skip::{Need, skip};

/// How directives of batch systems begin.
const DIRECTIVES: [&str; 4] = ["#SBATCH ", "#PBS ", "#BSUB ", "#flux: "];

/// The scripts for batch systems, by name.
fn scripts() -> Vec<PathBuf> {
    scripts_in("jobscripts")
}

fn scripts_in(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(project(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|it| it == "sh")).collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    scripts
}

#[test]
fn scripts_are_clean_for_shellcheck() {
    let folders = ["jobscripts", "packaging", "tests/scout", "tests/slurm", "tools"];
    let shellcheck = Command::new("shellcheck")
        .arg("--external-sources")
        .args(folders.into_iter().flat_map(scripts_in))
        .current_dir(project(""))
        .output();
    let Ok(checked) = shellcheck else {
        skip(Need::System, "there is no shellcheck (Debian: shellcheck)");
        return;
    };
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

/// Users copy one script, so it must stand alone, be readable at a glance, and run unchanged.
#[test]
fn scripts_are_short_and_executable_with_comments_for_directives() {
    use std::os::unix::fs::PermissionsExt;
    for path in scripts() {
        let (name, script) = (path.display(), std::fs::read_to_string(&path).unwrap());
        assert!(script.starts_with("#!/bin/bash\n") && script.lines().count() <= 60, "{name}");
        assert!(script.contains("\nset -u\n"), "{name}");
        assert!(path.metadata().unwrap().permissions().mode() & 0o111 == 0o111, "{name}");
        let is_directive = |line: &str| DIRECTIVES.iter().any(|begin| line.starts_with(begin));
        let lines: Vec<&str> = script.lines().collect();
        // Slurm takes comments behind directives; others may not.
        for (before, line) in lines.iter().zip(&lines[1..]).filter(|(_, line)| is_directive(line)) {
            let has_comment = match line.starts_with("#SBATCH ") {
                true => line.contains(" # "),
                false => !line.contains(" #") && (before.starts_with("# ") || is_directive(before)),
            };
            assert!(has_comment, "{name}: {line}");
        }
        // The first command ends the directives.
        let command = lines.iter().position(|line| !line.is_empty() && !line.starts_with('#')).unwrap();
        assert!(!lines[command..].iter().any(|line| is_directive(line)), "{name}");
    }
}

#[test]
fn every_script_is_in_the_readme_of_the_folder() {
    let readme = std::fs::read_to_string(project("jobscripts/README.md")).unwrap();
    for path in scripts() {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(readme.contains(&format!("| `{name}` |")), "jobscripts/README.md: no {name}");
    }
}
