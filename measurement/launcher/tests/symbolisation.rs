//! Addresses of real programs become functions, files and lines.

use crate::finishing::finished;
use crate::recordings::{Rank, check, fresh, mpi};
use model::{Definitions, Paradigm};
use object::{Object, ObjectSymbol};
use otf2::Archive;
use recording::journal::{JournalRecord, Module};
use recording::paths::{FRAME, FUNCTION, MPI_FUNCTION, NO_PARENT, SAMPLE};
use skip::{Need, skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Base address of the program in the recording.
const BASE: u64 = 0x5555_0000_0000;

/// Builds a source; `None` if there is no such compiler.
fn build(directory: &Path, compiler: &str, arguments: &[&str], name: &str, source: &str) -> Option<PathBuf> {
    let program = directory.join("program");
    fs::write(directory.join(name), source).unwrap();
    let built = Command::new(compiler)
        .args(arguments)
        .arg(name)
        .arg("-o")
        .arg(&program)
        .current_dir(directory)
        .output();
    match built {
        Ok(built) => assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr)),
        Err(_) => {
            skip(Need::Compiler, format!("names of {name}: there is no {compiler}"));
            return None;
        }
    }
    Some(program)
}

/// Returns the addresses of the ends of call instructions in a function, by its symbol.
fn returns(program: &Path, function: &str) -> Vec<u64> {
    let bytes = fs::read(program).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(function)).unwrap();
    let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
    let code = object::ObjectSection::data_range(&section, symbol.address(), symbol.size()).unwrap().unwrap();
    // A call with a relative address, on the only architecture that these tests are for.
    (5..=code.len()).filter(|&end| code[end - 5] == 0xe8).map(|end| symbol.address() + end as u64).collect()
}

fn address(program: &Path, function: &str) -> u64 {
    let bytes = fs::read(program).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    file.symbols().find(|symbol| symbol.name() == Ok(function)).unwrap().address()
}

