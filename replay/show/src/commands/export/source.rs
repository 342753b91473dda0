//! Source of an export: an open report, and what of it was asked for.

use cubex::{Cube, LocationId};
use details::manifest::Signature;

use super::options::Args;
use crate::error::{Error, Result};
use crate::graphs::{name_of, title};
use crate::opened::Opened;
use crate::places;
use crate::tables::structure::Structure;
use crate::values::{Quantity, Unit, Values};

/// An open report, and what of it was asked for.
#[derive(Debug)]
pub(super) struct Source<'s> {
    pub(super) args: &'s Args,
    pub(super) opened: &'s Opened,
    pub(super) values: &'s Values<'s>,
    /// Whether a location is selected.
    pub(super) locations: Vec<bool>,
    /// Number of locations of each process.
    sizes: crate::places::Sizes,
}

impl<'s> Source<'s> {
    /// The source that options select.
    ///
    /// # Errors
    /// If they select nothing.
    pub(super) fn new(args: &'s Args, opened: &'s Opened, values: &'s Values<'s>) -> Result<Source<'s>> {
        let cube = opened.cube();
        let mut locations = places::all(cube);
        if let Some(ranges) = args.rank_ranges()? {
            for (location, is_selected) in cube.locations.iter().zip(&mut locations) {
                let rank = cube.location_groups.get(location.group.0).map(|group| group.rank);
                *is_selected = rank.is_some_and(|rank| ranges.iter().any(|&(a, b)| (a..=b).contains(&rank)));
            }
            if !locations.contains(&true) {
                let text = args.ranks.as_deref().unwrap_or_default();
                return Err(Error::new(format!("--ranks {text}: the report has no such ranks")));
            }
        }
        Ok(Source { args, opened, values, locations, sizes: places::sizes(cube) })
    }

    /// The description of the report.
    pub(super) fn cube(&self) -> &'s Cube {
        self.opened.cube()
    }

    /// The name of a location.
    pub(super) fn location_name(&self, location: usize) -> String {
        places::name(self.cube(), &self.sizes, LocationId(location))
    }

    /// The one metric that is exported: `time` if none is named.
    ///
    /// # Errors
    /// If it does not exist, or several are named.
    pub(super) fn quantity(&self) -> Result<Quantity> {
        match &self.args.metric[..] {
            [] => self.values.quantity("time"),
            [name] => self.values.quantity(name),
            _ => Err(Error::new(format!("export {} takes one metric", self.args.format.name()))),
        }
    }

    /// The metrics that are named, or those of the names that the report has values for.
    ///
    /// # Errors
    /// If one that the user names does not exist.
    pub(super) fn quantities(&self, names: &[&str]) -> Result<Vec<Quantity>> {
        if self.args.metric.is_empty() {
            let known = names.iter().filter_map(|name| self.values.find(name));
            return Ok(known.filter(|quantity| quantity.obstacle().is_none()).collect());
        }
        self.args.metric.iter().map(|name| self.values.quantity(name)).collect()
    }

    /// Graphs and loops, and what each group is called.
    ///
    /// # Errors
    /// If the report has none, or they are damaged.
    pub(super) fn structure(&self) -> Result<(Structure, Vec<String>)> {
        let structure = Structure::read(self.opened)?;
        let name = |group| title(&name_of(self.cube(), &self.sizes, group), group);
        let names = structure.groups.iter().map(name).collect();
        Ok((structure, names))
    }

    /// What stands for the run, if the report says so.
    pub(super) fn signature(&self) -> Option<&Signature> {
        let main_loop = self.opened.manifest.as_ref()?.main_loop.as_ref()?;
        Some(&main_loop.signature).filter(|signature| !signature.phases.is_empty())
    }

    /// The title of a metric that tables refer to.
    pub(super) fn metric_title(&self, metric: Option<usize>) -> String {
        let metrics = self.opened.manifest.as_ref().map(|manifest| &manifest.metrics);
        let metric = metric.and_then(|at| metrics?.get(at));
        metric.map_or("waiting".to_owned(), |metric| metric.title.clone())
    }

    /// The program's name, or the file's.
    pub(super) fn title(&self) -> String {
        let program = self.opened.manifest.as_ref().map(|manifest| manifest.program.clone());
        program.filter(|program| !program.is_empty()).unwrap_or_else(|| {
            self.opened.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
        })
    }
}

/// A value as an integer: seconds become nanoseconds.
#[expect(clippy::cast_possible_truncation, reason = "saturates")]
pub(super) fn integer(value: f64, unit: &Unit) -> i64 {
    let value = if *unit == Unit::Seconds { 1e9 * value } else { value };
    value.round() as i64
}
