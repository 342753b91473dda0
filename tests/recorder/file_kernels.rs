//! Phases of kernels that access files as IOR and BT-IO do, and in other shapes, are those that follow from their definitions
//! (io.md 4.8, 4.11, 7.1).

use std::collections::BTreeMap;

use io_model::{Kind, Mode, Model};

use crate::support::archive;
use crate::support::build::mpi;
use crate::support::files::{Transfers, transfers};
use crate::support::modelled::{bottoms, example, linear, model_of, name, rows};
use crate::support::record::{Invocation, Subject};
use crate::support::words::attributes;

/// Command lines of IOR without its name and what follows.
const LINES: [(u32, &str); 12] = [
    (4, "-a MPIIO -N 4 -b 65536 -t 65536 -s 1 -w"),
    (4, "-a MPIIO -N 4 -b 262144 -t 65536 -s 1 -c -w"),
    (2, "-a MPIIO -N 2 -b 131072 -t 65536 -s 4 -w"),
    (2, "-a MPIIO -N 2 -b 65536 -t 65536 -s 3 -c -w"),
    (2, "-a MPIIO -N 2 -b 524288 -t 65536 -s 1 -z -w"),
    (2, "-a MPIIO -N 2 -b 262144 -t 65536 -s 1 -F -w"),
    (4, "-a MPIIO -N 4 -b 262144 -t 65536 -s 1 -r"),
    (2, "-a MPIIO -N 2 -b 131072 -t 65536 -s 2 -c -r"),
    (4, "-a POSIX -N 4 -b 65536 -t 65536 -s 4 -w"),
    (2, "-a POSIX -N 2 -b 524288 -t 65536 -s 1 -F -w"),
    (2, "-a POSIX -N 2 -b 4096 -t 1024 -s 5 -r"),
    (2, "-a POSIX -N 2 -b 524288 -t 65536 -s 1 -F -z -r"),
];

#[test]
fn line_of_ior_is_the_one_that_the_kernel_was_started_with() {
    if mpi("line_of_ior").is_none() {
        return;
    }
    for (ranks, line) in LINES {
        let words: Vec<&str> = line.split(' ').chain(["-k", "-o", "kernel.out"]).collect();
        let Some(subject) = Subject::new("line_of_ior", "files/io_kernel.c", ranks, &words) else { return };
        let subject = subject.option("--io=posix");
        subject.run_recorded(Invocation::InFront).expect_success();
        let model = model_of(&subject);
        let lines: Vec<&String> = model.ior.values().flat_map(|it| &it.lines).collect();
        assert_eq!(lines, [&format!("ior {line} -k -o FILE")]);
        assert_eq!(model.phases.len(), 1, "{line}");
        let remarks: Vec<&String> = model.ior.values().flat_map(|it| &it.remarks).collect();
        assert!(remarks.is_empty(), "{line}: {remarks:?}");
    }
}

/// Class W of BT-IO on 4 ranks: bytes of a dump, dumps, ranks, cells of a rank, and points in each direction.
const DUMP: u64 = POINTS * POINTS * POINTS * ELEMENT;
const DUMPS: u64 = 40;
const RANKS: u64 = 4;
const CELLS: u64 = 2;
const POINTS: u64 = 24;
const ELEMENT: u64 = 40;

/// BT-IO class W, recorded with what reaches the system, and its model.
fn btio(how: &'static str) -> Option<(Subject, Model)> {
    let subject = Subject::new(&format!("btio_{how}"), "files/io_btio.c", 4, &[how])?.option("--io=posix");
    subject.run_recorded(Invocation::InFront).expect_success();
    let model = model_of(&subject);
    Some((subject, model))
}

/// The same number of writes and reads of a rank.
fn both(found: &mut Transfers, rank: u64, paradigm: &str, bytes: u64, count: u64) {
    for is_written in [false, true] {
        found.insert((rank, paradigm.into(), is_written, bytes), count);
    }
}

#[test]
fn dumps_of_bt_io_through_a_view_are_forty_phases_and_their_reading_is_one() {
    let Some((subject, model)) = btio("full") else { return };
    let mine = DUMP / RANKS;
    let expected = [
        (DUMPS, vec![(Kind::Write, true)], RANKS, 1, mine, Mode::Strided, DUMP),
        (1, vec![(Kind::Read, true)], RANKS, DUMPS, mine, Mode::Strided, DUMPS * DUMP),
    ];
    assert_eq!(rows(&model), expected);
    assert_eq!((model.families[0].first, model.families[0].last, model.families[1].first), (1, 40, 41));
    assert_eq!(model.families[0].view, linear(0, 0, mine.cast_signed()));
    // The two cells of the last rank touch.
    let pieces = attributes(&subject.experiment, &["ViewPieces"]);
    let pieces: Vec<&str> = pieces.values().map(|lines| lines[0].rsplit('=').next().unwrap()).collect();
    assert_eq!(pieces, ["288", "288", "288", "287"]);
    let visits = archive::visits(&subject.experiment);
    assert_eq!(
        (visits["MPI_File_write_at_all"], visits["MPI_File_read_at_all"]),
        (RANKS * DUMPS, RANKS * DUMPS)
    );
    // One rank reaches the file, for all.
    let mut expected = Transfers::new();
    (0..RANKS).for_each(|rank| both(&mut expected, rank, "MPI-IO", mine, DUMPS));
    both(&mut expected, 0, "POSIX", DUMP, DUMPS);
    assert_eq!(transfers(&subject.experiment, "btio.out"), expected);
    let [reads, writes] = &bottoms(&model)[..] else { panic!("not two directions") };
    for (it, kind) in [(reads, Kind::Read), (writes, Kind::Write)] {
        assert_eq!((it.kind, it.collective, it.np, it.reaching), (kind, true, RANKS, 1));
        assert_eq!((it.asked, it.pieces), (DUMPS * DUMP, Some(DUMPS * (3 * 288 + 287))));
        assert_eq!((it.requests.count, it.requests.bytes), (DUMPS, DUMPS * DUMP));
    }
}

