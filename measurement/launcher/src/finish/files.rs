//! Files and their handles: numbers of processes become global numbers (io.md, 2.1).
//!
//! A file is known by its path, and by the host if it is on a file system of that alone: equal paths of two hosts are two files
//! then.

use super::communicators::LocalNumbers;
use super::file_systems::{Places, Property};
use super::journals::Process;
use super::notices::Notices;
use recording::journal::WasOpen;
use std::collections::HashMap;

/// A file of the archive; its number is its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    /// The host that it is local to.
    pub(crate) host: Option<String>,
    pub(crate) is_directory: bool,
    pub(crate) properties: Vec<Property>,
}

/// A handle of a file; its number is its position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Handle {
    /// Number of its file; `None` for the handle that stands for all files.
    pub(crate) file: Option<u32>,
    /// The library that it is of.
    pub(crate) access: FileAccess,
    /// The handle of MPI-IO or ISO C in whose call it was opened.
    pub(crate) parent: Option<u32>,
    /// How it was open already when recording began, if it was.
    pub(crate) was_open: Option<WasOpen>,
}

/// A library that files are opened with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum FileAccess {
    /// MPI-IO, with the communicator.
    Mpi(u32),
    /// POSIX: there is a descriptor.
    Posix,
    /// ISO C: there is a stream, on a descriptor.
    IsoC,
}

/// The files of all processes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Files {
    pub(crate) list: Vec<File>,
    pub(crate) handles: Vec<Handle>,
    /// Whether functions of the C library have done something with files.
    pub(crate) has_posix: bool,
}

/// Merges the files of the processes of a run; `of` are the numbers of their objects, of which communicators are known.
pub(crate) fn share(processes: &[Process], of: &mut [LocalNumbers], notices: &mut Notices) -> Files {
    let mut sharing =
        Sharing { places: Places::new(processes), numbers: HashMap::new(), done: Files::default() };
    sharing.files_of_mpi(processes, of, notices);
    sharing.descriptors(processes, of, notices);
    sharing.all_files(processes, of, notices);
    sharing.done
}

struct Sharing<'a> {
    places: Places<'a>,
    /// Numbers of files by their paths and hosts.
    numbers: HashMap<(&'a str, Option<&'a str>), u32>,
    done: Files,
}

impl<'a> Sharing<'a> {
    /// Returns the number of the file that a host has by this path.
    fn file(&mut self, host: &'a str, path: &'a str) -> u32 {
        let place = self.places.find(host, path);
        let host = place.filter(|place| place.is_local()).map(|_| host);
        let list = &mut self.done.list;
        let number = *self.numbers.entry((path, host)).or_insert_with(|| {
            let (path, host) = (path.to_owned(), host.map(str::to_owned));
            list.push(File { path, host, is_directory: false, properties: Vec::new() });
            list.len() as u32 - 1
        });
        let file = &mut list[number as usize];
        if let Some(place) = place.filter(|_| file.properties.is_empty()) {
            file.properties = place.properties();
        }
        number
    }

    fn add_handle(&mut self, handle: Handle) -> u32 {
        self.done.handles.push(handle);
        self.done.handles.len() as u32 - 1
    }

    /// Adds what MPI has opened and deleted, and files that calls name by their paths.
    fn files_of_mpi(&mut self, processes: &'a [Process], of: &mut [LocalNumbers], notices: &mut Notices) {
        // Of those that have opened a file together one tells where it is.
        let told = processes.iter().flat_map(|process| {
            let files = process.files.values().filter(|file| file.storage.is_some());
            files.map(|file| (file.key, process.host.as_str()))
        });
        let told: HashMap<u64, &str> = told.collect();
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        for (process, known) in processes.iter().zip(of) {
            for (&local, file) in &process.files {
                let Some(&communicator) = known.communicators.get(&file.communicator) else {
                    let text = format!("file {local} has an unknown communicator {}", file.communicator);
                    notices.loss(process.rank, text);
                    continue;
                };
                let number = *numbers.entry(file.key).or_insert_with(|| {
                    let host = told.get(&file.key).copied().unwrap_or(&process.host);
                    let opened = self.file(host, &file.path);
                    let access = FileAccess::Mpi(communicator);
                    self.add_handle(Handle { file: Some(opened), access, parent: None, was_open: None })
                });
                known.handles.insert(local, number);
            }
            for (&local, named) in &process.named {
                let file = self.file(&process.host, &named.path);
                known.files.insert(local, file);
                self.done.has_posix |= named.is_posix;
                self.done.list[file as usize].is_directory |= named.is_directory;
            }
        }
    }

