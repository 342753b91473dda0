//! Full disks: a message, status 2, and what was there before.

use std::fs;
use std::path::Path;
use std::process::Command;

use show::status::Status;
use skip::{Need, skip};

use super::{FILES, plain};
use crate::support::run;

/// A file system of this size in memory, unmounted on drop; `None` where this user may not mount one.
struct Disk(tempfile::TempDir);

impl Disk {
    fn new(size: &str) -> Option<Disk> {
        let place = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(place.path());
        if mount.output().is_ok_and(|mounted| mounted.status.success()) {
            return Some(Disk(place));
        }
        skip(Need::System, "exports to a full disk: cannot mount a tmpfs here");
        None
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

/// The names in a directory, hidden ones included.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn full_disk_is_told_and_what_was_there_stays() {
    let Some(disk) = Disk::new("8k") else { return };
    let exported = plain();
    let (out, before) = (disk.path().join("out"), b"before");
    let export = |format: &str| {
        let paths = [exported.report.to_str().unwrap(), "-o", out.to_str().unwrap()];
        let words: Vec<&str> = ["export"].into_iter().chain(format.split(' ')).chain(paths).collect();
        let printed = run(80, &words);
        assert_eq!(printed.status, Status::Failed, "{format}");
        assert!(
            printed.messages.starts_with(&format!("replay-show: {}: ", out.display())),
            "{}",
            printed.messages
        );
        assert!(printed.messages.contains("No space left"), "{format}: {}", printed.messages);
        assert_eq!(printed.messages.lines().count(), 1, "{format}: {}", printed.messages);
        assert_eq!(names(disk.path()), ["out", "rest"], "{format}: nothing temporary stays");
    };
    fs::write(disk.path().join("rest"), [0; 4096]).unwrap();
    fs::write(&out, before).unwrap();
    for format in FILES {
        export(format);
        assert_eq!(fs::read(&out).unwrap(), before, "{format}");
    }
    fs::remove_file(&out).unwrap();
    fs::create_dir(&out).unwrap();
    for (format, old) in [("csv", "old.csv"), ("parquet", "old.parquet"), ("paraver", "old.prv")] {
        let old = out.join(old);
        fs::write(&old, before).unwrap();
        export(format);
        assert_eq!(fs::read(&old).unwrap(), before, "{format}");
        fs::remove_file(&old).unwrap();
    }
}

#[test]
fn verdicts_and_histories_on_a_full_disk_stay_as_they_were() {
    let Some(disk) = Disk::new("8k") else { return };
    let exported = plain();
    let report = exported.report.to_str().unwrap();
    fs::write(disk.path().join("rest"), [0; 4096]).unwrap();
    let file = disk.path().join("file");
    // A line more begins in the last page of the log, and has no room for its end.
    let before = " ".repeat(4000) + "\n";
    fs::write(&file, &before).unwrap();
    let file = file.to_str().unwrap();
    for command in [
        &["check", report, "--fail-if", "run > 1s", "--junit", file][..],
        &["check", report, "--fail-if", "run > 1s", "--markdown", file],
        &["history", "add", file, report],
    ] {
        let printed = run(80, command);
        assert_eq!(printed.status, Status::Failed, "{command:?}");
        assert!(printed.messages.contains("No space left"), "{command:?}: {}", printed.messages);
        assert_eq!(fs::read_to_string(file).unwrap(), before, "{command:?}");
        assert_eq!(names(disk.path()), ["file", "rest"], "{command:?}");
    }
}
