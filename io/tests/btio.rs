//! What follows from the definition of NAS BT-IO (io.md 4.11), and the examples of io.md 4.8.

use std::collections::{BTreeMap, BTreeSet};

use io_model::{
    Access, Family, Files, GAP, Kind, Layer, Mode, Operation, Origin, Phase, Pointer, Simple, Stream,
    commands, families, phases,
};

/// Class, points in each direction, time steps, bytes of a dump, bytes of the file.
const CLASSES: [(char, u64, u64, u64, u64); 7] = [
    ('S', 12, 60, 69_120, 829_440),
    ('W', 24, 200, 552_960, 22_118_400),
    ('A', 64, 200, 10_485_760, 419_430_400),
    ('B', 102, 200, 42_448_320, 1_697_932_800),
    ('C', 162, 200, 170_061_120, 6_802_444_800),
    ('D', 408, 250, 2_716_692_480, 135_834_624_000),
    ('E', 1020, 250, 42_448_320_000, 2_122_416_000_000),
];
const ELEMENT: u64 = 40;

/// Lowest corner and size.
type Cell = ([u64; 3], [u64; 3]);

/// Diagonal multi-partitioning: the q cells of a rank.
fn cells(n: u64, q: u64, rank: u64) -> Vec<Cell> {
    let cell = |c: u64| {
        let place = [(rank % q + c) % q, (rank / q + q - c) % q, c];
        (place.map(|at| at * (n / q) + at.min(n % q)), place.map(|at| n / q + u64::from(at < n % q)))
    };
    (0..q).map(cell).collect()
}

fn bytes(cells: &[Cell]) -> u64 {
    cells.iter().map(|(_, size)| size.iter().product::<u64>() * ELEMENT).sum()
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    /// One collective request a dump through a view.
    Full,
    /// A request a row.
    Simple,
    /// A file a rank, a record a cell.
    Epio,
}

/// File, place in the view, bytes, first byte, length.
type Request = (u32, u64, u64, u64, u64);

fn requests(n: u64, dump: u64, rank: u64, cells: &[Cell], how: How) -> Vec<Request> {
    let at = |[x, y, z]: [u64; 3]| ELEMENT * (x + n * (y + n * (z + n * dump)));
    match how {
        How::Full => {
            let size = bytes(cells);
            let first = cells.iter().map(|(low, _)| at(*low)).min().unwrap();
            let end = |(low, size): &Cell| at([low[0] + size[0], low[1] + size[1] - 1, low[2] + size[2] - 1]);
            vec![(0, dump * size, size, first, cells.iter().map(end).max().unwrap() - first)]
        }
        How::Simple => {
            let rows = |&(low, size): &Cell| {
                let row = move |y, z| at([low[0], low[1] + y, low[2] + z]);
                (0..size[2]).flat_map(move |z| (0..size[1]).map(move |y| (row(y, z), size[0] * ELEMENT)))
            };
            cells.iter().flat_map(rows).map(|(at, size)| (0, at, size, at, size)).collect()
        }
        How::Epio => {
            let mut position = 0;
            let record = |cell: &Cell| {
                let size = bytes(std::slice::from_ref(cell)) + 8;
                position += size;
                (rank as u32, position - size, size, position - size, size)
            };
            cells.iter().map(record).collect()
        }
    }
}

/// Phases and families of a run.
fn btio(class: char, np: u64, how: How, gap: u64) -> (Vec<Phase>, Vec<Family>) {
    let (_, n, steps, ..) = CLASSES[CLASSES.iter().position(|it| it.0 == class).unwrap()];
    let dumps = steps / 5;
    let q = np.isqrt();
    let mut simple: Vec<Simple> = Vec::new();
    let mut users: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for rank in 0..np {
        let cells = cells(n, q, rank);
        let file = if how == How::Epio { rank as u32 } else { 0 };
        users.entry(file).or_default().insert(rank as u32);
        let mut stream = Stream::new(rank as u32, file, gap);
        let (mut clock, mut tick) = (0, 1);
        for kind in [Kind::Write, Kind::Read] {
            let is_read = kind == Kind::Read;
            for dump in 0..dumps {
                tick += if is_read { 0 } else { 150 };
                for (_, offset, size, first, length) in requests(n, dump, rank, &cells, how) {
                    clock += 1;
                    stream.push(Operation {
                        access: Access {
                            kind,
                            layer: if how == How::Epio { Layer::Posix } else { Layer::Mpi },
                            collective: how == How::Full,
                            non_blocking: false,
                            pointer: Pointer::Explicit,
                        },
                        opening: 1 + u64::from(is_read),
                        offset: Some(offset),
                        first: Some(first),
                        length,
                        size,
                        tick,
                        epoch: 1 + if is_read { dump } else { 0 },
                        begin: clock,
                        end: clock + 1,
                        caller: io_model::Caller::default(),
                    });
                }
                tick += u64::from(is_read);
            }
        }
        simple.extend(stream.finish());
    }
    let names = match how {
        How::Epio => (0..np).map(|rank| format!("btio.{rank:04}")).collect(),
        _ => vec!["btio".to_owned()],
    };
    let phases = phases(simple, &Files::new(names, &users));
    let families = families(&phases);
    (phases, families)
}

