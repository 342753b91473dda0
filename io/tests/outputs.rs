//! The outputs of a small run: two ranks write a file in turns of 1 MiB, then rank 0 reads half of it.

use std::collections::{BTreeMap, BTreeSet};

use io_model::{
    Begin, Defect, FileFacts, FileTransfers, Files, Findings, GAP, Id, Kind, Layer, Looked, Model, Opening,
    Parts, Pointer, Reads, SetView, Settings, Thresholds, Walk, estimates, fastest, heat, look_at_transfers,
    phases, picture, read_systems, script, tsv,
};

const MIB: u64 = 1 << 20;

fn model() -> Model {
    let mut all = Vec::new();
    for rank in 0..2 {
        let mut walk = Walk::new(
            rank,
            Settings { gap: GAP, transfers: 1 << 20, small_bytes: 1 << 20, has_exact_streams: true },
        );
        walk.create(
            1,
            &Opening {
                file: 0,
                layer: Layer::Mpi,
                members: Some(2),
                append: false,
                size: None,
                direct: false,
                hints: Some("cb_nodes=1"),
                has_views: true,
                is_nested: false,
                was_open: false,
            },
        );
        let text = "r(0,2097152,b1048576)";
        walk.set_view(
            1,
            &SetView {
                displacement: u64::from(rank) * MIB,
                etype: Some(8),
                text: Some(text),
                ..SetView::default()
            },
        );
        let id = Id { location: 0, handle: 1, number: 0 };
        let mut transfer = |kind, offset, time| {
            walk.begin(
                id,
                &Begin {
                    kind,
                    collective: false,
                    non_blocking: false,
                    pointer: Pointer::Explicit,
                    offset: Some(offset),
                    requested: Some(MIB),
                    begin: time,
                    tick: 0,
                    epoch: 0,
                    caller: io_model::Caller::default(),
                },
            );
            walk.complete(id, time + 100, Some(MIB));
        };
        (0..8).for_each(|at| transfer(Kind::Write, at * MIB / 8, at * 100));
        if rank == 0 {
            (0..4).for_each(|at| transfer(Kind::Read, at * MIB / 8, 800 + at * 100));
        }
        all.push(walk.finish());
    }
    let files = Files::new(vec!["/scratch/out".to_owned()], &BTreeMap::from([(0, BTreeSet::from([0, 1]))]));
    let mut facts = FileFacts::default();
    all.iter().for_each(|it| facts.merge(&it.facts[&0]));
    let lists = all.iter_mut().filter_map(|it| it.transfers.remove(&0)).collect();
    let transfers = BTreeMap::from([(0, FileTransfers { lists, facts: facts.clone() })]);
    let facts = BTreeMap::from([(0, facts)]);
    let looked = |block_bytes| {
        let limits = Thresholds { block_bytes, ..Thresholds::default() };
        look_at_transfers(&transfers, &limits, heat(&[transfers[&0].extent(0)], (2000, 2)))
    };
    let contended = |looked: &Looked| -> u64 {
        looked.sums.values().flat_map(|it| it.calls).map(|calls| calls[Defect::Contended as usize]).sum()
    };
    let Looked { reads, heat, findings, .. } = looked(4096);
    assert_eq!((contended(&looked(4096)), contended(&looked(4 * MIB))), (0, 16));
    let of_file = Reads { bytes: 4 * MIB, own: 4 * MIB, distinct: 4 * MIB, ..Reads::default() };
    assert_eq!((&reads, findings), (&BTreeMap::from([(0, of_file)]), Findings::default()));
    Model::new(Parts {
        resolution: 1000,
        run: 2000,
        phases: phases(all.into_iter().flat_map(|it| it.simple).collect(), &files),
        files,
        facts,
        reads,
        heat,
        ..Parts::default()
    })
}

#[test]
fn the_table_has_a_line_for_each_family() {
    let table = tsv(&model());
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    let row = |at: usize| lines[0].iter().copied().zip(lines[at].iter().copied()).collect::<BTreeMap<_, _>>();
    let (writes, reads) = (row(1), row(2));
    let expected = [
        ("phase", "1"),
        ("file", "/scratch/out"),
        ("layer", "mpi"),
        ("op", "write"),
        ("blocking", "1"),
        ("mode", "strided"),
        ("np", "2"),
        ("rep", "8"),
        ("rs", "1048576"),
        ("disp", "2097152"),
        ("dist", "1048576"),
        ("bytes", "16777216"),
        ("t_md", "0.800000000"),
        ("bw_md", "20971520"),
        ("relevance", "0.400000"),
        ("view_b", "0"),
        ("file_c", "0"),
        ("ior", "IOR_HINT__MPI__cb_nodes=1 ior -a MPIIO -N 2 -b 1048576 -t 1048576 -s 8 -w -k -o FILE"),
    ];
    expected.iter().for_each(|(name, value)| assert_eq!(writes[name], *value, "{name}"));
    assert_eq!((reads["op"], reads["members"], reads["bytes"]), ("read", "1", "4194304"));
}

#[test]
fn the_script_writes_what_is_read() {
    let script = script(&model());
    let lines: Vec<&str> = script.lines().skip(4).collect();
    let run = "IOR_HINT__MPI__cb_nodes=1 $RUN";
    let end = "-k -i 3 -o \"$FILE\"";
    let read = "1 ior -a MPIIO -N 1 -b 4194304 -t 1048576 -s 1";
    let expected = [
        "",
        "# phase 1: /scratch/out",
        &format!("{run} 2 ior -a MPIIO -N 2 -b 1048576 -t 1048576 -s 8 -w {end}"),
        "",
        "# phase 2: /scratch/out",
        "# approximated: contiguous blocks instead of a stride",
        &format!("{run} {read} -w {end}"),
        &format!("{run} {read} -r {end}"),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn the_picture_has_both_colours_and_numbers_of_phases() {
    let svg = picture(&model()).unwrap();
    let has = |text: &&str| assert!(svg.contains(*text), "{text}");
    [
        "fill=\"#c00\"",
        "fill=\"#00c\"",
        ">bytes of /scratch/out</text>",
        ">0 to 2.000000000 s;",
        ">1</text>",
        ">2</text>",
    ]
    .iter()
    .for_each(has);
    assert!(picture(&Model { heat: None, ..model() }).is_none());
}

#[test]
fn the_model_says_what_each_kind_moved() {
    let model = model();
    assert_eq!((model.bytes_of(Kind::Write), model.bytes_of(Kind::Read)), (16 * MIB, 4 * MIB));
    assert_eq!(model.files[&0].modes.values().sum::<u64>(), model.bytes());
    assert_eq!(model.files[&0].facts.accesses[1].sizes[5], 16);
}

#[test]
fn the_faster_system_is_chosen() {
    let model = model();
    let lines = "A\tMPIIO\tw\t2\t1048576\t8\nA\tMPIIO\tr\t1\t1048576\t4\nB\tMPIIO\tw\t2\t1048576\t16\nB\tMPIIO\tr\t1\t1048576\t2\n\
        C\tMPIIO\tw\t2\t1048576\t1000\n";
    let table = read_systems("t.tsv", &format!("system\tapi\top\tnp\tt\tMiB_s\n{lines}")).unwrap();
    let all = estimates(&model.families, &model.phases, &table, false);
    let told: Vec<_> = all.iter().map(|it| (it.system.as_str(), it.seconds, it.is_complete)).collect();
    assert_eq!(told, [("A", 3.0, true), ("B", 3.0, true), ("C", 0.016, false)]);
    assert_eq!(fastest(&all).len(), 2);
}
