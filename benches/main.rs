//! Benchmarks of the analyzer: speed and memory.
//!
//! ```text
//! cargo bench --bench replay -- targets [NAME …]
//! cargo bench --bench replay -- trace [EVENTS [RANKS [PATTERN [DIRECTORY]]]]
//! cargo bench --bench replay -- scaling
//! cargo bench --bench replay -- processes [PATTERN …]
//! mpirun -n 2 target/…/deps/replay-… step
//! ```
//!
//! Traces are made in `$TMPDIR`, which should be in memory, and removed.

mod bench;
mod costs;
mod counting;
mod details;
mod file_io;
mod loops;
mod offload;
mod processes;
mod rules;
mod scaling;
#[cfg(any(feature = "mpi", feature = "mpi-dlopen"))]
mod step;
mod targets;
mod trace;
mod what_if;

use std::error::Error;

use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo appends an option.
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let [what, rest @ ..] = &arguments[..] else {
        return Err(
            "say what to measure: targets, trace, scaling, processes or step (docs/benchmarks.md)".into()
        );
    };
    match what.as_str() {
        "targets" => targets::print(rest),
        "trace" => trace::print(rest),
        "scaling" => scaling::print(),
        "processes" => processes::print(rest),
        #[cfg(any(feature = "mpi", feature = "mpi-dlopen"))]
        "step" => step::print(),
        _ => {
            Err(format!("nothing is called {what}; there are targets, trace, scaling, processes and step")
                .into())
        }
    }
}
