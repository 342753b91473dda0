//! The counters that a recording has, of those that the user asks for: the ones that all processes can count at a time.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Instant;

use recording::counters::{Counter, DEVICES, KernelEvent, MOST};
use recording::journal::CounterDefinition;

use super::Chosen;
use super::group::Group;

/// How often counters are read to see how long that takes.
const READS: u32 = 20;

/// Returns the counters that all processes have, and what this one has to say to the user: why others are not recorded, and what
/// those cost that are. `agree` reduces numbers of the processes to their minimum; each process calls it as often.
pub(crate) fn choose(wanted: &[Counter], mut agree: impl FnMut(&mut [i32])) -> (Chosen, Vec<String>) {
    if wanted.is_empty() {
        return (Chosen::default(), Vec::new());
    }
    let events: Vec<Result<KernelEvent, String>> = wanted.iter().map(tried).collect();
    let mut are_there = [0; MOST];
    for (is_there, event) in are_there.iter_mut().zip(&events) {
        *is_there = i32::from(event.is_ok());
    }
    agree(&mut are_there);
    let mut chosen = Chosen::default();
    let mut missing: Vec<(String, Vec<&str>)> = Vec::new();
    for ((counter, event), is_there) in wanted.iter().zip(events).zip(are_there) {
        match event {
            Ok(event) if is_there == 1 => chosen.add(counter, event),
            Ok(_) => add(&mut missing, "another process has none", &counter.name),
            Err(cause) => add(&mut missing, &cause, &counter.name),
        }
    }
    let mut said = Vec::new();
    let mut fit = [1];
    let mut is_slow = None;
    match Group::open(&chosen.events) {
        _ if chosen.events.is_empty() => {}
        Ok(group) => is_slow = group.is_slow().then(|| microseconds(&group)),
        Err(_) => fit = [0],
    }
    agree(&mut fit);
    if fit == [0] {
        let lost = std::mem::take(&mut chosen);
        let cause = "the processor cannot count all of them at a time: others may use its counters, such as a monitoring \
                     daemon, and fewer may fit";
        let is_lost = |it: &&Counter| lost.counters.iter().any(|counter| counter.name == it.name);
        wanted.iter().filter(is_lost).for_each(|it| add(&mut missing, cause, &it.name));
    } else if let Some(microseconds) = is_slow {
        said.push(format!(
            "{} can be read by the system only, which takes {microseconds:.1} µs at each event of a thread",
            chosen.names()
        ));
    }
    said.extend(missing.iter().map(|(cause, names)| {
        format!("{} {} not recorded: {cause}", names.join(", "), if names.len() == 1 { "is" } else { "are" })
    }));
    (chosen, said)
}

impl Chosen {
    fn add(&mut self, counter: &Counter, event: KernelEvent) {
        let Counter { name, is_software, is_time, .. } = counter;
        let (is_software, is_time) = (*is_software, *is_time);
        self.counters.push(CounterDefinition { name: name.clone(), is_software, is_time });
        self.events.push(event);
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.counters.iter().map(|counter| counter.name.as_str()).collect();
        names.join(", ")
    }
}

/// Adds a counter to those that are missing for a cause.
fn add<'a>(missing: &mut Vec<(String, Vec<&'a str>)>, cause: &str, name: &'a str) {
    match missing.iter_mut().find(|(other, _)| other == cause) {
        Some((_, names)) => names.push(name),
        None => missing.push((cause.to_string(), vec![name])),
    }
}

/// Returns the kernel's event of a counter, if the calling thread can count it by itself; a cause otherwise.
fn tried(counter: &Counter) -> Result<KernelEvent, String> {
    let event = counter.resolve(Path::new(DEVICES))?;
    match Group::open(&[event]) {
        Ok(_) => Ok(event),
        Err(cause) => Err(explained(&cause, counter.is_software)),
    }
}

/// Says why the system does not count.
fn explained(cause: &io::Error, is_software: bool) -> String {
    match cause.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::ENXIO) if !is_software => {
            "this machine has no such counters of the processor (a virtual machine has none, as a rule)"
                .into()
        }
        Some(libc::EACCES | libc::EPERM) => {
            let paranoid = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
            format!(
                "the system does not permit it (kernel.perf_event_paranoid is {}): the site can, some do for jobs that ask for it, \
                 such as by #SBATCH --constraint=hwperf --exclusive",
                paranoid.trim()
            )
        }
        Some(libc::EBUSY) => "the processor's counters are in use, perhaps by a monitoring daemon".into(),
        _ => cause.to_string(),
    }
}

/// Returns how long it takes to read the counters once.
fn microseconds(group: &Group) -> f64 {
    let begin = Instant::now();
    for _ in 0..READS {
        std::hint::black_box(group.read());
    }
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(READS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::counters::parse;

    #[test]
    fn counters_that_another_process_lacks_are_recorded_nowhere() {
        let wanted = parse("task-clock,page-faults").unwrap();
        // Where the system permits no counters there is nothing to be tested.
        if wanted.iter().any(|counter| tried(counter).is_err()) {
            return;
        }
        let (chosen, said) = choose(&wanted, |numbers| numbers[0] = if numbers.len() == 1 { 1 } else { 0 });
        assert_eq!(chosen.names(), "page-faults");
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("page-faults can be read by the system only, which takes "), "{said:?}");
        assert_eq!(said[1], "task-clock is not recorded: another process has none");
    }

    #[test]
    fn counters_that_do_not_fit_together_are_recorded_nowhere() {
        let wanted = parse("task-clock,page-faults").unwrap();
        if wanted.iter().any(|counter| tried(counter).is_err()) {
            return;
        }
        let (chosen, said) = choose(&wanted, |numbers| {
            if numbers.len() == 1 {
                numbers[0] = 0;
            }
        });
        assert_eq!(chosen, Chosen::default());
        assert!(
            said[0].starts_with("task-clock, page-faults are not recorded: the processor cannot count"),
            "{said:?}"
        );
    }

    #[test]
    fn causes_name_who_can_help() {
        let of = |code, is_software| explained(&io::Error::from_raw_os_error(code), is_software);
        assert!(of(libc::ENOENT, false).contains("virtual machine"));
        assert!(of(libc::EACCES, true).contains("perf_event_paranoid"));
        assert!(of(libc::EMFILE, true).contains("Too many open files"));
    }

    #[test]
    fn touched_pages_are_counted_while_the_group_exists() {
        let wanted = parse("page-faults,task-clock").unwrap();
        let events: Result<Vec<_>, _> = wanted.iter().map(tried).collect();
        let Ok(events) = events else { return };
        let group = Group::open(&events).unwrap();
        let before = group.read().unwrap();
        let mut memory = vec![0_u8; 64 << 12];
        memory.iter_mut().step_by(1 << 12).for_each(|byte| *byte = 1);
        std::hint::black_box(&memory);
        let after = group.read().unwrap();
        assert!(group.is_slow() && after[2..] == [0; MOST - 2]);
        assert!((60..200).contains(&(after[0] - before[0])), "{before:?} {after:?}");
        assert!(after[1] > before[1]);
    }
}
