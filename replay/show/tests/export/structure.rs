//! Exports of the structure: graphs for Graphviz and as a picture, all of it as JSON, and the order of all calls.

use std::path::Path;
use std::process::{Command, Stdio};

use details::{Column, Table, Unit, Values};
use serde_json::Value;
use show::status::Status;
use skip::{Need, skip};
use structure::{Graph, Node, TemporalGraph};

use super::judges::judge;
use super::report::{HOSTILE, NONE, Names, counts, numbers, table, ticks, write_tables};
use super::{Exported, plain};
use crate::support::run;

/// Calls of the first group by number of their node: main/work (node 1), then twice MPI_Send and MPI_Recv, then main/work
/// again.
const SEQUENCE: [u32; 6] = [1, 2, 3, 2, 3, 1];

/// The tables; `has_others` says whether 12 other locations have 3 graphs that are not kept.
pub(super) fn tables(has_others: bool) -> Vec<Table> {
    let groups = if has_others { 2 } else { 1 };
    let sequence = || SEQUENCE.map(Node::new).into_iter();
    let graph = Graph::of(sequence());
    let order = TemporalGraph::of(sequence()).unwrap().encode();
    let bytes = |name: &str, rows: Vec<Vec<u8>>| Column::new(name, None, Values::Bytes(rows));
    let of_edges = |of: fn(&structure::Edge) -> u32| graph.edges.iter().map(of).collect::<Vec<u32>>();
    let zeros = vec![0; graph.edges.len()];
    let hundreds = vec![100; graph.edges.len()];
    let edge_counts: Vec<u64> = graph.edges.iter().map(|edge| edge.count).collect();
    vec![
        table(
            "structure_groups",
            vec![
                numbers("location", Some(Unit::Location), &[0, NONE][..groups]),
                numbers("locations", Some(Unit::Count), &[4, 12][..groups]),
                numbers("graphs", Some(Unit::Count), &[1, 3][..groups]),
                ticks("ticks", &[4 * 60_600, 9][..groups]),
                numbers("level", None, &[0, 0][..groups]),
                numbers("steps", Some(Unit::Count), &[6, 0][..groups]),
                numbers("nodes", Some(Unit::Count), &[3, 0][..groups]),
                numbers("edges", Some(Unit::Count), &[4, 0][..groups]),
                numbers("loops", Some(Unit::Count), &[2, 0][..groups]),
                numbers("main", None, &[0, NONE][..groups]),
                bytes("order", [order, Vec::new()][..groups].to_vec()),
            ],
        ),
        table(
            "structure_nodes",
            vec![
                numbers("group", None, &[0, 0, 0]),
                numbers("node", None, &[1, 2, 3]),
                numbers("key", None, &[1, 2, 3]),
                numbers("cnode", Some(Unit::Cnode), &[1, 2, 3]),
                numbers("loop", None, &[0, 1, 1]),
                numbers("is_gap", None, &[0, 0, 0]),
                counts("visits", Unit::Count, &[2, 2, 2]),
                ticks("ticks", &[20_000, 20_000, 20_000]),
                ticks("least_ticks", &[10_000, 10_000, 10_000]),
                ticks("most_ticks", &[10_000, 10_000, 10_000]),
            ],
        ),
        table(
            "structure_edges",
            vec![
                numbers("group", None, &of_edges(|_| 0)),
                numbers("from", None, &of_edges(|edge| edge.from.number())),
                numbers("to", None, &of_edges(|edge| edge.to.number())),
                counts("count", Unit::Count, &edge_counts),
                ticks("ticks", &hundreds),
                ticks("least_ticks", &hundreds),
                ticks("most_ticks", &hundreds),
                numbers("polls", Some(Unit::Count), &of_edges(|_| 0)),
                ticks("poll_ticks", &zeros),
            ],
        ),
        table(
            "structure_loops",
            vec![
                numbers("group", None, &[0, 0]),
                numbers("loop", None, &[0, 1]),
                numbers("parent", None, &[NONE, 0]),
                numbers("header", None, &[1, 2]),
                numbers("iterations", Some(Unit::Count), &[2, 2]),
                numbers("instances", Some(Unit::Count), &[1, 1]),
                numbers("fewest", Some(Unit::Count), &[2, 2]),
                numbers("largest", Some(Unit::Count), &[2, 2]),
                ticks("ticks", &[60_500, 40_300]),
                ticks("least_ticks", &[10_000, 20_100]),
                ticks("most_ticks", &[50_500, 20_200]),
                numbers("words", Some(Unit::Count), &[2, 1]),
            ],
        ),
        table(
            "structure_words",
            vec![
                numbers("group", None, &[0, 0, 0, 0]),
                numbers("loop", None, &[NONE, 0, 0, 1]),
                numbers("word", None, &[0, 0, 1, 0]),
                numbers("count", Some(Unit::Count), &[1, 1, 1, 2]),
                numbers("by_instance", None, &[1, 1, 1, 1]),
                bytes("guard", vec![vec![0, 0, 0, 1], vec![0, 0, 0, 1], vec![1, 1, 0, 1], vec![0, 1, 0, 2]]),
                bytes("parts", vec![vec![1], vec![2, 3], vec![2], vec![4, 6]]),
            ],
        ),
    ]
}

