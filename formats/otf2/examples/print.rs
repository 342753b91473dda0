//! Prints an archive, one line per record: `cargo run -p otf2 --example print -- traces.otf2`.
//!
//! Global definitions first, then location by location the local definitions and the events. Events have
//! their position, their time on the global clock in ticks, and global references.

use otf2::{Archive, Definition, Error};
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: print <anchor file or directory>");
        return ExitCode::from(2);
    };
    let mut out = BufWriter::new(io::stdout().lock());
    match Archive::open(path).and_then(|archive| print(&archive, &mut out)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(cause)) if cause.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Ok(Err(cause)) => failure(&mut out, &cause),
        Err(error) => failure(&mut out, &error),
    }
}

fn failure(out: &mut impl Write, error: &dyn std::error::Error) -> ExitCode {
    let _ = out.flush();
    eprintln!("print: {error}");
    ExitCode::FAILURE
}

fn print(archive: &Archive, out: &mut impl Write) -> Result<io::Result<()>, Error> {
    let mut locations = Vec::new();
    let file = archive.definition_file()?;
    let mut definitions = archive.definition_records(&file);
    while let Some(record) = definitions.next()? {
        if let Definition::Location { reference, .. } = record.definition {
            locations.push(reference);
        }
        if let Err(cause) = writeln!(out, "{:?}", record.definition) {
            return Ok(Err(cause));
        }
    }
    for location in locations {
        if let Err(cause) = print_location(archive, location, out)? {
            return Ok(Err(cause));
        }
    }
    Ok(out.flush())
}

fn print_location(archive: &Archive, location: u64, out: &mut impl Write) -> Result<io::Result<()>, Error> {
    let mut local = archive.local_definitions(location)?;
    let file = archive.event_file(location)?;
    let mut events = archive.events(&file);
    while let Some(record) = events.next()? {
        let (position, time) = (record.position, local.clock.correct(record.time));
        let event = record.event.map(&local.mappings);
        let mut line = format!("{location} {position} {time} {event:?}");
        for attribute in record.attributes {
            line += &format!(" {:?}", attribute.map(&local.mappings));
        }
        if let Err(cause) = writeln!(out, "{line}") {
            return Ok(Err(cause));
        }
    }
    Ok(Ok(()))
}
