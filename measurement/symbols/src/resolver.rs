//! The functions at addresses of a file, looked up one by one.

use crate::Frame;
use crate::contents::Tables;
use crate::debug_info::DebugInfo;
use crate::extents::Extents;
use crate::names::demangled;
use object::{Object, ObjectSymbol, SymbolKind};
use std::cell::OnceCell;

/// Looks up the functions at addresses of a file.
#[derive(Debug)]
pub struct Resolver<'a> {
    name: &'a str,
    symbols: Symbols<'a>,
    debug_info: Option<DebugInfo<'a>>,
    objects: &'a [object::File<'a>],
    /// Created when it is needed first.
    extents: OnceCell<Extents>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(tables: &'a Tables<'a>) -> Self {
        let lines = tables.lines.as_ref();
        Resolver {
            name: tables.name,
            symbols: Symbols::new(&tables.objects),
            debug_info: lines.and_then(|lines| DebugInfo::new(lines, tables.supplement.as_ref())),
            objects: &tables.objects,
            extents: OnceCell::new(),
        }
    }

    /// Returns where the function starts that an address lies in, named or not, if the unwind table has it.
    pub fn start(&self, address: u64) -> Option<u64> {
        self.extents.get_or_init(|| Extents::of(self.objects)).start(address)
    }

    /// Returns the functions at an address, the outermost first and those inlined in it behind it; never
    /// empty.
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        let mut found = self.debug_info.as_ref().map(|info| info.frames(address)).unwrap_or_default();
        let by_symbol =
            || self.symbols.find(address).map_or_else(|| Frame::unknown(self.name), Frame::of_symbol);
        if found.is_empty() {
            found.push(by_symbol());
        }
        // A line without a function, as in assembly code.
        for frame in found.iter_mut().filter(|frame| frame.name.is_empty()) {
            *frame = Frame { line: frame.line.take(), ..by_symbol() };
        }
        found
    }
}

impl Frame {
    fn of_symbol(name: &str) -> Self {
        let (name, canonical_name) = (demangled(name), name.to_string());
        Frame { name, canonical_name, file: None, begin_line: 0, line: None, is_unknown: false, start: None }
    }
}

/// The functions in the symbol tables, by address.
#[derive(Debug)]
struct Symbols<'a>(Vec<(u64, u64, &'a str)>);

impl<'a> Symbols<'a> {
    fn new(objects: &'a [object::File<'_>]) -> Self {
        let mut found = Vec::new();
        for object in objects {
            for symbol in object.symbols().chain(object.dynamic_symbols()) {
                let is_function = symbol.kind() == SymbolKind::Text && symbol.is_definition();
                if let Ok(name) = symbol.name()
                    && is_function
                    && !name.is_empty()
                {
                    found.push((symbol.address(), symbol.size(), name));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Symbols(found)
    }

    /// Returns the function at an address; of several names the first in alphabetical order.
    fn find(&self, address: u64) -> Option<&'a str> {
        let end = self.0.partition_point(|&(begin, ..)| begin <= address);
        let (begin, ..) = *self.0.get(end.checked_sub(1)?)?;
        let first = self.0.partition_point(|&(other, ..)| other < begin);
        // Symbols of assembly code may have no size: they extend to the next one.
        let reaches = |&&(begin, size, _): &&(u64, u64, &str)| size == 0 || address - begin < size;
        let names = self.0.get(first..end)?.iter().filter(reaches);
        names.map(|&(.., name)| name).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_ends_where_its_size_says() {
        let symbols = Symbols(vec![(10, 5, "f"), (10, 5, "e"), (20, 0, "g"), (30, 1, "h")]);
        let names = [9, 10, 14, 15, 20, 29, 30, 31].map(|address| symbols.find(address));
        assert_eq!(names, [None, Some("e"), Some("e"), None, Some("g"), Some("g"), Some("h"), None]);
    }
}
