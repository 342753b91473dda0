//! Members that are JSON of a schema, in one line.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// Reads a member with this name, which says its schema.
///
/// # Errors
/// If it is no JSON of this form, or of another schema than the expected one.
pub(crate) fn parse<T: DeserializeOwned>(
    name: &str,
    bytes: &[u8],
    expected: &str,
    schema: impl Fn(&T) -> &str,
) -> Result<T> {
    let read: T = serde_json::from_slice(bytes).map_err(|error| Error::new(format!("{name}: {error}")))?;
    match schema(&read) {
        found if found != expected => Err(Error::new(format!(
            "{name}: schema {found:?}, expected {expected:?}: made by another version of replay-analyze"
        ))),
        _ => Ok(read),
    }
}

/// The bytes of a member.
pub(crate) fn to_bytes(member: &impl Serialize) -> Vec<u8> {
    // It cannot fail: all keys are strings.
    let mut text = serde_json::to_vec(member).unwrap_or_default();
    text.push(b'\n');
    text
}
