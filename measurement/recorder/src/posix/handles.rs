//! Handles of files in the trace. Openings of one file with one descriptor have one, whichever comes again: it is
//! in the journal once.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use recording::journal::{self, JournalRecord};
use recording::settings::Settings;

use super::choice::FileChoice;
use crate::key;
use crate::process::Process;
use crate::shared::Shared;

/// The files of the process.
pub(crate) struct PosixFiles {
    pub(super) choice: FileChoice,
    /// Numbers of handles, and of files that are deleted, by what they consist of.
    handles: Shared<AtomicU32>,
    deleted: Shared<AtomicU32>,
    /// What has become of openings, by what the program has passed and what it got: the number of the handle, or
    /// [`NOT_RECORDED`].
    openings: Shared<AtomicU32>,
}

/// Of openings of files that are not recorded.
const NOT_RECORDED: u32 = u32::MAX;

/// A handle that is opened.
#[derive(Clone, Copy)]
pub(super) struct Opening<'a> {
    pub(super) path: &'a [u8],
    pub(super) descriptor: i32,
    /// The handle of MPI in whose call it is opened.
    pub(super) parent: Option<u32>,
    pub(super) is_directory: bool,
}

impl PosixFiles {
    pub(crate) fn new(settings: &Settings, experiment: &Path) -> PosixFiles {
        let choice = FileChoice::new(settings, experiment);
        PosixFiles { choice, handles: Shared::new(), deleted: Shared::new(), openings: Shared::new() }
    }

    /// Returns the number of the handle of an opening, `None` if the file is not recorded. The first time `find` finds
    /// out, which takes some microseconds: a file that is opened again by the same path is at the same place as before.
    pub(super) fn opening(
        &self,
        (path, identity): (&[u8], (u64, u64)),
        (descriptor, parent): (i32, Option<u32>),
        find: impl FnOnce() -> Option<u32>,
    ) -> Option<u32> {
        let parent = parent.map_or(u64::MAX, u64::from);
        let key = key::of(&[key::of_bytes(path), identity.0, identity.1, descriptor as u64, parent]);
        if let Some(known) = self.openings.find(key) {
            return Some(known.load(Ordering::Relaxed)).filter(|&handle| handle != NOT_RECORDED);
        }
        let found = find();
        self.openings.get_or_insert(key, |handle| {
            handle.store(found.unwrap_or(NOT_RECORDED), Ordering::Relaxed);
        });
        found
    }

    /// Returns the number of a handle; `None` without memory.
    pub(super) fn handle(&self, process: &Process, opening: Opening<'_>) -> Option<u32> {
        let Opening { path, descriptor, parent, is_directory } = opening;
        let key = key::of(&[key::of_bytes(path), descriptor as u64, parent.map_or(u64::MAX, u64::from)]);
        let known = self.handles.get_or_insert(key, |number| {
            let handle = process.files.next_handle();
            number.store(handle, Ordering::Relaxed);
            process.append(&JournalRecord::Descriptor(journal::Descriptor {
                handle,
                path: String::from_utf8_lossy(path).into_owned(),
                descriptor: descriptor as u32,
                parent,
                is_directory,
            }));
        });
        known.map(|number| number.load(Ordering::Relaxed))
    }

    /// Returns the number of a file that is deleted; `None` without memory.
    pub(super) fn deleted(&self, process: &Process, path: &[u8]) -> Option<u32> {
        let known = self.deleted.get_or_insert(key::of_bytes(path), |number| {
            let path = String::from_utf8_lossy(path).into_owned();
            number.store(process.files.insert_deleted(process, path, true), Ordering::Relaxed);
        });
        known.map(|number| number.load(Ordering::Relaxed))
    }
}
