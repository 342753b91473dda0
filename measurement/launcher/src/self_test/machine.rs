//! What the paragraph of a self-test says of the archive and of the machine.

use crate::Error;
use crate::finish::mount_of;
use crate::report::grouped;
use otf2::{Archive, Definition};
use recording::journal::Mount;
use recording::mounts;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Returns what an archive has: the clock, and counters.
pub(super) fn recording(directory: &Path) -> Result<String, Error> {
    let archive = Archive::open(directory)?;
    let file = archive.definition_file()?;
    let mut definitions = archive.definition_records(&file);
    let (mut strings, mut members, mut resolution) = (HashMap::new(), Vec::new(), 0);
    while let Some(record) = definitions.next()? {
        match record.definition {
            Definition::String { reference, string } => {
                strings.insert(reference, String::from_utf8_lossy(string).into_owned());
            }
            Definition::MetricMember { name, .. } => members.push(name),
            Definition::ClockProperties { timer_resolution, .. } => resolution = timer_resolution,
            _ => {}
        }
    }
    let counters: Vec<String> = members.iter().filter_map(|name| strings.remove(name)).collect();
    let counters = if counters.is_empty() { "none".to_owned() } else { counters.join(", ") };
    Ok(format!("Clock: {} ticks a second. Counters: {counters}.", grouped(resolution)))
}

/// Returns what matters of the system, and of the file system of a directory.
pub(super) fn system(directory: &Path) -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = rustix::system::uname();
    let processors = std::thread::available_parallelism().map_or(0, |count| count.get());
    let text = |path: &str| first_line(fs::read_to_string(path).ok());
    let mounts: Vec<Mount> = mounts::parse(&fs::read("/proc/self/mounts").unwrap_or_default()).collect();
    let path = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    format!(
        "System: {}, {} {} {}, {processors} processor{} for this process, clock source {}, perf_event_paranoid {}. File system: {}.",
        name_of(&release),
        name.sysname().to_string_lossy(),
        name.release().to_string_lossy(),
        name.machine().to_string_lossy(),
        if processors == 1 { "" } else { "s" },
        text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        text("/proc/sys/kernel/perf_event_paranoid"),
        mount_of(&mounts, &path.to_string_lossy())
            .map_or("unknown".to_owned(), |Mount { source, kind, .. }| format!("{kind} ({source})")),
    )
}

fn first_line(text: Option<String>) -> String {
    text.as_deref().and_then(|text| text.lines().next()).unwrap_or("unknown").trim().to_owned()
}

/// Returns the name of the system in the text of `os-release(5)`.
fn name_of(release: &str) -> &str {
    let line = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    line.map_or("unknown", |name| name.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_says_its_name_and_its_settings() {
        assert_eq!(name_of("ID=x\nPRETTY_NAME=\"Some Linux 12\"\n"), "Some Linux 12");
        assert_eq!((name_of(""), first_line(None).as_str()), ("unknown", "unknown"));
        let said = system(Path::new("/"));
        assert!(
            ["System: ", "Linux ", "perf_event_paranoid "].iter().all(|part| said.contains(part)),
            "{said}"
        );
    }
}