/// The graphs of a file for Graphviz as Graphviz draws them; `None` if it is not installed.
fn drawn(file: &Path) -> Option<String> {
    let program = Command::new("dot").arg("-Tsvg").arg(file).stderr(Stdio::piped()).output();
    let Ok(output) = program else {
        skip(Need::System, "graphs are not drawn, as there is no Graphviz (dot)");
        return None;
    };
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !messages.contains("syntax error"), "{messages}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn graphviz_draws_boxes_arrows_and_clusters() {
    let exported = plain();
    let Some(svg) = drawn(&exported.export("dot", &[])) else { return };
    let count = |class: &str| svg.matches(&format!("class=\"{class}\"")).count();
    assert_eq!((count("node"), count("edge"), count("cluster")), (3 + 2, 4 + 2, 2), "{svg}");
}

#[test]
fn graphviz_takes_every_name() {
    for name in HOSTILE {
        let exported = Exported::new(&Names::all(name));
        let Some(svg) = drawn(&exported.export("dot", &[])) else { return };
        assert!(svg.matches("class=\"node\"").count() == 5 && !svg.contains("<script"), "{name}");
    }
}

#[test]
fn pictures_are_xml_with_all_boxes() {
    let exported = plain();
    let text = exported.text("svg", &[]);
    assert_eq!(text.matches("fill=\"#dce9f7\"").count(), 3);
    assert!(text.contains("rank 0 and 3 alike") && text.contains("LOOP 1.1: 2\u{a0}x"));
    for name in HOSTILE {
        let exported = Exported::new(&Names::all(name));
        let file = exported.export("svg", &[]);
        let check = "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])";
        let Ok(checked) = Command::new("python3").args(["-c", check]).arg(&file).output() else {
            return skip(Need::Python, "pictures are not read as XML, as there is no python3");
        };
        assert!(checked.status.success(), "{name}: {}", String::from_utf8_lossy(&checked.stderr));
    }
}

#[test]
fn json_has_all_of_the_tables() {
    let exported = plain();
    let value: Value = serde_json::from_str(&exported.text("structure-json", &[])).unwrap();
    assert_eq!(value["schema"], "replay-structure/1");
    assert_eq!((&value["others"]["graphs"], &value["others"]["locations"]), (&0.into(), &0.into()));
    let group = &value["groups"][0];
    assert_eq!((&group["name"], &group["main"]), (&"rank 0 and 3 alike".into(), &"1".into()));
    assert_eq!(group["nodes"][1]["path"], "main/MPI_Send");
    assert_eq!((&group["loops"][1]["loop"], &group["loops"][1]["parent"]), (&"1.1".into(), &"1".into()));
    assert_eq!(group["words"][1]["parts"].to_string(), r#"[1,{"loop":"1.1"}]"#);
    // Behind node 3 comes 2 at the first visit, 1 at the second.
    let edges = group["edges"].as_array().unwrap();
    let partitions: Vec<String> =
        edges.iter().filter(|edge| edge["from"] == 3).map(|edge| edge["partition"].to_string()).collect();
    assert_eq!(partitions, ["null", "[[1,1,0,1]]"]);
    let schema = Path::new("docs/schemas/replay-structure.json");
    judge("data", "jsonschema", "schema.py", &[schema, &exported.export("structure-json", &[])]);
}

/// Reads a file as `docs/exports.md` describes it.
pub(crate) struct Reader<'r>(pub(crate) &'r [u8]);

