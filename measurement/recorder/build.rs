//! Generates the wrappers from the table of MPI functions: a line of `wrapper!` for each. For a recorder that
//! is linked into programs, also the parts that must be in object files of their own.

use recording::functions::MpiFunction;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Whether OpenMP can be recorded: there is code for the processor, and the recorder is preloaded.
    println!("cargo::rustc-check-cfg=cfg(openmp)");
    let is_known = matches!(std::env::var("CARGO_CFG_TARGET_ARCH").as_deref(), Ok("x86_64" | "aarch64"));
    if is_known && std::env::var_os("CARGO_FEATURE_STATIC").is_none() {
        println!("cargo::rustc-cfg=openmp");
    }
    // Likewise functions of the C library, which only a library in front of a preloaded recorder passes on.
    println!("cargo::rustc-check-cfg=cfg(posix)");
    if is_known && std::env::var_os("CARGO_FEATURE_STATIC").is_none() {
        println!("cargo::rustc-cfg=posix");
        compile_variadic_functions();
    }
    let functions = recording::functions::all();
    let mut text = String::new();
    let mut names = String::new();
    let mut addresses = String::new();
    for (number, function) in functions.iter().enumerate() {
        let name = function.name;
        let parameters: Vec<String> = function
            .parameters
            .iter()
            .enumerate()
            .map(|(at, (_, class))| format!("a{at}: {}", class_name(*class)))
            .collect();
        let (kind, hook) = match function.hook {
            None => ("plain", "none".to_string()),
            Some(hook) if hook.starts_with("start::") => ("starting", format!("crate::{hook}")),
            Some(hook) => ("hooked", format!("crate::hooks::{hook}")),
        };
        let is_of_files = name.starts_with("MPI_File_") && kind != "starting";
        let kind = if is_of_files { format!("{kind}_file") } else { kind.to_string() };
        let wide = name.ends_with("_c");
        let export = if function.is_optional { "optional" } else { "always" };
        writeln!(
            text,
            "wrapper!({export} {kind} {number}, {name:?}, \"P{name}\", {wide}, ({}), {hook});",
            parameters.join(", ")
        )
        .expect("writing to a string");
        if function.is_optional {
            writeln!(addresses, "    \".weak P{name}\",").expect("writing to a string");
        }
        writeln!(addresses, "    \".quad P{name}\",").expect("writing to a string");
        writeln!(names, "    (c\"{name}\", c\"P{name}\"),").expect("writing to a string");
    }
    let count = functions.len();
    write!(text, "\n/// The number of wrapped functions.\npub(crate) const COUNT: usize = {count};\n\n/// The names of all wrapped functions, in both layers.\npub(crate) static NAMES: [(&CStr, &CStr); COUNT] = [\n{names}];\n")
        .expect("writing to a string");
    let finalize =
        functions.iter().position(|function| function.name == "MPI_Finalize").expect("in the table");
    writeln!(text, "\n/// The number of `MPI_Finalize`.\npub(crate) const MPI_FINALIZE: u32 = {finalize};")
        .expect("writing to a string");
    let directory = PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo"));
    let write = |name: &str, text: &str| {
        std::fs::write(directory.join(name), text).expect("the build directory can be written");
    };
    write("wrappers.rs", &text);
    let section = ".section .data.rel.ro.replay_functions,\\\"aw\\\"";
    write(
        "addresses.rs",
        &format!(
            "std::arch::global_asm!(\n    \"{section}\",\n    \".balign 8\",\n    \".globl replay_functions\",\n    \".hidden replay_functions\",\n    \"replay_functions:\",\n{addresses}    \".previous\",\n);\n"
        ),
    );
    if std::env::var_os("CARGO_FEATURE_STATIC").is_some() {
        let optional = functions.iter().filter(|function| function.is_optional);
        make_members(&directory.join("optional"), optional);
    }
}

/// Compiles the functions with variable arguments, which Rust cannot hand on. Exceptions and cancelled threads unwind
/// through them, and call paths lead through them.
fn compile_variadic_functions() {
    const SOURCE: &str = "src/stdio/variadic.c";
    println!("cargo::rerun-if-changed={SOURCE}");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo"));
    let object = folder.join("variadic.o");
    let source = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join(SOURCE);
    let words = ["-c", "-O2", "-fPIC", "-fexceptions", "-fasynchronous-unwind-tables", "-o"];
    let names = [&object, &source].map(|path| path.display().to_string());
    run(tool("CC", "cc"), words.map(String::from).into_iter().chain(names), &folder);
    println!("cargo::rustc-link-arg={}", object.display());
}

/// Builds a library with a member for each function that not every MPI library has: its name, which jumps to
/// the wrapper, and a reference to the `PMPI_` function. A linker takes a member if the program calls the
/// function, and then the function out of a static MPI library for the reference; weak references alone take
/// nothing.
fn make_members(folder: &Path, functions: impl Iterator<Item = &'static MpiFunction>) {
    const LIBRARY: &str = "replay_optional";
    let jump = match std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => "jmp",
        Ok("aarch64") => "b",
        other => panic!("no jump is known for {other:?}"),
    };
    // An earlier build may have used another table.
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).expect("the build directory can be written");
    let (mut sources, mut objects) = (Vec::new(), Vec::new());
    for MpiFunction { name, .. } in functions {
        let text = format!(
            "    .text\n    .globl {name}\n    .type {name}, %function\n{name}:\n    {jump} replay_{name}\n    \
             .size {name}, .-{name}\n    .section .data.rel.ro,\"aw\"\n    .balign 8\n    .quad P{name}\n    \
             .section .note.GNU-stack,\"\",%progbits\n"
        );
        std::fs::write(folder.join(format!("{name}.s")), text).expect("the build directory can be written");
        sources.push(format!("{name}.s"));
        objects.push(format!("{name}.o"));
    }
    run(tool("CC", "cc"), ["-c"].map(String::from).into_iter().chain(sources), folder);
    run(tool("AR", "ar"), ["crs".to_string(), format!("lib{LIBRARY}.a")].into_iter().chain(objects), folder);
    println!("cargo::rustc-link-search=native={}", folder.display());
    println!("cargo::rustc-link-lib=static={LIBRARY}");
}

fn tool(variable: &str, default: &str) -> OsString {
    println!("cargo::rerun-if-env-changed={variable}");
    std::env::var_os(variable).filter(|name| !name.is_empty()).unwrap_or_else(|| default.into())
}

fn run(tool: OsString, arguments: impl Iterator<Item = String>, folder: &Path) {
    let status = Command::new(&tool).args(arguments).current_dir(folder).status();
    assert!(status.is_ok_and(|status| status.success()), "{} failed", tool.display());
}

fn class_name(class: char) -> &'static str {
    match class {
        'p' => "pointer",
        'i' => "int",
        'n' => "number",
        'h' => "handle",
        other => panic!("functions.txt: class {other}"),
    }
}
