//! Writing `anchor.xml`.

use std::io;

use crate::forest::{Forest, Step};
use crate::xml::{Document, Escaped};
use crate::{
    Attribute, Cnode, Cube, LocationGroupKind, LocationKind, Metric, Parameter, Placed, Region,
    SystemTreeNode, Topology,
};

/// Writes the text of the anchor for a checked cube.
pub(crate) fn write(cube: &Cube, out: &mut dyn io::Write) -> io::Result<()> {
    let mut out = Document::new(out);
    out.line(format_args!(r#"<?xml version="1.0" encoding="UTF-8"?>"#));
    out.line(format_args!(""));
    out.line(format_args!(r#"<cube version="{}">"#, version(cube)));
    attributes(&mut out, &cube.attributes);
    out.line(format_args!("<doc>\n<mirrors>"));
    for mirror in &cube.mirrors {
        out.text("murl", mirror);
    }
    out.line(format_args!("</mirrors>\n</doc>"));
    metrics(&mut out, cube);
    program(&mut out, cube);
    system(&mut out, cube);
    out.line(format_args!("</cube>"));
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
        out.line(format_args!(r#"<attr key="{}" value="{}"/>"#, Escaped(key), Escaped(value)));
    }
}

fn metrics(out: &mut Document<'_>, cube: &Cube) {
    out.line(format_args!("<metrics>"));
    let forest = Forest::new(cube.metrics.iter().map(|metric| metric.parent.map(|parent| parent.0)));
    for step in forest.walk() {
        match step {
            Step::Enter(id) => {
                cube.metrics.get(id).into_iter().for_each(|metric| open_metric(out, id, metric))
            }
            Step::Leave(_) => out.line(format_args!("</metric>")),
        }
    }
    out.line(format_args!("</metrics>"));
}

fn open_metric(out: &mut Document<'_>, id: usize, metric: &Metric) {
    let visibility = if metric.ghost { r#" viztype="GHOST""# } else { "" };
    let convertible = if metric.not_convertible { r#" convertible="false""# } else { "" };
    let cacheable = if metric.not_cacheable { r#" cacheable="false""# } else { "" };
    let kind = metric.kind.name();
    out.line(format_args!(r#"<metric id="{id}" type="{kind}"{visibility}{convertible}{cacheable}>"#));
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
        let by_value = if expression.by_value { r#" rowwise="false""# } else { "" };
        out.line(format_args!("<cubepl{by_value}>{}</cubepl>", Escaped(&expression.value)));
        if !expression.init.is_empty() {
            out.text("cubeplinit", &expression.init);
        }
        for (aggregation, text) in &expression.aggregations {
            let (kind, text) = (aggregation.name(), Escaped(text));
            out.line(format_args!(r#"<cubeplaggr cubeplaggrtype="{kind}">{text}</cubeplaggr>"#));
        }
    }
    attributes(out, &metric.attributes);
}

fn program(out: &mut Document<'_>, cube: &Cube) {
    out.line(format_args!("<program>"));
    for (id, region) in cube.regions.iter().enumerate() {
        write_region(out, id, region);
    }
    for step in Forest::of_cnodes(cube).walk() {
        match step {
            Step::Enter(id) => cube.cnodes.get(id).into_iter().for_each(|cnode| open_cnode(out, id, cnode)),
            Step::Leave(_) => out.line(format_args!("</cnode>")),
        }
    }
    out.line(format_args!("</program>"));
}

fn write_region(out: &mut Document<'_>, id: usize, region: &Region) {
    let line = |line: Option<u32>| line.map_or(-1, i64::from);
    let (begin, end) = (line(region.begin_line), line(region.end_line));
    let module = Escaped(&region.module);
    out.line(format_args!(r#"<region id="{id}" mod="{module}" begin="{begin}" end="{end}">"#));
    out.text("name", &region.name);
    out.text("mangled_name", &region.mangled_name);
    out.text("paradigm", &region.paradigm);
    out.text("role", &region.role);
    out.text("url", &region.url);
    out.text("descr", &region.description);
    attributes(out, &region.attributes);
    out.line(format_args!("</region>"));
}

fn open_cnode(out: &mut Document<'_>, id: usize, cnode: &Cnode) {
    let line = cnode.line.map_or(String::new(), |line| format!(r#" line="{line}""#));
    let module = match cnode.module.as_str() {
        "" => String::new(),
        module => format!(r#" mod="{}""#, Escaped(module)),
    };
    out.line(format_args!(r#"<cnode id="{id}"{line}{module} calleeId="{}">"#, cnode.region.0));
    for parameter in &cnode.parameters {
        let (kind, key, value) = match parameter {
            Parameter::Numeric { key, value } => ("numeric", key, value.to_string()),
            Parameter::Text { key, value } => ("string", key, value.clone()),
        };
        let (key, value) = (Escaped(key), Escaped(&value));
        out.line(format_args!(r#"<parameter partype="{kind}" parkey="{key}" parvalue="{value}"/>"#));
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

    out.line(format_args!("<system>"));
    let forest = Forest::new(cube.system_tree_nodes.iter().map(|node| node.parent.map(|parent| parent.0)));
    for step in forest.walk() {
        let Step::Enter(id) = step else {
            out.line(format_args!("</systemtreenode>"));
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
    out.line(format_args!("<topologies>"));
    for topology in &cube.topologies {
        write_topology(out, topology, &group_numbers);
    }
    out.line(format_args!("</topologies>\n</system>"));
}

fn open_node(out: &mut Document<'_>, number: usize, node: &SystemTreeNode) {
    out.line(format_args!(r#"<systemtreenode Id="{number}">"#));
    out.text("name", &node.name);
    out.text("class", &node.class);
    if !node.description.is_empty() {
        out.text("descr", &node.description);
    }
    attributes(out, &node.attributes);
}

fn write_group(out: &mut Document<'_>, number: usize, cube: &Cube, group: usize, locations: &[usize]) {
    let Some(group) = cube.location_groups.get(group) else { return };
    out.line(format_args!(r#"<locationgroup Id="{number}">"#));
    out.text("name", &group.name);
    out.text("rank", &group.rank.to_string());
    out.text("type", group.kind.name());
    attributes(out, &group.attributes);
    for &id in locations {
        let Some(location) = cube.locations.get(id) else { continue };
        out.line(format_args!(r#"<location Id="{id}">"#));
        out.text("name", &location.name);
        out.text("rank", &location.rank.to_string());
        out.text("type", location.kind.name());
        attributes(out, &location.attributes);
        out.line(format_args!("</location>"));
    }
    out.line(format_args!("</locationgroup>"));
}

fn write_topology(out: &mut Document<'_>, topology: &Topology, group_numbers: &[usize]) {
    let name = |name: &str| match name {
        "" => String::new(),
        name => format!(r#" name="{}""#, Escaped(name)),
    };
    out.line(format_args!(r#"<cart{} ndims="{}">"#, name(&topology.name), topology.dimensions.len()));
    for dimension in &topology.dimensions {
        let (size, periodic) = (dimension.size, dimension.periodic);
        out.line(format_args!(r#"<dim{} size="{size}" periodic="{periodic}"/>"#, name(&dimension.name)));
    }
    for coordinate in &topology.coordinates {
        let (key, number) = match coordinate.of {
            Placed::Location(location) => ("locId", location.0),
            Placed::Group(group) => ("lgId", group_numbers.get(group.0).copied().unwrap_or_default()),
        };
        let position: Vec<String> = coordinate.position.iter().map(u64::to_string).collect();
        out.line(format_args!(r#"<coord {key}="{number}">{}</coord>"#, position.join(" ")));
    }
    out.line(format_args!("</cart>"));
}
