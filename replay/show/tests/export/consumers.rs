//! Consumers: each export is read by the programs that it is made for.

use super::judges::{browser, judge};
use super::report::{HOSTILE, Names};
use super::{Exported, plain};

/// A report with all hostile names in one call path each would be too long; these say most.
fn hostile() -> Exported {
    Exported::new(&Names::all(&HOSTILE.join(" ")))
}

#[test]
fn pandas_polars_duckdb_and_pyarrow_read_parquet() {
    let exported = plain();
    let out = exported.export("parquet", &[]);
    judge("data", "pandas, polars, duckdb, pyarrow", "parquet.py", &[&out, "main/MPI_Recv".as_ref()]);
    let exported = hostile();
    let out = exported.export("parquet", &[]);
    judge(
        "data",
        "pandas, polars, duckdb, pyarrow",
        "parquet.py",
        &[&out, "\u{202e}".as_ref(), "</script>".as_ref()],
    );
}

#[test]
fn perfetto_knows_all_messages_and_their_order() {
    for exported in [plain(), hostile()] {
        let out = exported.export("perfetto", &[]);
        judge("data", "perfetto", "perfetto_trace.py", &[&out]);
    }
}

#[test]
fn schemas_hold_for_json() {
    for exported in [plain(), hostile()] {
        let [json, speedscope, bmf, github] =
            ["json", "speedscope", "bmf", "github-benchmark"].map(|format| {
                exported.export(format, if format == "speedscope" { &["--ranks", "0-3"] } else { &[] })
            });
        judge("data", "jsonschema", "schemas.py", &[&json, &speedscope, &bmf, &github]);
    }
}

#[test]
fn pandas_reads_events_and_tables() {
    for exported in [plain(), hostile()] {
        let (events, csv) = (exported.export("events-csv", &[]), exported.export("csv", &[]));
        judge("data", "pandas", "csv_tables.py", &[&events, &csv]);
    }
}

#[test]
fn both_hatchets_read_trees() {
    for exported in [plain(), hostile()] {
        let out = exported.export("hatchet", &[]);
        judge("hatchet", "hatchet", "hatchet_tree.py", &[&out]);
        judge("llnl-hatchet", "hatchet", "hatchet_tree.py", &[&out]);
    }
}

#[test]
fn extrap_models_runs() {
    let exported = hostile();
    // Sums of eight ranks and so on need reports of their own; the parameter is enough for the reader.
    let mut lines = String::new();
    for n in [1, 2, 4, 8, 16] {
        lines += &exported.text("extrap", &["--param", &format!("p={n}")]);
    }
    let path = exported.path().join("runs.jsonl");
    std::fs::write(&path, lines).unwrap();
    judge("extrap", "extrap", "extrap_models.py", &[&path]);
}

#[test]
fn programs_that_know_cubex_files_read_those_with_details() {
    let exported = plain();
    judge("hatchet", "hatchet, pycubexr", "hatchet_cubex.py", &[&exported.report]);
    judge("extrap", "extrap", "extrap_cubex.py", &[&exported.report]);
}

#[test]
fn speedscope_loads_stacks_and_events_in_a_browser() {
    for exported in [plain(), hostile()] {
        let [folded, speedscope, chrome] =
            ["folded", "speedscope", "chrome"].map(|format| exported.export(format, &[]));
        browser("speedscope.cjs", &[&folded, &speedscope, &chrome]);
    }
}
