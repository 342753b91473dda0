//! The page in browsers: Chromium and Firefox show what `replay-show --json` prints, ask for nothing, and run nothing that a report
//! says. The checks are in `replay/show/page/tests/`; screenshots are kept in `target/page`.
//!
//! | file | content |
//! |---|---|
//! | `pages` | the pages that are checked, and what scripts get of the same reports |
//! | `rewrite` | reports with other names and topologies |
//! | `served` | the page that `serve` serves |

mod pages;
mod rewrite;
mod served;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use skip::{Need, skip};

use crate::support::{fresh, project};

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

/// Runs the checks of a file in pages that are made for them, if there are node and its packages.
fn check_pages(file: &str, make: impl FnOnce(&Path)) {
    let Some(node) = node() else { return };
    let folder = fresh();
    make(folder.path());
    check(node, file, folder.path());
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

#[test]
fn chromium_shows_what_json_says() {
    let Some(node) = node() else { return };
    let folder = fresh();
    pages::compared(folder.path());
    pages::split(folder.path());
    check(node, "chromium.test.mjs", folder.path());
    // The pictures of the README, whose letters depend on the fonts of a machine.
    if std::env::var_os("REPLAY_WRITE").is_some() {
        for (made, kept) in
            [("readme", "page"), ("overview-light", "page-overview"), ("waits-chain", "page-waits")]
        {
            let (made, kept) = (format!("target/page/{made}.png"), format!("docs/{kept}.png"));
            fs::copy(project(&made), project(&kept)).unwrap();
        }
    }
}

#[test]
fn chromium_shows_pages_of_all_kinds() {
    check_pages("kinds.test.mjs", pages::of_all_kinds);
}

#[test]
fn chromium_shows_many_ranks() {
    check_pages("many.test.mjs", pages::of_many);
}

#[test]
fn chromium_shows_iterations() {
    check_pages("iterations.test.mjs", pages::of_iterations);
}

#[test]
fn chromium_shows_comparisons() {
    check_pages("compare.test.mjs", pages::comparisons);
}

#[test]
fn firefox_shows_pages() {
    check_pages("firefox.test.mjs", pages::compared);
}
