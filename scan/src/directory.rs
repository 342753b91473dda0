//! Names of experiment directories: those of scan, which scripts rely on (site 4.2).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::choices::{Choices, Mode};
use crate::launch::Launch;

/// Names of the directories of a command's runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Names {
    /// The directory that they are in.
    parent: PathBuf,
    /// What all of them begin with.
    base: String,
    /// Whether the user has chosen it, so that nothing is added for what is measured.
    is_chosen: bool,
    configurations: usize,
    repetitions: usize,
}

impl Names {
    /// Makes names for so many configurations and repetitions.
    pub(crate) fn new(
        choices: &Choices,
        launch: &Launch,
        has_openmp: bool,
        configurations: usize,
        repetitions: usize,
    ) -> Names {
        let here = launch.directory.clone().unwrap_or_default();
        let (parent, base) = match &choices.directory {
            Some(directory) => {
                let base =
                    directory.file_name().unwrap_or(OsStr::new("scorep")).to_string_lossy().into_owned();
                (here.join(directory.parent().unwrap_or(Path::new(""))), base)
            }
            None => (here, title(launch, has_openmp)),
        };
        Names { parent, base, is_chosen: choices.directory.is_some(), configurations, repetitions }
    }

    /// Returns the directory around those of several runs.
    pub(crate) fn around(&self) -> Option<PathBuf> {
        let part =
            |letter: char, count: usize| if count > 1 { format!("_{letter}{count}") } else { String::new() };
        let parts = part('c', self.configurations) + &part('r', self.repetitions);
        (!parts.is_empty()).then(|| self.parent.join(format!("{}_multi-run{parts}", self.base)))
    }

    /// Returns the directory of a run, by the numbers of its configuration and repetition, from 0.
    pub(crate) fn of_run(&self, mode: Mode, configuration: usize, repetition: usize) -> PathBuf {
        let part = |letter: char, number: usize, count: usize| match count {
            0 | 1 => String::new(),
            _ => format!("_{letter}{:0width$}", number + 1, width = count.to_string().len()),
        };
        match self.around() {
            Some(around) => around.join(format!(
                "{}{}{}",
                self.base,
                part('c', configuration, self.configurations),
                part('r', repetition, self.repetitions)
            )),
            None => self.parent.join(match mode {
                _ if self.is_chosen => self.base.clone(),
                Mode::Nothing => self.base.clone(),
                Mode::Profile => format!("{}_sum", self.base),
                Mode::Trace => format!("{}_trace", self.base),
            }),
        }
    }
}

/// Returns `scorep_PROGRAM_RANKSxTHREADS`: the program up to its first dot, and `O` for what is not known; threads only if it has any.
fn title(launch: &Launch, has_openmp: bool) -> String {
    let name = Path::new(&launch.program).file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().unwrap_or_default();
    let per_node = launch.per_node.as_ref().map_or(String::new(), |ranks| format!("{ranks}p"));
    let ranks = launch.ranks.as_deref().unwrap_or("O");
    let threads = match has_openmp {
        true => format!("x{}", launch.threads.as_deref().unwrap_or("O")),
        false => String::new(),
    };
    format!("scorep_{name}_{per_node}{ranks}{threads}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::variables::of;
    use clap::Parser;

    fn names(line: &str, variables: &[(&str, &str)], has_openmp: bool, counts: (usize, usize)) -> Names {
        let options = Options::try_parse_from(["scan"].into_iter().chain(line.split_whitespace())).unwrap();
        let variables = of(variables);
        let launch = Launch::parse(&options.command, &variables, |word| word == "./app.x.y").unwrap();
        let choices = Choices::new(&options, &variables, false).unwrap();
        Names::new(&choices, &launch, has_openmp, counts.0, counts.1)
    }

    fn of_one(line: &str, variables: &[(&str, &str)], has_openmp: bool) -> String {
        let names = names(line, variables, has_openmp, (1, 1));
        assert_eq!(names.around(), None);
        let [profile, trace] =
            [Mode::Profile, Mode::Trace].map(|mode| names.of_run(mode, 0, 0).display().to_string());
        assert_eq!(profile.replace("_sum", "_trace"), trace);
        profile
    }

    #[test]
    fn names_are_those_of_scan() {
        assert_eq!(of_one("mpirun -n 4 ./app.x.y", &[], false), "scorep_app_4_sum");
        assert_eq!(of_one("./app.x.y", &[], false), "scorep_app_O_sum");
        assert_eq!(of_one("mpirun -n 4 ./app.x.y", &[("OMP_NUM_THREADS", "8")], true), "scorep_app_4x8_sum");
        assert_eq!(of_one("mpirun ./app.x.y", &[], true), "scorep_app_OxO_sum");
        // Threads are only those of OpenMP.
        assert_eq!(of_one("mpirun -n 4 ./app.x.y", &[("OMP_NUM_THREADS", "8")], false), "scorep_app_4_sum");
        assert_eq!(of_one("srun -n 16 --ntasks-per-node=8 ./app.x.y", &[], false), "scorep_app_8p16_sum");
        assert_eq!(of_one("mpirun -wdir /tmp -n 4 ./app.x.y", &[], false), "/tmp/scorep_app_4_sum");
    }

    #[test]
    fn chosen_name_is_kept_as_it_is() {
        assert_eq!(of_one("-e out/exp/ mpirun -n 4 ./app.x.y", &[], false), "out/exp");
        assert_eq!(of_one("./app.x.y", &[("SCOREP_EXPERIMENT_DIRECTORY", "/x/y")], true), "/x/y");
    }

    #[test]
    fn several_runs_are_in_a_directory_around_them() {
        let several = |line: &str, counts: (usize, usize), run: (usize, usize)| {
            let names = names(line, &[], false, counts);
            names.of_run(Mode::Trace, run.0, run.1).display().to_string()
        };
        let line = "mpirun -n 4 ./app.x.y";
        assert_eq!(several(line, (2, 12), (1, 0)), "scorep_app_4_multi-run_c2_r12/scorep_app_4_c2_r01");
        assert_eq!(several(line, (1, 3), (0, 2)), "scorep_app_4_multi-run_r3/scorep_app_4_r3");
        assert_eq!(several(line, (10, 1), (0, 0)), "scorep_app_4_multi-run_c10/scorep_app_4_c01");
        assert_eq!(several(&format!("-e a/b {line}"), (2, 1), (1, 0)), "a/b_multi-run_c2/b_c2");
    }
}
