//! Pairs of ranks, and the matrix of blocks of ranks as a picture.

use details::manifest::{Finding, Manifest};

use super::{Args, Of, communicator, communicator_name, ranks, remark};
use crate::error::Result;
use crate::opened::Opened;
use crate::output::{Cell, Column, Document, Line, Screen, Style, Table};
use crate::tables::communication::{Pair, pairs, partly_matched};
use crate::tables::seconds;
use crate::values::Unit;

/// Findings by which messages have no partner.
const UNMATCHED: [&str; 4] = [
    "send without receive",
    "receive without send",
    "message with one side recorded",
    "message of unknown order",
];

/// Rows and columns of the picture.
const BLOCKS: usize = 32;

/// Adds the pairs to a document.
pub(super) fn add(
    opened: &Opened,
    args: &Args,
    top: usize,
    screen: &Screen,
    document: &mut Document,
) -> Result<()> {
    let (manifest, table) = opened.required_table("matrix")?;
    let wanted = communicator(manifest, args.comm.as_deref())?;
    let mut pairs = opened.in_details(pairs(ranks(opened), &table))?;
    let is_partial = partial(opened, manifest, &pairs)?;
    pairs.retain(|pair| wanted.is_none_or(|wanted| pair.communicator == Some(wanted)));
    pairs.sort_by_key(|pair| std::cmp::Reverse(value(pair, args.metric)));
    draw(&pairs, &is_partial, args.metric, screen, document);
    document.table(pair_table(manifest, &is_partial, &pairs[..top.min(pairs.len())]));
    if pairs.is_empty() {
        document.text("no messages");
    }
    document.more(pairs.len(), top, "-n");
    if is_partial.contains(&true) {
        let text = "unknown: the trace does not have both sides of all messages of this sender";
        document.text(Line::styled(text, Style::Warning));
    }
    if let Some(remark) = remark(manifest, "matrix") {
        document.text(Line::styled(remark, Style::Warning));
    }
    Ok(())
}

/// For each rank whether it sent messages of which the trace does not have both sides, so that not all waiting is known.
fn partial(opened: &Opened, manifest: &Manifest, pairs: &[Pair]) -> Result<Vec<bool>> {
    let processes = opened.table("processes")?.filter(|_| pairs.iter().all(|pair| pair.source.is_some()));
    match processes {
        Some(table) => opened.in_details(partly_matched(pairs, ranks(opened), &table)),
        // Senders that are not named may be any.
        None => {
            let is_lost = |finding: &Finding| UNMATCHED.contains(&finding.name.as_str()) && finding.count > 0;
            Ok(vec![manifest.summary.findings.iter().any(is_lost); ranks(opened)])
        }
    }
}

fn value(pair: &Pair, of: Of) -> i64 {
    match of {
        Of::Waiting => pair.late_sender.saturating_add(pair.late_receiver),
        Of::Bytes => pair.bytes,
        Of::Messages => pair.messages,
    }
}

/// A rank; the pairs that have no row of their own come from several.
fn rank(rank: Option<usize>) -> Cell {
    Cell::Name(rank.map_or("others".into(), |rank| format!("rank {rank}")))
}

fn pair_table(manifest: &Manifest, is_partial: &[bool], pairs: &[Pair]) -> Table {
    let columns = vec![
        Column::new("from", "from"),
        Column::new("to", "to"),
        Column::new("communicator", "on"),
        Column::new("messages", "messages"),
        Column::new("bytes", "bytes"),
        Column::new("late_sender", "receiver waited"),
        Column::new("late_receiver", "sender waited"),
        Column::data("late_senders"),
        Column::data("late_receivers"),
        Column::data("source"),
        Column::data("destination"),
    ];
    let mut table = Table::new("pairs", columns);
    let number = |rank: Option<usize>| rank.map_or(Cell::Nothing, Cell::count);
    for pair in pairs {
        let is_partial = pair.source.is_none_or(|source| is_partial[source]) && is_partial.contains(&true);
        let is_unknown = |number: i64| is_partial && number == 0;
        let waited = |ticks: i64| match is_unknown(ticks) {
            true => Cell::Obstacle("unknown"),
            false => Cell::Sparse(seconds(manifest, ticks), Unit::Seconds),
        };
        let times = |count: i64| if is_unknown(count) { Cell::Nothing } else { Cell::Integer(count) };
        #[expect(clippy::cast_precision_loss, reason = "bytes for people; scripts get at most 2^53 exactly")]
        let bytes = pair.bytes as f64;
        table.rows.push(vec![
            rank(pair.source),
            rank(pair.destination),
            Cell::Name(communicator_name(manifest, pair.communicator)),
            Cell::Integer(pair.messages),
            Cell::Number(bytes, Unit::Bytes),
            waited(pair.late_sender),
            waited(pair.late_receiver),
            times(pair.late_senders),
            times(pair.late_receivers),
            number(pair.source),
            number(pair.destination),
        ]);
    }
    table
}

/// Draws senders over receivers: a digit for each block, in tenths of the largest.
fn draw(pairs: &[Pair], is_partial: &[bool], of: Of, screen: &Screen, document: &mut Document) {
    let ranks = is_partial.len();
    let most_blocks = BLOCKS.min(screen.width.saturating_sub(12) / 2).max(1);
    let each = ranks.div_ceil(most_blocks).max(1);
    let blocks = ranks.div_ceil(each);
    let mut sums = vec![0_i64; blocks * blocks];
    for pair in pairs {
        if let (Some(source), Some(destination)) = (pair.source, pair.destination) {
            let sum = &mut sums[source / each * blocks + destination / each];
            *sum = sum.saturating_add(value(pair, of));
        }
    }
    let most = sums.iter().copied().max().unwrap_or(0);
    if most <= 0 || blocks < 2 {
        return;
    }
    let what = match of {
        Of::Waiting => "waiting",
        Of::Bytes => "bytes",
        Of::Messages => "messages",
    };
    let a_block = if each > 1 { format!(", {each} ranks a block") } else { String::new() };
    let unknown = if is_partial.contains(&true) { ", ? unknown" } else { "" };
    let legend = format!(
        "{what}, senders down, receivers to the right{a_block}: 9 is most, 0 under a tenth of it{unknown}"
    );
    document.text(Line::styled(legend, Style::Dim));
    let label = (ranks - 1).to_string().len();
    let is_unknown = |row: usize| is_partial.iter().skip(row * each).take(each).any(|&is_partial| is_partial);
    for row in 0..blocks {
        let cells = (0..blocks).map(|column| match sums[row * blocks + column] {
            0 if is_unknown(row) => "?".to_owned(),
            0 => if screen.is_unicode { "·" } else { "." }.to_owned(),
            sum => (i128::from(sum) * 10 / i128::from(most)).min(9).to_string(),
        });
        let cells: Vec<String> = cells.collect();
        document.picture(
            Line::styled(format!("{:>label$} ", row * each), Style::Dim).and(cells.join(" "), Style::Plain),
        );
    }
    document.gap();
}
