//! Made-up patterns with known answers (io.md 7.1: those of the self-test of the oracle).

use std::collections::{BTreeMap, BTreeSet};

use io_model::{
    Access, Family, Files, GAP, Kind, Layer, Mode, Operation, Origin, Phase, Pointer, Stream, commands,
    families, phases,
};

const NP: u64 = 4;
const REP: u64 = 8;
const RS: u64 = 1 << 20;

/// A request of a rank, of 1 MiB to the file `f` unless one says otherwise.
#[derive(Clone)]
struct Request {
    rank: u64,
    at: u64,
    kind: Kind,
    size: u64,
    first: u64,
    tick: u64,
    file: String,
}

fn request(rank: u64, at: u64, first: u64) -> Request {
    Request { rank, at, kind: Kind::Write, size: RS, first, tick: 0, file: "f".to_owned() }
}

fn model(requests: impl IntoIterator<Item = Request>) -> (Vec<Phase>, Vec<Family>) {
    let requests: Vec<Request> = requests.into_iter().collect();
    let names: BTreeSet<String> = requests.iter().map(|it| it.file.clone()).collect();
    let names: Vec<String> = names.into_iter().collect();
    let mut streams: BTreeMap<(u32, u32), Stream> = BTreeMap::new();
    for it in requests {
        let (file, rank) = (names.binary_search(&it.file).unwrap() as u32, it.rank as u32);
        streams.entry((file, rank)).or_insert_with(|| Stream::new(rank, file, GAP)).push(Operation {
            access: Access {
                kind: it.kind,
                layer: Layer::Mpi,
                collective: false,
                non_blocking: false,
                pointer: Pointer::Explicit,
            },
            opening: 1,
            offset: Some(it.first),
            first: Some(it.first),
            length: it.size,
            size: it.size,
            tick: it.tick * 100,
            epoch: it.tick,
            begin: it.at * 10,
            end: it.at * 10 + 10,
            caller: io_model::Caller::default(),
        });
    }
    let mut users: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    streams.keys().for_each(|(file, rank)| _ = users.entry(*file).or_default().insert(*rank));
    let phases = phases(streams.into_values().flat_map(Stream::finish).collect(), &Files::new(names, &users));
    let families = families(&phases);
    (phases, families)
}

/// The lines of all families.
fn lines((phases, families): &(Vec<Phase>, Vec<Family>)) -> Vec<String> {
    let all = families.iter().flat_map(|family| commands(family.example(phases).unwrap(), false).0);
    all.map(|line| line.to_string()).collect()
}

fn ranks(each: impl Fn(u64, u64) -> Vec<Request>) -> Vec<Request> {
    let each = &each;
    (0..NP).flat_map(|rank| (0..REP).flat_map(move |at| each(rank, at))).collect()
}

#[test]
fn requests_that_take_turns_are_segments() {
    let model = model(ranks(|rank, at| vec![request(rank, at, (at * NP + rank) * RS)]));
    let phase = &model.0[0];
    assert_eq!(
        (phase.mode, phase.disp, phase.rep, model.1.len()),
        (Mode::Strided, Some((NP * RS) as i64), REP, 1)
    );
    assert_eq!(lines(&model), ["ior -a MPIIO -N 4 -b 1048576 -t 1048576 -s 8 -w -k -o FILE"]);
    assert_eq!(model.1[0].file, Origin::Linear { start: 0, rank: RS as i64, occurrence: 0 });
}

#[test]
fn blocks_that_take_turns_are_segments() {
    let blocks = |rank, at| {
        let block = |j| request(rank, 4 * at + j, (at * NP * 4 + rank * 4 + j) * RS);
        (0..4).map(block).collect()
    };
    let model = model(ranks(blocks).into_iter().filter(|it| it.at < 12));
    assert_eq!(lines(&model), ["ior -a MPIIO -N 4 -b 4194304 -t 1048576 -s 3 -w -k -o FILE"]);
    assert!(commands(&model.0[0], false).1.is_empty());
}

