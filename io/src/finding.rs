//! What is wrong or unknown in what was recorded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Something that is wrong or unknown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The place of an operation in the file is unknown (io.md 3.2); it takes part by size and count.
    UnknownOffset,
    /// Nobody knows how many bytes an operation moved: it is left out.
    UnknownBytes,
    /// Something happens to a handle that is not open: it is left out.
    NotOpen,
    /// A handle is made that is open: the old one ends.
    OpenedAgain,
    /// An operation ends that has not begun: it is left out.
    NeverBegun,
    /// An operation begins and does not end, or is cancelled: it is left out.
    NeverComplete,
    /// An operation ends before it begins: it takes no time.
    EndsBeforeBegin,
    /// An operation begins before the one before it.
    OutOfOrder,
    /// The etype of a view is unknown or has no bytes.
    UnknownEtype,
    /// The text of a view's type cannot be read, or has another size than was recorded.
    BadViewType,
    /// A view has more pieces than are looked at.
    TooManyPieces,
    /// It is unknown which bytes of a file need not have been read, as the place of one of its operations is unknown.
    UnknownReads,
    /// A rank has more transfers on a file than are kept: what is read again, contended or small on it is unknown, and the picture.
    TooManyTransfers,
}

impl Finding {
    /// What it is, in words.
    pub fn text(self) -> &'static str {
        match self {
            Finding::UnknownOffset => "operations whose place in the file is unknown",
            Finding::UnknownBytes => "operations of unknown size, left out",
            Finding::NotOpen => "records of handles that are not open, left out",
            Finding::OpenedAgain => "handles that are made again while they are open",
            Finding::NeverBegun => "operations that end without a begin, left out",
            Finding::NeverComplete => "operations that begin and never complete, left out",
            Finding::EndsBeforeBegin => "operations that end before they begin",
            Finding::OutOfOrder => "operations that begin before the one before them",
            Finding::UnknownEtype => "views of unknown etype",
            Finding::BadViewType => "views whose type cannot be read",
            Finding::UnknownReads => "files of which it is unknown which bytes need not be read",
            Finding::TooManyTransfers => {
                "files of a rank with more operations than are compared: what is inefficient in them is unknown"
            }
            Finding::TooManyPieces => "views with more pieces than are looked at",
        }
    }
}

/// How often something is wrong.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Findings(pub BTreeMap<Finding, u64>);

impl Findings {
    pub(crate) fn add(&mut self, finding: Finding) {
        *self.0.entry(finding).or_default() += 1;
    }

    /// Adds those of others.
    pub fn merge(&mut self, other: &Findings) {
        for (finding, count) in &other.0 {
            let all = self.0.entry(*finding).or_default();
            *all = all.saturating_add(*count);
        }
    }
}
