//! Type codes for readers before OTF2 1.1, 1.2 and 2.0 (`FORMAT.md`, "Legacy codes").
//!
//! They stand in the middle of records whose tails hold the same information in today's terms. Both
//! directions are here: decoding an old record without tail, and the code that a writer of today puts there.
//! The tables are the format's, oddities included.

use crate::field::UNDEFINED;
use crate::value::{Value, ValueType};
use model::{GroupType, Paradigm, RegionRole};

/// Legacy code of a region, its role, paradigm and flags.
const REGIONS: [(u8, RegionRole, Paradigm, u32); 35] = [
    (1, RegionRole::FUNCTION, Paradigm::UNKNOWN, 0),
    (2, RegionRole::LOOP, Paradigm::USER, 0),
    (3, RegionRole::FUNCTION, Paradigm::UNKNOWN, 0),
    (4, RegionRole::FILE_IO, Paradigm::USER, 0),
    (5, RegionRole::PARALLEL, Paradigm::OPENMP, 0),
    (6, RegionRole::LOOP, Paradigm::OPENMP, 0),
    (7, RegionRole::SECTIONS, Paradigm::OPENMP, 0),
    (8, RegionRole::SECTION, Paradigm::OPENMP, 0),
    (9, RegionRole::WORKSHARE, Paradigm::OPENMP, 0),
    (10, RegionRole::SINGLE, Paradigm::OPENMP, 0),
    (11, RegionRole::MASTER, Paradigm::OPENMP, 0),
    (12, RegionRole::CRITICAL, Paradigm::OPENMP, 0),
    (13, RegionRole::ATOMIC, Paradigm::OPENMP, 0),
    (14, RegionRole::BARRIER, Paradigm::OPENMP, 0),
    (15, RegionRole::IMPLICIT_BARRIER, Paradigm::OPENMP, 0),
    (16, RegionRole::FLUSH, Paradigm::OPENMP, 0),
    (17, RegionRole::CRITICAL_SBLOCK, Paradigm::OPENMP, 0),
    (18, RegionRole::SINGLE_SBLOCK, Paradigm::OPENMP, 0),
    (19, RegionRole::WRAPPER, Paradigm::OPENMP, 0),
    (20, RegionRole::TASK, Paradigm::OPENMP, 0),
    (21, RegionRole::TASK_WAIT, Paradigm::OPENMP, 0),
    (22, RegionRole::BARRIER, Paradigm::MPI, 0),
    (23, RegionRole::COLL_ONE2ALL, Paradigm::MPI, 0),
    (24, RegionRole::COLL_ALL2ONE, Paradigm::MPI, 0),
    (25, RegionRole::COLL_ALL2ALL, Paradigm::MPI, 0),
    (26, RegionRole::COLL_OTHER, Paradigm::MPI, 0),
    (27, RegionRole::CODE, Paradigm::USER, 0),
    (28, RegionRole::CODE, Paradigm::USER, DYNAMIC),
    (29, RegionRole::CODE, Paradigm::USER, DYNAMIC | PHASE),
    (30, RegionRole::LOOP, Paradigm::USER, DYNAMIC),
    (31, RegionRole::FUNCTION, Paradigm::USER, DYNAMIC),
    (32, RegionRole::LOOP, Paradigm::USER, DYNAMIC | PHASE),
    (33, RegionRole::TASK_CREATE, Paradigm::OPENMP, 0),
    (34, RegionRole::ORDERED, Paradigm::OPENMP, 0),
    (35, RegionRole::ORDERED_SBLOCK, Paradigm::OPENMP, 0),
];

/// Flag of regions whose instances are kept apart (dynamic regions).
const DYNAMIC: u32 = 1;
/// Flag of phase regions.
const PHASE: u32 = 2;

/// Role, paradigm and flags of a region that has only a code.
pub(crate) fn region(code: u8) -> (RegionRole, Paradigm, u32) {
    let entry = REGIONS.iter().find(|entry| entry.0 == code);
    entry.map_or((RegionRole::UNKNOWN, Paradigm::UNKNOWN, 0), |&(_, role, paradigm, flags)| {
        (role, paradigm, flags)
    })
}

