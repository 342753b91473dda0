//! Numbers that names are compared with in `when`, and what sets put in their place: `when.share = "2 %"` (advice 5.4).

use super::{Known, tree};
use crate::Type;
use crate::check::{self, Over, Scope};
use crate::parse::{Binary, NodeKind, Tree};
use crate::source::{Problems, Text, quoted};
use crate::suggest::suggestion;

/// A comparison of a name with a number: the nodes of both.
struct Comparison<'t> {
    name: &'t str,
    name_at: usize,
    limit_at: usize,
}

/// Puts what was set in place of the numbers; returns each name that may be set, with its number as text.
pub(super) fn replace(
    scope: &mut Scope<'_>,
    (known, text): (&Known, &Text),
    when: &mut Tree,
    problems: &mut Problems,
) -> Vec<(String, String)> {
    let original = when.clone();
    let all = comparisons(&original);
    let is_once = |it: &&Comparison<'_>| all.iter().filter(|other| other.name == it.name).count() == 1;
    let once: Vec<&Comparison<'_>> = all.iter().filter(is_once).collect();
    let mut texts: Vec<(String, String)> = once
        .iter()
        .map(|it| (it.name.to_owned(), text.text[original.nodes[it.limit_at].at.clone()].to_owned()))
        .collect();
    for (name, limit) in &known.raw.limits {
        let Some(position) = once.iter().position(|it| it.name == name.text) else {
            let names: Vec<&str> = once.iter().map(|it| it.name).collect();
            problems.add(name.start(), not_once(known, &all, &name.text, &names));
            continue;
        };
        let Comparison { name_at, limit_at, .. } = *once[position];
        let Some(constant) = number(limit, problems) else { continue };
        // What is wrong with the name was said, or will be, where the rule has it.
        let of_name = Tree { nodes: original.nodes.clone(), root: name_at };
        let Some(code) = check::check(scope, Over::Group, text, &of_name, problems) else { continue };
        match (code.kind().kind, &constant) {
            (kind, NodeKind::Number(_, other)) if !can_compare(kind, *other) => {
                let expected = if kind == Type::Rank { Type::Count } else { kind };
                let message = format!(
                    "\"when.{}\" is {other}, expected {expected}: {}",
                    name.text,
                    quoted(&limit.text)
                );
                problems.add(limit.start(), message);
            }
            _ => {
                when.nodes[limit_at].kind = constant;
                texts[position].1.clone_from(&limit.text);
            }
        }
    }
    texts
}

/// A number with its unit, and nothing else.
fn number(limit: &Text, problems: &mut Problems) -> Option<NodeKind> {
    let tree = tree(limit, problems)?;
    let kind = tree.nodes[tree.root].kind.clone();
    if matches!(kind, NodeKind::Number(..)) {
        return Some(kind);
    }
    problems.add(limit.start(), format!("expected a number, found {}", quoted(&limit.text)));
    None
}

/// Whether a number of one type is a limit for a value of another.
fn can_compare(value: Type, limit: Type) -> bool {
    match value {
        Type::Rank => limit == Type::Count,
        value => value == limit || value.is_plain() && limit.is_plain(),
    }
}

/// Says that a name is compared with no number, or with several, and which names may be set.
fn not_once(known: &Known, all: &[Comparison<'_>], name: &str, names: &[&str]) -> String {
    let count = all.iter().filter(|it| it.name == name).count();
    let hint = suggestion(name, names.iter().copied());
    let more = match (hint.is_empty(), names.is_empty()) {
        (true, false) => format!(", as {} is", names.join(", ")),
        _ => hint,
    };
    let id = quoted(&known.id.text);
    format!("`when` of {id} compares {} with a number {count} times, expected once{more}", quoted(name))
}

/// All comparisons of a name with a number, in the order of the text.
fn comparisons(tree: &Tree) -> Vec<Comparison<'_>> {
    let is_number = |node: usize| matches!(tree.nodes[node].kind, NodeKind::Number(..));
    let found = |name_at: usize, limit_at: usize| match &tree.nodes[name_at].kind {
        NodeKind::Name(name) if is_number(limit_at) => Some(Comparison { name, name_at, limit_at }),
        _ => None,
    };
    let of_node = |node: &crate::parse::Node| match node.kind {
        NodeKind::Binary(Binary::Compare(_), left, right) => {
            found(left, right).or_else(|| found(right, left))
        }
        _ => None,
    };
    tree.nodes.iter().filter_map(of_node).collect()
}
