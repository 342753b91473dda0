//! Comparisons: `diff`, `check` and `history` on reports that are made up.

mod advice;
mod diff;
mod gates;
mod history;
mod hostile;
mod siblings;
mod unknown;

use std::path::{Path, PathBuf};

use cubex::{CnodeId, Metric, MetricId};
use details::advice::{ADVICE, AdviceFile};
use details::manifest::{Coverage, Culprit, Finding, MANIFEST, Manifest, SCHEMA, Summary};
use serde_json::Value;
use show::status::Status;
use tempfile::TempDir;

use crate::support::{Maker, Printed, run};

/// The program of the examples: a chain of ranks of which each waits for the one before. Seconds of each location.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) ranks: u64,
    pub(crate) work: f64,
    pub(crate) late: f64,
    pub(crate) barrier: f64,
    /// Of idle threads; `None` for a report that does not have it.
    pub(crate) idle: Option<f64>,
    /// Work before `MPI_Init`, which is not part of the run.
    pub(crate) outside: f64,
    /// So many functions beside the one that works, `small_1` to `small_N`, which take n times 0.2 ms.
    pub(crate) small: usize,
    /// The part of the waiting at a second call of `MPI_Recv` in the same function.
    pub(crate) second: Option<f64>,
    /// The name of the function that works.
    pub(crate) worker: &'static str,
    /// Names of call paths with culprits; `None` for a report without manifest.
    pub(crate) culprits: Option<Vec<&'static str>>,
    /// Whether delay costs were computed.
    pub(crate) has_delay: bool,
    /// The member with advice; `None` for a report for which it was not looked for.
    pub(crate) advice: Option<AdviceFile>,
    /// Share of the MPI time that was analysed, and findings that are wrong, and of data loss.
    pub(crate) coverage: f64,
    pub(crate) wrong: u64,
    pub(crate) lost: u64,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain {
            ranks: 4,
            work: 0.042,
            late: 0.103,
            barrier: 0.023,
            idle: None,
            outside: 0.0,
            small: 0,
            second: None,
            worker: "work",
            culprits: Some(vec!["work"]),
            has_delay: true,
            advice: None,
            coverage: 1.0,
            wrong: 0,
            lost: 0,
        }
    }
}

impl Chain {
    /// That on eight ranks.
    pub(crate) fn of_eight() -> Chain {
        Chain { ranks: 8, work: 0.028, late: 0.146, barrier: 0.054, ..Chain::default() }
    }

    /// Writes the report. Rank r has a value that is (1 + r / 100) times as large, but for the mean.
    pub(crate) fn write(&self, path: &Path) {
        let mut maker = Maker::new(self.ranks);
        let time = maker.metric("time", None);
        let visits = maker.cube.add_metric(Metric {
            unique_name: "visits".into(),
            display_name: "Visits".into(),
            unit: "occ".into(),
            ..Metric::default()
        });
        let comp = maker.metric("comp", Some(time));
        let mpi = maker.metric("mpi", Some(time));
        let p2p = maker.metric("mpi_point2point", Some(mpi));
        let late = maker.metric("mpi_latesender", Some(p2p));
        let sync = maker.metric("mpi_synchronization", Some(mpi));
        let barrier = maker.metric("mpi_barrier_wait", Some(sync));
        let delay = self.has_delay.then(|| maker.metric("delay", None));
        let idle = self.idle.map(|_| maker.metric("omp_idle_threads", Some(time)));
        let middle = (self.ranks - 1) as f64 / 2.0;
        let row = |mean: f64| -> Vec<f64> {
            (0..self.ranks).map(|rank| mean * (1.0 + 0.01 * (rank as f64 - middle))).collect()
        };
        let root = maker.call("patterns", None);
        let main = maker.call("main", Some(root));
        let init = maker.call("MPI_Init", Some(main));
        let chain = maker.call("imbalance_chain", Some(main));
        let work = maker.call(self.worker, Some(chain));
        let send = maker.call("MPI_Send", Some(chain));
        let wait = maker.call("MPI_Barrier", Some(chain));
        let receive = maker.call("MPI_Recv", Some(chain));
        for region in &mut maker.cube.regions {
            region.paradigm = if region.name.starts_with("MPI_") { "mpi" } else { "compiler" }.into();
        }
        let (work_metrics, receive_metrics) = ([comp], [mpi, p2p, late]);
        let calls: [(CnodeId, f64, &[MetricId]); 5] = [
            (init, 0.3, &[mpi]),
            (work, self.work, &[comp]),
            (send, 0.000_1, &[mpi, p2p]),
            (wait, self.barrier, &[mpi, sync, barrier]),
            (receive, self.late, &[mpi, p2p, late]),
        ];
        let mut calls: Vec<(CnodeId, f64, &[MetricId])> = calls.into();
        if let Some(second) = self.second {
            let again = maker.call("MPI_Recv", Some(chain));
            let region = maker.cube.cnodes[again.0].region;
            maker.cube.regions[region.0].paradigm = "mpi".into();
            calls.push((again, second, &receive_metrics));
        }
        for at in 1..=self.small {
            let small = maker.call(&format!("small_{at}"), Some(chain));
            calls.push((small, SMALL * at as f64, &work_metrics));
        }
        if self.outside > 0.0 {
            calls.push((main, self.outside, &work_metrics));
        }
        for (call, seconds, metrics) in calls {
            maker.row(time, call, &row(seconds));
            maker.row(visits, call, &vec![3.0; row(seconds).len()]);
            metrics.iter().for_each(|&metric| maker.row(metric, call, &row(seconds)));
        }
        if let (Some(idle), Some(seconds)) = (idle, self.idle) {
            maker.row(idle, chain, &row(seconds));
            maker.row(time, chain, &row(seconds));
        }
        if let Some(delay) = delay {
            maker.row(delay, work, &row(self.late + self.barrier));
        }
        let names: Vec<String> =
            maker.cube.cnodes.iter().map(|cnode| maker.cube.regions[cnode.region.0].name.clone()).collect();
        let manifest = self.manifest(&names);
        let advice = self.advice.as_ref().map(AdviceFile::to_bytes);
        let mut members: Vec<(&str, &[u8])> =
            if self.culprits.is_some() { vec![(MANIFEST, &manifest)] } else { Vec::new() };
        members.extend(advice.as_deref().map(|bytes| (ADVICE, bytes)));
        maker.write(path, &members);
    }

