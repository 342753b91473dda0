//! Counters that a user can ask for (site.md, 5.2): their names, and the kernel's events that they are (`perf_event_open(2)`).

use std::fs;
use std::path::Path;

/// Reference of the class of the counters of a recording, in event files and in the archive.
pub const CLASS: u32 = 1;

/// How many counters can be asked for: more than processors count at a time would be counted in turns.
pub const MOST: usize = 6;

/// Where the kernel tells about its sources of events.
pub const DEVICES: &str = "/sys/bus/event_source/devices";

/// `perf_event_attr.type` of the events that the kernel names itself (`linux/perf_event.h`).
mod kind {
    pub(super) const HARDWARE: u32 = 0;
    pub(super) const SOFTWARE: u32 = 1;
    pub(super) const CACHE: u32 = 3;
    pub(super) const RAW: u32 = 4;
}

/// What is counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counter {
    /// The name that the user has written, which is that in the trace and in reports.
    pub name: String,
    /// Whether the kernel counts, not the processor.
    pub is_software: bool,
    /// Whether it is a time in nanoseconds; a number of occurrences otherwise.
    pub is_time: bool,
    source: Source,
}

/// How the kernel knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Source {
    /// By a type and a number.
    Known(u32, u64),
    /// By a source of events, and values of fields that this describes.
    Described(String, Vec<(String, u64)>),
}

/// An event of the kernel, in the fields of `perf_event_attr`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KernelEvent {
    /// `type`
    pub kind: u32,
    /// `config`, `config1`, `config2`
    pub config: [u64; 3],
    /// Whether what happens in the kernel counts: it is where threads are switched.
    pub includes_kernel: bool,
}

/// Names of perf, those of PAPI for the same, and the kernel's type and number. The numbers of events of caches are
/// cache, operation and result, of 8 bits each; all these are misses of loads.
const NAMES: &[(&str, &str, u32, u64)] = &[
    ("cycles", "PAPI_TOT_CYC", kind::HARDWARE, 0),
    ("instructions", "PAPI_TOT_INS", kind::HARDWARE, 1),
    ("ref-cycles", "PAPI_REF_CYC", kind::HARDWARE, 9),
    ("branches", "PAPI_BR_INS", kind::HARDWARE, 4),
    ("branch-misses", "PAPI_BR_MSP", kind::HARDWARE, 5),
    ("cache-misses", "PAPI_L3_TCM", kind::HARDWARE, 3),
    ("stalled-backend", "PAPI_RES_STL", kind::HARDWARE, 8),
    ("L1-dcache-load-misses", "PAPI_L1_LDM", kind::CACHE, 0x1_00_00),
    ("dTLB-load-misses", "PAPI_TLB_DM", kind::CACHE, 0x1_00_03),
    ("page-faults", "", kind::SOFTWARE, 2),
    ("context-switches", "", kind::SOFTWARE, SWITCHES),
    ("cpu-migrations", "", kind::SOFTWARE, MIGRATIONS),
    (TASK_CLOCK, "", kind::SOFTWARE, 1),
];

const SWITCHES: u64 = 3;
const MIGRATIONS: u64 = 4;

/// The one that is a time.
const TASK_CLOCK: &str = "task-clock";

/// Parses a list of counters, separated by commas; commas between slashes belong to a name.
///
/// # Errors
/// If a name is not known, there are too many, or one twice: what was found, what was expected.
pub fn parse(list: &str) -> Result<Vec<Counter>, String> {
    let mut is_inside = false;
    let separates = |character: char| {
        is_inside ^= character == '/';
        character == ',' && !is_inside
    };
    let names = list.split(separates).map(str::trim).filter(|name| !name.is_empty());
    let counters = names.map(Counter::find).collect::<Result<Vec<_>, _>>()?;
    if counters.is_empty() && !list.trim().is_empty() {
        return Err(format!("{list:?}, expected names of counters"));
    }
    if counters.len() > MOST {
        return Err(format!("{} counters, expected at most {MOST}", counters.len()));
    }
    match (1..counters.len()).find(|&at| counters[..at].iter().any(|it| it.name == counters[at].name)) {
        Some(at) => Err(format!("{} twice", counters[at].name)),
        None => Ok(counters),
    }
}

impl Counter {
    /// Finds one by its name.
    fn find(name: &str) -> Result<Counter, String> {
        let known = NAMES.iter().find(|(perf, papi, ..)| *perf == name || *papi == name);
        let source = match known {
            Some(&(_, _, kind, config)) => Some(Source::Known(kind, config)),
            None => raw(name).or_else(|| described(name)),
        };
        let source = source.ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(name, ..)| *name).collect();
            let names = names.join(", ");
            format!("{name}, expected {names}, one of PAPI's names for these, or a raw event as cpu/event=0xc0,umask=0x1/ or r01c0")
        })?;
        let is_software = matches!(source, Source::Known(kind::SOFTWARE, _));
        Ok(Counter { name: name.into(), is_software, is_time: name == TASK_CLOCK, source })
    }

    /// Returns the kernel's event; `devices` is [`DEVICES`].
    ///
    /// # Errors
    /// If the kernel does not know it: a sentence.
    pub fn resolve(&self, devices: &Path) -> Result<KernelEvent, String> {
        let (device, fields) = match &self.source {
            Source::Known(kind, config) => {
                let includes_kernel =
                    *kind == kind::SOFTWARE && (*config == SWITCHES || *config == MIGRATIONS);
                return Ok(KernelEvent { kind: *kind, config: [*config, 0, 0], includes_kernel });
            }
            Source::Described(device, fields) => (device, fields),
        };
        let device = devices.join(device);
        let text = |name: &str| {
            fs::read_to_string(device.join(name))
                .map(|text| text.trim().to_string())
                .map_err(|_| format!("the kernel has no {} here", device.join(name).display()))
        };
        let number = text("type")?;
        let kind = number.parse().map_err(|_| format!("{}/type is {number:?}", device.display()))?;
        let mut event = KernelEvent { kind, ..KernelEvent::default() };
        for (field, value) in fields {
            let format = match field.as_str() {
                "config" => "config:0-63".to_string(),
                "config1" => "config1:0-63".to_string(),
                "config2" => "config2:0-63".to_string(),
                _ => text(&format!("format/{field}"))?,
            };
            place(&format, *value, &mut event.config).ok_or_else(|| {
                format!("{field}={value:#x} does not fit into {format}, as the kernel describes it")
            })?;
        }
        Ok(event)
    }
}

