//! Regions: which functions occur, what they are called, and which collective operation they are.

use model::mpi;
use model::{CollectiveOp, Paradigm, RegionRole};
use rustc_hash::FxHashMap;

use crate::pcf::Labels;

/// Types of events of MPI calls: point to point, collective, other, one-sided, files.
pub(crate) const MPI: std::ops::RangeInclusive<u64> = 50_000_001..=50_000_005;

/// The first of them: functions that are about messages.
pub(crate) const MESSAGES: u64 = *MPI.start();

/// The third one: start and end of MPI, communicators, and whatever is of no other type.
pub(crate) const OTHER: u64 = *MPI.start() + 2;

/// The type of events of functions of the program.
pub(crate) const FUNCTION: u64 = 60_000_019;

/// Types of events of callers of MPI, by level from 1 on, and of the lines of these calls.
pub(crate) const CALLERS: std::ops::Range<u64> = 70_000_001..70_001_000;
pub(crate) const LINES: std::ops::Range<u64> = 80_000_001..80_001_000;

/// Roles of MPI calls without a known name, by type.
const ROLES: [RegionRole; 5] = [
    RegionRole::POINT2POINT,
    RegionRole::COLL_OTHER,
    RegionRole::FUNCTION,
    RegionRole::RMA,
    RegionRole::FILE_IO,
];

/// Blocking collective operations, with whether they have a root.
const COLLECTIVES: [(&str, CollectiveOp, bool); 17] = [
    ("barrier", CollectiveOp::BARRIER, false),
    ("bcast", CollectiveOp::BCAST, true),
    ("gather", CollectiveOp::GATHER, true),
    ("gatherv", CollectiveOp::GATHERV, true),
    ("scatter", CollectiveOp::SCATTER, true),
    ("scatterv", CollectiveOp::SCATTERV, true),
    ("allgather", CollectiveOp::ALLGATHER, false),
    ("allgatherv", CollectiveOp::ALLGATHERV, false),
    ("alltoall", CollectiveOp::ALLTOALL, false),
    ("alltoallv", CollectiveOp::ALLTOALLV, false),
    ("alltoallw", CollectiveOp::ALLTOALLW, false),
    ("allreduce", CollectiveOp::ALLREDUCE, false),
    ("reduce", CollectiveOp::REDUCE, true),
    ("reduce_scatter", CollectiveOp::REDUCE_SCATTER, false),
    ("reduce_scatter_block", CollectiveOp::REDUCE_SCATTER_BLOCK, false),
    ("scan", CollectiveOp::SCAN, false),
    ("exscan", CollectiveOp::EXSCAN, false),
];

/// A function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Region {
    pub(crate) name: String,
    pub(crate) role: RegionRole,
    pub(crate) paradigm: Paradigm,
    /// The blocking collective operation that it is, and whether that has a root.
    pub(crate) collective: Option<(CollectiveOp, bool)>,
    /// Whether it ends MPI.
    pub(crate) is_finalize: bool,
}

/// What a caller is for the begin of call paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Frame {
    Main,
    /// What the system does before it calls the main function.
    StartUp,
    Other,
}

/// Functions that occur, by the numbers that they get.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    numbers: FxHashMap<(u64, u64), u32>,
    list: Vec<Region>,
    /// What callers are for the begin of call paths.
    frames: FxHashMap<u64, Frame>,
    /// Number of functions of MPI without a label, or with one that no function has.
    unknown: u64,
}

impl Regions {
    /// The number of the function of a value of a type of events.
    #[inline]
    pub(crate) fn number(&mut self, kind: u64, value: u64, labels: &Labels) -> u32 {
        match self.numbers.get(&(kind, value)) {
            Some(&number) => number,
            None => self.add(kind, value, labels),
        }
    }

    /// The number of the function of a caller, at whatever level.
    pub(crate) fn caller(&mut self, value: u64, labels: &Labels) -> u32 {
        if let Some(&known) = self.numbers.get(&(CALLERS.start, value)) {
            return known;
        }
        let label = labels.of_levels(&CALLERS, value).map(name_of_function);
        let number = match label {
            Some(name) => self.push(function(name)),
            None => self.push(function(&format!("function {value}"))),
        };
        self.numbers.insert((CALLERS.start, value), number);
        number
    }

    /// What a caller is for the begin of call paths.
    pub(crate) fn frame(&mut self, value: u64, labels: &Labels) -> Frame {
        *self.frames.entry(value).or_insert_with(|| {
            match labels.of_levels(&CALLERS, value).map(name_of_function) {
                Some("main") => Frame::Main,
                Some(name) if name == "_start" || name.starts_with("__libc_start_") => Frame::StartUp,
                _ => Frame::Other,
            }
        })
    }

