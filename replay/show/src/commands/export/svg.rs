//! `svg`: graphs of the structure as a picture: that with most time, and others below it as long as they fit.

use std::io::Write;

use super::Remarks;
use super::dot::others;
use super::source::Source;
use crate::error::{Error, Result};
use crate::graphs::counted;
use crate::graphs::svg::{BOXES, Picture, draw};

/// Draws graphs.
///
/// # Errors
/// If the report has none, the first one is too large, or the output cannot be written.
pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> Result<Remarks> {
    let (structure, names) = source.structure()?;
    let mut pictures: Vec<Picture<'_>> = Vec::new();
    let (mut boxes, mut left_out) = (0, 0);
    for (group, name) in structure.groups.iter().zip(names) {
        let picture = Picture::new(&structure, group, name);
        if pictures.is_empty() && picture.is_too_large() {
            let [boxes, arrows] = picture.shown.size();
            return Err(Error::new(format!(
                "the graph has {boxes} boxes and {arrows} arrows, more than a picture has room for: \
                 export dot writes it for Graphviz"
            )));
        }
        boxes += picture.boxes();
        if boxes <= BOXES && !picture.is_too_large() {
            pictures.push(picture);
        } else {
            boxes -= picture.boxes();
            left_out += 1;
        }
    }
    out.write_all(draw(&pictures).as_bytes())?;
    let mut remarks = others(&structure);
    if left_out > 0 {
        remarks.push(format!(
            "without {}, for which the picture has no room: export dot writes all",
            counted(left_out, "other graph")
        ));
    }
    Ok(remarks)
}
