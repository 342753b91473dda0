//! References of definitions by what a script names.

use std::collections::{BTreeSet, HashMap};

use super::attributes::{ATTRIBUTES, GAPS};
use super::{SELF, TEAM, WORLD, processes};
use crate::support::regions::properties;
use crate::support::trace::{Step, Trace};

/// The window of copies on streams of CUDA.
pub(super) const CUDA_WINDOW: &str = "CUDA_WINDOW";

/// References of the definitions, by name.
#[derive(Default)]
pub(super) struct Names {
    pub(super) strings: Vec<String>,
    pub(super) string_of: HashMap<String, u32>,
    pub(super) regions: Vec<String>,
    pub(super) region_of: HashMap<String, u32>,
    pub(super) communicators: HashMap<String, u32>,
    pub(super) windows: HashMap<String, u32>,
    pub(super) files: HashMap<String, u32>,
    pub(super) contexts: HashMap<String, u32>,
    pub(super) parameters: BTreeSet<u32>,
    /// Whether streams of accelerators copy.
    pub(super) has_copies: bool,
}

impl Names {
    fn string(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.string_of.get(text) {
            return known;
        }
        let number = self.strings.len() as u32;
        self.strings.push(text.into());
        self.string_of.insert(text.into(), number);
        number
    }

    fn region(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.region_of.get(name) {
            return known;
        }
        let number = self.regions.len() as u32;
        self.regions.push(name.into());
        self.region_of.insert(name.into(), number);
        number
    }

    /// Assigns references to everything that the trace names.
    pub(super) fn collect(&mut self, trace: &Trace) {
        self.string("");
        self.communicators.extend([("world".into(), WORLD), ("self".into(), SELF)]);
        for (at, (name, _)) in trace.communicators.iter().enumerate() {
            self.communicators.insert(name.clone(), TEAM + 1 + at as u32);
        }
        let references =
            |names: Vec<&String>| (0..).zip(names).map(|(at, name)| (name.clone(), at)).collect();
        self.windows = references(trace.windows.iter().map(|(name, _)| name).collect());
        self.files = references(trace.files.iter().map(|(name, _)| name).collect());
        for (at, context) in trace.contexts.iter().enumerate() {
            self.contexts.insert(context.name.clone(), at as u32);
            self.region(&context.region);
        }
        for stream in &trace.streams {
            for (_, step) in &stream.events {
                match step {
                    Step::Enter(name) | Step::LeaveRegion(name) => _ = self.region(name),
                    Step::Offload { region, at_enter, at_leave } => {
                        self.region(region);
                        at_enter.iter().chain(at_leave).for_each(|(name, _)| _ = self.string(name));
                    }
                    Step::Copy { .. } => self.has_copies = true,
                    // The reference of a parameter is that of its name.
                    Step::Parameter(name, _) => {
                        let name = self.string(name);
                        self.parameters.insert(name);
                    }
                    Step::WithAttributes(_, used) => {
                        let is_of_gap = |name: &str| ATTRIBUTES[GAPS].contains(&name);
                        let with_gaps = used.iter().any(|(name, _)| is_of_gap(name));
                        let names = ATTRIBUTES.iter().filter(|name| {
                            with_gaps && is_of_gap(name) || used.iter().any(|(used, _)| used == *name)
                        });
                        names.for_each(|name| _ = self.string(name));
                    }
                    _ => {}
                }
            }
            if let Some(node) = &stream.node {
                self.string(node);
            }
            if let Some(program) = stream.program.as_ref().or(trace.program.as_ref()) {
                self.string(program);
            }
        }
        for name in self.regions.clone() {
            self.string(&name);
            let file = trace.regions.get(&name).cloned().unwrap_or_else(|| properties(&name)).file;
            self.string(&file);
        }
        let of_places = ["machine", "node", "master thread", "worker thread", "stream", "values"];
        for text in of_places.into_iter().chain(["PAPI", "MPI-IO", "POSIX", "ISOC"]) {
            self.string(text);
        }
        for text in trace.metric_classes().iter().flat_map(|class| class.name_and_unit()) {
            self.string(text);
        }
        for rank in 0..processes(trace) {
            self.string(&format!("MPI Rank {rank}"));
        }
        let communicators = trace.communicators.iter().map(|(name, _)| name);
        let windows = trace.windows.iter().map(|(name, _)| name);
        for name in communicators.chain(windows).chain(trace.files.iter().map(|(name, _)| name)) {
            self.string(name);
        }
        self.string("prog.c");
        if self.has_copies {
            self.string(CUDA_WINDOW);
        }
        trace.texts.iter().for_each(|text| _ = self.string(text));
        for (_, property, bytes) in &trace.file_properties {
            self.string(property);
            self.string(&bytes.to_string());
        }
    }
}
