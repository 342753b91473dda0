//! Where files are: the file systems that hosts have mounted, and what is known of a file by that (io.md, 2.1).

use super::journals::Process;
use recording::journal::{Mount, Storage};
use std::collections::HashMap;
use std::path::Path;

/// A property of a file: its name, and the value.
pub(crate) type Property = (&'static str, String);

/// Kinds of file systems that several hosts share. One that ends with a `*` stands for all that begin so.
const SHARED: [&str; 13] = [
    "nfs*", "lustre", "gpfs", "beegfs", "ceph", "panfs", "pvfs2", "wekafs", "afs", "cifs", "9p", "fuse",
    "fuse.*",
];

/// Where a file is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    storage: &'a Storage,
    mount: Option<&'a Mount>,
}

/// The places of files that processes have told of, by host and path.
#[derive(Default)]
pub(super) struct Places<'a>(HashMap<(&'a str, &'a str), Place<'a>>);

impl<'a> Places<'a> {
    pub(super) fn new(processes: &'a [Process]) -> Places<'a> {
        let mut mounts: HashMap<&str, &[Mount]> = HashMap::new();
        for process in processes.iter().filter(|process| !process.mounts.is_empty()) {
            mounts.entry(&process.host).or_insert(&process.mounts);
        }
        let mut places = Places::default();
        for process in processes {
            let of_mpi = process.files.values().map(|file| (&file.path, &file.storage));
            let opened = process.descriptors.values().map(|opened| (&opened.path, &opened.storage));
            let named = process.named.values().map(|named| (&named.path, &named.storage));
            let mounts = mounts.get(process.host.as_str()).copied().unwrap_or_default();
            for (path, storage) in of_mpi.chain(opened).chain(named) {
                let Some(storage) = storage else { continue };
                places.0.entry((&process.host, path)).or_insert_with(|| {
                    let mount = mount_of(mounts, storage.real_path.as_ref().unwrap_or(path));
                    Place { storage, mount }
                });
            }
        }
        places
    }

    /// Returns where a file is by its path on a host, if that is known.
    pub(super) fn find(&self, host: &'a str, path: &'a str) -> Option<Place<'a>> {
        self.0.get(&(host, path)).copied()
    }
}

/// Returns what a file with that path is on: the longest mount point that it is at or below, of equal ones the last, which hides
/// those before.
pub(crate) fn mount_of<'a>(mounts: &'a [Mount], path: &str) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| Path::new(path).starts_with(&mount.point));
    let mount = above.max_by_key(|mount| mount.point.trim_end_matches('/').len())?;
    // It stands for what is mounted as soon as somebody comes, which the list did not have yet.
    (mount.kind != "autofs").then_some(mount)
}

impl Place<'_> {
    /// Whether other hosts have other files by this path.
    pub(super) fn is_local(&self) -> bool {
        let is_shared = |mount: &Mount| {
            SHARED.iter().any(|kind| match kind.strip_suffix('*') {
                Some(begin) => mount.kind.starts_with(begin),
                None => mount.kind == *kind,
            })
        };
        self.mount.is_some_and(|mount| !is_shared(mount))
    }

    /// Returns the properties of the file, as far as they are known.
    pub(super) fn properties(&self) -> Vec<Property> {
        let Storage { block, stripes, .. } = self.storage;
        let mount = self.mount.into_iter().flat_map(|Mount { source, point, kind }| {
            [("Mount Point", point), ("Mount Source", source), ("File system", kind)]
        });
        let stripes = stripes
            .iter()
            .flat_map(|stripes| [("Stripe Count", stripes.count), ("Stripe Size", stripes.size)]);
        let block = Some(("Block Size", *block)).filter(|(_, bytes)| *bytes > 0);
        let numbers = stripes.chain(block).map(|(name, number)| (name, number.to_string()));
        mount.map(|(name, text)| (name, text.clone())).chain(numbers).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::journal::Stripes;

    fn mount(source: &str, point: &str, kind: &str) -> Mount {
        Mount { source: source.into(), point: point.into(), kind: kind.into() }
    }

    #[test]
    fn longest_mount_point_above_a_path_has_it_and_the_last_of_equal_ones() {
        let mounts = [
            mount("root", "/", "rootfs"),
            mount("sda", "/", "ext4"),
            mount("deep", "/work/deep", "xfs"),
            mount("mds:/work", "/work", "lustre"),
            mount("auto", "/home", "autofs"),
            mount("srv:/me", "/home/me", "nfs4"),
        ];
        let source = |path| mount_of(&mounts, path).map(|mount| mount.source.as_str());
        assert_eq!(source("/work/x"), Some("mds:/work"));
        assert_eq!((source("/work"), source("/work2/x")), (Some("mds:/work"), Some("sda")));
        assert_eq!(source("/work/deep/x"), Some("deep"));
        assert_eq!((source("/home/me/x"), source("/home/you/x")), (Some("srv:/me"), None));
        assert!(mount_of(&mounts[2..], "/x").is_none());
    }

    #[test]
    fn file_systems_of_one_host_are_local() {
        let storage = Storage { real_path: None, block: 0, stripes: None };
        let is_local = |kind| {
            let mount = mount("", "/", kind);
            Place { storage: &storage, mount: Some(&mount) }.is_local()
        };
        assert!(["ext4", "tmpfs", "overlay", "xfs", "fuseblk"].into_iter().all(is_local));
        assert!(!["nfs", "nfs4", "lustre", "fuse.sshfs", "fuse", "9p"].into_iter().any(is_local));
        assert!(!Place { storage: &storage, mount: None }.is_local());
    }

    #[test]
    fn only_what_is_known_is_a_property() {
        let mut storage = Storage { real_path: None, block: 0, stripes: None };
        assert_eq!(Place { storage: &storage, mount: None }.properties(), []);
        (storage.block, storage.stripes) = (4096, Some(Stripes { size: 1 << 20, count: 8 }));
        let mount = mount("mds:/work", "/work", "lustre");
        let all = Place { storage: &storage, mount: Some(&mount) }.properties();
        let expected = [
            ("Mount Point", "/work"),
            ("Mount Source", "mds:/work"),
            ("File system", "lustre"),
            ("Stripe Count", "8"),
            ("Stripe Size", "1048576"),
            ("Block Size", "4096"),
        ];
        assert!(all.iter().map(|(name, value)| (*name, value.as_str())).eq(expected));
    }
}
