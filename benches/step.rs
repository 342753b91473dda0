//! Cost of a step from one process to another.

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use replay::exchange::mpi;

/// Number of round trips.
const STEPS: u32 = 10_000;

/// Prints the cost of a step from one process to another, to be run by a launcher: `mpirun -n 2 …`. With more
/// processes, pairs of them take their steps concurrently.
pub(crate) fn print() -> Result<(), Box<dyn Error>> {
    let library = std::env::var_os("REPLAY_MPI").map(PathBuf::from);
    let mut processes = mpi::start(library.as_deref(), 1)?.ok_or("start it with mpirun")?;
    let (me, all) = (processes.worker(), processes.workers());
    let partner = me ^ 1;
    let empty = || vec![Vec::new(); all];
    processes.exchange(empty())?;
    let start = Instant::now();
    if partner < all {
        for step in 0..2 * STEPS {
            if step as usize % 2 == me % 2 {
                processes.post(partner, vec![step.into(); 4]);
                continue;
            }
            let since = Instant::now();
            while processes.poll(since.elapsed()).is_none() {}
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    processes.exchange(empty())?;
    if me == 0 {
        let how = processes.describe().unwrap_or_default();
        println!("{:.2} µs for a step; {how}", seconds / f64::from(2 * STEPS) * 1e6);
    }
    Ok(())
}
