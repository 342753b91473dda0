//! Generated traces: the same job gives the same bytes, about the wanted number of events, in the order of
//! time.

use std::collections::BTreeMap;
use std::path::Path;

use generate::{Job, PATTERNS, Pattern, Written, generate};
use otf2::Archive;

/// Content of all files by name.
fn bytes(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for folder in [directory.to_owned(), directory.join("traces")] {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            if entry.path().is_file() {
                let name = entry.file_name().into_string().unwrap();
                all.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    all
}

/// The files of a job's trace.
fn made(job: &Job) -> BTreeMap<String, Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().join("trace");
    generate(job, &directory).unwrap();
    bytes(&directory)
}

#[test]
fn same_seed_makes_the_same_bytes_and_another_one_others() {
    for pattern in PATTERNS {
        let job = Job { drift: 10.0, ..Job::new(pattern, 5, 300) };
        let (first, again) = (made(&job), made(&job));
        assert!(first == again, "{}", pattern.name);
        let other = made(&Job { seed: job.seed + 1, ..job });
        assert!(first.keys().eq(other.keys()));
        for (name, content) in first.iter().filter(|file| file.0.ends_with(".evt")) {
            assert!(other[name] != *content, "{}: {name} does not depend on the seed", pattern.name);
        }
    }
}

/// Events of each rank; checks that definitions agree and times do not decrease.
fn events_of_ranks(job: &Job, directory: &Path) -> Vec<u64> {
    let archive = Archive::open(directory).unwrap();
    let definitions = archive.definitions().unwrap();
    let mut counts = vec![0; job.ranks as usize];
    for location in job.locations() {
        let file = archive.event_file(location).unwrap();
        let mut events = archive.events(&file);
        let (mut count, mut last) = (0, 0);
        while let Some(record) = events.next().unwrap() {
            assert!(record.time >= last);
            (count, last) = (count + 1, record.time);
        }
        let defined = definitions.locations.find(location).unwrap();
        assert_eq!(defined.events, count);
        // The rank is the lower half of the reference, whatever the thread or the stream.
        counts[(location & u64::from(u32::MAX)) as usize] += count;
    }
    counts
}

#[test]
fn each_rank_has_about_the_events_that_are_asked_for() {
    // The largest step of any pattern is a hybrid one with its reduction: 4 x 22 + 8 + 4 events.
    const STEP: u64 = 120;
    const EVENTS: u64 = 5000;
    for pattern in PATTERNS {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path().join("trace");
        let job = Job::new(pattern, 6, EVENTS);
        let Written { events, locations, bytes, .. } = generate(&job, &directory).unwrap();
        let counts = events_of_ranks(&job, &directory);
        assert_eq!(events, counts.iter().sum::<u64>(), "{}", pattern.name);
        assert_eq!(locations, u64::from(job.ranks * job.locations_of_rank()));
        assert!(bytes > 10 * events && bytes < 16 * events, "{}: {bytes} bytes", pattern.name);
        for (rank, &count) in counts.iter().enumerate() {
            let wanted = match (rank, pattern.name) {
                // The master has three events for ten of each of five workers.
                (0, "master-worker") => EVENTS * 5 * 3 / 10,
                (0, "farm") => EVENTS * 5,
                _ => EVENTS,
            };
            assert!(count.abs_diff(wanted) <= STEP, "{}: {count} events of rank {rank}", pattern.name);
        }
    }
}

#[test]
fn steps_can_be_counted_instead_of_events() {
    for pattern in PATTERNS {
        let events = |iterations: u64| {
            let directory = tempfile::tempdir().unwrap();
            let job = Job { iterations: Some(iterations), ..Job::new(pattern, 4, 0) };
            generate(&job, &directory.path().join("trace")).unwrap().events
        };
        // The least common multiple of the distances of reductions and other rare calls.
        let once = events(960);
        assert!(once > 4 * 960 && events(1920).abs_diff(2 * once) < once / 10, "{}", pattern.name);
    }
    let ring = Job { iterations: Some(7), ..Job::new(Pattern::find("ring").unwrap(), 2, 0) };
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(generate(&ring, &directory.path().join("trace")).unwrap().messages, 14);
}

#[test]
fn even_the_smallest_jobs_are_done() {
    for pattern in PATTERNS {
        for ranks in 1..4 {
            let directory = tempfile::tempdir().unwrap();
            let directory = directory.path().join("trace");
            let job = Job::new(pattern, ranks, 0);
            match generate(&job, &directory) {
                Ok(written) => {
                    assert_eq!(written.events, events_of_ranks(&job, &directory).iter().sum::<u64>())
                }
                Err(_) => assert!(ranks < pattern.least_ranks && !directory.exists(), "{}", pattern.name),
            }
        }
    }
}

#[test]
fn ranks_with_the_same_partners_share_a_group() {
    let groups = |name: &str, ranks| {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path().join("trace");
        generate(&Job::new(Pattern::find(name).unwrap(), ranks, 0), &directory).unwrap();
        let definitions = Archive::open(&directory).unwrap().definitions().unwrap();
        let members: usize = definitions.groups.iter().map(|group| group.members.len()).sum();
        (definitions.groups.len(), members)
    };
    // The communicators of all ranks and of each alone need three groups.
    let (all, of_all) = groups("stencil", 4);
    assert_eq!((all, of_all), (3, 2 * 4));
    // Opposite corners of a square have the same neighbours.
    assert_eq!(groups("neighborhood", 4), (3 + 2, 2 * 4 + 2 * 2));
    // In the east and in the south of a rank are those in the north and in the west of another one.
    assert_eq!(groups("post-start", 12), (3 + 12, 2 * 12 + 12 * 2));
    assert_eq!(groups("neighborhood", 1024), (3 + 1024, 2 * 1024 + 1024 * 4));
}

#[test]
fn many_threads_find_their_slots() {
    let hybrid = Pattern::find("hybrid").unwrap();
    for threads in [1, 2, 300] {
        let job = Job { threads, ..Job::new(hybrid, 3, u64::from(threads) * 300) };
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path().join("trace");
        generate(&job, &directory).unwrap();
        assert!(events_of_ranks(&job, &directory)[0] > u64::from(threads) * 250);
    }
}

#[test]
fn jobs_that_cannot_be_done_are_refused() {
    let refusal = |job: &Job, path: &Path| generate(job, path).unwrap_err().to_string();
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("trace");
    let ring = Job::new(Pattern::find("ring").unwrap(), 2, 100);
    assert!(refusal(&ring, directory.path()).ends_with("exists already"));
    assert!(refusal(&Job { threads: 2, ..ring.clone() }, &inside).contains("one thread"));
    assert!(refusal(&Job { drift: f64::NAN, ..ring.clone() }, &inside).contains("drift"));
    assert!(refusal(&Job { clock_error: 5, ..ring.clone() }, &inside).contains("without drift"));
    assert!(refusal(&Job { ranks: u32::MAX, events: u64::MAX, ..ring }, &inside).contains("18 years"));
    assert!(!inside.exists());
}
