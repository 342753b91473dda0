//! Hints of files as text (MPI 4.0, 14.2.8): `key=value;…`, sorted by keys.

use std::ffi::{c_char, c_int};
use std::fmt::Write;

use crate::mpi::is_open_mpi;
use crate::next::{symbol, variable};

/// Room for a key: `MPI_MAX_INFO_KEY` is 255 in MPICH, 36 in Open MPI.
const KEY: usize = 512;
/// The longest value that is kept, with its NUL.
const VALUE: c_int = 4096;
/// The number of keys that are looked at.
const MOST_KEYS: c_int = 1024;

type OfFile = unsafe extern "C" fn(usize, *mut usize) -> c_int;
type Free = unsafe extern "C" fn(*mut usize) -> c_int;
type Count = unsafe extern "C" fn(usize, *mut c_int) -> c_int;
type Key = unsafe extern "C" fn(usize, c_int, *mut c_char) -> c_int;
type Value = unsafe extern "C" fn(usize, *const c_char, c_int, *mut c_char, *mut c_int) -> c_int;

/// The functions of MPI for hints.
pub(crate) struct Hints {
    of_file: OfFile,
    free: Free,
    count: Count,
    key: Key,
    value: Value,
    none: usize,
}

impl Hints {
    /// Finds the functions; `None` if the library lacks some.
    pub(crate) fn find() -> Option<Hints> {
        let none = if is_open_mpi() { variable(c"ompi_mpi_info_null")? } else { 0x1c00_0000 };
        // SAFETY: the symbols are the functions of these names, with the parameters that MPI 3.1 fixes.
        unsafe {
            Some(Hints {
                of_file: std::mem::transmute::<usize, OfFile>(symbol(c"PMPI_File_get_info")?),
                free: std::mem::transmute::<usize, Free>(symbol(c"PMPI_Info_free")?),
                count: std::mem::transmute::<usize, Count>(symbol(c"PMPI_Info_get_nkeys")?),
                key: std::mem::transmute::<usize, Key>(symbol(c"PMPI_Info_get_nthkey")?),
                value: std::mem::transmute::<usize, Value>(symbol(c"PMPI_Info_get")?),
                none,
            })
        }
    }

    /// Returns the hints of an open file, if the call that has succeeded has got an `info` with some.
    pub(crate) fn text(&self, file: usize, info: usize) -> Option<String> {
        if info == self.none {
            return None;
        }
        let mut used = self.none;
        // SAFETY: the file is open, as a call on it has succeeded; `used` is writable.
        if unsafe { (self.of_file)(file, &mut used) } != 0 || used == self.none {
            return None;
        }
        let pairs = self.pairs(used);
        // SAFETY: MPI_File_get_info has made it for the caller to free.
        unsafe { (self.free)(&mut used) };
        Some(joined(pairs))
    }

    /// Returns the keys and values of an info object.
    fn pairs(&self, info: usize) -> Vec<(String, String)> {
        let mut count = 0;
        // SAFETY: the info object is valid, and `count` is writable.
        unsafe { (self.count)(info, &mut count) };
        let mut pairs = Vec::new();
        for at in 0..count.min(MOST_KEYS) {
            let (mut key, mut value) = ([0u8; KEY], vec![0u8; VALUE as usize]);
            let mut is_found = 0;
            // SAFETY: there is such a key, and room for keys of any library. There is room for the value, which
            // is cut off if it is longer; the last byte stays zero.
            unsafe {
                (self.key)(info, at, key.as_mut_ptr().cast());
                let place = value.as_mut_ptr().cast();
                (self.value)(info, key.as_ptr().cast(), VALUE - 1, place, &mut is_found);
            }
            if is_found != 0 {
                pairs.push((text(&key), text(&value)));
            }
        }
        pairs
    }
}

/// Returns what is before the first NUL.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned()
}

/// Returns pairs as one text.
fn joined(mut pairs: Vec<(String, String)>) -> String {
    pairs.sort();
    pairs.iter().enumerate().fold(String::new(), |mut text, (at, (key, value))| {
        let separator = if at > 0 { ";" } else { "" };
        // Writing to a string does not fail.
        let _ = write!(text, "{separator}{key}={value}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_sorted_by_their_keys() {
        let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
        assert_eq!(
            joined(vec![pair("striping_unit", "65536"), pair("cb_nodes", "2")]),
            "cb_nodes=2;striping_unit=65536"
        );
        assert_eq!(joined(Vec::new()), "");
    }
}