    /// Adds the handles of functions of the C library. Processes share a handle if the library, the file, the descriptor,
    /// the handle above, and how it was open are the same.
    fn descriptors(&mut self, processes: &'a [Process], of: &mut [LocalNumbers], notices: &mut Notices) {
        let mut numbers: HashMap<(Handle, u32), u32> = HashMap::new();
        for (process, known) in processes.iter().zip(of) {
            // Handles above have lower numbers: they are known.
            for (&local, opened) in &process.descriptors {
                if process.files.contains_key(&local) {
                    notices.note(process.rank, format!("handle {local} is of two files"));
                    continue;
                }
                // MPI has refused to open the file if it has no handle in the end.
                let parent = opened.parent.and_then(|parent| known.handles.get(&parent).copied());
                // What processes of several hosts open together is one file, wherever it is.
                let above = parent.and_then(|parent| self.done.handles[parent as usize].file);
                let above = above.filter(|&file| self.done.list[file as usize].path == opened.path);
                let file = above.unwrap_or_else(|| self.file(&process.host, &opened.path));
                self.done.list[file as usize].is_directory |= opened.is_directory;
                let access = if opened.is_stream { FileAccess::IsoC } else { FileAccess::Posix };
                let handle = Handle { file: Some(file), access, parent, was_open: opened.was_open };
                let number =
                    *numbers.entry((handle, opened.descriptor)).or_insert_with(|| self.add_handle(handle));
                known.handles.insert(local, number);
                self.done.has_posix |= access == FileAccess::Posix;
            }
        }
    }

