//! Tests of the table of call paths.

use super::*;
use crate::growing::SEGMENT;
use recording::paths::{FRAME, MPI_FUNCTION, SAMPLE};
use std::fs::File;

/// Nodes that fit into a number of segments.
fn capacity(segments: usize) -> u32 {
    ((segments * SEGMENT - size_of::<PathsHeader>()) / size_of::<PathNode>()) as u32
}

fn read(path: &Path) -> (PathsHeader, Vec<PathNode>) {
    let bytes = std::fs::read(path).unwrap();
    let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
    let half = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
    let header = PathsHeader { magic: word(0), nodes: word(8) };
    let node =
        |i: usize| PathNode { target: word(16 + 16 * i), parent: half(24 + 16 * i), kind: half(28 + 16 * i) };
    (header, (0..header.nodes as usize).map(node).collect())
}

#[test]
fn a_node_is_added_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("0.paths");
    let mut table = PathTable::create(&path).unwrap();
    let main = table.intern(NO_PARENT, FRAME, 0x1000);
    let solve = table.intern(main, FRAME, 0x2000);
    let send = table.intern(solve, MPI_FUNCTION, 3);
    assert_eq!((main, solve, send), (0, 1, 2));
    assert_eq!(table.intern(NO_PARENT, FRAME, 0x1000), main);
    assert_eq!(table.intern(solve, MPI_FUNCTION, 3), send);
    assert_eq!(table.intern(main, MPI_FUNCTION, 3), 3);
    assert_eq!(table.intern(99, FRAME, 0x1000), main, "a parent that is none");
    let (header, nodes) = read(&path);
    assert_eq!(header, PathsHeader { magic: MAGIC, nodes: 4 });
    assert_eq!(nodes[1], PathNode { target: 0x2000, parent: 0, kind: FRAME });
    assert_eq!(nodes[2], PathNode { target: 3, parent: 1, kind: MPI_FUNCTION });
    assert_eq!(table.node(2), Some(nodes[2]));
    assert_eq!(table.node(4), None);
    assert!(!table.is_cut());
}

#[test]
fn a_file_that_exists_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("0.paths");
    drop(PathTable::create(&path).unwrap());
    assert_eq!(PathTable::create(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(read(&path).0.magic, MAGIC, "what was written outlives the table");
}

#[test]
fn the_table_grows_until_it_is_full() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("0.paths");
    let mut table = PathTable::with_limit(&path, 3 * SEGMENT).unwrap();
    let all = capacity(3);
    for i in 0..all {
        assert_eq!(table.intern(if i == 0 { NO_PARENT } else { i / 2 }, FRAME, u64::from(i) * 5), i);
    }
    assert!(!table.is_cut());
    assert_eq!(table.intern(7, FRAME, 1), 7);
    assert_eq!(table.intern(NO_PARENT, FRAME, 1), NO_PARENT);
    assert!(table.is_cut());
    for i in 1..all {
        assert_eq!(table.intern(i / 2, FRAME, u64::from(i) * 5), i, "what is there is still found");
    }
    let (header, nodes) = read(&path);
    assert_eq!(header.nodes, u64::from(all));
    assert!(nodes.iter().enumerate().all(|(i, node)| node.target == i as u64 * 5));
}

#[test]
fn distances_count_what_is_new() {
    let directory = tempfile::tempdir().unwrap();
    let mut table = PathTable::create(&directory.path().join("0.paths")).unwrap();
    let main = table.intern(NO_PARENT, FRAME, 1);
    let solve = table.intern(main, FRAME, 2);
    let send = table.intern(solve, MPI_FUNCTION, 3);
    let write = table.intern(main, FRAME, 4);
    let deep = table.intern(write, FRAME, 5);
    let barrier = table.intern(deep, MPI_FUNCTION, 6);
    let sample = table.intern(deep, SAMPLE, 7);
    let other = table.intern(NO_PARENT, FRAME, 8);
    let cases = [
        (NO_PARENT, send, 4),
        (send, send, 2),
        (sample, sample, 1),
        (send, barrier, 4),
        (barrier, send, 3),
        (barrier, sample, 2),
        (sample, barrier, 2),
        (barrier, deep, 1),
        (deep, main, 1),
        (main, deep, 3),
        (send, other, 2),
        (other, send, 4),
        (send, NO_PARENT, 1),
        (NO_PARENT, NO_PARENT, 1),
        (12345, send, 4),
        (send, 12345, 1),
    ];
    for (previous, node, distance) in cases {
        assert_eq!(table.distance(previous, node), distance, "from {previous} to {node}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    // No file may be larger than this one already is; the signal that comes with it is ignored.
    let directory = tempfile::tempdir().unwrap();
    let mut table = PathTable::with_limit(&directory.path().join("0.paths"), 2 * SEGMENT).unwrap();
    // SAFETY: closes only what this test has opened, by opening something else in its place: a device that is
    // full.
    let full = File::open("/dev/full").unwrap();
    // SAFETY: both descriptors belong to this test.
    unsafe { libc::dup2(std::os::fd::AsRawFd::as_raw_fd(&full), table.file.file.descriptor()) };
    let all = capacity(1);
    for i in 0..all {
        assert_eq!(table.intern(NO_PARENT, FRAME, u64::from(i)), i);
    }
    assert_eq!(table.intern(0, FRAME, 77), 0);
    assert!(table.is_cut());
}
