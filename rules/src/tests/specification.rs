//! The eight rules that advice 5.4 gives as examples: each finds its case among rows, and only that.

use super::{Known, add, run, schema};
use crate::{Context, Run, Source, read};

/// Rows of a table, by column.
type Columns = Vec<(&'static str, Vec<i64>)>;

/// Rows of a table, the same value in each of so many of them.
fn same(rows: usize, values: &[(&'static str, i64)]) -> Columns {
    values.iter().map(|&(name, value)| (name, vec![value; rows])).collect()
}

#[test]
fn each_rule_of_the_specification_finds_its_case() {
    // Paths of these tests have no function of that name.
    let text = include_str!("excerpt.toml").replace("ourio_write*", "write*");
    let rules = read(&[Source::new("excerpt.toml", text)], &schema()).unwrap();
    let culprits: Columns = vec![
        ("path", vec![3, 2, 0]),
        ("cost", vec![2_000_000, 3_000_000, 100]),
        ("static_share", vec![99, 10, 99]),
        ("ranks", vec![4, 1, 4]),
        ("ranks.most", vec![2, 0, 0]),
        ("ranks.ratio", vec![150, 400, 150]),
        ("serial", vec![0, 1, 0]),
    ];
    let late = [
        ("late_sender", 300_000),
        ("two_way", 1),
        ("between_receive_and_send", 400_000),
        ("sender_in_mpi", 200_000),
        ("sender_call", 1),
        ("bytes", 4096),
        ("receive_path", 1),
        ("send_path", 3),
        ("source", 1),
        ("rank", 1),
    ];
    let small = [
        ("bytes", 8),
        ("late_sender", 0),
        ("same_envelope", 1),
        ("send_time", 500),
        ("send_path", 0),
        ("source", 0),
        ("rank", 0),
    ];
    let barrier = [
        ("operation", 0),
        ("wait", 250_000),
        ("completion", 1),
        ("path", 1),
        ("last_rank", 2),
        ("previous_region", 3),
        ("next_region", 3),
    ];
    let beside_file =
        [("operation", 0), ("wait", 9_000_000), ("path", 0), ("previous_region", 2), ("next_region", 3)];
    let written = [("path", 2), ("region", 0), ("rank", 3), ("time", 7), ("delay", 500_000)];
    let halo = [("path", 1), ("between", 10), ("waiting", 500_000)];
    let tables: [(&str, Vec<Columns>); 5] = [
        ("culprit", vec![culprits]),
        ("message", vec![same(2, &late), same(1000, &small)]),
        ("collective", vec![same(2, &barrier), same(2, &beside_file)]),
        ("place", vec![same(1, &written)]),
        ("pair", vec![same(1, &halo)]),
    ];
    let mut totals = rules.totals();
    for (name, given) in &tables {
        let is_named = |table: usize| rules.schema.tables[table].name == *name;
        let over = rules.tables().into_iter().find(|over| is_named(over.table)).unwrap();
        given.iter().for_each(|given| add(&rules, over, given, &mut totals));
    }
    // The bounds W and C are known here.
    let mut run: Run = run();
    run.facts[3..5].fill(Some(5e6));
    let outcome = rules.evaluate(&totals, &Context { run: &run, names: &Known, cause: &|_, _| None });
    let found: Vec<String> = (outcome.findings.iter())
        .map(|it| {
            format!(
                "{}: {}",
                rules.rules()[it.rule].id(),
                it.advice.split_once(". ").unwrap_or((&it.advice, "")).0
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            "halo/no-overlap: Put work on inner cells between halo_start and halo_wait (solver.c:11).",
            "ourio/one-writer: Only rank 3 calls MPI_Allreduce",
            "p2p/late-isend: The sender is in MPI_Barrier before it sends",
            "p2p/late-send: main/relax at solver.c:13 comes after 0.410 s of work",
            "size/small-messages: 1000 messages of 8.00 B, 1000 in a row to the same rank: pack them.",
            "sync/barrier: If main/MPI_Barrier at solver.c:11 protects nothing outside MPI, leave it out",
            "work/one-rank: Only one rank runs main/write/MPI_Gather.",
            "work/static: rank 2 spend 1.50 times the mean in main/relax",
        ]
    );
    assert!(outcome.not_evaluated.is_empty(), "{:?}", outcome.not_evaluated);
}
