//! The table of a thread's call paths: the mapped file that [`recording::paths`] describes.

use crate::growing::GrowingFile;
use crate::index::Index;
use recording::paths::{MAGIC, NO_PARENT, PathNode, PathsHeader};
use std::io;
use std::mem::size_of;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum size of a file in bytes: a million nodes.
const MOST: usize = 16 << 20;

/// The numbered call paths of one thread, in a mapped file.
///
/// A table belongs to one thread. [`Self::intern`] calls no allocator and takes no lock, so a signal handler
/// of that thread may call it, unless it has interrupted a call of it.
///
/// A forked process has the same file mapped: it must not go on with its parent's tables.
pub struct PathTable {
    file: GrowingFile,
    nodes: u32,
    index: Index,
    cut: bool,
}

impl std::fmt::Debug for PathTable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PathTable")
            .field("nodes", &self.nodes)
            .field("cut", &self.cut)
            .finish_non_exhaustive()
    }
}

impl PathTable {
    /// Creates an empty table in a new file.
    ///
    /// # Errors
    /// If the file exists or cannot be created, or there is no space for it on the disk or no memory.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::with_limit(path, MOST)
    }

    pub(crate) fn with_limit(path: &Path, most: usize) -> io::Result<Self> {
        let file = GrowingFile::create(path, most)?;
        // SAFETY: the mapping is aligned to a page, its first segment is larger than a header, and nobody
        // else refers to it yet.
        unsafe { file.start().cast::<PathsHeader>().write(PathsHeader { magic: MAGIC, nodes: 0 }) };
        Ok(Self { file, nodes: 0, index: Index::new()?, cut: false })
    }

    /// Returns the number of the node with that parent, kind and target (see [`recording::paths`]); it is
    /// added if it is new.
    ///
    /// If it is new and there is no space for it, the parent is returned, which may be [`NO_PARENT`]: the
    /// path is cut short, and [`Self::is_cut`] from then on. A parent that does not exist counts as none.
    pub fn intern(&mut self, parent: u32, kind: u32, target: u64) -> u32 {
        let parent = if parent < self.nodes { parent } else { NO_PARENT };
        let node = PathNode { target, parent, kind };
        let start = self.file.start();
        // SAFETY: the index holds numbers of complete nodes only, which are mapped and aligned.
        let read = |number| unsafe { place(start, number).read() };
        let slot = match self.index.find(hash(&node), |number| read(number) == node) {
            Ok(number) => return number,
            Err(slot) => slot,
        };
        let number = self.nodes;
        let end = size_of::<PathsHeader>() + (number as usize + 1) * size_of::<PathNode>();
        if end > self.file.mapped() && self.file.grow().is_err() {
            self.cut = true;
            return parent;
        }
        // SAFETY: the node ends at `end`, up to which the file is mapped, and is behind all complete ones.
        unsafe { place(start, number).write(node) };
        self.nodes = number + 1;
        // SAFETY: the header is mapped and aligned, and since its creation it has been accessed through this
        // atomic only.
        let nodes = unsafe { AtomicU64::from_ptr(&raw mut (*start.cast::<PathsHeader>().as_ptr()).nodes) };
        // Released behind the node itself: a reader of the file finds complete nodes only.
        nodes.store(u64::from(self.nodes), Ordering::Release);
        if !self.index.insert(slot, number, |number| hash(&read(number))) {
            // Without the index the node would be added again and again.
            self.cut = true;
        }
        number
    }

    /// Number of nodes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u32 {
        self.nodes
    }

    /// Returns the node with that number, if there is one.
    #[inline]
    pub fn node(&self, number: u32) -> Option<PathNode> {
        // SAFETY: the first `nodes` nodes are complete, mapped and aligned.
        (number < self.nodes).then(|| unsafe { place(self.file.start(), number).read() })
    }

    /// Whether paths were cut short because the table or the disk was full.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Returns the unwind distance (`unwindDistance` of OTF2's calling context events) of a thread that comes
    /// from one path to another: 1 plus the number of nodes of the new path that are not on the previous one.
    /// If the new path ends in something that was entered (anything but a frame, a Python function or a
    /// sample) it is at least 2, as that is new even if the thread was there before.
    ///
    /// Either may be [`NO_PARENT`] for an empty path.
    #[inline]
    pub fn distance(&self, previous: u32, node: u32) -> u32 {
        let Some(entered) = self.node(node) else { return 1 };
        let least = match entered.kind {
            recording::paths::FRAME | recording::paths::PYTHON | recording::paths::SAMPLE => 1,
            _ => 2,
        };
        // Consecutive calls in one function, the most frequent case.
        if previous != node && entered.parent == self.parent(previous) && previous != NO_PARENT {
            return 2;
        }
        let (mut previous, mut node, mut distance) = (previous, node, 1);
        // A parent has a smaller number than its children, so the larger one cannot be on the other's path.
        while node != previous {
            if previous == NO_PARENT || (node > previous && node != NO_PARENT) {
                node = self.parent(node);
                distance += 1;
            } else {
                previous = self.parent(previous);
            }
        }
        distance.max(least)
    }

    fn parent(&self, number: u32) -> u32 {
        self.node(number).map_or(NO_PARENT, |node| node.parent)
    }
}

fn hash(node: &PathNode) -> u64 {
    let mixed = node.target
        ^ (u64::from(node.parent) << 32 | u64::from(node.kind)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ mixed >> 32
}

/// Returns the address of a node, mapped or not.
fn place(start: NonNull<u8>, number: u32) -> *mut PathNode {
    let offset = size_of::<PathsHeader>() + number as usize * size_of::<PathNode>();
    start.as_ptr().wrapping_add(offset).cast()
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
