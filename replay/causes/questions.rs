//! Questions of the details to root causes: where the severest waits come from.

use std::rc::Rc;

use model::Ticks;

use super::chains::{self, Chain, Hop};
use super::event_times::EventTimes;
use super::lines::Lines;
use super::origins::{self, Origin};
use super::sides::{Causes, Waits};
use super::window_waits::{self, WindowWait};
use crate::details::critical::PathRows;
use crate::details::instances::SelectedWait;
use crate::details::windows::{Limits, Plan};
use crate::error::Error;
use crate::exchange::batch::BatchReader;
use crate::exchange::{Batch, Exchange, gather};
use crate::ids::ReportPath;
use crate::tools::Tools;
use crate::wire::Wire;

/// What the details ask.
#[derive(Clone, Copy, Debug)]
pub struct Questions<'a> {
    /// The severest waits.
    pub waits: &'a [SelectedWait],
    /// How many windows there may be.
    pub limits: Limits<'a>,
}

/// What root causes know about the severest waits, in their order.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// The chain of each, which begins with it; on worker 0.
    pub chains: Vec<Vec<Hop>>,
    /// What the cause of each did most in excess, as a call path of the report; on worker 0.
    pub origins: Vec<ReportPath>,
    /// Ticks of each that were not caused by earlier waiting, of those for messages; on worker 0.
    pub direct: Vec<Option<Ticks>>,
    /// The critical path at the locations of this worker.
    pub critical: PathRows,
    /// The windows around waits.
    pub plan: Plan,
    /// Waits of this worker's locations in windows.
    pub window_waits: Vec<WindowWait>,
}

/// Answers the questions about severe waits, but for the critical path, which is not known yet.
///
/// # Errors
/// If a worker failed.
pub(super) fn answer(
    tools: &Tools<'_>,
    Questions { waits: asked, limits }: Questions<'_>,
    (waits, causes): (&Waits, &Causes),
    (lines, times): (&mut Lines, &EventTimes),
    lists: &[Rc<[u32]>],
    exchange: &mut dyn Exchange,
) -> Result<Answers, Error> {
    let chains = chains::follow(tools, asked, (lines, waits, times), lists, exchange)?;
    let origins = origins::find(tools, asked, (waits, causes), lines, exchange)?;
    let mut batch = Batch::new();
    chains.put(&mut batch);
    origins.put(&mut batch);
    let mut answers = Answers {
        chains: vec![Vec::new(); asked.len()],
        origins: vec![ReportPath::NONE; asked.len()],
        direct: vec![None; asked.len()],
        ..Answers::default()
    };
    for batch in gather(exchange, batch)?.iter().filter(|batch| !batch.is_empty()) {
        let mut reader = BatchReader::new(batch);
        for Chain { wait, hops, .. } in Vec::<Chain>::get(&mut reader) {
            answers.chains[wait] = hops;
        }
        for Origin { wait, path, direct } in Vec::<Origin>::get(&mut reader) {
            (answers.origins[wait], answers.direct[wait]) = (path, direct);
        }
    }
    answers.plan = Plan::of_all(tools, asked, &answers.chains, limits, exchange)?;
    answers.window_waits = window_waits::find(tools, &answers.plan, (lines, waits, times), exchange)?;
    Ok(answers)
}
