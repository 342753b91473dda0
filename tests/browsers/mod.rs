//! The page in browsers: Chromium and Firefox show what `replay-show --json` prints, ask for nothing, and run nothing that a report
//! says. The checks are in `replay/show/page/tests/`; screenshots are kept in `target/page`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use replay::Semantics;
use serde_json::{Value, json};
use skip::{Need, skip};

use crate::show::json as printed;
use crate::support::{analyze, archive, fresh, project};

/// Node with the packages of the page; `None`, with a message, if something is missing.
fn node() -> Option<Command> {
    let modules = project("replay/show/page/node_modules/playwright-core");
    let has_node = Command::new("node").arg("--version").output().is_ok_and(|it| it.status.success());
    if has_node && modules.exists() {
        return Some(Command::new("node"));
    }
    skip(Need::System, "pages in browsers: needs node and npm's packages of the page (make judges)");
    None
}

/// Makes the page of a report, and beside it what scripts get of the same: `NAME.html`, `NAME.json`.
fn make(report: &Path, name: &str, folder: &Path) {
    let path = report.to_str().unwrap();
    let page = folder.join(format!("{name}.html"));
    let title = format!("{name}.cubex");
    printed(&["html", path, "-o", page.to_str().unwrap(), "--title", &title]);
    let metrics = "time,waiting,delay,mpi_latesender,visits,comp";
    let classes = details_classes(report);
    let times: Value = classes
        .iter()
        .map(|class| {
            let cells = printed(&["time", path, "-m", class, "--rows", "1"]);
            let seconds =
                cells["cells"].as_array().unwrap().iter().map(|cell| cell["seconds"].as_f64().unwrap());
            json!([class, seconds.sum::<f64>()])
        })
        .collect();
    let all = json!({
        "overview": printed(&[path]),
        "tree": printed(&["tree", path, "-m", metrics]),
        "ranks": printed(&["ranks", path, "-m", metrics]),
        "waits": printed(&["waits", path, "--chain"]),
        "matrix": printed(&["matrix", path]),
        "sizes": printed(&["matrix", path, "--sizes"]),
        "collectives": printed(&["matrix", path, "--collectives"]),
        "times": times,
    });
    fs::write(folder.join(format!("{name}.json")), all.to_string()).unwrap();
}

/// Names of the classes of time of a report.
fn details_classes(report: &Path) -> Vec<String> {
    let manifest = cubex::Report::open(report).unwrap().member(details::manifest::MANIFEST).unwrap().unwrap();
    let manifest = details::manifest::Manifest::parse(&manifest).unwrap();
    manifest.classes.into_iter().map(|class| class.name).collect()
}

/// Runs the checks of a file in all pages of a folder.
fn check(mut node: Command, file: &str, folder: &Path) {
    let screenshots = project("target/page");
    fs::create_dir_all(&screenshots).unwrap();
    let tests: PathBuf = project("replay/show/page/tests").join(file);
    let run = node.arg("--test").arg(&tests).env("PAGES", folder).env("SCREENSHOTS", &screenshots);
    let printed = run.output().expect("node runs");
    let text = String::from_utf8_lossy(&printed.stdout);
    for line in text.lines().filter(|line| line.contains("skipped:")) {
        println!("{}", line.trim_start_matches(['#', ' ']));
    }
    assert!(printed.status.success(), "{file}: {text}\n{}", String::from_utf8_lossy(&printed.stderr));
}

/// The pages that are checked: of the trace that ships, of one with threads, and of many ranks.
fn pages(folder: &Path) {
    for (name, trace) in [("chain", "imbalance_chain.4"), ("hybrid", "hybrid.2x3")] {
        let report = folder.join(format!("{name}.cubex"));
        analyze(&archive(trace), &report, Semantics::Corrected).unwrap();
        make(&report, name, folder);
    }
    let report = folder.join("chain.cubex");
    let split = folder.join("split");
    let (report, split) = (report.to_str().unwrap(), split.to_str().unwrap());
    printed(&["html", report, "--split", split, "--title", "chain.cubex"]);
}

#[test]
fn chromium_shows_what_json_says() {
    let Some(node) = node() else { return };
    let folder = fresh();
    pages(folder.path());
    check(node, "chromium.test.mjs", folder.path());
    // The picture of the README, whose letters depend on the fonts of a machine.
    if std::env::var_os("REPLAY_WRITE").is_some() {
        fs::copy(project("target/page/readme.png"), project("docs/page.png")).unwrap();
    }
}

#[test]
fn firefox_shows_pages() {
    let Some(node) = node() else { return };
    let folder = fresh();
    pages(folder.path());
    check(node, "firefox.test.mjs", folder.path());
}
