//! `structure-json`: graphs, loops and words as one object; the schema is `docs/schemas/replay-structure.json`.

use std::io::Write;

use cubex::CnodeId;
use details::manifest::{Phase, Prediction, Signature};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};
use structure::{Progression, TemporalGraph};

use super::Remarks;
use super::dot::others;
use super::source::Source;
use super::text::{name, separated};
use crate::error::Result;
use crate::paths;
use crate::tables::structure::{Edge, Group, Loop, Node, Part, Times, Word};

/// Writes all groups.
///
/// # Errors
/// If the report has none, or the output cannot be written.
pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> Result<Remarks> {
    let (structure, names) = source.structure()?;
    let per_second = structure.ticks_per_second;
    write!(
        out,
        "{{\"schema\":\"replay-structure/1\",\n\"title\":{},\n",
        written(&json!(name(&source.title())))
    )?;
    write!(out, "\"ticks_per_second\":{per_second},\n\"groups\":[")?;
    separated(out, structure.groups.iter().zip(&names), |out, (group, name)| {
        of_group(source, group, name, out)
    })?;
    let others_of = structure.others;
    let (graphs, locations, ticks) = (others_of.graphs, others_of.locations, others_of.ticks);
    write!(out, "],\n\"others\":{{\"graphs\":{graphs},\"locations\":{locations},\"ticks\":{ticks}}}")?;
    if let Some(recorded) = source.opened.manifest.as_ref().and_then(|manifest| manifest.recorded.as_ref()) {
        write!(out, ",\n\"recorded\":{}", written(&json!(recorded)))?;
    }
    if let Some(signature) = source.signature() {
        write!(out, ",\n\"signature\":{}", written(&signed(signature)))?;
    }
    writeln!(out, "}}")?;
    Ok(others(&structure))
}

fn of_group(source: &Source<'_>, group: &Group, title: &str, out: &mut dyn Write) -> std::io::Result<()> {
    let loop_name = |number: Option<u32>| number.map(|number| group.loop_name(number));
    let mut head = Map::new();
    head.insert("name".into(), json!(name(title)));
    head.insert("location".into(), json!(group.location));
    head.insert("locations".into(), json!(group.locations));
    head.insert("ticks".into(), json!(group.ticks));
    head.insert("level".into(), json!(group.level.name()));
    head.insert("steps".into(), json!(group.steps));
    head.insert("main".into(), json!(loop_name(group.main)));
    head.insert("has_order".into(), json!(!group.order.is_empty()));
    let head = written(&Value::Object(head));
    write!(out, "\n{}", head.trim_end_matches('}'))?;
    // Names of loops may be long where loops are deep: they are made one by one.
    list(out, "nodes", &group.nodes, |it| node(source, it, loop_name(it.around)))?;
    let partitions = partitions(group);
    list(out, "edges", &group.edges, |it| edge(it, partitions.get(&(it.from, it.to))))?;
    list(out, "loops", &group.loops, |it| of_loop(it, loop_name(Some(it.number)), loop_name(it.parent)))?;
    list(out, "words", &group.words, |it| word(it, &loop_name))?;
    out.write_all(b"}")
}

