//! Communicators (MPI 4.0, chapters 7 and 8). Creating or freeing one is a collective operation that encloses
//! the events of the communicator: on the parent if all of its members take part, else on the communicator
//! itself, as in Score-P. On a parent of which only some take part, it would disturb the order of operations.

use std::ffi::{CStr, c_char, c_int};

use model::CollectiveOp;
use recording::journal::{JournalRecord, Topology};

use crate::call::Call;
use crate::communicators::{Communicator, MYSELF};
use crate::hooks::requests::keep;
use crate::key;
use crate::mpi::{handle_at, text_at};
use crate::process::Process;
use crate::record;
use crate::requests::{Operation, OperationKind};
use crate::volumes::ROOT_NONE;
use crate::wrappers::Arguments;

/// Parts of the keys of communicators that have no number of the parent: created by all members of a group,
/// from two groups, and from a group without a parent.
const OF_GROUP: u64 = 3;
const OF_TWO_GROUPS: u64 = 4;
const FROM_NOTHING: u64 = 5;

/// In the place of the tag of the two sides that have found each other by a port, or by a socket.
const BY_PORT: u64 = 1 << 32;
const BY_SOCKET: u64 = 2 << 32;

/// All creations that are collective on a parent: the parent is the first parameter, the address of the new
/// handle the last.
pub(crate) fn create<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    let communicators = &call.thread.process.communicators;
    let Some((parent, origin)) = communicators.next_child(arguments.values[0]) else {
        return real(arguments.values);
    };
    let parent = parent.number();
    let begin = call.begin();
    record::collective_begin(&mut call.thread.events, begin);
    let result = real(arguments.values);
    call.end();
    created(call, |_, _| Some(origin), Some(parent), arguments.values[N - 1], result);
    ended(call, CollectiveOp::CREATE_HANDLE, parent);
    result
}

/// `MPI_Cart_create`: (parent, dimensions, extents, periods, reorder, new).
pub(crate) fn create_cartesian(
    call: &mut Call,
    arguments: Arguments<6>,
    real: impl FnOnce([usize; 6]) -> usize,
) -> usize {
    let result = create(call, arguments, real);
    topology(call, arguments.values[5], result);
    result
}

/// `MPI_Cart_sub`: (parent, remaining, new).
pub(crate) fn create_sub(
    call: &mut Call,
    arguments: Arguments<3>,
    real: impl FnOnce([usize; 3]) -> usize,
) -> usize {
    let result = create(call, arguments, real);
    topology(call, arguments.values[2], result);
    result
}

/// `MPI_Comm_create_group`: (parent, group, tag, new). Only the members of the group take part.
pub(crate) fn create_of_group(
    call: &mut Call,
    arguments: Arguments<4>,
    real: impl FnOnce([usize; 4]) -> usize,
) -> usize {
    let [parent, group, tag, new] = arguments.values;
    let process = call.thread.process;
    let communicators = &process.communicators;
    let Some(parent) = communicators.find(parent) else { return real(arguments.values) };
    let origin = communicators.members(&process.mpi, group).map(|members| {
        let members: Vec<u64> = members.into_iter().map(u64::from).collect();
        let of_group = key::of(&[OF_GROUP, parent.key(), tag as u64, key::of(&members)]);
        communicators.next_of_group(of_group)
    });
    let parent = parent.number();
    among_members(call, arguments, real, |_, _| origin, Some(parent), new)
}

/// `MPI_Comm_create_from_group`: (group, tag, info, error handler, new). There is no parent.
pub(crate) fn create_from_group(
    call: &mut Call,
    arguments: Arguments<5>,
    real: impl FnOnce([usize; 5]) -> usize,
) -> usize {
    let [group, tag, _, _, new] = arguments.values;
    let process = call.thread.process;
    let communicators = &process.communicators;
    let origin = communicators.members(&process.mpi, group).map(|members| {
        let members: Vec<u64> = members.into_iter().map(u64::from).collect();
        // SAFETY: the program passes the tag as a string.
        let of_group = key::of(&[FROM_NOTHING, unsafe { hash_at(tag) }, key::of(&members)]);
        communicators.next_of_group(of_group)
    });
    among_members(call, arguments, real, |_, _| origin, None, new)
}

/// `MPI_Intercomm_create`: (local, leader, peer, remote leader, tag, new).
pub(crate) fn create_inter(
    call: &mut Call,
    arguments: Arguments<6>,
    real: impl FnOnce([usize; 6]) -> usize,
) -> usize {
    let [local, _, _, _, tag, new] = arguments.values;
    let local = call.thread.process.communicators.find(local).map(Communicator::number);
    among_members(call, arguments, real, |process, new| of_two_groups(process, new, tag as u64), local, new)
}

