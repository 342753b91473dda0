//! Files by number, and their families.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::file_families;

/// Names of files, and of their families (io.md 4.4), by number.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Files {
    names: Vec<String>,
    families: Vec<String>,
}

impl Files {
    /// Files with these names, of which each is used by these ranks. Files with equal names, such as those of two nodes, are of one
    /// family.
    pub fn new(names: Vec<String>, users: &BTreeMap<u32, BTreeSet<u32>>) -> Files {
        let mut by_name: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for (number, name) in (0..).zip(&names) {
            if let Some(ranks) = users.get(&number) {
                by_name.entry(name).or_default().extend(ranks);
            }
        }
        let families = file_families(&by_name);
        let family = |name: &String| families.get(name.as_str()).unwrap_or(name).clone();
        Files { families: names.iter().map(family).collect(), names }
    }

    /// Name of a file; nothing if there is no such file.
    pub fn name(&self, file: u32) -> &str {
        Files::get(&self.names, file)
    }

    /// Name of the family of a file; nothing if there is no such file.
    pub fn family(&self, file: u32) -> &str {
        Files::get(&self.families, file)
    }

    fn get(names: &[String], file: u32) -> &str {
        usize::try_from(file).ok().and_then(|at| names.get(at)).map_or("", String::as_str)
    }
}
