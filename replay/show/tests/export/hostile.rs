//! Names that do harm where they are not taken as text: they come out as text in every format, and files stay valid.

use serde_json::Value;

use super::report::{HOSTILE, Names};
use super::{DIRECTORIES, Exported, FILES};

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
        for format in ["speedscope", "chrome", "json", "hatchet", "bmf", "github-benchmark"] {
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

impl Exported {
    fn text_of(&self, format: &str, file: &str) -> String {
        std::fs::read_to_string(self.export(format, &[]).join(file)).unwrap()
    }
}
