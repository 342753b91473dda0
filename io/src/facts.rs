//! What is known of a file (io.md 4.5).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::access::{Access, Kind, Layer};
use crate::calls::Calls;
use crate::operation::Operation;
use crate::sizes::{Bins, bin};

/// What was done to a file; ranks add theirs up.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct FileFacts {
    /// How often it was opened.
    pub opens: u64,
    /// Members of the largest communicator that opened it.
    pub members: Option<u64>,
    /// The largest size in bytes that somebody knew.
    pub size: Option<u64>,
    /// Bytes of the stripes of the file system, which are locked as a whole, if the trace says so.
    #[serde(default)]
    pub stripe: Option<u64>,
    /// Bytes of the blocks of the file system, if the trace says so.
    #[serde(default)]
    pub block: Option<u64>,
    /// How often it was flushed.
    pub flushes: u64,
    /// Hints that it was opened with, `key=value;…`.
    pub hints: BTreeSet<String>,
    /// Views that were set: bytes of the etype, and the filetype as text, if they are known.
    pub views: BTreeSet<(Option<u64>, Option<String>)>,
    /// Operations by kind of access, in their order.
    pub accesses: Vec<AccessTotals>,
    /// What calls do besides, and how long that takes.
    pub calls: Calls,
}

/// The operations of one kind of access.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AccessTotals {
    /// The kind.
    pub access: Access,
    /// Number of operations.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// How many operations have how many bytes.
    pub sizes: Bins,
}

impl FileFacts {
    /// Adds those of others.
    pub fn merge(&mut self, other: &FileFacts) {
        self.opens = self.opens.saturating_add(other.opens);
        self.flushes = self.flushes.saturating_add(other.flushes);
        (self.members, self.size) = (self.members.max(other.members), self.size.max(other.size));
        (self.stripe, self.block) = (self.stripe.max(other.stripe), self.block.max(other.block));
        self.hints.extend(other.hints.iter().cloned());
        self.views.extend(other.views.iter().cloned());
        self.calls.merge(&other.calls);
        for their in &other.accesses {
            let own = self.totals(their.access);
            own.operations = own.operations.saturating_add(their.operations);
            own.bytes = own.bytes.saturating_add(their.bytes);
            own.sizes.iter_mut().zip(their.sizes).for_each(|(own, their)| *own = own.saturating_add(their));
        }
    }

    /// Bytes of the blocks in which the file system locks it: of stripes, or else `default` (io.md 5.2).
    pub fn lock_block(&self, default: u64) -> u64 {
        self.stripes().unwrap_or(default).max(1)
    }

    /// Bytes of which requests should begin at multiples: of stripes, or of blocks, or else `default` (io.md 5.2).
    pub fn alignment(&self, default: u64) -> u64 {
        self.stripes().or(self.block.filter(|bytes| *bytes > 0)).unwrap_or(default).max(1)
    }

    /// Bytes of stripes, as the trace says, or else the hint `striping_unit` of those that opened it, the largest if they differ.
    fn stripes(&self) -> Option<u64> {
        let unit =
            |hints: &String| hints.split(';').find_map(|it| it.strip_prefix("striping_unit=")?.parse().ok());
        let hinted = || self.hints.iter().filter_map(unit).filter(|bytes| *bytes > 0).max();
        self.stripe.filter(|bytes| *bytes > 0).or_else(hinted)
    }

    pub(crate) fn add(&mut self, operation: &Operation) {
        let totals = self.totals(operation.access);
        totals.operations += 1;
        totals.bytes = totals.bytes.saturating_add(operation.size);
        totals.sizes[bin(operation.size)] += 1;
        let calls = &mut self.calls;
        calls.transfers += 1;
        calls.writes += u64::from(operation.access.kind == Kind::Write);
        let time = operation.end.saturating_sub(operation.begin);
        if operation.access.layer == Layer::Isoc {
            calls.stream_time = calls.stream_time.saturating_add(time);
        }
        if !operation.access.collective {
            calls.independent_bytes = calls.independent_bytes.saturating_add(operation.size);
            calls.independent_time = calls.independent_time.saturating_add(time);
        }
    }

    fn totals(&mut self, access: Access) -> &mut AccessTotals {
        // Most files have few kinds.
        let known = self.accesses.iter().position(|it| it.access == access);
        let at = known.unwrap_or_else(|| {
            let at = self.accesses.partition_point(|it| it.access < access);
            let new = AccessTotals { access, operations: 0, bytes: 0, sizes: Bins::default() };
            self.accesses.insert(at, new);
            at
        });
        &mut self.accesses[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_stripes_if_the_trace_or_hints_tell_them() {
        let of = |stripe, block, hints: &[&str]| {
            let hints = hints.iter().map(|it| (*it).to_owned()).collect();
            let facts = FileFacts { stripe, block, hints, ..FileFacts::default() };
            (facts.lock_block(4096), facts.alignment(4096))
        };
        assert_eq!(of(None, None, &[]), (4096, 4096));
        assert_eq!(of(None, Some(512), &[]), (4096, 512));
        assert_eq!(of(Some(1 << 20), Some(512), &["striping_unit=65536"]), (1 << 20, 1 << 20));
        assert_eq!(of(None, None, &["cb_nodes=2;striping_unit=65536"]), (65_536, 65_536));
        assert_eq!(of(None, None, &["striping_unit=65536", "striping_unit=1048576;x=1"]).0, 1_048_576);
        for nothing in ["striping_unit=0", "striping_unit=big"] {
            assert_eq!(of(Some(0), Some(0), &[nothing]), (4096, 4096));
        }
        assert_eq!((FileFacts::default().lock_block(0), FileFacts::default().alignment(0)), (1, 1));
    }
}
