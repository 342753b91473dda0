//! The page that is served: that of `html`, which asks for windows of events where the trace is there.

use crate::error::Result;
use crate::opened::Opened;
use crate::page::{self, Options};

/// Bytes that details may make the page grow to, as with `html`.
const MAX_SIZE: usize = 12_000_000;

/// A page, and its content security policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Page {
    pub(super) bytes: Vec<u8>,
    pub(super) policy: String,
}

/// The page of a report; with its trace there are windows to ask for.
///
/// # Errors
/// If the report cannot be read.
pub(super) fn page(opened: &Opened, has_trace: bool) -> Result<Page> {
    let name = opened.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let options = Options { title: name.clone(), file: name, max_size: MAX_SIZE, has_server: has_trace };
    let mut bytes = Vec::new();
    // The page itself says what it could not show.
    page::write(opened, &options, &mut bytes)?;
    Ok(Page { bytes, policy: options.policy() })
}