fn numbers(families: &[Family]) -> Vec<String> {
    families.iter().map(|family| family.numbers.to_string()).collect()
}

fn lines(phase: &Phase) -> Vec<String> {
    commands(phase, false).0.iter().map(ToString::to_string).collect()
}

#[test]
fn all_classes_have_as_many_phases_as_dumps_and_one_for_reading() {
    for (class, n, steps, dump, file) in CLASSES {
        let dumps = steps / 5;
        assert_eq!((n * n * n * ELEMENT, dump * dumps), (dump, file));
        for np in [4, 16, 36] {
            let (phases, families) = btio(class, np, How::Full, GAP);
            assert_eq!(numbers(&families), [format!("1-{dumps}"), (dumps + 1).to_string()], "{class}.{np}");
            let shape = |phase: &Phase| (phase.np, phase.rep, phase.mode, phase.weight);
            assert!(phases[..dumps as usize].iter().all(|it| shape(it) == (np, 1, Mode::Strided, dump)));
            assert_eq!(shape(&phases[dumps as usize]), (np, dumps, Mode::Strided, file));
        }
    }
}

#[test]
fn class_d_has_the_papers_request_sizes_and_offsets() {
    for (np, rs) in [(36, 75_463_680), (64, 42_448_320)] {
        let (phases, families) = btio('D', np, How::Full, GAP);
        assert!(phases.iter().all(|phase| phase.positions[0].rs == rs && phase.same_sizes && phase.same_rep));
        let step = rs as i64;
        assert_eq!(families[0].view, Origin::Linear { start: 0, rank: 0, occurrence: step });
        // The paper's Table 2: rs·idP + rs·(ph − 1) + rs·(np − 1)·(ph − 1).
        let table_2 = Origin::Linear { start: 0, rank: step, occurrence: step + step * (np as i64 - 1) };
        assert_eq!(families[0].dense, table_2);
    }
    let (phases, families) = btio('D', 121, How::Full, GAP);
    assert_eq!(numbers(&families), ["1-50", "51"]);
    assert_eq!(
        (phases[0].positions[0].rs, phases[0].same_sizes, phases[0].same_rep),
        (22_452_004, false, true)
    );
    assert_eq!((phases[0].positions[0].least, phases[0].positions[0].most), (22_451_600, 22_456_080));
}

#[test]
fn without_a_gap_reading_falls_apart() {
    let (phases, families) = btio('C', 16, How::Full, 0);
    assert_eq!((phases.len(), families.len()), (80, 2));
    let with_gap = btio('C', 16, How::Full, GAP).1;
    let sums = |all: &[Family]| all.iter().map(|it| (it.weight, it.time)).collect::<Vec<_>>();
    assert_eq!(sums(&families), sums(&with_gap));
}

#[test]
fn lines_of_ior_are_those_of_the_specification() {
    let line = |class, np, how, at: usize| {
        let (phases, families) = btio(class, np, how, GAP);
        let (lines, remarks) = commands(families[at].example(&phases).unwrap(), false);
        format!("{} {}", lines[0], if remarks.is_empty() { "" } else { "approximated" })
    };
    assert_eq!(
        line('D', 36, How::Full, 0),
        "ior -a MPIIO -N 36 -b 75463680 -t 75463680 -s 1 -c -w -k -o FILE approximated"
    );
    assert_eq!(
        line('D', 36, How::Full, 1),
        "ior -a MPIIO -N 36 -b 75463680 -t 75463680 -s 50 -c -r -k -o FILE approximated"
    );
    assert_eq!(
        line('A', 4, How::Simple, 0),
        "ior -a MPIIO -N 4 -b 2621440 -t 1280 -s 1 -w -k -o FILE approximated"
    );
    assert_eq!(line('W', 4, How::Epio, 0), "ior -a POSIX -N 4 -b 138256 -t 69128 -s 1 -F -w -k -o FILE ");
}

#[test]
fn rows_are_strided_and_records_sequential() {
    let (phases, families) = btio('W', 4, How::Simple, GAP);
    assert_eq!(numbers(&families), ["1-40", "41"]);
    let phase = &phases[0];
    assert_eq!(
        (phase.rep, phase.positions[0].rs, phase.mode, phase.disp),
        (288, 480, Mode::Strided, Some(960))
    );
    assert_eq!((phase.weight, phases[40].rep, phases[40].weight), (552_960, 11_520, 40 * 552_960));
    let (phases, families) = btio('A', 4, How::Simple, GAP);
    assert_eq!((phases[0].rep, phases[0].positions[0].rs, families.len()), (2048, 1280, 2));

    let (phases, families) = btio('W', 4, How::Epio, GAP);
    assert_eq!(numbers(&families), ["1-40", "41"]);
    let phase = &phases[0];
    assert_eq!(phase.key.family, "btio.{n}");
    assert_eq!((phase.files.len(), phase.rep, phase.mode), (4, 2, Mode::Sequential));
    assert_eq!(lines(phase).len(), 1);
}
