//! Communicators (MPI 4.0, chapters 7 and 8). Creating or freeing one is a collective operation on its
//! parent, or on itself, that encloses the events of the communicator.

use std::ffi::{CStr, c_char, c_int};

use model::CollectiveOp;
use recording::journal::{JournalRecord, Topology};

use crate::call::Call;
use crate::communicators::Communicator;
use crate::hooks::requests::keep;
use crate::key;
use crate::mpi::{handle_at, text_at};
use crate::record;
use crate::requests::{Operation, OperationKind};
use crate::volumes::ROOT_NONE;
use crate::wrappers::Arguments;

/// Parts of the keys of communicators that have no number of the parent: created by all members of a group,
/// from two groups, and from a group without a parent.
const OF_GROUP: u64 = 3;
const OF_TWO_GROUPS: u64 = 4;
const FROM_NOTHING: u64 = 5;

/// All creations that are collective on a parent: the parent is the first parameter, the address of the new
/// handle the last.
pub(crate) fn create<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    let communicators = &call.thread.process.communicators;
    let parent = arguments.values[0];
    let origin = communicators.next_child(parent).map(|(_, key)| key);
    let begin = call.begin();
    record::collective_begin(&mut call.thread.events, begin);
    let result = real(arguments.values);
    finish(call, parent, origin, arguments.values[N - 1], result);
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
    let origin = communicators.find(parent).and_then(|known| {
        let members: Vec<u64> =
            communicators.members(&process.mpi, group)?.into_iter().map(u64::from).collect();
        let of_group = key::of(&[OF_GROUP, known.key(), tag as u64, key::of(&members)]);
        Some(communicators.next_of_group(of_group))
    });
    let begin = call.begin();
    record::collective_begin(&mut call.thread.events, begin);
    let result = real(arguments.values);
    finish(call, parent, origin, new, result);
    result
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
    // SAFETY: the program passes the tag as a string.
    let tag = unsafe { CStr::from_ptr(tag as *const c_char) };
    let origin = communicators.members(&process.mpi, group).map(|members| {
        let members: Vec<u64> = members.into_iter().map(u64::from).collect();
        let of_group = key::of(&[FROM_NOTHING, key::of_bytes(tag.to_bytes()), key::of(&members)]);
        communicators.next_of_group(of_group)
    });
    let result = real(arguments.values);
    let time = call.end();
    if let Some(number) = created(call, origin, None, new, result) {
        record::comm_create(&mut call.thread.events, time, number.into());
    }
    result
}

/// `MPI_Intercomm_create`: (local, leader, peer, remote leader, tag, new). All members know both groups
/// afterwards.
pub(crate) fn create_inter(
    call: &mut Call,
    arguments: Arguments<6>,
    real: impl FnOnce([usize; 6]) -> usize,
) -> usize {
    let [local, _, _, _, tag, new] = arguments.values;
    let begin = call.begin();
    record::collective_begin(&mut call.thread.events, begin);
    let result = real(arguments.values);
    call.end();
    let process = call.thread.process;
    let mut origin = None;
    if result as i32 == 0 {
        // SAFETY: the call has succeeded, so it has set the handle.
        let handle = unsafe { handle_at(new, 0) };
        origin = process.communicators.groups_key(&process.mpi, handle).map(|groups| {
            let of_groups = key::of(&[OF_TWO_GROUPS, groups, tag as u64]);
            process.communicators.next_of_group(of_groups)
        });
    }
    finish(call, local, origin, new, result);
    result
}

/// `MPI_Comm_idup`: (parent, new, request), `MPI_Comm_idup_with_info`: (parent, info, new, request).
pub(crate) fn duplicate<const N: usize>(
    call: &mut Call,
    arguments: Arguments<N>,
    real: impl FnOnce([usize; N]) -> usize,
) -> usize {
    let process = call.thread.process;
    let parent = arguments.values[0];
    let operation = process.communicators.next_child(parent).map(|(known, key)| Operation {
        peer: known.number(),
        received: key,
        place: arguments.values[N - 2],
        ..Operation::new(OperationKind::Duplicate, known.number(), 0)
    });
    let result = real(arguments.values);
    keep(call, operation, arguments.values[N - 1], result);
    result
}

/// Records that a communicator has been duplicated (`MPI_Comm_idup`).
pub(crate) fn duplicated(call: &mut Call, operation: &Operation, time: u64) {
    let created = created(call, Some(operation.received), Some(operation.peer), operation.place, 0);
    if let Some(number) = created {
        record::comm_create(&mut call.thread.events, time, number.into());
    }
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

/// Records the communicator that a creation on `parent` has made, and the end of the creation.
fn finish(call: &mut Call, parent: usize, origin: Option<u64>, new: usize, result: usize) {
    let time = call.end();
    let parent = call.thread.process.communicators.find(parent).map(Communicator::number);
    if let Some(number) = created(call, origin, parent, new, result) {
        record::comm_create(&mut call.thread.events, time, number.into());
    }
    if let Some(parent) = parent {
        ended(call, CollectiveOp::CREATE_HANDLE, parent);
    }
}

fn ended(call: &mut Call, operation: CollectiveOp, communicator: u32) {
    let time = call.end();
    record::collective_end(&mut call.thread.events, time, operation, communicator.into(), ROOT_NONE, 0, 0);
}

/// Adds the communicator that has been created, and returns its number; `None` if the process is not a
/// member.
fn created(
    call: &mut Call,
    origin: Option<u64>,
    parent: Option<u32>,
    new: usize,
    result: usize,
) -> Option<u32> {
    let process = call.thread.process;
    if result as i32 != 0 {
        return None;
    }
    // SAFETY: the call has succeeded, so it has set the handle.
    let handle = unsafe { handle_at(new, 0) };
    if handle == process.mpi.comm_null {
        return None;
    }
    process.communicators.insert(process, handle, origin?, parent)
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
