//! The first screen of a page: the words of the terminal, complete without scripts, and names that are text.

use details::advice::{ADVICE, AdviceFile};
use details::advice_words::nothing;
use serde_json::Value;
use show::status::Status;

use super::Made;
use crate::support::example::{self, Names};
use crate::support::{Printed, run};

/// A text with the escapes of HTML undone, and lines joined.
pub(super) fn text(html: &str) -> String {
    let mut text = String::new();
    for piece in html.split('<') {
        text.push_str(piece.split_once('>').map_or("", |(_, text)| text));
        text.push(' ');
    }
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    plain.replace("&amp;", "&").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn first_screen_has_the_words_of_the_terminal() {
    let made = Made::new(&Names::default(), |_| {});
    let (_, page) = made.page(&[]);
    let page = text(&page);
    let json = run(80, &[made.report.to_str().unwrap(), "--json"]);
    let json: Value = serde_json::from_str(&json.results).unwrap();
    let words = |value: &Value| value.as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    for sentence in json["headline"].as_array().unwrap() {
        assert!(page.contains(&words(sentence)), "{sentence} in {page}");
    }
    for action in json["actions"].as_array().unwrap() {
        for key in ["text", "path", "advice"] {
            assert!(page.contains(&words(&action[key]).replace('`', "")), "{key} of {action} in {page}");
        }
    }
    let shown = run(400, &[made.report.to_str().unwrap()]).results;
    // Each line of the terminal but the pictures, and the one about further commands.
    let mut compared = 0;
    for line in shown.lines().filter(|line| !line.contains(['▇', '▁']) && !line.starts_with("More: ")) {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = line.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ' ');
        let page = page.replace(" :", ":");
        assert!(page.contains(line), "{line:?} in {page}");
        compared += usize::from(!line.is_empty());
    }
    assert!(compared >= 10, "{shown}");
}

#[test]
fn page_without_details_has_a_first_screen() {
    let made = Made::new(&Names::default(), Vec::clear);
    let (printed, page) = made.page(&[]);
    assert!(
        page.contains("because of work on rank 0") && !page.contains("first-time"),
        "{}",
        printed.messages
    );
}

#[test]
fn damaged_grid_is_a_warning() {
    let made = Made::new(&Names::default(), |members| {
        let grid = members.iter_mut().find(|(name, _)| name == "replay.grid.table").unwrap();
        grid.1.truncate(100);
    });
    let (printed, page) = made.page(&[]);
    assert!(printed.messages.contains("shown without"), "{}", printed.messages);
    assert!(page.contains("first-classes") && !page.contains("first-time"));
}

#[test]
fn pages_are_the_same_bytes_and_ask_for_nothing() {
    let made = Made::new(&Names::default(), |_| {});
    let (first, second) = (made.page(&[]).1, made.page(&[]).1);
    assert_eq!(first, second);
    assert!(first.contains("default-src &#39;none&#39;") && !first.contains("unsafe"));
}

#[test]
fn title_is_that_of_the_user() {
    let made = Made::new(&Names::default(), |_| {});
    assert!(made.page(&[]).1.contains("<title>r.cubex</title>"));
    let page = made.page(&["--title", "a <b>"]).1;
    assert!(page.contains("<title>a &lt;b&gt;</title>") && page.contains("<h1>a &lt;b&gt;</h1>"));
}

#[test]
fn page_goes_to_standard_output_for_a_dash() {
    let made = Made::new(&Names::default(), |_| {});
    let printed = run(80, &["html", made.report.to_str().unwrap(), "-o", "-"]);
    assert_eq!((printed.status, printed.messages.as_str()), (Status::Done, ""));
    assert_eq!(printed.results, made.page(&[]).1);
}

