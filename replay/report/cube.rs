//! Metadata of the report: metric tree, call tree, system tree, topologies, attributes.

use cubex::{
    Attribute, Cnode, CnodeId, Coordinate, Cube, DataType, Dimension, Expression, LocationGroupId,
    LocationGroupKind, LocationId, LocationKind, MetricId, MetricKind, Placed, RegionId, SystemTreeNode,
    SystemTreeNodeId, Topology,
};
use model::{LocationGroupType, LocationType, Ticks};
use patterns::{StateNumber, Unit};
use rustc_hash::FxHashMap;

use super::accounts::Accounts;
use super::focus::FocusSummary;
use crate::call_tree::NO_SITE;
use crate::clock_correction::Violations;
use crate::communicators::Participants;
use crate::coverage::Fate;
use crate::metrics::{IPC, Metrics};
use crate::report_paths::{Node, ReportPaths};
use crate::scaling::RunFacts;
use crate::trace::Trace;
use crate::walk::MEAN;

/// Start of the value of the attribute `Creator`, which identifies our own reports.
pub(super) const CREATOR: &str = "Replay ";

/// Returns the metadata of the report.
pub(super) fn describe(trace: &Trace, metrics: &Metrics, paths: &ReportPaths, accounts: &Accounts) -> Cube {
    let attributes = attributes(trace, metrics, accounts);
    let mut cube = Cube { attributes, ..Cube::default() };
    add_metrics(&mut cube, metrics);
    add_program(&mut cube, trace, paths);
    add_system(&mut cube, trace);
    add_topologies(&mut cube, trace);
    cube
}

fn attributes(trace: &Trace, metrics: &Metrics, accounts: &Accounts) -> Vec<Attribute> {
    let Accounts { findings, coverage, doubtful, violations, focus, efficiency, scenario, .. } = accounts;
    let seconds = |ticks: Ticks| format!("{:.9}", trace.definitions.clock.seconds(ticks.into()));
    let mut attributes = vec![
        Attribute::new("CubePL Version", "1.1"),
        Attribute::new("Creator", format!("{CREATOR}{}", env!("CARGO_PKG_VERSION"))),
        Attribute::new("CUBE_CT_AGGR", "SUM"),
        Attribute::new("Replay::Semantics", trace.semantics.name()),
    ];
    attributes.extend(focus.iter().flat_map(FocusSummary::attributes));
    attributes.extend(scenario.iter().map(|scenario| Attribute::new("Replay::Scenario", scenario.clone())));
    let is_known = |fate: &Fate| !fate.is_beyond_reference() || trace.semantics.replays_all_of_mpi();
    for fate in Fate::ALL.into_iter().filter(is_known) {
        let share = format!("{:.6}", coverage.share(fate));
        attributes.push(Attribute::new(format!("Replay::Coverage::{}", fate.name()), share));
    }
    for finding in findings.occurred() {
        let count = findings.count(finding).to_string();
        attributes.push(Attribute::new(format!("Replay::Findings::{}", finding.name()), count));
    }
    if doubtful.limit > 0 {
        attributes.push(Attribute::new("Replay::Clock error", seconds(doubtful.limit)));
        for (&metric, &ticks) in &doubtful.waiting {
            let id = metrics.list[metric].id;
            attributes.push(Attribute::new(format!("Replay::Clock error::{id}"), seconds(ticks)));
        }
    }
    if let Some(Violations { count, largest }) = *violations {
        let text = format!("{count} events, by up to {} s", seconds(largest));
        attributes.push(Attribute::new("Replay::Clock correction", text));
    }
    attributes.extend(efficiency.iter().flat_map(RunFacts::attributes));
    if let Some((joules, _)) = accounts.energy(trace).filter(|_| trace.semantics.replays_all_of_mpi()) {
        attributes.push(Attribute::new("Replay::Energy", format!("{joules:.3}")));
    }
    attributes
}

