//! Writing `anchor.xml`.

use std::io;

use crate::forest::{Forest, Step};
use crate::xml::{Document, Tag};
use crate::{
    Attribute, Cnode, Cube, LocationGroupKind, LocationKind, Metric, Parameter, Placed, Region,
    SystemTreeNode, Topology,
};

/// Writes the text of the anchor for a checked cube.
pub(crate) fn write(cube: &Cube, out: &mut dyn io::Write) -> io::Result<()> {
    let mut out = Document::new(out);
    out.open(Tag::from("cube").with_plain("version", version(cube)));
    attributes(&mut out, &cube.attributes);
    out.open("doc");
    out.open("mirrors");
    for mirror in &cube.mirrors {
        out.text("murl", mirror);
    }
    out.close("mirrors");
    out.close("doc");
    metrics(&mut out, cube);
    program(&mut out, cube);
    system(&mut out, cube);
    out.close("cube");
    out.finish()
}

/// Accelerators came with 4.7; everything else is in 4.4, which more tools accept.
fn version(cube: &Cube) -> &'static str {
    let accelerators = cube.location_groups.iter().any(|group| group.kind == LocationGroupKind::Accelerator)
        || cube.locations.iter().any(|location| location.kind == LocationKind::AcceleratorStream);
    if accelerators { "4.7" } else { "4.4" }
}

fn attributes(out: &mut Document<'_>, attributes: &[Attribute]) {
    for Attribute { key, value } in attributes {
        out.empty(Tag::from("attr").with("key", key).with("value", value));
    }
}

fn metrics(out: &mut Document<'_>, cube: &Cube) {
    out.open("metrics");
    let forest = Forest::new(cube.metrics.iter().map(|metric| metric.parent.map(|parent| parent.0)));
    for step in forest.walk() {
        match step {
            Step::Enter(id) => {
                cube.metrics.get(id).into_iter().for_each(|metric| open_metric(out, id, metric))
            }
            Step::Leave(_) => out.close("metric"),
        }
    }
    out.close("metrics");
}

fn open_metric(out: &mut Document<'_>, id: usize, metric: &Metric) {
    let unless = |no: bool| if no { "false" } else { "" };
    let tag = Tag::from("metric").with_plain("id", id).with_plain("type", metric.kind.name());
    let tag = tag.with_any("viztype", if metric.ghost { "GHOST" } else { "" });
    let tag = tag.with_any("convertible", unless(metric.not_convertible));
    out.open(tag.with_any("cacheable", unless(metric.not_cacheable)));
    out.text("disp_name", &metric.display_name);
    out.text("uniq_name", &metric.unique_name);
    out.text("dtype", &metric.data_type.to_string());
    out.text("uom", &metric.unit);
    if metric.void {
        out.text("val", "VOID");
    }
    out.text("url", &metric.url);
    out.text("descr", &metric.description);
    if let Some(expression) = &metric.expression {
        let tag = Tag::from("cubepl").with_any("rowwise", unless(expression.by_value));
        out.text(tag, &expression.value);
        if !expression.init.is_empty() {
            out.text("cubeplinit", &expression.init);
        }
        for (aggregation, text) in &expression.aggregations {
            out.text(Tag::from("cubeplaggr").with_plain("cubeplaggrtype", aggregation.name()), text);
        }
    }
    attributes(out, &metric.attributes);
}

fn program(out: &mut Document<'_>, cube: &Cube) {
    out.open("program");
    for (id, region) in cube.regions.iter().enumerate() {
        write_region(out, id, region);
    }
    for step in Forest::of_cnodes(cube).walk() {
        match step {
            Step::Enter(id) => cube.cnodes.get(id).into_iter().for_each(|cnode| open_cnode(out, id, cnode)),
            Step::Leave(_) => out.close("cnode"),
        }
    }
    out.close("program");
}

fn write_region(out: &mut Document<'_>, id: usize, region: &Region) {
    let line = |line: Option<u32>| line.map_or(-1, i64::from);
    let tag = Tag::from("region").with_plain("id", id).with("mod", &region.module);
    out.open(tag.with_plain("begin", line(region.begin_line)).with_plain("end", line(region.end_line)));
    out.text("name", &region.name);
    out.text("mangled_name", &region.mangled_name);
    out.text("paradigm", &region.paradigm);
    out.text("role", &region.role);
    out.text("url", &region.url);
    out.text("descr", &region.description);
    attributes(out, &region.attributes);
    out.close("region");
}

