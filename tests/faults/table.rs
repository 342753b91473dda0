//! Table of faults: what users can rely on, fault by fault, with the tests that show it.

use crate::support::page::is_written;

/// A fault, what happens, and the tests that show it.
pub(crate) const FAULTS: &[(&str, &str, &[&str])] = &[
    (
        "a worker is killed, in any phase",
        "the job ends within 5 s with a status other than 0; an older report is unchanged, a new one is not there unless it was \
         in place already; what was written of it is gone, or, on file systems without `O_TMPFILE`, has a hidden name, as an \
         older report has while it is replaced; a run a day later removes it",
        &[
            "killed::first_worker_killed_in_each_phase_ends_the_job_and_leaves_the_old_report",
            "killed::other_worker_killed_in_each_phase_ends_the_job_and_leaves_the_old_report",
            "disk::stale_temporary_files_of_this_report_are_removed_young_and_foreign_ones_stay",
            "signals::kill_at_any_write_leaves_nothing_where_files_need_no_names",
        ],
    ),
    (
        "a signal (SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU) comes to some or all workers",
        "the process ends by that signal, the job with it; an older report is unchanged, a new one is not there, and nothing \
         temporary stays, unless the launcher ends the writer by SIGKILL, as above; signals that are ignored, or that MPI \
         handles, stay with that",
        &[
            "signals::signal_at_any_write_ends_the_process_by_it_and_leaves_nothing",
            "signals::signal_for_the_writer_of_three_processes_leaves_nothing",
            "signals::signal_for_all_three_processes_leaves_nothing",
            "signals::signal_for_another_of_three_processes_before_all_is_decided_leaves_nothing",
            "signals::signal_for_the_launcher_leaves_nothing",
            "signals::signal_that_is_ignored_stays_ignored",
        ],
    ),
    (
        "such a signal comes when all workers have done their part",
        "report and statistics appear together, status 0; a process that has not ended 5 s later ends by the signal",
        &[
            "signals::signal_between_the_two_files_is_put_off_and_both_are_there",
            "signals::signal_for_another_of_three_processes_when_all_is_decided_is_put_off",
            "signals::process_that_hangs_when_all_is_decided_ends_by_the_signal_after_a_while",
        ],
    ),
    (
        "threads cannot be started",
        "one message with the number of threads, status 2; nobody waits for the missing ones",
        &["limits::threads_that_cannot_be_started_are_told_with_what_to_do"],
    ),
    (
        "a process does not see the experiment, or not its definitions",
        "one message, status 2 of all processes",
        &[
            "views::experiment_that_one_worker_does_not_see_is_told_once",
            "views::definitions_that_one_worker_cannot_read_are_told_once",
        ],
    ),
    (
        "a process sees other definitions, such as an old copy, or has other options",
        "one message that says which process, status 2 of all; never a report of two views",
        &[
            "views::other_definitions_on_one_worker_are_told_instead_of_a_wrong_report",
            "views::other_options_on_one_worker_are_told",
            "views::wrong_usage_or_question_of_one_worker_ends_all",
            "views::same_files_in_another_place_are_analysed",
        ],
    ),
    (
        "events that a process does not see, or cannot read",
        "the finding `missing events` in a report; one message and status 2 if they are there but unreadable",
        &[
            "views::events_that_their_worker_does_not_see_are_a_finding",
            "views::events_that_their_worker_cannot_read_are_told_once",
        ],
    ),
    (
        "the anchor or the definitions are missing, empty, forbidden, a directory, a pipe or a link to nowhere",
        "one message with the file, status 2",
        &["files::damaged_anchor_is_one_message", "files::damaged_definitions_are_one_message"],
    ),
    (
        "a link in the archive leads out of the experiment directory",
        "one message with the link, status 2: nothing of the other file is shown; links inside are followed",
        &[
            "files::link_that_leads_out_of_the_experiment_is_not_followed",
            "files::link_inside_of_the_experiment_is_followed",
        ],
    ),
    (
        "the events of a location are missing or damaged",
        "a finding in a report, of data loss (status 1 with `--strict`); one message and status 2 if they are there but \
         unreadable",
        &["files::events_that_are_missing_or_damaged_are_a_finding_unreadable_ones_a_message"],
    ),
    (
        "the local definitions of a location are missing, damaged or unreadable",
        "the finding `unreadable local definitions` in a report; the events of the location are not used",
        &["files::local_definitions_that_are_missing_or_damaged_are_a_finding"],
    ),
    (
        "a file is shortened, emptied or overwritten while it is mapped",
        "a report, with a finding if something is missing, or one message and status 2; never the end by a signal",
        &[
            "files::events_that_change_while_they_are_mapped_end_as_documented",
            "files::definitions_that_change_while_they_are_mapped_end_as_documented",
            "files::events_that_change_while_one_of_three_processes_maps_them_end_as_documented",
        ],
    ),
    (
        "a file with holes that is larger than any memory",
        "one message with the file, status 2",
        &["files::events_that_claim_to_be_larger_than_any_memory_are_told"],
    ),
    (
        "the disk is full, or has no room for another file",
        "one message that says what to do, status 2; an older report is unchanged, nothing temporary stays",
        &[
            "disk::full_disk_is_told_and_the_old_report_stays",
            "disk::full_disk_is_told_once_by_three_processes",
            "disk::disk_without_room_for_another_file_is_told_before_the_work",
            "disk::disk_without_room_for_the_statistics_leaves_both_old_files",
            "disk::disk_without_room_for_the_details_leaves_all_old_files",
        ],
    ),
    (
        "a write, bringing the report to disk or putting it in place fails, for report or statistics",
        "one message with the file and what to do, status 2; both older files are unchanged, or none is there; nothing \
         temporary stays",
        &[
            "late::each_step_that_fails_is_told_and_leaves_both_old_files_or_none",
            "late::report_is_taken_back_when_its_statistics_cannot_be_put_in_place",
            "late::step_that_fails_is_told_once_by_three_processes",
        ],
    ),
    (
        "the summary cannot be written to standard output",
        "one message, status 1: the report is there. A reader that goes away, such as `head`, is no fault",
        &["late::summary_that_cannot_be_brought_to_disk_is_told_and_the_report_is_there"],
    ),
    (
        "the directory of the report is removed while it is written",
        "one message with the path, status 2",
        &["late::directory_that_is_removed_while_the_report_is_written_is_told"],
    ),
    (
        "the report grows beyond the limit on file sizes (`ulimit -f`)",
        "one message that names the limit, status 2; an older report is unchanged, nothing temporary stays",
        &["disk::report_beyond_the_limit_on_file_sizes_is_told_and_leaves_nothing"],
    ),
    (
        "the place of the report is read-only, or something that is not a file",
        "one message that says what to do, status 2, before the work starts",
        &[
            "disk::read_only_file_system_is_told_before_the_work",
            "disk::directory_where_nothing_can_be_created_is_told_before_the_work",
            "disk::device_is_no_place_for_a_report",
        ],
    ),
    (
        "few open files (`ulimit -n 256`, with 400 locations)",
        "a report: files are open only while they are opened; with room for one (`ulimit -n 4`) a report or one message",
        &[
            "limits::limit_of_256_open_files_is_enough_for_400_locations",
            "limits::limit_of_16_open_files_is_enough_too",
            "limits::limit_of_4_open_files_gives_a_report_or_says_what_to_do",
        ],
    ),
    (
        "little memory (`ulimit -v`)",
        "a report, or one message with the limit, what is taken and what to do, status 2",
        &["limits::limit_on_memory_gives_a_report_or_says_what_to_do"],
    ),
    (
        "less memory than the events take (`--memory`)",
        "the same report: the rest goes to a file in the directory of `--scratch`; if even what has to be in memory does not fit, one message with what is needed, status 2, before the work starts",
        &[
            "limits::lists_beyond_the_memory_that_is_allowed_go_to_a_file_and_the_report_is_the_same",
            "limits::memory_that_cannot_be_kept_to_is_told_at_once_with_what_to_do",
        ],
    ),
    (
        "the disk of that file is full, missing or itself in memory",
        "one message that says what to do, status 2",
        &["limits::file_for_the_rest_has_to_be_on_a_disk"],
    ),
    (
        "a number, count, length or reference that claims 2^63 or 2^64 - 1, in the definitions or the anchor",
        "a report, or one message with the file and status 2, within 1 GiB",
        &[
            "claims::huge_numbers_in_definitions_give_a_report_or_one_message",
            "claims::huge_numbers_in_local_definitions_give_a_report_or_one_message",
            "claims::huge_numbers_in_the_anchor_give_a_report_or_one_message",
            "claims::huge_number_of_properties_in_the_anchor_is_one_message",
        ],
    ),
    (
        "100000 nested calls",
        "a report with a call tree of that depth, within 10 s and 2 GiB; the summary cuts the names of deep call paths",
        &[
            "deep::recursion_of_depth_100000_gives_a_report",
            "deep::recursion_of_two_regions_of_depth_100000_gives_a_report",
        ],
    ),
];