fn add_metrics(cube: &mut Cube, metrics: &Metrics) {
    for metric in &metrics.list {
        let parent = metrics.list.iter().position(|above| Some(above.id) == metric.parent);
        let (data_type, unit) = data_type(metric.unit);
        cube.add_metric(cubex::Metric {
            parent: parent.map(MetricId),
            ghost: matches!(metric.unit, Unit::State { number: StateNumber::PartOfMean, .. }),
            unique_name: metric.id.into(),
            display_name: metric.name.into(),
            data_type,
            unit: unit.into(),
            description: metric.about.into(),
            ..cubex::Metric::default()
        });
    }
    if let [Some(instructions), Some(cycles)] = metrics.instructions_and_cycles
        && metrics.find(IPC).is_none()
    {
        let [instructions, cycles] = [instructions, cycles].map(|of| metrics.list[of].id);
        cube.add_metric(cubex::Metric {
            unique_name: IPC.into(),
            display_name: "Instructions a cycle".into(),
            description: "Instructions divided by cycles.".into(),
            ..ratio(instructions, cycles)
        });
    }
    for state in metrics.states.iter().flatten() {
        let [state, sum, values] =
            [state.maximum, state.sum, state.values].map(|metric| &metrics.list[metric]);
        cube.add_metric(cubex::Metric {
            unique_name: format!("{}{MEAN}", state.id),
            display_name: format!("{} (mean)", state.name),
            unit: data_type(state.unit).1.into(),
            description: "The mean of all values that it had there.".into(),
            ..ratio(sum.id, values.id)
        });
    }
}

/// Returns the type in the report of numbers of a unit, and its name there.
pub(super) fn data_type(unit: Unit) -> (DataType, &'static str) {
    match unit {
        Unit::Seconds => (DataType::Double, "sec"),
        Unit::Occurrences => (DataType::UInt64, "occ"),
        Unit::Bytes => (DataType::UInt64, "bytes"),
        Unit::Scaled { name, .. } | Unit::State { name, number: StateNumber::PartOfMean } => {
            (DataType::Double, name)
        }
        Unit::State { name, number: StateNumber::Maximum } => (DataType::MaxDouble, name),
        Unit::State { name, number: StateNumber::Minimum } => (DataType::MinDouble, name),
    }
}

/// A metric that is the ratio of the sums of two others, whatever is selected: readers work it out.
fn ratio(of: &str, to: &str) -> cubex::Metric {
    let value = format!("metric::{of}() / metric::{to}()");
    cubex::Metric {
        kind: MetricKind::Postderived,
        data_type: DataType::Double,
        expression: Some(Expression { value, ..Expression::default() }),
        ..cubex::Metric::default()
    }
}

/// Adds the call paths: their numbers are those of the report.
fn add_program(cube: &mut Cube, trace: &Trace, paths: &ReportPaths) {
    let mut regions: FxHashMap<u32, RegionId> = FxHashMap::default();
    cube.cnodes.reserve_exact(paths.len());
    for &Node { parent, region: of, site } in &paths.nodes {
        let region = *regions.entry(of).or_insert_with(|| cube.add_region(region(trace, of)));
        let site = (site != NO_SITE).then(|| &trace.sites[site as usize]);
        cube.add_cnode(Cnode {
            parent: (!parent.is_none()).then(|| CnodeId(parent.index())),
            region,
            module: site.map_or(String::new(), |(file, _)| file.clone()),
            line: site.map(|(_, line)| *line).filter(|&line| line > 0),
            ..Cnode::default()
        });
    }
}

/// Returns the description of a region in the report.
pub(crate) fn region(trace: &Trace, position: u32) -> cubex::Region {
    let region = trace.region(position);
    let name = trace.region_name(position);
    let is_defined = (position as usize) < trace.kinds.len();
    cubex::Region {
        name: name.into(),
        mangled_name: if is_defined { region.canonical_name.clone() } else { name.into() },
        module: region.source_file.clone(),
        begin_line: (region.begin_line > 0).then_some(region.begin_line),
        end_line: (region.end_line > 0).then_some(region.end_line),
        paradigm: region.paradigm.name().unwrap_or("unknown").into(),
        role: region.role.name().unwrap_or("unknown").into(),
        description: region.description.clone(),
        ..cubex::Region::default()
    }
}

