//! The model of file I/O of made-up traces whose calls tell of views, hints and sizes (io.md 2.2, 2.4): places in the file are those
//! that views say, and what is not told stays unknown.

use std::fmt::Write;
use std::fs;

use io_model::{Finding, Mode, Model, Origin};

use crate::support::in_memory;
use crate::support::parse::Case;
use crate::support::run::analyze;
use crate::support::write::write;

/// The model of a script, and its table; both are the same for any number of workers.
pub(crate) fn model(script: &str) -> (Model, String) {
    let directory = in_memory();
    write(&Case::parse(script).unwrap().trace, directory.path());
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (trace, report, json, table) =
        (path("traces.otf2"), path("trace.cubex"), path("a.json"), path("a.tsv"));
    let mut first = None;
    for threads in ["1", "2", "3"] {
        let fixed = [&*trace, "-o", &report, "--details", "none", "--no-advice", "--threads", threads];
        let finished = analyze(fixed.into_iter().chain(["--io-model", &json, "--io-model", &table]));
        assert!(finished.status.is_some_and(|status| status <= 1), "{}", finished.stderr);
        let texts = [&json, &table].map(|path| fs::read_to_string(path).unwrap());
        assert!(*first.get_or_insert_with(|| texts.clone()) == texts, "{threads} workers");
    }
    let [json, table] = first.unwrap();
    (Model::from_json(&json).unwrap(), table)
}

/// Bytes of a rank in a dump of BT-IO class W on 4 ranks.
const DUMP: u64 = 138_240;

/// A rank that opens a file, sets a view, and writes dumps with communication between them, at offsets in etypes of 40 bytes.
fn rank(script: &mut String, number: u64, open: &str, view: &str, dumps: u64) {
    writeln!(script, "rank {number}\n 0 > main ; > MPI_Init ; 10 <").unwrap();
    writeln!(script, " 20 > MPI_File_open ; {open} ; 30 <").unwrap();
    writeln!(script, " 30 > MPI_File_set_view ; 40 with file f {view} : <").unwrap();
    for dump in 0..dumps {
        let at = 1000 * (dump + 1);
        for step in 0..6 {
            writeln!(
                script,
                " {} > MPI_Barrier ; begin ; {} end barrier ; <",
                at + 10 * step,
                at + 10 * step + 5
            )
            .unwrap();
        }
        let offset = dump * DUMP / 40;
        writeln!(
            script,
            " {} > MPI_File_write_at_all ; with offset {offset} : transfer f id 1 bytes {DUMP} ; {} transferred f id 1 bytes {DUMP} ; <",
            at + 100,
            at + 200
        )
        .unwrap();
    }
    writeln!(script, " 90000 > MPI_File_close ; destroy f ; 90010 < ; > MPI_Finalize ; 90020 < ; <").unwrap();
}

/// The four ranks of BT-IO class W, each with two cells along the diagonal (io.md 4.11).
fn btio(dumps: u64, open: &str, view: impl Fn(&str) -> String) -> String {
    let mut script = String::from("resolution 1000\nprogram prog\nfile f world\n");
    let cells = [["0,0,0", "12,12,12"], ["0,0,12", "12,12,0"], ["0,12,0", "12,0,12"], ["0,12,12", "12,0,0"]];
    for (number, cells) in (0..).zip(cells) {
        let part = cells.map(|start| format!("1@0:s[24,24,24;12,12,12;{start}](b40)"));
        let text = format!("t({})", part.join(",")).replace(';', "|");
        rank(&mut script, number, open, &view(&text), dumps);
    }
    script
}

#[test]
fn view_of_bt_io_says_where_bytes_are() {
    let script = btio(4, "create f", |text| {
        format!(
            "view 0 etype 40 size {DUMP} extent 552960 pieces 288 type {text} hints cb_nodes=2|romio_cb_write=enable"
        )
    });
    let (model, table) = model(&script);
    assert!(model.findings.0.is_empty(), "{:?}", model.findings);
    assert_eq!(model.families.len(), 1);
    let family = &model.families[0];
    let phase = family.example(&model.phases).unwrap();
    assert_eq!((family.count, phase.np, phase.rep, phase.weight), (4, 4, 1, 4 * DUMP));
    assert_eq!((phase.mode, phase.holes, phase.is_view_known), (Mode::Strided, true, true));
    // io.md 7.1: 0 + 0·idP + 138,240·(j−1) in what ranks see.
    assert_eq!(family.view, Origin::Linear { start: 0, rank: 0, occurrence: 138_240 });
    // In the file cells begin at 0, 480, 11,520 and 12,000 of a dump, which is no linear function of the rank.
    assert_eq!(family.file, Origin::Irregular);
    let heat = model.heat.as_ref().unwrap();
    // The pieces of all ranks are exactly the bytes of four dumps.
    assert_eq!((heat.places.low, heat.places.high), (0, 4 * 4 * DUMP));
    assert_eq!(heat.places.written.iter().sum::<u64>(), 4 * 4 * DUMP);
    let line = "IOR_HINT__MPI__cb_nodes=2 IOR_HINT__MPI__romio_cb_write=enable ior -a MPIIO -N 4 -b 138240 -t 138240 -s 1 -c -w -k -o FILE";
    assert_eq!(model.ior[&family.first].lines, [line]);
    assert!(table.contains("approximated"), "{table}");
}

