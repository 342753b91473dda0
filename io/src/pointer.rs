//! Where pointers are (io.md 3.2).

use crate::numbers::moved;

/// A pointer behind so many bytes.
pub(crate) fn advanced(pointer: Option<u64>, bytes: Option<u64>, etype: Option<u64>) -> Option<u64> {
    moved(pointer?, (bytes?.checked_div(etype?)?).into())
}

/// Where the ordered transfers of a handle begin, in etypes, by transfer and member of the communicator: behind those of the members
/// before, and behind all transfers before (io.md 3.2). `sizes` has the bytes of each transfer and member. Offsets that become too
/// large are unknown, and those behind them.
pub fn ordered_offsets(start: u64, etype: u64, sizes: &[Vec<u64>]) -> Vec<Vec<Option<u64>>> {
    let mut pointer = Some(start);
    let mut next = |bytes: u64| {
        let begin = pointer;
        pointer = advanced(begin, Some(bytes), Some(etype));
        begin
    };
    sizes.iter().map(|members| members.iter().map(|bytes| next(*bytes)).collect()).collect()
}
