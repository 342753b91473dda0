//! Laws of the tables of the structure (`docs/details.md`): sums of nodes and edges, and the order of all calls.

use std::collections::BTreeMap;
use std::path::Path;

use cubex::Report;
use details::Values;
use details::manifest::member;
use generate::{Job, Pattern};
use replay::exchange::Solo;
use replay::progress::Progress;
use replay::{Options, Semantics};
use show::status::Status;
use structure::{Graph, Node, TemporalGraph};

use crate::oracle::random::lawful;
use crate::oracle::read::read;
use crate::support::parse::Case;
use crate::support::report::Table;
use crate::support::show::show;
use crate::support::tables::{Details, Row};
use crate::support::{analyze, archive, archives, golden, in_memory, name, options, workers, write};

/// Stands for none in columns of 32 bits, and for the end of a sequence.
const NONE: i128 = u32::MAX as i128;

/// Functions that ask whether something is complete. Calls of them are no steps if nothing is.
const POLLS: [&str; 7] =
    ["test", "testall", "testany", "testsome", "iprobe", "improbe", "request_get_status"];

/// The order of each group, as it is in the report.
fn orders(report: &Path) -> Vec<Vec<u8>> {
    let bytes = Report::open(report).unwrap().member(&member("structure_groups")).unwrap().unwrap();
    match &details::parse(&bytes).unwrap().column("order").unwrap().values {
        Values::Bytes(rows) => rows.clone(),
        other => panic!("{other:?}"),
    }
}

/// What `replay-show` writes to a file.
fn export(format: &str, report: &Path) -> Vec<u8> {
    let directory = in_memory();
    let out = directory.path().join("out");
    let [report, path] = [report, &out].map(|path| path.to_str().unwrap());
    let (status, _, messages) = show(&["export", format, report, "-o", path], &[]);
    assert_eq!(status, Status::Done, "{messages}");
    std::fs::read(out).unwrap()
}

/// The calls of each group, as they come back from the file that `docs/exports.md` describes.
fn exported(report: &Path) -> Vec<Vec<Node>> {
    let bytes = export("t-efg", report);
    let mut bytes = bytes.strip_prefix(b"REPLAY-T-EFG 1\n").expect("the begin");
    let groups = leb128(&mut bytes);
    let group = |_| {
        let [_, _, steps, nodes] = [(); 4].map(|()| leb128(&mut bytes));
        for _ in 0..nodes {
            let _ = (leb128(&mut bytes), text(&mut bytes), text(&mut bytes), leb128(&mut bytes));
        }
        let order = TemporalGraph::decode(text(&mut bytes), u32::try_from(nodes).unwrap()).unwrap();
        let sequence: Vec<Node> = order.sequence().collect();
        assert_eq!(sequence.len() as u64, steps);
        sequence
    };
    let all = (0..groups).map(group).collect();
    assert!(bytes.is_empty());
    all
}

fn leb128(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a whole number");
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

/// Bytes behind their number.
fn text<'b>(bytes: &mut &'b [u8]) -> &'b [u8] {
    let count = usize::try_from(leb128(bytes)).unwrap();
    let (text, rest) = bytes.split_at(count);
    *bytes = rest;
    text
}

/// Rows of a group.
fn of_group(rows: &[Row], group: usize) -> Vec<Row> {
    rows.iter().filter(|row| row["group"] == group as i128).cloned().collect()
}

fn sum(rows: &[Row], column: &str) -> i128 {
    rows.iter().map(|row| row[column]).sum()
}

