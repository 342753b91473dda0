//! The program: regions (functions, loops, MPI calls) and cnodes (call paths, the nodes of the call tree).

use crate::{Attribute, CnodeId, RegionId};

/// A region: source code that is entered and left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Display name.
    pub name: String,
    /// Mangled name, for linkers; same as `name` if there is no other.
    pub mangled_name: String,
    /// Source file, empty if unknown (`mod`).
    pub module: String,
    /// First line, if known.
    pub begin_line: Option<u32>,
    /// Last line, if known.
    pub end_line: Option<u32>,
    /// Programming model: `mpi`, `compiler`, `openmp`, `user`, ...; by default `unknown`.
    pub paradigm: String,
    /// Role: `function`, `barrier`, `point2point`, `one2all`, ...; by default `unknown`.
    pub role: String,
    /// URL of the documentation, as for metrics.
    pub url: String,
    /// Description; older tools classify regions by it (`MPI`, `OMP`, `USR`).
    pub description: String,
    /// Further attributes.
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
    /// A region with this name and defaults otherwise.
    #[must_use]
    pub fn named(name: &str) -> Region {
        Region { name: name.to_owned(), mangled_name: name.to_owned(), ..Region::default() }
    }
}

/// A cnode, i.e. call path: a region, called from a parent call path.
///
/// Parents come first in [`Cube::cnodes`](crate::Cube::cnodes), and children of one parent are displayed in
/// list order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cnode {
    /// The caller; `None` for a root.
    pub parent: Option<CnodeId>,
    /// The called region.
    pub region: RegionId,
    /// Source file of the call site, empty if unknown (`mod`).
    pub module: String,
    /// Line of the call site, if known.
    pub line: Option<u32>,
    /// Parameters that distinguish this call path from others with the same parent and region.
    pub parameters: Vec<Parameter>,
    /// Further attributes. The reference library attaches them to the wrong call path unless this is a
    /// leaf, so the writer refuses them elsewhere.
    pub attributes: Vec<Attribute>,
}

/// Parameter of a call path: a key and a value that is part of its identity.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// A number.
    Numeric {
        /// Name of the parameter.
        key: String,
        /// Its value.
        value: f64,
    },
    /// A text.
    Text {
        /// Name of the parameter.
        key: String,
        /// Its value.
        value: String,
    },
}
