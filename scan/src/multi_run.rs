//! Files with several configurations (`-M`), in Scalasca's format: lines `NAME=VALUE` in sections. One that begins with `--`, which is
//! the first, is for all; each that begins with `-` is a configuration (site 4.2).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::variables::Variables;

/// How names of variables begin that belong into the file.
const OWN: [&str; 3] = ["SCOREP_", "SCAN_", "REPLAY_"];

/// A configuration: how the environment of a run differs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Configuration {
    /// What is behind the dash.
    pub(crate) title: String,
    /// Variables that are set.
    pub(crate) set: BTreeMap<String, String>,
    /// Variables of other configurations, which are not set in this one.
    pub(crate) unset: Vec<String>,
}

impl Configuration {
    /// Returns the variables of a run.
    pub(crate) fn applied(&self, variables: &Variables) -> Variables {
        let mut applied = variables.clone();
        applied.retain(|name, _| !self.unset.contains(name));
        applied.extend(self.set.clone());
        applied
    }
}

/// Reads files; what later ones set for all counts more. Without any there is one configuration, the environment as it is.
///
/// # Errors
/// If a file cannot be read, a line is wrong, or the environment has variables that belong into the file.
pub(crate) fn read(files: &[PathBuf], variables: &Variables) -> Result<Vec<Configuration>> {
    if files.is_empty() {
        return Ok(vec![Configuration::default()]);
    }
    let outside = variables
        .iter()
        .filter(|(name, value)| !value.is_empty() && OWN.iter().any(|begin| name.starts_with(begin)));
    let outside: Vec<String> = outside.map(|(name, value)| format!("{name}={value}")).collect();
    if !outside.is_empty() {
        return Err(Error::not_started(format!(
            "with -M these variables belong into its file, into the section for all that begins with --, and not into the environment: \
             unset {}",
            outside.join(", ")
        )));
    }
    let mut all = Sections::default();
    for path in files {
        let text =
            fs::read_to_string(path).map_err(|cause| Error::io(path, "read the configurations", cause))?;
        all.read(&text, path)?;
    }
    Ok(all.configurations())
}

/// What files have.
#[derive(Debug, Default)]
struct Sections {
    for_all: BTreeMap<String, String>,
    runs: Vec<Configuration>,
}

impl Sections {
    fn read(&mut self, text: &str, path: &Path) -> Result<()> {
        let (mut is_for_all, mut has_run) = (false, false);
        for (number, line) in (1..).zip(text.lines()) {
            let wrong =
                |what: &str| Err(Error::not_started(format!("{}: line {number}: {what}", path.display())));
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line.starts_with("--") {
                if is_for_all || has_run {
                    return wrong(
                        "the section for all, which begins with --, has to be the first, and the only one",
                    );
                }
                is_for_all = true;
                continue;
            }
            if let Some(title) = line.strip_prefix('-') {
                has_run = true;
                self.runs.push(Configuration { title: title.trim().into(), ..Configuration::default() });
                continue;
            }
            let Some((name, value)) = line.split_once('=') else { return wrong("expected NAME=VALUE") };
            if name.is_empty() || name.contains(char::is_whitespace) {
                return wrong("the name of a variable has no spaces, none in front of = either");
            }
            let to = match (has_run, self.runs.last_mut()) {
                (true, Some(run)) => &mut run.set,
                _ if is_for_all => &mut self.for_all,
                _ => return wrong("expected a line that begins with - or -- before any variable"),
            };
            to.insert(name.into(), unquoted(value).into());
        }
        match is_for_all || has_run {
            true => Ok(()),
            false => Err(Error::not_started(format!(
                "{}: there is no section, which begins with - or --",
                path.display()
            ))),
        }
    }

    fn configurations(mut self) -> Vec<Configuration> {
        if self.runs.is_empty() {
            self.runs.push(Configuration::default());
        }
        let names: BTreeSet<String> = self.runs.iter().flat_map(|run| run.set.keys().cloned()).collect();
        for run in &mut self.runs {
            let for_all = self.for_all.iter().map(|(name, value)| (name.clone(), value.clone()));
            let of_run = std::mem::take(&mut run.set);
            run.set = for_all.chain(of_run).collect();
            run.unset = names.iter().filter(|name| !run.set.contains_key(*name)).cloned().collect();
        }
        self.runs
    }
}

