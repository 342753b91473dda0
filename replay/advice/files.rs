//! The table `io`: a row for each operation on a file (advice 5.2).

use rules::{ABSENT, Rules, Type};

use super::sequence::{OfProcess, whole};
use super::table::{Field, Of, RowTable, RowsAre};
use crate::ids::ReportPath;
use crate::walk::FileOperation;

/// An operation on a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileRow {
    path: ReportPath,
    region: u32,
    rank: i64,
    operation: FileOperation,
}

/// The table.
pub(super) const FILES: RowTable<FileRow> = RowTable {
    name: "io",
    about: "an operation that reads or writes a file",
    rows: RowsAre::Plain,
    site: |row| (row.path, row.region),
    fields: &[
        Field { name: "rank", kind: Type::Rank, about: "its rank", of: Of::Whole(|it| it.rank) },
        Field {
            name: "thread",
            kind: Type::Count,
            about: "the number of the thread, 0 for the main one",
            of: Of::Whole(|it| it.operation.thread.into()),
        },
        Field {
            name: "file",
            kind: Type::Text,
            about: "the file",
            of: Of::File(|it| it.operation.file.into()),
        },
        Field {
            name: "is_write",
            kind: Type::Bool,
            about: "whether it writes",
            of: Of::Flag(|it| it.operation.is_write),
        },
        Field {
            name: "is_collective",
            kind: Type::Bool,
            about: "whether all ranks that have opened the file together take part",
            of: Of::Flag(|it| it.operation.is_collective),
        },
        Field {
            name: "bytes",
            kind: Type::Bytes,
            about: "bytes that it moves",
            of: Of::Whole(|it| whole(it.operation.bytes)),
        },
        Field {
            name: "time",
            kind: Type::Time,
            about: "from its begin to its end; absent if the call that begins it does not wait for the end",
            of: Of::Whole(|it| it.operation.time.unwrap_or(ABSENT)),
        },
        Field {
            name: "jump",
            kind: Type::Bytes,
            about: "bytes of what the rank sees of the file between the end of its operation before and the begin of this one; absent where that is not known",
            of: Of::Whole(|it| it.operation.jump.map_or(ABSENT, whole)),
        },
    ],
};

/// Whether any rule is over operations on files.
pub(crate) fn reads_files(rules: &Rules) -> bool {
    rules.over(FILES.name).is_some()
}

/// Gives the rows of a process, in the order of their ends.
pub(super) fn rows(of: OfProcess<'_>, operations: &[FileOperation], mut give: impl FnMut(FileRow)) {
    for &operation in operations {
        if let Some(path) = of.path(operation.path) {
            give(FileRow { path, region: of.paths.region(path), rank: of.rank, operation });
        }
    }
}