    /// Adds the handle that stands for all files, if calls were made for it.
    fn all_files(&mut self, processes: &[Process], of: &mut [LocalNumbers], notices: &mut Notices) {
        let mut number = None;
        for (process, known) in processes.iter().zip(of) {
            let Some(local) = process.all_files else { continue };
            if known.handles.contains_key(&local) {
                notices.note(process.rank, format!("handle {local} is of a file, and of all"));
                continue;
            }
            self.done.has_posix = true;
            let all = Handle { file: None, access: FileAccess::Posix, parent: None, was_open: None };
            let number = *number.get_or_insert_with(|| self.add_handle(all));
            known.handles.insert(local, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::communicators::{Numbers, WORLD};
    use super::*;
    use recording::journal::{self, Mount, Storage};

    /// Processes of the same numbers of objects, on these hosts.
    fn processes<const N: usize>(hosts: [&str; N]) -> [Process; N] {
        hosts.map(|host| Process { host: host.into(), size: N as u32, ..Process::default() })
    }

    /// Merges their files; returns the numbers that they have got, too.
    fn shared(processes: &[Process]) -> (Files, Vec<LocalNumbers>) {
        let known =
            LocalNumbers { communicators: Numbers::from([(WORLD, WORLD)]), ..LocalNumbers::default() };
        let mut of = vec![known; processes.len()];
        let files = share(processes, &mut of, &mut Notices::default());
        (files, of)
    }

    fn of_mpi(handle: u32, path: &str, storage: Option<Storage>) -> (u32, journal::File) {
        (handle, journal::File { handle, key: 2, path: path.into(), communicator: WORLD, storage })
    }

    fn named(file: u32, path: &str, storage: Option<Storage>) -> (u32, journal::NamedFile) {
        let is_directory = path == "/d";
        (file, journal::NamedFile { file, path: path.into(), is_posix: false, is_directory, storage })
    }

    fn descriptor(
        handle: u32,
        path: &str,
        descriptor: u32,
        parent: Option<u32>,
    ) -> (u32, journal::Descriptor) {
        let (is_directory, is_stream) = (path == "/d", handle == 9);
        let path = path.into();
        let opened = journal::Descriptor {
            handle,
            path,
            descriptor,
            parent,
            is_directory,
            is_stream,
            was_open: None,
            storage: None,
        };
        (handle, opened)
    }

    fn paths(files: &Files) -> Vec<(&str, Option<&str>)> {
        files.list.iter().map(|file| (file.path.as_str(), file.host.as_deref())).collect()
    }

    #[test]
    fn file_that_is_opened_and_deleted_is_one_file() {
        let mut processes = processes(["a", "a"]);
        processes[0].files.extend([of_mpi(0, "/f", None)]);
        processes[1].named.extend([named(0, "/d", None), named(1, "/f", None)]);
        let (files, of) = shared(&processes);
        let access = FileAccess::Mpi(WORLD);
        assert_eq!(files.handles, [Handle { file: Some(0), access, parent: None, was_open: None }]);
        assert!(!files.has_posix && !files.list[0].is_directory && files.list[1].is_directory);
        assert_eq!(of[1].files, Numbers::from([(0, 1), (1, 0)]));
        assert_eq!(paths(&files), [("/f", None), ("/d", None)]);
    }

    #[test]
    fn descriptors_of_a_file_below_one_handle_of_mpi_are_one() {
        let mut processes = processes(["a", "a"]);
        for (process, number) in processes.iter_mut().zip([0, 4]) {
            process.files.extend([of_mpi(number, "/f", None)]);
            // Below a handle of MPI, by itself, below one that MPI has not opened in the end, a directory.
            process.descriptors.extend([
                descriptor(10, "/f", 7, Some(number)),
                descriptor(11, "/f", 7, None),
                descriptor(12, "/f", 8, Some(99)),
                descriptor(13, "/d", 9, None),
                // A stream, and the descriptor below it.
                descriptor(9, "/f", 7, None),
                descriptor(14, "/f", 7, Some(9)),
            ]);
            process.all_files = Some(15);
        }
        let (files, of) = shared(&processes);
        let handle = |access, file, parent| Handle { file: Some(file), access, parent, was_open: None };
        let posix = |file, parent| handle(FileAccess::Posix, file, parent);
        assert_eq!(
            files.handles,
            [
                handle(FileAccess::Mpi(WORLD), 0, None),
                handle(FileAccess::IsoC, 0, None),
                posix(0, Some(0)),
                posix(0, None),
                posix(0, None),
                posix(1, None),
                posix(0, Some(1)),
                Handle { file: None, access: FileAccess::Posix, parent: None, was_open: None },
            ]
        );
        let numbers = [(4, 0), (9, 1), (10, 2), (11, 3), (12, 4), (13, 5), (14, 6), (15, 7)];
        assert_eq!(of[1].handles, Numbers::from(numbers));
        assert!(files.has_posix && !files.list[0].is_directory && files.list[1].is_directory);
    }

    #[test]
    fn descriptors_that_were_open_before_have_handles_of_their_own() {
        let mut processes = processes(["a", "a"]);
        let was_open = |mode| Some(WasOpen { mode, status: 2 });
        for (process, mode) in processes.iter_mut().zip([0, 1]) {
            let (_, opened) = descriptor(10, "/f", 1, None);
            process
                .descriptors
                .insert(11, journal::Descriptor { was_open: was_open(mode), ..opened.clone() });
            process.descriptors.insert(10, opened);
        }
        let (files, of) = shared(&processes);
        let handles: Vec<_> = files.handles.iter().map(|handle| handle.was_open).collect();
        assert_eq!(handles, [None, was_open(0), was_open(1)]);
        assert_eq!([&of[0].handles[&11], &of[1].handles[&11]], [&1, &2]);
    }

    #[test]
    fn equal_paths_of_two_hosts_are_two_files_where_these_are_local() {
        let mut processes = processes(["a", "a", "b"]);
        let mount =
            |point: &str, kind: &str| Mount { source: "s".into(), point: point.into(), kind: kind.into() };
        let stored = |real_path: Option<&str>| {
            Some(Storage { real_path: real_path.map(Into::into), block: 512, stripes: None })
        };
        for process in [0, 2] {
            processes[process].mounts.extend([mount("/", "ext4"), mount("/nfs", "nfs4")]);
        }
        // The second process of a host knows what the first one says; a link leads to a shared file system.
        processes[0].named.extend([named(0, "/x", stored(None)), named(1, "/nfs/x", stored(None))]);
        processes[1].named.extend([named(0, "/x", None), named(1, "/link", stored(Some("/nfs/y")))]);
        processes[2].named.extend([
            named(0, "/x", stored(None)),
            named(1, "/nfs/x", None),
            named(2, "/gone", None),
        ]);
        let (files, of) = shared(&processes);
        let expected =
            [("/x", Some("a")), ("/nfs/x", None), ("/link", None), ("/x", Some("b")), ("/gone", None)];
        assert_eq!(paths(&files), expected);
        let numbers = [[(0, 0), (1, 1)].into(), [(0, 0), (1, 2)].into(), [(0, 3), (1, 1), (2, 4)].into()];
        assert_eq!(of.into_iter().map(|known| known.files).collect::<Vec<Numbers>>(), numbers);
        let point = |file: usize| {
            files.list[file].properties.iter().find(|it| it.0 == "Mount Point").map(|it| it.1.as_str())
        };
        assert_eq!([0, 1, 2, 3, 4].map(point), [Some("/"), Some("/nfs"), Some("/nfs"), Some("/"), None]);
    }

    #[test]
    fn file_that_hosts_open_together_is_where_the_one_says_that_tells() {
        let mut processes = processes(["b", "a"]);
        processes[1].mounts.push(Mount { source: "s".into(), point: "/".into(), kind: "ext4".into() });
        let storage = Storage { real_path: None, block: 512, stripes: None };
        processes[0].files.extend([of_mpi(0, "/f", None)]);
        processes[1].files.extend([of_mpi(0, "/f", Some(storage))]);
        // Below it is the same file on each host.
        processes[0].descriptors.extend([descriptor(1, "/f", 7, Some(0))]);
        let (files, _) = shared(&processes);
        assert_eq!(paths(&files), [("/f", Some("a"))]);
        assert_eq!(files.handles[1].file, Some(0));
    }
}
