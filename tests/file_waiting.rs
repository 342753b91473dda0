//! What file I/O costs others, by rank and file (io.md 5.4), in the summary.

use std::fmt::Write;

use crate::support::in_memory;
use crate::support::parse::Case;
use crate::support::run::analyze;
use crate::support::write::write;

/// The summary of a script, which is the same for any number of workers.
fn summary(script: &str) -> String {
    let directory = in_memory();
    write(&Case::parse(script).unwrap().trace, directory.path());
    let (trace, report) = (directory.path().join("traces.otf2"), directory.path().join("trace.cubex"));
    let [trace, report] = [&trace, &report].map(|path| path.to_str().unwrap());
    let said = |threads| {
        let fixed = [trace, "-o", report, "--details", "none", "--no-advice", "--threads", threads];
        let finished = analyze(fixed);
        finished.expect(0);
        finished.stdout
    };
    let alone = said("1");
    for threads in ["2", "3"] {
        assert_eq!(said(threads), alone, "{threads} workers");
    }
    alone
}

/// A step of all but one rank, which come to a barrier at its begin and leave it at its end.
fn others(script: &mut String, ranks: std::ops::Range<u64>, times: &[(u64, u64)]) {
    for rank in ranks {
        writeln!(script, "rank {rank}\n 0 > main ; > MPI_Init ; 10 <").unwrap();
        for (begin, end) in times {
            writeln!(script, " {begin} > MPI_Barrier ; begin ; {end} end barrier ; <").unwrap();
        }
        writeln!(script, " 9000 > MPI_Finalize ; 9010 < ; <").unwrap();
    }
}

/// Four ranks, of which the first one does this from 100 to 1100 while the others wait in a barrier. A tick is a millisecond.
fn one_is_late(doing: &str) -> String {
    let mut script = String::from("resolution 1000\nprogram prog\nfile /scratch/out.nc\nfile log\n");
    let barrier = "1100 > MPI_Barrier ; begin ; 1110 end barrier ; <";
    writeln!(script, "rank 0\n 0 > main ; > MPI_Init ; 10 <\n {doing}\n {barrier}").unwrap();
    writeln!(script, " 9000 > MPI_Finalize ; 9010 < ; <").unwrap();
    others(&mut script, 1..4, &[(100, 1110)]);
    script
}

#[test]
fn rank_that_writes_for_all_is_named_with_the_file_and_who_waits() {
    let writes = "100 > MPI_File_write ; transfer /scratch/out.nc id 1 flags 0 bytes 8 ; \
                  1100 transferred /scratch/out.nc id 1 bytes 8 ; <";
    let text = summary(&one_is_late(writes));
    // Three ranks wait 1000 ticks each; the run is 4 × 8990 ticks.
    assert!(text.contains("\nFile I/O: others wait 3.000 s for it, 8.3 % of the time\n"), "{text}");
    let line = "  rank 0's I/O on out.nc, above all in MPI_File_write, makes others wait 3.000 s: waiting at barriers \
                in MPI_Barrier of ranks 1–3; it is 1.000 s of the critical path\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn rank_that_computes_for_all_is_not_told_as_file_access() {
    let computes = "100 > solve ; 1080 < ; > MPI_File_write ; transfer log id 1 flags 0 bytes 8 ; \
                    1100 transferred log id 1 bytes 8 ; <";
    let text = summary(&one_is_late(computes));
    // 3 × 20 ticks wait for the file: less than a hundredth.
    assert!(text.contains("solve") && !text.contains("File I/O"), "{text}");
}

#[test]
fn waiting_for_a_call_in_which_two_files_are_written_is_shared_by_their_time() {
    let writes = "100 > MPI_File_write ; transfer log id 1 flags 0 bytes 8 ; \
                  400 transferred log id 1 bytes 8 ; < ; \
                  400 > MPI_File_write ; transfer /scratch/out.nc id 1 flags 0 bytes 8 ; \
                  1100 transferred /scratch/out.nc id 1 bytes 8 ; <";
    let text = summary(&one_is_late(writes));
    assert!(text.contains("\nFile I/O: others wait 3.000 s for it"), "{text}");
    assert!(
        text.contains("  rank 0's I/O on out.nc, above all in MPI_File_write, makes others wait 2.100 s"),
        "{text}"
    );
}

