//! Names of functions and call paths, shortened to a line on a terminal. The report has them in full.

use crate::call_tree::NO_SITE;
use crate::ids::ReportPath;
use crate::report_paths::ReportPaths;
use crate::trace::Trace;

/// Maximum length of a function's name, in characters.
const NAME: usize = 60;

/// Maximum length of a call path, in characters, unless two functions take more.
const PATH: usize = 90;

/// Returns the names of the functions along a call path of the report, with slashes between them. Recursive
/// functions are named once, and of a long path the first and the innermost ones.
pub(crate) fn path(trace: &Trace, paths: &ReportPaths, path: ReportPath) -> String {
    let from_inside = std::iter::successors(Some(path), |&path| paths.parent(path));
    fold(from_inside.map(|path| paths.region(path)), |region| function(trace.region_name(region)))
}

/// The longest name of a whole call path, in bytes.
const WHOLE_PATH: usize = 16 << 10;

/// Returns the names of a call path's functions from the root on, none of them cut; a function that calls itself is there once. Of a
/// path that is longer than any pattern has a use for, functions in front of the innermost ones are left out.
pub(crate) fn whole_path(trace: &Trace, paths: &ReportPaths, path: ReportPath) -> String {
    let from_inside = std::iter::successors(Some(path), |&path| paths.parent(path));
    whole(from_inside.map(|path| paths.region(path)), |region| trace.region_name(region))
}

/// Joins the names of functions, which are ordered from the innermost one outwards, as those of a whole path.
fn whole<'n>(from_inside: impl Iterator<Item = u32>, name: impl Fn(u32) -> &'n str) -> String {
    let mut names: Vec<String> = Vec::new();
    let (mut length, mut last, mut outermost) = (0, None, None);
    for region in from_inside {
        if last.replace(region) == Some(region) {
            continue;
        }
        if length >= WHOLE_PATH {
            outermost = last;
            continue;
        }
        let function = without_parameters(name(region));
        length += function.len() + 1;
        names.push(function);
    }
    if let Some(region) = outermost {
        names.extend(["…".to_owned(), without_parameters(name(region))]);
    }
    names.reverse();
    names.join("/")
}

/// Returns the names of functions from the outermost one inwards, likewise.
pub(super) fn regions(trace: &Trace, regions: &[u32]) -> String {
    fold(regions.iter().rev().copied(), |region| function(trace.region_name(region)))
}

/// Returns file and line of the call that leads to the innermost function of a call path, or in it.
pub(crate) fn site(trace: &Trace, paths: &ReportPaths, path: ReportPath) -> Option<String> {
    source(trace, paths, path).map(place)
}

/// Returns the same as they are in the trace; the line is 0 if it is unknown.
pub(super) fn source<'t>(
    trace: &'t Trace,
    paths: &ReportPaths,
    path: ReportPath,
) -> Option<&'t (String, u32)> {
    let own = paths.site(path);
    // An MPI call has no site of its own: its caller has it.
    let of_caller = paths.parent(path).map_or(NO_SITE, |caller| paths.site(caller));
    let site = if own == NO_SITE { of_caller } else { own };
    trace.sites.get(site as usize)
}

/// Returns a place in a source file, or in a program's code if the line is unknown and the file's name ends
/// with the address.
pub(super) fn place((file, line): &(String, u32)) -> String {
    match line {
        0 => base_name(file),
        line => format!("{}:{line}", base_name(file)),
    }
}

/// Returns the last part of the path of a file, cut to a line's length.
pub(super) fn base_name(file: &str) -> String {
    cut_front(file.rsplit('/').next().unwrap_or(file), NAME)
}