#[test]
fn lines_that_move_other_bytes_than_ranks_with_unlike_work_say_so() {
    let most = |rank| if rank == 3 { 40 } else { 10 };
    let all =
        (0..NP).flat_map(|rank| (0..most(rank)).map(move |at| request(rank, at, (rank * 40 + at) * RS)));
    let (phases, families) = model(all);
    let phase = &phases[0];
    assert_eq!((phase.same_sizes, phase.same_rep, phase.rep, families.len()), (true, false, 10, 1));
    let (lines, remarks) = commands(phase, false);
    assert_eq!(lines[0].to_string(), "ior -a MPIIO -N 4 -b 10485760 -t 1048576 -s 1 -w -k -o FILE");
    assert_eq!(remarks, ["moves 41943040 bytes, the phase 73400320"]);
}

#[test]
fn writing_and_reading_in_turn_is_one_pattern() {
    let pair = |rank, at| {
        let write = request(rank, 2 * at, (rank * REP + at) * RS);
        vec![write.clone(), Request { kind: Kind::Read, at: 2 * at + 1, ..write }]
    };
    let (phases, families) = model(ranks(pair));
    let kinds: String = phases[0].key.pattern.iter().map(|access| access.kind.letter()).collect();
    assert_eq!((&kinds[..], phases[0].rep, families[0].weight), ("WR", REP, 2 * NP * REP * RS));
    assert_eq!(phases[0].positions.iter().map(|it| it.bytes).collect::<Vec<_>>(), [NP * REP * RS; 2]);
}

#[test]
fn requests_out_of_order_are_random() {
    let order = [5, 2, 7, 0, 3, 6, 1, 4];
    let model = model(ranks(|rank, at| vec![request(rank, at, (rank * REP + order[at as usize]) * RS)]));
    assert_eq!(model.0[0].mode, Mode::Random);
    assert_eq!(lines(&model), ["ior -a MPIIO -N 4 -b 8388608 -t 1048576 -s 1 -z -w -k -o FILE"]);
}

#[test]
fn headers_and_small_requests_are_told_apart_and_not_lost() {
    let mut noisy = vec![Request { size: 512, ..request(0, 0, 0) }];
    for tick in 1..=5 {
        noisy.extend(ranks(|rank, at| {
            let first = ((tick - 1) * NP * REP + rank * REP + at) * RS;
            let large = Request { tick, ..request(rank, 10 * tick + at, first) };
            vec![large.clone(), Request { size: 96, first: 1 << 40, ..large }]
        }));
    }
    let bytes: u64 = noisy.iter().map(|it| it.size).sum();
    let (phases, families) = model(noisy);
    let shape = |family: &Family| {
        let phase = family.example(&phases).unwrap();
        (family.count, phase.np, phase.rep, phase.key.residue)
    };
    let shapes: Vec<_> = families.iter().map(shape).collect();
    assert_eq!(shapes, [(1, 1, 1, false), (5, NP, REP, false), (5, NP, 1, true)]);
    assert_eq!(families.iter().map(|family| family.weight).sum::<u64>(), bytes);
    // The five dumps matter, by bytes; of the run of a second the others take too little.
    let relevant = families.iter().map(|family| family.is_relevant(0.01, 1_000_000, bytes));
    assert_eq!(relevant.collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn one_rank_that_does_all_is_seen() {
    let (phases, _) = model((0..64).map(|at| request(0, at, at * RS)));
    assert_eq!((phases[0].np, phases[0].rep, phases[0].mode), (1, 64, Mode::Sequential));
}

#[test]
fn a_file_for_each_step_is_one_family() {
    let step = |rank, tick| Request {
        tick,
        file: format!("out.{tick:04}.h5"),
        ..request(rank, 10 * tick, rank * RS)
    };
    let (phases, families) = model((0..NP).flat_map(|rank| (0..6).map(move |tick| step(rank, tick))));
    assert_eq!((families.len(), families[0].count, phases[0].np), (1, 6, NP));
    assert_eq!(phases[0].key.family, "out.{n}.h5");
    assert_eq!(families[0].period, Some(100));
}
