//! The communicators of the process, and the keys by which processes agree on them.
//!
//! Collective calls on a communicator are in the same order on all its members (MPI 4.0, 6.1). So all members
//! of a new communicator know, without a message, the key of its parent, the number of the call among those
//! that create something from the parent, and the first member. The new key is made of these.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use recording::journal::{self, JournalRecord, ranges};

use crate::handles::Handles;
use crate::key;
use crate::levels::Zeroed;
use crate::memory::Scratch;
use crate::mpi::{Mpi, UNDEFINED};
use crate::neighborhoods::Neighborhood;
use crate::process::Process;
use crate::shared::Shared;

/// The number of `MPI_COMM_WORLD`.
pub(crate) const WORLD: u32 = 0;
/// The number of `MPI_COMM_SELF`.
pub(crate) const MYSELF: u32 = 1;

/// A communicator. Several threads may use one at the same time.
pub(crate) struct Communicator {
    number: AtomicU32,
    size: AtomicU32,
    rank: AtomicU32,
    is_inter: AtomicBool,
    key: AtomicU64,
    /// How many communicators, windows and files have been created from it.
    children: AtomicU64,
    /// How many persistent collective operations have been initialized on it.
    persistent: AtomicU32,
    /// The neighbours of the process in its topology; null until they are asked for.
    pub(crate) neighborhood: AtomicPtr<Neighborhood>,
}

// SAFETY: atomic integers, a `bool` and a pointer; zero is a value of each.
unsafe impl Zeroed for Communicator {}

impl Communicator {
    fn set(&self, (number, key): (u32, u64), (rank, size): (u32, u32), is_inter: bool) {
        self.number.store(number, Ordering::Relaxed);
        self.size.store(size, Ordering::Relaxed);
        self.rank.store(rank, Ordering::Relaxed);
        self.is_inter.store(is_inter, Ordering::Relaxed);
        self.key.store(key, Ordering::Relaxed);
        self.children.store(0, Ordering::Relaxed);
        self.persistent.store(0, Ordering::Relaxed);
        self.neighborhood.store(null_mut(), Ordering::Relaxed);
    }

    /// Returns its number in the process.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// Returns its size; of an inter-communicator the size of the remote group.
    #[inline]
    pub(crate) fn size(&self) -> u32 {
        self.size.load(Ordering::Relaxed)
    }

    /// Returns the rank of the process in it.
    #[inline]
    pub(crate) fn rank(&self) -> u32 {
        self.rank.load(Ordering::Relaxed)
    }

    /// Whether it is an inter-communicator.
    #[inline]
    pub(crate) fn is_inter(&self) -> bool {
        self.is_inter.load(Ordering::Relaxed)
    }

    /// Returns the number of a persistent collective operation that is being initialized on it. All members
    /// do so in the same order (MPI 4.0, 6.13), so they have the same number for it.
    pub(crate) fn next_persistent(&self) -> u32 {
        self.persistent.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns its key, which all members have.
    pub(crate) fn key(&self) -> u64 {
        self.key.load(Ordering::Relaxed)
    }
}

/// All communicators of the process.
pub(crate) struct Communicators {
    known: Handles<Communicator>,
    world: usize,
    /// The group of all processes, to translate ranks; 0 once it has been freed.
    world_group: AtomicUsize,
    in_world: Communicator,
    next: AtomicU32,
    /// Numbers of creations that are collective over the members of a group only, by the key of the group.
    of_groups: Shared<AtomicU64>,
}

impl Communicators {
    /// Creates those that are predefined, of a process with that rank among so many, which are the members of
    /// `everybody`, in this order.
    pub(crate) fn new(mpi: &Mpi, everybody: usize, rank: u32, size: u32) -> Communicators {
        let mut world_group = 0;
        // SAFETY: it is a communicator of the recorder, and `world_group` is writable.
        unsafe { (mpi.comm_group)(everybody, &mut world_group) };
        let known = Handles::<Communicator>::new();
        let key_of_myself = key::of(&[2, rank.into()]);
        known.insert(mpi.myself, |myself| myself.set((MYSELF, key_of_myself), (0, 1), false));
        let in_world = Communicator {
            number: WORLD.into(),
            size: size.into(),
            rank: rank.into(),
            is_inter: false.into(),
            key: 1.into(),
            children: 0.into(),
            persistent: 0.into(),
            neighborhood: null_mut::<Neighborhood>().into(),
        };
        Communicators {
            known,
            world: mpi.world,
            world_group: world_group.into(),
            in_world,
            next: AtomicU32::new(2),
            of_groups: Shared::new(),
        }
    }

