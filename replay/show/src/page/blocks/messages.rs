//! The tables of messages: `blocks` of ranks that are exact sums, `pairs` with most waiting, and `processes`, `sizes`,
//! `collectives` and `last` as the report has them.

use std::collections::BTreeMap;

use details::Values as Rows;

use super::waits::table_of;
use super::{Blocks, Source, position};
use crate::error::Result;
use crate::tables::communication::{Pair, collectives, last, pairs, sizes};

/// Blocks of ranks in a row of the matrix.
pub(super) const BLOCKS: usize = 512;

/// The most pairs.
const PAIRS: usize = 1 << 16;

/// Part of what is left that each table may take.
const PART: f64 = 0.2;

/// Ranks of a block of the matrix.
pub(super) fn ranks_of_block(ranks: usize) -> usize {
    ranks.div_ceil(BLOCKS).max(1)
}

/// Adds the tables that the report has.
pub(super) fn add(source: &Source<'_>, blocks: &mut Blocks) -> Result<()> {
    let opened = source.opened;
    if opened.manifest.is_none() {
        return Ok(());
    }
    let cube = source.values.cube();
    let ranks = cube.location_groups.len();
    if let Some(table) = opened.table("matrix")? {
        add_matrix(opened.in_details(pairs(ranks, &table))?, ranks, blocks)?;
    }
    for name in ["processes", "sizes", "collectives", "last"] {
        let Some(table) = opened.table(name)? else { continue };
        // What these refer to is checked by those who read them.
        match name {
            "sizes" => opened.in_details(sizes(cube, &table)).map(drop)?,
            "collectives" => opened.in_details(collectives(cube, &table)).map(drop)?,
            "last" => opened.in_details(last(cube, ranks, &table)).map(drop)?,
            _ => {}
        }
        if !blocks.table_within(&table, PART)? {
            blocks.limits.push(format!("messages: {name} does not fit into the page"));
        }
    }
    Ok(())
}

fn add_matrix(mut pairs: Vec<Pair>, ranks: usize, blocks: &mut Blocks) -> Result<()> {
    let each = ranks_of_block(ranks);
    let mut sums: BTreeMap<(usize, usize), [i64; 4]> = BTreeMap::new();
    for pair in &pairs {
        // Pairs without a row of their own are in the margins only.
        let (Some(source), Some(destination)) = (pair.source, pair.destination) else { continue };
        let sum = sums.entry((source / each, destination / each)).or_default();
        let more = [pair.messages, pair.bytes, pair.late_sender, pair.late_receiver];
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
    let numbers = |at: usize| Rows::I64(sums.values().map(|sum| sum[at]).collect());
    let columns = vec![
        ("source", Rows::U32(sums.keys().map(|&(source, _)| position(Some(source))).collect())),
        (
            "destination",
            Rows::U32(sums.keys().map(|&(_, destination)| position(Some(destination))).collect()),
        ),
        ("messages", numbers(0)),
        ("bytes", numbers(1)),
        ("late_sender", numbers(2)),
        ("late_receiver", numbers(3)),
    ];
    if !blocks.table_within(&table_of("blocks", columns), PART)? {
        blocks.limits.push("messages: the matrix does not fit into the page".into());
    }
    let all = pairs.len();
    let waiting = |pair: &Pair| pair.late_sender.saturating_add(pair.late_receiver);
    pairs.sort_by_key(|pair| (std::cmp::Reverse(waiting(pair)), std::cmp::Reverse(pair.bytes)));
    pairs.truncate(PAIRS);
    while !blocks.table_within(&pair_table(&pairs), PART)? && !pairs.is_empty() {
        pairs.truncate(pairs.len() / 2);
    }
    if pairs.len() < all {
        blocks
            .limits
            .push(format!("messages: the {} of {all} pairs with most waiting, then bytes", pairs.len()));
    }
    Ok(())
}

fn pair_table(pairs: &[Pair]) -> details::Table {
    let numbers = |number: fn(&Pair) -> i64| Rows::I64(pairs.iter().map(number).collect());
    let communicator = |pair: &Pair| pair.communicator.unwrap_or(super::NONE);
    table_of(
        "pairs",
        vec![
            ("communicator", Rows::U32(pairs.iter().map(communicator).collect())),
            ("source", Rows::U32(pairs.iter().map(|pair| position(pair.source)).collect())),
            ("destination", Rows::U32(pairs.iter().map(|pair| position(pair.destination)).collect())),
            ("messages", numbers(|it| it.messages)),
            ("bytes", numbers(|it| it.bytes)),
            ("late_sender", numbers(|it| it.late_sender)),
            ("late_senders", numbers(|it| it.late_senders)),
            ("late_receiver", numbers(|it| it.late_receiver)),
            ("late_receivers", numbers(|it| it.late_receivers)),
        ],
    )
}
