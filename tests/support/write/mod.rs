//! Writer of a trace as an OTF2 archive, with the definitions that Score-P writes.

mod attributes;
mod definitions;
mod events;
mod names;

use std::path::Path;

use otf2::{Anchor, ArchiveWriter, Attribute, ByteOrder, Definition, Event};

use self::names::Names;
use super::trace::Trace;

const WORLD: u32 = 0;
const SELF: u32 = 1;
/// The team of rank 0; those of other ranks follow the communicators of the script.
const TEAM: u32 = 2;

/// An event with its time and its attributes.
type Written = (u64, Event<'static>, Vec<Attribute>);

/// The anchor of archives that tests write.
pub(crate) fn anchor(big_endian: bool) -> Anchor {
    let byte_order = if big_endian { ByteOrder::Big } else { ByteOrder::Little };
    Anchor { byte_order, creator: "test".into(), ..Anchor::default() }
}

/// Writes the archive `directory/traces.otf2`.
pub(crate) fn write(trace: &Trace, directory: &Path) {
    let mut archive = ArchiveWriter::create(directory.join("traces.otf2"), anchor(trace.big_endian)).unwrap();
    let mut names = Names::default();
    names.collect(trace);
    let streams: Vec<Vec<Written>> = trace.streams.iter().map(|stream| names.events(trace, stream)).collect();

    let length = streams.iter().flatten().map(|event| event.0).max().unwrap_or(0);
    define(
        &mut archive,
        Definition::ClockProperties {
            timer_resolution: trace.resolution,
            global_offset: trace.offset,
            trace_length: length.saturating_sub(trace.offset),
            realtime_timestamp: u64::MAX,
        },
    );
    names.define(&mut archive, trace, &streams);
    for (stream, events) in trace.streams.iter().zip(&streams) {
        let mut writer = archive.events(stream.reference()).unwrap();
        for (time, event, attributes) in events {
            writer.write(*time, *event, attributes.as_slice().into()).unwrap();
        }
        writer.finish().unwrap();
        names.define_locally(&archive, trace, stream);
    }
    archive.finish().unwrap();
    for stream in &trace.streams {
        let path = directory.join(format!("traces/{}.evt", stream.reference()));
        if stream.missing {
            std::fs::remove_file(&path).unwrap();
        } else if stream.cut > 0 {
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(&path, &bytes[..bytes.len() - stream.cut as usize]).unwrap();
        }
    }
}

fn define(archive: &mut ArchiveWriter, definition: Definition<'_>) {
    archive.define(definition).unwrap();
}

fn processes(trace: &Trace) -> u32 {
    trace.streams.iter().map(|stream| stream.rank + 1).max().unwrap_or(0)
}

/// The communicator of a rank's team.
fn team_of(trace: &Trace, rank: u32) -> u32 {
    if rank == 0 { TEAM } else { TEAM + trace.communicators.len() as u32 + rank }
}
