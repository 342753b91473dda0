//! Meters of a node's energy, as the system shows them in files (site.md, 5.2): which there are, and what a run has taken between two
//! readings of them.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// HPE's meter of a whole node: joules, and more behind them.
const NODE: &str = "cray/pm_counters/energy";

/// Folders of meters of processors and memory (`powercap`), each with a name and microjoules.
const ZONES: &str = "class/powercap";

/// Most watts that one meter of `powercap` is taken to show, to know after which time it may have begun again without notice.
const MOST_WATTS: u64 = 1000;

/// A file that shows energy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meter {
    /// What takes the energy, such as `node` or `package-0`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Microjoules of its unit.
    pub unit: u64,
    /// Microjoules with which it begins again; 0 if it does not.
    pub range: u64,
}

/// All meters at one moment.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct EnergyReading {
    /// When, in nanoseconds of a clock that is not set back.
    pub nanoseconds: u64,
    /// What each shows: names, microjoules, and microjoules with which it begins again, or 0.
    pub meters: Vec<(String, u64, u64)>,
}

/// The meters of the node of which `system` is the file system of the kernel (`/sys`): that of the whole node, or else those of its
/// processors and their memory; none if there are none, or they may not be read.
pub fn meters(system: &Path) -> Vec<Meter> {
    let node = Meter { name: "node".into(), path: system.join(NODE), unit: 1_000_000, range: 0 };
    if shown(&fs::read(&node.path).unwrap_or_default()).is_some() {
        return vec![node];
    }
    let folders = fs::read_dir(system.join(ZONES)).into_iter().flatten().flatten();
    let mut found: Vec<Meter> = folders.filter_map(|folder| zone(&folder.path())).collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// A meter of `powercap`, if it shows what no other one contains: a package, with cores and graphics, or memory beside it. `psys`
/// contains packages.
fn zone(folder: &Path) -> Option<Meter> {
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let name = text("name")?.trim().to_owned();
    let path = folder.join("energy_uj");
    let is_own = name.starts_with("package") || name == "dram";
    shown(&fs::read(&path).ok().filter(|_| is_own)?)?;
    let range = text("max_energy_range_uj").and_then(|range| shown(range.as_bytes())).unwrap_or(0);
    Some(Meter { name, path, unit: 1, range })
}

/// The number that the contents of a file begin with.
pub fn shown(contents: &[u8]) -> Option<u64> {
    std::str::from_utf8(contents).ok()?.split_whitespace().next()?.parse().ok()
}

/// Microjoules that all meters have counted between the first of these readings and the last one; `None` if there are not two, a meter
/// is missing in one, goes back, or may have begun again more than once between two readings.
pub fn taken(readings: &[EnergyReading]) -> Option<u64> {
    let (first, last) = (readings.first()?, readings.last()?);
    if first.nanoseconds == last.nanoseconds || first.meters.is_empty() {
        return None;
    }
    let steps = readings.windows(2).map(|pair| between(&pair[0], &pair[1]));
    steps.sum()
}

fn between(before: &EnergyReading, behind: &EnergyReading) -> Option<u64> {
    // A watt is a microjoule a microsecond.
    let most = (behind.nanoseconds.checked_sub(before.nanoseconds)? / 1000).saturating_mul(MOST_WATTS);
    if before.meters.len() != behind.meters.len() {
        return None;
    }
    let differences =
        before.meters.iter().zip(&behind.meters).map(|((name, from, range), (other, to, _))| {
            let is_one = name == other && (*range == 0 || most < *range);
            let counted = to.checked_sub(*from).or_else(|| to.checked_add(range.checked_sub(*from)?));
            counted.filter(|_| is_one)
        });
    differences.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(seconds: u64, meters: &[(&str, u64, u64)]) -> EnergyReading {
        let meters = meters.iter().map(|&(name, shown, range)| (name.to_owned(), shown, range)).collect();
        EnergyReading { nanoseconds: seconds * 1_000_000_000, meters }
    }

    /// The file system of a kernel with these files.
    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn packages_and_memory_count_and_what_is_in_others_does_not() {
        let zones = [
            ("intel-rapl:0", "package-0"),
            ("intel-rapl:0:0", "core"),
            ("intel-rapl:0:1", "dram"),
            ("intel-rapl:1", "psys"),
        ];
        let mut files = Vec::new();
        for (folder, name) in zones {
            files.push((format!("class/powercap/{folder}/name"), format!("{name}\n")));
            files.push((format!("class/powercap/{folder}/energy_uj"), "12345\n".into()));
            files.push((format!("class/powercap/{folder}/max_energy_range_uj"), "262143328850\n".into()));
        }
        files.push(("class/powercap/intel-rapl/enabled".into(), "1\n".into()));
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&name[..], &text[..])).collect();
        let folder = system(&files);
        let found = meters(folder.path());
        let names: Vec<_> = found.iter().map(|meter| (&meter.name[..], meter.unit, meter.range)).collect();
        assert_eq!(names, [("package-0", 1, 262_143_328_850), ("dram", 1, 262_143_328_850)]);
        assert_eq!(meters(&folder.path().join("nothing")), []);
    }

    #[test]
    fn meter_of_the_whole_node_counts_alone() {
        let folder = system(&[
            ("cray/pm_counters/energy", "82934823 J 1700000000 us\n"),
            ("class/powercap/p/name", "package-0"),
            ("class/powercap/p/energy_uj", "1"),
        ]);
        let [node] = &meters(folder.path())[..] else { panic!("others") };
        assert_eq!((&node.name[..], node.unit, node.range), ("node", 1_000_000, 0));
        assert_eq!(shown(&fs::read(&node.path).unwrap()), Some(82_934_823));
    }

    #[test]
    fn energy_is_what_meters_have_counted_also_if_they_begin_again() {
        let range = 200_000_000_000;
        let all = [
            reading(0, &[("a", 199_999_999_000, range), ("b", 5, 0)]),
            reading(60, &[("a", 500, range), ("b", 5, 0)]),
            reading(61, &[("a", 700, range), ("b", 9, 0)]),
        ];
        assert_eq!(taken(&all), Some(1500 + 200 + 4));
        assert_eq!(taken(&all[..1]), None);
    }

    #[test]
    fn energy_is_unknown_where_a_meter_may_have_begun_again_goes_back_or_is_missing() {
        let range = 200_000_000_000;
        let one = |seconds, shown, range| reading(seconds, &[("a", shown, range)]);
        assert_eq!(taken(&[one(0, 1, range), one(201, 2, range)]), None);
        assert_eq!(taken(&[one(0, 1, range), one(199, 2, range)]), Some(1));
        assert_eq!(taken(&[one(0, 9, 0), one(1, 8, 0)]), None);
        assert_eq!(taken(&[one(0, 9, 0), reading(1, &[])]), None);
        assert_eq!(taken(&[one(0, 9, 0), reading(1, &[("b", 10, 0)])]), None);
        assert_eq!(taken(&[reading(0, &[]), reading(1, &[])]), None);
        assert_eq!(taken(&[one(1, 9, 0), one(0, 10, 0)]), None);
        assert_eq!(taken(&[]), None);
    }
}
