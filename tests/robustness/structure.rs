//! Traces whose loops cannot be told.

use std::path::Path;

use generate::{Job, Pattern, Tuning};
use replay::findings::Finding::{DifferentIterations, IrregularStructure};

use super::Make::{Directory, Script};
use super::Outcome::Findings;
use super::{Row, Section};

pub(super) const SECTION: Section = Section {
    title: "Loops",
    about: "Wait states do not depend on loops: only what is said of iterations does.",
    rows: &[
        Row {
            defect: "messages join different iterations",
            make: Script(
                "program prog
                 rank 0
                   0 > MPI_Init ; 1 <
                   10 > MPI_Send ; 11 send 1 tag 1 ; 12 < ; 20 > MPI_Send ; 21 send 1 tag 2 ; 22 <
                   30 > MPI_Send ; 31 send 1 tag 3 ; 32 < ; 40 > MPI_Send ; 41 send 1 tag 4 ; 42 <
                   90 > MPI_Finalize ; 91 <
                 rank 1
                   0 > MPI_Init ; 1 <
                   50 > MPI_Recv ; 51 recv 0 tag 4 ; 52 < ; 60 > MPI_Recv ; 61 recv 0 tag 3 ; 62 <
                   70 > MPI_Recv ; 71 recv 0 tag 2 ; 72 < ; 80 > MPI_Recv ; 81 recv 0 tag 1 ; 82 <
                   90 > MPI_Finalize ; 91 <",
            ),
            outcome: Findings(&[DifferentIterations]),
        },
        Row {
            defect: "calls follow each other in no order, from thousands of places",
            make: Directory(in_no_order),
            outcome: Findings(&[IrregularStructure, DifferentIterations]),
        },
    ],
};

fn in_no_order(place: &Path) {
    let pattern = Pattern::find("random-sites").unwrap();
    let tuning = Tuning { sites: 2000, ..Tuning::default() };
    let job = Job { call_sites: true, tuning, ..Job::new(pattern, 2, 50_000) };
    // The archive is that of a new directory.
    let made = place.join("made");
    generate::generate(&job, &made).unwrap();
    for entry in std::fs::read_dir(&made).unwrap() {
        let entry = entry.unwrap();
        std::fs::rename(entry.path(), place.join(entry.file_name())).unwrap();
    }
    std::fs::remove_dir(&made).unwrap();
}
