//! What the severities of every report fulfil: they are not negative, add up, and are no longer than the time in which they are.

use std::collections::BTreeMap;
use std::path::Path;

use model::{LocationType, Paradigm, RegionRole, accelerators};
use otf2::{Archive, Event, MappingType, Mappings};

use crate::support::report::Table;

/// Rounding tolerance in seconds.
pub(super) const ROUNDING: f64 = 1e-9;

fn place(table: &Table, path: usize, location: usize) -> String {
    format!("{} @{location}", table.paths[path])
}

/// Losses between partitions may exceed all losses: each has a factor of its own (specification 8.4).
fn is_rest_of_losses(metric: &str) -> bool {
    metric == "intra_partition_imbalance" || metric == "critical_imbalance_impact"
}

/// No severity is negative.
pub(super) fn negative(table: &Table) -> Vec<String> {
    let below_zero = table.values.iter().filter(|(_, value)| **value < 0.0);
    let below_zero = below_zero.filter(|((metric, ..), _)| !is_rest_of_losses(&table.metrics[*metric].0));
    below_zero
        .map(|(&(metric, path, location), value)| {
            format!("{} is {value} at {}", table.metrics[metric].0, place(table, path, location))
        })
        .collect()
}

/// A metric is at least the sum of its children, at each call path and location. Late receivers are counted
/// where the send completes, but sends where they start: for these it holds at each location only.
pub(super) fn parents(table: &Table) -> Vec<String> {
    let is_elsewhere = |metric: usize| matches!(&*table.metrics[metric].0, "mpi_slr_count" | "mpi_clr_count");
    let mut sums: BTreeMap<(usize, Option<usize>, usize), (f64, f64)> = BTreeMap::new();
    for (&(metric, path, location), value) in &table.values {
        sums.entry((metric, Some(path), location)).or_default().0 += value;
        sums.entry((metric, None, location)).or_default().0 += value;
        if let Some(parent) = table.metrics[metric].2 {
            sums.entry((parent, None, location)).or_default().1 += value;
            if !is_elsewhere(metric) {
                sums.entry((parent, Some(path), location)).or_default().1 += value;
            }
        }
    }
    let exceeded = sums.into_iter().filter(|((metric, ..), (value, below))| {
        *below > value + ROUNDING && !is_rest_of_losses(&table.metrics[*metric].0)
    });
    exceeded
        .map(|((metric, path, location), (value, below))| {
            let place = path.map_or(format!("@{location}"), |path| place(table, path, location));
            let name = &table.metrics[metric].0;
            format!("{name} is {value} at {place}, the metrics below it sum up to {below}")
        })
        .collect()
}

/// Waiting is part of the time of its class of calls, at each call path and location.
pub(super) fn waiting(table: &Table) -> Vec<String> {
    const CLASSES: [(&str, &str, &[&str]); 10] = [
        ("mpi", "mpi_point2point", &["mpi_latesender", "mpi_latereceiver"]),
        ("mpi", "mpi_sync_collective", &["mpi_barrier_wait", "mpi_barrier_completion"]),
        (
            "mpi",
            "mpi_collective",
            &["mpi_earlyreduce", "mpi_earlyscan", "mpi_latebroadcast", "mpi_wait_nxn", "mpi_nxn_completion"],
        ),
        ("mpi", "mpi_init_exit", &["mpi_init_completion", "mpi_finalize_wait"]),
        ("omp_time", "omp_ebarrier", &["omp_ebarrier_wait"]),
        ("omp_time", "omp_ibarrier", &["omp_ibarrier_wait"]),
        ("omp_time", "omp_critical", &["omp_lock_contention_critical"]),
        ("omp_time", "omp_lock_api", &["omp_lock_contention_api"]),
        ("pthread_time", "pthread_lock_api", &["pthread_lock_contention_mutex_lock"]),
        ("pthread_time", "pthread_conditional", &["pthread_lock_contention_conditional"]),
    ];
    let mut problems = Vec::new();
    for path in 0..table.paths.len() {
        for location in 0..table.locations {
            for (paradigm, class, waits) in CLASSES {
                let time = table.value(class, path, location);
                let waiting: f64 = waits.iter().map(|wait| table.value(wait, path, location)).sum();
                if waiting > time + ROUNDING {
                    let place = place(table, path, location);
                    problems.push(format!("{waiting} s of waiting in {time} s of {class} at {place}"));
                }
                let all = table.value(paradigm, path, location);
                if time > all + ROUNDING {
                    let place = place(table, path, location);
                    problems.push(format!("{class} is {time} at {place}, {paradigm} {all}"));
                }
            }
            // Calls that wait for devices are of several classes.
            let waiting = table.metric("accel_wait").map(|_| table.value("accel_wait", path, location));
            let time = table.value("time", path, location);
            if let Some(waiting) = waiting.filter(|&waiting| waiting > time + ROUNDING) {
                let place = place(table, path, location);
                problems.push(format!("{waiting} s of waiting for devices in {time} s at {place}"));
            }
        }
    }
    problems
}