/// Returns `r` and the number of an event of the processor.
fn raw(name: &str) -> Option<Source> {
    let digits = name.strip_prefix('r')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let config = is_number.then(|| u64::from_str_radix(digits, 16).ok())??;
    Some(Source::Known(kind::RAW, config))
}

/// Returns `device/field=value,…/`; a field without a value is 1.
fn described(name: &str) -> Option<Source> {
    let (device, fields) = name.strip_suffix('/')?.split_once('/')?;
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    let field = |text: &str| {
        let (field, value) = text.split_once('=').unwrap_or((text, "1"));
        let value = match value.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => value.parse(),
        };
        is_name(field).then(|| Some((field.to_string(), value.ok()?)))?
    };
    let fields = fields.split(',').map(field).collect::<Option<Vec<_>>>()?;
    is_name(device).then(|| Source::Described(device.into(), fields))
}

/// Puts a value into the bits that a format names, such as `config:0-7,32-35`: the lowest bits into the first ones.
fn place(format: &str, mut value: u64, config: &mut [u64; 3]) -> Option<()> {
    let (word, ranges) = format.split_once(':')?;
    let word = ["config", "config1", "config2"].iter().position(|name| *name == word)?;
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        let bits = last.checked_sub(first)?.checked_add(1).filter(|_| last < 64)?;
        let mask = u64::MAX >> (64 - bits);
        config[word] |= (value & mask) << first;
        value = value.checked_shr(bits).unwrap_or(0);
    }
    (value == 0).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &str) -> Vec<String> {
        parse(list).unwrap().into_iter().map(|counter| counter.name).collect()
    }

    #[test]
    fn commas_between_slashes_are_part_of_a_name() {
        assert_eq!(
            names("cycles, cpu/event=0xc0,umask=0x1/,PAPI_TOT_INS,r01c0"),
            ["cycles", "cpu/event=0xc0,umask=0x1/", "PAPI_TOT_INS", "r01c0"]
        );
        assert_eq!(names(""), [""; 0]);
    }

    #[test]
    fn lists_that_cannot_be_counted_are_refused_with_what_was_found() {
        let problem = |list| parse(list).unwrap_err();
        assert!(problem("PAPI_FP_OPS").starts_with("PAPI_FP_OPS, expected cycles, instructions, "));
        assert_eq!(problem("cycles,cycles"), "cycles twice");
        assert_eq!(problem(" ,"), "\" ,\", expected names of counters");
        assert_eq!(problem("r1,r2,r3,r4,r5,r6,r7"), "7 counters, expected at most 6");
        for name in ["r", "rx1", "cpu/", "cpu//", "../x/event=1/", "cpu/event=0xg/", "r12345678901234567"] {
            assert!(parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn events_have_the_numbers_of_the_kernel() {
        let event = |name| parse(name).unwrap()[0].resolve(Path::new("nowhere"));
        assert_eq!(
            event("PAPI_L1_LDM"),
            Ok(KernelEvent { kind: 3, config: [0x10000, 0, 0], includes_kernel: false })
        );
        assert_eq!(
            event("page-faults"),
            Ok(KernelEvent { kind: 1, config: [2, 0, 0], includes_kernel: false })
        );
        assert_eq!(
            event("r01c0"),
            Ok(KernelEvent { kind: 4, config: [0x1c0, 0, 0], includes_kernel: false })
        );
        assert_eq!(event("cpu/event=1/").unwrap_err(), "the kernel has no nowhere/cpu/type here");
        let is = |name| parse(name).map(|list| (list[0].is_software, list[0].is_time)).unwrap();
        assert_eq!(
            [is("task-clock"), is("page-faults"), is("cycles")],
            [(true, true), (true, false), (false, false)]
        );
    }

    #[test]
    fn values_of_fields_go_where_the_kernel_describes() {
        let mut config = [0; 3];
        assert_eq!(place("config:0-7,32-35", 0x3c0, &mut config), Some(()));
        assert_eq!(place("config:23", 1, &mut config), Some(()));
        assert_eq!(place("config1:0-63", u64::MAX, &mut config), Some(()));
        assert_eq!(config, [0x3_0080_00c0, u64::MAX, 0]);
        for wrong in ["config:0-7", "config:8-7", "config:0-64", "config3:0-9", "config"] {
            assert_eq!(place(wrong, 0x100, &mut config), None, "{wrong}");
        }
    }
}
