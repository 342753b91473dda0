//! Decodes an archive and writes it again: `cargo run -p otf2 --example reencode -- traces.otf2 new/traces.otf2`.
//!
//! The new archive equals the old one byte by byte if the old one was written by OTF2 2.0 or later. With a third
//! argument `big` or `little` it is written in that byte order.

use otf2::{Anchor, Archive, ArchiveWriter, ByteOrder, Definition, Error};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (from, to, order) = match &arguments[..] {
        [from, to] => (from, to, None),
        [from, to, order] if order == "big" => (from, to, Some(ByteOrder::Big)),
        [from, to, order] if order == "little" => (from, to, Some(ByteOrder::Little)),
        _ => {
            eprintln!("usage: reencode <anchor file or directory> <new anchor file> [big|little]");
            return ExitCode::from(2);
        }
    };
    match reencode(from, to, order) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("reencode: {error}");
            ExitCode::FAILURE
        }
    }
}

fn reencode(from: &str, to: &str, order: Option<ByteOrder>) -> Result<(), Error> {
    let archive = Archive::open(from)?;
    let byte_order = order.unwrap_or(archive.anchor().byte_order);
    let mut writer = ArchiveWriter::create(to, Anchor { byte_order, ..archive.anchor().clone() })?;
    let mut locations = Vec::new();
    let file = archive.definition_file()?;
    let mut definitions = archive.definition_records(&file);
    while let Some(record) = definitions.next()? {
        if let Definition::Location { reference, .. } = record.definition {
            locations.push(reference);
        }
        writer.define(record.definition)?;
    }
    for location in locations {
        local_definitions(&archive, &writer, location)?;
        let file = archive.event_file(location)?;
        let mut events = archive.events(&file);
        let mut copy = writer.events(location)?;
        while let Some(record) = events.next()? {
            copy.write(record.time, record.event, record.attributes)?;
        }
        copy.finish()?;
    }
    writer.finish()
}

fn local_definitions(archive: &Archive, writer: &ArchiveWriter, location: u64) -> Result<(), Error> {
    let file = match archive.local_definition_file(location) {
        Err(error) if error.is_not_found() => return Ok(()),
        file => file?,
    };
    let mut definitions = archive.local_definition_records(&file);
    let mut copy = writer.local_definitions(location)?;
    while let Some(record) = definitions.next()? {
        copy.write(record.definition)?;
    }
    copy.finish()
}
