//! Names that try to be more than names, in every output of a comparison.

use std::path::Path;

use cubex::CnodeId;
use show::status::Status;

use super::Reports;
use super::gates::check_junit;
use crate::support::{Maker, run};

const NAMES: [&str; 19] = [
    "</script><script>document.title='x'</script>",
    "<img src=x onerror=alert(1)>",
    "\"onload=",
    "]]>",
    "{{7*7}}",
    "javascript:alert(1)",
    "\u{2028}b",
    "\u{202e}c",
    "::error::x",
    "%0A",
    "|",
    "`",
    "a;b",
    "a->b",
    "../../x",
    "",
    "##[error]y",
    "\u{1b}[31m",
    "=1+2",
];

fn write(reports: &Reports, file: &str, seconds: f64) -> String {
    let mut maker = Maker::new(2);
    let time = maker.metric("time", None);
    let wait = maker.metric("mpi_latesender", Some(time));
    let root = maker.call(NAMES[0], None);
    let long = "x".repeat(100_000);
    let calls: Vec<CnodeId> =
        NAMES.iter().copied().chain([long.as_str()]).map(|name| maker.call(name, Some(root))).collect();
    for (at, &call) in calls.iter().enumerate() {
        let value = seconds * (at + 1) as f64;
        maker.row(time, call, &[value, value]);
        maker.row(wait, call, &[value, value]);
    }
    let path = reports.path(file);
    maker.write(&path, &[]);
    path.into_os_string().into_string().unwrap()
}

#[test]
fn hostile_names_stay_text_in_every_output() {
    let reports = Reports::new();
    let (a, b) = (write(&reports, "a.cubex", 1.0), write(&reports, "b.cubex", 2.0));
    let file = |name: &str| reports.path(name).into_os_string().into_string().unwrap();
    let (junit, markdown, metrics, log) = (file("j"), file("m"), file("o"), file("l"));
    let gates = ["--fail-if", "run > +5%", "--fail-if", "mpi_latesender@**/'::error::x' > +5%"];
    let files = ["--junit", &junit, "--markdown", &markdown, "--openmetrics", &metrics];
    for format in [
        &[][..],
        &["--github"],
        &["--json"],
        &["--csv"],
        &["--tsv"],
        &["--ascii"],
        &["--by", "region"],
        &["--scaling", "weak"],
    ] {
        let printed = run(80, &[&["diff", &a, &b], &gates[..], &files[..], format].concat());
        assert_eq!(printed.status, Status::GateFailed, "{format:?}: {}", printed.messages);
        let is_control = |letter: char| {
            letter.is_control() && !"\n\t".contains(letter) || ('\u{2028}'..='\u{202e}').contains(&letter)
        };
        assert!(!printed.results.contains(is_control), "{format:?}");
        if format == ["--github"] {
            let commands = printed.results.lines().filter(|line| line.trim_start().starts_with("::"));
            assert!(
                commands.clone().count() == 2
                    && commands.clone().all(|line| line.starts_with("::error title="))
            );
            assert!(!printed.results.contains("##["));
        }
        if format == ["--json"] {
            let value: serde_json::Value = serde_json::from_str(&printed.results).unwrap();
            let paths: Vec<&str> =
                value["calls"].as_array().unwrap().iter().filter_map(|row| row["path"].as_str()).collect();
            assert!(paths.iter().any(|path| path.ends_with("/\u{202e}c")), "names are whole in JSON");
        }
        for written in ["j", "m", "o"] {
            let text = reports.text(written);
            assert!(text.len() < 64 * 1024 && !text.contains(|letter: char| is_control(letter)), "{written}");
        }
    }
    check_junit(&[Path::new(&junit)]);
    assert_eq!(
        run(80, &["history", "add", &log, &b, "--label", "a=\u{202e}\n::error::"]).status,
        Status::Done
    );
    let printed = run(80, &["history", "show", &log]);
    assert_eq!((printed.status, std::fs::read_to_string(&log).unwrap().lines().count()), (Status::Done, 1));
    let printed = run(80, &["diff", &a, "--against", &log]);
    assert_eq!(printed.status, Status::Done, "{}", printed.messages);
}
