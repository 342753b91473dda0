//! Pages without names, and pages in several files.

use super::Made;
use crate::support::example::Names;
use crate::support::run;

#[test]
fn anonymous_pages_have_no_names_of_the_program() {
    let names = Names {
        program: "secretprogram".into(),
        solve: "secretsolve".into(),
        file: "/home/secretuser/secretfile.c".into(),
        communicator: "secretcommunicator".into(),
        place: "rank 0, secretthread".into(),
    };
    let made = Made::new(&names, |_| {});
    assert!(made.page(&[]).1.matches("secret").count() > 5);
    let (printed, page) = made.page(&["--anonymous"]);
    assert!(!page.contains("secret") && !page.contains("machine m"), "{}", printed.messages);
    assert!(!page.contains(made.path().to_str().unwrap()));
    // What everybody knows stays, and so do the numbers.
    for word in ["0.180", "rank 3", "late senders", "MPI_Recv", "<title>report.cubex</title>"] {
        assert!(page.contains(word), "{word}");
    }
}

#[test]
fn anonymous_pages_say_no_paths_in_their_limits() {
    let made = Made::new(&Names::default(), |members| {
        members[1..].iter_mut().for_each(|(_, bytes)| bytes.truncate(60));
    });
    let page = made.page(&["--anonymous"]).1;
    assert!(page.contains("shown without") && !page.contains(made.path().to_str().unwrap()));
}

#[test]
fn split_pages_have_their_parts_as_files() {
    let made = Made::new(&Names::default(), |_| {});
    let folder = made.path().join("site");
    let arguments = ["html", made.report.to_str().unwrap(), "--split", folder.to_str().unwrap()];
    let printed = run(80, &arguments);
    assert!(printed.results.contains("index.html"), "{}", printed.messages);
    let index = std::fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(index.contains("because of work on rank 0") && index.contains("script-src &#39;self&#39;"));
    for file in ["page.css", "page.js", "report.json", "calls.bin", "waits.bin"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    assert!(index.contains("\"waits.bin\""), "the page knows its files");
    // A second one takes its place.
    assert_eq!(run(80, &arguments).messages, "");
}