/// `MPI_Intercomm_create_from_groups`: (local group, leader, remote group, remote leader, tag, info, error
/// handler, new). There is no parent.
pub(crate) fn create_inter_from_groups(
    call: &mut Call,
    arguments: Arguments<8>,
    real: impl FnOnce([usize; 8]) -> usize,
) -> usize {
    let [_, _, _, _, tag, _, _, new] = arguments.values;
    // SAFETY: the program passes the tag as a string.
    let tag = unsafe { hash_at(tag) };
    among_members(call, arguments, real, |process, new| of_two_groups(process, new, tag), None, new)
}

/// `MPI_Comm_spawn`: (command, arguments, number, info, root, local, new, codes).
pub(crate) fn spawn(
    call: &mut Call,
    arguments: Arguments<8>,
    real: impl FnOnce([usize; 8]) -> usize,
) -> usize {
    let [_, _, _, _, _, local, new, _] = arguments.values;
    connect_to(call, arguments, (local, new), real)
}

/// `MPI_Comm_spawn_multiple`: (count, commands, arguments, numbers, infos, root, local, new, codes).
pub(crate) fn spawn_multiple(
    call: &mut Call,
    arguments: Arguments<9>,
    real: impl FnOnce([usize; 9]) -> usize,
) -> usize {
    let [_, _, _, _, _, _, local, new, _] = arguments.values;
    connect_to(call, arguments, (local, new), real)
}

/// `MPI_Comm_accept`, `MPI_Comm_connect`: (port, info, root, local, new).
pub(crate) fn connect(
    call: &mut Call,
    arguments: Arguments<5>,
    real: impl FnOnce([usize; 5]) -> usize,
) -> usize {
    let [_, _, _, local, new] = arguments.values;
    connect_to(call, arguments, (local, new), real)
}

/// `MPI_Comm_join`: (socket, new). Two processes, each by itself.
pub(crate) fn join(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    let new = arguments.values[1];
    among_members(call, arguments, real, |process, new| of_two_groups(process, new, BY_SOCKET), None, new)
}

/// `MPI_Comm_idup`: (parent, new, request), `MPI_Comm_idup_with_info`: (parent, info, new, request).
pub(crate) fn duplicate<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    let process = call.thread.process;
    let parent = arguments.values[0];
    let mut operation = process.communicators.next_child(parent).map(|(known, key)| Operation {
        received: key,
        ..Operation::new(OperationKind::Duplicate, known.number(), call.thread.next_request())
    });
    if let Some(operation) = &operation {
        let begin = call.begin();
        record::non_blocking_collective_request(&mut call.thread.events, begin, operation.number);
    }
    let result = real(arguments.values);
    call.end();
    if let Some(operation) = operation.as_mut().filter(|_| result as i32 == 0) {
        // The call sets the handle, in all MPI libraries: their Fortran interfaces depend on it. Where it is set may
        // be gone when the duplicate is complete: it is a local variable of these.
        // SAFETY: the call has succeeded, so it has set the handle.
        operation.bytes = unsafe { handle_at(arguments.values[N - 2], 0) } as u64;
    }
    keep(call, operation, arguments.values[N - 1], result);
    result
}

/// Records that a communicator has been duplicated (`MPI_Comm_idup`): the end of a non-blocking collective
/// operation on the parent.
pub(crate) fn duplicated(call: &mut Call, operation: &Operation, time: u64) {
    let Operation { scope: parent, received: origin, bytes: new, number: request, .. } = *operation;
    made(call, |_, _| Some(origin), Some(parent), new as usize);
    record::non_blocking_collective_complete(
        &mut call.thread.events,
        time,
        CollectiveOp::CREATE_HANDLE,
        parent.into(),
        ROOT_NONE,
        0,
        0,
        request,
    );
}

/// `MPI_Comm_free`, `MPI_Comm_disconnect`: (communicator).
pub(crate) fn free(
    call: &mut Call,
    arguments: Arguments<1>,
    real: impl FnOnce([usize; 1]) -> usize,
) -> usize {
    let communicators = &call.thread.process.communicators;
    // SAFETY: the program passes the address of its handle.
    let handle = unsafe { handle_at(arguments.values[0], 0) };
    let Some(number) = communicators.find(handle).map(Communicator::number) else {
        return real(arguments.values);
    };
    let begin = call.begin();
    record::collective_begin(&mut call.thread.events, begin);
    // Before the call: another thread may get the handle for a new communicator as soon as it is free.
    communicators.remove(handle);
    let result = real(arguments.values);
    let time = call.end();
    record::comm_destroy(&mut call.thread.events, time, number.into());
    ended(call, CollectiveOp::DESTROY_HANDLE, number);
    result
}