/// Joins the names of functions, which are ordered from the innermost one outwards.
fn fold<F: PartialEq + Copy>(from_inside: impl Iterator<Item = F>, name: impl Fn(F) -> String) -> String {
    // Paths may be very deep: only as many parts are stored as fit, and the last one of the others.
    let mut parts: Vec<(F, usize)> = Vec::new();
    let mut outermost = None;
    for function in from_inside {
        let is_full = parts.len() == PATH;
        match parts.last_mut() {
            Some((last, times)) if *last == function && outermost.is_none() => *times += 1,
            _ if is_full => outermost = Some(function),
            _ => parts.push((function, 1)),
        }
    }
    let text = |&(function, times): &(F, usize)| match times {
        1 => name(function),
        times => format!("{} (× {times})", name(function)),
    };
    let mut texts: Vec<String> = parts.iter().map(text).collect();
    texts.extend(outermost.map(&name));
    let length = |text: &String| text.chars().count() + 1;
    let (Some(first), all) = (texts.last(), texts.iter().map(length).sum::<usize>()) else {
        return String::new();
    };
    if all <= PATH + 1 && outermost.is_none() || texts.len() < 4 {
        texts.reverse();
        return texts.join("/");
    }
    let mut room = PATH.saturating_sub(length(first) + 2);
    let fits = |text: &&String| {
        let rest = room.checked_sub(length(text));
        room = rest.unwrap_or(0);
        rest.is_some()
    };
    let count = texts.iter().take_while(fits).count().clamp(2, texts.len() - 2);
    let mut inner = texts[..count].to_vec();
    inner.reverse();
    format!("{first}/…/{}", inner.join("/"))
}

/// Cuts the front of a name of more than so many characters: functions of one class, files and call paths differ in the end.
pub(super) fn cut_front(name: &str, most: usize) -> String {
    let length = name.chars().count();
    match length <= most {
        true => name.to_owned(),
        false => format!("…{}", name.chars().skip(length + 1 - most).collect::<String>()),
    }
}

/// Returns the name of a function without its parameters and return type, template arguments folded.
pub(super) fn function(name: &str) -> String {
    cut_front(&without_parameters(name), NAME)
}

fn without_parameters(name: &str) -> String {
    match name.contains(['(', '<']) {
        true => without_signature(name).unwrap_or_else(|| name.to_owned()),
        false => name.to_owned(),
    }
}

