//! The program that is measured: whether Score-P is in it, and whether it uses OpenMP, as its file says.

use std::path::Path;

use files::FileBytes;
use object::elf::{DT_NEEDED, FileHeader64};
use object::read::elf::{Dyn, ElfFile, ElfSymbol};
use object::{Endianness, Object, ObjectSymbol};
use recording::scorep::INITIALIZE;

/// How names of Score-P's libraries begin.
const SCOREP_LIBRARY: &str = "libscorep";

/// How names of libraries of OpenMP begin: GCC's, LLVM's, Intel's, NVIDIA's and Cray's.
const OPENMP_LIBRARIES: [&str; 6] = ["libgomp.", "libomp.", "libiomp5.", "libnvomp.", "libcraymp.", "libmp."];

/// What the file of a program says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Contents {
    /// Whether it is instrumented with Score-P.
    pub(crate) is_instrumented: bool,
    /// Whether it is linked with a library of OpenMP.
    pub(crate) has_openmp: bool,
}

impl Contents {
    /// Reads the file of a program. A script, or what cannot be read, has nothing.
    pub(crate) fn read(path: &Path) -> Contents {
        FileBytes::open(path).ok().and_then(|bytes| find(&bytes)).unwrap_or_default()
    }
}

fn find(bytes: &[u8]) -> Option<Contents> {
    let program = ElfFile::<FileHeader64<Endianness>>::parse(bytes).ok()?;
    let is_scorep = |symbol: ElfSymbol<'_, '_, FileHeader64<Endianness>>| {
        symbol.name_bytes() == Ok(INITIALIZE.to_bytes())
    };
    let (order, sections) = (program.endian(), program.elf_section_table());
    let needed: Vec<&[u8]> = match sections.dynamic(order, bytes) {
        Ok(Some((entries, link))) => {
            let strings = sections.strings(order, bytes, link).ok()?;
            let libraries = entries.iter().filter(|entry| entry.tag32(order) == Some(DT_NEEDED));
            libraries.filter_map(|entry| entry.string(order, strings).ok()).collect()
        }
        _ => Vec::new(),
    };
    let needs = |begin: &str| needed.iter().any(|name| name.starts_with(begin.as_bytes()));
    Some(Contents {
        is_instrumented: needs(SCOREP_LIBRARY)
            || program.dynamic_symbols().any(is_scorep)
            || program.symbols().any(is_scorep),
        has_openmp: OPENMP_LIBRARIES.into_iter().any(needs),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_programs_and_scripts_have_neither() {
        let own = std::env::current_exe().unwrap();
        for path in [own.as_path(), Path::new("/etc/passwd"), Path::new("/nowhere"), Path::new("/")] {
            assert_eq!(Contents::read(path), Contents::default(), "{}", path.display());
        }
    }
}
