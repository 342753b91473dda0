//! Reports that cannot be written: full disks, limits, directories in which no file can be created.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use skip::{Need, skip};

use super::{after, limited};
use crate::support::report::Table;
use crate::support::run::{Finished, analyze, mpirun, run};
use crate::support::{archive, fresh, written};

/// The names in a directory.
pub(super) fn names(directory: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(directory).unwrap().map(name).collect();
    names.sort();
    names
}

/// Expects status 2 and one message, with the report's path and these parts.
#[track_caller]
pub(super) fn expect_refusal(refused: &Finished, report: &Path, parts: &[&str]) {
    refused.expect(2);
    let [message] = refused.messages()[..] else { panic!("not one message:\n{}", refused.stderr) };
    assert!(message.contains(report.to_str().unwrap()), "{message}");
    assert!(parts.iter().all(|part| message.contains(part)), "{parts:?} are not in: {message}");
}

/// A small file system, unmounted on drop; `None` where this user may not mount one.
pub(super) struct Disk(tempfile::TempDir);

impl Disk {
    pub(super) fn new(test: &str, options: &str) -> Option<Disk> {
        let place = fresh();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(place.path());
        let mounted = mount.output();
        if mounted.is_ok_and(|mounted| mounted.status.success()) {
            return Some(Disk(place));
        }
        skip(Need::System, format!("{test}: cannot mount a tmpfs here"));
        None
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

/// Fills a disk of 400 KiB with a report, so that there is no room for another; returns the bytes of report
/// and statistics.
fn fill(disk: &Disk, report: &Path) -> [Vec<u8>; 2] {
    analyze([&archive("barrier.4"), Path::new("-q"), Path::new("-o"), report]).expect(0);
    let bytes = written(report);
    let rest = (400 << 10) - bytes[0].len() - (12 << 10);
    fs::write(disk.path().join("rest"), vec![0; rest / 4096 * 4096]).unwrap();
    bytes
}

#[test]
fn full_disk_is_told_and_the_old_report_stays() {
    let Some(disk) = Disk::new("a full disk", "size=400k") else { return };
    let report = disk.path().join("r.cubex");
    let bytes = fill(&disk, &report);
    let refused = analyze([&archive("comms.7"), Path::new("-o"), &report]);
    expect_refusal(&refused, &report, &["No space left", "free some space, or choose another place with -o"]);
    assert!(written(&report) == bytes);
    assert_eq!(names(disk.path()), ["r.cubex", "r.stat", "rest"], "nothing temporary stays");
}

/// The report can be written, but not the statistics beside it.
#[test]
fn disk_without_room_for_the_statistics_leaves_both_old_files() {
    // The directory, two old files, and one new file.
    let Some(disk) = Disk::new("a disk with few inodes", "nr_inodes=4") else { return };
    let report = disk.path().join("r.cubex");
    let arguments = [&archive("barrier.4"), Path::new("-o"), &report];
    let others = ["one", "other"].map(|name| disk.path().join(name));
    others.iter().for_each(|other| fs::write(other, "").unwrap());
    let refused = analyze(arguments);
    expect_refusal(&refused, &report.with_extension("stat"), &["cannot create", "free some space"]);
    assert_eq!(names(disk.path()), ["one", "other"]);
    others.iter().for_each(|other| fs::remove_file(other).unwrap());
    analyze(arguments).expect(0);
    let old = written(&report);
    let refused = analyze([&archive("comms.7"), Path::new("-o"), &report]);
    expect_refusal(&refused, &report.with_extension("stat"), &["free some space"]);
    assert!(written(&report) == old);
    assert_eq!(names(disk.path()), ["r.cubex", "r.stat"]);
}

/// The report and the statistics can be written, but not the details beside them.
#[test]
fn disk_without_room_for_the_details_leaves_all_old_files() {
    // The directory, three old files, and two new ones.
    let Some(disk) = Disk::new("a disk with few inodes", "nr_inodes=6") else { return };
    let report = disk.path().join("r.cubex");
    let details = report.with_extension("details");
    let of = |name: &str| {
        let arguments = [&archive(name), Path::new("-o"), &report, Path::new("--details=beside")];
        analyze(arguments)
    };
    of("barrier.4").expect(0);
    let old = (written(&report), fs::read(&details).unwrap());
    expect_refusal(&of("comms.7"), &details, &["free some space"]);
    assert!((written(&report), fs::read(&details).unwrap()) == old);
    assert_eq!(names(disk.path()), ["r.cubex", "r.details", "r.stat"]);
}

#[test]
fn full_disk_is_told_once_by_three_processes() {
    let Some(launcher) = mpirun("a full disk under mpirun") else { return };
    let Some(disk) = Disk::new("a full disk", "size=400k") else { return };
    let report = disk.path().join("r.cubex");
    let bytes = fill(&disk, &report);
    let arguments = [&archive("comms.7"), Path::new("-o"), &report];
    let refused = run(&mut limited(launcher, 3, ":", arguments));
    expect_refusal(&refused, &report, &["free some space"]);
    assert!(written(&report) == bytes);
}

#[test]
fn disk_without_room_for_another_file_is_told_before_the_work() {
    let Some(disk) = Disk::new("a disk without inodes", "nr_inodes=2") else { return };
    fs::write(disk.path().join("last"), "").unwrap();
    let report = disk.path().join("r.cubex");
    let refused = analyze([&archive("barrier.4"), Path::new("-o"), &report]);
    expect_refusal(&refused, &report, &["cannot create the report", "free some space"]);
    assert!(!refused.stderr.contains("read events"), "{}", refused.stderr);
}

/// Beyond this limit the system sends a signal that ends a process unless it is handled.
#[test]
fn report_beyond_the_limit_on_file_sizes_is_told_and_leaves_nothing() {
    let directory = fresh();
    let report = directory.path().join("r.cubex");
    let real = archive("comms.7");
    let arguments = [&real, Path::new("-o"), &report];
    let refused = run(&mut after("ulimit -f 8", arguments));
    expect_refusal(&refused, &report, &["ulimit -f", "choose another place with -o"]);
    assert!(names(directory.path()).is_empty());

    analyze(arguments).expect(0);
    let bytes = written(&report);
    let refused = run(&mut after("ulimit -f 8", arguments));
    expect_refusal(&refused, &report, &["ulimit -f"]);
    assert!(written(&report) == bytes, "the old report stays");
    assert_eq!(names(directory.path()), ["r.cubex", "r.stat"]);
}

#[test]
fn read_only_file_system_is_told_before_the_work() {
    let Some(disk) = Disk::new("a read-only directory", "ro") else { return };
    let report = disk.path().join("r.cubex");
    let refused = analyze([&archive("barrier.4"), Path::new("-o"), &report]);
    expect_refusal(&refused, &report, &["Read-only", "choose a writable place with -o"]);
    assert!(!refused.stderr.contains("read events"), "{}", refused.stderr);
}

/// Not even root can create files there.
#[test]
fn directory_where_nothing_can_be_created_is_told_before_the_work() {
    let report = PathBuf::from("/proc/r.cubex");
    let refused = analyze([&archive("barrier.4"), Path::new("-o"), &report]);
    expect_refusal(&refused, &report, &["cannot create the report", "choose a writable place with -o"]);
    assert!(!refused.stderr.contains("read events"), "{}", refused.stderr);
}

#[test]
fn device_is_no_place_for_a_report() {
    let directory = fresh();
    let report = directory.path().join("r.cubex");
    std::os::unix::fs::symlink("/dev/full", &report).unwrap();
    let refused = analyze([&archive("barrier.4"), Path::new("-o"), &report]);
    expect_refusal(&refused, Path::new("/dev/full"), &["not a file", "choose another name with -o"]);
}

/// A killed run leaves its temporary file. A younger one may belong to a run that is still writing.
#[test]
fn stale_temporary_files_of_this_report_are_removed_young_and_foreign_ones_stay() {
    let directory = fresh();
    let [stale, young] = [".r.cubex.7-0", ".r.cubex.8-0"];
    let foreign = [".other.cubex.7-0", ".r.cubex.mine", "r.cubex.7-0"];
    for name in [stale, young].iter().chain(&foreign) {
        let file = fs::File::create(directory.path().join(name)).unwrap();
        let age = if *name == young { 3600 } else { 48 * 3600 };
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    let report = directory.path().join("r.cubex");
    analyze([&archive("barrier.4"), Path::new("-q"), Path::new("-o"), &report]).expect(0);
    Table::read(&report);
    let mut expected = vec![young, "r.cubex", "r.stat"];
    expected.extend(foreign);
    expected.sort_unstable();
    assert_eq!(names(directory.path()), expected);
}