#[test]
fn late_message_behind_reading_is_a_late_sender_of_the_file() {
    let mut script = String::from("resolution 1000\nprogram prog\nfile in.dat\n");
    writeln!(
        script,
        "rank 0\n 0 > main ; > MPI_Init ; 10 <\n 100 > MPI_File_read ; transfer in.dat id 1 flags 0 mode 0 bytes 8 ; \
         2100 transferred in.dat id 1 bytes 8 ; <\n 2100 > MPI_Send ; send 1 ; 2110 <\n 9000 > MPI_Finalize ; 9010 < ; <\n\
         rank 1\n 0 > main ; > MPI_Init ; 10 <\n 100 > MPI_Recv ; 2115 recv 0 ; <\n 9000 > MPI_Finalize ; 9010 < ; <"
    )
    .unwrap();
    let text = summary(&script);
    let line = "  rank 0's I/O on in.dat, above all in MPI_File_read, makes others wait 2.000 s: late senders in \
                MPI_Recv of rank 1; it is 2.000 s of the critical path\n";
    assert!(text.contains(line), "{text}");
}

/// What is told as inefficient of a script, with these thresholds.
fn inefficient(script: &str, thresholds: &str) -> Vec<String> {
    let directory = in_memory();
    write(&Case::parse(script).unwrap().trace, directory.path());
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (trace, report, table, limits) =
        (path("traces.otf2"), path("trace.cubex"), path("a.tsv"), path("limits.json"));
    std::fs::write(&limits, thresholds).unwrap();
    let fixed = [&*trace, "-o", &report, "--details", "none", "--no-advice"];
    let said = analyze(fixed.into_iter().chain(["--io-model", &table, "--io-thresholds", &limits]));
    said.expect(0);
    said.stdout.lines().filter(|line| line.contains(". Try ")).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn rank_that_does_the_io_is_inefficient_if_others_wait_for_it() {
    let create = "50 > MPI_File_open ; create /scratch/out.nc ; create log ; 60 <";
    let writes = |end: u64| {
        format!(
            "{create} ; 100 > MPI_File_write_at ; with offset 0 : transfer /scratch/out.nc id 1 flags 0 bytes 4194304 ; \
             {end} transferred /scratch/out.nc id 1 bytes 4194304 ; <"
        )
    };
    let line = "out.nc: 100 % of 4194304 bytes are moved by one rank (rank 0); others wait 8.3 % of the time for it. Try \
                collective I/O, or give the data to several ranks";
    assert_eq!(inefficient(&one_is_late(&writes(1100)), "{}"), [line]);
    assert_eq!(inefficient(&one_is_late(&writes(1100)), r#"{"one_rank_ranks": 5}"#), [] as [&str; 0]);
    assert_eq!(inefficient(&one_is_late(&writes(1100)), r#"{"cost": 0.1}"#), [] as [&str; 0]);
    // It writes as much, and nobody waits long.
    let computes = format!("{} ; 120 > solve ; 1100 <", writes(120));
    assert_eq!(inefficient(&one_is_late(&computes), "{}"), [] as [&str; 0]);
}

#[test]
fn thresholds_that_cannot_be_read_are_refused() {
    let directory = in_memory();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("limits.json"), r#"{"costs": 1}"#).unwrap();
    let (table, limits) = (path("a.tsv"), path("limits.json"));
    let said = analyze([&*path("none"), "--io-model", &table, "--io-thresholds", &limits]);
    said.expect(2);
    assert!(said.stderr.contains("unknown field `costs`"), "{}", said.stderr);
}
