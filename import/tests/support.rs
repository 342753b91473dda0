//! Test support: traces as texts, archives as lists of events, and the scripts of the analyzer's tests.

use std::path::Path;

use import::{Error, Imported, Sources};
use otf2::{Archive, Event};

#[allow(dead_code, unused_imports)]
#[path = "../../tests/support/parse/mod.rs"]
pub(crate) mod parse;
#[allow(dead_code)]
#[path = "../../tests/support/regions.rs"]
pub(crate) mod regions;
#[allow(dead_code)]
#[path = "../../tests/support/trace.rs"]
pub(crate) mod trace;
#[allow(dead_code)]
#[path = "../../tests/support/write/mod.rs"]
pub(crate) mod write;

/// The semantics that a line of a script is about, as the analyzer's type of this name.
#[allow(dead_code)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Semantics {
    Corrected,
    Reference,
}

/// The part of the run that a script is about: any, as nothing is analysed by it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Focus;

impl Focus {
    #[allow(clippy::unnecessary_wraps)]
    pub(crate) fn parse(_: &str) -> Result<Focus, String> {
        Ok(Focus)
    }
}

/// Labels of what the texts of tests use.
pub(crate) const LABELS: &str = "EVENT_TYPE\n9 50000001 Point-to-point\nVALUES\n1 MPI_Send\n2 MPI_Recv\n3 MPI_Isend\n4 MPI_Irecv\n\
    5 MPI_Wait\n0 End\n\nEVENT_TYPE\n9 50000002 Collective\nVALUES\n7 MPI_Bcast\n10 MPI_Allreduce\n\nEVENT_TYPE\n\
    0 60000019 User function\nVALUES\n1 main\n2 solve\n\nEVENT_TYPE\n0 70000001 Caller\n0 70000002 Caller\nVALUES\n\
    1 solve (solver.c, ./a.out)\n2 main (main.c, ./a.out)\n\nEVENT_TYPE\n0 80000001 Line\n0 80000002 Line\nVALUES\n\
    1 12 (solver.c, ./a.out)\n2 34 (main.c, ./a.out)\n\nEVENT_TYPE\n7 42000050 PAPI_TOT_INS [Instr completed]\n";

/// Imports a trace of two tasks with a thread each from its records, into a new directory.
pub(crate) fn import(records: &str, labels: &str, directory: &Path) -> Result<Imported, Error> {
    let text = format!("#Paraver (30/11/2026 at 12:00):100_ns:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n{records}\n");
    import_bytes(text.as_bytes(), labels.as_bytes(), directory)
}

/// Imports a trace from the bytes of its files.
pub(crate) fn import_bytes(records: &[u8], labels: &[u8], directory: &Path) -> Result<Imported, Error> {
    let sources = Sources {
        records: ("a.prv".into(), Box::new(records)),
        labels: ("a.pcf".into(), Box::new(labels)),
        names: None,
    };
    import::import(sources, directory, false)
}

/// The events of a location, one a line: time, name, and what matters.
pub(crate) fn events(directory: &Path, location: u64) -> String {
    let archive = Archive::open(directory).unwrap();
    let definitions = archive.definitions().unwrap();
    let file = archive.event_file(location).unwrap();
    let mut cursor = archive.events(&file);
    let mut lines = Vec::new();
    let region = |region: u32| definitions.regions.find(region.into()).unwrap().name.clone();
    let communicator = |number: u32| {
        let position = definitions.communicators.position(number.into()).unwrap();
        definitions.communicators.get(position).unwrap().name.clone()
    };
    while let Some(record) = cursor.next().unwrap() {
        let shown = match record.event {
            Event::Enter { region: number } => region(number),
            Event::Leave { .. } => "-".to_owned(),
            Event::CallingContextEnter { calling_context, unwind_distance } => {
                let mut path = Vec::new();
                let mut at = definitions.calling_contexts.position(calling_context.into());
                while let Some(context) = at.and_then(|at| definitions.calling_contexts.get(at)) {
                    let line = context
                        .source
                        .as_ref()
                        .map_or(String::new(), |(file, line)| format!("@{file}:{line}"));
                    path.insert(
                        0,
                        format!("{}{line}", definitions.regions.get(context.region).unwrap().name),
                    );
                    at = context.parent;
                }
                format!("{} +{}", path.join("/"), unwind_distance - 1)
            }
            Event::CallingContextLeave { .. } => "-".to_owned(),
            Event::MpiSend { receiver, msg_tag, msg_length, communicator: of } => {
                format!("send {receiver} {msg_tag} {msg_length} {}", communicator(of))
            }
            Event::MpiIsend { receiver, msg_tag, request_id, .. } => {
                format!("isend {receiver} {msg_tag} r{request_id}")
            }
            Event::MpiIsendComplete { request_id } => format!("sent r{request_id}"),
            Event::MpiIrecvRequest { request_id } => format!("post r{request_id}"),
            Event::MpiRecv { sender, msg_tag, communicator: of, .. } => {
                format!("recv {sender} {msg_tag} {}", communicator(of))
            }
            Event::MpiIrecv { sender, msg_tag, request_id, communicator: of, .. } => {
                format!("irecv {sender} {msg_tag} r{request_id} {}", communicator(of))
            }
            Event::MpiCollectiveBegin {} => "begin".to_owned(),
            Event::MpiCollectiveEnd { root, size_sent, size_received, communicator: of, .. } => {
                let root =
                    if root == otf2::ROOT_NONE { "no root".to_owned() } else { format!("root {root}") };
                format!("end {root} {size_sent} {size_received} {}", communicator(of))
            }
            Event::Metric { metric_values, .. } => {
                format!(
                    "= {}",
                    metric_values.iter().map(|value| value.bits.to_string()).collect::<Vec<_>>().join(" ")
                )
            }
            other => other.name().to_owned(),
        };
        lines.push(format!("{} {shown}", record.time));
    }
    lines.join("\n")
}
