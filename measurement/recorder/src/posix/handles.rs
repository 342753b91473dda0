//! Handles of files in the trace. Openings of one file with one descriptor have one, whichever comes again: it is
//! in the journal once.

use std::ffi::CStr;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use recording::journal::{self, JournalRecord, WasOpen};
use recording::settings::Settings;

use super::choice::{FileChoice, Found};
use crate::handles::Handles;
use crate::key;
use crate::process::Process;
use crate::shared::Shared;
use crate::storage;

/// The files of the process.
pub(crate) struct PosixFiles {
    pub(crate) choice: FileChoice,
    /// Numbers of handles by what they consist of.
    handles: Shared<AtomicU32>,
    /// Numbers of files that calls name without a handle, or [`NOT_RECORDED`], by their paths and what is known of them.
    named: Shared<AtomicU32>,
    /// Numbers of directories that are being read, by the addresses that `opendir` has returned.
    pub(super) folders: Handles<AtomicU32>,
    /// What has become of openings, by what the program has passed and what it got: the number of the handle, or
    /// [`NOT_RECORDED`].
    openings: Shared<AtomicU32>,
}

/// Of openings of files that are not recorded.
const NOT_RECORDED: u32 = u32::MAX;

/// What is at the path of a file.
pub(super) enum Kind<'a> {
    /// A directory.
    Folder,
    /// A file, or nothing any more.
    Plain,
    /// What the system finds by a path that may be relative to an open folder.
    At(i32, &'a CStr),
}

/// A handle that is opened.
#[derive(Clone, Copy)]
pub(crate) struct Opening<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) descriptor: i32,
    /// The handle of MPI or of a stream in whose call it is opened.
    pub(crate) parent: Option<u32>,
    pub(crate) is_directory: bool,
    /// Whether it is a stream of ISO C.
    pub(crate) is_stream: bool,
    /// How it was open already when recording began, if it was.
    pub(crate) was_open: Option<WasOpen>,
}

impl PosixFiles {
    pub(crate) fn new(settings: &Settings, experiment: &Path) -> PosixFiles {
        let choice = FileChoice::new(settings, experiment);
        PosixFiles {
            choice,
            handles: Shared::new(),
            named: Shared::new(),
            folders: Handles::new(),
            openings: Shared::new(),
        }
    }

    /// Returns the number of the handle of an opening, `None` if the file is not recorded. The first time `find` finds
    /// out, which takes some microseconds: a file that is opened again by the same path is at the same place as before.
    pub(crate) fn opening(
        &self,
        (path, identity): (&[u8], (u64, u64)),
        (descriptor, parent, is_stream): (i32, Option<u32>, bool),
        find: impl FnOnce() -> Option<u32>,
    ) -> Option<u32> {
        let parent = parent.map_or(u64::MAX, u64::from);
        let place = u64::from(descriptor as u32) << 1 | u64::from(is_stream);
        let key = key::of(&[key::of_bytes(path), identity.0, identity.1, place, parent]);
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
    pub(crate) fn handle(&self, process: &Process, opening: Opening<'_>) -> Option<u32> {
        let Opening { path, descriptor, parent, is_directory, is_stream, was_open } = opening;
        let above = parent.map_or(u64::MAX, u64::from);
        let kind = u64::from(is_stream) | u64::from(was_open.is_some()) << 1;
        let key = key::of(&[key::of_bytes(path), descriptor as u64, above, kind]);
        let known = self.handles.get_or_insert(key, |number| {
            let handle = process.files.next_handle();
            number.store(handle, Ordering::Relaxed);
            process.append(&JournalRecord::Descriptor(journal::Descriptor {
                handle,
                path: String::from_utf8_lossy(path).into_owned(),
                descriptor: descriptor as u32,
                parent,
                is_directory,
                is_stream,
                was_open,
                storage: storage::of_descriptor(descriptor),
            }));
        });
        known.map(|number| number.load(Ordering::Relaxed))
    }

    /// Returns the number of the handle that stands for all files; `None` without memory.
    pub(super) fn all(&self, process: &Process) -> Option<u32> {
        // The keys of others are made of more.
        let known = self.handles.get_or_insert(key::of(&[]), |number| {
            let handle = process.files.next_handle();
            number.store(handle, Ordering::Relaxed);
            process.append(&JournalRecord::AllFiles { handle });
        });
        known.map(|number| number.load(Ordering::Relaxed))
    }

    /// Returns the number of a file that a call names by its path; `None` if it is not recorded, being neither a regular
    /// file nor a directory, or without memory. The first time the system is asked what it is, if the call does not tell.
    pub(super) fn named(&self, process: &Process, path: &[u8], kind: &Kind<'_>) -> Option<u32> {
        let known = match kind {
            Kind::Folder => 0,
            Kind::Plain => 1,
            Kind::At(..) => 2,
        };
        let key = key::of(&[key::of_bytes(path), known]);
        let number = self.named.find(key).or_else(|| {
            let is_directory = match *kind {
                Kind::Folder => Some(true),
                Kind::Plain => Some(false),
                Kind::At(folder, path) => match Found::at(folder, path) {
                    Found::File(state) => Some(state.is_directory),
                    Found::Nothing => Some(false),
                    Found::Other => None,
                },
            };
            self.named.get_or_insert(key, |number| {
                let Some(is_directory) = is_directory else {
                    return number.store(NOT_RECORDED, Ordering::Relaxed);
                };
                let file = process.files.next_named();
                number.store(file, Ordering::Relaxed);
                let storage = storage::of_path(path);
                let path = String::from_utf8_lossy(path).into_owned();
                let named = journal::NamedFile { file, path, is_posix: true, is_directory, storage };
                process.append(&JournalRecord::NamedFile(named));
            })
        });
        number.map(|number| number.load(Ordering::Relaxed)).filter(|&number| number != NOT_RECORDED)
    }
}
