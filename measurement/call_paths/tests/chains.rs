//! Paths of real calls, compared with those of the C library's unwinder.

use call_paths::{CallPaths, Modules, PathTable, RegionBase, Registers};
use recording::paths::{FRAME, FUNCTION, MPI_FUNCTION, NO_PARENT, PathNode, REGION};
use std::hint::black_box;

static MODULES: Modules = Modules::new(|_| {}, |_| {});

fn paths(depth: usize) -> CallPaths {
    let directory = tempfile::tempdir().unwrap();
    let table = PathTable::create(&directory.path().join("0.paths")).unwrap();
    CallPaths::new(&MODULES, table, directory.path().join("0.python"), depth).unwrap()
}

/// Returns the path that ends in a node, the innermost first.
fn path(paths: &CallPaths, mut node: u32) -> Vec<PathNode> {
    let mut path = Vec::new();
    while let Some(found) = paths.table().node(node) {
        path.push(found);
        node = found.parent;
    }
    path
}

fn frames(paths: &CallPaths, node: u32) -> Vec<u64> {
    path(paths, node).iter().filter(|node| node.kind == FRAME).map(|node| node.target).collect()
}

/// Returns the return addresses that the C library finds, without this function and its caller.
#[inline(never)]
fn expected() -> Vec<u64> {
    let mut found = [std::ptr::null_mut(); 512];
    // SAFETY: there is room for as many addresses as are asked for.
    let count = unsafe { libc::backtrace(found.as_mut_ptr(), found.len() as i32) };
    found[2..count as usize].iter().map(|address| *address as u64).collect()
}

/// Stands for a wrapper: returns the node of the path, and the expected return addresses.
#[inline(never)]
fn wrapper(paths: &mut CallPaths, base: Option<RegionBase>, function: u32) -> (u32, Vec<u64>) {
    let node = paths.at_call(Registers::here(), base, function);
    (node, expected())
}

/// Checks a path against the expected one, which has some functions more that start the thread.
fn check(paths: &CallPaths, node: u32, expected: &[u64]) {
    let found = frames(paths, node);
    assert!(
        !found.is_empty() && expected.starts_with(&found),
        "{found:x?} is not the start of {expected:x?}"
    );
    // start_thread, clone3: tests run in threads.
    assert!((1..=3).contains(&(expected.len() - found.len())), "{found:x?} of {expected:x?}");
}

#[inline(never)]
fn recurse(paths: &mut CallPaths, depth: u32, choices: u32) -> (u32, Vec<u64>) {
    let answer = match (depth, choices & 1) {
        (0, _) => wrapper(paths, None, 7),
        (_, 0) => recurse(paths, depth - 1, choices >> 1),
        _ => odd(paths, depth - 1, choices >> 1),
    };
    black_box(&answer);
    answer
}

#[inline(never)]
fn odd(paths: &mut CallPaths, depth: u32, choices: u32) -> (u32, Vec<u64>) {
    let mut answer = recurse(paths, depth, choices);
    black_box(&mut answer);
    answer
}

#[inline(never)]
fn large_frame(paths: &mut CallPaths, depth: u32) -> (u32, Vec<u64>) {
    let mut array = [0_u8; 70_000];
    black_box(&mut array);
    let answer = if depth > 0 { large_frame(paths, depth - 1) } else { wrapper(paths, None, 7) };
    black_box(&mut array);
    answer
}

#[test]
fn paths_are_those_of_the_c_library() {
    let mut paths = paths(100);
    for depth in [0, 1, 5, 30] {
        let mut nodes = Vec::new();
        for _ in 0..black_box(3) {
            let (node, expected) = recurse(&mut paths, depth, 0);
            check(&paths, node, &expected);
            nodes.push(node);
        }
        assert!(nodes.iter().all(|node| *node == nodes[0]), "{nodes:?}");
        assert_eq!(path(&paths, nodes[0])[0].kind, MPI_FUNCTION);
        assert_eq!(path(&paths, nodes[0])[0].target, 7);
    }
    assert_eq!(paths.statistics().hits, 8);
    assert_eq!(paths.statistics().misses, 4);
}

#[test]
fn large_frames_are_unwound() {
    let mut paths = paths(100);
    for _ in 0..black_box(2) {
        let (node, expected) = large_frame(&mut paths, 3);
        check(&paths, node, &expected);
    }
    assert_eq!(paths.statistics().hits, 1);
}

#[test]
fn alternating_paths_are_distinguished_and_all_remembered() {
    let mut paths = paths(100);
    let (mut first, mut misses) = (Vec::new(), 0);
    // One loop, as the call in it is part of the paths.
    for i in 0..black_box(4 * 128) {
        let (node, expected) = recurse(&mut paths, 7, i % 128);
        if i < 128 {
            check(&paths, node, &expected);
            misses = paths.statistics().misses;
            assert!(!first.contains(&(node, expected.clone())));
            first.push((node, expected));
        } else {
            assert_eq!((node, expected), first[i as usize % 128]);
        }
    }
    assert_eq!(first.len(), 128);
    assert_eq!(paths.statistics().misses, misses);
}

