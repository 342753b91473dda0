//! Tests of whole archives, one topic a file.

mod archives; // real archives are written again byte by byte
mod chunks; // records meet the ends of chunks
mod damage; // cut and corrupt files are errors, never panics
mod fields; // records as flat lists of values, as other readers print them
mod lines; // whole archives as lines, of two readers
mod open; // which file is the archive
mod records; // one record of every kind, for the others
mod reference_reader; // the OTF2 library reads what is written here
mod reference_writer; // what the OTF2 library writes is written here alike
mod refusals; // what cannot be written is refused, and says why
mod round_trip; // every kind of record, with extreme values
mod support; // directories, archives of sample records, random numbers
mod vectors; // decoding known bytes