/// Removes quotes around a value.
fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let within = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::of;

    /// As in Scalasca's guide: the same for all, a plain run, one with a trace.
    const EXAMPLE: &str = "# Runs
-- For all
SCOREP_FILTERING_FILE='my filter'
OMP_NUM_THREADS=2

- Profile
# nothing
-Trace
  SCOREP_ENABLE_TRACING=true
OMP_NUM_THREADS=4
MODE=\"x=y\"
";

    fn configurations(text: &str) -> Result<Vec<Configuration>> {
        let mut all = Sections::default();
        all.read(text, Path::new("f"))?;
        Ok(all.configurations())
    }

    #[test]
    fn sections_are_configurations_with_what_is_for_all() {
        let [profile, trace] = &configurations(EXAMPLE).unwrap()[..] else { panic!("not two") };
        assert_eq!((&*profile.title, &*trace.title), ("Profile", "Trace"));
        let for_all = [("OMP_NUM_THREADS", "2"), ("SCOREP_FILTERING_FILE", "my filter")];
        assert_eq!(profile.set, of(&for_all));
        assert_eq!(profile.unset, ["MODE", "SCOREP_ENABLE_TRACING"]);
        assert_eq!((trace.set["OMP_NUM_THREADS"].as_str(), trace.set["MODE"].as_str()), ("4", "x=y"));
        assert!(trace.unset.is_empty() && trace.set.contains_key("SCOREP_FILTERING_FILE"));
        let environment = of(&[("MODE", "z"), ("HOME", "/h")]);
        assert_eq!(profile.applied(&environment), of(&[&for_all[..], &[("HOME", "/h")]].concat()));
    }

    #[test]
    fn section_for_all_alone_is_one_configuration() {
        let all = configurations("--\nA=\n").unwrap();
        assert_eq!((all.len(), &all[0].set), (1, &of(&[("A", "")])));
        assert_eq!(read(&[], &of(&[("SCAN_WAIT", "1")])).unwrap(), [Configuration::default()]);
    }

    #[test]
    fn wrong_lines_are_named() {
        let error = |text: &str| configurations(text).unwrap_err().to_string();
        assert!(error("A=1\n").starts_with("f: line 1: expected a line that begins with -"));
        assert!(error("-\nA\n").starts_with("f: line 2: expected NAME=VALUE"));
        assert!(error("-\nA =1\n").contains("line 2: the name of a variable"));
        assert!(error("-\n--\n").contains("line 2: the section for all"));
        assert!(error("--\n--\n").contains("line 2: the section for all"));
        assert!(error("# nothing\n").contains("there is no section"));
    }

    #[test]
    fn variables_of_the_environment_that_belong_into_the_file_are_listed() {
        let variables =
            of(&[("SCOREP_TOTAL_MEMORY", "1G"), ("REPLAY_SAMPLE", "9"), ("SCAN_WAIT", ""), ("HOME", "/h")]);
        let error = read(&["/nowhere".into()], &variables).unwrap_err();
        assert!(error.to_string().ends_with("unset REPLAY_SAMPLE=9, SCOREP_TOTAL_MEMORY=1G"), "{error}");
        let error = read(&["/nowhere".into()], &of(&[])).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere: cannot read") && error.status == 2, "{error}");
    }

    #[test]
    fn files_follow_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("a", "--\nA=1\nB=1\n-x\nC=1\n"), ("b", "--\nA=2\n-y\n")].map(|(name, text)| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        });
        let all = read(&files, &of(&[])).unwrap();
        assert_eq!(all[0].set, of(&[("A", "2"), ("B", "1"), ("C", "1")]));
        assert_eq!(
            (all[1].set.clone(), all[1].unset.clone()),
            (of(&[("A", "2"), ("B", "1")]), vec!["C".to_owned()])
        );
    }
}
