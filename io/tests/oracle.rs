//! The model says what the oracle of the specification says, of made-up lists of operations.
//!
//! What the oracle says is in golden.txt, which golden.py has written; the lists are made here with the same pseudo-random numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use io_model::{
    Access, Files, Kind, Layer, Operation, Origin, Pointer, Simple, Stream, commands, families, phases,
};

const LAYERS: [Layer; 3] = [Layer::Isoc, Layer::Mpi, Layer::Posix];
const POINTERS: [Pointer; 3] = [Pointer::Explicit, Pointer::Individual, Pointer::Shared];
const SIZES: [u64; 4] = [96, 1000, 4096, 1 << 20];

struct Random(u64);

impl Random {
    fn draw(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.draw(count) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.draw(all.len() as u64) as usize]
    }
}

/// Operations of a rank on a file.
type List = Vec<(u32, String, Operation)>;

fn kind(number: u64) -> Kind {
    if number == 0 { Kind::Write } else { Kind::Read }
}

/// Ranks that repeat a pattern in some steps.
fn orderly(random: &mut Random, list: &mut List) {
    let (ranks, steps, naming) = (1 + random.draw(4), 1 + random.draw(5), random.draw(4));
    let layer = random.of(&LAYERS);
    let (collective, non_blocking, pointer) = (random.one_in(3), random.one_in(4), random.of(&POINTERS));
    let slots: Vec<(Kind, u64)> =
        (0..1 + random.draw(3)).map(|_| (kind(random.draw(2)), random.of(&SIZES))).collect();
    let most = if random.one_in(4) { 40 } else { 12 };
    let (rep, layout, k) = (1 + random.draw(most), random.draw(5), 1 + random.draw(4));
    let [noise, vary, empty, reopen] = [3, 3, 5, 4].map(|count| random.one_in(count));
    let pause = random.draw(2) * 100;
    for rank in 0..ranks {
        let (mut clock, mut tick) = (random.draw(50), 0);
        for step in 0..steps {
            tick += pause;
            let name = match naming {
                0 => "f".to_owned(),
                1 => format!("r.{rank}"),
                2 => format!("out.{step}.h5"),
                _ => ["a", "b"][step as usize % 2].to_owned(),
            };
            let opening = 1 + u64::from(reopen && step > 1);
            let epoch = if pause > 0 { step } else { 0 };
            let mut add = |access, offset, first, size, length, tick, begin, end| {
                let (offset, first) = (Some(offset), Some(first));
                let operation = Operation {
                    access,
                    opening,
                    offset,
                    first,
                    length,
                    size,
                    tick,
                    epoch,
                    begin,
                    end,
                    caller: io_model::Caller::default(),
                };
                list.push((rank as u32, name.clone(), operation));
            };
            if noise && rank == 0 {
                let access = Access {
                    kind: Kind::Write,
                    layer: Layer::Mpi,
                    collective: false,
                    non_blocking: false,
                    pointer: Pointer::Explicit,
                };
                let size = random.of(&SIZES) / 8;
                add(access, 0, 0, size, size, tick, clock, clock + 1);
            }
            for i in 0..rep {
                for (j, &(kind, size)) in (0..).zip(&slots) {
                    let size = match (empty && rank == ranks - 1, vary) {
                        (true, _) => 0,
                        (false, true) => size + 8 * rank,
                        (false, false) => size,
                    };
                    let drawn = random.draw(1000);
                    let at = match layout {
                        0 => rank * rep + i,
                        1 => i * ranks + rank,
                        2 => i / k * k * ranks + rank * k + i % k,
                        3 => drawn,
                        _ => i,
                    };
                    let at = (at + step * rep * ranks) * if layout == 3 { SIZES[3] } else { size };
                    tick += if random.one_in(4) { random.draw(2) } else { 0 };
                    clock += random.draw(20);
                    let long = 1 + random.draw(30);
                    let length = if layout == 4 { size * 2 } else { size };
                    let access = Access { kind, layer, collective, non_blocking, pointer };
                    add(access, at, at + 3 * j, size, length, tick, clock, clock + long);
                    clock += long;
                }
            }
        }
    }
}