/// At each call path, computation above the mean equals computation below it. Rounding adds up over
/// locations.
pub(super) fn deviations(table: &Table) -> Vec<String> {
    let sum = |metric: &str, path| -> f64 {
        (0..table.locations).map(|location| table.value(metric, path, location)).sum()
    };
    let differs = |path: &usize| {
        let (above, below) = (sum("imbalance_above", *path), sum("imbalance_below", *path));
        (above - below).abs() > ROUNDING || (above + below - sum("imbalance", *path)).abs() > ROUNDING
    };
    let places = (0..table.paths.len()).filter(differs);
    places.map(|path| format!("imbalance does not add up to zero in {}", table.paths[path])).collect()
}

/// The shares of MPI time by coverage add up to all of it.
pub(super) fn coverage(table: &Table) -> Vec<String> {
    let shares: Vec<f64> = table
        .attributes
        .iter()
        .filter(|(key, _)| key.starts_with("Replay::Coverage::"))
        .map(|(_, value)| value.parse().unwrap())
        .collect();
    let sum: f64 = shares.iter().sum();
    let is_share = |share: &f64| (0.0..=1.0).contains(share);
    if shares.len() > 1 && shares.iter().all(is_share) && (sum - 1.0).abs() < 1e-5 {
        return Vec::new();
    }
    vec![format!("coverage: the shares {shares:?} sum up to {sum}")]
}

/// The exclusive times of a location add up to its lifetime.
pub(super) fn lifetimes(path: &Path, table: &Table) -> Vec<String> {
    let archive = Archive::open(path).unwrap();
    let lifetimes = Lifetimes::read(&archive);
    let mut problems = Vec::new();
    if lifetimes.len() != table.locations {
        problems.push(format!("{} locations, expected {}", table.locations, lifetimes.len()));
    }
    for (location, want) in lifetimes.into_iter().enumerate() {
        let got = table.sum("time", location) - table.sum("omp_idle_threads", location);
        if (want - got).abs() > ROUNDING {
            problems.push(format!("time @{location} sums up to {got}, the lifetime is {want}"));
        }
    }
    problems
}

/// A period in which a location was inside of a region, in ticks.
struct Period {
    begin: i64,
    end: i64,
    /// Whether the outermost region is a parallel region.
    is_parallel: bool,
}

/// Lifetimes of locations, computed from the events without the analyzer.
#[derive(Default)]
struct Lifetimes {
    stretches: Vec<Period>,
    /// Times of fork and join of teams.
    teams: Vec<(i64, i64)>,
}

