//! What is waiting is the same in all commands: not what is waited in shutdown.

use details::{Values, manifest::member};
use serde_json::Value;

use crate::support::example::{self, Names};
use crate::support::{Printed, run};

/// A command on the example, in which ranks wait in `MPI_Finalize` instead of in a barrier.
fn shown(arguments: &[&str]) -> Printed {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    let names = Names { solve: "MPI_Finalize".into(), ..Names::default() };
    example::write(&path, &names, |members| {
        let manifest = String::from_utf8(members[0].1.clone()).unwrap();
        members[0].1 = manifest.replace("mpi_barrier_wait", "mpi_finalize_wait").into_bytes();
        for mut table in example::tables() {
            if let Some(region) = table.columns.iter_mut().find(|column| column.name == "region") {
                region.values = Values::U32(vec![3; region.values.len()]);
            }
            let member = members.iter_mut().find(|(name, _)| *name == member(&table.name)).unwrap();
            member.1 = details::write(&table).unwrap();
        }
    });
    run(100, &[&arguments[..1], &[path.to_str().unwrap()], &arguments[1..]].concat())
}

#[test]
fn time_of_shutdown_is_no_waiting() {
    let seconds = |class: &str| {
        let json: Value = serde_json::from_str(&shown(&["time", "-m", class, "--json"]).results).unwrap();
        json["cells"].as_array().unwrap().iter().map(|cell| cell["seconds"].as_f64().unwrap()).sum::<f64>()
    };
    assert!(seconds("mpi_finalize_wait") > 0.0);
    assert_eq!(seconds("waiting"), seconds("mpi_latesender"));
}

#[test]
fn shutdown_is_no_collective_operation() {
    let printed = shown(&["matrix", "--collectives"]);
    assert!(!printed.results.contains("MPI_Finalize"), "{}", printed.results);
    assert!(printed.results.contains("no collective operations"), "{}", printed.results);
}

#[test]
fn report_without_messages_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.cubex");
    example::write(&path, &Names::default(), |members| {
        let mut tables = example::tables().into_iter().filter(|table| table.name == "matrix");
        let mut table = tables.next().unwrap();
        for column in &mut table.columns {
            column.values = match column.values {
                Values::U32(_) => Values::U32(Vec::new()),
                _ => Values::U64(Vec::new()),
            };
        }
        let member = members.iter_mut().find(|(name, _)| *name == member("matrix")).unwrap();
        member.1 = details::write(&table).unwrap();
    });
    let printed = run(100, &["matrix", path.to_str().unwrap()]);
    assert!(printed.results.starts_with("no messages\n"), "{}", printed.results);
}