fn add_system(cube: &mut Cube, trace: &Trace) {
    let tree = &trace.definitions.system_tree;
    // Viewers need one root: with several machines or none, one of our own is added above.
    let roots = tree.iter().filter(|node| node.parent.is_none()).count();
    let top = (roots != 1).then(|| {
        cube.add_system_tree_node(SystemTreeNode {
            name: "machine".into(),
            class: "machine".into(),
            ..SystemTreeNode::default()
        })
    });
    let offset = usize::from(top.is_some());
    for node in tree {
        cube.add_system_tree_node(SystemTreeNode {
            parent: node.parent.map(|parent| SystemTreeNodeId(parent + offset)).or(top),
            name: format!("{} {}", node.class, node.name),
            class: node.class.clone(),
            ..SystemTreeNode::default()
        });
    }
    let mut groups: FxHashMap<usize, LocationGroupId> = FxHashMap::default();
    for location in &trace.locations {
        let definition = &trace.definitions.locations[location.definition];
        let group = *groups
            .entry(definition.group)
            .or_insert_with(|| add_group(cube, trace, definition.group, location.process, offset));
        let kind = match location.kind {
            LocationType::ACCELERATOR_STREAM => LocationKind::AcceleratorStream,
            LocationType::METRIC => LocationKind::Metric,
            _ => LocationKind::Thread,
        };
        let name = match definition.name.as_str() {
            "" => format!("CPU thread {}", location.thread),
            name => name.to_owned(),
        };
        cube.add_location(cubex::Location {
            group,
            name,
            rank: u64::from(location.thread),
            kind,
            ..cubex::Location::default()
        });
    }
}

fn add_group(cube: &mut Cube, trace: &Trace, group: usize, process: usize, offset: usize) -> LocationGroupId {
    let definition = &trace.definitions.location_groups[group];
    let rank = trace.processes[process].rank.map_or(process as u64, u64::from);
    let is_accelerator = definition.kind == LocationGroupType::ACCELERATOR;
    let creator = definition.creator.filter(|_| is_accelerator).map(|creator| {
        let creator = &trace.definitions.location_groups[creator];
        Attribute::new("Creating location group", creator.name.clone())
    });
    cube.add_location_group(cubex::LocationGroup {
        system_tree_node: SystemTreeNodeId(definition.parent.map_or(0, |parent| parent + offset)),
        name: match definition.name.as_str() {
            "" => format!("MPI rank {rank}"),
            name => name.to_owned(),
        },
        rank,
        kind: if is_accelerator { LocationGroupKind::Accelerator } else { LocationGroupKind::Process },
        attributes: creator.into_iter().collect(),
    })
}

/// Adds the MPI topologies, with the main thread of each rank at its place.
fn add_topologies(cube: &mut Cube, trace: &Trace) {
    for topology in &trace.definitions.topologies {
        let Some(Participants::Ranks(ranks)) = trace.communicators.get(topology.communicator) else {
            continue;
        };
        let coordinates = topology.coordinates.iter().filter_map(|(rank, position)| {
            let process = &trace.processes[*ranks.get(*rank as usize)? as usize];
            let fits = position.iter().zip(&topology.dimensions).all(|(at, dimension)| *at < dimension.size);
            (fits && !process.locations.is_empty()).then(|| Coordinate {
                of: Placed::Location(LocationId(process.locations.start)),
                position: position.iter().map(|&at| u64::from(at)).collect(),
            })
        });
        cube.topologies.push(Topology {
            name: topology.name.clone(),
            dimensions: topology
                .dimensions
                .iter()
                .map(|dimension| Dimension {
                    name: dimension.name.clone(),
                    size: u64::from(dimension.size),
                    periodic: dimension.periodic,
                })
                .collect(),
            coordinates: coordinates.collect(),
        });
    }
}
