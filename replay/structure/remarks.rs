//! Findings about the structure: locations whose loops cannot all be found, and iterations that do not correspond
//! (structure 2.3, 2.10).

use super::agree::{Agreed, Cursor};
use super::meetings::{CallAt, Meetings, Side};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::findings::{Finding, Findings};
use crate::tools::Tools;

/// Adds the findings about the locations of this worker. `is_notable` says that the loop is worth describing: of others it does not
/// matter whether iterations correspond.
///
/// # Errors
/// If a worker failed.
pub(super) fn add(
    tools: &Tools<'_>,
    meetings: &Meetings<'_>,
    (agreed, is_notable): (&Agreed, bool),
    findings: &mut Findings,
    exchange: &mut dyn Exchange,
) -> Result<(), Error> {
    for line in agreed.locations.iter().filter(|line| line.is_irregular) {
        let (time, steps) = line.own.first().map_or((0, 0), |own| (own.begin, own.behind - own.first));
        findings.add(Finding::IrregularStructure, time, line.location as usize, || {
            format!("the first iteration found has {steps} calls of MPI")
        });
    }
    if !is_notable || agreed.correspondence.holds() {
        return Ok(());
    }
    let (lines, count) = (&agreed.locations, agreed.iterations);
    let mut cursor = Cursor::new(lines);
    let mut of_call = |CallAt { location, enter }: CallAt| {
        let found = cursor.place(lines, location, enter);
        let number = found.map_or(0, |(line, place)| line.number_of_all(place, count));
        [number, enter.cast_unsigned()]
    };
    let iteration = |number: u64| match number {
        0 => "in no iteration".to_owned(),
        number => format!("in iteration {number}"),
    };
    let mut add = |one: Side<2>, other: Side<2>, what: &str| {
        findings.add(Finding::DifferentIterations, one.words[1].cast_signed(), one.location as usize, || {
            let location = tools.trace.location_name(other.location as usize);
            format!("a {what} {}, {} on {location}", iteration(one.words[0]), iteration(other.words[0]))
        });
    };
    meetings.at_messages(&mut of_call, exchange, |[receiver, sender]| {
        if receiver.words[0] != sender.words[0] {
            add(receiver, sender, "message received");
        }
    })?;
    meetings.at_collectives(of_call, exchange, |members| {
        if let Some(&other) = members.iter().find(|member| member.words[0] != members[0].words[0]) {
            add(members[0], other, "collective operation");
        }
    })
}