    fn manifest(&self, names: &[String]) -> Vec<u8> {
        let ranks = self.ranks as f64;
        let waiting = ranks * (self.late + self.second.unwrap_or(0.0) + self.barrier);
        let small: f64 = (1..=self.small).map(|at| SMALL * at as f64).sum();
        let run =
            ranks * (self.work + self.late + self.second.unwrap_or(0.0) + self.barrier + small + 0.000_1);
        let culprit = |name: &&str| Culprit {
            place: "rank 0".into(),
            cnode: names.iter().position(|other| other == name).unwrap() as u32,
            seconds: waiting / 2.0,
            kind: "late senders".into(),
            more_work: Some(1.9),
            not_running: None,
            counted: None,
            ..Culprit::default()
        };
        let fate = |fate: &str, share: f64| Coverage { fate: fate.into(), seconds: share };
        let finding = |class: &str, count: u64| Finding { class: class.into(), count, ..Finding::default() };
        let findings = [finding("wrong", self.wrong), finding("data loss", self.lost)];
        let manifest = Manifest {
            schema: SCHEMA.into(),
            ranks: self.ranks,
            locations: self.ranks,
            threads: 1,
            program: "patterns".into(),
            summary: Summary {
                locations: self.ranks,
                run,
                length: run / ranks * 1.01,
                mpi: waiting,
                waiting,
                costs: Some(waiting),
                culprits: self.culprits.iter().flatten().map(culprit).collect(),
                coverage: vec![fate("analysed", self.coverage), fate("blocking probes", 1.0 - self.coverage)],
                findings: findings.into_iter().filter(|finding| finding.count > 0).collect(),
                ..Summary::default()
            },
            ..Manifest::default()
        };
        manifest.to_bytes()
    }
}

/// What the first of the small functions takes, in seconds.
const SMALL: f64 = 2e-4;

/// Reports in a directory of their own.
pub(crate) struct Reports(TempDir);

impl Reports {
    pub(crate) fn new() -> Reports {
        Reports(tempfile::tempdir().expect("a directory"))
    }

    /// Writes a report; returns its path.
    pub(crate) fn add(&self, name: &str, chain: &Chain) -> String {
        let path = self.path(&format!("{}.cubex", name.trim_end_matches(".cubex")));
        chain.write(&path);
        path.into_os_string().into_string().expect("UTF-8")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    /// What was printed, without the name of the directory.
    pub(crate) fn plain(&self, printed: &Printed) -> String {
        let directory = self.0.path().to_str().expect("UTF-8");
        printed.results.replace(&format!("{directory}/"), "")
    }
}

/// Runs a command with `--json`.
pub(crate) fn json(arguments: &[&str]) -> Value {
    let printed = run(100, &[arguments, &["--json"]].concat());
    assert_ne!(printed.status, Status::Failed, "{}", printed.messages);
    serde_json::from_str(&printed.results).expect("JSON")
}
