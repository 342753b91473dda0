//! Graphs for Graphviz (<https://graphviz.org/doc/info/lang.html>): one for each group, loops as clusters.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::shown::Shown;
use crate::output::names::printable;
use crate::tables::structure::{Group, Structure};

/// Clusters inside each other, at most: what is deeper is in the innermost of these.
const DEPTH: usize = 64;

/// Writes the graph of a group. `name` is what the group is called, `number` tells it from others.
///
/// # Errors
/// If it cannot be written.
pub fn write(
    structure: &Structure,
    group: &Group,
    (number, name): (usize, &str),
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = Shown::new(structure, group);
    writeln!(out, "digraph {} {{", quoted(&format!("group {number}")))?;
    writeln!(out, "  label={};", quoted(name))?;
    writeln!(
        out,
        "  labelloc=t; newrank=true; node [shape=box, fontname=\"sans-serif\"]; edge [fontname=\"sans-serif\"];"
    )?;
    clusters(group, &shown, out)?;
    let last = shown.boxes.len() - 1;
    for arrow in &shown.arrows {
        let end = |at: usize| node(at, last);
        write!(out, "  {} -> {} [label={}", end(arrow.from), end(arrow.to), quoted(&arrow.text))?;
        // What was visited first is at the top. Some versions of Graphviz fail if arrows back decide, too.
        let back = if arrow.to <= arrow.from { ", constraint=false" } else { "" };
        writeln!(out, ", penwidth={:.1}{back}];", arrow.width())?;
    }
    writeln!(out, "}}")
}

/// Writes boxes, those of loops in clusters.
fn clusters(group: &Group, shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    let last = shown.boxes.len() - 1;
    // By loop: how deep it is, and the one that is its cluster.
    let mut drawn: FxHashMap<u32, (usize, u32)> = FxHashMap::default();
    for it in &group.loops {
        let (depth, above) = it.parent.and_then(|parent| drawn.get(&parent)).copied().unwrap_or((0, 0));
        drawn.insert(it.number, if depth < DEPTH { (depth + 1, it.number) } else { (depth, above) });
    }
    let mut of_cluster: FxHashMap<Option<u32>, Vec<usize>> = FxHashMap::default();
    for (at, it) in shown.boxes.iter().enumerate() {
        let cluster = it.around.and_then(|around| drawn.get(&around)).map(|&(_, cluster)| cluster);
        of_cluster.entry(cluster).or_default().push(at);
    }
    let boxes = |of: Option<u32>, depth: usize, out: &mut dyn Write| -> io::Result<()> {
        for &at in of_cluster.get(&of).into_iter().flatten() {
            let it = &shown.boxes[at];
            let shape = if it.nodes.is_empty() { ", shape=plaintext" } else { "" };
            let label = quoted(&it.lines.join("\n"));
            writeln!(out, "{:width$}{} [label={label}{shape}];", "", node(at, last), width = 2 * depth + 2)?;
        }
        Ok(())
    };
    boxes(None, 0, out)?;
    // Loops come before those inside them.
    let mut open: Vec<u32> = Vec::new();
    for it in group.loops.iter().filter(|it| drawn[&it.number].1 == it.number) {
        while open.last().is_some_and(|&last| Some(last) != it.parent) {
            open.pop();
            writeln!(out, "{:width$}}}", "", width = 2 * open.len() + 2)?;
        }
        let label = quoted(&label(group, it.number));
        let indent = 2 * open.len() + 2;
        writeln!(out, "{:indent$}subgraph cluster_{} {{", "", it.number)?;
        writeln!(out, "{:indent$}  label={label}; style=rounded;", "")?;
        open.push(it.number);
        boxes(Some(it.number), open.len(), out)?;
    }
    while open.pop().is_some() {
        writeln!(out, "{:width$}}}", "", width = 2 * open.len() + 2)?;
    }
    Ok(())
}

/// What a loop is called: its name, and how often it was repeated.
pub(super) fn label(group: &Group, number: u32) -> String {
    let Some(it) = group.loop_of(number) else { return String::new() };
    let count = match (it.fewest, it.largest) {
        (fewest, largest) if fewest == largest => fewest.to_string(),
        (fewest, largest) => format!("{fewest}\u{2013}{largest}"),
    };
    format!("LOOP {}: {count}\u{a0}x", group.loop_name(number))
}

/// The name of a box in the file.
fn node(at: usize, last: usize) -> String {
    match at {
        0 => "begin".to_owned(),
        at if at == last => "end".to_owned(),
        at => format!("n{at}"),
    }
}

/// A text in quotes. Graphviz replaces what begins with `\` or `&`; lines are centred.
fn quoted(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(printable).collect();
    let text = lines.join("\n");
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '&' => quoted.push_str("&amp;"),
            '\n' => quoted.push_str("\\n"),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::super::examples::{published, structure_of};
    use super::*;

    fn written(structure: &Structure) -> String {
        let mut out = Vec::new();
        write(structure, &structure.groups[0], (0, "rank 0"), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_published_program_has_its_boxes_arrows_and_clusters() {
        let text = written(&published());
        let count = |what: &str| text.matches(what).count();
        // Those of begin and end, too.
        assert_eq!((count("\n  n"), count(" -> ")), (4 + 16 + 1, 16 + 2));
        assert_eq!(count("subgraph cluster_"), 2);
        assert!(
            text.contains("label=\"LOOP 1: 60\u{a0}x\"") && text.contains("label=\"LOOP 1.1: 6\u{a0}x\"")
        );
        assert!(text.contains("n1 [label=\"init\\ninit.c:1\\n1\u{a0}x, 10.0\u{a0}ms\"];"), "{text}");
        assert_eq!(text.matches('{').count(), text.matches('}').count());
    }

    #[test]
    fn graphviz_draws_the_published_program() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("graph.dot");
        std::fs::write(&file, written(&published())).unwrap();
        let Ok(drawn) = std::process::Command::new("dot").arg("-Tsvg").arg(&file).output() else {
            return skip::skip(skip::Need::System, "a graph is not drawn, as there is no Graphviz (dot)");
        };
        let svg = String::from_utf8_lossy(&drawn.stdout);
        let count = |class: &str| svg.matches(&format!("class=\"{class}\"")).count();
        assert_eq!(String::from_utf8_lossy(&drawn.stderr), "");
        assert_eq!((count("node"), count("edge"), count("cluster")), (13 + 2, 16 + 2, 2));
    }

    #[test]
    fn hostile_names_stay_text() {
        let text = written(&structure_of(&["a\"];}\n\\N&lt;\u{202e}", "", "b"]));
        let line = text.lines().find(|line| line.contains("n1 [")).unwrap();
        assert!(line.contains("label=\"a\\\"];}\\n\\\\N&amp;lt;\u{fffd}"), "{line}");
        assert!(text.contains("(no name)"));
    }
}
