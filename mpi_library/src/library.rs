//! A library that is opened by the loader, and its symbols.
#![expect(unsafe_code, reason = "calls functions of the loader")]

use std::ffi::{CStr, CString, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// An open library. It stays open when this is dropped, so that addresses of its functions stay valid.
#[derive(Debug)]
pub struct Library(NonNull<c_void>);

impl Library {
    /// Opens a library by its path, or by a name that the loader looks for. Modules that the library opens itself need its
    /// symbols, so all later ones see them.
    ///
    /// # Errors
    /// If the loader refuses; what it says, without the path.
    pub fn open(name: &Path) -> Result<Library, String> {
        let text = CString::new(name.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: a string that ends with a NUL. Constructors of the library run, which is what users ask for.
        let library = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        NonNull::new(library).map(Library).ok_or_else(|| {
            let reason = loader_error();
            reason.strip_prefix(&format!("{}: ", name.display())).unwrap_or(&reason).to_owned()
        })
    }

    /// The address of a function or variable of the library, or of those that it needs.
    pub fn symbol(&self, name: &CStr) -> Option<usize> {
        look_up(self.0.as_ptr(), name)
    }

    /// Closes the library.
    ///
    /// # Safety
    /// Nothing of the library is used any more.
    pub unsafe fn close(self) {
        // SAFETY: the library is open, and the caller does not use it.
        unsafe { libc::dlclose(self.0.as_ptr()) };
    }
}

/// The address of a function or variable of this process, in the order in which the loader looks for it: that of a preloaded library
/// counts more than that of the library that is meant.
pub fn in_process(name: &CStr) -> Option<usize> {
    look_up(libc::RTLD_DEFAULT, name)
}

fn look_up(library: *mut c_void, name: &CStr) -> Option<usize> {
    // SAFETY: the library is open or stands for all, and the name ends with a NUL.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!address.is_null()).then_some(address as usize)
}

/// What the loader says of its last error.
fn loader_error() -> String {
    // SAFETY: the text, if there is one, stays until the next call of the loader by this thread.
    let text = unsafe {
        let text = libc::dlerror();
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    };
    text.unwrap_or_else(|| "the loader does not say why".into())
}

/// The path of the library that has the function at this address; an empty one if there is none.
pub fn path_of(function: usize) -> PathBuf {
    // SAFETY: all zeros are a value of this structure of pointers.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the loader writes to the structure; the name that it leaves there is that of an open library.
    unsafe {
        if libc::dladdr(function as *const c_void, &raw mut found) == 0 || found.dli_fname.is_null() {
            return PathBuf::new();
        }
        Path::new(OsStr::from_bytes(CStr::from_ptr(found.dli_fname).to_bytes())).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_an_open_library_are_those_of_the_process() {
        let library = Library::open(Path::new("libc.so.6")).unwrap();
        let function = library.symbol(c"getpid").unwrap();
        assert_eq!(in_process(c"getpid"), Some(function));
        assert!(path_of(function).display().to_string().contains("libc.so"), "{:?}", path_of(function));
        assert_eq!(library.symbol(c"MPI_No_such_function"), None);
        assert_eq!(path_of(0), PathBuf::new());
        // SAFETY: the process has the library open itself.
        unsafe { library.close() };
    }

    #[test]
    fn reason_of_the_loader_comes_without_the_path() {
        let refused = Library::open(Path::new("/nowhere/libmpi.so")).unwrap_err();
        assert!(refused.starts_with("cannot open shared object file"), "{refused}");
    }
}