    #[cold]
    fn add(&mut self, kind: u64, value: u64, labels: &Labels) -> u32 {
        let label = labels.of_value(kind, value);
        self.unknown += u64::from(MPI.contains(&kind) && label.and_then(known).is_none());
        let number = self.push(match label {
            Some(label) if MPI.contains(&kind) => call(label.to_owned(), kind),
            None if MPI.contains(&kind) => call(format!("MPI {kind}:{value}"), kind),
            Some(label) => function(name_of_function(label)),
            None => function(&format!("function {value}")),
        });
        self.numbers.insert((kind, value), number);
        number
    }

    /// Adds the region around all calls.
    pub(crate) fn add_program(&mut self, name: &str) -> u32 {
        self.push(function(name))
    }

    fn push(&mut self, region: Region) -> u32 {
        self.list.push(region);
        u32::try_from(self.list.len() - 1).unwrap_or(u32::MAX)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Region> {
        self.list.get(usize::try_from(number).ok()?)
    }

    /// The number of functions of MPI without a label, or with one that no function has.
    pub(crate) fn unknown(&self) -> u64 {
        self.unknown
    }

    /// All regions in the order of their numbers.
    pub(crate) fn list(&self) -> &[Region] {
        &self.list
    }
}

fn function(name: &str) -> Region {
    Region {
        name: name.to_owned(),
        role: RegionRole::FUNCTION,
        paradigm: Paradigm::COMPILER,
        collective: None,
        is_finalize: false,
    }
}

/// The function of MPI of this name, in capitals or not.
fn known(name: &str) -> Option<&'static mpi::Function> {
    let plain = mpi::plain(name);
    mpi::functions().iter().find(|function| mpi::plain(function.name) == plain)
}

fn call(name: String, kind: u64) -> Region {
    let plain = mpi::plain(&name);
    let of_kind = usize::try_from(kind - MPI.start()).ok().and_then(|kind| ROLES.get(kind)).copied();
    let role = known(&name).map(|function| function.role).or(of_kind).unwrap_or(RegionRole::FUNCTION);
    let collective = COLLECTIVES.iter().find(|known| known.0 == plain).map(|known| (known.1, known.2));
    let is_finalize = plain == "finalize";
    Region { name, role, paradigm: Paradigm::MPI, collective, is_finalize }
}

/// The name in a label such as `main [main (a.c, ./a.out)]` or `main (a.c, ./a.out)`.
fn name_of_function(label: &str) -> &str {
    let behind = if label.ends_with(']') { label.find(" [") } else { label.rfind(" (") };
    match behind.map(|at| label.split_at(at)) {
        // Parameters have no file name in them.
        Some((name, rest)) if !name.is_empty() && (rest.starts_with(" [") || rest.contains('.')) => name,
        _ => label,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_the_role_and_operation_of_their_name() {
        let text = "EVENT_TYPE\n9 50000001 a\nVALUES\n1 MPI_Send\n\nEVENT_TYPE\n9 50000002 b\nVALUES\n7 MPI_Bcast\n8 MPI_Ibcast\n";
        let labels = Labels::read(std::path::Path::new("a"), text.as_bytes()).unwrap();
        let mut regions = Regions::default();
        let send = regions.number(50_000_001, 1, &labels);
        assert_eq!(regions.number(50_000_001, 1, &labels), send);
        assert_eq!(regions.get(send).unwrap().role, RegionRole::POINT2POINT);
        let broadcast = regions.number(50_000_002, 7, &labels);
        assert_eq!(regions.get(broadcast).unwrap().collective, Some((CollectiveOp::BCAST, true)));
        let later = regions.number(50_000_002, 8, &labels);
        assert_eq!(regions.get(later).unwrap().collective, None);
        let unknown = regions.number(50_000_004, 99, &labels);
        assert_eq!(regions.get(unknown).unwrap().name, "MPI 50000004:99");
        assert_eq!(regions.get(unknown).unwrap().role, RegionRole::RMA);
        assert_eq!(regions.list().len(), 4);
        assert_eq!(regions.unknown(), 1);
    }

    #[test]
    fn labels_that_no_function_of_mpi_has_are_counted() {
        let text =
            "EVENT_TYPE\n9 50000001 a\n9 60000019 f\nVALUES\n1 XYZ_Send\n2 MPI_Comm_rank\n3 mpi_recv\n";
        let labels = Labels::read(std::path::Path::new("a"), text.as_bytes()).unwrap();
        let mut regions = Regions::default();
        for (kind, value) in
            [(50_000_001, 1), (50_000_001, 1), (50_000_001, 2), (50_000_001, 3), (60_000_019, 1)]
        {
            regions.number(kind, value, &labels);
        }
        assert_eq!(regions.unknown(), 1);
    }

    #[test]
    fn names_of_functions_are_without_file_and_module() {
        assert_eq!(name_of_function("main (a.c, ./a.out)"), "main");
        assert_eq!(name_of_function("main [main (a.c, ./a.out)]"), "main");
        for plain in
            ["main", "std::vector<int> f(int)", "void f (int)", "operator new [] (unsigned long)", "[x]"]
        {
            assert_eq!(name_of_function(plain), plain);
        }
    }
}
