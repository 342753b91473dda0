//! Reading with the OTF2 library: it finds in our archives every kind of record, with the same values.
//!
//! Needs `otf2-print`, or a Python (`$REPLAY_PYTHON`, else `python3`) with the package `otf2`. Without, the
//! tests say so on standard error and pass.

use crate::lines::{difference, output, own_lines, python, reference_lines};
use crate::support::{every_record, fresh, global_events, some_archives};
use otf2::{Archive, ByteOrder};
use std::process::Command;

#[test]
fn otf2_print_accepts_every_record() {
    let directory = fresh("print");
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let anchor = every_record(&directory.join(format!("{order:?}")), order);
        let Some(_) = output(Command::new("otf2-print").arg("--silent").arg(&anchor)) else { return };
    }
}

#[test]
fn python_reads_the_same_values_of_every_record() {
    let Some(python) = python() else { return };
    let directory = fresh("python");
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let anchor = every_record(&directory.join(format!("{order:?}")), order);
        let own = own_lines(&Archive::open(&anchor).unwrap()).unwrap();
        let Some(reference) = reference_lines(&python, &anchor) else { return };
        assert_eq!(own, reference);
    }
}

#[test]
fn python_reads_the_same_values_of_real_archives() {
    let Some(python) = python() else { return };
    for path in some_archives() {
        let own = own_lines(&Archive::open(&path).unwrap()).unwrap();
        let Some(reference) = reference_lines(&python, &path.join("traces.otf2")) else { return };
        assert_eq!(difference(&own, &reference), None, "{}", path.display());
    }
}

#[test]
fn every_record_is_read_back_in_both_orders_alike() {
    let directory = fresh("alike");
    let archives = [ByteOrder::Little, ByteOrder::Big].map(|order| {
        let anchor = every_record(&directory.join(format!("{order:?}")), order);
        Archive::open(anchor).unwrap()
    });
    for location in [0, 1 << 32] {
        let [little, big] = archives.each_ref().map(|archive| global_events(archive, location).unwrap());
        assert_eq!(little, big);
    }
}