#[test]
fn other_functions_have_other_nodes() {
    let mut paths = paths(100);
    let mut nodes = Vec::new();
    for i in 0..black_box(4) {
        nodes.push(wrapper(&mut paths, None, i % 2).0);
    }
    assert_eq!(nodes[0], nodes[2]);
    assert_eq!(nodes[1], nodes[3]);
    assert_ne!(nodes[0], nodes[1]);
    assert_eq!(paths.table().node(nodes[0]).unwrap().parent, paths.table().node(nodes[1]).unwrap().parent);
}

#[test]
fn only_the_innermost_functions_are_kept() {
    let mut paths = paths(5);
    for depth in [3, 4, 20, 50] {
        let (node, expected) = recurse(&mut paths, depth, 0);
        assert_eq!(frames(&paths, node), expected[..5]);
    }
}

#[inline(never)]
fn enter(paths: &mut CallPaths, base: Option<RegionBase>, kind: u32, target: u64) -> RegionBase {
    let base = paths.at_region(Registers::here(), base, kind, target);
    black_box(base)
}

#[inline(never)]
fn call_below(paths: &mut CallPaths, base: RegionBase) -> (u32, Vec<u64>) {
    let answer = wrapper(paths, Some(base), 7);
    black_box(&answer);
    answer
}

#[test]
fn functions_called_since_the_region_began_are_below_it() {
    let mut paths = paths(100);
    for _ in 0..black_box(2) {
        let base = enter(&mut paths, None, REGION, 3);
        let outer = frames(&paths, base.node);
        let (node, _) = wrapper(&mut paths, Some(base), 7);
        assert_eq!(
            paths.table().node(node),
            Some(PathNode { target: 7, parent: base.node, kind: MPI_FUNCTION })
        );
        let (node, expected) = call_below(&mut paths, base);
        let kinds: Vec<u32> = path(&paths, node).iter().map(|node| node.kind).take(4).collect();
        assert_eq!(kinds, [MPI_FUNCTION, FRAME, REGION, FRAME]);
        let found = frames(&paths, node);
        assert_eq!(found[0], expected[0]);
        assert_eq!(found[1..], outer);
        let inner = enter(&mut paths, Some(base), REGION, 4);
        assert_eq!(
            paths.table().node(inner.node),
            Some(PathNode { target: 4, parent: base.node, kind: REGION })
        );
        assert_eq!(inner.stack_pointer, base.stack_pointer);
    }
    assert_eq!(paths.statistics().misses, 4);
}

#[inline(never)]
fn instrumented(paths: &mut CallPaths, base: Option<RegionBase>, levels: u32) -> u32 {
    let base = enter(paths, base, FUNCTION, u64::from(levels));
    let node = if levels > 0 {
        instrumented(paths, Some(base), levels - 1)
    } else {
        wrapper(paths, Some(base), 7).0
    };
    black_box(node)
}

#[test]
fn an_instrumented_function_stands_for_itself() {
    let mut paths = paths(100);
    let node = instrumented(&mut paths, None, 3);
    let path = path(&paths, node);
    let begin: Vec<(u32, u64)> = path.iter().map(|node| (node.kind, node.target)).take(5).collect();
    assert_eq!(begin, [(MPI_FUNCTION, 7), (FUNCTION, 0), (FUNCTION, 1), (FUNCTION, 2), (FUNCTION, 3)]);
    assert_eq!(path[5].kind, FRAME);
}

#[test]
fn nothing_is_read_outside_of_the_stack() {
    let mut paths = paths(100);
    let bad =
        [0, 8, 1, u64::MAX, u64::MAX - 7, Registers::here().instruction, &raw const *Box::new(1) as u64];
    for stack in bad {
        for frame in bad {
            let node = paths.at_call(Registers { stack, frame, ..Registers::here() }, None, 7);
            assert_eq!(
                paths.table().node(node),
                Some(PathNode { target: 7, parent: NO_PARENT, kind: MPI_FUNCTION })
            );
            let node = paths.at_sample(Registers { stack, frame, ..Registers::here() }, None).unwrap();
            assert_eq!(paths.table().node(node).unwrap().parent, NO_PARENT);
        }
    }
    // The stack is valid, but what is on it does not belong to the instruction.
    let here = Registers::here();
    for instruction in (here.instruction - 3000..here.instruction + 3000).chain(bad) {
        for frame in bad.into_iter().chain([here.stack + 64]) {
            let registers = Registers { instruction, frame, ..here };
            paths.at_call(registers, None, 7);
            paths.at_sample(registers, None);
            for stack_pointer in [0, here.stack, here.stack + 100, u64::MAX] {
                paths.at_call(registers, Some(RegionBase { stack_pointer, node: 1 << 30 }), 7);
            }
        }
    }
}
