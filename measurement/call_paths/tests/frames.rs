//! Functions with unusual frames, written in assembly, so that they are what they claim to be.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use call_paths::{CallPaths, Modules, PathTable, Registers};
use recording::paths::{FRAME, PathNode};
use std::arch::global_asm;
use std::hint::black_box;

static MODULES: Modules = Modules::new(|_| {}, |_| {});

// All of them call their first argument with the second, as a function of C.
global_asm!(
    // Aligns its stack as compilers do for vectors: only a word on its own stack says where its caller's is.
    "call_aligned:",
    ".cfi_startproc",
    "lea r10, [rsp + 8]",
    ".cfi_def_cfa r10, 0",
    "and rsp, -64",
    "push qword ptr [r10 - 8]",
    "push rbp",
    "mov rbp, rsp",
    ".cfi_escape 0x10, 0x6, 0x2, 0x76, 0x0",
    "push r10",
    ".cfi_escape 0xf, 0x3, 0x76, 0x78, 0x6",
    "sub rsp, 40",
    "mov rax, rdi",
    "mov rdi, rsi",
    "call rax",
    "add rsp, 40",
    "pop r10",
    ".cfi_def_cfa r10, 0",
    "pop rbp",
    "lea rsp, [r10 - 8]",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    // Has as many bytes on its stack as the third argument says: only the frame pointer leads to the caller.
    "call_with_space:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "sub rsp, rdx",
    "mov rax, rdi",
    "mov rdi, rsi",
    "call rax",
    "leave",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    // Keeps its caller's frame pointer on its stack and has the third argument in that register.
    "call_with_number:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rdx",
    "mov rax, rdi",
    "mov rdi, rsi",
    "call rax",
    "pop rbp",
    ".cfi_def_cfa_offset 8",
    "ret",
    ".cfi_endproc",
    // Has no unwind information.
    "call_without_cfi:",
    "sub rsp, 8",
    "mov rax, rdi",
    "mov rdi, rsi",
    "call rax",
    "add rsp, 8",
    "ret",
);

/// The functions that these call.
type Call = extern "C" fn(&mut Test);

#[allow(improper_ctypes)]
unsafe extern "C" {
    fn call_aligned(call: Call, test: &mut Test);
    fn call_with_space(call: Call, test: &mut Test, bytes: u64);
    fn call_with_number(call: Call, test: &mut Test, number: u64);
    fn call_without_cfi(call: Call, test: &mut Test);
}

#[repr(C)]
struct Test {
    paths: CallPaths,
    next: Call,
    number: u64,
    node: u32,
    stack: u64,
}

fn test() -> Test {
    let directory = tempfile::tempdir().unwrap();
    let table = PathTable::create(&directory.path().join("0.paths")).unwrap();
    Test {
        paths: CallPaths::new(&MODULES, table, directory.path().join("0.python"), 100).unwrap(),
        next: capture,
        number: 0,
        node: 0,
        stack: 0,
    }
}

extern "C" fn capture(test: &mut Test) {
    let registers = Registers::here();
    test.stack = registers.stack;
    test.node = test.paths.at_call(registers, None, 7);
    black_box(());
}

/// Has a frame pointer of its own, so that one that is not restored correctly is noticed here.
extern "C" fn with_space_in_between(test: &mut Test) {
    // SAFETY: the assembly above has this signature, and the size keeps the stack aligned.
    unsafe { call_with_space(test.next, test, 4096) };
    black_box(());
}

fn frames(test: &Test) -> Vec<u64> {
    let node = |number| test.paths.table().node(number);
    std::iter::successors(node(test.node), |last: &PathNode| node(last.parent))
        .filter(|node| node.kind == FRAME)
        .map(|node| node.target)
        .collect()
}

/// Returns the functions that are active here, in the same way as [`frames`].
#[inline(never)]
fn outer(test: &mut Test) -> Vec<u64> {
    test.node = test.paths.at_call(Registers::here(), None, 8);
    frames(test)
}

