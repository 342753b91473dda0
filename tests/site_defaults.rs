//! Defaults that a site sets for all users (site 8), as `replay-analyze` takes them: from `etc/replay.conf` of its installation.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::support::run::{Finished, alone, program, run};
use crate::support::{archive, fresh};

/// An installation with a file of defaults.
struct Site {
    directory: tempfile::TempDir,
}

impl Site {
    fn new(defaults: &str) -> Site {
        let directory = fresh();
        for folder in ["bin", "etc"] {
            fs::create_dir(directory.path().join(folder)).unwrap();
        }
        fs::copy(program(), directory.path().join("bin/replay-analyze")).unwrap();
        fs::write(directory.path().join("etc/replay.conf"), defaults).unwrap();
        Site { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn analyze(&self, options: &[&str], variables: &[(&str, &str)]) -> Finished {
        let mut command = Command::new(self.path("bin/replay-analyze"));
        alone(&mut command);
        command.args(options).arg("-o").arg(self.path("trace.cubex")).arg(archive("comms.7"));
        run(command.arg("--force").envs(variables.iter().copied()))
    }
}

#[test]
fn defaults_count_unless_the_user_says_otherwise() {
    let site = Site::new(
        "REPLAY_SCRATCH = /nowhere/scratch\nREPLAY_RULES=/nowhere/rules # of the site\nREPLAY_DEPTH=3\n",
    );
    let scratch = site.analyze(&["--memory", "64M"], &[]);
    assert!(scratch.stderr.contains("/nowhere/scratch: "), "{}", scratch.stderr);
    let other = site.path("bin").display().to_string();
    site.analyze(&["--memory", "64M", "--scratch", &other], &[]).expect(0);
    site.analyze(&["--memory", "64M"], &[("REPLAY_SCRATCH", &other)]).expect(0);
    let rules = site.analyze(&["--advice"], &[]);
    assert!(rules.expect(2).stderr.contains("REPLAY_RULES: cannot read /nowhere/rules"), "{}", rules.stderr);
    let own = site.path("own.toml");
    fs::write(&own, "format = 1\n").unwrap();
    site.analyze(&["--advice"], &[("REPLAY_RULES", own.to_str().unwrap())]).expect(0);
}

#[test]
fn line_that_is_no_setting_is_told_with_its_place() {
    let site = Site::new("# defaults\nREPLAY_MPI\n");
    let refused = site.analyze(&[], &[]);
    let message =
        format!("replay-analyze: {}: line 2: expected NAME=VALUE", site.path("etc/replay.conf").display());
    assert_eq!(refused.expect(2).messages(), [message]);
}
