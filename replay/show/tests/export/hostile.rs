//! Names that do harm where they are not taken as text: they come out as text in every format, and files stay valid.

use serde_json::Value;
use show::status::Status;

use super::judges::judge;
use super::report::{HOSTILE, Names};
use super::{DIRECTORIES, Exported, FILES};
use crate::support::run;

/// All names: the hostile ones, an empty one, and a very long one.
fn all() -> Vec<String> {
    let mut names: Vec<String> = HOSTILE.map(str::to_owned).into();
    names.push(String::new());
    names.push("x".repeat(100_000));
    names
}

#[test]
fn every_format_takes_every_name() {
    for name in all() {
        let exported = Exported::new(&Names::all(&name));
        for format in FILES.into_iter().chain(DIRECTORIES) {
            exported.export(format, &[]);
        }
        for format in ["speedscope", "chrome", "json", "hatchet", "bmf", "github-benchmark", "structure-json"]
        {
            let text = exported.text(format, &[]);
            assert!(serde_json::from_str::<Value>(&text).is_ok(), "{format}: {name:?}");
            assert!(
                !text.contains("</script>") && !text.contains(['\u{2028}', '\u{202e}']),
                "{format}: {name:?}"
            );
        }
        for line in exported.text("folded", &[]).lines() {
            let (stack, value) = line.rsplit_once(' ').unwrap();
            assert!(stack.split(';').count() <= 2 && value.parse::<u64>().is_ok(), "{line}");
        }
        for line in exported.text("extrap", &[]).lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            assert!(value["callpath"].as_str().unwrap().split("->").count() <= 2, "{line}");
        }
        let labels = exported.text_of("paraver", "trace.row");
        assert_eq!(labels.lines().count(), 4 + 1 + 4 + 4 + 4 + 3, "{name:?}: a line for each name");
        let folder = exported.export("csv", &[]);
        for file in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(!text.contains("\n=") && !text.contains(",="), "no formula: {text}");
        }
    }
}

#[test]
fn names_that_are_no_utf_8_become_text() {
    let exported = Exported::new(&Names::all("b\u{e9}b\u{e9}"));
    let mut bytes = std::fs::read(&exported.report).unwrap();
    // The description of the report, as a program in a locale of Latin-1 would write it.
    let begin = bytes.windows(5).position(|it| it == b"<?xml").unwrap();
    let mut changed = 0;
    while let Some(at) = bytes[begin..].windows(2).position(|it| it == "\u{e9}".as_bytes()) {
        bytes[begin + at..][..2].copy_from_slice(b"\xe9 ");
        changed += 1;
    }
    assert!(changed > 6, "{changed}");
    std::fs::write(&exported.report, bytes).unwrap();
    let report = exported.report.to_str().unwrap();
    for command in [&["tree", report][..], &["ranks", report], &["tree", "--csv", report], &["waits", report]]
    {
        let printed = run(80, command);
        assert_eq!((printed.status, printed.messages.as_str()), (Status::Done, ""), "{command:?}");
    }
    assert!(run(80, &["tree", report]).results.contains("b\u{fffd} b"));
    for format in FILES.into_iter().filter(|format| !matches!(*format, "perfetto" | "t-efg")) {
        exported.text(format, &[]);
    }
    let is_text = |folder: &str| {
        let files = std::fs::read_dir(exported.export(folder, &[])).unwrap();
        files.into_iter().for_each(|file| drop(std::fs::read_to_string(file.unwrap().path()).unwrap()));
    };
    is_text("csv");
    is_text("paraver");
    assert!(exported.text("folded", &[]).contains("b\u{fffd} b"));
    judge("data", "perfetto", "perfetto_trace.py", &[&exported.export("perfetto", &[])]);
    let tables = exported.export("parquet", &[]);
    judge("data", "pandas, polars, duckdb, pyarrow", "parquet.py", &[&tables, "b\u{fffd} b".as_ref()]);
}

impl Exported {
    fn text_of(&self, format: &str, file: &str) -> String {
        std::fs::read_to_string(self.export(format, &[]).join(file)).unwrap()
    }
}