/// Removes the signature of a demangled C++ or Rust name; `None` if it does not look like one.
fn without_signature(name: &str) -> Option<String> {
    let mut short = String::new();
    let mut rest = name;
    // Start of the name behind a return type.
    let mut begin = 0;
    let mut has_parameters = false;
    while let Some(next) = rest.chars().next() {
        let length = match next {
            // The name of an operator may consist of brackets.
            'o' if short.is_empty() || short.ends_with([':', ' ', '&', '*', '>']) => match operator(rest) {
                Some(length) => {
                    short.push_str(&rest[..length]);
                    length
                }
                None => {
                    short.push(next);
                    1
                }
            },
            // Template arguments; or a type in front of a method, as in `<T as Trait>::method` of Rust.
            '<' => {
                let length = group(rest, '<', '>')?;
                short.push_str("<…>");
                length
            }
            '(' => {
                let length = group(rest, '(', ')')?;
                match &rest[..length] {
                    part @ ("(anonymous namespace)" | "(anonymous)") => short.push_str(part),
                    _ if rest[length..].starts_with("::") => {
                        // A function inside of a function: its parameters are left out, too.
                    }
                    _ => has_parameters = true,
                }
                length
            }
            '{' => {
                // `{lambda(int)#1}`: the number distinguishes the lambdas of a function.
                let length = group(rest, '{', '}')?;
                let inner = &rest[1..length - 1];
                let kind = inner.split(['(', '<']).next().unwrap_or("");
                let number = inner.rsplit_once('#').map_or("", |(_, number)| number);
                let mark = if number.is_empty() { "" } else { "#" };
                let text = if inner.starts_with("lambda") {
                    format!("{{{kind}{mark}{number}}}")
                } else {
                    rest[..length].to_owned()
                };
                short.push_str(&text);
                length
            }
            '[' if has_parameters => group(rest, '[', ']')?,
            ' ' if !has_parameters => {
                short.push(' ');
                // `operator<< <char>`: no return type ends here.
                begin = if rest.starts_with(" <") { begin } else { short.len() };
                1
            }
            // Qualifiers behind the parameters.
            _ if has_parameters => next.len_utf8(),
            _ => {
                short.push(next);
                next.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    let short = if has_parameters { short.split_off(begin) } else { short };
    let short = short.trim().to_owned();
    (!short.is_empty()).then_some(short)
}

/// Returns the length of an operator's name at the start of a text.
fn operator(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("operator")?;
    const SYMBOLS: [&str; 12] = ["()", "<<=", ">>=", "<=>", "<<", ">>", "<=", ">=", "->*", "->", "<", ">"];
    let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
    if let Some(symbol) = symbol {
        return Some("operator".len() + symbol.len());
    }
    // `operator new`, `operator bool`: the blank belongs to the name.
    let word = rest.strip_prefix(' ')?;
    Some(text.len() - word.len() + word.find(['(', '<', ' ']).unwrap_or(word.len()))
}

/// Returns the length of the group of brackets at the start of a text. Round brackets inside may contain
/// comparisons.
fn group(text: &str, open: char, close: char) -> Option<usize> {
    let (mut depth, mut round) = (0_u32, 0_u32);
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        let is_round = open != '(' && round > 0;
        if character == open && !is_round {
            depth += 1;
        } else if character == close && !is_round && before != '-' {
            depth = depth.checked_sub(1)?;
            if depth == 0 {
                return Some(at + close.len_utf8());
            }
        } else if character == '(' {
            round += 1;
        } else if character == ')' {
            round = round.checked_sub(1)?;
        }
        before = character;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_paths_have_functions_in_a_row_once_and_no_name_is_cut() {
        let long = "solve".repeat(20);
        let names = ["program", "main", long.as_str(), "Grid::relax(int) const", "MPI_Recv"];
        let whole = |from_root: &[u32]| whole(from_root.iter().rev().copied(), |at| names[at as usize]);
        assert_eq!(
            whole(&[0, 1, 2, 2, 2, 3, 2, 4]),
            format!("program/main/{long}/Grid::relax/{long}/MPI_Recv")
        );
        let deep: Vec<u32> = [0].into_iter().chain((0..100_000).map(|at| 1 + at % 2)).chain([4]).collect();
        let cut = whole(&deep);
        assert!(cut.starts_with("program/…/") && cut.ends_with(&format!("main/{long}/MPI_Recv")));
        assert!(cut.len() < WHOLE_PATH + 200);
    }

    #[test]
    fn signatures_are_left_out_and_templates_folded() {
        for (name, short) in [
            ("main", "main"),
            ("solver_", "solver_"),
            ("relax(int, double*)", "relax"),
            ("Grid::relax(int) const", "Grid::relax"),
            (
                "void Grid<double, 3>::relax<int>(std::vector<int, std::allocator<int> > const&)",
                "Grid<…>::relax<…>",
            ),
            ("std::enable_if<((4)>(1)), int>::type f<4>(int)", "f<…>"),
            ("(anonymous namespace)::work(double)", "(anonymous namespace)::work"),
            ("main::{lambda(int)#2}::operator()(int) const", "main::{lambda#2}::operator()"),
            ("std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <…>"),
            ("bool Key::operator<(Key const&) const", "Key::operator<"),
            ("operator new(unsigned long)", "operator new"),
            ("Field::operator double() const", "Field::operator double"),
            ("f(int)::g()::h", "f::g::h"),
            ("<alloc::vec::Vec<T> as core::ops::Index<I>>::index", "<…>::index"),
            ("step [clone .constprop.0]", "step [clone .constprop.0]"),
            ("step(int) [clone .constprop.0]", "step"),
            ("unbalanced<(", "unbalanced<("),
            ("!$omp parallel @a.c:3", "!$omp parallel @a.c:3"),
            ("pw.x+0x1234", "pw.x+0x1234"),
        ] {
            assert_eq!(function(name), short, "{name}");
        }
    }

    #[test]
    fn long_names_keep_their_end() {
        let name = format!("Very{}::method", "Long".repeat(40));
        let short = function(&name);
        assert!(
            short.chars().count() == NAME && short.starts_with('…') && short.ends_with("::method"),
            "{short}"
        );
    }

    #[test]
    fn long_paths_keep_their_ends_and_repeats_are_counted() {
        let folded = |names: &[&str]| fold(names.iter().rev().copied(), str::to_owned);
        assert_eq!(folded(&["a", "main", "MPI_Send"]), "a/main/MPI_Send");
        assert_eq!(folded(&["a", "walk", "walk", "walk", "MPI_Send"]), "a/walk (× 3)/MPI_Send");
        let names: Vec<String> = (0..300).map(|number| format!("function_{number}")).collect();
        let mut long = vec!["prog"];
        long.extend(names.iter().map(String::as_str));
        let short = folded(&long);
        assert!(short.starts_with("prog/…/function_29") && short.ends_with("/function_299"), "{short}");
        assert!(short.chars().count() <= PATH, "{short}");
        assert_eq!(folded(&[]), "");
    }
}