#[test]
fn displacement_and_etype_move_and_scale_offsets() {
    let mut script = String::from("resolution 1000\nprogram prog\nfile f world\n");
    // Pieces of 80 bytes every 200, from 1,000 on.
    let view = "view 1000 etype 40 size 80 extent 200 pieces 1 type r(0,200,c(2,b40))";
    rank(&mut script, 0, "create f", view, 2);
    let (model, _) = model(&script);
    let family = &model.families[0];
    // The second dump begins in tile 138,240 / 80.
    let second = DUMP / 80 * 200;
    assert_eq!(family.view, Origin::Linear { start: 0, rank: 0, occurrence: 138_240 });
    assert_eq!(
        family.file,
        Origin::Linear { start: 1000, rank: 0, occurrence: i64::try_from(second).unwrap() }
    );
    let heat = model.heat.as_ref().unwrap();
    assert_eq!((heat.places.low, heat.places.high), (1000, 1000 + 2 * second - 120));
}

#[test]
fn pointer_begins_at_the_begin_of_a_view_and_goes_where_it_is_sought() {
    let transfer = |at: u64| {
        format!(
            "{at} > MPI_File_write ; transfer f id 1 flags 0 bytes 800 ; {} transferred f id 1 bytes 800 ; <\n",
            at + 9
        )
    };
    let script = format!(
        "resolution 1000\nprogram prog\nfile f world\nrank 0\n 0 > main ; > MPI_Init ; 10 <\n\
         20 > MPI_File_open ; create f ; 30 <\n {} 40 > MPI_File_set_view ; 50 with file f view 8000 etype 8 type b8 : <\n\
         {} 70 > MPI_File_seek ; seek f to 1000 ; 71 <\n {} 90000 > MPI_File_close ; destroy f ; 90010 < ; \
         > MPI_Finalize ; 90020 < ; <\n",
        transfer(31),
        transfer(60),
        transfer(80)
    );
    let (model, _) = model(&script);
    let heat = model.heat.as_ref().unwrap();
    // From 0, from the displacement, and 1,000 etypes behind it.
    assert_eq!((heat.places.low, heat.places.high), (0, 8000 + 8000 + 800));
    assert!(model.findings.0.is_empty(), "{:?}", model.findings);
}

#[test]
fn view_of_which_only_numbers_are_told_has_sizes_and_no_places() {
    // 288 pieces, and no text: it was longer than is recorded.
    let script = btio(4, "create f", |_| format!("view 0 etype 40 size {DUMP} extent 552960 pieces 288"));
    let (model, table) = model(&script);
    let family = &model.families[0];
    let phase = family.example(&model.phases).unwrap();
    assert_eq!((phase.weight, phase.holes, phase.positions[0].rs), (4 * DUMP, true, DUMP));
    assert_eq!(
        (family.view, family.file),
        (Origin::Linear { start: 0, rank: 0, occurrence: 138_240 }, Origin::Unknown)
    );
    assert_eq!(model.findings.0[&Finding::UnknownOffset], 16);
    let row: Vec<&str> = table.lines().nth(1).unwrap().split('\t').collect();
    let column =
        |name: &str| row[table.lines().next().unwrap().split('\t').position(|it| it == name).unwrap()];
    assert_eq!(["file_a", "file_b", "file_c", "dist"].map(column), ["unknown"; 4]);
    assert_eq!(column("weight"), "552960");
}

#[test]
fn view_with_more_pieces_than_are_looked_at_is_found_and_keeps_its_sizes() {
    let view =
        |_: &str| "view 0 etype 40 size 200000 extent 552960 pieces 5000 type v(5000,1,80,b40)".to_owned();
    let (model, _) = model(&btio(1, "create f", view));
    assert_eq!(model.findings.0[&Finding::TooManyPieces], 4);
    assert_eq!(model.families[0].file, Origin::Unknown);
    assert_eq!(model.bytes(), 4 * DUMP);
}

#[test]
fn displacement_alone_says_nothing_of_places() {
    let (model, table) = model(&btio(2, "create f", |_| "view 0".to_owned()));
    assert_eq!(model.phases[0].mode, Mode::Unknown);
    assert_eq!(model.findings.0[&Finding::UnknownEtype], 4);
    assert!(table.lines().nth(1).unwrap().contains("unknown"), "{table}");
    assert_eq!(model.bytes(), 2 * 4 * DUMP);
}

#[test]
fn sizes_hints_and_room_are_those_that_calls_tell() {
    let mut script = String::from("resolution 1000\nprogram prog\nfile f world\n");
    let view = "view 0 etype 40 type b40";
    let open = "with hints striping_unit=65536 file-size 1000 : create f";
    rank(&mut script, 0, open, view, 1);
    let sized = script.replace(
        " 30 > MPI_File_set_view",
        " 30 > MPI_File_set_size ; 31 with file f file-size 5000000 : <\n 31 > MPI_File_preallocate ; 32 with file f : <\n \
         32 > MPI_File_set_view",
    );
    let ior = |model: &Model| model.ior[&1].lines[0].clone();
    let (without, _) = model(&script);
    let line = "ior -a MPIIO -N 1 -b 138240 -t 138240 -s 1 -c -w -k -o FILE";
    assert_eq!(ior(&without), format!("IOR_HINT__MPI__striping_unit=65536 {line}"));
    let (with, _) = model(&sized);
    let preallocated = line.replace(" -w", " --mpiio.preallocate -w");
    assert_eq!(ior(&with), format!("IOR_HINT__MPI__striping_unit=65536 {preallocated}"));
    let size = |model: &Model| model.files.values().next().unwrap().facts.size;
    assert_eq!((size(&without), size(&with)), (Some(1000), Some(5_000_000)));
}
