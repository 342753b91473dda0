//! Parser of `anchor.xml`.
//!
//! Unknown elements are skipped. Nesting is kept on an explicit stack, so depth costs memory in
//! proportion to the text and nothing else.

use std::io::Read;

use quick_xml::events::Event;

use super::numbering::{arrange, distinct, sort, tree_positions};
use super::tag::{Tag, decoded, entity, number};
use crate::error::{Error, Result};
use crate::{
    Aggregation, Attribute, Cnode, CnodeId, Coordinate, Cube, DataType, Dimension, Location, LocationGroup,
    LocationGroupId, LocationGroupKind, LocationId, LocationKind, Metric, MetricId, MetricKind, Parameter,
    Placed, Region, RegionId, SystemTreeNode, SystemTreeNodeId, Topology,
};

/// A decoded anchor.
#[derive(Debug)]
pub(crate) struct Anchor {
    pub(crate) cube: Cube,
    /// Number of each metric in the names of its members.
    pub(crate) metric_numbers: Vec<u64>,
}

/// Limit of inflated size over compressed size; deflate cannot compress better.
const MAX_RATIO: u64 = 1032;

/// Decodes an anchor, plain or compressed.
pub(crate) fn read(bytes: &[u8]) -> Result<Anchor> {
    if !bytes.starts_with(b"\x1f\x8b") {
        return parse(bytes);
    }
    let mut text = Vec::new();
    let limit = (bytes.len() as u64).saturating_mul(MAX_RATIO);
    let inflated = flate2::read::GzDecoder::new(bytes).take(limit).read_to_end(&mut text);
    inflated.map_err(|error| Error::invalid(format!("compressed text: {error}")))?;
    parse(&text)
}

fn parse(text: &[u8]) -> Result<Anchor> {
    let mut xml = quick_xml::Reader::from_reader(text);
    xml.config_mut().expand_empty_elements = true;
    xml.config_mut().allow_dangling_amp = true;
    let mut document = AnchorParser::default();
    loop {
        let at = xml.buffer_position();
        let event =
            xml.read_event().map_err(|error| Error::invalid(error.to_string()).at(xml.error_position()))?;
        let result = match event {
            Event::Start(start) => {
                let name = String::from_utf8_lossy(start.name().as_ref()).into_owned();
                Tag::new(&start).and_then(|tag| document.open(name, &tag))
            }
            Event::End(_) => document.close(),
            Event::Text(text) => {
                document.text.push_str(&decoded(&String::from_utf8_lossy(&text)));
                Ok(())
            }
            Event::CData(text) => {
                document.text.push_str(&String::from_utf8_lossy(&text));
                Ok(())
            }
            Event::GeneralRef(name) => {
                let name = String::from_utf8_lossy(&name);
                match entity(&name) {
                    Some(c) => document.text.push(c),
                    None => document.text.push_str(&format!("&{name};")),
                }
                Ok(())
            }
            Event::Eof => break,
            _ => Ok(()),
        };
        result.map_err(|error| error.at(at))?;
    }
    document.finish().map_err(|error| error.at(text.len() as u64))
}

/// An open element.
#[derive(Clone, Debug)]
enum Element {
    /// Groups other elements: `cube`, `doc`, `metrics`, ...
    Section,
    Metric(usize),
    Region(usize),
    Cnode(usize),
    SystemTreeNode(usize),
    LocationGroup(usize),
    Location(usize),
    Topology(usize),
    /// Any other element; inside an element that has properties, its text is the property of its name.
    Property(String),
}

/// Parser state. Numbers are those of the file, parents are positions in document order.
#[derive(Debug, Default)]
struct AnchorParser {
    cube: Cube,
    metric_ids: Vec<u64>,
    region_ids: Vec<u64>,
    cnode_ids: Vec<u64>,
    callee_ids: Vec<u64>,
    location_ids: Vec<u64>,
    open: Vec<Element>,
    /// Text since the last opening or closing tag.
    text: String,
    /// The operator that the open `cubeplaggr` element defines.
    aggregation: Option<Aggregation>,
    has_root: bool,
}

