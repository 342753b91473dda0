//! The program of the self-test: messages and collective operations, by the MPI library of the launcher, which it opens as the
//! analyzer does (site 3.1). It checks what it receives itself.
#![expect(unsafe_code, reason = "calls functions of a C library that is found at run time")]

use super::expected::{BYTES, DELAY, LARGE_BYTES, OPERATIONS, ROUNDS};
use crate::Error;
use crate::report::complain;
use launched::{Launched, misfits};
use mpi_abi::library_version;
use mpi_library::{Library, Search, in_process, path_of};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

mpi_abi::table! {
    /// The functions that are called, by the names that programs call, and handles for them.
    struct Mpi;
    handles {
        world: WORLD;
        byte: BYTE;
        integer: LONG_LONG;
        maximum: MAX;
    }
    functions {
        allreduce: c"MPI_Allreduce" (*const c_void, *mut c_void, c_int, usize, usize, usize);
        barrier: c"MPI_Barrier" (usize);
        bcast: c"MPI_Bcast" (*mut c_void, c_int, usize, c_int, usize);
        comm_free: c"MPI_Comm_free" (*mut usize);
        comm_rank: c"MPI_Comm_rank" (usize, *mut c_int);
        comm_size: c"MPI_Comm_size" (usize, *mut c_int);
        comm_split: c"MPI_Comm_split" (usize, c_int, c_int, *mut usize);
        finalize: c"MPI_Finalize" ();
        get_library_version: c"MPI_Get_library_version" (*mut c_char, *mut c_int);
        init: c"MPI_Init" (*mut c_int, *mut *mut *mut c_char);
        irecv: c"MPI_Irecv" (*mut c_void, c_int, usize, c_int, c_int, usize, *mut usize);
        isend: c"MPI_Isend" (*const c_void, c_int, usize, c_int, c_int, usize, *mut usize);
        recv: c"MPI_Recv" (*mut c_void, c_int, usize, c_int, c_int, usize, usize);
        send: c"MPI_Send" (*const c_void, c_int, usize, c_int, c_int, usize);
        wait: c"MPI_Wait" (*mut usize, usize);
    }
}

/// The tag of all messages.
const TAG: c_int = 7;

/// Why the program has failed.
enum Failure {
    /// All ranks have failed so, and one of them says it.
    OfAll(String),
    /// This rank has.
    OfRank(String),
}

/// Runs the program in this process, which a launcher has started; returns the exit status. Rank 0 writes lines to a file: what the
/// library says of itself, its path, and the number of processes.
pub fn run(introduction: &Path) -> u8 {
    let Some(launched) = Launched::of_this_process() else {
        complain(&super::NO_LAUNCHER);
        return super::DIFFERS;
    };
    match carry_out(&launched, introduction) {
        Ok(()) => return 0,
        Err(Failure::OfAll(problem)) if launched.speaks() => complain(&problem),
        Err(Failure::OfAll(_)) => {}
        Err(Failure::OfRank(problem)) => complain(&problem),
    }
    super::DIFFERS
}

fn carry_out(launched: &Launched, introduction: &Path) -> Result<(), Failure> {
    let asked = site::variable("REPLAY_MPI").map(PathBuf::from);
    let search = Search { launched, asked: asked.as_deref(), by: "REPLAY_MPI" };
    let (mpi, path) = search.open(open).map_err(Failure::OfAll)?;
    let library = launched::Library { version: mpi.version(), path: Some(path) };
    if let Some(problem) = misfits::before_start(launched, &library) {
        return Err(Failure::OfAll(problem));
    }
    // SAFETY: MPI takes no arguments of the program if there are null pointers in their place.
    unsafe { (mpi.init)(null_mut(), null_mut()) };
    let (rank, size) = mpi.rank_and_size();
    let result = match size {
        ..2 if launched.processes == Some(1) => Err(Failure::OfAll(super::NO_LAUNCHER.to_owned())),
        ..2 => Err(Failure::OfAll(misfits::alone(launched, &library))),
        _ => mpi
            .exchange(rank, size)
            .map_err(|what| Failure::OfRank(format!("rank {rank} of the self-test: {what}"))),
    };
    // SAFETY: MPI was started, and all requests are complete.
    unsafe { (mpi.finalize)() };
    result?;
    if rank == 0 {
        let path = library.path.as_deref().unwrap_or(Path::new("")).display();
        let text = format!("{}\n{path}\n{size}\n", library.name());
        let written =
            fs::write(introduction, text).map_err(|cause| Error::io(introduction, "write the file", cause));
        written.map_err(|error| Failure::OfRank(error.to_string()))?;
    }
    Ok(())
}

/// Opens a library. Its functions are those that a program would call that is linked with it: the recorder's in front of them.
fn open(path: &Path) -> Result<(Mpi, PathBuf), String> {
    let library = Library::open(path)?;
    let function = |name: &CStr| library.symbol(name).and_then(|_| in_process(name));
    // SAFETY: in a library that has all these names they are MPI's, and so are those in front of it.
    let found = unsafe { Mpi::find(function, |name| library.symbol(name)) };
    match found {
        Ok(mpi) => Ok((mpi, library.symbol(c"PMPI_Init").map(path_of).unwrap_or_default())),
        Err(missing) => {
            // SAFETY: nothing of the library is used any more.
            unsafe { library.close() };
            Err(format!("it has no {}", missing.to_string_lossy()))
        }
    }
}

