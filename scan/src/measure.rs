//! One run: measures, keeps what belongs to the measurement, analyses.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use launcher::ProgramEnd;
use tracing::debug;

use crate::choices::{Choices, Mode};
use crate::error::{Error, Result, say};
use crate::logged;
use crate::records;
use crate::steps::Step;
use crate::variables::Variables;

/// Time between two looks at the file that blocks the start (site 4.2).
const LOOK: Duration = Duration::from_secs(10);

/// Exit statuses of the analyzer with a report.
const REPORTS: [ProgramEnd; 2] = [ProgramEnd::Exit(0), ProgramEnd::Exit(1)];

/// A run.
#[derive(Debug)]
pub(crate) struct Run<'r> {
    /// The experiment directory.
    pub(crate) directory: PathBuf,
    /// What measures; an analysis alone has nothing.
    pub(crate) measure: Option<Step>,
    /// What analyses.
    pub(crate) analyze: Option<Step>,
    pub(crate) choices: &'r Choices,
    /// What was chosen, as variables of Score-P.
    pub(crate) chosen: Variables,
    /// The file that blocks the start.
    pub(crate) lock: Option<&'r Path>,
    pub(crate) is_verbose: bool,
}

impl Run<'_> {
    /// Returns the commands in their order.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.measure.iter().chain(&self.analyze)
    }

    /// Runs the commands.
    ///
    /// # Errors
    /// If one cannot be started, or leaves no experiment or no report.
    pub(crate) fn carry_out(&self) -> Result<()> {
        let shown = self.directory.display();
        if let Some(step) = &self.measure {
            make_room(&self.directory, self.choices)?;
            self.wait_for_lock();
            self.measure(step)?;
            records::write(&self.directory, &self.chosen, self.choices.filter.as_deref())?;
        } else if !self.directory.is_dir() {
            return Err(Error::not_started(format!("{shown}: there is no such experiment: name it with -e")));
        }
        let analyzed = match &self.analyze {
            Some(step) => self.analyze(step),
            None => Ok(()),
        };
        if self.measure.is_some() {
            records::write_manifest(&self.directory, &self.steps().collect::<Vec<_>>())?;
        }
        analyzed?;
        say(&format!("{shown} is complete"));
        Ok(())
    }

    fn measure(&self, step: &Step) -> Result<()> {
        self.tell(step);
        let parent =
            self.directory.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = self.directory.file_name().unwrap_or_default().to_string_lossy();
        // The directory must not exist when the program starts.
        let parent = &std::path::absolute(parent).unwrap_or_else(|_| parent.into());
        let log = tempfile::Builder::new().prefix(&format!("{name}.")).suffix(".log").tempfile_in(parent);
        let mut log =
            log.map_err(|cause| Error::io(parent, "make a file for the output of the program", cause))?;
        let end = logged::run(step, log.as_file_mut());
        debug!(?end, directory = ?self.directory, "measured");
        let mut seconds = 0..self.choices.wait;
        while !self.directory.exists() && seconds.next().is_some() {
            sleep(Duration::from_secs(1));
        }
        if self.choices.mode == Mode::Nothing {
            fs::create_dir(&self.directory)
                .map_err(|cause| Error::io(&self.directory, "make the directory", cause))?;
        }
        if !self.directory.is_dir() {
            end?;
            let kept = log
                .keep()
                .map(|(_, path)| format!("; what the program has printed is in {}", path.display()));
            return Err(Error::no_experiment(format!(
                "there is no {}: nothing was measured{}",
                self.directory.display(),
                kept.unwrap_or_default()
            )));
        }
        let path = self.directory.join("scorep.log");
        log.persist(&path)
            .map_err(|error| Error::io(&path, "put the output of the program there", error.error))?;
        end.map(drop)
    }

    fn analyze(&self, step: &Step) -> Result<()> {
        let (directory, shown) = (&self.directory, self.directory.display());
        let has = |name: &str| {
            fs::metadata(directory.join(name)).is_ok_and(|file| file.is_file() && file.len() > 0)
        };
        // A report of what is left without events would replace that of all of it.
        if !has("traces.otf2") || !directory.join("traces").is_dir() {
            return Err(Error::no_report(format!("{shown}: there is no trace to be analysed")));
        }
        self.tell(step);
        let path = directory.join("scout.log");
        let log = OpenOptions::new().append(true).create(true).open(&path);
        let end = logged::run(
            step,
            &mut log.map_err(|cause| Error::io(&path, "write the output of the analysis", cause))?,
        )?;
        debug!(?end, ?directory, "analyzed");
        if !REPORTS.contains(&end) || !has("scout.cubex") {
            return Err(Error::no_report(format!(
                "{shown}: there is no report of the analysis; {} says why",
                path.display()
            )));
        }
        if self.choices.cleans {
            let events = directory.join("traces");
            fs::remove_dir_all(&events).map_err(|cause| Error::io(&events, "remove the events", cause))?;
            say(&format!("{} is removed, as SCAN_CLEAN says", events.display()));
        }
        Ok(())
    }

    fn tell(&self, step: &Step) {
        if self.is_verbose {
            say(step);
        }
    }

    /// Waits as long as there is the file that blocks the start.
    pub(crate) fn wait_for_lock(&self) {
        let Some(lock) = self.lock.filter(|lock| lock.exists()) else { return };
        say(&format!("waits as long as there is {}", lock.display()));
        while lock.exists() {
            sleep(LOOK);
        }
    }
}

