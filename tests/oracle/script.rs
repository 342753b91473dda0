//! Writer of traces as readable scripts (`tests/golden/README.md`).

use std::fmt::Write;

use model::{CollectiveOp, Paradigm, attributes};

use crate::support::trace::{AtWindow, Members, Message, OfFile, Step, Trace};

/// The script of a trace.
pub(crate) fn script(trace: &Trace) -> String {
    let mut text = format!("resolution {}\noffset {}\n", trace.resolution, trace.offset);
    if trace.big_endian {
        text.push_str("big-endian\n");
    }
    if let Some(program) = &trace.program {
        writeln!(text, "program {program}").unwrap();
    }
    let list = |ranks: &[u64]| ranks.iter().map(|rank| rank.to_string()).collect::<Vec<_>>().join(" ");
    for (name, members) in &trace.communicators {
        match members {
            Members::Ranks(ranks) => writeln!(text, "comm {name} {}", list(ranks)).unwrap(),
            Members::Sides(a, b) => writeln!(text, "intercomm {name} {} | {}", list(a), list(b)).unwrap(),
        }
    }
    for (name, communicator) in &trace.windows {
        writeln!(text, "window {name} {communicator}").unwrap();
    }
    for (name, communicator) in &trace.files {
        writeln!(text, "file {name} {}", communicator.as_deref().unwrap_or("")).unwrap();
    }
    for stream in &trace.streams {
        write!(text, "rank {}", stream.rank).unwrap();
        if stream.thread > 0 {
            write!(text, " thread {}", stream.thread).unwrap();
        }
        if let Some(id) = stream.id {
            write!(text, " id {id}").unwrap();
        }
        for (time, offset) in &stream.clock {
            write!(text, " clock {time} {offset}").unwrap();
        }
        for (property, word) in [(stream.mapped, " mapped"), (stream.missing, " missing")] {
            text.push_str(if property { word } else { "" });
        }
        text.push('\n');
        for (time, step) in &stream.events {
            writeln!(text, "  {time} {}", words(trace, step)).unwrap();
        }
    }
    text
}

fn name(model: Paradigm) -> String {
    model.name().unwrap_or("?").replace(' ', "_")
}

fn operation_and_root(operation: CollectiveOp, root: Option<u32>) -> String {
    let name = operation.name().unwrap_or("?").replace(' ', "_");
    name + &root.map_or(String::new(), |root| format!(" root {root}"))
}

fn attribute(trace: &Trace, &(name, value): &(&str, u64)) -> String {
    let communicator = || match value {
        0 => "world",
        1 => "self",
        _ => &trace.communicators[value as usize - 2].0,
    };
    match name {
        attributes::UNRECORDED => format!("unrecorded {value}"),
        attributes::POSTED => format!("posted {value}"),
        attributes::DISORDERED => "disordered".into(),
        attributes::COUNTED if value == 2 => "whole".into(),
        attributes::COUNTED => "counted".into(),
        attributes::PROBE_SOURCE => format!("source {value}"),
        attributes::PROBE_TAG => format!("tag {value}"),
        attributes::PROBE_COMM => format!("comm {}", communicator()),
        attributes::NEIGHBORS_IN => format!("in {}", communicator()),
        attributes::NEIGHBORS_OUT => format!("out {}", communicator()),
        attributes::PERSISTENT_OPERATION => format!("persistent {value}"),
        attributes::PARTITIONED => format!("partitioned {value}"),
        attributes::FILE => format!("file {}", trace.files[value as usize].0),
        _ => panic!("no words for {name}"),
    }
}