/// Legacy code of a region.
pub(crate) fn region_code(role: RegionRole, paradigm: Paradigm, flags: u32) -> u8 {
    let (dynamic, phase) = (flags & DYNAMIC != 0, flags & PHASE != 0);
    match paradigm {
        Paradigm::UNKNOWN | Paradigm::COMPILER => u8::from(role == RegionRole::FUNCTION),
        Paradigm::OPENMP | Paradigm::MPI => {
            REGIONS.iter().find(|entry| (entry.1, entry.2) == (role, paradigm)).map_or(0, |entry| entry.0)
        }
        Paradigm::USER => match (role, dynamic, phase) {
            (RegionRole::FUNCTION, false, _) => 3,
            (RegionRole::FUNCTION, true, _) => 31,
            (RegionRole::FILE_IO, ..) => 4,
            (RegionRole::LOOP, false, false) => 2,
            (RegionRole::LOOP, true, false) => 30,
            (RegionRole::LOOP, true, true) => 32,
            (RegionRole::CODE, false, false) => 1,
            (RegionRole::CODE, false, true) => 27,
            (RegionRole::CODE, true, false) => 28,
            (RegionRole::CODE, true, true) => 29,
            _ => 0,
        },
        _ => 0,
    }
}

/// Type and paradigm of a group that has only a code. Old metric groups become region groups, as everywhere.
pub(crate) fn group(code: u8) -> (GroupType, Paradigm) {
    match code {
        1 => (GroupType::LOCATIONS, Paradigm::UNKNOWN),
        2 | 3 => (GroupType::REGIONS, Paradigm::UNKNOWN),
        4 => (GroupType::COMM_GROUP, Paradigm::MPI),
        5 => (GroupType::COMM_SELF, Paradigm::MPI),
        6 => (GroupType::COMM_LOCATIONS, Paradigm::MPI),
        _ => (GroupType::UNKNOWN, Paradigm::UNKNOWN),
    }
}

/// Legacy code of a group.
pub(crate) fn group_code(kind: GroupType, paradigm: Paradigm, flags: u32) -> u8 {
    match (kind, paradigm, flags) {
        (GroupType::LOCATIONS | GroupType::REGIONS | GroupType::METRIC, Paradigm::UNKNOWN, 0) => kind.0,
        (GroupType::COMM_LOCATIONS, Paradigm::MPI, 0) => 6,
        (GroupType::COMM_GROUP, Paradigm::MPI, 0) => 4,
        (GroupType::COMM_SELF, Paradigm::MPI, 0) => 5,
        _ => 0,
    }
}

/// The string reference that old readers take for the value of a property.
pub(crate) fn string(value: Value) -> u32 {
    match value.kind {
        ValueType::STRING => u32::try_from(value.bits).unwrap_or(UNDEFINED),
        _ => UNDEFINED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_openmp_and_mpi_regions_are_inverse() {
        for (code, role, paradigm, flags) in REGIONS {
            if paradigm != Paradigm::USER && paradigm != Paradigm::UNKNOWN {
                assert_eq!(region_code(role, paradigm, flags), code);
            }
        }
        assert_eq!(region(200), (RegionRole::UNKNOWN, Paradigm::UNKNOWN, 0));
    }

    /// The library's choice is not the inverse; `tests/reference_writer.rs` compares all codes with it.
    #[test]
    fn codes_of_user_regions_depend_on_their_flags() {
        let codes =
            |role| [0, DYNAMIC, PHASE, DYNAMIC | PHASE].map(|flags| region_code(role, Paradigm::USER, flags));
        assert_eq!(codes(RegionRole::FUNCTION), [3, 31, 3, 31]);
        assert_eq!(codes(RegionRole::LOOP), [2, 30, 0, 32]);
        assert_eq!(codes(RegionRole::CODE), [1, 28, 27, 29]);
        assert_eq!(codes(RegionRole::FILE_IO), [4; 4]);
        assert_eq!(codes(RegionRole::BARRIER), [0; 4]);
    }

    #[test]
    fn regions_of_later_paradigms_have_no_code() {
        assert_eq!(region_code(RegionRole::FUNCTION, Paradigm::COMPILER, 0), 1);
        assert_eq!(region_code(RegionRole::FUNCTION, Paradigm::CUDA, 0), 0);
        assert_eq!(region_code(RegionRole::POINT2POINT, Paradigm::MPI, 0), 0);
    }

    #[test]
    fn group_codes_are_inverse_but_for_metrics() {
        for code in [1, 2, 4, 5, 6] {
            let (kind, paradigm) = group(code);
            assert_eq!(group_code(kind, paradigm, 0), code);
        }
        assert_eq!(group(3), (GroupType::REGIONS, Paradigm::UNKNOWN));
        assert_eq!(group(7), (GroupType::UNKNOWN, Paradigm::UNKNOWN));
        assert_eq!(group_code(GroupType::METRIC, Paradigm::UNKNOWN, 0), 3);
        assert_eq!(group_code(GroupType::COMM_GROUP, Paradigm::MPI, 1), 0);
    }
}
