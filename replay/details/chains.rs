//! Table `chains`: for each severe wait, what its cause had waited for, and so on.

use details::manifest::Complete;
use details::{Column, Table, Unit, Values};
use model::Ticks;

use super::instances::SelectedWait;
use crate::causes::Hop;
use crate::wire::Half;

/// Makes the table of the chains of these waits.
pub(super) fn table(waits: &[SelectedWait], chains: &[Vec<Hop>]) -> (Table, Complete) {
    // The call paths of a wait itself are known from its two sides.
    let rows = (0..).zip(waits.iter().zip(chains)).flat_map(|(instance, (wait, hops))| {
        (0..).zip(hops).map(move |(number, hop)| match number {
            0 => (instance, number, Hop { path: wait.paths[0], cause_path: wait.paths[1], ..*hop }),
            _ => (instance, number, *hop),
        })
    });
    let rows: Vec<(u32, u32, Hop)> = rows.collect();
    let numbers = |name: &str, unit: Option<Unit>, of: fn(&(u32, u32, Hop)) -> u32| {
        Column::new(name, unit, Values::U32(rows.iter().map(of).collect()))
    };
    let times = |name: &str, of: fn(&Hop) -> Ticks| {
        Column::new(name, Some(Unit::Tick), Values::I64(rows.iter().map(|row| of(&row.2)).collect()))
    };
    let columns = vec![
        numbers("instance", None, |row| row.0),
        numbers("hop", None, |row| row.1),
        numbers("location", Some(Unit::Location), |row| row.2.location),
        numbers("cnode", Some(Unit::Cnode), |row| row.2.path.to_half()),
        times("begin", |hop| hop.begin),
        times("ticks", |hop| hop.ticks),
        numbers("cause_location", Some(Unit::Location), |row| row.2.cause_location),
        numbers("cause_cnode", Some(Unit::Cnode), |row| row.2.cause_path.to_half()),
        times("cause_time", |hop| hop.cause_time),
    ];
    (Table { name: "chains".into(), columns }, Complete::Is(true))
}
