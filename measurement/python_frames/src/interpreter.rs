//! The interpreter of the process: its version, and the state of the calling thread.

use crate::code::Code;
use crate::frames::{self, Frame, WalkEnd};
use crate::layout::{KNOWN, Layout};
use crate::memory::{Checked, Direct, is_plausible};
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

/// Addresses of type objects, which identify the types of other objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Types {
    /// `PyCode_Type`
    pub code: u64,
    /// `PyUnicode_Type`
    pub string: u64,
    /// `PyBytes_Type`
    pub bytes: u64,
}

/// The interpreter that is loaded into this process.
#[derive(Debug)]
pub struct Interpreter {
    state_of_this_thread: unsafe extern "C" fn() -> *const c_void,
    /// Address of `_PyRuntime`.
    runtime: u64,
    version: String,
    layout: Layout,
    types: Types,
    /// Whether frames have been found where the layout says; one of the constants below.
    trust: AtomicU8,
}

const UNPROVEN: u8 = 0;
const PROVEN: u8 = 1;
const REFUTED: u8 = 2;

/// Returns the address of a symbol of the process.
fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name ends with a NUL.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if address.is_null() {
        // SAFETY: takes no argument. Clears the error, so that the program does not find one that is not its
        // own.
        unsafe { libc::dlerror() };
    }
    (!address.is_null()).then_some(address)
}

/// Keeps the library that an address is in from being unloaded (`dlclose`), if it is one.
fn keep_loaded(address: *const c_void) {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: `dladdr` takes any address, and fills in the structure if it returns a value other than 0; the
    // name that it gives then is a string of the loader. The reference that `dlopen` adds is never given
    // back.
    unsafe {
        if libc::dladdr(address, info.as_mut_ptr()) != 0 {
            let name = info.assume_init().dli_fname;
            let found = libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            // The program itself is not found by its name, but is never unloaded either.
            if found.is_null() {
                libc::dlerror();
            }
        }
    }
}