/// Checks the laws of a report without findings about its groups; returns how many steps their orders have.
fn check(experiment: &Path, report: &Path) -> usize {
    let (name, details, table) = (name(experiment), Details::open(report), Table::read(report));
    let rows = |table: &str| details.rows(table).unwrap_or_else(|| panic!("{name}: no {table}"));
    let (groups, nodes, edges) = (rows("structure_groups"), rows("structure_nodes"), rows("structure_edges"));
    let (loops, words) = (rows("structure_loops"), rows("structure_words"));
    let (locations, _) = read(experiment, Semantics::Corrected);
    let mut exported = exported(report);
    let mut steps = 0;
    for ((at, group), order) in groups.iter().enumerate().zip(orders(report)) {
        let [nodes, edges, loops, words] = [&nodes, &edges, &loops, &words].map(|rows| of_group(rows, at));
        let sizes = [nodes.len(), edges.len(), loops.len()].map(|count| count as i128);
        let begin_and_end = edges.iter().filter(|it| it["from"] == 0 || it["to"] == NONE).count() as i128;
        assert_eq!(sizes, [group["nodes"], group["edges"] + begin_and_end, group["loops"]], "{name}");
        assert_eq!(sum(&nodes, "visits"), group["steps"], "{name}");
        for node in &nodes {
            let [into, out] = ["to", "from"].map(|end| {
                edges.iter().filter(|edge| edge[end] == node["node"]).map(|edge| edge["count"]).sum::<i128>()
            });
            assert_eq!([into, out], [node["visits"]; 2], "{name}");
        }
        if group["locations"] == 1 {
            assert_eq!(sum(&nodes, "ticks") + sum(&edges, "ticks"), group["ticks"], "{name}");
        }
        for it in &loops {
            let all = of_loop(&words, it["loop"]);
            assert_eq!(all.iter().map(|word| word["count"]).sum::<i128>(), it["iterations"], "{name}");
            assert_eq!(all.len() as i128, it["words"], "{name}");
            assert!(it["parent"] == NONE || it["parent"] < it["loop"], "{name}");
        }
        assert_eq!(of_loop(&words, NONE).len(), 1, "{name}: the whole sequence");

        // The order, and the calls that were recorded.
        let count = u32::try_from(group["nodes"]).unwrap();
        let sequence: Vec<Node> =
            TemporalGraph::decode(&order, count).unwrap_or_else(|| panic!("{name}")).sequence().collect();
        let taken = |graph: &Graph| -> BTreeMap<(i128, i128), i128> {
            let ends = |it: &structure::Edge| (it.from.number().into(), it.to.number().into());
            graph.edges.iter().map(|edge| (ends(edge), edge.count.into())).collect()
        };
        let stored: BTreeMap<(i128, i128), i128> =
            edges.iter().map(|edge| ((edge["from"], edge["to"]), edge["count"])).collect();
        assert_eq!(taken(&Graph::of(sequence.iter().copied())), stored, "{name}");
        let is_poll = |path: &&String| {
            let function = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
            POLLS.contains(&function.trim_start_matches("mpi_"))
        };
        let path = |node: &Node| &table.paths[usize::try_from(nodes[node.index() - 1]["cnode"]).unwrap()];
        let found: Vec<&String> = sequence.iter().map(path).filter(|path| !is_poll(path)).collect();
        let location = &locations[usize::try_from(group["location"]).unwrap()];
        let is_inside = |at: usize| {
            let above = |at: &usize| location.calls[*at].parent;
            std::iter::successors(location.calls[at].parent, above).any(|at| location.calls[at].is_mpi)
        };
        let outermost = location
            .calls
            .iter()
            .enumerate()
            .filter(|&(at, call)| (call.is_mpi || call.is_off()) && !is_inside(at));
        let expected: Vec<&String> =
            outermost.map(|(_, call)| &call.path).filter(|path| !is_poll(path)).collect();
        assert_eq!(found, expected, "{name}: group {at}");
        assert_eq!(exported.remove(0), sequence, "{name}: group {at} of the export");
        steps += sequence.len();
    }
    steps
}

fn of_loop(words: &[Row], id: i128) -> Vec<Row> {
    words.iter().filter(|word| word["loop"] == id).cloned().collect()
}

#[test]
fn graphs_have_the_counts_and_the_order_of_the_calls_of_the_archives() {
    let directory = in_memory();
    let report = directory.path().join("r.cubex");
    for experiment in archives() {
        analyze(&experiment, &report, Semantics::Corrected).unwrap();
        assert!(check(&experiment, &report) > 0, "{}", name(&experiment));
    }
}

