//! Evidence that is only there while operations are: whose messages came late, and whether they went both ways (advice 4.2).

use std::collections::BTreeMap;

use model::Ticks;
use rules::{Rows, Totals, Values};
use rustc_hash::FxHashSet;

use super::bounds::waited;
use super::tables::Tables;
use super::{Bounds, Known};
use crate::error::Error;
use crate::exchange::{Batch, Exchange};
use crate::ids::{PathId, ReportPath};
use crate::int::{to_u32, to_usize};
use crate::matching::Matches;
use crate::tools::Tools;
use crate::wait_states::WaitingMessages;
use crate::walk::Walked;
use crate::wire::{self, Wire, wire};

/// Waiting of the receivers of late messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Waited {
    messages: u64,
    ticks: Ticks,
    /// The part of it in messages whose receiver sends to their sender, too.
    two_way: Ticks,
}

/// Late messages of a process of this worker: by the call path that waits, the process that sent, and the call path there.
type LateMessages = BTreeMap<(PathId, u32, PathId), Waited>;

/// What is known of the messages of a worker's processes, in their order.
#[derive(Clone, Debug, Default)]
pub struct Evidence(Vec<LateMessages>);

/// Late messages of a pair of call paths, at the process that sent.
#[derive(Clone, Copy, Debug)]
struct LateSends {
    process: u32,
    sent_in: PathId,
    waiting_in: u64,
    /// Whether the receiver hands out work to others.
    to_master: u64,
    waited: Waited,
}

/// A row: who sent late messages, in which call paths of the report, and whether their receivers hand out work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    rank: i64,
    sent_in: ReportPath,
    waiting_in: ReportPath,
    to_master: bool,
}

wire!(Waited { messages, ticks, two_way });
wire!(LateSends { [process, sent_in], waiting_in, to_master, waited });

impl Evidence {
    /// Collects from the next process, once its wait states are known.
    pub fn collect(
        &mut self,
        tools: &Tools<'_>,
        walked: &Walked,
        matches: &Matches,
        waiting: &WaitingMessages,
    ) {
        let operations = &walked.operations;
        let sent_to: FxHashSet<u32> = operations.destinations.list().iter().map(|it| it.peer).collect();
        let mut late = LateMessages::new();
        for (at, call, ticks) in waiting.for_senders(operations) {
            let Some(send) = matches.sends.get(at as usize) else { continue };
            let process = to_u32(tools.process_of(send.place.location));
            let waited = late.entry((operations.site(call).path, process, send.place.path)).or_default();
            waited.messages += 1;
            waited.ticks = waited.ticks.saturating_add(ticks);
            if sent_to.contains(&process) {
                waited.two_way = waited.two_way.saturating_add(ticks);
            }
        }
        self.0.push(late);
    }

    /// Adds rows of late sends, each at the worker of the process that sent.
    ///
    /// # Errors
    /// If a worker failed.
    pub(super) fn scan(
        &self,
        tools: &Tools<'_>,
        (known, bounds): (Known<'_>, &Bounds),
        tables: Tables<'_>,
        totals: &mut Totals,
        exchange: &mut dyn Exchange,
    ) -> Result<(), Error> {
        let mut outgoing = vec![Batch::new(); exchange.workers()];
        let masters = known.timed.master_ranks();
        for ((late, numbers), receiver) in self.0.iter().zip(&known.paths.numbers).zip(known.processes) {
            let rank = tools.trace.processes[receiver.number].rank.map_or(rules::ABSENT, i64::from);
            let to_master = u64::from(masters.contains(&rank));
            for (&(waiting_in, process, sent_in), &waited) in late {
                let Some(path) = numbers.get(waiting_in.index()).filter(|path| !path.is_none()) else {
                    continue;
                };
                let waiting_in = path.index() as u64;
                LateSends { process, sent_in, waiting_in, to_master, waited }
                    .put(&mut outgoing[tools.owners.of(process as usize)]);
            }
        }
        let first = known.processes.first().map_or(0, |process| process.number);
        let mut rows = BTreeMap::<Key, Waited>::new();
        for batch in exchange.exchange(outgoing)? {
            for LateSends { process, sent_in, waiting_in, to_master, waited } in
                wire::all::<LateSends>(&batch)
            {
                let Some(numbers) = known.paths.numbers.get((process as usize).wrapping_sub(first)) else {
                    continue;
                };
                let Some(&path) = numbers.get(sent_in.index()).filter(|path| !path.is_none()) else {
                    continue;
                };
                let rank = tools.trace.processes[process as usize].rank.map_or(rules::ABSENT, i64::from);
                let waiting_in = ReportPath::new(to_usize(waiting_in));
                let key = Key { rank, sent_in: path, waiting_in, to_master: to_master == 1 };
                let sum = rows.entry(key).or_default();
                sum.messages += waited.messages;
                sum.ticks = sum.ticks.saturating_add(waited.ticks);
                sum.two_way = sum.two_way.saturating_add(waited.two_way);
            }
        }
        let of = |value: &dyn Fn(&Key, &Waited) -> i64| {
            rows.iter().map(|(key, waited)| value(key, waited)).collect::<Vec<i64>>()
        };
        let paths = of(&|key, _| key.sent_in.index() as i64);
        let regions = of(&|key, _| known.paths.region(key.sent_in).into());
        let ranks = of(&|key, _| key.rank);
        let waiting_in = of(&|key, _| key.waiting_in.index() as i64);
        let messages = of(&|_, waited| waited.messages.cast_signed());
        let waiting = of(&|_, waited| waited.ticks);
        let two_way = of(&|_, waited| waited.two_way);
        let is_master: Vec<u8> = ranks.iter().map(|rank| u8::from(masters.contains(rank))).collect();
        let columns = [&paths, &regions, &paths, &ranks, &waiting_in, &messages, &waiting, &two_way];
        let to_master: Vec<u8> = rows.keys().map(|key| u8::from(key.to_master)).collect();
        let waits = known.processes.iter().zip(known.results).filter_map(|(process, results)| {
            let rank = i64::from(tools.trace.processes[process.number].rank?);
            Some((rank, waited(tools, &results.severities[0])))
        });
        let waits: BTreeMap<i64, Ticks> = waits.collect();
        let share = |rank: &i64| waits.get(rank).copied().unwrap_or(0) as f64 / bounds.run.max(1) as f64;
        let idle: Vec<f64> = ranks.iter().map(share).collect();
        let flags = [&is_master, &to_master].map(|flags| Values::Flags(flags));
        let columns = columns.map(|values| Values::Whole(values)).into_iter().chain(flags);
        let columns: Vec<Values<'_>> = columns.chain([Values::Numbers(&idle)]).collect();
        tables.add("late_send", Rows { count: rows.len(), columns: &columns }, totals);
        Ok(())
    }
}