/// The byte of which a message of a rank in a round consists.
fn content(rank: c_int, round: u64) -> u8 {
    (rank as u64 * 31 + round) as u8
}

impl Mpi {
    fn rank_and_size(&self) -> (c_int, c_int) {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: MPI writes an integer each.
        unsafe {
            (self.comm_rank)(self.world, &raw mut rank);
            (self.comm_size)(self.world, &raw mut size);
        }
        (rank, size)
    }

    fn version(&self) -> String {
        // SAFETY: there is room for any version.
        library_version(|text, length| unsafe {
            (self.get_library_version)(text, length);
        })
    }

    /// All messages and operations; fails with what is not as it must be.
    fn exchange(&self, rank: c_int, size: c_int) -> Result<(), String> {
        (0..ROUNDS).try_for_each(|round| self.pass_on(rank, size, round))?;
        // SAFETY: all ranks come here.
        unsafe { (self.barrier)(self.world) };
        self.send_late(rank, size)?;
        for operation in 0..OPERATIONS {
            self.broadcast(rank, operation)?;
        }
        for operation in 0..OPERATIONS as i64 {
            let highest = self.reduce(self.world, i64::from(rank) + operation);
            if highest != i64::from(size - 1) + operation {
                return Err(format!("a reduction has the result {highest}"));
            }
        }
        let mut half = 0;
        // SAFETY: all ranks come here, and MPI writes a handle.
        unsafe { (self.comm_split)(self.world, rank % 2, rank, &raw mut half) };
        let highest = self.reduce(half, i64::from(rank));
        // SAFETY: the communicator is this program's.
        unsafe { (self.comm_free)(&raw mut half) };
        let expected = i64::from(if rank % 2 == (size - 1) % 2 { size - 1 } else { size - 2 });
        if highest == expected {
            Ok(())
        } else {
            Err(format!("a reduction of half of the ranks has the result {highest}"))
        }
    }

    /// Sends a message to the next rank, while one comes from the rank before.
    fn pass_on(&self, rank: c_int, size: c_int, round: u64) -> Result<(), String> {
        let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
        let sent = [content(rank, round); BYTES as usize];
        let mut received = [0_u8; BYTES as usize];
        let (mut receive, mut send) = (0, 0);
        let (count, ignored) = (BYTES as c_int, self.family.status_ignore());
        // SAFETY: both buffers have as many bytes and stay where they are until both requests are complete.
        unsafe {
            (self.irecv)(
                received.as_mut_ptr().cast(),
                count,
                self.byte,
                before,
                TAG,
                self.world,
                &raw mut receive,
            );
            (self.isend)(sent.as_ptr().cast(), count, self.byte, next, TAG, self.world, &raw mut send);
            (self.wait)(&raw mut receive, ignored);
            (self.wait)(&raw mut send, ignored);
        }
        match received == [content(before, round); BYTES as usize] {
            true => Ok(()),
            false => Err(format!("message {round} of rank {before} has other contents")),
        }
    }

    /// Each even rank sends a message too late to the odd one behind it.
    fn send_late(&self, rank: c_int, size: c_int) -> Result<(), String> {
        let mut message = vec![content(rank & !1, ROUNDS); LARGE_BYTES as usize];
        let count = LARGE_BYTES as c_int;
        if rank % 2 == 1 {
            message.fill(0);
            let ignored = self.family.status_ignore();
            // SAFETY: the buffer has as many bytes.
            unsafe {
                (self.recv)(message.as_mut_ptr().cast(), count, self.byte, rank - 1, TAG, self.world, ignored)
            };
        } else if rank + 1 < size {
            std::thread::sleep(DELAY);
            // SAFETY: the buffer has as many bytes.
            unsafe { (self.send)(message.as_ptr().cast(), count, self.byte, rank + 1, TAG, self.world) };
        }
        match message.iter().all(|byte| *byte == content(rank & !1, ROUNDS)) {
            true => Ok(()),
            false => Err("a large message has other contents".into()),
        }
    }

    /// Rank 0 sends a number to all.
    fn broadcast(&self, rank: c_int, operation: u64) -> Result<(), String> {
        let expected = operation as i64 + 1;
        let mut number = if rank == 0 { expected } else { 0 };
        // SAFETY: all ranks come here with a number.
        unsafe { (self.bcast)((&raw mut number).cast(), 1, self.integer, 0, self.world) };
        if number == expected { Ok(()) } else { Err(format!("broadcast {operation} has brought {number}")) }
    }

    /// The highest number of all members of a communicator.
    fn reduce(&self, communicator: usize, number: i64) -> i64 {
        let mut highest = 0_i64;
        let (sent, received) = ((&raw const number).cast(), (&raw mut highest).cast());
        // SAFETY: all members come here with a number each.
        unsafe { (self.allreduce)(sent, received, 1, self.integer, self.maximum, communicator) };
        highest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_without_mpi_is_refused_by_what_it_lacks() {
        assert!(open(Path::new("libc.so.6")).unwrap_err().starts_with("it has no "));
        assert!(
            open(Path::new("/nowhere/libmpi.so")).unwrap_err().starts_with("cannot open shared object file")
        );
    }
}
