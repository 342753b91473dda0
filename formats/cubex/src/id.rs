//! Ids of the items of a report: positions in the lists of a [`Cube`](crate::Cube).
//!
//! One type per list, so that a call path cannot be used in place of a location. The position is also the
//! number in the file, where Cube gives numbers a meaning (metrics, regions, cnodes, locations).

macro_rules! ids {
    ($($(#[$about:meta])* $name:ident)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(
            /// Position in the list.
            pub usize,
        );
    )*};
}

ids! {
    /// Position in [`Cube::metrics`](crate::Cube::metrics).
    MetricId
    /// Position in [`Cube::regions`](crate::Cube::regions).
    RegionId
    /// Position in [`Cube::cnodes`](crate::Cube::cnodes).
    CnodeId
    /// Position in [`Cube::system_tree_nodes`](crate::Cube::system_tree_nodes).
    SystemTreeNodeId
    /// Position in [`Cube::location_groups`](crate::Cube::location_groups).
    LocationGroupId
    /// Position in [`Cube::locations`](crate::Cube::locations), and the column in every row.
    LocationId
}