    /// Writes `MPI_COMM_WORLD` to the journal, which exists once the program has called `MPI_Init`.
    pub(crate) fn append_world(&self, process: &Process) {
        let members = match process.size {
            1 => "0".to_string(),
            size => format!("0-{}", size - 1),
        };
        let members = (process.rank == 0).then_some(members);
        append_predefined(process, (WORLD, self.in_world.key()), "MPI_COMM_WORLD", members);
    }

    /// Writes `MPI_COMM_SELF` to the journal.
    pub(crate) fn append_myself(&self, process: &Process) {
        let key = key::of(&[2, process.rank.into()]);
        append_predefined(process, (MYSELF, key), "MPI_COMM_SELF", Some(process.rank.to_string()));
    }

    /// Returns the group of all processes, unless it has been freed.
    fn world_group(&self) -> Option<usize> {
        Some(self.world_group.load(Ordering::Relaxed)).filter(|&group| group != 0)
    }

    /// Whether ranks can still be translated.
    pub(crate) fn has_world_group(&self) -> bool {
        self.world_group().is_some()
    }

    /// Frees the group of all processes, before MPI ends: communicators that are made later are not followed. `false`
    /// if that has happened already.
    pub(crate) fn free_world_group(&self, mpi: &Mpi) -> bool {
        let mut group = self.world_group.swap(0, Ordering::Relaxed);
        // SAFETY: the group exists, and nothing finds it any more.
        group != 0 && unsafe { (mpi.group_free)(&mut group) } == 0
    }

    /// Returns a communicator; `None` for one with processes outside of the world.
    #[inline]
    pub(crate) fn find(&self, handle: usize) -> Option<&Communicator> {
        if handle == self.world { Some(&self.in_world) } else { self.known.find(handle) }
    }

    /// Returns a communicator, and the key of something that is being created from it: unlike all others, and
    /// the same on all of its members, which create it together.
    pub(crate) fn next_child(&self, handle: usize) -> Option<(&Communicator, u64)> {
        let parent = self.find(handle)?;
        let child = parent.children.fetch_add(1, Ordering::Relaxed);
        Some((parent, key::of(&[parent.key(), child])))
    }

    /// Returns the key of something that the members of a group create together, without others of the
    /// parent.
    pub(crate) fn next_of_group(&self, group: u64) -> u64 {
        let known = self.of_groups.get_or_insert(group, |_| {});
        key::of(&[group, known.map_or(0, |count| count.fetch_add(1, Ordering::Relaxed))])
    }

    /// Returns the world ranks of a group's members; `None` if one is not in the world.
    pub(crate) fn members(&self, mpi: &Mpi, group: usize) -> Option<Vec<u32>> {
        let mut size: c_int = 0;
        // SAFETY: the group exists, and `size` is writable.
        unsafe { (mpi.group_size)(group, &mut size) };
        self.translated(mpi, group, &(0..size).collect::<Vec<_>>())
    }

    /// Returns the world ranks of some processes of a communicator; `None` if one is not in the world.
    pub(crate) fn in_world(&self, mpi: &Mpi, handle: usize, ranks: &[c_int]) -> Option<Vec<u32>> {
        let mut group = 0;
        // SAFETY: the communicator exists; the group is made and freed here.
        unsafe {
            (mpi.comm_group)(handle, &mut group);
            let members = self.translated(mpi, group, ranks);
            (mpi.group_free)(&mut group);
            members
        }
    }

    /// Returns the world ranks of some ranks of a group.
    fn translated(&self, mpi: &Mpi, group: usize, ranks: &[c_int]) -> Option<Vec<u32>> {
        let mut members: Vec<c_int> = vec![UNDEFINED; ranks.len()];
        let (count, ranks, world) = (ranks.len() as c_int, ranks.as_ptr(), self.world_group()?);
        // SAFETY: callers pass ranks of the group, which exists; there is room for as many.
        unsafe { (mpi.group_translate_ranks)(group, count, ranks, world, members.as_mut_ptr()) };
        members.into_iter().map(|member| u32::try_from(member).ok()).collect()
    }

