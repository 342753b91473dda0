//! Generates the wrappers from the table of MPI functions: a line of `wrappers!` for each.

use std::fmt::Write;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
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
            "std::arch::global_asm!(\n    \"{section}\",\n    \".balign 8\",\n    \"replay_functions:\",\n{addresses}    \".previous\",\n);\n"
        ),
    );
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
