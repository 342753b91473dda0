//! Extents of functions by the unwind table `.eh_frame`, which files keep that have lost their symbols.

use gimli::{BaseAddresses, CieOrFde, EhFrame, EndianSlice, RunTimeEndian, UnwindSection};
use object::{Object, ObjectSection};

/// The ranges of code with an entry, by address: one a function, or a part of one that is elsewhere.
#[derive(Debug)]
pub(crate) struct Extents(Vec<(u64, u64)>);

impl Extents {
    /// Returns those of the first file that has the table, up to the first damaged entry.
    pub(crate) fn of(objects: &[object::File<'_>]) -> Self {
        let mut found: Vec<(u64, u64)> = objects.iter().find_map(entries).unwrap_or_default();
        found.sort_unstable();
        Extents(found)
    }

    /// Returns where the function starts that an address lies in.
    pub(crate) fn start(&self, address: u64) -> Option<u64> {
        let end = self.0.partition_point(|&(begin, _)| begin <= address);
        let &(begin, length) = self.0.get(end.checked_sub(1)?)?;
        (address - begin < length).then_some(begin)
    }
}

/// Returns the entries of a file; `None` if it has no table.
fn entries(object: &object::File<'_>) -> Option<Vec<(u64, u64)>> {
    let section = object.section_by_name(".eh_frame")?;
    let data = section.uncompressed_data().ok().filter(|data| !data.is_empty())?;
    let order = if object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let mut table = EhFrame::from(EndianSlice::new(&data, order));
    table.set_address_size(if object.is_64() { 8 } else { 4 });
    let bases = BaseAddresses::default().set_eh_frame(section.address());
    let mut entries = table.entries(&bases);
    let mut found = Vec::new();
    while let Ok(Some(entry)) = entries.next() {
        if let CieOrFde::Fde(partial) = entry
            && let Ok(entry) = partial.parse(EhFrame::cie_from_offset)
        {
            found.push((entry.initial_address(), entry.len()));
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::ObjectSymbol;

    #[test]
    fn address_between_functions_is_in_none() {
        let extents = Extents(vec![(10, 5), (20, 1)]);
        let starts = [9, 10, 14, 15, 20, 21].map(|address| extents.start(address));
        assert_eq!(starts, [None, Some(10), Some(10), None, Some(20), None]);
    }

    #[test]
    fn functions_of_this_program_begin_where_their_symbols_do() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let objects = [object::File::parse(&*bytes).unwrap()];
        let known: Vec<u64> = objects[0].symbols().map(|symbol| symbol.address()).collect();
        let extents = Extents::of(&objects);
        let right = extents.0.iter().filter(|(begin, _)| known.contains(begin)).count();
        assert!(right > 100 && right * 10 > extents.0.len() * 9, "{right} of {}", extents.0.len());
    }
}
