//! `replay-show`: shows reports.

use std::io::{stderr, stdout};
use std::process::ExitCode;

use show::output::Surroundings;
use show::status::Status;

fn main() -> ExitCode {
    if let Err(error) = diagnostics::start() {
        eprintln!("replay-show: {error}");
        return Status::Failed.code().into();
    }
    let surroundings = Surroundings::of_process();
    show::cli::run(std::env::args_os(), &surroundings, &mut stdout(), &mut stderr()).code().into()
}
