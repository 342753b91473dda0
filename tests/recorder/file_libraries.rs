//! Phases of programs that access files by libraries which are built on MPI-IO.

use std::ffi::OsString;
use std::process::Command;

use io_model::{Kind, Mode};
use skip::{Need, skip};

use crate::support::build::mpi;
use crate::support::modelled::{example, model_of, rows};
use crate::support::project;
use crate::support::record::{Invocation, Subject, clean};

/// A Python that can import this for the MPI under test: Debian's packages are for its own Python, and for Open MPI.
fn python(test: &str, imports: &str) -> Option<OsString> {
    let is_open_mpi = mpi(test)?.is_open_mpi;
    let named = std::env::var_os("REPLAY_MPI4PY").filter(|name| !name.is_empty());
    let all = named.into_iter().chain(["python3", "/usr/bin/python3"].map(OsString::from));
    let works = |python: &OsString| {
        let mut command = Command::new(python);
        clean(&mut command);
        command.args(["-c", imports]).env("H5PY_ALWAYS_USE_MPI", "1");
        is_open_mpi && command.output().is_ok_and(|output| output.status.success())
    };
    let found = all.into_iter().find(works);
    if found.is_none() {
        skip(Need::System, format!("{test}: there is no Python with {imports}"));
    }
    found
}

/// Bytes of a rank in the program in Python, and its ranks.
const PART: u64 = 8 << 20;
const RANKS: u64 = 4;

fn data(test: &str, imports: &str, how: &str) -> Option<Subject> {
    let script = project("tests/programs/files/io_hdf5.py");
    let program = vec![python(test, imports)?, "-B".into(), script.into(), how.into()];
    let subject = Subject::any(test, 4, program)?.with("H5PY_ALWAYS_USE_MPI", "1");
    subject.run_recorded(Invocation::InFront).expect_success();
    Some(subject)
}

#[test]
fn data_set_of_hdf5_is_one_phase_and_what_describes_it_is_residue() {
    let imports = "from mpi4py import MPI; import h5py; assert h5py.get_config().mpi";
    let Some(subject) = data("hdf5", imports, "hdf5") else { return };
    let model = model_of(&subject);
    let core = (1, vec![(Kind::Write, true)], RANKS, 1, PART, Mode::Sequential, RANKS * PART);
    assert_eq!(rows(&model)[0], core);
    let others: Vec<_> = model.families[1..].iter().map(|it| example(&model, it)).collect();
    assert!(
        !others.is_empty() && others.iter().all(|it| it.key.residue && it.weight < 1 << 20),
        "{others:?}"
    );
}

#[test]
fn same_bytes_by_mpi4py_are_the_same_phase_alone() {
    let Some(subject) = data("mpi4py", "from mpi4py import MPI", "plain") else { return };
    let core = (1, vec![(Kind::Write, true)], RANKS, 1, PART, Mode::Sequential, RANKS * PART);
    assert_eq!(rows(&model_of(&subject)), [core]);
}

#[test]
fn planes_by_pnetcdf_are_collective_writes_each_or_one_for_all() {
    let test = "pnetcdf";
    if !mpi(test).is_some_and(|mpi| mpi.is_open_mpi) {
        skip(Need::System, format!("{test}: Debian's PnetCDF is for Open MPI"));
        return;
    }
    let (dumps, parts, plane, ranks) = (3, 4, 524_288, 2);
    for (how, rep, request) in [("blocking", parts, plane), ("waiting", 1, parts * plane)] {
        let Some(subject) = Subject::new(test, "files/io_pnetcdf.c", 2, &[how]) else { return };
        subject.run_recorded(Invocation::InFront).expect_success();
        let found = rows(&model_of(&subject));
        // In front of them one rank writes what describes them.
        let kinds = vec![(Kind::Write, true)];
        let expected = (dumps, kinds, ranks, rep, request, Mode::Strided, ranks * parts * plane);
        assert_eq!(found[1..], [expected], "{how}");
        assert_eq!((found[0].0, found[0].2), (1, 1), "{how}");
    }
}
