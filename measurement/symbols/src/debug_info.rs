//! Functions and lines from DWARF: `addr2line` finds the functions, `gimli` their declarations.

use crate::Frame;
use crate::names::demangled;
use addr2line::Context;
use gimli::{AttributeValue, DwLang, DwarfSections, EndianSlice, RunTimeEndian, UnitOffset, UnitRef};
use object::{Object, ObjectSection};
use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Maximum length of a chain of declarations: an inlined call refers to its function, that to its class.
const LONGEST_CHAIN: usize = 8;

/// The sections of a file with debug information.
#[derive(Debug)]
pub(crate) struct DebugSections<'a> {
    sections: DwarfSections<Cow<'a, [u8]>>,
    order: RunTimeEndian,
}

impl<'a> DebugSections<'a> {
    /// Reads the sections; compressed ones are decompressed.
    ///
    /// # Errors
    /// If a section is damaged.
    pub(crate) fn load(object: &object::File<'a>) -> Result<Self, object::Error> {
        let order = if object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let sections = DwarfSections::load(|id| match object.section_by_name(id.name()) {
            Some(section) => section.uncompressed_data(),
            None => Ok(Cow::Borrowed(&[][..])),
        })?;
        Ok(DebugSections { sections, order })
    }
}

/// Functions and lines by address, from the debug information of a file.
pub(crate) struct DebugInfo<'a>(Context<Slice<'a>>);

impl fmt::Debug for DebugInfo<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DebugInfo")
    }
}

impl<'a> DebugInfo<'a> {
    /// Creates it from the sections of a file and of its supplementary file; `None` if they make no sense.
    pub(crate) fn new(own: &'a DebugSections<'_>, other: Option<&'a DebugSections<'_>>) -> Option<Self> {
        let other = other.map(|other| &other.sections);
        let dwarf = own.sections.borrow_with_sup(other, |bytes| EndianSlice::new(bytes, own.order));
        Context::from_dwarf(dwarf).ok().map(DebugInfo)
    }

    /// Returns the functions at an address, the outermost first; none where nothing is known.
    pub(crate) fn frames(&self, address: u64) -> Vec<Frame> {
        at(&self.0, address)
    }
}

/// Returns the functions at an address, as far as the debug information makes sense.
fn at(context: &Context<Slice<'_>>, address: u64) -> Vec<Frame> {
    let mut found = Vec::new();
    let Ok(mut frames) = context.find_frames(address).skip_all_loads() else { return found };
    let unit = context.find_dwarf_and_unit(address).skip_all_loads();
    while let Ok(Some(frame)) = frames.next() {
        let line = frame.location.and_then(|at| Some((at.file?.to_string(), at.line?)));
        let declaration = unit.zip(frame.dw_die_offset).map(|(unit, offset)| declaration(unit, offset));
        let declaration = declaration.unwrap_or_default();
        let language = frame.function.as_ref().and_then(|function| function.language);
        let canonical_name =
            frame.function.and_then(|function| function.raw_name().ok().map(Cow::into_owned));
        let canonical_name = canonical_name.unwrap_or_default();
        let name = match declaration.name {
            Some(name) if is_fortran(language) && !canonical_name.contains("_MOD_") => name,
            _ => demangled(&canonical_name),
        };
        // Where the declaration is in another unit, the line's file serves, which may be an include file.
        let file = declaration.file.or_else(|| line.as_ref().map(|(file, _)| file.clone()));
        let begin_line = declaration.line;
        found.push(Frame { name, canonical_name, file, begin_line, line, is_unknown: false, start: None });
    }
    found.reverse();
    found
}

fn is_fortran(language: Option<DwLang>) -> bool {
    use gimli::{DW_LANG_Fortran03, DW_LANG_Fortran08, DW_LANG_Fortran18, DW_LANG_Fortran77};
    use gimli::{DW_LANG_Fortran90, DW_LANG_Fortran95};
    let all = [
        DW_LANG_Fortran03,
        DW_LANG_Fortran08,
        DW_LANG_Fortran18,
        DW_LANG_Fortran77,
        DW_LANG_Fortran90,
        DW_LANG_Fortran95,
    ];
    language.is_some_and(|language| all.contains(&language))
}

/// Name, file and line of a function's declaration.
#[derive(Default)]
struct Declaration {
    name: Option<String>,
    file: Option<String>,
    line: u32,
}

/// Returns the declaration of the function at an offset: its own, or that of the function which is inlined
/// there.
fn declaration(unit: UnitRef<'_, Slice<'_>>, mut offset: UnitOffset) -> Declaration {
    let mut found = Declaration::default();
    for _ in 0..LONGEST_CHAIN {
        let Ok(entry) = unit.entry(offset) else { break };
        let value = |name| entry.attr_value(name);
        if found.name.is_none() {
            let name = value(gimli::DW_AT_name).and_then(|name| unit.attr_string(name).ok());
            found.name = name.map(|name| name.to_string_lossy().into_owned());
        }
        if found.line == 0
            && let Some(line) = value(gimli::DW_AT_decl_line).and_then(|line| line.udata_value())
            && let Some(AttributeValue::FileIndex(index)) = value(gimli::DW_AT_decl_file)
        {
            found.line = u32::try_from(line).unwrap_or(0);
            found.file = file(unit, index);
        }
        let next = value(gimli::DW_AT_abstract_origin).or_else(|| value(gimli::DW_AT_specification));
        match next {
            Some(AttributeValue::UnitRef(next)) if next != offset => offset = next,
            // A function of another unit, as link-time optimization makes them.
            _ => break,
        }
    }
    found
}

/// Returns the path of a file in a unit's table, composed as `addr2line` does it for lines.
fn file(unit: UnitRef<'_, Slice<'_>>, index: u64) -> Option<String> {
    let header = unit.line_program.as_ref()?.header();
    let entry = header.file(index)?;
    let text = |value| unit.attr_string(value).ok().map(|text| text.to_string_lossy().into_owned());
    let mut path =
        PathBuf::from(unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default());
    // Up to DWARF 4, directory 0 is that of the compilation.
    if entry.directory_index() != 0 || header.version() >= 5 {
        path.push(entry.directory(header).and_then(text).unwrap_or_default());
    }
    path.push(text(entry.path_name())?);
    Some(path.to_string_lossy().into_owned())
}
