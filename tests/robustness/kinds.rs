//! Defects of every kind of record that the analysis reads.

use replay::findings::Finding::{DamagedEvents, UnreadableMapping};

use super::Make::{Hollow, Oversized};
use super::Outcome::{Findings, Message};
use super::make::ArchiveFile;
use super::{Row, Section};

const fn definition(name: &'static str) -> Row {
    let outcome = Message("traces.def", "record: the field at byte");
    Row { defect: name, make: Hollow(ArchiveFile::Definitions, name), outcome }
}

const fn local(name: &'static str) -> Row {
    Row { defect: name, make: Hollow(ArchiveFile::Local, name), outcome: Findings(&[UnreadableMapping]) }
}

const fn event(name: &'static str) -> Row {
    Row { defect: name, make: Hollow(ArchiveFile::Events, name), outcome: Findings(&[DamagedEvents]) }
}

/// An event without length: a single number.
const fn number(name: &'static str) -> Row {
    Row { defect: name, make: Oversized(name), outcome: Findings(&[DamagedEvents]) }
}

pub(super) const SECTION: Section = Section {
    title: "Kinds of records",
    about: "Each kind of record that the analysis looks at, with a length of 0, so that it has none of its fields. Kinds\n\
            that have no length consist of one number, whose size is 9 bytes here.",
    rows: &[
        definition("ClockProperties"),
        definition("String"),
        definition("SystemTreeNode"),
        definition("LocationGroup"),
        definition("Location"),
        definition("Region"),
        definition("Group"),
        definition("Comm"),
        definition("InterComm"),
        definition("SourceCodeLocation"),
        definition("CallingContext"),
        definition("CartDimension"),
        definition("CartTopology"),
        definition("CartCoordinate"),
        local("MappingTable"),
        local("ClockOffset"),
        number("Enter"),
        number("Leave"),
        event("MpiSend"),
        event("MpiIsend"),
        number("MpiIsendComplete"),
        number("MpiIrecvRequest"),
        event("MpiRecv"),
        event("MpiIrecv"),
        number("MpiRequestTest"),
        number("MpiRequestCancelled"),
        event("MpiProbe"),
        event("MpiMrecv"),
        event("MpiImrecvRequest"),
        event("MpiImrecv"),
        event("MpiCollectiveEnd"),
        event("NonBlockingCollectiveRequest"),
        event("NonBlockingCollectiveComplete"),
        event("ThreadFork"),
        event("ThreadJoin"),
        event("ThreadTeamBegin"),
        event("ThreadTeamEnd"),
        event("CallingContextEnter"),
        event("CallingContextLeave"),
        event("CallingContextSample"),
        event("Metric"),
        event("BufferFlush"),
        event("MeasurementOnOff"),
        event("ProgramBegin"),
        event("ProgramEnd"),
    ],
};