/// Makes room for a directory: removes an experiment that is there if the user wants that.
///
/// # Errors
/// If there is something that is to stay, or there is no directory around it.
pub(crate) fn make_room(directory: &Path, choices: &Choices) -> Result<()> {
    let shown = directory.display();
    let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        return Err(Error::not_started(format!(
            "{}: there is no such directory for {shown}",
            parent.display()
        )));
    }
    // A link that leads nowhere is something, too.
    if fs::symlink_metadata(directory).is_err() {
        return Ok(());
    }
    let Some(seconds) = choices.overwrites else {
        return Err(Error::not_started(format!(
            "{shown} exists: move it away, choose another directory with -e, or have it removed with SCAN_OVERWRITE=1"
        )));
    };
    if directory.is_symlink() || !directory.is_dir() || !records::is_experiment(directory) {
        return Err(Error::not_started(format!(
            "{shown} exists and is no experiment: SCAN_OVERWRITE does not remove it"
        )));
    }
    say(&format!("{shown} is overwritten, as SCAN_OVERWRITE says"));
    sleep(Duration::from_secs(seconds));
    fs::remove_dir_all(directory).map_err(|cause| Error::io(directory, "remove the experiment", cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::variables::of;

    #[test]
    fn nothing_is_removed_that_is_not_an_experiment_and_not_meant_to_go() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("scorep_app_4_sum");
        let choices = |value: &str| {
            Choices::new(&Options::default(), &of(&[("SCAN_OVERWRITE", value)]), false).unwrap()
        };
        let error = |value: &str| make_room(&directory, &choices(value)).unwrap_err();
        make_room(&directory, &choices("")).unwrap();
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("important"), "").unwrap();
        assert!(error("").to_string().contains("SCAN_OVERWRITE=1") && error("").status == 1);
        assert!(error("true").to_string().contains("is no experiment"));
        assert!(directory.join("important").exists());
        fs::write(directory.join("scorep.cfg"), "").unwrap();
        assert!(error("0").to_string().contains("exists"));
        make_room(&directory, &choices("true")).unwrap();
        assert!(!directory.exists());
        fs::write(&directory, "").unwrap();
        assert!(error("true").to_string().contains("is no experiment"));
        let nowhere = make_room(&folder.path().join("a/b"), &choices("")).unwrap_err();
        assert!(nowhere.to_string().contains("there is no such directory"), "{nowhere}");
    }
}
