//! Numbers of things, each with a type of its own, so that none can be used in place of another.
//!
//! All are 32 bits wide. [`new`](JournalPosition::new) ends the program if there are more.

/// Types of numbers.
macro_rules! ids {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(u32);

        impl $name {
            /// Stands for none.
            pub const NONE: $name = $name(u32::MAX);

            /// Makes an id of a number.
            ///
            /// # Panics
            /// If the number does not fit.
            #[inline(always)]
            #[track_caller]
            pub const fn new(number: usize) -> $name {
                $name($crate::int::to_u32(number))
            }

            /// Returns the number.
            #[inline(always)]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the next id.
            #[inline(always)]
            #[must_use]
            pub const fn next(self) -> $name {
                $name(self.0.wrapping_add(1))
            }

            /// Returns all from this one up to `end`, which is excluded.
            #[inline(always)]
            pub fn until(
                self,
                end: $name,
            ) -> impl DoubleEndedIterator<Item = $name> + ExactSizeIterator + Clone + use<> {
                (self.0..end.0).map($name)
            }

            /// Whether it stands for none.
            #[inline(always)]
            pub const fn is_none(self) -> bool {
                self.0 == u32::MAX
            }
        }

        /// Prints only the number, as tables of ids are printed often.
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl $crate::wire::Half for $name {
            #[inline]
            fn to_half(self) -> u32 {
                self.0
            }

            #[inline]
            fn of_half(half: u32) -> $name {
                $name(half)
            }
        }

        impl $crate::wire::Wire for $name {
            #[inline]
            fn put(&self, batch: &mut $crate::exchange::Batch) {
                $crate::wire::Wire::put(&self.0, batch);
            }

            #[inline]
            fn get(reader: &mut $crate::exchange::batch::BatchReader<'_>) -> $name {
                $name($crate::wire::Wire::get(reader))
            }
        }
    )+};
}

ids! {
    /// A piece of a [`Journal`](crate::journal::Journal), or an event that is marked in it. Of two events of
    /// a location, the later one has the higher position.
    JournalPosition;

    /// A record of a location's event file.
    RecordNumber;

    /// An event that others may depend on: its [position in the journal](EventNumber::in_journal) or its
    /// [record](EventNumber::record), whichever the walk was [run with](crate::walk::Positions).
    EventNumber;

    /// A call path of a process, or of several: its place in a [`CallTree`](crate::call_tree::CallTree).
    PathId;

    /// A row of a location's [`Severities`](crate::severity::Severities): one of the call paths that it has
    /// used.
    Row;

    /// A call of a process: its place in [`Calls`](crate::operations::Calls).
    CallId;

    /// A call path of the [report](crate::report_paths::ReportPaths): its place in the preorder of all.
    ReportPath;
}

impl EventNumber {
    /// Returns the position in the journal, if the walk made [journals](crate::walk::Positions::Journal).
    #[inline(always)]
    pub const fn in_journal(self) -> JournalPosition {
        JournalPosition(self.0)
    }

    /// Returns the record, if the walk was run with [records](crate::walk::Positions::Records).
    #[inline(always)]
    pub const fn record(self) -> RecordNumber {
        RecordNumber(self.0)
    }
}

impl From<JournalPosition> for EventNumber {
    #[inline(always)]
    fn from(position: JournalPosition) -> EventNumber {
        EventNumber(position.0)
    }
}

impl From<RecordNumber> for EventNumber {
    #[inline(always)]
    fn from(record: RecordNumber) -> EventNumber {
        EventNumber(record.0)
    }
}