/// The text of a value, in which no HTML around it ends.
fn written(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// Writes a list of objects.
fn list<T>(out: &mut dyn Write, key: &str, items: &[T], value: impl Fn(&T) -> Value) -> std::io::Result<()> {
    write!(out, ",\n\"{key}\":[")?;
    separated(out, items.iter(), |out, item| write!(out, "{}", written(&value(item))))?;
    out.write_all(b"]")
}

/// An object without the members that are null.
fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(members.map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Parts that stand for the run, and how well.
fn signed(Signature { phases, of_loop, of_run }: &Signature) -> Value {
    let predictions = |all: &[Prediction]| -> Vec<Value> {
        let prediction = |it: &Prediction| {
            object([
                ("of", json!(name(&it.of))),
                ("measured", json!(it.measured)),
                ("predicted", json!(it.predicted)),
                ("by_first", json!(it.by_first)),
            ])
        };
        all.iter().map(prediction).collect()
    };
    let phase = |it: &Phase| {
        object([
            ("of", json!(name(&it.of))),
            ("number", json!(it.number)),
            ("representative", json!(it.representative)),
            ("weight", json!(it.weight)),
            ("elapsed", json!(it.elapsed)),
            ("time", json!(it.time)),
            ("mpi", json!(it.mpi)),
            ("share", json!(it.share)),
            ("is_relevant", json!(it.is_relevant)),
        ])
    };
    let phases: Vec<Value> = phases.iter().map(phase).collect();
    json!({ "phases": phases, "of_loop": predictions(of_loop), "of_run": predictions(of_run) })
}

fn node(source: &Source<'_>, it: &Node, around: Option<String>) -> Value {
    let path = it.cnode.map(|cnode| name(&paths::path(source.cube(), CnodeId(cnode))));
    let [ticks, least, most] = it.times;
    object([
        ("node", json!(it.number)),
        ("key", json!(it.key)),
        ("call", json!(name(&it.call))),
        ("cnode", json!(it.cnode)),
        ("path", json!(path)),
        ("file", json!((!it.file.is_empty()).then(|| name(&it.file)))),
        ("line", json!(it.line)),
        ("loop", json!(around)),
        ("visits", json!(it.visits)),
        ("ticks", json!(ticks)),
        ("least_ticks", json!(least)),
        ("most_ticks", json!(most)),
    ])
}

fn edge(it: &Edge, partition: Option<&Vec<Progression>>) -> Value {
    let [ticks, least, most] = it.times;
    object([
        ("from", json!(it.from)),
        // -1 is the end.
        ("to", json!(it.to.map_or(-1, i64::from))),
        ("count", json!(it.count)),
        ("ticks", json!(ticks)),
        ("least_ticks", json!(least)),
        ("most_ticks", json!(most)),
        ("polls", json!(it.polls)),
        ("poll_ticks", json!(it.poll_ticks)),
        ("partition", json!(partition.map(|partition| listed(partition)))),
    ])
}

/// The visits at which edges are taken, by their ends; those that are taken at all others have none.
fn partitions(group: &Group) -> FxHashMap<(u32, Option<u32>), Vec<Progression>> {
    let order = match group.order[..] {
        [] => None,
        _ => TemporalGraph::decode(&group.order, group.count),
    };
    let nodes = order.iter().flat_map(TemporalGraph::nodes);
    let ways = (0..).zip(nodes).flat_map(|(from, ways)| ways.skip(1).map(move |way| (from, way)));
    let end = |node: structure::Node| (node != structure::Node::END).then(|| node.number());
    ways.map(|(from, way)| ((from, end(way.to)), way.visits.to_vec())).collect()
}

fn listed(progressions: &[Progression]) -> Value {
    let four = |it: &Progression| json!([it.first, it.last, it.stride, it.block]);
    Value::Array(progressions.iter().map(four).collect())
}

fn of_loop(it: &Loop, own: Option<String>, parent: Option<String>) -> Value {
    let [ticks, least, most]: Times = it.times;
    object([
        ("loop", json!(own)),
        ("parent", json!(parent)),
        ("header", json!(it.header)),
        ("iterations", json!(it.iterations)),
        ("instances", json!(it.instances)),
        ("fewest", json!(it.fewest)),
        ("largest", json!(it.largest)),
        ("ticks", json!(ticks)),
        ("least_ticks", json!(least)),
        ("most_ticks", json!(most)),
        ("words", json!(it.words)),
    ])
}

fn word(it: &Word, loop_name: &impl Fn(Option<u32>) -> Option<String>) -> Value {
    let part = |part: &Part| match *part {
        Part::Step(node) => json!(node),
        Part::Instance(number) => json!({ "loop": loop_name(Some(number)) }),
    };
    object([
        ("loop", json!(loop_name(it.of))),
        ("word", json!(it.number)),
        ("count", json!(it.count)),
        ("by_instance", json!(it.is_by_instance)),
        ("guard", if it.guard.is_empty() { Value::Null } else { listed(&it.guard) }),
        ("parts", Value::Array(it.parts.iter().map(part).collect())),
    ])
}
