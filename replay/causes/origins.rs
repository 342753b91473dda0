//! Origins of severe waits: what the cause did most in excess, and how much of a wait it has not passed on.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::Ticks;

use super::lines::Lines;
use super::sides::{Causes, Waits};
use super::work;
use crate::details::instances::SelectedWait;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::ids::ReportPath;
use crate::int::truncated;
use crate::journal::Spot;
use crate::tools::Tools;
use crate::wire::wire;

/// What is known of the cause of a severe wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Origin {
    /// Position of the wait among those that are asked about.
    pub(super) wait: usize,
    /// The call path of the report with most excess time; none if there is no excess.
    pub(super) path: ReportPath,
    /// Ticks of the wait that were not caused by earlier waiting, if it waits for a message.
    pub(super) direct: Option<Ticks>,
}

wire!(Origin { wait, path, direct });

/// Finds the origins of those waits whose cause is at this worker.
///
/// # Errors
/// If a worker failed.
pub(super) fn find(
    tools: &Tools<'_>,
    asked: &[SelectedWait],
    (waits, causes): (&Waits, &Causes),
    lines: &mut Lines,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Origin>, Error> {
    // Two wait states may have the same delay.
    let mut of_cause: BTreeMap<u32, Vec<Origin>> = BTreeMap::new();
    for (number, wait) in asked.iter().enumerate() {
        let cause = wait.instance.cause.location;
        if tools.owner_of(cause) != exchange.worker() {
            continue;
        }
        let waiting =
            Spot { location: wait.both.waiting.location, position: wait.both.waits_at.in_journal() };
        let causing = Spot { location: cause, position: wait.both.cause_at.in_journal() };
        let line = lines.at(cause);
        let mut here = causes.at(line, causing.position);
        let is_it = |&at: &u32| causes.list[at as usize].delay.waiting == waiting;
        let Some(at) = here.find(is_it) else { continue };
        let cause = &causes.list[at as usize];
        let indirect = cause.scale * lines.line(line).waiting(cause.past) as f64;
        let direct = (cause.delay.wait - truncated(indirect.round())).clamp(0, cause.delay.wait.max(0));
        let direct = cause.delay.class.is_of_messages().then_some(direct);
        of_cause.entry(at).or_default().push(Origin { wait: number, path: ReportPath::NONE, direct });
    }
    let numbers: Vec<u32> = of_cause.keys().copied().collect();
    let numbers = numbers.into_iter();
    work::compare_again(
        lines,
        (waits, causes),
        numbers,
        |_, _| true,
        exchange,
        |lines, number, excess| {
            let paths = lines.paths(lines.at(causes.list[number as usize].delay.causing.location));
            let most = excess.iter().map(|&(row, ticks)| (ticks, Reverse(paths[row.index()]))).max();
            if let Some((_, Reverse(path))) = most {
                of_cause.entry(number).or_default().iter_mut().for_each(|origin| origin.path = path);
            }
        },
    )?;
    Ok(of_cause.into_values().flatten().collect())
}
