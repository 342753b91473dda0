//! The table `master`: ranks that hand out tasks to others (advice 4.5; what-if 6).

use model::Ticks;
use rules::Type;

use super::Known;
use super::names::words;
use super::table::{Field, Of, RowTable, RowsAre};
use crate::ids::ReportPath;
use crate::tools::Tools;
use crate::what_if::Master;

/// A master with its workers.
#[derive(Clone, Copy, Debug)]
pub(super) struct MasterRow {
    path: ReportPath,
    region: u32,
    rank: i64,
    workers: i64,
    tasks: i64,
    service: Ticks,
    work: Ticks,
    measured: Ticks,
    idle: Ticks,
    last: Ticks,
    is_alone: bool,
}

/// The table.
pub(super) const MASTERS: RowTable<MasterRow> = RowTable {
    name: "master",
    about: "a rank that hands out tasks to workers, at the call path that sends most of them",
    rows: RowsAre::Plain,
    site: |row| (row.path, row.region),
    fields: &[
        Field { name: "rank", kind: Type::Rank, about: "its rank", of: Of::Whole(|it| it.rank) },
        Field {
            name: "workers",
            kind: Type::Count,
            about: "how many workers it has",
            of: Of::Whole(|it| it.workers),
        },
        Field {
            name: "tasks",
            kind: Type::Count,
            about: "tasks that were done",
            of: Of::Whole(|it| it.tasks),
        },
        Field {
            name: "service",
            kind: Type::Time,
            about: "the time that it takes for a task",
            of: Of::Whole(|it| it.service),
        },
        Field {
            name: "work",
            kind: Type::Time,
            about: "the time of all tasks at their workers",
            of: Of::Whole(|it| it.work),
        },
        Field {
            name: "measured",
            kind: Type::Time,
            about: "the time from the first task to the last result",
            of: Of::Whole(|it| it.measured),
        },
        Field {
            name: "idle",
            kind: Type::Time,
            about: "from the last result of each worker to the last of all, of all workers",
            of: Of::Whole(|it| it.idle),
        },
        Field {
            name: "last",
            kind: Type::Time,
            about: "the time of the tasks whose results came last",
            of: Of::Whole(|it| it.last),
        },
        Field {
            name: "is_alone",
            kind: Type::Bool,
            about: "whether all other ranks are its workers",
            of: Of::Flag(|it| it.is_alone),
        },
    ],
};

/// The rows of all masters.
pub(super) fn rows(tools: &Tools<'_>, known: Known<'_>, ranks: u64) -> Vec<MasterRow> {
    known.timed.masters().iter().filter_map(|master| row(tools, known, ranks, master)).collect()
}

fn row(tools: &Tools<'_>, known: Known<'_>, ranks: u64, master: &Master) -> Option<MasterRow> {
    // Processes may have the program under another name.
    let (_, inside) = master.sends_in.split_once('/')?;
    let path = known.paths.all().find(|&path| words(tools, known.paths, path) == inside)?;
    Some(MasterRow {
        path,
        region: known.paths.region(path),
        rank: master.rank.into(),
        workers: master.workers.len() as i64,
        tasks: i64::try_from(master.tasks).unwrap_or(i64::MAX),
        service: master.service.unwrap_or(rules::ABSENT),
        work: master.work,
        measured: master.measured,
        idle: master.idle,
        last: master.last,
        is_alone: master.workers.len() as u64 + 1 == ranks,
    })
}
