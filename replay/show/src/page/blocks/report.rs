//! The block `report`: the report in numbers, and the names that tables refer to.

use cubex::{CnodeId, MetricId};
use details::manifest::Complete;
use serde_json::{Value, json};

use super::messages::ranks_of_block;
use super::places::{self, TOPOLOGIES};
use super::severities::EXACT;
use super::{Source, position};
use crate::commands::time::is_of_waiting;
use crate::output::names::printable;
use crate::overview::words;
use crate::page::colours;
use crate::paths;
use crate::values::{Combine, DELAY, WAITING};

/// The block, with what the page does not have.
pub(super) fn report(source: &Source<'_>, limits: &[String]) -> Value {
    let Source { opened, values, overview, options } = source;
    let cube = values.cube();
    let run = &overview.run;
    let manifest = opened.manifest.as_ref();
    let actions = overview.actions.iter().map(|action| {
        json!({"id": action.id, "cnode": action.cnode.0, "metric": action.pattern, "place": printable(&action.place)})
    });
    json!({
        "title": printable(&options.title),
        "file": printable(&options.file),
        "program": printable(&overview.program),
        "trust": words::coverage_and_findings(overview),
        "is_trusted": words::trust(opened, overview).is_empty(),
        "ranks": overview.ranks,
        "threads": run.threads,
        "run": {"total": run.total, "length": run.length, "waiting": run.waiting, "mpi": run.mpi},
        "ticks_per_second": manifest.map_or(1, |it| if it.ticks_per_second == 0 { 1_000_000_000 } else { it.ticks_per_second }),
        "end": manifest.map_or(0, |it| it.end),
        "has_details": manifest.is_some(),
        "has_server": options.has_server,
        "is_exact": cube.locations.len() <= EXACT,
        "actions": actions.collect::<Value>(),
        "has_advice": overview.advice.is_some(),
        "classes": classes(source),
        "levels": manifest.map_or(json!([]), |it| json!(it.levels)),
        "metrics": metrics(source),
        "waiting": crate::values::parts(cube, WAITING).iter().map(|id| id.0).collect::<Vec<_>>(),
        "delay": crate::values::parts(cube, DELAY).iter().map(|id| id.0).collect::<Vec<_>>(),
        "regions": regions(source),
        "names": places::names(source).into_iter().map(printable).collect::<Vec<_>>(),
        "nodes": cube.system_tree_nodes.iter().map(|node| {
            json!({"parent": node.parent.map(|parent| parent.0), "name": printable(&node.name)})
        }).collect::<Value>(),
        "topologies": topologies(source),
        "communicators": manifest.map_or(json!([]), |it| {
            it.communicators.iter().map(|it| json!([it.number, printable(&it.name), it.size])).collect()
        }),
        "ranks_of_block": ranks_of_block(cube.location_groups.len()),
        "incomplete": manifest.map_or(json!({}), |manifest| {
            let cut = manifest.tables.iter().filter_map(|table| match &table.complete {
                Complete::No(what) => Some((table.member.clone(), printable(what).into())),
                Complete::Is(false) => Some((table.member.clone(), "not complete".into())),
                Complete::Is(true) => None,
            });
            Value::Object(cut.collect())
        }),
        "limits": limits.iter().map(|limit| printable(limit)).collect::<Vec<_>>(),
    })
}

fn classes(source: &Source<'_>) -> Value {
    let classes = source.opened.manifest.iter().flat_map(|manifest| &manifest.classes);
    let class = |class: &details::manifest::Class| {
        let metrics: Vec<Option<usize>> =
            class.adds.iter().map(|name| source.values.cube().metric_named(name).map(|id| id.0)).collect();
        json!({
            "name": class.name, "title": printable(&class.title), "role": class.role,
            "colour": colours::of_class(&class.role, &class.name), "is_waiting": is_of_waiting(class), "metrics": metrics,
        })
    };
    classes.map(class).collect()
}

/// Metrics, at their positions in the report; `null` for hidden ones.
fn metrics(source: &Source<'_>) -> Value {
    let values = source.values;
    let metric = |(at, metric): (usize, &cubex::Metric)| {
        if !values.is_visible(MetricId(at)) {
            return Value::Null;
        }
        let quantity = values.of_metric(MetricId(at));
        let combine = match quantity.combine {
            Combine::Sum if quantity.is_sum() => "sum",
            Combine::Sum => "ratio",
            Combine::Minimum => "minimum",
            Combine::Maximum => "maximum",
        };
        json!({
            "name": printable(&quantity.name), "title": printable(&quantity.title), "unit": printable(quantity.unit.name()),
            "parent": metric.parent.map(|parent| parent.0), "combine": combine, "obstacle": quantity.obstacle(),
            "about": printable(&metric.description),
        })
    };
    values.cube().metrics.iter().enumerate().map(metric).collect()
}

/// Functions, with one list for each of their properties.
fn regions(source: &Source<'_>) -> Value {
    let cube = source.values.cube();
    let list = |text: fn(&cubex::Region) -> &str| {
        cube.regions.iter().map(|region| printable(text(region))).collect::<Vec<_>>()
    };
    let lines: Vec<Option<u32>> = cube.regions.iter().map(|region| region.begin_line).collect();
    let roots = (0..cube.cnodes.len()).filter(|&at| cube.cnodes[at].parent.is_none());
    let globs: Vec<String> = roots.map(|at| printable(paths::name(cube, CnodeId(at)))).collect();
    json!({
        "name": list(|region| &region.name), "file": list(|region| &region.module), "line": lines,
        "paradigm": list(|region| &region.paradigm), "roots": globs,
    })
}

fn topologies(source: &Source<'_>) -> Value {
    let topologies = source.values.cube().topologies.iter().take(TOPOLOGIES);
    let topology = |topology: &cubex::Topology| {
        let dimensions = topology.dimensions.iter().map(|dimension| {
            json!({"name": printable(&dimension.name), "size": position(usize::try_from(dimension.size).ok()),
                "periodic": dimension.periodic})
        });
        json!({"name": printable(&topology.name), "dimensions": dimensions.collect::<Value>()})
    };
    topologies.map(topology).collect()
}
