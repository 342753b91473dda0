//! How many processes a launcher has started together, as it tells each of them in the environment (site 2.5).

mod library;
pub mod misfits;

pub use library::Library;

/// Who has started this process together with others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Launcher {
    /// Open MPI's mpirun.
    OpenMpi,
    /// A launcher that speaks PMI: MPICH's mpirun (Hydra), `srun --mpi=pmi2`, Flux, PALS.
    Pmi,
    /// One that speaks PMIx: `srun --mpi=pmix`, jsrun, PRRTE, Flux with `-o pmi=pmix`.
    Pmix,
    /// `srun` without any of these, as with `--mpi=none`.
    Srun,
}

/// What a launcher has told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Launched {
    /// The launcher.
    pub launcher: Launcher,
    /// Processes that it has started together, if it tells that.
    pub processes: Option<u64>,
    /// Number of this process among them, if it tells that.
    pub rank: Option<u64>,
    /// Whether this is a step of a job of Slurm: `srun` has started the processes, or something that has.
    pub is_slurm_step: bool,
}

impl Launched {
    /// What the environment tells, whose variables `get` returns; `None` without a launcher.
    pub fn find(get: impl Fn(&str) -> Option<String>) -> Option<Launched> {
        let number = |name: &str| get(name)?.trim().parse::<u64>().ok();
        let is_slurm_step = get("SLURM_STEP_ID").is_some();
        let tasks = if is_slurm_step { number("SLURM_STEP_NUM_TASKS") } else { None };
        let task = if is_slurm_step { number("SLURM_PROCID") } else { None };
        // What mpirun tells counts more than what the step tells in which that was started.
        let told = [
            (Launcher::OpenMpi, number("OMPI_COMM_WORLD_SIZE"), number("OMPI_COMM_WORLD_RANK")),
            (Launcher::Pmi, number("PMI_SIZE"), number("PMI_RANK")),
        ];
        let told = told.into_iter().find(|(_, processes, _)| processes.is_some());
        let pals = || number("PALS_RANKID").map(|rank| (Launcher::Pmi, tasks, Some(rank)));
        let pmix = || number("PMIX_RANK").map(|rank| (Launcher::Pmix, tasks, Some(rank)));
        let srun = || tasks.map(|tasks| (Launcher::Srun, Some(tasks), task));
        let (launcher, processes, rank) = told.or_else(pals).or_else(pmix).or_else(srun)?;
        Some(Launched { launcher, processes, rank, is_slurm_step })
    }

    /// What the environment of this process tells.
    pub fn of_this_process() -> Option<Launched> {
        Launched::find(|name| std::env::var(name).ok())
    }

    /// Whether a step of a job has this process only: a shell that `srun --pty` has started, for example, in which a program needs
    /// no MPI.
    pub fn is_alone_in_step(&self) -> bool {
        self.is_slurm_step && self.launcher != Launcher::OpenMpi && self.processes == Some(1)
    }

    /// Whether this process is to speak for all: the first one, or any if nobody tells which that is.
    pub fn speaks(&self) -> bool {
        self.rank.is_none_or(|rank| rank == 0)
    }

    /// Number of processes in words, with who has started them.
    pub fn in_words(&self) -> String {
        let who =
            if self.is_slurm_step && self.launcher != Launcher::OpenMpi { "srun" } else { "the launcher" };
        match (self.processes, who) {
            (Some(processes), "srun") => format!("srun started {processes} tasks"),
            (Some(processes), _) => format!("the launcher started {processes} processes"),
            (None, _) => format!("{who} started several processes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> Option<Launched> {
        Launched::find(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn launchers_are_known_by_what_they_set() {
        let of = |variables: &[(&str, &str)]| find(variables).map(|it| (it.launcher, it.processes, it.rank));
        assert_eq!(of(&[]), None);
        let open_mpi = [("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "2"), ("PMIX_RANK", "2")];
        assert_eq!(of(&open_mpi), Some((Launcher::OpenMpi, Some(4), Some(2))));
        let hydra = [("PMI_SIZE", "3"), ("PMI_RANK", "0")];
        assert_eq!(of(&hydra), Some((Launcher::Pmi, Some(3), Some(0))));
        assert_eq!(of(&[("PMIX_RANK", "1")]), Some((Launcher::Pmix, None, Some(1))));
        assert_eq!(of(&[("PALS_RANKID", "5")]), Some((Launcher::Pmi, None, Some(5))));
        // The batch script of a job is none of its steps.
        assert_eq!(of(&[("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "0")]), None);
        let step = [("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_PROCID", "3")];
        assert_eq!(of(&step), Some((Launcher::Srun, Some(4), Some(3))));
        let pmix = [&step[..], &[("PMIX_RANK", "3")]].concat();
        assert_eq!(of(&pmix), Some((Launcher::Pmix, Some(4), Some(3))));
    }

    #[test]
    fn mpirun_counts_more_than_the_step_in_which_it_is_started() {
        let shell = [("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "1"), ("SLURM_PROCID", "0")];
        let with = |more: &[(&'static str, &'static str)]| find(&[&shell[..], more].concat()).unwrap();
        assert!(with(&[]).is_alone_in_step() && with(&[("PMI_SIZE", "1")]).is_alone_in_step());
        assert!(with(&[("PMIX_RANK", "0")]).is_alone_in_step());
        assert!(!with(&[("PMI_SIZE", "4")]).is_alone_in_step());
        assert!(!with(&[("OMPI_COMM_WORLD_SIZE", "4")]).is_alone_in_step());
        assert!(!find(&[("PMI_SIZE", "1")]).unwrap().is_alone_in_step());
    }

    #[test]
    fn one_process_speaks_for_all() {
        let of = |rank: &str| find(&[("PMI_SIZE", "3"), ("PMI_RANK", rank)]).unwrap();
        assert!(of("0").speaks() && !of("1").speaks() && of("x").speaks());
        assert_eq!(of("0").in_words(), "the launcher started 3 processes");
        let step = [("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "4")];
        assert_eq!(find(&step).unwrap().in_words(), "srun started 4 tasks");
        assert_eq!(find(&[("PMIX_RANK", "1")]).unwrap().in_words(), "the launcher started several processes");
    }
}
