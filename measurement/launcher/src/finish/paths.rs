//! The call paths of a location, checked.

use crate::Error;
use recording::layout;
use recording::paths::{MAGIC, NO_PARENT, PathNode, PathsHeader};
use std::fs;
use std::path::Path;

/// Reads the nodes of a location; none if it has no file. The sentence reports damage, at which the nodes
/// end.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn read(directory: &Path, location: u64) -> Result<(Vec<PathNode>, Option<String>), Error> {
    let path = layout::paths(directory, location);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok((Vec::new(), None)),
        Err(cause) => return Err(Error::io(&path, "read the file", cause)),
    };
    let (nodes, problem) = parse(&bytes);
    Ok((nodes, problem.map(|(offset, message)| Error::at(&path, offset, message).to_string())))
}

/// Parses the nodes before the first damage, and returns its offset and description.
fn parse(bytes: &[u8]) -> (Vec<PathNode>, Option<(u64, String)>) {
    const NODE: usize = size_of::<PathNode>();
    let u64_at = |at: usize| bytes.get(at..)?.first_chunk().copied().map(u64::from_ne_bytes);
    let u32_at = |at: usize| bytes.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes);
    if u64_at(0) != Some(MAGIC) {
        return (Vec::new(), Some((0, "not a file of call paths".into())));
    }
    let claimed = u64_at(8).unwrap_or(0);
    let room = (bytes.len().saturating_sub(size_of::<PathsHeader>()) / NODE) as u64;
    let mut nodes = Vec::with_capacity(claimed.min(room) as usize);
    for number in 0..claimed.min(room) {
        let at = size_of::<PathsHeader>() + number as usize * NODE;
        let (Some(target), Some(parent), Some(kind)) = (u64_at(at), u32_at(at + 8), u32_at(at + 12)) else {
            break;
        };
        if parent != NO_PARENT && u64::from(parent) >= number {
            let message = format!("path {number} has parent {parent}, expected a smaller number");
            return (nodes, Some((at as u64 + 8, message)));
        }
        nodes.push(PathNode { target, parent, kind });
    }
    if claimed > room {
        let message = format!("{claimed} paths are announced, the file holds {room}");
        return (nodes, Some((8, message)));
    }
    (nodes, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(count: u64, parents: &[u32]) -> Vec<u8> {
        let mut bytes = [MAGIC.to_ne_bytes(), count.to_ne_bytes()].concat();
        for &parent in parents {
            bytes.extend(7u64.to_ne_bytes());
            bytes.extend(parent.to_ne_bytes());
            bytes.extend(1u32.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn nodes_behind_the_count_are_not_there() {
        let (nodes, problem) = parse(&file(2, &[NO_PARENT, 0, 9]));
        assert_eq!((nodes.len(), problem), (2, None));
        assert_eq!(nodes[1], PathNode { target: 7, parent: 0, kind: 1 });
    }

    #[test]
    fn damage_ends_the_nodes_and_is_named() {
        let (nodes, problem) = parse(&file(3, &[NO_PARENT, 1, 0]));
        assert_eq!((nodes.len(), problem.unwrap().0), (1, 40));
        let (nodes, problem) = parse(&file(u64::MAX, &[NO_PARENT]));
        assert_eq!(nodes.len(), 1);
        assert!(problem.unwrap().1.contains("the file holds 1"));
        assert!(parse(&[]).1.is_some());
        assert!(parse(&file(1, &[])[..12]).0.is_empty());
    }
}