/// `MPI_Comm_set_name`: (communicator, name).
pub(crate) fn set_name(
    call: &mut Call,
    arguments: Arguments<2>,
    real: impl FnOnce([usize; 2]) -> usize,
) -> usize {
    let process = call.thread.process;
    let [handle, name] = arguments.values;
    if let Some(known) = process.communicators.find(handle) {
        // SAFETY: the program passes a string.
        process.append_name("communicator", known.number(), unsafe { text_at(name) });
    }
    real(arguments.values)
}

/// Connects the members of a communicator to other processes, which may be outside of the world: then there is no
/// communicator in the trace. A collective operation on the local communicator, as its members know each other only.
fn connect_to<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    (local, new): (usize, usize),
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    let known = call.thread.process.communicators.find(local).map(Communicator::number);
    let Some(local) = known else { return real(arguments.values) };
    let begin = call.begin();
    record::collective_begin(&mut call.thread.events, begin);
    let result = real(arguments.values);
    call.end();
    created(call, |process, new| of_two_groups(process, new, BY_PORT), Some(local), new, result);
    ended(call, CollectiveOp::CREATE_HANDLE, local);
    result
}

/// Makes a communicator, at the address `new`, in a collective operation of its own members.
fn among_members<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    real: impl FnOnce([usize; N]) -> usize,
    origin: impl FnOnce(&Process, usize) -> Option<u64>,
    parent: Option<u32>,
    new: usize,
) -> usize {
    let begin = call.begin();
    record::collective_begin(&mut call.thread.events, begin);
    let result = real(arguments.values);
    call.end();
    let number = created(call, origin, parent, new, result);
    ended(call, CollectiveOp::CREATE_HANDLE, number.unwrap_or(MYSELF));
    result
}

/// Returns the origin of an inter-communicator: all members know both groups afterwards.
fn of_two_groups(process: &Process, new: usize, tag: u64) -> Option<u64> {
    let groups = process.communicators.groups_key(&process.mpi, new)?;
    Some(process.communicators.next_of_group(key::of(&[OF_TWO_GROUPS, groups, tag])))
}

/// Returns the hash of the string at an address.
///
/// # Safety
/// A string that ends with a NUL is at the address.
unsafe fn hash_at(address: usize) -> u64 {
    // SAFETY: the caller guarantees it.
    key::of_bytes(unsafe { CStr::from_ptr(address as *const c_char) }.to_bytes())
}

fn ended(call: &mut Call, operation: CollectiveOp, communicator: u32) {
    let time = call.end();
    record::collective_end(&mut call.thread.events, time, operation, communicator.into(), ROOT_NONE, 0, 0);
}

/// Adds the communicator that has been created, records it, and returns its number; `None` if the process is
/// not a member. `origin` gets the handle.
fn created(
    call: &mut Call,
    origin: impl FnOnce(&Process, usize) -> Option<u64>,
    parent: Option<u32>,
    new: usize,
    result: usize,
) -> Option<u32> {
    if result as i32 != 0 {
        return None;
    }
    // SAFETY: the call has succeeded, so it has set the handle.
    made(call, origin, parent, unsafe { handle_at(new, 0) })
}

/// As [`created`], with the handle of the communicator.
fn made(
    call: &mut Call,
    origin: impl FnOnce(&Process, usize) -> Option<u64>,
    parent: Option<u32>,
    handle: usize,
) -> Option<u32> {
    let process = call.thread.process;
    if handle == process.mpi.comm_null {
        return None;
    }
    let number = process.communicators.insert(process, handle, origin(process, handle)?, parent)?;
    let time = call.end();
    record::comm_create(&mut call.thread.events, time, number.into());
    Some(number)
}

/// Writes a Cartesian topology to the journal.
fn topology(call: &mut Call, new: usize, result: usize) {
    let process = call.thread.process;
    // SAFETY: the program passes the address of a handle, which the call has set if it succeeded.
    let handle = unsafe { handle_at(new, 0) };
    let Some(known) = process.communicators.find(handle).filter(|_| result as i32 == 0) else { return };
    let mut dimensions: c_int = 0;
    // SAFETY: the communicator exists, as it has just been created; each vector has an element for each
    // dimension.
    unsafe {
        (process.mpi.cartdim_get)(handle, &mut dimensions);
        let room = || vec![0; dimensions.max(0) as usize];
        let (mut extents, mut periodic, mut coordinates): (Vec<c_int>, Vec<c_int>, Vec<c_int>) =
            (room(), room(), room());
        if dimensions > 0 {
            (process.mpi.cart_get)(
                handle,
                dimensions,
                extents.as_mut_ptr(),
                periodic.as_mut_ptr(),
                coordinates.as_mut_ptr(),
            );
        }
        process.append(&JournalRecord::Topology(Topology {
            communicator: known.number(),
            extents: extents.into_iter().map(|extent| extent as u32).collect(),
            periodic: periodic.into_iter().map(|periodic| periodic != 0).collect(),
            coordinates: coordinates.into_iter().map(|coordinate| coordinate as u32).collect(),
        }));
    }
}
