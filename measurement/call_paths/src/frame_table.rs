//! A table like that of `PT_GNU_EH_FRAME` for programs without one: linkers leave it out with `-static`,
//! where only the section headers say where `.eh_frame` is.

use crate::modules::Section;
use gimli::{BaseAddresses, CieOrFde, EhFrame, EndianSlice, NativeEndian, UnwindSection};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// `DW_EH_PE_udata8`: an absolute address.
const ADDRESS: u8 = gimli::constants::DW_EH_PE_udata8.0;

/// Returns address, as linked, and size of the section `.eh_frame` according to a program's section headers.
pub(crate) fn section(program: &Path) -> Option<(u64, u64)> {
    let file = File::open(program).ok()?;
    let header: [u8; 64] = read(&file, 0)?;
    let is_known = header.starts_with(b"\x7fELF") && header[4] == 2;
    let [size, count, names] =
        [58, 60, 62].map(|at| u64::from(u16::from_ne_bytes([header[at], header[at + 1]])));
    if !is_known || size < 64 {
        return None;
    }
    let first = word(&header, 40);
    let section = |number: u64| read::<64>(&file, first.checked_add(number * size)?);
    let names = word(&section(names)?, 24);
    (0..count).find_map(|number| {
        let section = section(number)?;
        let name = u32::from_ne_bytes([section[0], section[1], section[2], section[3]]);
        let name: [u8; 10] = read(&file, names.checked_add(name.into())?)?;
        (&name == b".eh_frame\0").then(|| (word(&section, 16), word(&section, 32)))
    })
}

fn read<const N: usize>(file: &File, at: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

fn word(bytes: &[u8; 64], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(word)
}

/// Builds the table of a section `.eh_frame`, with absolute addresses. Damaged entries end it.
pub(crate) fn of(frames: Section<'_>) -> Vec<u8> {
    let begin = frames.address;
    let bases = BaseAddresses::default().set_eh_frame(begin);
    let mut section = EhFrame::from(EndianSlice::new(frames.bytes, NativeEndian));
    section.set_address_size(8);
    let mut entries = section.entries(&bases);
    let mut rows = Vec::new();
    while let Ok(Some(entry)) = entries.next() {
        if let CieOrFde::Fde(entry) = entry
            && let Ok(entry) = entry.parse(EhFrame::cie_from_offset)
        {
            rows.push([entry.initial_address(), begin + entry.offset() as u64]);
        }
    }
    rows.sort_unstable();
    let mut table = vec![1, ADDRESS, ADDRESS, ADDRESS];
    for word in [begin, rows.len() as u64].iter().chain(rows.iter().flatten()) {
        table.extend(word.to_ne_bytes());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use gimli::EhFrameHdr;

    #[test]
    fn the_table_is_made_as_the_linker_makes_it() {
        let (_, modules) = crate::objects::all(None);
        let program = std::env::current_exe().unwrap();
        let module = modules.iter().find(|module| module.path == program.to_str().unwrap()).unwrap();
        let (linked, frames) = (module.table.unwrap(), module.frames.unwrap());
        let (address, size) = section(&program).unwrap();
        assert_eq!(module.bias + address, frames.address);
        let made = of(Section { bytes: &frames.bytes[..size as usize], ..frames });

        let all = |table: Section<'_>| -> Vec<(u64, u64)> {
            let bases = BaseAddresses::default().set_eh_frame_hdr(table.address);
            let parsed = EhFrameHdr::new(table.bytes, NativeEndian).parse(&bases, 8).unwrap();
            let rows = parsed.table().unwrap();
            let mut found = rows.iter(&bases);
            std::iter::from_fn(|| found.next().unwrap())
                .map(|(code, entry)| (code.direct().unwrap(), entry.direct().unwrap()))
                .collect()
        };
        let made = Section { address: made.as_ptr() as u64, bytes: &made };
        assert!(all(made).len() > 1000);
        assert_eq!(all(made), all(linked));
    }

    #[test]
    fn files_without_sections_have_no_table() {
        for path in ["/nowhere", "/proc/self/maps", file!()] {
            assert_eq!(section(Path::new(path)), None);
        }
        let damaged = Section { address: 0x1000, bytes: &[0xff; 100] };
        assert_eq!(of(damaged).len(), 4 + 16);
    }
}