#[test]
fn a_page_that_cannot_be_written_is_an_error_and_changes_nothing() {
    let made = Made::new(&Names::default(), |_| {});
    let out = made.path().join("missing/page.html");
    let printed = run(80, &["html", made.report.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    assert_eq!(printed.status, Status::Failed);
    assert!(printed.messages.contains("page.html: cannot be written"), "{}", printed.messages);
}

#[test]
fn hostile_names_are_text() {
    let long = "long".repeat(25_000);
    for name in crate::hostile::NAMES.iter().copied().chain([long.as_str(), "", "你好"]) {
        let all = || name.to_owned();
        let names = Names { program: all(), solve: all(), file: all(), communicator: all(), place: all() };
        let made = Made::new(&names, |_| {});
        // The script is ours.
        let page = made.page(&["--title", name]).1.replace(include_str!("../../page.js"), "");
        assert!(!page.contains(crate::hostile::is_hostile), "{name:?}");
        for harm in ["<img", "<script>document", "'x'</script>"] {
            assert!(!page.contains(harm), "{harm} in the page with {name:?}");
        }
        let first = page.split("<script").next().unwrap();
        assert!(!first.contains("onload=\"") && !first.contains("href"), "{name:?}");
        assert_eq!(page.matches("<script").count(), page.matches("</script>").count(), "{name:?}");
        if name.len() < 100 && !name.is_empty() {
            let shown = name.replace(crate::hostile::is_hostile, "\u{fffd}");
            assert!(text(&page).contains(shown.trim()), "{name:?} in {}", text(&page));
        }
    }
}

#[test]
fn damaged_tables_leave_the_rest_of_the_page() {
    for table in 0..=crate::support::example::tables().len() {
        for part in 1..8 {
            let made = Made::new(&Names::default(), |members| {
                let bytes = &mut members[table].1;
                bytes.truncate((bytes.len() * part / 8).max(1));
                // Sizes that the archive cannot hold.
                if bytes.len().is_multiple_of(512) {
                    bytes.pop();
                }
            });
            let (printed, page) = made.page(&[]);
            assert!(printed.messages.contains("shown without"), "{table}: {}", printed.messages);
            assert!(page.contains("because of work on rank 0"), "{table}");
        }
    }
}

#[test]
fn flipped_bytes_of_details_do_no_harm() {
    for table in 0..=crate::support::example::tables().len() {
        for step in 0..60 {
            let made = Made::new(&Names::default(), |members| {
                let bytes = &mut members[table].1;
                let at = step * bytes.len() / 60;
                bytes[at] ^= 1 << (step % 8);
            });
            assert!(made.page(&[]).1.contains("id=\"first\""), "{table}");
        }
    }
}

#[test]
fn what_does_not_fit_is_left_out_and_said() {
    let made = Made::new(&Names::default(), |_| {});
    let (printed, small) = made.page(&["--max-size", "1"]);
    let (all, large) = made.page(&[]);
    assert!(printed.messages.contains("does not fit into the page"), "{}", printed.messages);
    assert_eq!(all.messages, "");
    assert!(small.len() < large.len() && small.contains("because of work on rank 0"));
}

/// A page of the example with the member of advice.
fn advised(advice: &AdviceFile, more: &[&str]) -> (Printed, String) {
    let made = Made::new(&Names::default(), |members| members.push((ADVICE.into(), advice.to_bytes())));
    made.page(more)
}

#[test]
fn advice_is_in_the_place_of_culprits_with_links_to_its_call_paths() {
    let mut advice = example::advice();
    advice.advice[0].title = "<b>Work</b> is not balanced".into();
    advice.advice[1].place.cnode = None;
    let (_, page) = advised(&advice, &[]);
    assert!(page.contains("&lt;b&gt;Work&lt;/b&gt; is not balanced</strong>: about 0.037"), "{page}");
    // The hash of the call path, as in the ids of actions.
    let link = "<a href=\"#v=calls&amp;m=time&amp;p=8241f21d\">app/main/solve/work (solve.c:42)</a>";
    assert!(page.contains(link), "{page}");
    assert!(page.contains("app/main/solve/MPI_Recv (solve.c:42)") && page.matches("href=").count() == 1);
    let words = text(&page);
    assert!(words.contains("at most 0.030 s, 30.0 % of the run [fair]"), "{words}");
    assert!(words.contains("check: --what-if=balance=main/solve/work"), "{words}");
    assert!(!words.contains("others wait 0.180"), "{words}");
    assert!(page.contains("\"has_advice\":true"));
}

#[test]
fn page_says_where_there_is_no_advice_and_where_it_was_not_looked_for() {
    let do_first = |page: &str| {
        let section = page.split_once("id=\"first-actions\"").unwrap().1;
        text(section.split_once("</section>").unwrap().0)
    };
    let none = do_first(&advised(&example::no_advice(), &[]).1);
    assert_eq!(
        none,
        format!("Do first {}", nothing(&example::no_advice(), "replay-show advice --all").join(" "))
    );
    let (_, page) = Made::new(&Names::default(), |_| {}).page(&[]);
    assert!(page.contains("\"has_advice\":false") && do_first(&page).contains("others wait 0.180"));
}

#[test]
fn anonymous_pages_have_no_advice_and_say_so() {
    let (printed, page) = advised(&example::advice(), &["--anonymous"]);
    assert!(printed.messages.contains("not in the page: advice"), "{}", printed.messages);
    assert!(!page.contains("solve") && text(&page).contains("others wait 0.180"), "{page}");
}
