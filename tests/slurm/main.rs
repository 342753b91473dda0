//! Job scripts in a real Slurm: the tests start a cluster of one node, if Slurm's programs are installed and
//! no Slurm is configured on this machine. Otherwise tests say so and pass.

mod chains; // jobs that follow each other, and jobs of an array
mod cluster; // the cluster, shut down whatever happens
mod job; // a job and what it leaves
mod launchers; // a launcher that does not fit the MPI is told, once, with what would fit
mod others; // scripts for other batch systems, with programs in the place of their launchers
mod scripts; // the scripts are clean, and as short and as commented as they shall be
mod slurm; // the job scripts record, complete and analyse, however their programs end

#[expect(dead_code, reason = "written for tests/recorder, which uses all of it")]
#[path = "../recorder/support/mod.rs"]
mod support;

#[path = "../../formats/otf2/tests/fields.rs"]
mod fields;
#[path = "../../formats/otf2/tests/lines.rs"]
mod lines;