impl Interpreter {
    /// Returns the interpreter that is loaded into this process, if there is one. It is never unloaded then.
    ///
    /// # Errors
    /// If its frames cannot be read: a sentence for the user.
    pub fn find() -> Result<Option<Self>, String> {
        let Some(state_of_this_thread) = symbol(c"PyGILState_GetThisThreadState") else { return Ok(None) };
        let address = |name| symbol(name).map(|address| address as u64);
        let number = |address: u64| {
            // SAFETY: only called with the address of `Py_Version`, an `unsigned long`, which has 64 bits on
            // the supported systems.
            unsafe { (address as *const u64).read() }
        };
        let version = address(c"Py_Version").map(number);
        let known = (|| {
            let runtime = address(c"_PyRuntime")?;
            let types = Types {
                code: address(c"PyCode_Type")?,
                string: address(c"PyUnicode_Type")?,
                bytes: address(c"PyBytes_Type")?,
            };
            Some((version?, runtime, types))
        })();
        // SAFETY: `Layout::of` reads the table of offsets only, which is at the start of `_PyRuntime`.
        let mut memory = unsafe { Direct::new() };
        let layout = match known {
            Some((version, runtime, _)) => Layout::of(version, runtime, &mut memory),
            None => Err(KNOWN.into()),
        };
        let name = name_of(version);
        let (Some((_, runtime, types)), Ok(layout)) = (known, &layout) else {
            return Err(unsupported(&name, &layout.err().unwrap_or_default()));
        };
        if !Checked::works() {
            return Err(unsupported(
                &name,
                "the system forbids process_vm_readv, without which that is not safe",
            ));
        }
        // SAFETY: the symbol is a function of this signature in CPython's API.
        let state_of_this_thread = unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *const c_void>(state_of_this_thread)
        };
        keep_loaded(runtime as *const c_void);
        keep_loaded(state_of_this_thread as *const c_void);
        let trust = AtomicU8::new(UNPROVEN);
        Ok(Some(Self { state_of_this_thread, runtime, version: name, layout: *layout, types, trust }))
    }

    /// Returns layout and types, for reading.
    #[inline]
    pub fn structures(&self) -> (&Layout, &Types) {
        (&self.layout, &self.types)
    }

    /// Returns the state (`PyThreadState`) of the calling thread, the frames of which may be read; `None` if
    /// it runs no Python, or another thread is about to end the interpreter and all states with it.
    ///
    /// The interpreter keeps it in thread-local storage, so a signal handler may call this.
    #[inline]
    pub fn state_of_this_thread(&self) -> Option<u64> {
        // SAFETY: the function takes no argument and reads thread-local storage; its library is never
        // unloaded.
        let state = unsafe { (self.state_of_this_thread)() } as u64;
        if !is_plausible(state) {
            return None;
        }
        // SAFETY: a word of `_PyRuntime`, a static of a library that is never unloaded.
        let finalizing = unsafe { ((self.runtime + self.layout.finalizing) as *const u64).read_volatile() };
        (finalizing == 0 || finalizing == state).then_some(state)
    }

    /// Whether frames have been found where the layout says.
    pub fn is_proven(&self) -> bool {
        self.trust.load(Ordering::Relaxed) == PROVEN
    }

    /// Whether the frames are where the layout says: decided by the first ones that there are, which are read
    /// through [`Checked`]. `None` if there have been none yet.
    ///
    /// # Errors
    /// If the frames make no sense: a sentence for the user, returned once.
    pub fn is_trusted(
        &self,
        memory: &mut Checked,
        state: u64,
        stack: &Range<u64>,
    ) -> Result<Option<bool>, String> {
        match self.trust.load(Ordering::Relaxed) {
            PROVEN => return Ok(Some(true)),
            REFUTED => return Ok(Some(false)),
            _ => {}
        }
        memory.forget();
        let Some(makes_sense) = self.try_out(memory, state, stack) else { return Ok(None) };
        let trust = if makes_sense { PROVEN } else { REFUTED };
        match self.trust.compare_exchange(UNPROVEN, trust, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) if !makes_sense => {
                Err(unsupported(&self.version, "its frames are not where they should be"))
            }
            Ok(_) => Ok(Some(makes_sense)),
            Err(earlier) => Ok(Some(earlier == PROVEN)),
        }
    }

    /// Whether the thread's frames make sense; `None` if there are none.
    fn try_out(&self, memory: &mut Checked, state: u64, stack: &Range<u64>) -> Option<bool> {
        let (layout, types) = self.structures();
        let mut frames = [Frame::default(); 64];
        let (found, end) = frames::read((layout, types), memory, state, stack.clone(), &mut frames);
        let frames = frames.get(..found)?;
        if end == WalkEnd::Outermost && frames.is_empty() {
            return None;
        }
        let mut makes_sense = |frame: &Frame| {
            let code = Code::read(layout, types, memory, frame.code)?;
            let mut room = [0; 16];
            let name = code.name?.write(memory, &mut room)?;
            let file = code.file?.write(memory, &mut room)?;
            let line = code.line(memory, frame.instruction);
            // The table has an entry for each instruction; some are on no line.
            let is_within = line.is_some() || code.covers(memory, frame.instruction);
            let is_placed = frame.marker != 0 || end == WalkEnd::Limit;
            (name > 0 && file > 0 && is_within && is_placed).then_some(())
        };
        Some(
            end != WalkEnd::Broken
                && !frames.is_empty()
                && frames.iter().all(|frame| makes_sense(frame).is_some()),
        )
    }
}

fn unsupported(version: &str, reason: &str) -> String {
    format!("functions of Python {version} are not on call paths: {reason}")
}

/// Returns the version as users write it.
fn name_of(version: Option<u64>) -> String {
    let Some(version) = version else {
        // Versions before 3.11 lack `Py_Version`.
        let text = symbol(c"Py_GetVersion").map(|function| {
            // SAFETY: the symbol is a function of this signature in CPython's API, which returns a static
            // string.
            unsafe {
                let function =
                    std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *const c_char>(function);
                CStr::from_ptr(function()).to_string_lossy().into_owned()
            }
        });
        let text = text.unwrap_or_default();
        return text.split_whitespace().next().unwrap_or("(of unknown version)").into();
    };
    format!("{}.{}.{}", version >> 24 & 0xff, version >> 16 & 0xff, version >> 8 & 0xff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_without_python_has_no_interpreter() {
        assert!(matches!(Interpreter::find(), Ok(None)));
    }

    #[test]
    fn version_is_written_as_users_write_it() {
        assert_eq!(name_of(Some(0x030b_07f0)), "3.11.7");
        assert_eq!(name_of(Some(0x030e_0af0)), "3.14.10");
    }
}