impl Reader<'_> {
    fn number(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let (&byte, rest) = self.0.split_first().expect("a whole number");
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    fn bytes(&mut self) -> Vec<u8> {
        let count = usize::try_from(self.number()).unwrap();
        let (bytes, rest) = self.0.split_at(count);
        self.0 = rest;
        bytes.to_vec()
    }
}

#[test]
fn order_of_all_calls_comes_back_from_the_file() {
    let bytes = std::fs::read(plain().export("t-efg", &[])).unwrap();
    let mut reader = Reader(bytes.strip_prefix(b"REPLAY-T-EFG 1\n").unwrap());
    assert_eq!(
        [(); 5].map(|()| reader.number()),
        [1, 0, 4, 6, 3],
        "groups; location, locations, steps, nodes"
    );
    let node = |reader: &mut Reader<'_>| {
        let key = reader.number();
        let [path, file] = [(); 2].map(|()| String::from_utf8(reader.bytes()).unwrap());
        (key, path, file, reader.number())
    };
    let nodes = [(); 3].map(|()| node(&mut reader));
    assert_eq!((nodes[1].0, nodes[1].1.as_str()), (2, "main/MPI_Send"));
    let order = TemporalGraph::decode(&reader.bytes(), 3).unwrap();
    assert_eq!(order.sequence().collect::<Vec<_>>(), SEQUENCE.map(Node::new));
    assert_eq!(reader.0, b"");
}

#[test]
fn tree_names_loops_calls_and_other_graphs() {
    let exported = plain();
    write_tables(&exported.report, &Names::plain(), tables(true).into_iter());
    let printed = run(100, &["structure", exported.report.to_str().unwrap()]);
    assert_eq!((printed.status, printed.messages.as_str()), (Status::Done, ""));
    let expected = "\
rank 0 and 3 alike: 6 calls at 3 places; 99.8 % of the time is in iterations of LOOP 1
 99.8 %  LOOP 1  2 x 15.1 µs (5.00 µs to 25.2 µs)
   33.3 %  1 call: work
   66.5 %  LOOP 1.1  2 x 10.1 µs, only in the first: 2 calls: MPI_Send, MPI_Recv
3 other graphs
";
    assert_eq!(printed.results.replace('\u{a0}', " "), expected);
    let file = exported.path().join("structure.json");
    std::fs::write(&file, run(100, &["structure", "--json", exported.report.to_str().unwrap()]).results)
        .unwrap();
    judge("data", "jsonschema", "schema.py", &[Path::new("docs/schemas/replay-show.json"), &file]);
    let (printed, _) = exported.try_export("dot", &[]);
    assert!(printed.messages.contains("without 3 other graphs"), "{}", printed.messages);
}

#[test]
fn reports_without_structure_say_so() {
    let exported = Exported::without_details();
    for format in super::OF_STRUCTURE {
        let (printed, _) = exported.try_export(format, &[]);
        assert!(printed.messages.contains("replay-analyze"), "{format}: {}", printed.messages);
    }
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("r.cubex");
    crate::support::example::write(&report, &crate::support::example::Names::default(), |_| {});
    let printed = run(80, &["structure", report.to_str().unwrap()]);
    assert_eq!(printed.status, Status::Failed);
    let message =
        "the report says nothing of graphs and loops: replay-analyze EXPERIMENT writes them, but not with";
    assert!(printed.messages.contains(message), "{}", printed.messages);
}
