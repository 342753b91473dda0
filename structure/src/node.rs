//! Nodes of event flow graphs.

/// What a step is: steps of one location with equal keys are visits of the same node. Numbered from 1 in the order of first
/// visits, so a smaller number was visited first (structure 2.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Node(u32);

impl Node {
    /// Where each sequence begins.
    pub const BEGIN: Node = Node(0);
    /// Where each sequence ends.
    pub const END: Node = Node(u32::MAX);

    /// The node with a number; 0 is [`BEGIN`](Node::BEGIN).
    pub const fn new(number: u32) -> Node {
        Node(number)
    }

    /// Its number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Its place in lists by node, in which the begin has place 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether it is visited by steps: neither begin nor end.
    pub const fn is_step(self) -> bool {
        self.0 != Node::BEGIN.0 && self.0 != Node::END.0
    }
}
