//! Programs of others that judge exports and verdicts, each in an environment of its own: `make judges` installs them below
//! `target/judges-exports`; `REPLAY_EXPORT_JUDGES` names another directory.

use std::path::{Path, PathBuf};
use std::process::Command;

use skip::{Need, skip};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn installed() -> PathBuf {
    std::env::var_os("REPLAY_EXPORT_JUDGES")
        .map_or_else(|| project().join("target/judges-exports"), PathBuf::from)
}

/// Runs a script of `tests/export/judges` in an environment, and returns what it prints; `None`, with a message, if there is no
/// such environment.
pub(crate) fn judge(environment: &str, modules: &str, script: &str, arguments: &[&Path]) -> Option<String> {
    let python = installed().join(environment).join("bin/python");
    let probe = Command::new(&python).args(["-c", &format!("import {modules}")]).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        let python = python.display();
        skip(Need::Python, format!("{script}: {python} cannot import {modules} (make judges installs it)"));
        return None;
    }
    Some(run(Command::new(python), script, arguments))
}

/// Runs a script of node with a browser; `None`, with a message, if there is none.
pub(crate) fn browser(script: &str, arguments: &[&Path]) -> Option<String> {
    let modules = installed().join("node/node_modules");
    let chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].map(Path::new);
    let chromium = chromium.into_iter().find(|path| path.exists());
    let Some(chromium) = chromium.filter(|_| modules.join("speedscope").exists()) else {
        skip(
            Need::System,
            format!("{script}: needs node, npm's speedscope and playwright-core, and Chromium (make judges)"),
        );
        return None;
    };
    let mut node = Command::new("node");
    node.env("NODE_PATH", &modules).env("CHROMIUM", chromium).env("MODULES", &modules);
    Some(run(node, script, arguments))
}

fn run(mut program: Command, script: &str, arguments: &[&Path]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/export/judges").join(script);
    let printed = program
        .env("PYTHONIOENCODING", "utf-8")
        .env("MPLCONFIGDIR", std::env::temp_dir())
        .current_dir(project())
        .arg(&script)
        .args(arguments)
        .output()
        .expect("the program runs");
    assert!(
        printed.status.success(),
        "{}: {}\n{}",
        script.display(),
        String::from_utf8_lossy(&printed.stdout),
        String::from_utf8_lossy(&printed.stderr)
    );
    String::from_utf8_lossy(&printed.stdout).into_owned()
}
