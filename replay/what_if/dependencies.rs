//! Dependencies: what completions wait for (what-if 2.2 to 2.4).

use model::Ticks;

use super::compact::{Compact, Longer, Short};
use super::nodes::Nodes;

/// Kind of a dependency.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum DependencyKind {
    /// Of a receive on an eager send.
    #[default]
    Eager,
    /// Of a receive on a send that waits for it, and on its own posting.
    Rendezvous,
    /// Of such a send on the posting of the receive, and on itself.
    Send,
    /// Of a member on others of its operation, or of threads on each other.
    Together,
    /// On the return of another process to MPI (what-if 2.6).
    Progress,
    /// Of both sides of an eager message on each other, as if it were sent by rendezvous; there only if a scenario asks for that.
    IfRendezvous,
}

impl DependencyKind {
    /// Whether it is that of a message.
    pub(super) fn is_of_message(self) -> bool {
        matches!(
            self,
            DependencyKind::Eager
                | DependencyKind::Rendezvous
                | DependencyKind::Send
                | DependencyKind::IfRendezvous
        )
    }

    /// Whether it is that of a receive.
    pub(super) fn is_of_receive(self) -> bool {
        matches!(self, DependencyKind::Eager | DependencyKind::Rendezvous)
    }
}

/// Stands for no location.
pub(super) const NOBODY: u32 = u32::MAX;

/// A dependency of a completion: on the latest of some marks, its starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Dependency {
    /// The completion, by its position.
    pub completion: u32,
    /// What it is.
    pub kind: DependencyKind,
    /// Length of the message.
    pub bytes: u64,
    /// How many times it is told when one of its starts is.
    pub starts: u32,
    /// The latest of the starts, as measured.
    pub latest: Ticks,
    /// Ticks from there on.
    pub transfer: Ticks,
    /// Of an operation of many: the least number of steps in which all members can hear of each other; 0 of others.
    pub steps: u8,
    /// The location of the other side of a message; [`NOBODY`] of others.
    pub partner: u32,
    /// Of a receive that may have been free to choose its message; see [`super::graph::LocationGraph::choices`].
    pub is_choice: bool,
}

impl Dependency {
    /// Whether the message of a location comes from another node, or goes there.
    pub(super) fn is_remote(&self, location: u32, nodes: &Nodes) -> bool {
        self.partner != NOBODY && nodes.are_remote(location, self.partner)
    }
}

/// A dependency in 32 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SmallDependency {
    latest: Ticks,
    completion: u32,
    starts: u32,
    partner: u32,
    bytes: Short,
    transfer: Short,
    kind: DependencyKind,
    steps: u8,
    is_choice: bool,
}

impl Compact for Dependency {
    type Small = SmallDependency;

    fn shrink(self, small: &mut SmallDependency, longer: &mut Longer) {
        let Dependency { completion, kind, bytes, starts, latest, transfer, steps, partner, is_choice } =
            self;
        longer.set(&mut small.bytes, bytes.cast_signed());
        longer.set(&mut small.transfer, transfer);
        *small = SmallDependency { latest, completion, starts, partner, kind, steps, is_choice, ..*small };
    }

    #[inline]
    fn expand(small: SmallDependency, longer: &Longer) -> Dependency {
        let SmallDependency { latest, completion, starts, partner, kind, steps, is_choice, .. } = small;
        let (bytes, transfer) = (longer.get(small.bytes).cast_unsigned(), longer.get(small.transfer));
        Dependency { completion, kind, bytes, starts, latest, transfer, steps, partner, is_choice }
    }
}