#[test]
fn rows_of_bt_io_are_strided_requests_which_reach_the_file_as_they_are() {
    let Some((subject, model)) = btio("simple") else { return };
    let (row, rep) = (POINTS / CELLS * ELEMENT, POINTS * POINTS / CELLS);
    let expected = [
        (DUMPS, vec![(Kind::Write, false)], RANKS, rep, row, Mode::Strided, DUMP),
        (1, vec![(Kind::Read, false)], RANKS, DUMPS * rep, row, Mode::Strided, DUMPS * DUMP),
    ];
    assert_eq!(rows(&model), expected);
    for family in &model.families {
        assert_eq!(example(&model, family).disp, Some((POINTS * ELEMENT).cast_signed()));
    }
    let mut expected = Transfers::new();
    for paradigm in ["MPI-IO", "POSIX"] {
        (0..RANKS).for_each(|rank| both(&mut expected, rank, paradigm, row, DUMPS * rep));
    }
    assert_eq!(transfers(&subject.experiment, "btio.out"), expected);
    for it in bottoms(&model) {
        let requests = RANKS * DUMPS * rep;
        assert_eq!((it.collective, it.np, it.reaching), (false, RANKS, RANKS));
        assert_eq!((it.asked, it.pieces), (DUMPS * DUMP, Some(requests)));
        assert_eq!((it.requests.count, it.requests.bytes), (requests, DUMPS * DUMP));
    }
}

#[test]
fn cells_of_bt_io_in_a_file_for_each_rank_are_one_family_of_files() {
    let Some((_, model)) = btio("epio") else { return };
    // Fortran's marks.
    let record = DUMP / RANKS / CELLS + 8;
    let expected = [
        (DUMPS, vec![(Kind::Write, false)], RANKS, CELLS, record, Mode::Sequential, RANKS * CELLS * record),
        (
            1,
            vec![(Kind::Read, false)],
            RANKS,
            DUMPS * CELLS,
            record,
            Mode::Sequential,
            DUMPS * RANKS * CELLS * record,
        ),
    ];
    assert_eq!(rows(&model), expected);
    let writes = &model.families[0];
    assert_eq!((name(&model, writes), example(&model, writes).files.len()), ("btio.{n}", 4));
    let line = format!("ior -a POSIX -N 4 -b {} -t {record} -s 1 -F -w -k -o FILE", CELLS * record);
    assert_eq!(model.ior[&writes.first].lines, [line]);
}

/// Requests of `io_shapes.c` and how many a rank makes at a time.
const REQUEST: u64 = 65_536;
const REQUESTS: u64 = 8;

fn shape(name: &'static str) -> Option<Model> {
    let subject = Subject::new(&format!("shape_{name}"), "files/io_shapes.c", 4, &[name])?;
    subject.run_recorded(Invocation::InFront).expect_success();
    Some(model_of(&subject))
}

#[test]
fn requests_in_any_order_are_one_random_phase() {
    let Some(model) = shape("random") else { return };
    let bytes = RANKS * REQUESTS * REQUEST;
    let kinds = vec![(Kind::Write, false)];
    assert_eq!(rows(&model), [(1, kinds, RANKS, REQUESTS, REQUEST, Mode::Random, bytes)]);
    let line = "ior -a MPIIO -N 4 -b 524288 -t 65536 -s 1 -z -w -k -o FILE";
    assert_eq!(model.ior[&1].lines, [line]);
}

#[test]
fn files_of_all_steps_are_one_family() {
    let Some(model) = shape("steps") else { return };
    let kinds = vec![(Kind::Write, false)];
    assert_eq!(rows(&model), [(6, kinds, RANKS, 1, REQUEST, Mode::Sequential, RANKS * REQUEST)]);
    assert_eq!(name(&model, &model.families[0]), "out.{n}.h5");
    assert_eq!(model.families[0].file, linear(0, REQUEST.cast_signed(), 0));
}

#[test]
fn header_and_small_requests_are_beside_the_dumps_and_no_byte_is_lost() {
    let Some(model) = shape("noise") else { return };
    let found: Vec<_> =
        rows(&model).into_iter().map(|(count, _, np, rep, rs, ..)| (count, np, rep, rs)).collect();
    let (dumps, small, header) = (5, 96, 512);
    assert_eq!(found, [(1, 1, 1, header), (dumps, RANKS, REQUESTS, REQUEST), (dumps, RANKS, 1, small)]);
    let residues: Vec<bool> = model.families.iter().map(|it| example(&model, it).key.residue).collect();
    assert_eq!(residues, [false, false, true]);
    assert_eq!(model.bytes(), header + dumps * RANKS * REQUESTS * (REQUEST + small));
}

#[test]
fn writing_and_reading_in_turn_is_a_pattern_of_both() {
    let Some(model) = shape("pairs") else { return };
    let kinds = vec![(Kind::Write, false), (Kind::Read, false)];
    let bytes = 2 * RANKS * REQUESTS * REQUEST;
    assert_eq!(rows(&model), [(1, kinds, RANKS, REQUESTS, REQUEST, Mode::Sequential, bytes)]);
    let accesses: BTreeMap<_, _> = [Kind::Write, Kind::Read].map(|kind| (kind, model.bytes_of(kind))).into();
    assert_eq!(accesses, [(Kind::Write, bytes / 2), (Kind::Read, bytes / 2)].into());
}
