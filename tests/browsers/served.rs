//! The page that `replay-show serve` serves asks for windows of events where the report has none.

use std::thread;
use std::time::Duration;

use generate::{Job, Pattern, generate};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, Semantics};
use show::opened::Opened;
use show::output::{Output, OutputArgs, Surroundings};
use show::serve::Server;

use super::{check, node};
use crate::support::{fresh, options};

#[test]
fn served_page_shows_messages_outside_of_windows() {
    let Some(mut node) = node() else { return };
    let folder = fresh();
    let experiment = folder.path().join("experiment");
    generate(&Job::new(Pattern::find("stencil").unwrap(), 16, 2000), &experiment).unwrap();
    let report = experiment.join("trace.cubex");
    // One window: nearly all of the run is outside of it.
    let options = Options { windows: 1, ..options(&experiment, &report, Semantics::Corrected) };
    replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
    let (mut results, mut messages) = (Vec::new(), Vec::new());
    let surroundings = Surroundings::default();
    let mut output = Output::new(&OutputArgs::default(), &surroundings, &mut results, &mut messages);
    let opened = Opened::open(&experiment, &mut output).unwrap();
    let server = Server::start(&opened, &experiment, None, 0).unwrap();
    node.env("SERVED", format!("http://localhost:{}{}", server.port().unwrap(), server.path()));
    // It ends with this process: how long a browser takes to start is not known.
    thread::spawn(move || server.run(Duration::from_secs(3600)));
    check(node, "served.test.mjs", folder.path());
}
