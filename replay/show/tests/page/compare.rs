//! The page of a comparison says what `diff` prints.

use show::status::Status;

use super::Made;
use super::first::text;
use crate::support::example::Names;
use crate::support::run;

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn page_of_a_comparison_has_what_diff_prints() {
    let a = Made::new(&Names::default(), |_| {});
    // Another name of a function, and half of the waiting gone.
    let b = Made::new(&Names { solve: "solve_again".into(), ..Names::default() }, |members| {
        let text = String::from_utf8(members[0].1.clone()).unwrap();
        members[0].1 = text.replace("\"waiting\":0.24", "\"waiting\":0.12").into_bytes();
    });
    let [one, other] = [&a, &b].map(|made| made.report.to_str().unwrap());
    let out = a.path().join("diff.html");
    let made = run(400, &["html", "--diff", one, other, "-o", out.to_str().unwrap()]);
    assert_eq!(made.status, Status::Done, "{}", made.messages);
    let page = text(&std::fs::read_to_string(&out).unwrap());
    let printed = run(400, &["diff", one, other]);
    assert_eq!(printed.messages, made.messages);
    let mut compared = 0;
    for line in printed.results.lines().map(words).filter(|line| !line.is_empty()) {
        assert!(page.contains(&line), "{line:?} in {page}");
        compared += 1;
    }
    assert!(compared > 5 && page.contains("Waiting over time"), "{}", printed.results);
    let separated = run(400, &["html", "-o", "-", "--diff", one, "--", other]);
    assert_eq!(separated.status, Status::Done, "{}", separated.messages);
}

#[test]
fn hostile_names_in_comparisons_are_text() {
    for name in crate::hostile::NAMES {
        let all = || name.to_owned();
        let names = Names { program: all(), solve: all(), file: all(), communicator: all(), place: all() };
        let (a, b) = (Made::new(&Names::default(), |_| {}), Made::new(&names, |_| {}));
        let [one, other] = [&a, &b].map(|made| made.report.to_str().unwrap());
        let page = run(80, &["html", "-o", "-", "--title", name, "--diff", one, other]);
        assert_eq!(page.status, Status::Done, "{}", page.messages);
        assert!(!page.results.contains(crate::hostile::is_hostile), "{name:?}");
        assert!(!page.results.contains("<img") && !page.results.contains("<script"), "{name:?}");
    }
}

#[test]
fn a_page_is_of_a_report_or_of_a_comparison() {
    for arguments in
        [&["html"][..], &["html", "a.cubex", "--diff", "b.cubex", "c.cubex"], &["html", "--diff", "a.cubex"]]
    {
        assert_eq!(run(80, arguments).status, Status::Failed, "{arguments:?}");
    }
}