fn open_cnode(out: &mut Document<'_>, id: usize, cnode: &Cnode) {
    let mut tag = Tag::from("cnode").with_plain("id", id);
    if let Some(line) = cnode.line {
        tag = tag.with_plain("line", line);
    }
    out.open(tag.with_any("mod", &cnode.module).with_plain("calleeId", cnode.region.0));
    for parameter in &cnode.parameters {
        let (kind, key, value) = match parameter {
            Parameter::Numeric { key, value } => ("numeric", key, value.to_string()),
            Parameter::Text { key, value } => ("string", key, value.clone()),
        };
        let tag = Tag::from("parameter").with_plain("partype", kind);
        out.empty(tag.with("parkey", key).with("parvalue", &value));
    }
    attributes(out, &cnode.attributes);
}

fn system(out: &mut Document<'_>, cube: &Cube) {
    let mut groups_of = vec![Vec::new(); cube.system_tree_nodes.len()];
    for (id, group) in cube.location_groups.iter().enumerate() {
        groups_of.get_mut(group.system_tree_node.0).into_iter().for_each(|groups| groups.push(id));
    }
    let mut locations_of = vec![Vec::new(); cube.location_groups.len()];
    for (id, location) in cube.locations.iter().enumerate() {
        locations_of.get_mut(location.group.0).into_iter().for_each(|locations| locations.push(id));
    }
    // Readers number nodes and groups as they come, so that these numbers differ from ours if the lists are
    // not in document order.
    let mut nodes_written = 0;
    let mut groups_written = 0;
    let mut group_numbers = vec![0; cube.location_groups.len()];

    out.open("system");
    let forest = Forest::new(cube.system_tree_nodes.iter().map(|node| node.parent.map(|parent| parent.0)));
    for step in forest.walk() {
        let Step::Enter(id) = step else {
            out.close("systemtreenode");
            continue;
        };
        cube.system_tree_nodes.get(id).into_iter().for_each(|node| open_node(out, nodes_written, node));
        nodes_written += 1;
        for &group in groups_of.get(id).into_iter().flatten() {
            let locations = locations_of.get(group).map_or(&[][..], Vec::as_slice);
            write_group(out, groups_written, cube, group, locations);
            group_numbers.get_mut(group).into_iter().for_each(|number| *number = groups_written);
            groups_written += 1;
        }
    }
    out.open("topologies");
    for topology in &cube.topologies {
        write_topology(out, topology, &group_numbers);
    }
    out.close("topologies");
    out.close("system");
}

fn open_node(out: &mut Document<'_>, number: usize, node: &SystemTreeNode) {
    out.open(Tag::from("systemtreenode").with_plain("Id", number));
    out.text("name", &node.name);
    out.text("class", &node.class);
    if !node.description.is_empty() {
        out.text("descr", &node.description);
    }
    attributes(out, &node.attributes);
}

fn write_group(out: &mut Document<'_>, number: usize, cube: &Cube, group: usize, locations: &[usize]) {
    let Some(group) = cube.location_groups.get(group) else { return };
    out.open(Tag::from("locationgroup").with_plain("Id", number));
    out.text("name", &group.name);
    out.text("rank", &group.rank.to_string());
    out.text("type", group.kind.name());
    attributes(out, &group.attributes);
    for &id in locations {
        let Some(location) = cube.locations.get(id) else { continue };
        out.open(Tag::from("location").with_plain("Id", id));
        out.text("name", &location.name);
        out.text("rank", &location.rank.to_string());
        out.text("type", location.kind.name());
        attributes(out, &location.attributes);
        out.close("location");
    }
    out.close("locationgroup");
}

fn write_topology(out: &mut Document<'_>, topology: &Topology, group_numbers: &[usize]) {
    let tag = Tag::from("cart").with_any("name", &topology.name);
    out.open(tag.with_plain("ndims", topology.dimensions.len()));
    for dimension in &topology.dimensions {
        let tag = Tag::from("dim").with_any("name", &dimension.name);
        out.empty(tag.with_plain("size", dimension.size).with_plain("periodic", dimension.periodic));
    }
    for coordinate in &topology.coordinates {
        let (key, number) = match coordinate.of {
            Placed::Location(location) => ("locId", location.0),
            Placed::Group(group) => ("lgId", group_numbers.get(group.0).copied().unwrap_or_default()),
        };
        let position: Vec<String> = coordinate.position.iter().map(u64::to_string).collect();
        out.text(Tag::from("coord").with_plain(key, number), &position.join(" "));
    }
    out.close("cart");
}