impl Lifetimes {
    /// Lifetimes in seconds, in the order of rank and thread.
    fn read(archive: &Archive) -> Vec<f64> {
        let definitions = archive.definitions().unwrap();
        let count = definitions.locations.len();
        let mut references: Vec<u64> = (0..count).map(|at| definitions.locations.reference(at)).collect();
        references.sort_by_key(|reference| (reference & 0xffff_ffff, reference >> 32));
        let mut seconds = Vec::new();
        let mut teams = Vec::new();
        for reference in references {
            let location = Lifetimes::of(archive, &definitions, reference);
            let is_main = reference >> 32 == 0;
            if is_main {
                teams = location.teams;
            }
            let length = |stretch: &Period| {
                let is_part = |team: &&(i64, i64)| team.0 < stretch.end && team.1 > stretch.begin;
                match teams.iter().find(is_part).filter(|_| stretch.is_parallel && !is_main) {
                    // The time of a member of a team extends from the fork to the join.
                    Some(&(fork, join)) => stretch.end.max(join) - stretch.begin.min(fork),
                    None => stretch.end - stretch.begin,
                }
            };
            let ticks: i64 = location.stretches.iter().map(length).sum();
            seconds.push(definitions.clock.seconds(ticks.into()));
        }
        seconds
    }

    fn of(archive: &Archive, definitions: &model::Definitions, reference: u64) -> Lifetimes {
        let mut local = archive.local_definitions(reference).unwrap();
        let file = archive.event_file(reference).unwrap();
        let mut cursor = archive.events(&file);
        let mut lifetimes = Lifetimes::default();
        let is_stream =
            definitions.locations.find(reference).unwrap().kind == LocationType::ACCELERATOR_STREAM;
        let is_idle = |region: u32, mappings: &Mappings| {
            let region = mappings.global(MappingType::Region, region);
            is_stream && definitions.regions.find(region.into()).is_some_and(accelerators::is_idle)
        };
        let (mut depth, mut fork, mut last, mut is_off) = (0, None, 0, false);
        while let Some(record) = cursor.next().unwrap() {
            let time = local.clock.correct(record.time) as i64;
            last = time;
            let mut open = |lifetimes: &mut Lifetimes, is_parallel| {
                if depth == 0 {
                    lifetimes.stretches.push(Period { begin: time, end: time, is_parallel });
                }
                depth += 1;
            };
            let mut closed = 0;
            match record.event {
                Event::Enter { region } | Event::Leave { region } if is_idle(region, &local.mappings) => {}
                Event::RmaPut { .. } | Event::RmaGet { .. } if is_stream => open(&mut lifetimes, false),
                Event::RmaOpCompleteBlocking { .. } if is_stream => closed = 1.min(depth),
                Event::Enter { region } => {
                    let region = local.mappings.global(MappingType::Region, region);
                    let region = definitions.regions.find(region.into()).unwrap();
                    let is_parallel =
                        region.paradigm == Paradigm::OPENMP && region.role == RegionRole::PARALLEL;
                    open(&mut lifetimes, is_parallel);
                }
                Event::ProgramBegin { .. } => open(&mut lifetimes, false),
                Event::MeasurementOnOff { measurement_mode } => {
                    let goes_off = measurement_mode == model::MeasurementMode::OFF;
                    if goes_off {
                        open(&mut lifetimes, false);
                    } else {
                        closed = i32::from(is_off);
                    }
                    is_off = goes_off;
                }
                Event::Leave { .. } => closed = 1.min(depth),
                Event::ProgramEnd { .. } => closed = depth,
                Event::BufferFlush { stop_time } if depth == 0 => {
                    let end = local.clock.correct(stop_time.0) as i64;
                    lifetimes.stretches.push(Period { begin: time, end, is_parallel: false });
                }
                Event::ThreadFork { .. } => fork = Some(time),
                Event::ThreadJoin { .. } => lifetimes.teams.extend(fork.take().map(|fork| (fork, time))),
                _ => {}
            }
            if closed > 0 {
                depth -= closed;
                if depth == 0
                    && let Some(stretch) = lifetimes.stretches.last_mut()
                {
                    stretch.end = time;
                }
            }
        }
        if depth > 0
            && let Some(stretch) = lifetimes.stretches.last_mut()
        {
            stretch.end = last;
        }
        lifetimes
    }
}
