//! Cost of a path: nanoseconds a capture, the least of many short measurements.
//!
//!     cargo bench -p call_paths

use call_paths::{CallPaths, Modules, PathTable, RegionBase, Registers};
use recording::paths::REGION;
use std::hint::black_box;
use std::time::Instant;

static MODULES: Modules = Modules::new(|_| {}, |_| {});

/// The action at the inner end of a chain of calls.
type Action = fn(&mut CallPaths);

const BATCH: u32 = 1000;

/// Captures in one place, again and again.
#[inline(never)]
fn captures(paths: &mut CallPaths) {
    for _ in 0..BATCH {
        black_box(capture(paths));
    }
}

#[inline(never)]
fn capture(paths: &mut CallPaths) -> u32 {
    paths.at_call(Registers::here(), None, 7)
}

#[inline(never)]
fn capture_once(paths: &mut CallPaths) {
    black_box(capture(paths));
}

/// The same functions without the capture.
#[inline(never)]
fn nothing(paths: &mut CallPaths) {
    black_box(without(paths));
}

#[inline(never)]
fn without(paths: &mut CallPaths) -> u32 {
    black_box(Registers::here());
    paths.table().len()
}

#[inline(never)]
fn regions(paths: &mut CallPaths) {
    for _ in 0..BATCH {
        let base = black_box(paths.at_region(Registers::here(), None, REGION, 1));
        black_box(at_base(paths, base));
    }
}

#[inline(never)]
fn at_base(paths: &mut CallPaths, base: RegionBase) -> u32 {
    paths.at_call(Registers::here(), Some(base), 7)
}

#[inline(never)]
fn samples(paths: &mut CallPaths) {
    for _ in 0..BATCH {
        black_box(paths.at_sample(Registers::here(), None));
    }
}

/// Calls itself from one of two places, as the bits of `choices` say.
#[inline(never)]
fn even(paths: &mut CallPaths, depth: u32, choices: u32, action: Action) {
    match (depth, choices & 1) {
        (0, _) => action(paths),
        (_, 0) => even(paths, depth - 1, choices >> 1, action),
        _ => odd(paths, depth - 1, choices >> 1, action),
    }
    black_box(depth);
}

#[inline(never)]
fn odd(paths: &mut CallPaths, depth: u32, choices: u32, action: Action) {
    let array = black_box([0_u64; 3]);
    match (depth, choices & 1) {
        (0, _) => action(paths),
        (_, 0) => even(paths, depth - 1, choices >> 1, action),
        _ => odd(paths, depth - 1, choices >> 1, action),
    }
    black_box(array);
}

/// Returns the least time of one of `count`, in nanoseconds.
fn least(repetitions: u32, count: u32, mut work: impl FnMut()) -> f64 {
    let mut least = f64::MAX;
    for _ in 0..repetitions {
        let begin = Instant::now();
        work();
        least = least.min(begin.elapsed().as_secs_f64() * 1e9 / f64::from(count));
    }
    least
}

fn main() -> std::io::Result<()> {
    let directory = tempfile::tempdir()?;
    let new = |name: &str| {
        CallPaths::new(&MODULES, PathTable::create(&directory.path().join(name))?, "".into(), 64)
    };
    println!("{:>28} {:>6} {:>6} {:>6}  functions", "ns", 10, 25, 45);
    let print = |name: &str, times: [f64; 3]| {
        println!("{name:>28} {:>6.1} {:>6.1} {:>6.1}", times[0], times[1], times[2]);
    };
    // Functions that main, the start of the program and the wrapper add.
    let depths = [10_u32, 25, 45].map(|functions| functions - 8);

    let mut paths = new("hot")?;
    print("one path", depths.map(|depth| least(300, BATCH, || even(&mut paths, depth, 0, captures))));
    let mut paths = new("regions")?;
    print(
        "region and call within",
        depths.map(|depth| least(300, BATCH, || even(&mut paths, depth, 0, regions))),
    );
    let mut paths = new("samples")?;
    print("sample", depths.map(|depth| least(100, BATCH, || even(&mut paths, depth, 0, samples))));

    // Bits spread over the whole depth; the time without the calls that lead there.
    let spread =
        |i: u32, depth: u32| (0..7).fold(0, |bits, bit| bits | (i >> bit & 1) << (bit * depth.min(31) / 7));
    for (name, all) in [("128 paths in turn", 128), ("2 paths in turn", 2)] {
        let mut paths = new(name)?;
        let mut of = |depth: u32, action: Action| {
            least(1000, all, || (0..all).for_each(|i| even(&mut paths, depth, spread(i, depth), action)))
        };
        print(name, depths.map(|depth| of(depth, capture_once) - of(depth, nothing)));
    }

    // A new target each time: only the rules are known.
    let mut paths = new("misses")?;
    print(
        "not known",
        depths.map(|depth| {
            fn miss(paths: &mut CallPaths) {
                let next = paths.table().len();
                black_box(paths.at_call(Registers::here(), None, next));
            }
            least(2000, 1, || even(&mut paths, depth, 0, miss))
        }),
    );
    let mut table = PathTable::create(&directory.path().join("distance"))?;
    // From one call to another, 20 functions apart.
    let mut chain = |first: u64| {
        let begin = std::iter::once((recording::paths::FRAME, first));
        let path = begin
            .chain((0..20).map(|i| (recording::paths::FRAME, i)))
            .chain([(recording::paths::MPI_FUNCTION, 1)]);
        path.fold(recording::paths::NO_PARENT, |parent, (kind, target)| table.intern(parent, kind, target))
    };
    let (one, other) = (chain(1), chain(2));
    let distance = |from: u32, to: u32| {
        least(300, BATCH, || {
            (0..BATCH).for_each(|_| {
                black_box(black_box(&table).distance(black_box(from), black_box(to)));
            })
        })
    };
    println!("{:>28} {:>6.1}", "distance to the same", distance(one, one));
    println!("{:>28} {:>6.1}", "distance, 21 functions new", distance(one, other));
    Ok(())
}
