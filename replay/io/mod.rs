//! The model of file I/O of a trace (`docs/io.md`): what `io_model` makes of the records of files.
//!
//! ```text
//!   records ─► feed, one for each process ─► ordered transfers ─► simple phases ─► exchange ─► worker 0: phases, families ─► output
//! ```
//!
//! Everything comes to worker 0, by rank: so the model has the same bytes for any number of workers.

mod about;
mod asked;
mod costs;
mod exchange;
mod feed;
mod options;
mod ordered;
mod output;

use std::collections::{BTreeMap, BTreeSet};

use io_model::{
    Busiest, Files, Findings, Model, Observed, Parts, Reads, Transfer, estimates, heat, phases, reads,
};

use crate::error::Error;
use crate::exchange::Exchange;
use crate::report_paths::ReportPaths;
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

pub(crate) use exchange::OfRank;

impl Asked {
    /// What all processes did to files, which leaves `walked`: at worker 0, in the order of ranks.
    ///
    /// # Errors
    /// If a worker failed.
    pub(crate) fn gather(
        walked: &mut [Walked],
        trace: &Trace,
        paths: &ReportPaths,
        exchange: &mut dyn Exchange,
    ) -> Result<Vec<OfRank>, Error> {
        let walks = walked.iter_mut().filter_map(|it| Some((it.process.number, it.io.as_deref_mut()?)));
        ordered::place(&mut walks.collect::<Vec<_>>(), trace, exchange)?;
        let own = walked.iter_mut().zip(&paths.numbers).filter_map(|(walked, paths)| {
            let rank = walked.process.number;
            Some(OfRank::new(rank, walked.io.take()?.finish(), paths))
        });
        exchange::gather(own, exchange)
    }

    /// The model of what all ranks did, in their order; `costs` are what that costs others.
    pub(crate) fn model(&self, trace: &Trace, ranks: Vec<OfRank>, costs: &AllFileCosts) -> Model {
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
        parts.files = Files::new(trace.definitions.files.iter().cloned().collect(), &users);
        parts.phases = phases(simple, &parts.files);
        parts.busiest = busiest(&moved, &parts.files);
        parts.bottoms = observed.bottoms();
        let reads_of = |file: &u32| Some((*file, reads_of(&observed.of_file(*file)?)?));
        parts.reads = observed.transfers.keys().filter_map(reads_of).collect();
        parts.heat = heat(&observed.transfers, 0, parts.run, trace.processes.len() as u64);
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

/// What was read of a file, by all ranks; `None` if it is unknown where.
fn reads_of(transfers: &[Transfer]) -> Option<Reads> {
    if transfers.iter().any(|transfer| transfer.size > 0 && transfer.pieces.is_empty()) {
        return None;
    }
    let mut all = Reads::default();
    reads(transfers).values().for_each(|own| all.merge(own));
    Some(all)
}