impl AnchorParser {
    fn open(&mut self, name: String, tag: &Tag) -> Result<()> {
        self.text.clear();
        let element = match (self.open.last(), name.as_str()) {
            (None, "cube") => {
                self.has_root = true;
                Element::Section
            }
            (None, _) => return Err(Error::invalid(format!("<{}>, expected <cube>", name.escape_debug()))),
            (Some(Element::Section), _) => self.open_in_section(name, tag)?,
            (Some(Element::Metric(parent)), "metric") => self.metric(Some(*parent), tag)?,
            (Some(Element::Metric(id)), "cubepl" | "cubeplinit" | "cubeplaggr") => {
                let id = *id;
                self.expression(id, tag);
                Element::Property(name)
            }
            (Some(Element::Cnode(parent)), "cnode") => self.cnode(Some(*parent), tag)?,
            (Some(Element::Cnode(id)), "parameter") => {
                let id = *id;
                self.parameter(id, tag);
                Element::Property(name)
            }
            (Some(Element::SystemTreeNode(parent)), "systemtreenode") => self.system_tree_node(Some(*parent)),
            (Some(Element::SystemTreeNode(node)), "locationgroup") => {
                let system_tree_node = SystemTreeNodeId(*node);
                let group = LocationGroup { system_tree_node, ..LocationGroup::default() };
                Element::LocationGroup(self.cube.add_location_group(group).0)
            }
            (Some(Element::LocationGroup(group)), "location") => {
                let group = LocationGroupId(*group);
                self.location_ids.push(tag.id()?);
                Element::Location(self.cube.add_location(Location { group, ..Location::default() }).0)
            }
            (Some(Element::Topology(id)), "dim" | "coord") => {
                let id = *id;
                self.grid(id, &name, tag)?;
                Element::Property(name)
            }
            (Some(parent), "attr") => {
                let parent = parent.clone();
                let attribute = Attribute::new(tag.text("key"), tag.text("value"));
                self.attributes(&parent).into_iter().for_each(|list| list.push(attribute.clone()));
                Element::Property(name)
            }
            _ => Element::Property(name),
        };
        self.open.push(element);
        Ok(())
    }

    fn open_in_section(&mut self, name: String, tag: &Tag) -> Result<Element> {
        Ok(match name.as_str() {
            "doc" | "mirrors" | "metrics" | "program" | "system" | "topologies" => Element::Section,
            "severity" => return Err(Error::invalid("values inside the anchor (Cube 3) are not supported")),
            "attr" => {
                self.cube.attributes.push(Attribute::new(tag.text("key"), tag.text("value")));
                Element::Property(name)
            }
            "metric" => self.metric(None, tag)?,
            "region" => {
                self.region_ids.push(tag.id()?);
                Element::Region(
                    self.cube
                        .add_region(Region {
                            module: tag.text("mod"),
                            begin_line: tag.line("begin"),
                            end_line: tag.line("end"),
                            ..Region::default()
                        })
                        .0,
                )
            }
            "cnode" => self.cnode(None, tag)?,
            "systemtreenode" => self.system_tree_node(None),
            "cart" => {
                self.cube.topologies.push(Topology { name: tag.text("name"), ..Topology::default() });
                Element::Topology(self.cube.topologies.len() - 1)
            }
            _ => Element::Property(name),
        })
    }

    fn metric(&mut self, parent: Option<usize>, tag: &Tag) -> Result<Element> {
        self.metric_ids.push(tag.id()?);
        let is_false = |key| tag.get(key) == Some("false");
        let metric = Metric {
            parent: parent.map(MetricId),
            kind: MetricKind::from_name(tag.get("type").unwrap_or_default()),
            ghost: tag.get("viztype") == Some("GHOST"),
            not_convertible: is_false("convertible"),
            not_cacheable: is_false("cacheable"),
            ..Metric::default()
        };
        Ok(Element::Metric(self.cube.add_metric(metric).0))
    }

    fn expression(&mut self, metric: usize, tag: &Tag) {
        self.aggregation = tag.get("cubeplaggrtype").and_then(Aggregation::from_name);
        if let Some(metric) = self.cube.metrics.get_mut(metric) {
            let expression = metric.expression.get_or_insert_default();
            expression.by_value |= tag.get("rowwise") == Some("false");
        }
    }

