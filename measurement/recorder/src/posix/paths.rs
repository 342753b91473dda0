//! Absolute paths of files, made without memory from the program's allocator (io.md, 2.7, F7).

/// Room for a path.
const PATH: usize = 4096;

/// Room for the absolute path of a file. It is filled where it is: to copy it takes longer than most calls.
pub(crate) struct PathRoom {
    bytes: [u8; PATH],
    length: usize,
}

impl PathRoom {
    pub(crate) fn new() -> PathRoom {
        PathRoom { bytes: [0; PATH], length: 0 }
    }

    /// Returns the path of an open file. The system is asked, which does not look at the file again; `None` if the
    /// file has no path.
    pub(crate) fn of_descriptor(&mut self, descriptor: i32) -> Option<&[u8]> {
        let mut name = [0u8; 32];
        let begin = b"/proc/self/fd/";
        name[..begin.len()].copy_from_slice(begin);
        let mut digits = [0u8; 10];
        let (mut rest, mut count) = (u32::try_from(descriptor).ok()?, 0);
        while rest > 0 || count == 0 {
            digits[count] = b'0' + (rest % 10) as u8;
            (rest, count) = (rest / 10, count + 1);
        }
        for at in 0..count {
            name[begin.len() + at] = digits[count - 1 - at];
        }
        // SAFETY: the name ends with a NUL, and there is room for so many bytes.
        let length = unsafe { libc::readlink(name.as_ptr().cast(), self.bytes.as_mut_ptr().cast(), PATH) };
        self.length = usize::try_from(length).ok().filter(|&length| length < PATH)?;
        Some(self.get()).filter(|path| path.starts_with(b"/"))
    }

    /// Returns the path of a file that a call names, relative to an open folder, or to the working directory if that
    /// is `AT_FDCWD`. Steps back stay, as the folder in front of one may be a link. `None` if there is no such folder.
    pub(crate) fn named(&mut self, folder: i32, path: &[u8]) -> Option<&[u8]> {
        let folder = match folder {
            _ if path.starts_with(b"/") => b"/",
            libc::AT_FDCWD => self.of_working_directory()?,
            _ => self.of_descriptor(folder)?,
        };
        if folder == b"/" {
            self.length = 0;
        }
        for part in path.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".") {
            self.push(part)?;
        }
        if self.length == 0 {
            self.push(b"")?;
        }
        Some(self.get())
    }

    fn of_working_directory(&mut self) -> Option<&[u8]> {
        // SAFETY: there is room for so many bytes. The function of the C library may allocate.
        let length = unsafe { libc::syscall(libc::SYS_getcwd, self.bytes.as_mut_ptr(), PATH) };
        // With its NUL; it begins with something else if it cannot be reached.
        self.length = usize::try_from(length).ok()?.checked_sub(1)?;
        Some(self.get()).filter(|path| path.starts_with(b"/"))
    }

    /// Adds a part behind a slash.
    fn push(&mut self, part: &[u8]) -> Option<()> {
        let room = self.bytes.get_mut(self.length..self.length + 1 + part.len())?;
        room[0] = b'/';
        room[1..].copy_from_slice(part);
        self.length += room.len();
        Some(())
    }

    fn get(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn open_files_have_their_paths_and_are_folders_of_others() {
        let folder = std::env::temp_dir().canonicalize().unwrap();
        let path = folder.join(format!("replay-paths-{}", std::process::id()));
        let file = std::fs::File::create(&path).unwrap();
        let mut room = PathRoom::new();
        assert_eq!(room.of_descriptor(file.as_raw_fd()).unwrap(), path.as_os_str().as_bytes());
        std::fs::remove_file(&path).unwrap();
        let opened = std::fs::File::open(&folder).unwrap();
        let named = |path: &[u8]| PathRoom::new().named(opened.as_raw_fd(), path).unwrap().to_vec();
        assert_eq!(named(b"a//./b/"), folder.join("a/b").as_os_str().as_bytes());
        assert_eq!(named(b""), folder.as_os_str().as_bytes());
        assert_eq!(named(b"/x"), b"/x");
        let (reader, _writer) = std::io::pipe().unwrap();
        assert!(room.named(reader.as_raw_fd(), b"x").is_none());
        assert!(room.named(reader.as_raw_fd(), &vec![b'x'; PATH]).is_none());
    }

    #[test]
    fn names_are_relative_to_the_working_directory_or_absolute() {
        let named = |path: &[u8]| PathRoom::new().named(libc::AT_FDCWD, path).map(<[u8]>::to_vec);
        let here = std::env::current_dir().unwrap();
        assert_eq!(named(b"ab:c").unwrap(), here.join("ab:c").as_os_str().as_bytes());
        assert_eq!(named(b"//etc/../x/.").unwrap(), b"/etc/../x");
        assert_eq!(named(b"//").unwrap(), b"/");
        assert_eq!(named(&[b"/".as_slice(), &[b'x'; PATH]].concat()), None);
        assert_eq!(named(&[b"/".as_slice(), &[b'x'; PATH - 1]].concat()).map(|path| path.len()), Some(PATH));
    }
}
