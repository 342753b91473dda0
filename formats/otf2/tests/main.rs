//! Tests of whole archives, one topic a file.

mod archives; // real archives are reproduced byte by byte
mod chunks; // records at chunk boundaries
mod containers; // containers as SIONlib writes them, for the other tests
mod damage; // cut and corrupt files are errors, never panics
mod fields; // records as flat lists of values, as other readers print them
mod lines; // whole archives as lines, from two readers
mod open; // finding the archive
mod records; // one record of every kind, for the other tests
mod reference_reader; // the OTF2 library reads what this crate writes
mod reference_writer; // the OTF2 library and this crate write the same bytes
mod refusals; // invalid requests are refused with a reason
mod round_trip; // every kind of record, with extreme values
mod sion; // archives in SION containers
mod support; // directories, archives of sample records, random numbers
mod vectors; // decoding known bytes
