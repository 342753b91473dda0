//! The whole model of a run as JSON (io.md 6), and what of it the other outputs show.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::access::Kind;
use crate::beneath::Bottom;
use crate::bytes::Reads;
use crate::estimate::Estimate;
use crate::facts::FileFacts;
use crate::family::{Family, families};
use crate::files::Files;
use crate::finding::Findings;
use crate::heat::Heat;
use crate::inefficiency::{
    Busiest, Inefficiency, Known, buffered, empty_members, handling_storm, late, nothing_overlaps,
    of_bottoms, of_families, of_file, one_rank, share_of, straggler, syncs, unequal, unused,
};
use crate::ior::{Command, commands};
use crate::mode::Mode;
use crate::numbers::{sum, to_f64};
use crate::observed::Observed;
use crate::phase::Phase;
use crate::thresholds::Thresholds;

/// Version of the format.
pub const VERSION: u32 = 1;

/// Everything about the I/O of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Model {
    /// Version of the format, [`VERSION`].
    pub replay_io: u32,
    /// Ticks of the clock in a second.
    pub resolution: u64,
    /// Length of the run in ticks of the clock.
    pub run: u64,
    /// Similar phases, in the order of their first ones.
    pub families: Vec<Family>,
    /// All phases, in the order of their begin; numbers of families count from 1 on.
    pub phases: Vec<Phase>,
    /// Lines that reproduce each family, by number of its first phase.
    pub ior: BTreeMap<u64, Lines>,
    /// Files by number.
    pub files: BTreeMap<u32, FileEntry>,
    /// What is wrong or unknown.
    pub findings: Findings,
    /// By family of files: the rank that moves most bytes.
    pub busiest: BTreeMap<String, Busiest>,
    /// What is inefficient, the largest cost first.
    pub inefficiencies: Vec<Inefficiency>,
    /// What the run would take elsewhere.
    pub estimates: Vec<Estimate>,
    /// Bytes over time, if transfers were kept.
    pub heat: Option<Heat>,
}

/// How to reproduce a family of phases.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Lines {
    /// A line of IOR for each operation of the pattern.
    pub lines: Vec<String>,
    /// What these do not reproduce, and what is unknown.
    pub remarks: Vec<String>,
}

/// A file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its name.
    pub name: String,
    /// Name of its family.
    pub family: String,
    /// What was done to it.
    pub facts: FileFacts,
    /// Bytes that its family moved by mode.
    pub modes: BTreeMap<Mode, u64>,
    /// What was read of it that need not be, if transfers were kept.
    pub reads: Option<Reads>,
    /// What the MPI library has made of operations, if that was recorded.
    #[serde(default)]
    pub bottoms: Vec<Bottom>,
}

/// What a model is made of.
#[derive(Clone, Default, Debug)]
pub struct Parts {
    /// Ticks of the clock in a second.
    pub resolution: u64,
    /// Length of the run in ticks of the clock.
    pub run: u64,
    /// All phases, in any order.
    pub phases: Vec<Phase>,
    /// Names of files.
    pub files: Files,
    /// What was done to files, of all ranks.
    pub facts: BTreeMap<u32, FileFacts>,
    /// What was read of files, of all ranks, if transfers were kept.
    pub reads: BTreeMap<u32, Reads>,
    /// What operations on files became, of all ranks.
    pub bottoms: BTreeMap<u32, Vec<Bottom>>,
    /// What is wrong or unknown, of all ranks.
    pub findings: Findings,
    /// By family of files: the rank that moves most bytes.
    pub busiest: BTreeMap<String, Busiest>,
    /// Bytes over time, if transfers were kept.
    pub heat: Option<Heat>,
}

impl Model {
    /// The model without estimates.
    pub fn new(mut parts: Parts) -> Model {
        parts.phases.sort_by(|one, other| (one.begin, &one.key).cmp(&(other.begin, &other.key)));
        let mut modes: BTreeMap<&str, BTreeMap<Mode, u64>> = BTreeMap::new();
        for phase in &parts.phases {
            let bytes = modes.entry(&phase.key.family).or_default().entry(phase.mode).or_default();
            *bytes = bytes.saturating_add(phase.weight);
        }
        let entry = |(number, facts): (u32, FileFacts)| {
            let (name, family) = (parts.files.name(number), parts.files.family(number));
            let entry = FileEntry {
                name: name.to_owned(),
                family: family.to_owned(),
                facts,
                modes: modes.get(family).cloned().unwrap_or_default(),
                reads: parts.reads.get(&number).copied(),
                bottoms: parts.bottoms.get(&number).cloned().unwrap_or_default(),
            };
            (number, entry)
        };
        let mut model = Model {
            replay_io: VERSION,
            resolution: parts.resolution,
            run: parts.run,
            families: families(&parts.phases),
            ior: BTreeMap::new(),
            files: parts.facts.into_iter().map(entry).collect(),
            phases: parts.phases,
            findings: parts.findings,
            busiest: parts.busiest,
            inefficiencies: Vec::new(),
            estimates: Vec::new(),
            heat: parts.heat,
        };
        let lines = |family: &Family| {
            let (commands, remarks) = model.commands(family);
            (family.first, Lines { lines: commands.iter().map(ToString::to_string).collect(), remarks })
        };
        model.ior = model.families.iter().map(lines).collect();
        model
    }

