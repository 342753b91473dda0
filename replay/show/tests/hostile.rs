//! Hostile names: functions, files, communicators and programs that are text, whatever they look like.

use serde_json::Value;
use show::status::Status;

use crate::screens::COMMANDS;
use crate::support::example::{self, Names};
use crate::support::run;

pub(crate) const NAMES: [&str; 16] = [
    "</script><script>document.title='x'</script>",
    "<img src=x onerror=alert(1)>",
    "\"onload=",
    "]]>",
    "{{7*7}}",
    "javascript:alert(1)",
    "a\u{2028}b",
    "a\u{202e}b",
    "::error::x",
    "%0A",
    "a|b",
    "`a`",
    "a;b->c",
    "../../x",
    "=1+2",
    "\x1b]0;title\x07\x1b[31m\u{9b}2J",
];

pub(crate) fn is_hostile(letter: char) -> bool {
    letter != '\n' && letter.is_control()
        || "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2028}\u{2029}\u{2066}".contains(letter)
}

#[test]
fn names_are_text_in_every_output() {
    let long = "long".repeat(25_000);
    let all = NAMES.iter().copied().chain([long.as_str(), "", "你好"]);
    for name in all {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.cubex");
        let name = name.to_owned();
        let names = Names {
            program: name.clone(),
            solve: name.clone(),
            file: name.clone(),
            communicator: name.clone(),
            place: name.clone(),
        };
        example::write(&path, &names, |_| {});
        let path = path.to_str().unwrap();
        for command in COMMANDS {
            for columns in [20, 80] {
                let text = run(columns, &[command, &[path]].concat());
                assert_eq!(text.status, Status::Done, "{command:?}: {}", text.messages);
                assert!(!text.results.contains(is_hostile), "{command:?}: {:?}", text.results);
            }
            let ascii = run(80, &[command, &[path, "--ascii"]].concat());
            assert!(ascii.results.is_ascii(), "{command:?}: {}", ascii.results);
            let json = run(80, &[command, &[path, "--json"]].concat());
            assert!(!json.results.contains(is_hostile), "{command:?}");
            let _: Value = serde_json::from_str(&json.results).unwrap();
            let csv = run(80, &[command, &[path, "--csv"]].concat());
            assert!(!csv.results.contains(is_hostile), "{command:?}");
            let is_formula = |field: &str| {
                field.trim_start_matches('"').starts_with(['=', '+', '@']) && field.parse::<f64>().is_err()
            };
            let fields = || csv.results.lines().flat_map(|line| line.split(','));
            assert!(!fields().any(is_formula), "{command:?}: {}", csv.results);
        }
    }
}

#[test]
fn messages_about_hostile_files_do_not_control_the_terminal() {
    let printed = run(80, &["tree", "\x1b[31m\u{202e}.cubex"]);
    assert!(!printed.messages.contains(is_hostile), "{:?}", printed.messages);
}
