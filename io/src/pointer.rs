//! Where pointers are (io.md 3.2).

use crate::numbers::moved;

/// A pointer behind so many bytes.
pub(crate) fn advanced(pointer: Option<u64>, bytes: Option<u64>, etype: Option<u64>) -> Option<u64> {
    moved(pointer?, (bytes?.checked_div(etype?)?).into())
}
