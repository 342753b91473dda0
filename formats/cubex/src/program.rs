//! The program: regions (functions, loops, MPI calls) and cnodes (call paths, the nodes of the call tree).

use crate::{Attribute, CnodeId, RegionId};

/// A piece of source code that can be entered and left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The name shown to people.
    pub name: String,
    /// The linker's name; same as `name` if there is no other.
    pub mangled_name: String,
    /// Source file, empty if unknown (`mod`).
    pub module: String,
    /// First line, if known.
    pub begin_line: Option<u32>,
    /// Last line, if known.
    pub end_line: Option<u32>,
    /// Where the region comes from: `mpi`, `compiler`, `openmp`, `user`, ...; by default `unknown`.
    pub paradigm: String,
    /// What it does: `function`, `barrier`, `point2point`, `one2all`, ...; by default `unknown`.
    pub role: String,
    /// Documentation, as for metrics.
    pub url: String,
    /// Description; older tools classify regions by it (`MPI`, `OMP`, `USR`).
    pub description: String,
    /// Further keys and values.
    pub attributes: Vec<Attribute>,
}

impl Default for Region {
    fn default() -> Region {
        Region {
            name: String::new(),
            mangled_name: String::new(),
            module: String::new(),
            begin_line: None,
            end_line: None,
            paradigm: "unknown".into(),
            role: "unknown".into(),
            url: String::new(),
            description: String::new(),
            attributes: Vec::new(),
        }
    }
}

impl Region {
    /// A region of which only the name is known.
    #[must_use]
    pub fn named(name: &str) -> Region {
        Region { name: name.to_owned(), mangled_name: name.to_owned(), ..Region::default() }
    }
}

/// A call path: a region, called from a parent call path.
///
/// Parents come first in [`Cube::cnodes`](crate::Cube::cnodes), and children of one parent are shown in the
/// order in which they stand there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cnode {
    /// The call path this one was called from; `None` for a root.
    pub parent: Option<CnodeId>,
    /// The region that is called.
    pub region: RegionId,
    /// Source file of the call site, empty if unknown (`mod`).
    pub module: String,
    /// Line of the call site, if known.
    pub line: Option<u32>,
    /// What distinguishes this call path from others with the same region, besides the parent.
    pub parameters: Vec<Parameter>,
    /// Further keys and values. The reference library attaches them to the wrong call path unless this is a
    /// leaf, so the writer refuses them elsewhere.
    pub attributes: Vec<Attribute>,
}

/// A key and value that is part of the identity of a call path.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// A number.
    Numeric {
        /// What it is.
        key: String,
        /// How much it is.
        value: f64,
    },
    /// A text.
    Text {
        /// What it is.
        key: String,
        /// What it says.
        value: String,
    },
}