    /// Looks for what is inefficient, in what was seen of calls (io.md 5.3). `waiting` tells how long others of so many ranks, on so
    /// many nodes, wait for a rank's I/O on a family of files, as a share of the time of all.
    pub fn find_inefficiencies(
        &mut self,
        observed: &Observed,
        (ranks, nodes, waiting): (u64, u64, impl Fn(&str, u32) -> f64),
        limits: &Thresholds,
    ) {
        let mut all = Vec::new();
        for (family, busiest) in &self.busiest {
            let waiting = waiting(family, busiest.rank);
            all.extend(one_rank(family, busiest, (ranks, waiting), limits));
        }
        for (number, entry) in &self.files {
            let FileEntry { name, facts, modes, reads, bottoms, .. } = entry;
            let known = Known { name, facts, modes, reads: reads.as_ref(), bottoms, run: self.run };
            let requests = observed.requests.get(number);
            all.extend(requests.iter().flat_map(|requests| of_file(requests, &known, limits)));
            all.extend(of_bottoms(name, bottoms, (nodes, self.run), limits));
        }
        for family in &self.families {
            let cost = share_of(family.time, self.run);
            all.extend(family.example(&self.phases).and_then(|phase| empty_members(phase, cost, limits)));
            all.extend(straggler(family.phases(&self.phases), self.run, limits));
        }
        for (name, of) in &of_families(observed, &self.files) {
            for find in [unequal, syncs, handling_storm, unused, buffered, nothing_overlaps] {
                all.extend(find(name, of, self.run, limits));
            }
            all.extend(late(name, of, (self.run, ranks), limits));
        }
        all.sort_by(|one, other| {
            let key = |it: &Inefficiency| (it.flaw, it.concerned, it.of);
            let by_cost = other.cost.total_cmp(&one.cost);
            by_cost.then_with(|| one.file.cmp(&other.file)).then_with(|| key(one).cmp(&key(other)))
        });
        self.inefficiencies = all;
    }

    /// The text.
    pub fn to_json(&self) -> String {
        // Keys are texts and numbers, so nothing can fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the text back.
    ///
    /// # Errors
    /// If it is no model, or of another version.
    pub fn from_json(text: &str) -> Result<Model, String> {
        let model: Model = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match model.replay_io {
            VERSION => Ok(model),
            other => Err(format!("version {other} of the model of I/O, where {VERSION} is known")),
        }
    }

    /// Bytes moved.
    pub fn bytes(&self) -> u64 {
        sum(self.families.iter().map(|family| family.weight))
    }

    /// Bytes that were read or written.
    pub fn bytes_of(&self, kind: Kind) -> u64 {
        let accesses = self.files.values().flat_map(|file| &file.facts.accesses);
        sum(accesses.filter(|it| it.access.kind == kind).map(|it| it.bytes))
    }

    /// Lines that reproduce a family of phases, and remarks on these and on what is unknown.
    pub fn commands(&self, family: &Family) -> (Vec<Command>, Vec<String>) {
        let Some(phase) = family.example(&self.phases) else { return (Vec::new(), Vec::new()) };
        let reads = || phase.files.iter().filter_map(|file| self.files.get(file)?.reads);
        let of_others = sum(reads().map(|reads| reads.of_others));
        let all = sum(reads().map(|reads| reads.bytes));
        let (commands, mut remarks) = commands(phase, to_f64(of_others) * 2.0 > to_f64(all));
        if phase.key.residue {
            remarks.push("residue: small requests among large ones".to_owned());
        }
        if !phase.is_view_known {
            remarks.push("view unknown".to_owned());
        }
        if phase.disp.is_none() {
            remarks.push("offsets unknown".to_owned());
        }
        (commands, remarks)
    }
}
