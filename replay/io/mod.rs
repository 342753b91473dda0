//! The model of file I/O of a trace (`docs/io.md`): what `io_model` makes of the records of files.
//!
//! ```text
//!   records ─► feed, one for each process ─► ordered transfers ─┬─► simple phases ─► exchange ─► worker 0: phases, families ─► output
//!                                                               └─► transfers ─► exchange ─► a worker for each file: what is inefficient ─┘
//! ```
//!
//! Phases come to worker 0, by rank, and transfers to the worker of their file: so the model has the same bytes for any number of workers.

mod about;
mod asked;
mod costs;
mod defects;
mod exchange;
mod feed;
mod options;
mod ordered;
mod output;

use std::collections::{BTreeMap, BTreeSet};

use io_model::{
    Busiest, FileFacts, Files, Findings, Looked, Model, Observed, Parts, estimates, heat, look_at_transfers,
    phases,
};
use model::FileProperty;

use crate::error::Error;
use crate::exchange::Exchange;
use crate::int::to_u32;
use crate::report_paths::ReportPaths;
use crate::tools::Tools;
use crate::trace::Trace;
use crate::walk::Walked;
use crate::what_if::Nodes;

pub use asked::Asked;
pub(crate) use asked::layer;
pub(crate) use costs::file_costs;
pub use costs::{AllFileCosts, FileCosts};
pub(crate) use feed::{Feed, OpenCall, Spot};
pub use options::{IoOptions, SystemsTable, read_thresholds};
pub use output::{Format, OutputFile};

use exchange::OfRank;

/// What all ranks did to files, at worker 0.
#[derive(Debug)]
pub(crate) struct Gathered {
    parts: Parts,
    observed: Observed,
}

impl Asked {
    /// What all processes did to files, which leaves `walked`: at worker 0, nothing at others. In `walked` metrics get what only all of it
    /// tells.
    ///
    /// # Errors
    /// If a worker failed.
    pub(crate) fn gather(
        &self,
        tools: &Tools<'_>,
        walked: &mut [Walked],
        paths: &ReportPaths,
        exchange: &mut dyn Exchange,
    ) -> Result<Option<Gathered>, Error> {
        let walks = walked.iter_mut().filter_map(|it| Some((it.process.number, it.io.as_deref_mut()?)));
        ordered::place(&mut walks.collect::<Vec<_>>(), tools.trace, exchange)?;
        let own = walked.iter_mut().zip(&paths.numbers).filter_map(|(walked, paths)| {
            let rank = walked.process.number;
            Some(OfRank::new(rank, walked.io.take()?.finish(), paths))
        });
        let mut own: Vec<OfRank> = own.collect();
        let looked = self.look_at_transfers(tools.trace, &mut own, exchange)?;
        defects::add(tools, &looked.sums, walked, exchange)?;
        let looked = exchange::put_together(looked, exchange)?;
        let ranks = exchange::gather(own, exchange)?;
        Ok((exchange.worker() == 0).then(|| self.put_together(tools.trace, ranks, looked)))
    }

    /// Looks at what ranks have moved, which leaves `own`: each worker at some of the files.
    fn look_at_transfers(
        &self,
        trace: &Trace,
        own: &mut [OfRank],
        exchange: &mut dyn Exchange,
    ) -> Result<Looked, Error> {
        let mut files = exchange::spread(own, exchange)?;
        add_properties(trace, &mut files, |file| &mut file.facts);
        let extents = exchange::extents(&files, exchange)?;
        let run = (trace.length(), trace.processes.len() as u64);
        let heat = if self.options.shows_heat() { heat(&extents, run) } else { None };
        Ok(look_at_transfers(&files, &self.options.thresholds, heat))
    }

    /// Puts together what all ranks did, in their order, and what was seen of what they have moved.
    fn put_together(&self, trace: &Trace, ranks: Vec<OfRank>, mut looked: Looked) -> Gathered {
        let mut simple = Vec::new();
        let mut users: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let mut observed = Observed::default();
        let mut parts = Parts {
            resolution: trace.definitions.clock.resolution,
            run: trace.length(),
            findings: Findings::default(),
            ..Parts::default()
        };
        let mut moved: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for OfRank { rank, mut walked } in ranks {
            observed.add(rank, &mut walked);
            for it in &walked.simple {
                let bytes = moved.entry((it.file, rank)).or_default();
                *bytes = bytes.saturating_add(it.bytes());
            }
            simple.extend(walked.simple);
            for (file, facts) in walked.facts {
                users.entry(file).or_default().insert(rank);
                parts.facts.entry(file).or_default().merge(&facts);
            }
            parts.findings.merge(&walked.findings);
        }
        add_properties(trace, &mut parts.facts, |facts| facts);
        parts.files = Files::new(trace.definitions.files.iter().cloned().collect(), &users);
        parts.phases = phases(simple, &parts.files);
        parts.busiest = busiest(&moved, &parts.files);
        parts.bottoms = observed.bottoms();
        observed.add_requests(&mut looked);
        (parts.reads, parts.heat) = (looked.reads, looked.heat);
        parts.findings.merge(&looked.findings);
        Gathered { parts, observed }
    }

    /// The model of what all ranks did; `costs` are what that costs others.
    pub(crate) fn model(&self, trace: &Trace, gathered: Gathered, costs: &AllFileCosts) -> Model {
        let Gathered { parts, observed } = gathered;
        let files = parts.files.clone();
        let mut model = Model::new(parts);
        let options = &self.options;
        let waiting = |family: &str, rank| costs.share(rank, |file| files.family(file) == family);
        let ranks = trace.processes.len() as u64;
        let nodes = Nodes::of_trace(trace).count();
        model.find_inefficiencies(&observed, (ranks, nodes, waiting), &options.thresholds);
        model.estimates = estimates(&model.families, &model.phases, &options.systems, options.by_mean);
        model
    }
}

/// Adds to the facts of files, by their numbers, what the trace says of how large their blocks are.
fn add_properties<T>(trace: &Trace, files: &mut BTreeMap<u32, T>, facts: fn(&mut T) -> &mut FileFacts) {
    for FileProperty { file, name, value } in &trace.definitions.file_properties {
        let Some(facts) = files.get_mut(&to_u32(*file)).map(facts) else { continue };
        match name.as_str() {
            "Stripe Size" => facts.stripe = value.parse().ok(),
            "Block Size" => facts.block = value.parse().ok(),
            _ => {}
        }
    }
}

/// The rank that moves most bytes of each family of files, from bytes by file and rank.
fn busiest(moved: &BTreeMap<(u32, u32), u64>, files: &Files) -> BTreeMap<String, Busiest> {
    let mut families: BTreeMap<&str, BTreeMap<u32, u64>> = BTreeMap::new();
    for (&(file, rank), bytes) in moved {
        let all = families.entry(files.family(file)).or_default().entry(rank).or_default();
        *all = all.saturating_add(*bytes);
    }
    let of_family =
        |(family, bytes): (&str, BTreeMap<u32, u64>)| Some((family.to_owned(), Busiest::new(&bytes)?));
    families.into_iter().filter_map(of_family).collect()
}