    fn cnode(&mut self, parent: Option<usize>, tag: &Tag) -> Result<Element> {
        self.cnode_ids.push(tag.id()?);
        self.callee_ids.push(tag.number("calleeId")?);
        let parent = parent.map(CnodeId);
        let cnode = Cnode { parent, module: tag.text("mod"), line: tag.line("line"), ..Cnode::default() };
        Ok(Element::Cnode(self.cube.add_cnode(cnode).0))
    }

    fn parameter(&mut self, cnode: usize, tag: &Tag) {
        let (key, value) = (tag.text("parkey"), tag.text("parvalue"));
        let number = value.trim().parse().ok().filter(|_| tag.get("partype") == Some("numeric"));
        let parameter = match number {
            Some(value) => Parameter::Numeric { key, value },
            None => Parameter::Text { key, value },
        };
        self.cube
            .cnodes
            .get_mut(cnode)
            .into_iter()
            .for_each(|cnode| cnode.parameters.push(parameter.clone()));
    }

    fn system_tree_node(&mut self, parent: Option<usize>) -> Element {
        let node = SystemTreeNode { parent: parent.map(SystemTreeNodeId), ..SystemTreeNode::default() };
        Element::SystemTreeNode(self.cube.add_system_tree_node(node).0)
    }

    fn grid(&mut self, topology: usize, name: &str, tag: &Tag) -> Result<()> {
        let Some(topology) = self.cube.topologies.get_mut(topology) else { return Ok(()) };
        if name == "dim" {
            let (name, periodic) = (tag.text("name"), tag.get("periodic") == Some("true"));
            topology.dimensions.push(Dimension { name, size: tag.number("size")?, periodic });
            return Ok(());
        }
        let of = match tag.get("lgId") {
            Some(group) => Placed::Group(LocationGroupId(position(number(group)?)?)),
            None => Placed::Location(LocationId(position(tag.number("locId")?)?)),
        };
        topology.coordinates.push(Coordinate { of, position: Vec::new() });
        Ok(())
    }

    fn attributes(&mut self, element: &Element) -> Option<&mut Vec<Attribute>> {
        let cube = &mut self.cube;
        match *element {
            Element::Metric(id) => cube.metrics.get_mut(id).map(|metric| &mut metric.attributes),
            Element::Region(id) => cube.regions.get_mut(id).map(|region| &mut region.attributes),
            Element::Cnode(id) => cube.cnodes.get_mut(id).map(|cnode| &mut cnode.attributes),
            Element::SystemTreeNode(id) => {
                cube.system_tree_nodes.get_mut(id).map(|node| &mut node.attributes)
            }
            Element::LocationGroup(id) => cube.location_groups.get_mut(id).map(|group| &mut group.attributes),
            Element::Location(id) => cube.locations.get_mut(id).map(|location| &mut location.attributes),
            Element::Section | Element::Topology(_) | Element::Property(_) => None,
        }
    }