    /// As [`Self::members`], without allocating, for frequent calls.
    pub(crate) fn members_in<'a>(&self, mpi: &Mpi, group: usize, room: &'a mut Scratch) -> Option<&'a [u32]> {
        let mut size: c_int = 0;
        let world = self.world_group()?;
        // SAFETY: the group exists, and `size` is writable.
        unsafe { (mpi.group_size)(group, &mut size) };
        let count = size.max(0) as usize;
        let first = room.address(2 * count.max(1) * size_of::<c_int>()) as *mut c_int;
        if first.is_null() {
            return None;
        }
        // SAFETY: the memory holds `2 * count` values of `int`, is aligned, and is borrowed from the thread
        // as long as the result; each value is written before it is read; a rank, or `MPI_UNDEFINED`, is an
        // `int`.
        let members = unsafe {
            let members = first.add(count);
            for rank in 0..count {
                first.add(rank).write(rank as c_int);
                members.add(rank).write(UNDEFINED);
            }
            (mpi.group_translate_ranks)(group, size, first, world, members);
            std::slice::from_raw_parts(members.cast::<u32>(), count)
        };
        members.iter().all(|&member| member as c_int >= 0).then_some(members)
    }

    /// Returns the world rank of a group's first member.
    fn first_member(&self, mpi: &Mpi, group: usize) -> Option<u32> {
        let mut size: c_int = 0;
        let mut first = UNDEFINED;
        let world = self.world_group()?;
        // SAFETY: the group exists, and has a rank 0 where that is translated.
        unsafe {
            (mpi.group_size)(group, &mut size);
            if size > 0 {
                (mpi.group_translate_ranks)(group, 1, &0, world, &mut first);
            }
        }
        u32::try_from(first).ok()
    }

    /// Adds a communicator that has been created. `origin` is the same on all members and unlike all others:
    /// made of the key of the parent and the number of the creation. Returns its number; `None` if it has
    /// processes outside of the world.
    pub(crate) fn insert(
        &self,
        process: &Process,
        handle: usize,
        origin: u64,
        parent: Option<u32>,
    ) -> Option<u32> {
        let mpi = &process.mpi;
        let (mut is_inter, mut rank, mut size) = (0, 0, 0);
        let (mut group, mut other_group) = (0, 0);
        // SAFETY: the communicator exists, as it has just been created, and all results are writable.
        unsafe {
            (mpi.comm_test_inter)(handle, &mut is_inter);
            (mpi.comm_rank)(handle, &mut rank);
            (mpi.comm_size)(handle, &mut size);
            (mpi.comm_group)(handle, &mut group);
            if is_inter != 0 {
                (mpi.comm_remote_group)(handle, &mut other_group);
                (mpi.group_size)(other_group, &mut size);
            }
        }
        let number = self.insert_with(process, handle, origin, parent, (rank, size), (group, other_group));
        // SAFETY: the groups were made above, and nothing uses them any more.
        unsafe {
            (mpi.group_free)(&mut group);
            if is_inter != 0 {
                (mpi.group_free)(&mut other_group);
            }
        }
        number
    }

    fn insert_with(
        &self,
        process: &Process,
        handle: usize,
        origin: u64,
        parent: Option<u32>,
        (rank, size): (c_int, c_int),
        (group, other_group): (usize, usize),
    ) -> Option<u32> {
        let mpi = &process.mpi;
        let is_inter = other_group != 0;
        let mut first = self.first_member(mpi, group)?;
        // Members are written once for each group, by its first member.
        let members_of = |group: usize| self.members(mpi, group).map(|members| ranges(&members));
        let members = if rank == 0 { Some(members_of(group)?) } else { None };
        let mut remote = None;
        if is_inter {
            first = first.min(self.first_member(mpi, other_group)?);
            remote = if rank == 0 { Some(members_of(other_group)?) } else { None };
        }
        let key = key::of(&[origin, first.into(), u64::from(is_inter)]);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let place = (rank as u32, size as u32);
        self.known.insert(handle, |communicator| communicator.set((number, key), place, is_inter));
        process.append(&JournalRecord::Communicator(journal::Communicator {
            communicator: number,
            key,
            name: String::new(),
            parent,
            members,
            remote,
        }));
        Some(number)
    }

    /// Returns a key that the members of both groups of an inter-communicator know, made of all members: only they
    /// count what the two groups have created together. `None` if one is not in the world.
    pub(crate) fn groups_key(&self, mpi: &Mpi, handle: usize) -> Option<u64> {
        let (mut group, mut other) = (0, 0);
        // SAFETY: the communicator exists, as it has just been created; the groups are made and freed here.
        let members = unsafe {
            (mpi.comm_group)(handle, &mut group);
            (mpi.comm_remote_group)(handle, &mut other);
            let members = (self.members(mpi, group), self.members(mpi, other));
            (mpi.group_free)(&mut group);
            (mpi.group_free)(&mut other);
            members
        };
        let (one, two) = (key::of_words(&members.0?), key::of_words(&members.1?));
        Some(key::of(&[one.min(two), one.max(two)]))
    }

    /// Removes a communicator that is being freed.
    pub(crate) fn remove(&self, handle: usize) {
        self.known.remove(handle, |_| ());
    }
}

/// Writes a predefined communicator to the journal.
fn append_predefined(
    process: &Process,
    (communicator, key): (u32, u64),
    name: &str,
    members: Option<String>,
) {
    process.append(&JournalRecord::Communicator(journal::Communicator {
        communicator,
        key,
        name: name.into(),
        parent: None,
        members,
        remote: None,
    }));
}
