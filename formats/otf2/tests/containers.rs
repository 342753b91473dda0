//! Containers as SIONlib writes them, made up: tasks, keys, chunks and both byte orders.

use std::fs;
use std::path::Path;

/// A container to be.
pub(crate) struct Container {
    pub(crate) big: bool,
    /// Chunks begin at multiples of this many bytes.
    pub(crate) block: u64,
    pub(crate) tasks: Vec<Task>,
}

/// What a task writes.
pub(crate) struct Task {
    pub(crate) rank: u64,
    /// Bytes of its chunks: a multiple of the size of blocks.
    pub(crate) chunk: u64,
    /// Keys and pieces of their bytes, in the order of writing.
    pub(crate) pieces: Vec<(u64, Vec<u8>)>,
}

impl Container {
    fn u32(&self, number: u64) -> [u8; 4] {
        let number = u32::try_from(number).unwrap();
        if self.big { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    fn u64(&self, number: u64) -> [u8; 8] {
        if self.big { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    /// The bytes of the file (`FORMAT.md`, "Containers").
    pub(crate) fn encode(&self) -> Vec<u8> {
        let streams: Vec<Vec<u8>> = self.tasks.iter().map(|task| self.stream(task)).collect();
        let chunks = |at: usize| streams[at].chunks(self.tasks[at].chunk as usize);
        let counts: Vec<u64> = (0..streams.len()).map(|at| chunks(at).len().max(1) as u64).collect();
        let most = *counts.iter().max().unwrap();
        let tasks = self.tasks.len() as u64;
        let begin = (1088 + 16 * tasks).next_multiple_of(self.block);
        let step: u64 = self.tasks.iter().map(|task| task.chunk).sum();
        let second = begin + most * step;
        let mut file = b"sion".to_vec();
        file.extend([u8::from(self.big); 4]);
        for number in [1007, 6, 5, self.block, tasks, 1, 0] {
            file.extend(self.u32(number));
        }
        file.extend(self.u64(51 << 32));
        file.extend(self.u64(0));
        file.resize(1076, 0);
        self.tasks.iter().for_each(|task| file.extend(self.u64(task.rank)));
        self.tasks.iter().for_each(|task| file.extend(self.u64(task.chunk)));
        file.extend(self.u32(most));
        file.extend(self.u64(second));
        file.resize(second as usize, 0);
        let mut first = begin as usize;
        for (at, task) in self.tasks.iter().enumerate() {
            for (number, chunk) in chunks(at).enumerate() {
                let place = first + number * step as usize;
                file[place..place + chunk.len()].copy_from_slice(chunk);
            }
            first += task.chunk as usize;
        }
        counts.iter().for_each(|&count| file.extend(self.u64(count)));
        for number in 0..most as usize {
            for at in 0..streams.len() {
                file.extend(self.u64(chunks(at).nth(number).map_or(0, <[u8]>::len) as u64));
            }
        }
        file
    }

    /// All that a task writes: each piece behind its key and its length.
    fn stream(&self, task: &Task) -> Vec<u8> {
        let mut stream = Vec::new();
        for (key, piece) in &task.pieces {
            stream.extend(self.u64(*key));
            stream.extend(self.u64(piece.len() as u64));
            stream.extend(piece);
        }
        stream
    }
}

/// Writes the anchor and the map of an archive whose containers have these ranks, with the locations of each.
pub(crate) fn write_archive(directory: &Path, containers: &[Vec<(u64, Vec<u64>)>]) {
    let path = directory.join("traces.otf2");
    let anchor = otf2::Anchor { substrate: 2, ..otf2::Anchor::default() };
    fs::create_dir_all(directory.join("traces")).unwrap();
    fs::write(&path, anchor.encode(&path).unwrap()).unwrap();
    let mut ranks: Vec<_> = containers
        .iter()
        .enumerate()
        .flat_map(|(file, tasks)| tasks.iter().enumerate().map(move |(task, of)| (of.0, file, task, &of.1)))
        .collect();
    ranks.sort();
    let locations: usize = ranks.iter().map(|rank| rank.3.len()).sum();
    let mut records = vec![10];
    let number = |number: u64, records: &mut Vec<u8>| {
        let bytes = number.to_le_bytes();
        let size = 8 - number.leading_zeros() as usize / 8;
        records.push(size as u8);
        records.extend(&bytes[..size]);
    };
    let numbers = |of: &[u64], records: &mut Vec<u8>| of.iter().for_each(|&it| number(it, records));
    numbers(&[containers.len() as u64, ranks.len() as u64, locations as u64], &mut records);
    for (rank, file, task, locations) in ranks {
        records.push(11);
        numbers(&[rank, file as u64, task as u64, locations.len() as u64], &mut records);
        for &location in locations {
            records.push(12);
            numbers(&[location], &mut records);
        }
    }
    let map = crate::support::chunk(otf2::ByteOrder::Little, &records);
    fs::write(directory.join("traces.srm"), map).unwrap();
}