fn words(trace: &Trace, step: &Step) -> String {
    let parts = |m: &Message| format!("tag {} bytes {} comm {}", m.tag, m.bytes, m.communicator);
    match step {
        Step::Enter(region) => format!("> {region}"),
        Step::Leave => "<".into(),
        Step::LeaveRegion(region) => format!("< {region}"),
        Step::Send(m) => format!("send {} {}", m.peer, parts(m)),
        Step::Isend(m, request) => format!("isend {} req {request} {}", m.peer, parts(m)),
        Step::IsendComplete(request) => format!("sent {request}"),
        Step::IrecvRequest(request) => format!("post {request}"),
        Step::Recv(m) => format!("recv {} {}", m.peer, parts(m)),
        Step::Irecv(m, request) => format!("irecv {} req {request} {}", m.peer, parts(m)),
        Step::Test(request) => format!("test {request}"),
        Step::Cancel(request) => format!("cancel {request}"),
        Step::Probe(m, message) => format!("probe {} msg {message} {}", m.peer, parts(m)),
        Step::Mrecv { message, bytes } => format!("mrecv {message} bytes {bytes}"),
        Step::ImrecvRequest { message, request } => format!("mpost {message} req {request}"),
        Step::Imrecv { request, bytes } => format!("imrecv {request} bytes {bytes}"),
        Step::CommCreate(communicator) => format!("created {communicator}"),
        Step::CollectiveBegin => "begin".into(),
        Step::CollectiveEnd { operation, root, sent, received, communicator } => {
            let what = operation_and_root(*operation, *root);
            format!("end {what} sent {sent} received {received} comm {communicator}")
        }
        Step::WindowCollectiveBegin => "wbegin".into(),
        Step::Window(window, event) => format!("{} win {window}", at_window(event)),
        Step::File(file, event) => match event {
            OfFile::Create => format!("create {file}"),
            OfFile::Destroy => format!("destroy {file}"),
            OfFile::Begin { operation, mode, flags, .. } => {
                format!("transfer {file} id {operation} mode {mode} flags {flags}")
            }
            OfFile::Complete(operation, _) => format!("transferred {file} id {operation}"),
            OfFile::Cancel(operation) => format!("cancelled {file} id {operation}"),
            OfFile::Seek(to) => format!("seek {file} to {to}"),
        },
        Step::NonBlockingRequest(request) => format!("istart {request}"),
        Step::NonBlockingComplete { operation, root, sent, received, communicator, request } => {
            let what = operation_and_root(*operation, *root);
            format!("idone {what} req {request} sent {sent} received {received} comm {communicator}")
        }
        Step::Fork => "fork".into(),
        Step::Join => "join".into(),
        Step::TeamBegin => "team".into(),
        Step::TeamEnd => "team-end".into(),
        Step::TaskCreate(creator, task) => format!("task-create {task} of {creator}"),
        Step::TaskSwitch(creator, task) => format!("task-switch {task} of {creator}"),
        Step::TaskComplete(creator, task) => format!("task-complete {task} of {creator}"),
        Step::Acquire { model, lock, order } => {
            format!("acquire {lock} order {order} model {}", name(*model))
        }
        Step::Release { model, lock, order } => {
            format!("release {lock} order {order} model {}", name(*model))
        }
        Step::WithAttributes(step, told) => {
            let told: Vec<String> = told.iter().map(|it| attribute(trace, it)).collect();
            format!("with {} : {}", told.join(" "), words(trace, step))
        }
        Step::Recording(on) => (if *on { "on" } else { "off" }).into(),
        Step::Flush { until } => format!("flush {until}"),
        other => panic!("no words for {other:?}"),
    }
}

fn at_window(event: &AtWindow) -> String {
    let rank = |target: &Option<u32>| target.map_or("all".into(), |rank| rank.to_string());
    match event {
        AtWindow::CollectiveEnd(operation) => format!("wend {}", operation_and_root(*operation, None)),
        AtWindow::GroupSync { group, level } => format!("group-sync {group} level {level}"),
        AtWindow::RequestLock { target, is_shared } => {
            format!("lock {}{}", rank(target), if *is_shared { " kind shared" } else { "" })
        }
        AtWindow::ReleaseLock { target } => format!("unlock {}", rank(target)),
        AtWindow::Put { target, bytes } => format!("put {target} bytes {bytes}"),
        AtWindow::Get { target, bytes } => format!("get {target} bytes {bytes}"),
        AtWindow::Atomic { target, sent, received } => {
            format!("atomic {target} sent {sent} received {received}")
        }
        AtWindow::Complete(accesses) => format!("accessed {accesses}"),
    }
}
