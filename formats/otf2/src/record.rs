//! Macro that declares records. To add a record, add an entry to a table; everything else follows.
//!
//! An entry is
//!
//! ```text
//! /// Meaning of the record.
//! <id> <Name> <where> { <field>: <type> => <mapping>, …; <tail field>: <type> = <value when absent>, … }
//! ```
//! * The type of a field determines its encoding (see [`crate::field`]).
//! * The type of a field says its encoding (see [`crate::field`]).
//! * *where*: `singleton` (an event without length byte), `framed` (any other event), `global`, `local` or
//!   `both` (the definition files that may hold it).
//! * `=> Mapping` marks a reference that goes through the location's mapping table.
//! * Fields behind the semicolon came with a later version of the format. They are present as a group or not
//!   at all.
//! * `field: type | old: type = code` is a field for old readers only: it follows `field` on disk, is
//!   computed when written, and is available to the values of absent tails.

/// Defines the enum, the names of its records, their decoder and their encoder.
macro_rules! records {
    (
        mapped
        $(#[$doc:meta])*
        $Enum:ident {
            $(
                $(#[$variant_doc:meta])*
                $id:literal $Name:ident $where:ident {
                    $($field:ident: $type:ty $(=> $map:ident)?),* $(,)?
                }
            )*
        }
    ) => {
        records! {
            $(#[$doc])*
            $Enum { $($(#[$variant_doc])* $id $Name $where { $($field: $type),* })* }
        }

        impl<'a> $Enum<'a> {
            /// The record with global references instead of the location's own. Elements of lists stay as
            /// they are.
            #[inline]
            pub fn map(self, mappings: &Mappings) -> Self {
                match self {
                    $($Enum::$Name { $($field),* } => $Enum::$Name {
                        $($field: records!(@map $field, mappings $(, $map)?)),*
                    },)*
                    unknown @ $Enum::Unknown { .. } => unknown,
                }
            }

            /// Whether records of this kind have no length byte.
            #[inline]
            pub(crate) fn is_singleton(id: u8) -> bool {
                $((records!(@singleton $where) && id == $id))||*
            }
        }
    };
    (
        $(#[$doc:meta])*
        $Enum:ident {
            $(
                $(#[$variant_doc:meta])*
                $id:literal $Name:ident $where:ident {
                    $($field:ident: $type:ty $(| $old:ident: $old_type:ty = $code:expr)?),*
                    $(; $($tail:ident: $tail_type:ty = $default:expr),*)? $(,)?
                }
            )*
        }
    ) => {
        $(#[$doc])*
        #[allow(missing_docs)] // The comment of a record describes its fields.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub enum $Enum<'a> {
            $($(#[$variant_doc])* $Name { $($field: $type,)* $($($tail: $tail_type,)*)? },)*
            /// A record of a later version of the format: its number and its bytes as they are.
            Unknown { id: u8, body: &'a [u8] },
        }

        impl<'a> $Enum<'a> {
            /// OTF2's name of the record.
            pub fn name(&self) -> &'static str {
                match self {
                    $($Enum::$Name { .. } => stringify!($Name),)*
                    $Enum::Unknown { .. } => "Unknown",
                }
            }

            /// The name of the record with this id.
            #[cold]
            pub(crate) fn name_of(id: u8, file: FileKind) -> &'static str {
                match id {
                    $($id if records!(@in $where, file) => stringify!($Name),)*
                    _ => "unknown",
                }
            }

            /// Decodes the fields of a record; `None` if they do not fit.
            ///
            /// Inlined by force, with all readers of fields: calls between them halve the speed of a cursor.
            #[inline(always)]
            pub(crate) fn read(id: u8, bytes: &mut Bytes<'a>, file: FileKind) -> Option<Self> {
                Some(match id {
                    $(
                        $id if records!(@in $where, file) => {
                            $(
                                let $field = <$type as Field>::read(bytes)?;
                                $(let $old = <$old_type as Field>::read(bytes)?;)?
                            )*
                            $(
                                let ($($tail,)*) = match ($(<$tail_type as Field>::read(bytes),)*) {
                                    ($(Some($tail),)*) => ($($tail,)*),
                                    _ => ($($default,)*),
                                };
                            )?
                            $Enum::$Name { $($field,)* $($($tail,)*)? }
                        }
                    )*
                    _ => $Enum::Unknown { id, body: bytes.rest() },
                })
            }

            /// Encodes the fields and returns the record's id.
            pub(crate) fn write(&self, body: &mut Body, file: FileKind) -> u8 {
                match *self {
                    $(
                        $Enum::$Name { $($field,)* $($($tail,)*)? } => {
                            if !records!(@in $where, file) {
                                body.refuse("a record that does not belong into this file");
                            }
                            $(
                                Field::write(&$field, body);
                                $(let $old: $old_type = $code; Field::write(&$old, body);)?
                            )*
                            $($(Field::write(&$tail, body);)*)?
                            $id
                        }
                    )*
                    $Enum::Unknown { id, .. } => {
                        body.refuse("a record of unknown kind");
                        id
                    }
                }
            }
        }
    };
    (@map $field:ident, $mappings:ident) => { $field };
    (@map $field:ident, $mappings:ident, $map:ident) => { $mappings.global(MappingType::$map, $field) };
    (@singleton singleton) => { true };
    (@singleton framed) => { false };
    (@in singleton, $file:ident) => { $file == FileKind::Events };
    (@in framed, $file:ident) => { $file == FileKind::Events };
    (@in global, $file:ident) => { $file == FileKind::GlobalDefinitions };
    (@in local, $file:ident) => { $file == FileKind::LocalDefinitions };
    (@in both, $file:ident) => { $file != FileKind::Events };
}

pub(crate) use records;

/// Kind of file: record ids have a meaning in each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileKind {
    Events,
    GlobalDefinitions,
    LocalDefinitions,
}

/// Record id: the next chunk follows.
pub(crate) const END_OF_CHUNK: u8 = 0;
/// Record id: padding behind the end of the file.
pub(crate) const END_OF_BUFFER: u8 = 1;
/// Record id: end of the file.
pub(crate) const END_OF_FILE: u8 = 2;
/// Record id: start of a chunk or of the anchor.
pub(crate) const CHUNK_HEADER: u8 = 3;
/// Record id in event files: time of the events that follow; has no length.
pub(crate) const TIMESTAMP: u8 = 5;
/// Record id in event files: attributes of the next event.
pub(crate) const ATTRIBUTE_LIST: u8 = 6;
/// Record id in event files: enter a region.
pub(crate) const ENTER: u8 = 12;
/// Record id in event files: leave a region.
pub(crate) const LEAVE: u8 = 13;
/// Record id of an event that follows those of other locations at the same time.
pub(crate) const THREAD_JOIN: u8 = 54;
/// Record id of an event that may have to wait for another location's.
pub(crate) const THREAD_TEAM_BEGIN: u8 = 55;
/// Record id of a task that starts, or goes on.
pub(crate) const THREAD_TASK_SWITCH: u8 = 60;
/// Record id of a task that ends.
pub(crate) const THREAD_TASK_COMPLETE: u8 = 61;
/// First record id of those that name a calling context.
pub(crate) const CALLING_CONTEXT_ENTER: u8 = 66;
/// Last record id of those that name a calling context.
pub(crate) const CALLING_CONTEXT_SAMPLE: u8 = 68;