/// Anything.
fn disorderly(random: &mut Random, list: &mut List) {
    let (ranks, count) = (1 + random.draw(3), 1 + random.draw(40));
    for rank in 0..ranks {
        let (mut clock, mut tick, mut epoch, mut opening) = (0, 0, 0, 1);
        for _ in 0..count {
            clock += random.draw(20);
            tick += random.of(&[0, 0, 1, 7]);
            epoch += u64::from(random.one_in(8));
            opening += u64::from(random.one_in(12));
            let sizes = [random.of(&SIZES), 100 + random.draw(40), random.draw(3), 1000];
            let size = random.of(&sizes);
            let at = random.draw(8) * 1000;
            let long = random.draw(30);
            let name = random.of(&["f", "o1", "o2", "p.1.x"]).to_owned();
            let (kind, layer) = (kind(random.draw(2)), random.of(&LAYERS[..2]));
            let (collective, pointer) = (random.one_in(4), random.of(&POINTERS[..2]));
            let access = Access { kind, layer, collective, non_blocking: false, pointer };
            let first = at + 8 * random.draw(2);
            let length = if random.one_in(4) { size + 8 } else { size };
            let operation = Operation {
                access,
                opening,
                offset: Some(at),
                first: Some(first),
                length,
                size,
                tick,
                epoch,
                begin: clock,
                end: clock + long,
                caller: io_model::Caller::default(),
            };
            list.push((rank as u32, name, operation));
            clock += long;
        }
    }
}

fn made(seed: u64) -> (List, u64) {
    let (mut random, mut list) = (Random(seed), List::new());
    if random.one_in(3) {
        disorderly(&mut random, &mut list)
    } else {
        orderly(&mut random, &mut list)
    }
    (list, random.draw(3) * 4)
}

fn text(list: &List, gap: u64) -> String {
    let names: BTreeSet<String> = list.iter().map(|(_, name, _)| name.clone()).collect();
    let names: Vec<String> = names.into_iter().collect();
    let mut streams: BTreeMap<(u32, u32), Stream> = BTreeMap::new();
    let mut users: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (rank, name, operation) in list {
        let file = names.binary_search(name).unwrap() as u32;
        users.entry(file).or_default().insert(*rank);
        streams.entry((file, *rank)).or_insert_with(|| Stream::new(*rank, file, gap)).push(*operation);
    }
    let files = Files::new(names, &users);
    // Any order will do.
    let simple: Vec<Simple> = streams.into_values().rev().flat_map(Stream::finish).collect();
    let phases = phases(simple, &files);
    let mut text = String::new();
    for phase in &phases {
        writeln!(text, "{} {} {} {}", phase.weight, phase.begin, phase.end, phase.time).unwrap();
    }
    for family in families(&phases) {
        let phase = family.example(&phases).unwrap();
        let access = |it: &Access| {
            let pointer = it.pointer.name().chars().next().unwrap();
            let [collective, non_blocking] = [it.collective, it.non_blocking].map(u8::from);
            format!("{}{}{collective}{non_blocking}{pointer}", it.kind.letter(), it.layer.name())
        };
        let joined = |all: Vec<String>, by| all.join(by);
        let fit = |origin| match origin {
            Origin::Linear { start, rank, occurrence } => format!("{start},{rank},{occurrence}"),
            _ => "-".to_owned(),
        };
        let ranks = phase.ranks.0.iter().flat_map(|&(first, last)| first..=last);
        writeln!(
            text,
            "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
            family.numbers,
            phase.key.family,
            joined(phase.key.pattern.iter().map(access).collect(), "+"),
            u8::from(phase.key.residue),
            phase.mode.name(),
            phase.disp.unwrap(),
            u8::from(phase.holes),
            joined(ranks.map(|rank| rank.to_string()).collect(), ","),
            phase.np,
            phase.rep,
            joined(phase.positions.iter().map(|it| it.rs.to_string()).collect(), "+"),
            u8::from(phase.same_sizes && phase.same_rep),
            family.weight,
            family.time,
            fit(family.view),
            fit(family.file),
        )
        .unwrap();
        if phase.np > 0 && !(phase.key.residue && phase.key.pattern.len() > 1) {
            let (lines, remarks) = commands(phase, false);
            lines.iter().for_each(|line| writeln!(text, "{line}").unwrap());
            // The oracle does not say where a line moves other bytes than the phase.
            let known = remarks.iter().filter(|remark| !remark.contains(" bytes, the phase "));
            known.for_each(|remark| writeln!(text, "# {remark}").unwrap());
        }
    }
    text
}

fn hashed(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |value, byte| (value ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn it_says_of_500_lists_what_the_oracle_says() {
    let mut lists = 0;
    for golden in include_str!("golden.txt").split("= ").skip(1) {
        let (head, whole) = golden.split_once('\n').unwrap();
        let (seed, hash) = head.split_once(' ').unwrap();
        let (list, gap) = made(seed.parse().unwrap());
        let text = text(&list, gap);
        if !whole.is_empty() {
            assert_eq!(text, whole, "list {seed}");
        }
        assert_eq!(format!("{:016x}", hashed(&text)), hash, "list {seed}:\n{text}");
        lists += 1;
    }
    assert_eq!(lists, 500);
}