/// Runs something twice and returns the number of functions in between; the second time they must be
/// remembered.
fn between(test: &mut Test, run: fn(&mut Test)) -> usize {
    let outer = outer(test);
    let mut found = Vec::new();
    for _ in 0..black_box(2) {
        run(test);
        found.push((test.node, frames(test)));
    }
    assert_eq!(found[0], found[1]);
    let frames = &found[0].1;
    // All but the first of the outer ones, where the place of the call differs.
    assert!(frames.ends_with(&outer[1..]), "{frames:x?} does not end in {:x?}", &outer[1..]);
    frames.len() - outer.len()
}

fn aligned(test: &mut Test) {
    // SAFETY: the assembly above has this signature.
    unsafe { call_aligned(test.next, test) };
    black_box(());
}

fn space(test: &mut Test) {
    // SAFETY: the assembly above has this signature, and the size keeps the stack aligned.
    unsafe { call_with_space(with_space_in_between, test, 64) };
    black_box(());
}

extern "C" fn aligned_in_between(test: &mut Test) {
    // SAFETY: the assembly above has this signature.
    unsafe { call_aligned(capture, test) };
    black_box(());
}

#[test]
fn an_aligned_stack_is_unwound() {
    let mut test = test();
    assert_eq!(between(&mut test, aligned), 2);
    test.next = aligned_in_between;
    assert_eq!(between(&mut test, aligned), 4);
    assert_eq!(test.paths.statistics().hits, 2);
}

#[test]
fn a_frame_pointer_leads_over_space_of_any_size() {
    let mut test = test();
    assert_eq!(between(&mut test, space), 4);
    test.next = aligned_in_between;
    assert_eq!(between(&mut test, space), 6);
    assert_eq!(test.paths.statistics().hits, 2);
}

/// Calls with space so that the stack pointer at the capture is the same, however it is divided between the
/// two.
#[inline(never)]
fn spaces(test: &mut Test, first: u64) {
    extern "C" fn second(test: &mut Test) {
        // SAFETY: the assembly above has this signature, and the size keeps the stack aligned.
        unsafe { call_with_space(capture, test, 1024 - test.number) };
        black_box(());
    }
    test.number = first;
    // SAFETY: as above.
    unsafe { call_with_space(second, test, first) };
}

#[test]
fn the_same_functions_elsewhere_on_the_stack_are_the_same_path() {
    let mut test = test();
    let (mut nodes, mut stacks) = (Vec::new(), Vec::new());
    for i in 0..black_box(40) {
        // The stack is filled with other things in between.
        black_box([i; 2000]);
        spaces(&mut test, (i % 10) * 64);
        nodes.push(test.node);
        stacks.push(test.stack);
    }
    assert!(nodes.iter().all(|node| *node == nodes[0]), "{nodes:?}");
    assert!(stacks.iter().all(|stack| *stack == stacks[0]), "{stacks:x?}");
    assert_eq!(test.paths.statistics().misses, 10);
}

#[test]
fn registers_that_nobody_needs_do_not_matter() {
    let mut test = test();
    let mut nodes = Vec::new();
    for i in 0..black_box(100) {
        // SAFETY: the assembly above has this signature.
        unsafe { call_with_number(numbered, &mut test, i) };
        nodes.push(test.node);
    }
    extern "C" fn numbered(test: &mut Test) {
        // SAFETY: the assembly above has this signature.
        unsafe { call_with_number(capture, test, test.paths.statistics().hits) };
        black_box(());
    }
    assert!(nodes.iter().all(|node| *node == nodes[0]));
    assert_eq!(test.paths.statistics().misses, 1);
}

#[test]
fn a_path_ends_at_code_without_unwind_information() {
    let mut test = test();
    // SAFETY: the assembly above has this signature.
    unsafe { call_without_cfi(capture, &mut test) };
    assert_eq!(frames(&test).len(), 1);
}