    fn close(&mut self) -> Result<()> {
        let mut text = std::mem::take(&mut self.text);
        let Some(Element::Property(name)) = self.open.pop() else { return Ok(()) };
        // Comments in expressions end with their lines.
        if !name.starts_with("cubepl") {
            text = text.replace('\n', " ");
        }
        match self.open.last() {
            Some(Element::Section) if name == "murl" => self.cube.mirrors.push(text),
            Some(&Element::Metric(id)) => self.metric_property(id, &name, text),
            Some(&Element::Region(id)) => {
                self.cube.regions.get_mut(id).into_iter().for_each(|it| region_property(it, &name, &text));
            }
            Some(&Element::SystemTreeNode(id)) => {
                if let Some(node) = self.cube.system_tree_nodes.get_mut(id) {
                    match name.as_str() {
                        "name" => node.name = text,
                        "class" => node.class = text,
                        "descr" => node.description = text,
                        _ => {}
                    }
                }
            }
            Some(&Element::LocationGroup(id)) => {
                if let Some(group) = self.cube.location_groups.get_mut(id) {
                    match name.as_str() {
                        "name" => group.name = text,
                        "rank" => group.rank = number(&text)?,
                        "type" => group.kind = known(LocationGroupKind::from_name, &text)?,
                        _ => {}
                    }
                }
            }
            Some(&Element::Location(id)) => {
                if let Some(location) = self.cube.locations.get_mut(id) {
                    match name.as_str() {
                        "name" => location.name = text,
                        "rank" => location.rank = number(&text)?,
                        "type" => location.kind = known(LocationKind::from_name, &text)?,
                        _ => {}
                    }
                }
            }
            Some(&Element::Topology(id)) if name == "coord" => {
                let coordinates = self.cube.topologies.get_mut(id).map(|topology| &mut topology.coordinates);
                if let Some(coordinate) = coordinates.and_then(|coordinates| coordinates.last_mut()) {
                    coordinate.position = text.split_ascii_whitespace().map(number).collect::<Result<_>>()?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn metric_property(&mut self, id: usize, name: &str, text: String) {
        let Some(metric) = self.cube.metrics.get_mut(id) else { return };
        match (name, &mut metric.expression) {
            ("disp_name", _) => metric.display_name = text,
            ("uniq_name", _) => metric.unique_name = text,
            ("dtype", _) => metric.data_type = DataType::from_name(text.trim()),
            ("uom", _) => metric.unit = text,
            ("val", _) => metric.void = text == "VOID",
            ("url", _) => metric.url = text,
            ("descr", _) => metric.description = text,
            ("cubepl", Some(expression)) => expression.value = text,
            ("cubeplinit", Some(expression)) => expression.init = text,
            ("cubeplaggr", Some(expression)) => {
                expression.aggregations.extend(self.aggregation.take().map(|kind| (kind, text)));
            }
            _ => {}
        }
    }

    /// Renumbers everything.
    fn finish(self) -> Result<Anchor> {
        if !self.has_root || !self.open.is_empty() {
            return Err(Error::invalid("the text ends before </cube>"));
        }
        let mut cube = self.cube;

        distinct("metric", &self.metric_ids)?;
        let parents: Vec<_> =
            cube.metrics.iter().map(|metric| metric.parent.map(|parent| parent.0)).collect();
        let positions = tree_positions(&self.metric_ids, &parents);
        for metric in &mut cube.metrics {
            metric.parent = metric.parent.and_then(|parent| positions.get(parent.0).copied().map(MetricId));
        }
        cube.metrics = arrange(cube.metrics, &positions);
        let metric_numbers = arrange(self.metric_ids, &positions);

        let regions;
        (cube.regions, regions) = sort("region", cube.regions, &self.region_ids)?;
        let parents: Vec<_> = cube.cnodes.iter().map(|cnode| cnode.parent.map(|parent| parent.0)).collect();
        let positions = tree_positions(&self.cnode_ids, &parents);
        for (cnode, callee) in cube.cnodes.iter_mut().zip(&self.callee_ids) {
            let region = regions.get(callee).copied().map(RegionId);
            cnode.region = region.ok_or_else(|| Error::invalid(format!("region {callee} does not exist")))?;
            cnode.parent = cnode.parent.and_then(|parent| positions.get(parent.0).copied().map(CnodeId));
        }
        cube.cnodes = arrange(cube.cnodes, &positions);

        let locations;
        (cube.locations, locations) = sort("location", cube.locations, &self.location_ids)?;
        let groups = cube.location_groups.len();
        for coordinate in cube.topologies.iter_mut().flat_map(|topology| &mut topology.coordinates) {
            match &mut coordinate.of {
                Placed::Location(id) => match locations.get(&(id.0 as u64)) {
                    Some(position) => id.0 = *position,
                    None => return Err(Error::invalid(format!("location {} does not exist", id.0))),
                },
                Placed::Group(id) if id.0 < groups => {}
                Placed::Group(id) => {
                    return Err(Error::invalid(format!("location group {} does not exist", id.0)));
                }
            }
        }
        Ok(Anchor { cube, metric_numbers })
    }
}

fn region_property(region: &mut Region, name: &str, text: &str) {
    let property = match name {
        "name" => &mut region.name,
        "mangled_name" => &mut region.mangled_name,
        "paradigm" => &mut region.paradigm,
        "role" => &mut region.role,
        "url" => &mut region.url,
        "descr" => &mut region.description,
        _ => return,
    };
    text.clone_into(property);
}

fn known<T>(from_name: impl Fn(&str) -> Option<T>, text: &str) -> Result<T> {
    let name = text.trim();
    from_name(name).ok_or_else(|| Error::invalid(format!("unknown type \"{}\"", name.escape_debug())))
}

fn position(number: u64) -> Result<usize> {
    usize::try_from(number).map_err(|_| Error::invalid(format!("number {number} is too large")))
}
