//! Waiting for file I/O, and how long it takes elsewhere, on a file system of known speed (io.md 5.1, 5.4, 7.4).

use io_model::Model;
use replay::io::{IoOptions, SystemsTable};

use crate::support::modelled::{analyzed, model_of, rows};
use crate::support::record::{Invocation, Subject, analyze};
use crate::support::report::NamedReport;
use crate::support::slow_files::{attempt, keeps_times, on_slow_files};

#[test]
fn others_wait_for_the_rank_that_writes_for_all_as_long_as_its_file_system_takes() {
    let test = "serial";
    let Some(subject) = on_slow_files(test, "files/io_serial.c", &[], "1e8") else { return };
    if !keeps_times(test) {
        return;
    }
    let subject = subject.option("--io=posix");
    let (steps, requests, bytes) = (10, 8, 1 << 20);
    let seconds = f64::from(steps * requests) * (1e-3 + f64::from(bytes) / 1e8);
    attempt(|| {
        let _ = std::fs::remove_dir_all(&subject.experiment);
        subject.run_recorded(Invocation::InFront).expect_success();
        // A gather and a barrier lie between the steps, which do not end a phase by default.
        let (all, summary) = analyzed(&subject, IoOptions::default());
        let (model, _) = analyzed(&subject, IoOptions { gap: 1, ..IoOptions::default() });
        let counts = |model: &Model| -> Vec<_> {
            rows(model).into_iter().map(|(count, _, np, rep, rs, ..)| (count, np, rep, rs)).collect()
        };
        assert_eq!(counts(&all), [(1, 1, 80, 1 << 20)]);
        assert_eq!(counts(&model), [(10, 1, 8, 1 << 20)]);
        assert_eq!(model.bytes(), 83_886_080);
        let most = summary.io.and_then(|io| io.waiting).unwrap().most;
        assert_eq!((&*most.rank, &*most.function), ("rank 0", "pwrite"));
        assert!(most.file.as_ref().is_some_and(|file| file.ends_with("/serial.out")), "{most:?}");
        let share = most.seconds / (3.0 * seconds);
        if (0.95..1.05).contains(&share) { Ok(()) } else { Err(format!("{share}, {most:?}")) }
    });
}

#[test]
fn ranks_wait_for_the_last_one_that_comes_to_a_collective_file_operation() {
    let Some(subject) = Subject::new("late", "files/io_late.c", 4, &[]) else { return };
    let metrics = ["mpi_io_collective_wait", "mpi_mgmt_file_wait"];
    attempt(|| {
        let _ = std::fs::remove_dir_all(&subject.experiment);
        let ended = subject.run_recorded(Invocation::InFront);
        ended.expect_success();
        analyze(&subject.experiment, &subject.folder).expect_success();
        let report = NamedReport::read(&subject.experiment);
        let told = ended.stdout.lines().filter_map(|line| line.strip_prefix("waits "));
        let mut wrong = Vec::new();
        let mut ranks = 0;
        for line in told {
            let words: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            let [rank, transfers, in_transfers, others, in_others] = words[..] else { panic!("{line}") };
            ranks += 1;
            for (metric, count, seconds) in
                [(metrics[0], transfers, in_transfers), (metrics[1], others, in_others)]
            {
                let found = report.value(metric, &report.select(|_| true), rank as usize);
                // The program measures it, too, as other programs make ranks later or earlier than it wants.
                let wanted = count * (3.0 - rank) * 0.02;
                if (found - seconds).abs() > 0.002 * count || found < 0.5 * wanted {
                    wrong.push(format!("rank {rank}: {metric} {found} s, {seconds} s, {wanted} s wanted"));
                }
                assert!(rank < 3.0 || found == 0.0, "the last rank waits {found} s");
            }
        }
        assert_eq!(ranks, 4);
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    });
}

/// The line of a table that says how long a line of IOR takes here, by the kernel of IOR.
fn measured(test: &str, line: &str) -> Option<String> {
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let value = |name: &str| words[words.iter().position(|&it| it == name).unwrap() + 1];
    let number = |name: &str| value(name).parse::<f64>().unwrap();
    let bytes = number("-N") * number("-b") * number("-s");
    let subject = on_slow_files(&format!("{test}_kernel"), "files/io_kernel.c", &words, "1e7")?;
    // As docs/io.md says: else ROMIO collects what lies in strides, but has all ranks write the contiguous blocks of the line.
    let hints = subject.folder.join("hints");
    std::fs::write(&hints, "romio_cb_write enable\nromio_cb_read enable\n").unwrap();
    let ended = subject.with("ROMIO_HINTS", hints.to_str().unwrap().to_owned().leak()).run_bare();
    ended.expect_success();
    let seconds: f64 = ended.stdout.split_whitespace().nth(1).unwrap().parse().unwrap();
    let (op, collective) = (if words.contains(&"-w") { "w" } else { "r" }, u8::from(words.contains(&"-c")));
    let rate = bytes / seconds / f64::from(1 << 20);
    Some(format!("here\tMPIIO\t{op}\t{}\t{}\t{collective}\t{rate}\n", value("-N"), value("-t")))
}

/// Compares the time of a program with what IOR's lines for it say.
fn estimate(how: &str, points: &str, steps: &str) {
    let test = format!("estimate_{how}");
    let Some(subject) = on_slow_files(&test, "files/io_btio.c", &[how, points, steps], "1e7") else { return };
    attempt(|| {
        let _ = std::fs::remove_dir_all(&subject.experiment);
        subject.run_recorded(Invocation::InFront).expect_success();
        let model = model_of(&subject);
        let mut table = String::from("system\tapi\top\tnp\tt\tcollective\tMiB_s\n");
        for line in model.ior.values().flat_map(|it| &it.lines) {
            table += &measured(&test, line).unwrap();
        }
        let path = subject.folder.join("systems.tsv");
        std::fs::write(&path, &table).unwrap();
        let systems = SystemsTable::read(path.to_str().unwrap()).unwrap().0;
        let (model, _) = analyzed(&subject, IoOptions { systems, ..IoOptions::default() });
        let estimate = &model.estimates[0];
        assert!(estimate.is_complete, "{table}");
        let errors: Vec<f64> = model
            .families
            .iter()
            .map(|family| {
                let time = family.time as f64 / model.resolution as f64;
                let estimated = estimate.families[&family.first].unwrap();
                (time - estimated).abs() / estimated
            })
            .collect();
        if errors.iter().all(|&error| error < 0.1) { Ok(()) } else { Err(format!("{errors:?}: {table}")) }
    });
}

#[test]
fn estimate_from_lines_of_ior_is_the_time_of_a_program_that_writes_together() {
    estimate("full", "36", "20");
}

#[test]
fn estimate_from_lines_of_ior_is_the_time_of_a_program_that_writes_rows() {
    estimate("simple", "24", "10");
}