/// Traces that say of each call what it is; those with findings lack something, or contradict themselves.
#[test]
fn graphs_have_the_counts_and_the_order_of_the_calls_of_scripts() {
    let directory = in_memory();
    let report = directory.path().join("r.cubex");
    let mut checked = 0;
    for script in golden() {
        let experiment = directory.path().join(name(&script));
        write::write(&Case::read(&script).trace, &experiment);
        analyze(&experiment, &report, Semantics::Corrected).unwrap();
        // The reader of events that it is compared with knows nothing of calling contexts and of streams.
        let text = std::fs::read_to_string(&script).unwrap();
        let is_known = !text.contains("ctx>") && !text.contains(" gpu ");
        if is_known && Table::read(&report).findings().is_empty() {
            checked += usize::from(check(&experiment, &report) > 0);
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn graphs_have_the_counts_and_the_order_of_the_calls_of_random_programs() {
    let directory = in_memory();
    let report = directory.path().join("r.cubex");
    let (mut checked, mut steps) = (0, 0);
    for seed in 0..500 {
        let experiment = in_memory();
        write::write(&lawful(seed), experiment.path());
        analyze(experiment.path(), &report, Semantics::Corrected).unwrap();
        if Table::read(&report).oddities().is_empty() {
            steps += check(experiment.path(), &report);
            checked += 1;
        }
    }
    assert!(checked > 250 && steps > 5000, "{checked} {steps}");
}

#[test]
fn tables_of_the_structure_are_the_same_for_any_workers() {
    let directory = in_memory();
    let report = directory.path().join("r.cubex");
    let tables = |report: &Path| {
        let report = Report::open(report).unwrap();
        ["groups", "nodes", "edges", "loops", "words"].map(|table| {
            let bytes = report.member(&member(&format!("structure_{table}"))).unwrap();
            bytes.unwrap_or_else(|| panic!("no structure_{table}"))
        })
    };
    let several_groups = directory.path().join("several");
    let pattern = Pattern::find("uneven-loops").unwrap();
    generate::generate(&Job { iterations: Some(20), ..Job::new(pattern, 9, 0) }, &several_groups).unwrap();
    let chosen = ["comms.7", "hybrid.3x3", "skewed.4", "test_loop.4"].map(archive);
    for experiment in chosen.into_iter().chain([several_groups]) {
        let options = options(&experiment, &report, Semantics::Corrected);
        replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
        let one = tables(&report);
        for (processes, threads) in [(2, 1), (1, 2), (3, 1), (7, 1)] {
            workers::analyze_with(&Options { threads, ..options.clone() }, processes);
            assert!(tables(&report) == one, "{} with {processes} x {threads}", name(&experiment));
        }
    }
}

#[test]
fn reports_without_structure_have_no_such_tables() {
    let directory = in_memory();
    let report = directory.path().join("r.cubex");
    let options = options(&archive("nxn.4"), &report, Semantics::Corrected);
    let options = Options { structure: false, ..options };
    replay::analyze(&options, &mut Solo, &mut Progress::silent()).unwrap();
    let details = Details::open(&report);
    assert!(details.rows("structure_groups").is_none() && details.rows("instances").is_some());
}

/// Ranks with loops of different length each have a graph of their own: of 70 groups those with most time are kept.
#[test]
fn of_many_groups_those_with_most_time_are_kept() {
    let directory = in_memory();
    let [experiment, report] = ["trace", "r.cubex"].map(|name| directory.path().join(name));
    let ranks = 70;
    let rank = |rank: usize| {
        let call = |at: usize| {
            let [a, b, c, d] = [0, 1, 4, 5].map(|ticks| 10 * at + ticks);
            format!("{a} > f{at} ; {b} > MPI_Comm_rank ; {c} < ; {d} <\n")
        };
        format!("rank {rank}\n{}", (0..=rank).map(call).collect::<String>())
    };
    let text: String = (0..ranks).map(rank).collect();
    write::write(&Case::parse(&format!("program prog\n{text}")).unwrap().trace, &experiment);
    analyze(&experiment, &report, Semantics::Corrected).unwrap();
    let groups = Details::open(&report).rows("structure_groups").unwrap();
    assert_eq!(groups.len(), 65);
    let locations: Vec<i128> = groups.iter().map(|group| group["location"]).collect();
    assert_eq!(locations[..3], [69, 68, 67]);
    let rest = &groups[64];
    assert_eq!([rest["location"], rest["graphs"], rest["locations"]], [NONE, 6, 6]);
    assert!(!Details::open(&report).is_complete("structure_groups"));
}

/// Structure 7.1: the program of the paper. All its calls are of one function, called from 87 lines.
#[test]
fn the_published_program_is_exported_as_published() {
    let mut lines: Vec<u32> = (1..=10).collect();
    for _ in 0..60 {
        lines.extend([11, 12, 13, 13, 14, 15, 13, 13, 16, 17, 13, 13]);
        lines.extend(18..58);
    }
    lines.extend(58..88);
    assert_eq!(lines.len(), 3160);
    let context =
        |line: u32| format!("context m{line} main line {line}\ncontext r{line} MPI_Comm_rank in m{line}\n");
    let contexts: String = (1..88).map(context).collect();
    let call = |(at, line): (usize, &u32)| {
        let [enter, leave] = [1, 3].map(|ticks| 4 * at + ticks);
        format!("{enter} ctx> r{line} unwind 3 ; {leave} ctx< r{line}\n")
    };
    let calls: String = lines.iter().enumerate().map(call).collect();
    let directory = in_memory();
    let [experiment, report] = ["trace", "r.cubex"].map(|name| directory.path().join(name));
    let script = format!("program prog\n{contexts}rank 0\n{calls}");
    write::write(&Case::parse(&script).unwrap().trace, &experiment);
    analyze(&experiment, &report, Semantics::Corrected).unwrap();
    assert_eq!(exported(&report), [lines.iter().map(|&line| Node::new(line)).collect::<Vec<_>>()]);
    let groups = Details::open(&report).rows("structure_groups").unwrap();
    let sizes = ["steps", "nodes", "edges", "loops"].map(|column| groups[0][column]);
    assert_eq!(sizes, [3160, 87, 90, 2]);
    let loops = Details::open(&report).rows("structure_loops").unwrap();
    let counts: Vec<[i128; 2]> =
        loops.iter().map(|it| ["fewest", "largest"].map(|column| it[column])).collect();
    assert_eq!(counts, [[60; 2], [6; 2]]);
    // With begin and end.
    let dot = String::from_utf8(export("dot", &report)).unwrap();
    let boxes = dot
        .lines()
        .filter(|line| line.contains("label=") && !line.contains("->") && line.contains(" [label"));
    assert_eq!((boxes.count(), dot.matches("->").count()), (13 + 2, 16 + 2), "{dot}");
    assert!(dot.contains("LOOP 1: 60\u{a0}x") && dot.contains("LOOP 1.1: 6\u{a0}x"));
}
