//! What a trace says of files, in words.

use super::archive::{each_definition, each_event};
use otf2::{Definition, Event, UNDEFINED};
use std::collections::BTreeMap;
use std::path::Path;

/// The handles of an archive by their references.
pub(crate) type Handles = BTreeMap<u32, Handle>;

/// A handle of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Handle {
    /// The name of the file without its folders; empty if it stands for all files.
    pub(crate) file: String,
    /// The paradigm of file access.
    pub(crate) paradigm: String,
    /// The handle above.
    pub(crate) parent: Option<u32>,
}

/// Returns the handles of an archive. All files have absolute paths.
pub(crate) fn handles(experiment: &Path) -> Handles {
    let (mut strings, mut files, mut paradigms) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut handles = Handles::new();
    each_definition(experiment, |definition| match *definition {
        Definition::String { reference, string } => {
            strings.insert(reference, String::from_utf8_lossy(string).into_owned());
        }
        Definition::IoRegularFile { reference, name, .. }
        | Definition::IoDirectory { reference, name, .. } => {
            let path: &String = &strings[&name];
            assert!(path.starts_with('/'), "{path}");
            files.insert(reference, path.rsplit('/').next().unwrap_or_default().to_owned());
        }
        Definition::IoParadigm { reference, identification, .. } => {
            paradigms.insert(reference, strings[&identification].clone());
        }
        Definition::IoHandle { reference, file, io_paradigm, parent, .. } => {
            let parent = Some(parent).filter(|&parent| parent != UNDEFINED);
            let paradigm = paradigms[&io_paradigm].clone();
            let file = if file == UNDEFINED { String::new() } else { files[&file].clone() };
            handles.insert(reference, Handle { file, paradigm, parent });
        }
        _ => {}
    });
    handles
}

/// The records about files by the functions with these names, by location in their order, as lines such as
/// `pread Begin 0 0 100 Offset=4`: the function, the record with its numbers, and attributes.
pub(crate) fn records(experiment: &Path, functions: &[&str]) -> BTreeMap<u64, Vec<String>> {
    let mut lines: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut function = String::new();
    let mut names = BTreeMap::new();
    let mut strings = BTreeMap::new();
    each_definition(experiment, |definition| match *definition {
        Definition::String { reference, string } => {
            strings.insert(reference, String::from_utf8_lossy(string).into_owned());
        }
        Definition::Attribute { reference, name, .. } => {
            names.insert(reference, strings[&name].clone());
        }
        _ => {}
    });
    each_event(experiment, |at, event, region| {
        if let Some(region) = region {
            function.clone_from(&region.name);
        }
        let has_attributes = at.attributes.iter().next().is_some();
        let record = match *event {
            Event::IoCreateHandle { mode, creation_flags, status_flags, .. } => {
                format!("Create {mode} {creation_flags} {status_flags}")
            }
            Event::IoDestroyHandle { .. } => "Destroy".into(),
            Event::IoDuplicateHandle { status_flags, .. } => format!("Duplicate {status_flags}"),
            Event::IoSeek { offset_request, whence, offset_result, .. } => {
                format!("Seek {offset_request} {whence} {offset_result}")
            }
            Event::IoChangeStatusFlags { status_flags, .. } => format!("Change {status_flags}"),
            Event::IoDeleteFile { .. } => "Delete".into(),
            Event::IoAcquireLock { lock_type, .. } => format!("Acquire {lock_type}"),
            Event::IoReleaseLock { lock_type, .. } => format!("Release {lock_type}"),
            Event::IoTryLock { lock_type, .. } => format!("Try {lock_type}"),
            Event::IoOperationBegin { mode, operation_flags, bytes_request, .. } => {
                format!("Begin {mode} {operation_flags} {}", bytes_request.cast_signed())
            }
            Event::IoOperationComplete { bytes_result, .. } => {
                format!("Complete {}", bytes_result.cast_signed())
            }
            Event::IoOperationIssued { .. } => "Issued".into(),
            Event::IoOperationTest { .. } => "Test".into(),
            Event::IoOperationCancelled { .. } => "Cancelled".into(),
            Event::CallingContextLeave { .. } if has_attributes => "Leave".into(),
            _ => return,
        };
        if functions.contains(&function.as_str()) {
            let attributes = at.attributes.iter().filter_map(|attribute| {
                let name = &names[&attribute.attribute];
                (name != "Handle").then(|| format!(" {name}={}", attribute.value.bits))
            });
            let line = format!("{function} {record}{}", attributes.collect::<String>());
            lines.entry(at.location).or_default().push(line);
        }
    });
    lines
}

/// The calls of the functions with these names, by location in their order, as lines such as `truncate File=a FileSize=5`: the
/// function, which file its leave names, by itself or with a handle, and other attributes; or `unlink Delete=a`.
pub(crate) fn calls(experiment: &Path, functions: &[&str]) -> BTreeMap<u64, Vec<String>> {
    let handles = handles(experiment);
    let (mut strings, mut names, mut files) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    each_definition(experiment, |definition| match *definition {
        Definition::String { reference, string } => {
            strings.insert(reference, String::from_utf8_lossy(string).into_owned());
        }
        Definition::Attribute { reference, name, .. } => {
            names.insert(reference, strings[&name].clone());
        }
        Definition::IoRegularFile { reference, name, .. }
        | Definition::IoDirectory { reference, name, .. } => {
            let path: &String = &strings[&name];
            files.insert(reference, path.rsplit('/').next().unwrap_or_default().to_owned());
        }
        _ => {}
    });
    let mut lines: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut deleted = None;
    each_event(experiment, |at, event, region| match *event {
        Event::IoDeleteFile { file, .. } => deleted = Some(file),
        Event::CallingContextLeave { .. } => {
            let of_call = deleted.take().map(|file| format!(" Delete={}", files[&file]));
            let Some(function) = region.map(|region| region.name.as_str()) else { return };
            if functions.contains(&function) {
                let attributes = at.attributes.iter().map(|attribute| {
                    let (name, value) = (&names[&attribute.attribute], attribute.value.map(at.mappings).bits);
                    match (name.as_str(), u32::try_from(value)) {
                        ("File", Ok(file)) => format!(" File={}", files[&file]),
                        ("Handle", Ok(handle)) => format!(" Handle={}", handles[&handle].file),
                        _ => format!(" {name}={value}"),
                    }
                });
                let line = [function.to_owned()].into_iter().chain(of_call).chain(attributes).collect();
                lines.entry(at.location).or_default().push(line);
            }
        }
        _ => {}
    });
    lines
}

/// How many transfers there are, by location, paradigm of their handle, whether it is writing, and bytes that are moved.
pub(crate) type Transfers = BTreeMap<(u64, String, bool, u64), u64>;

/// Counts the transfers of the files with this name.
pub(crate) fn transfers(experiment: &Path, file: &str) -> Transfers {
    let handles = handles(experiment);
    let mut transfers = Transfers::new();
    let mut open: BTreeMap<(u64, u32, u64), bool> = BTreeMap::new();
    each_event(experiment, |at, event, _| match *event {
        Event::IoOperationBegin { handle, mode, matching_id, .. } => {
            open.insert((at.location, handle, matching_id), mode == 1);
        }
        Event::IoOperationComplete { handle, bytes_result, matching_id } => {
            let is_written = open.remove(&(at.location, handle, matching_id)).unwrap();
            let of = &handles[&handle];
            if of.file == file && bytes_result < u64::MAX {
                *transfers
                    .entry((at.location, of.paradigm.clone(), is_written, bytes_result))
                    .or_insert(0) += 1;
            }
        }
        _ => {}
    });
    transfers
}
