//! Generates a function for each name of the table of file functions.

use std::fmt::Write;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut text = String::new();
    for function in recording::file_functions::FUNCTIONS {
        let name = function.name;
        writeln!(text, "jump!({name:?}, \"replay_io_{name}\");").expect("writing to a string");
    }
    let directory = PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo"));
    std::fs::write(directory.join("jumps.rs"), text).expect("the build directory can be written");
}
