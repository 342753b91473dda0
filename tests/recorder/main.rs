//! Tests of the recorder on real programs, those of `tests/programs`, under the MPI that `REPLAY_MPIRUN` and
//! `MPICC` name. Judges are `otf2-print`, OTF2's Python bindings, the analyzer, and the output of the
//! programs. Without MPI, a compiler, or a judge, tests say so and pass.

mod advice; // first advice is the defect of a program, and saves what it says
mod calls; // all kinds of calls leave the records that they must leave
mod changes; // predicted run times are those of programs that were changed so
mod compare; // a comparison of two recordings says what changed in the program, and by how much
mod counters; // counters of the system are those of their call paths
mod details; // records and their attributes have the program's values
mod documents; // commands of the quick start and the tutorial run, with the findings that the latter has; options on pages exist
mod endings; // however a program ends, it ends as without the recorder, and its archive can be analyzed
mod file_asynchronous; // asynchronous transfers have the records of the program, and mappings say of which file they are
mod file_beneath; // what operations of MPI-IO become is what a program with known requests makes them
mod file_costs; // waiting for file I/O, and its time elsewhere, are what programs and a file system of known speed make them
mod file_flaws; // what is inefficient in a program's I/O is found, and nothing where it was mended
mod file_io; // phases of file I/O are those of the program
mod file_kernels; // phases of kernels of IOR and BT-IO, and of other shapes of access, are those of their definitions
mod file_libraries; // phases of programs that use HDF5 and PnetCDF
mod file_mappings; // mappings that move are those of their files, and what flushes all files is none of one
mod file_metadata; // calls that name files by their paths say which, and those that are not recorded nothing
mod file_places; // places of transfers in files are those that the program itself writes down
mod file_records; // records of files have the program's values
mod file_storage; // where files are, and in which blocks, is what the system says
mod file_streams; // one operation on a stream stands for many calls, and none is lost
mod iterations; // iterations of a loop that is found while the program runs are the same on all ranks
mod linked; // a recorder that is linked into a program leaves the trace of a preloaded one
mod load; // many threads, communicators, requests and events, in bounded memory
mod oddities; // programs that jump, throw, fail, cancel and close leave whole traces all the same
mod off_cpu; // time off the processor is that of the system's own account, at the place where it passed
mod openmp; // constructs of OpenMP leave their records, and waits have the size that the programs give them
mod other_tools; // who else measures a program is said, and Score-P is switched off
mod pauses; // what is recorded keeps its partners where other rounds are not recorded
mod python; // functions of programs in Python are on call paths as Python itself sees them
mod records; // archives with both kinds of records say the same of one recording
mod regions; // regions with names and functions that tell of themselves are recorded as they are asked for
mod scan; // programs are measured, and their traces analysed, by the command lines of Scalasca's scan
mod self_test; // an installation tests itself with each MPI, and says what is not as it must be
mod stripped; // a program without symbols has functions and calls that are told apart
mod support;
mod usage; // memory and energy
mod waits; // wait states have the size, place and cause that the programs give them
mod workers; // what is predicted for other numbers of workers of a master is what they take

#[path = "../blind/mod.rs"]
mod blind; // the first culprit of a summary is the rank and the place that a seed has delayed

#[path = "../support/chance.rs"]
mod chance;
#[path = "../../formats/otf2/tests/fields.rs"]
mod fields;
#[path = "../../formats/otf2/tests/lines.rs"]
mod lines;
#[path = "../support/show.rs"]
mod show;