/// The modules with tests.
const MODULES: [(&str, &str); 9] = [
    ("claims", include_str!("claims.rs")),
    ("deep", include_str!("deep.rs")),
    ("disk", include_str!("disk.rs")),
    ("files", include_str!("files.rs")),
    ("killed", include_str!("killed.rs")),
    ("late", include_str!("late.rs")),
    ("limits", include_str!("limits.rs")),
    ("signals", include_str!("signals.rs")),
    ("views", include_str!("views.rs")),
];

#[test]
fn page_has_these_faults() {
    let row = |(fault, outcome, _): &(&str, &str, &[&str])| format!("| {fault} | {outcome} |\n");
    let rows: String = FAULTS.iter().map(row).collect();
    is_written("docs/robustness.md", "tests/faults", &format!("| fault | what happens |\n|---|---|\n{rows}"));
}

#[test]
fn every_test_is_in_the_table_and_every_row_has_its_tests() {
    let mut tests = Vec::new();
    for (module, source) in MODULES {
        let after = source.split("#[test]\nfn ").skip(1);
        tests.extend(after.map(|text| format!("{module}::{}", text.split('(').next().unwrap())));
    }
    let mut shown: Vec<&str> = FAULTS.iter().flat_map(|row| row.2).copied().collect();
    tests.sort();
    shown.sort_unstable();
    assert_eq!(tests, shown);
}
