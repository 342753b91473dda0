//! The table `calls`: call paths by caller and function, with the hash that names them in links.

use cubex::CnodeId;
use details::{Column, Table, Values as Rows};

use super::{Blocks, Source, position};
use crate::error::Result;
use crate::paths;

/// Adds the table.
pub(super) fn add(source: &Source<'_>, blocks: &mut Blocks) -> Result<()> {
    let cube = source.values.cube();
    let rows = |number: &dyn Fn(usize) -> u32| Rows::U32((0..cube.cnodes.len()).map(number).collect());
    let parent = |at: usize| position(cube.cnodes[at].parent.map(|parent| parent.0));
    let region = |at: usize| position(Some(cube.cnodes[at].region.0));
    let line = |at: usize| cube.cnodes[at].line.unwrap_or(super::NONE);
    let hash = |at: usize| paths::hash(cube, CnodeId(at));
    let columns = vec![
        Column::new("parent", None, rows(&parent)).delta(),
        Column::new("region", None, rows(&region)).delta(),
        Column::new("line", None, rows(&line)),
        Column::new("hash", None, rows(&hash)).raw(),
    ];
    blocks.table(&Table { name: "calls".into(), columns })
}