fn build_id(program: &Path) -> Option<String> {
    let bytes = fs::read(program).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let id = file.build_id().unwrap()?;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Makes the archive of one process with these paths: kind, address in a library, parent.
fn archive(directory: &Path, library: &Path, nodes: &[(u32, u64, u32)]) -> (Definitions, Vec<String>) {
    archive_of(directory, library, nodes, false)
}

/// As [`archive`]; the file is the program of the process, or a library.
fn archive_of(
    directory: &Path,
    program: &Path,
    nodes: &[(u32, u64, u32)],
    is_program: bool,
) -> (Definitions, Vec<String>) {
    let experiment = directory.join("run");
    let mut rank = match is_program {
        true => Rank::of(&experiment, 0, 1, program.to_str().unwrap()),
        false => Rank::new(&experiment, 0, 1),
    };
    rank.write(JournalRecord::Module(Module {
        begin: BASE,
        end: BASE + 0x1000_0000,
        bias: BASE,
        build_id: build_id(program),
        path: program.to_str().unwrap().into(),
    }));
    let nodes: Vec<_> = nodes
        .iter()
        .map(|&(kind, target, parent)| {
            (kind, if kind == MPI_FUNCTION { target } else { BASE + target }, parent)
        })
        .collect();
    rank.paths(0, &nodes);
    rank.record(0, &[]);
    rank.write(JournalRecord::End { status: 0 });
    let notices = finished(&experiment).notices;
    check(&experiment);
    (Archive::open(&experiment).unwrap().definitions().unwrap(), notices)
}

/// Returns name, file and line of each context from the outermost to the last.
fn path(definitions: &Definitions) -> Vec<(String, Option<(String, u32)>)> {
    let mut path = Vec::new();
    let mut at = definitions.calling_contexts.len().checked_sub(1);
    while let Some(node) = at {
        let context = &definitions.calling_contexts[node];
        let source =
            context.source.clone().map(|(file, line)| (file.rsplit('/').next().unwrap().to_string(), line));
        path.push((definitions.regions[context.region].name.clone(), source));
        at = context.parent;
    }
    path.reverse();
    path
}

const C: &str = "\
__attribute__((noinline)) int other(int x) { __asm__ volatile(\"\" : \"+r\"(x)); return x; }
static inline __attribute__((always_inline)) int inner(int x) {
    return other(x) + 1;
}
static inline __attribute__((always_inline)) int middle(int x) {
    return inner(x) * 2;
}
__attribute__((noinline)) int outer(int x) {
    x += 3;
    return middle(x) - 1;
}
int main(int argc, char **argv) {
    (void)argv;
    return outer(argc);
}
";

#[test]
#[cfg(target_arch = "x86_64")]
fn inlined_functions_are_contexts_of_their_own() {
    let directory = fresh("inlined");
    let Some(program) = build(&directory, "cc", &["-g", "-O2"], "a.c", C) else { return };
    let call = returns(&program, "outer")[0];
    let nodes = [(FRAME, call, NO_PARENT), (MPI_FUNCTION, mpi("MPI_Send"), 0)];
    let (definitions, notices) = archive(&directory, &program, &nodes);
    assert_eq!(notices, [""; 0]);
    let at = |line| Some(("a.c".to_string(), line));
    let expected = [("outer", at(10)), ("middle", at(6)), ("inner", at(3)), ("MPI_Send", None)];
    assert_eq!(path(&definitions), expected.map(|(name, line)| (name.to_string(), line)));
    let lines: Vec<_> =
        definitions.regions.iter().map(|region| (region.name.as_str(), region.begin_line)).collect();
    assert_eq!(lines, [("outer", 8), ("middle", 5), ("inner", 2), ("MPI_Send", 0), ("app", 0)]);
    // The file of these functions is not the program of the process.
    let libraries: Vec<_> = definitions.regions.iter().map(|region| region.description.as_str()).collect();
    assert_eq!(libraries, ["program", "program", "program", "", ""]);
    assert!(definitions.regions[0].source_file.ends_with("/inlined/a.c"));
    assert_eq!(definitions.regions[0].paradigm, Paradigm::SAMPLING);
}

#[test]
fn instrumented_functions_have_the_paradigm_of_the_compiler() {
    let directory = fresh("instrumented");
    let Some(program) = build(&directory, "cc", &["-g", "-O2"], "a.c", C) else { return };
    let outer = address(&program, "outer");
    let (definitions, _) = archive(&directory, &program, &[(FUNCTION, outer, NO_PARENT)]);
    let region = &definitions.regions[0];
    assert_eq!((region.name.as_str(), region.paradigm, region.begin_line), ("outer", Paradigm::COMPILER, 8));
    assert_eq!(definitions.calling_contexts[0].source, None);
}

/// Removes symbols and debug information of a file; returns whether `strip` is there.
fn is_stripped(program: &Path, arguments: &[&str]) -> bool {
    let stripped = Command::new("strip").args(arguments).arg(program).status();
    let is_done = stripped.is_ok_and(|status| status.success());
    if !is_done {
        skip(Need::Compiler, "names without symbols: there is no strip");
    }
    is_done
}

/// Returns the notices about a file without debug information.
fn without_lines(notices: &[String], program: &Path) -> Vec<String> {
    let begin = format!("{} has no debug information: ", program.display());
    let of_file = notices.iter().filter_map(|notice| notice.strip_prefix(&begin));
    of_file.map(|notice| notice.split(';').next().unwrap().to_string()).collect()
}

#[test]
#[cfg(target_arch = "x86_64")]
fn without_debug_information_symbols_give_names_and_calls_are_distinguished_by_return_address() {
    let directory = fresh("symbols_only");
    let Some(program) = build(&directory, "cc", &["-O2"], "a.c", C) else { return };
    let call = returns(&program, "outer")[0];
    let main = address(&program, "main");
    // Two calls from main, as far as is known; and samples at two addresses, which are one path.
    let nodes = [
        (FRAME, main + 1, NO_PARENT),
        (FRAME, main + 2, NO_PARENT),
        (SAMPLE, call, 0),
        (SAMPLE, call - 1, 0),
        (FRAME, call, 0),
        (MPI_FUNCTION, mpi("MPI_Send"), 4),
    ];
    let (definitions, notices) = archive(&directory, &program, &nodes);
    let at = |address: u64| Some((format!("program+{address:#x}"), 0));
    let expected = [("main", at(main + 1)), ("outer", at(call)), ("MPI_Send", None)];
    assert_eq!(path(&definitions), expected.map(|(name, site)| (name.to_string(), site)));
    assert_eq!(definitions.calling_contexts.len(), 5);
    assert_eq!(without_lines(&notices, &program), ["calls have no lines"]);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn without_symbols_functions_are_named_by_where_they_begin() {
    let directory = fresh("stripped");
    let Some(program) = build(&directory, "cc", &["-O2"], "a.c", C) else { return };
    let (start, main, outer) =
        (address(&program, "_start"), address(&program, "main"), address(&program, "outer"));
    let call = returns(&program, "outer")[0];
    if !is_stripped(&program, &[]) {
        return;
    }
    let nodes = [
        (FRAME, start + 5, NO_PARENT),
        (FRAME, main + 3, 0),
        (FRAME, call, 1),
        (MPI_FUNCTION, mpi("MPI_Send"), 2),
        (SAMPLE, outer + 1, 1),
        (FUNCTION, outer, 1),
    ];
    let (definitions, notices) = archive_of(&directory, &program, &nodes, true);
    let at = |address: u64| format!("program+{address:#x}");
    let contexts: Vec<_> = definitions
        .calling_contexts
        .iter()
        .map(|context| {
            let region = &definitions.regions[context.region];
            assert_eq!((&region.canonical_name, region.description.as_str()), (&region.name, ""));
            (region.name.clone(), context.source.clone().map(|(file, line)| format!("{file}:{line}")))
        })
        .collect();
    let expected = [
        (at(main), Some(format!("{}:0", at(main + 3)))),
        (at(outer), Some(format!("{}:0", at(call)))),
        ("MPI_Send".into(), None),
        (at(outer), None),
        (at(outer), None),
    ];
    assert_eq!(contexts, expected);
    let said = ["functions are named by their addresses and calls have no lines"];
    assert_eq!(without_lines(&notices, &program), said);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn without_an_unwind_table_calls_are_named_by_return_address() {
    let directory = fresh("no_table");
    let options = ["-O2", "-fno-asynchronous-unwind-tables", "-fno-exceptions"];
    let Some(program) = build(&directory, "cc", &options, "a.c", C) else { return };
    let call = returns(&program, "outer")[0];
    if !is_stripped(&program, &[]) {
        return;
    }
    let (definitions, _) = archive(&directory, &program, &[(FRAME, call, NO_PARENT)]);
    assert_eq!(path(&definitions)[0].0, format!("program+{call:#x}"));
    fs::remove_dir_all(directory.join("run")).unwrap();
    let (definitions, _) = archive(&directory, &program, &[(SAMPLE, call, NO_PARENT)]);
    assert_eq!(path(&definitions), [("[program]".to_string(), None)], "any instruction is no function");
}

const LIBRARY: &str = "\
__attribute__((noinline)) static int hidden(int x) { __asm__ volatile(\"\" : \"+r\"(x)); return x; }
int shown(int x) { return hidden(x) + 1; }
";

#[test]
#[cfg(target_arch = "x86_64")]
fn functions_of_a_stripped_library_are_named_by_its_dynamic_symbols_or_by_where_they_begin() {
    let directory = fresh("library");
    let options = ["-O2", "-shared", "-fPIC"];
    let Some(library) = build(&directory, "cc", &options, "a.c", LIBRARY) else { return };
    let hidden = address(&library, "hidden");
    let call = returns(&library, "shown")[0];
    let nodes = [(FRAME, call, NO_PARENT), (SAMPLE, hidden, 0)];
    let names = |definitions: &Definitions| {
        let region = |region: &model::Region| (region.name.clone(), region.description.clone());
        definitions.regions.iter().map(region).take(2).collect::<Vec<_>>()
    };
    let expected =
        |hidden: &str| [("shown", "program"), (hidden, "program")].map(|(a, b)| (a.into(), b.into()));
    let (definitions, notices) = archive(&directory, &library, &nodes);
    assert_eq!(names(&definitions), expected("hidden"));
    assert_eq!(without_lines(&notices, &library), ["calls have no lines"]);
    if !is_stripped(&library, &["--strip-unneeded"]) {
        return;
    }
    fs::remove_dir_all(directory.join("run")).unwrap();
    let (definitions, notices) = archive(&directory, &library, &nodes);
    assert_eq!(names(&definitions), expected(&format!("program+{hidden:#x}")));
    let sites: Vec<_> = definitions.calling_contexts.iter().map(|context| context.source.clone()).collect();
    assert_eq!(sites, [Some((format!("program+{call:#x}"), 0)), None]);
    let said = ["functions are named by their addresses and calls have no lines"];
    assert_eq!(without_lines(&notices, &library), said);
}

#[test]
fn separate_debug_information_is_found() {
    let directory = fresh("separate");
    let Some(program) = build(&directory, "cc", &["-g", "-O2"], "a.c", C) else { return };
    let outer = address(&program, "outer");
    let objcopy = |arguments: &[&str]| {
        let done = Command::new("objcopy").args(arguments).current_dir(&directory).status();
        done.is_ok_and(|status| status.success())
    };
    let is_split = objcopy(&["--only-keep-debug", "program", "program.debug"])
        && objcopy(&["--strip-all", "program"])
        && objcopy(&["--add-gnu-debuglink=program.debug", "program"]);
    if !is_split {
        skip(Need::Compiler, "separate debug information: there is no objcopy");
        return;
    }
    let (definitions, _) = archive(&directory, &program, &[(SAMPLE, outer, NO_PARENT)]);
    assert_eq!(path(&definitions)[0].0, "outer");
    assert!(path(&definitions)[0].1.is_some());
}

#[test]
fn program_that_was_built_again_has_no_names() {
    let directory = fresh("built_again");
    let Some(program) = build(&directory, "cc", &["-g", "-O2", "-Wl,--build-id"], "a.c", C) else { return };
    let outer = address(&program, "outer");
    let experiment = directory.join("run");
    let mut rank = Rank::new(&experiment, 0, 1);
    rank.write(JournalRecord::Module(Module {
        begin: BASE,
        end: BASE + 0x1000_0000,
        bias: BASE,
        build_id: Some("0123456789abcdef".into()),
        path: program.to_str().unwrap().into(),
    }));
    rank.paths(0, &[(SAMPLE, BASE + outer, NO_PARENT)]);
    let summary = finished(&experiment);
    assert!(summary.notices[0].contains("the file has changed since"), "{:?}", summary.notices);
    let definitions = Archive::open(&experiment).unwrap().definitions().unwrap();
    assert_eq!(path(&definitions), [("[program]".to_string(), None)]);
}

#[test]
fn names_of_cpp_are_those_of_the_source() {
    let directory = fresh("cpp");
    let source = "namespace halo { template <class T> __attribute__((noinline)) T twice(T x) { return x + x; } }\n\
                  int main(int n, char **) { return halo::twice<int>(n); }\n";
    let Some(program) = build(&directory, "c++", &["-g", "-O1"], "a.cpp", source) else { return };
    let twice = address(&program, "_ZN4halo5twiceIiEET_S1_");
    let (definitions, _) = archive(&directory, &program, &[(SAMPLE, twice, NO_PARENT)]);
    let region = &definitions.regions[0];
    assert_eq!(
        (region.name.as_str(), region.canonical_name.as_str()),
        ("halo::twice<int>(int)", "_ZN4halo5twiceIiEET_S1_")
    );
    assert_eq!(region.begin_line, 1);
}

#[test]
fn names_of_fortran_are_those_of_the_source() {
    let directory = fresh("fortran");
    let source = "module halo\ncontains\n  subroutine exchange(n)\n    integer :: n\n    n = n + 1\n    print *, n\n  \
                  end subroutine\nend module\nsubroutine plain(n)\n  integer :: n\n  n = n + 1\n  print *, n\n\
                  end subroutine\nprogram jacobi\n  use halo\n  integer :: n\n  n = 1\n  call exchange(n)\n  \
                  call plain(n)\nend program\n";
    let Some(program) = build(&directory, "gfortran", &["-g", "-O0"], "a.f90", source) else { return };
    let nodes = ["MAIN__", "__halo_MOD_exchange", "plain_"].map(|name| address(&program, name));
    let nodes: Vec<_> =
        (0..).zip(nodes).map(|(at, node): (u32, u64)| (SAMPLE, node, at.wrapping_sub(1))).collect();
    let (definitions, _) = archive(&directory, &program, &nodes);
    let regions: Vec<_> =
        definitions.regions.iter().map(|region| (region.name.as_str(), region.begin_line)).collect();
    assert_eq!(regions, [("jacobi", 14), ("halo::exchange", 3), ("plain", 9), ("app", 0)]);
}

#[inline(never)]
fn rust_function_with_a_long_name(x: u64) -> u64 {
    std::hint::black_box(x) + 1
}

#[test]
fn names_of_rust_are_those_of_the_source() {
    let directory = fresh("rust");
    assert_eq!(rust_function_with_a_long_name(1), 2);
    let program = std::env::current_exe().unwrap();
    let bytes = fs::read(&program).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let wanted = |name: &str| name.contains("rust_function_with_a_long_name");
    let symbol = file.symbols().find(|symbol| symbol.name().is_ok_and(wanted)).unwrap();
    let (definitions, _) = archive(&directory, &program, &[(SAMPLE, symbol.address(), NO_PARENT)]);
    let region = &definitions.regions[0];
    assert_eq!(region.name, "integration::symbolisation::rust_function_with_a_long_name");
    assert!(region.source_file.ends_with("symbolisation.rs") && region.begin_line > 0, "{region:?}");
}

#[test]
fn calls_of_the_c_library_before_main_are_left_out() {
    let directory = fresh("before_main");
    let Some(program) = build(&directory, "cc", &["-g", "-O2"], "a.c", C) else { return };
    let (start, main) = (address(&program, "_start"), address(&program, "main"));
    let nodes = [(FRAME, start + 1, NO_PARENT), (FRAME, main + 1, 0), (MPI_FUNCTION, mpi("MPI_Init"), 1)];
    let (definitions, _) = archive(&directory, &program, &nodes);
    let names: Vec<_> = path(&definitions).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["main", "MPI_Init"]);
}
