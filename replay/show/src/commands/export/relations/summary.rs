//! Tables of the analyzer's summary: totals, culprits, findings and coverage.

use super::Kind::{Double, Int32, Int64, Text};
use super::{Cell, Column, Take, TakeRow, column, optional, text, unsigned};
use crate::commands::export::source::Source;
use crate::error::Result;

pub(super) fn give(source: &Source<'_>, take: &mut dyn Take) -> Result<()> {
    let Some(manifest) = &source.opened.manifest else { return Ok(()) };
    let summary = &manifest.summary;
    let in_seconds = |name| Column { unit: "s", ..column(name, Double) };

    let columns = [column("key", Text), column("value", Double), column("text", Text)];
    let rows = |row: &mut TakeRow<'_>| {
        let texts = [
            ("program", &manifest.program),
            ("recorder", &manifest.recorder),
            ("semantics", &manifest.semantics),
        ];
        for (key, value) in texts {
            row(&[text(key), Cell::Nothing, text(&**value)])?;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of things, far below 2^53")]
        let numbers = [
            ("ranks", Some(manifest.ranks as f64)),
            ("locations", Some(manifest.locations as f64)),
            ("threads", Some(manifest.threads as f64)),
            ("nodes", Some(manifest.nodes as f64)),
            ("ticks_per_second", Some(manifest.ticks_per_second as f64)),
            ("analysed_locations", Some(summary.locations as f64)),
            ("run", Some(summary.run)),
            ("length", Some(summary.length)),
            ("not_recorded", Some(summary.not_recorded)),
            ("mpi", Some(summary.mpi)),
            ("waiting", Some(summary.waiting)),
            ("costs", summary.costs),
            ("recorder_costs", Some(summary.recorder_costs)),
            ("clock_error", Some(summary.clocks.error)),
        ];
        for (key, value) in numbers {
            row(&[text(key), optional(value, Cell::Double), Cell::Nothing])?;
        }
        Ok(())
    };
    take.table("summary", &columns, Box::new(rows))?;

    let columns = [
        column("cnode", Int32),
        column("path", Text),
        column("place", Text),
        column("kind", Text),
        in_seconds("seconds"),
        column("site", Text),
        column("victims", Text),
        column("is_critical", Int32),
        column("is_unexplained", Int32),
        column("more_work", Double),
    ];
    let rows = |row: &mut TakeRow<'_>| {
        summary.culprits.iter().try_for_each(|culprit| {
            row(&[
                unsigned(culprit.cnode.into()),
                text(&*culprit.call_path),
                text(&*culprit.place),
                text(&*culprit.kind),
                Cell::Double(culprit.seconds),
                optional(culprit.site.clone(), text),
                optional(culprit.victims.clone(), |victims| text(victims.text)),
                unsigned(culprit.is_critical.into()),
                unsigned(culprit.is_unexplained.into()),
                optional(culprit.more_work, Cell::Double),
            ])
        })
    };
    take.table("culprits", &columns, Box::new(rows))?;

    let columns = [
        column("class", Text),
        column("name", Text),
        column("count", Int64),
        column("meaning", Text),
        column("example", Text),
    ];
    let rows = |row: &mut TakeRow<'_>| {
        summary.findings.iter().try_for_each(|finding| {
            row(&[
                text(&*finding.class),
                text(&*finding.name),
                unsigned(finding.count),
                text(&*finding.meaning),
                text(&*finding.example),
            ])
        })
    };
    take.table("findings", &columns, Box::new(rows))?;

    let columns = [column("fate", Text), in_seconds("seconds")];
    let rows = |row: &mut TakeRow<'_>| {
        summary
            .coverage
            .iter()
            .try_for_each(|coverage| row(&[text(&*coverage.fate), Cell::Double(coverage.seconds)]))
    };
    take.table("coverage", &columns, Box::new(rows))
}
