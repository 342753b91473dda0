//! The metrics of the report by number, with the numbers of those that the analysis fills itself.

use io_model::Defect;
use model::Ticks;
use model::off_cpu::MEMBERS;
use patterns::matched::{
    Acquisition, BarrierVisit, CollectiveClass, CollectiveMember, DeviceWait, LateMessage, NonBlockingMember,
    OneSidedCall, ReceivedMessage, SentMessage, StalledMessage,
};
use patterns::{Detect, Metric, PATTERNS, Pattern};

use crate::causes::DelayClass;
use crate::imbalance::ImbalancePart;
use crate::int::to_u32;
use crate::options::Semantics;
use crate::severity::{MetricId, StateMetrics};
use crate::statistics::SubjectId;
use crate::walk::{ReportedCounters, ReportedStates};

/// The unique name of instructions a cycle, which readers of reports work out of both.
pub const IPC: &str = "ipc";

/// A pattern with the numbers of its metrics.
#[derive(Clone, Copy, Debug)]
pub struct NumberedPattern {
    /// The pattern.
    pub pattern: &'static Pattern,
    /// Its position in [`Metrics::patterns`].
    pub position: u32,
    /// The metric that it adds to.
    pub metric: MetricId,
    /// Whether its time is waiting that no other pattern contains.
    pub is_outermost_waiting: bool,
    /// Its place in the statistics, if it has one.
    pub subject: Option<SubjectId>,
    /// The metrics that count its instances: on messages without data, with data.
    pub instances: Option<[MetricId; 2]>,
}

impl NumberedPattern {
    /// Returns the metric that counts an instance on a message of `bytes` bytes.
    pub fn instances_of(&self, bytes: u64) -> Option<MetricId> {
        self.instances.map(|[empty, data]| if bytes == 0 { empty } else { data })
    }
}

/// A pattern with its rule.
pub type Rule<F> = (NumberedPattern, F);

/// Patterns of one kind, with their rules.
pub type Rules<F> = Vec<Rule<F>>;

/// A pattern at a member of a collective operation, with its rule.
pub type MemberRule = Rule<fn(&CollectiveMember) -> Ticks>;

/// The numbers of the metrics that the model of file I/O fills (io 5.2).
#[derive(Clone, Copy, Debug)]
pub struct FileModelMetrics {
    /// `io_ops_read`, `io_ops_write`: all calls.
    pub calls: [MetricId; 2],
    /// What is below these, by [`Defect`].
    pub defects: [[MetricId; Defect::ALL.len()]; 2],
    /// `io_bytes_own`
    pub own: MetricId,
    /// `io_bytes_reread`
    pub again: MetricId,
}

impl FileModelMetrics {
    /// Finds them by `position`: all are there, or none.
    fn new(position: impl Fn(&str) -> Option<MetricId>) -> Option<FileModelMetrics> {
        let own = position("io_bytes_own")?;
        let id = |name: &str| position(name).expect("a metric of the tree");
        let parents = ["io_ops_read", "io_ops_write"];
        let below = |parent: &str, defect| {
            let name = match defect {
                Defect::Empty => "empty",
                Defect::Contended => "contended",
                Defect::Small => "small",
                Defect::OutOfOrder => "random",
                Defect::Unaligned => "unaligned",
            };
            id(&format!("{parent}_{name}"))
        };
        Some(FileModelMetrics {
            calls: parents.map(id),
            defects: parents.map(|parent| Defect::ALL.map(|defect| below(parent, defect))),
            own,
            again: id("io_bytes_reread"),
        })
    }
}

/// Finds the metrics of time off the processor by `position`: all are there, or none.
fn off_cpu(position: impl Fn(&str) -> Option<MetricId>) -> Option<[MetricId; MEMBERS.len()]> {
    position("off_cpu")?;
    Some(MEMBERS.map(|member| position(member.name).expect("a metric of the tree")))
}

/// The numbers of the metrics of streams of accelerators that the analysis fills itself.
#[derive(Clone, Copy, Debug)]
pub struct StreamMetrics {
    /// `accel_idle`
    pub idle: MetricId,
    /// `accel_late_launch`
    pub late_launch: MetricId,
    /// `launch_latency`
    pub latency: MetricId,
    /// `accel_imbalance`
    pub imbalance: MetricId,
    /// `bytes_to_device`, `bytes_from_device`, `bytes_on_device`: by direction of the copy.
    pub bytes: [MetricId; 3],
}

impl StreamMetrics {
    /// Finds them by `position`: all are there, or none.
    fn new(position: impl Fn(&str) -> Option<MetricId>) -> Option<StreamMetrics> {
        let idle = position("accel_idle")?;
        let id = |name: &str| position(name).expect("a metric of the tree");
        Some(StreamMetrics {
            idle,
            late_launch: id("accel_late_launch"),
            latency: id("launch_latency"),
            imbalance: id("accel_imbalance"),
            bytes: ["bytes_to_device", "bytes_from_device", "bytes_on_device"].map(id),
        })
    }
}

/// What an analysis finds out, for which there are metrics of their own.
#[derive(Clone, Debug, Default)]
pub struct Parts<'a> {
    /// Root causes of waiting.
    pub causes: bool,
    /// The model of file I/O.
    pub file_model: bool,
    /// When threads were off the processor, as the trace tells it.
    pub off_cpu: bool,
    /// How much memory processes had in use, as the trace tells it.
    pub memory: bool,
    /// Counters of the trace.
    pub counters: Option<&'a ReportedCounters>,
    /// States of the trace.
    pub states: Option<&'a ReportedStates>,
    /// Functions of the interfaces of accelerators.
    pub interfaces: bool,
    /// What streams of accelerators do.
    pub streams: bool,
}

/// The numbers of all metrics. The number of a metric is its position in [`patterns::metrics`].
#[derive(Clone, Debug)]
pub struct Metrics {
    /// All metrics; parents precede children.
    pub list: Vec<Metric>,
    /// Whether the analysis searches for root causes, and so has their metrics.
    pub has_causes: bool,
    /// All patterns.
    pub patterns: Vec<NumberedPattern>,
    /// The patterns of late messages, with their rules.
    pub at_late_message: Rules<fn(&ReceivedMessage) -> Ticks>,
    /// The patterns at sent messages.
    pub at_send: Rules<fn(&SentMessage) -> Ticks>,
    /// The patterns at late messages that are overtaken.
    pub at_overtaking: Rules<fn(&LateMessage, &ReceivedMessage) -> bool>,
    /// The patterns at members of collective operations, by [`CollectiveClass`].
    of_collectives: [Vec<MemberRule>; CollectiveClass::COUNT],
    /// The patterns at members of non-blocking collective operations.
    pub at_nonblocking: Rules<fn(&NonBlockingMember) -> Ticks>,
    /// The patterns at calls that go on although their messages have been sent.
    pub at_stall: Rules<fn(&StalledMessage) -> Ticks>,
    /// The patterns at calls of one-sided communication.
    pub at_one_sided: Rules<fn(&OneSidedCall) -> Ticks>,
    /// The patterns at visits of threads to barriers.
    pub at_thread_barrier: Rules<fn(&BarrierVisit) -> Ticks>,
    /// The patterns at locks.
    pub at_lock: Rules<fn(&Acquisition) -> Ticks>,
    /// The patterns at calls that wait for streams of accelerators.
    pub at_device_wait: Rules<fn(&DeviceWait) -> Ticks>,
    /// `time`
    pub time: MetricId,
    /// `mpi`
    pub mpi: MetricId,
    /// `visits`
    pub visits: MetricId,
    /// `comp`
    pub computation: MetricId,
    /// `omp_idle_threads`
    pub idle_threads: MetricId,
    /// `omp_limited_parallelism`
    pub limited_parallelism: MetricId,
    /// `imbalance` and what is below it, by [`ImbalancePart`].
    pub imbalance: [MetricId; ImbalancePart::ALL.len()],
    /// Delay costs by class, short and long term. Without root causes these and the following metrics have no
    /// number.
    pub delay_costs: [[MetricId; 2]; DelayClass::COUNT],
    /// Indirect waiting: late senders, late receivers.
    pub indirect: [MetricId; 2],
    /// Propagating waiting: late senders, late receivers.
    pub propagating: [MetricId; 2],
    /// `critical_path`
    pub critical_path: MetricId,
    /// `critical_path_imbalance`
    pub critical_path_imbalance: MetricId,
    /// `critical_path_activities`
    pub critical_path_activities: MetricId,
    /// `critical_imbalance_impact`, `inter_partition_imbalance`
    pub imbalance_impact: [MetricId; 2],
    /// `non_critical_path_activities`
    pub non_critical_path_activities: MetricId,
    /// `omp_management`
    pub omp_management: MetricId,
    /// `omp_fork`
    pub omp_fork: MetricId,
    /// `syncs_send`, `comms_send`: messages without data, with data.
    pub sends: [MetricId; 2],
    /// `syncs_recv`, `comms_recv`
    pub receives: [MetricId; 2],
    /// `bytes_sent`
    pub bytes_sent: MetricId,
    /// `bytes_rcvd`
    pub bytes_received: MetricId,
    /// `syncs_coll`, `comms_csrc`, `comms_cdst`, `comms_cxch`: no data, data sent, data received, both.
    pub collectives: [MetricId; 4],
    /// `bytes_cout`
    pub bytes_out: MetricId,
    /// `bytes_cin`
    pub bytes_in: MetricId,
    /// `bytes_put`. If the reference is followed, this and the following metrics have no number.
    pub bytes_put: MetricId,
    /// `bytes_get`
    pub bytes_get: MetricId,
    /// `mpi_rma_pairsync_count`, `mpi_rma_pairsync_unneeded_count`
    pub pair_synchronisations: [MetricId; 2],
    /// `io_bytes_read_mpi`, `…_posix`, `…_isoc`, and the same for `io_bytes_written`.
    pub file_bytes: [[MetricId; 3]; 2],
    /// `io_bytes_os_read`, `io_bytes_os_written`
    pub file_bytes_of_system: [MetricId; 2],
    /// Those that the model of file I/O fills; `None` if none is made, or the reference is followed.
    pub file_model: Option<FileModelMetrics>,
    /// Those of time off the processor, by [`MEMBERS`]; `None` if the trace does not tell it, or the reference is followed.
    pub off_cpu: Option<[MetricId; MEMBERS.len()]>,
    /// `memory`; `None` if the trace does not tell it, only a part of the run counts, or the reference is followed.
    pub memory: Option<MetricId>,
    /// Those of counters of the trace, in the order of [`ReportedCounters::metrics`]; `None` if it has none, or the reference is
    /// followed.
    pub counters: Option<Vec<MetricId>>,
    /// Those of instructions and of cycles among them.
    pub instructions_and_cycles: [Option<MetricId>; 2],
    /// Those of states of the trace, by position among them; `None` if it has none, or the reference is followed.
    pub states: Option<Vec<StateMetrics>>,
    /// Those of streams of accelerators; `None` if the trace has none, or the reference is followed.
    pub streams: Option<StreamMetrics>,
    /// `mpi_polling`
    pub polling: MetricId,
    /// `mpi_polling_latesender`
    pub polling_late_sender: MetricId,
    /// `mpi_polling_nbcoll`
    pub polling_collective: MetricId,
    /// `mpi_nbcoll_completion`
    pub nonblocking_completion: MetricId,
    /// `mpi_overlap`, `mpi_overlap_hidden`, `mpi_overlap_usable`
    pub overlap: [MetricId; 3],
    /// `mpi_nbcoll_wait_for_progress`, `mpi_rma_late_complete`: those parts of waits that lie at their ends.
    pub ends_of_waits: [MetricId; 2],
}

impl Metrics {
    /// Returns the number of a metric by its unique name; `None` for those of root causes, if the analysis
    /// does not search for these.
    pub fn find(&self, id: &str) -> Option<MetricId> {
        self.list.iter().position(|metric| metric.id == id)
    }

    /// Returns the patterns at members of collective operations of a class, with their rules.
    pub fn at_collective(&self, class: CollectiveClass) -> &[MemberRule] {
        &self.of_collectives[class as usize]
    }

    /// Returns the title of the pattern that fills a metric.
    pub fn title(&self, metric: MetricId) -> &'static str {
        let pattern = self.patterns.iter().find(|pattern| pattern.metric == metric);
        pattern.map_or(self.list[metric].name, |pattern| pattern.pattern.title)
    }

    /// Returns the metrics whose time is not work; none is below another one.
    pub fn not_work(&self) -> impl Iterator<Item = MetricId> {
        let is_work = |id: &str| self.list.iter().any(|metric| metric.id == id && metric.is_work);
        let outermost = move |metric: &Metric| !metric.is_work && metric.parent.is_none_or(is_work);
        (0..self.list.len()).filter(move |&at| outermost(&self.list[at]))
    }

    /// Numbers all metrics of an analysis that finds out nothing else than root causes, as [`Metrics::of_analysis`] does.
    ///
    /// # Panics
    /// If the tree of metrics lacks one that the analysis fills.
    pub fn new(has_causes: bool, semantics: Semantics) -> Metrics {
        Metrics::of_analysis(Parts { causes: has_causes, ..Parts::default() }, semantics)
    }

    /// Numbers all metrics; those of parts that the analysis does not find out are left out, as are those that the reference does not
    /// have if it follows the reference.
    ///
    /// # Panics
    /// If the tree of metrics lacks one that the analysis fills.
    pub fn of_analysis(parts: Parts<'_>, semantics: Semantics) -> Metrics {
        let Parts { causes: has_causes, file_model: has_file_model, off_cpu: has_off_cpu, counters, .. } =
            parts;
        let mut list = patterns::metrics();
        if !semantics.replays_all_of_mpi() {
            list.retain(|metric| !metric.is_beyond_reference);
            list.iter_mut()
                .for_each(|metric| metric.about = metric.about_in_reference.unwrap_or(metric.about));
        }
        if !has_causes {
            // These metrics are left out, as zeros everywhere would look like "analysed, no waiting".
            list.retain(|metric| patterns::metrics_of_causes().all(|cause| cause.id != metric.id));
        }
        if !has_file_model {
            list.retain(|metric| patterns::metrics_of_file_model().all(|it| it.id != metric.id));
        }
        if !has_off_cpu {
            list.retain(|metric| patterns::metrics_of_off_cpu().all(|it| it.id != metric.id));
        }
        if !parts.memory {
            list.retain(|metric| patterns::metrics_of_memory().all(|it| it.id != metric.id));
        }
        if !parts.interfaces {
            list.retain(|metric| patterns::metrics_of_interfaces().all(|it| it.id != metric.id));
        }
        if !parts.streams {
            list.retain(|metric| patterns::metrics_of_streams().all(|it| it.id != metric.id));
        }
        let mut instructions_and_cycles = [None; 2];
        let counters = counters.filter(|_| semantics.replays_all_of_mpi()).map(|counters| {
            let (metrics, first) = (counters.metrics(&list), list.len());
            instructions_and_cycles = counters.instructions_and_cycles().map(|at| Some(first + at?));
            let numbers = (first..first + metrics.len()).collect();
            list.extend(metrics);
            numbers
        });
        let states = parts.states.filter(|_| semantics.replays_all_of_mpi());
        let states = states.map(|states| states.add_metrics(&mut list));
        let position = |name: &str| list.iter().position(|metric| metric.id == name);
        let id = |name: &str| position(name).expect("a metric of the tree");
        let of_cause = |name: &str| position(name).filter(|_| has_causes).unwrap_or(MetricId::MAX);
        let beyond_reference = |name: &str| position(name).unwrap_or(MetricId::MAX);
        let (mut at_late_message, mut at_send) = (Vec::new(), Vec::new());
        let mut of_collectives = [const { Vec::new() }; CollectiveClass::COUNT];
        let mut at_overtaking = Vec::new();
        let (mut at_thread_barrier, mut at_lock, mut at_device_wait) = (Vec::new(), Vec::new(), Vec::new());
        let (mut at_nonblocking, mut at_stall, mut at_one_sided) = (Vec::new(), Vec::new(), Vec::new());
        let mut patterns = Vec::new();
        let is_waiting = |name: &str| PATTERNS.iter().any(|it| it.is_waiting && it.metric.id == name);
        let is_there = |pattern: &&Pattern| position(pattern.metric.id).is_some();
        for pattern in PATTERNS.iter().filter(is_there) {
            let numbered = NumberedPattern {
                pattern,
                position: to_u32(patterns.len()),
                metric: id(pattern.metric.id),
                is_outermost_waiting: pattern.is_waiting && !pattern.metric.parent.is_some_and(is_waiting),
                subject: pattern.statistics.map(|statistics| statistics.place),
                instances: pattern.instances.map(|both| both.map(|metric| id(metric.id))),
            };
            patterns.push(numbered);
            match pattern.detect {
                Detect::LateMessage(rule) => at_late_message.push((numbered, rule)),
                Detect::Send(rule) => at_send.push((numbered, rule)),
                Detect::Overtaken(rule) => at_overtaking.push((numbered, rule)),
                Detect::Collective(class, rule) => of_collectives[class as usize].push((numbered, rule)),
                Detect::NonBlocking(rule) => at_nonblocking.push((numbered, rule)),
                Detect::Stalled(rule) => at_stall.push((numbered, rule)),
                Detect::OneSided(rule) => at_one_sided.push((numbered, rule)),
                Detect::ThreadBarrier(rule) => at_thread_barrier.push((numbered, rule)),
                Detect::Lock(rule) => at_lock.push((numbered, rule)),
                Detect::DeviceWait(rule) => at_device_wait.push((numbered, rule)),
            }
        }
        Metrics {
            patterns,
            at_late_message,
            at_send,
            at_overtaking,
            of_collectives,
            at_nonblocking,
            at_stall,
            at_one_sided,
            at_thread_barrier,
            at_lock,
            at_device_wait,
            time: id("time"),
            mpi: id("mpi"),
            visits: id("visits"),
            computation: id("comp"),
            idle_threads: id("omp_idle_threads"),
            limited_parallelism: id("omp_limited_parallelism"),
            imbalance: ImbalancePart::ALL.map(|part| id(part.metric())),
            delay_costs: DelayClass::ALL.map(|class| class.metrics().map(of_cause)),
            indirect: ["mpi_wait_indirect_latesender", "mpi_wait_indirect_latereceiver"].map(of_cause),
            propagating: ["mpi_wait_propagating_ls", "mpi_wait_propagating_lr"].map(of_cause),
            critical_path: of_cause("critical_path"),
            critical_path_imbalance: of_cause("critical_path_imbalance"),
            critical_path_activities: of_cause("critical_path_activities"),
            imbalance_impact: ["critical_imbalance_impact", "inter_partition_imbalance"].map(of_cause),
            non_critical_path_activities: of_cause("non_critical_path_activities"),
            omp_management: id("omp_management"),
            omp_fork: id("omp_fork"),
            sends: [id("syncs_send"), id("comms_send")],
            receives: [id("syncs_recv"), id("comms_recv")],
            bytes_sent: id("bytes_sent"),
            bytes_received: id("bytes_rcvd"),
            collectives: [id("syncs_coll"), id("comms_csrc"), id("comms_cdst"), id("comms_cxch")],
            bytes_out: id("bytes_cout"),
            bytes_in: id("bytes_cin"),
            bytes_put: beyond_reference("bytes_put"),
            bytes_get: beyond_reference("bytes_get"),
            pair_synchronisations: ["mpi_rma_pairsync_count", "mpi_rma_pairsync_unneeded_count"]
                .map(beyond_reference),
            file_bytes: [
                ["io_bytes_read_mpi", "io_bytes_read_posix", "io_bytes_read_isoc"].map(beyond_reference),
                ["io_bytes_written_mpi", "io_bytes_written_posix", "io_bytes_written_isoc"]
                    .map(beyond_reference),
            ],
            file_bytes_of_system: ["io_bytes_os_read", "io_bytes_os_written"].map(beyond_reference),
            file_model: FileModelMetrics::new(position),
            off_cpu: off_cpu(position),
            memory: position("memory"),
            counters,
            states,
            instructions_and_cycles,
            streams: StreamMetrics::new(position),
            polling: beyond_reference("mpi_polling"),
            polling_late_sender: beyond_reference("mpi_polling_latesender"),
            polling_collective: beyond_reference("mpi_polling_nbcoll"),
            nonblocking_completion: beyond_reference("mpi_nbcoll_completion"),
            overlap: ["mpi_overlap", "mpi_overlap_hidden", "mpi_overlap_usable"].map(beyond_reference),
            ends_of_waits: ["mpi_nbcoll_wait_for_progress", "mpi_rma_late_complete"].map(beyond_reference),
            list,
            has_causes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_mpi_and_openmp_management_and_order_are_no_work() {
        let metrics = Metrics::new(true, Semantics::Corrected);
        let mut names: Vec<&str> = metrics.not_work().map(|metric| metrics.list[metric].id).collect();
        names.sort_unstable();
        // Specification 16.3; nested ones once, and locks of POSIX threads not at all.
        let expected = [
            "mpi_barrier_wait",
            "mpi_comm_wait_at_create",
            "mpi_comm_wait_at_free",
            "mpi_earlyreduce",
            "mpi_earlyscan",
            "mpi_finalize_wait",
            "mpi_io_collective_wait",
            "mpi_latebroadcast",
            "mpi_latereceiver",
            "mpi_latesender",
            "mpi_mgmt_file_wait",
            "mpi_nbcoll_wait",
            "mpi_p2p_wait_for_progress",
            "mpi_rma_comm_late_post",
            "mpi_rma_comm_lock_competition",
            "mpi_rma_comm_wait_for_progress",
            "mpi_rma_early_wait",
            "mpi_rma_sync_late_post",
            "mpi_rma_sync_lock_competition",
            "mpi_rma_sync_wait_for_progress",
            "mpi_rma_wait_at_create",
            "mpi_rma_wait_at_fence",
            "mpi_rma_wait_at_free",
            "mpi_wait_neighbor",
            "mpi_wait_nxn",
            "omp_ebarrier_wait",
            "omp_ibarrier_wait",
            "omp_lock_contention_api",
            "omp_lock_contention_critical",
            "omp_management",
            "omp_ordered",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn metrics_of_the_model_of_file_io_are_there_if_it_is_made_and_the_reference_is_not_followed() {
        let of = |semantics, has_model| {
            let parts = Parts { causes: true, file_model: has_model, ..Parts::default() };
            let metrics = Metrics::of_analysis(parts, semantics);
            let ids = patterns::metrics_of_file_model().filter(|it| metrics.find(it.id).is_some());
            (ids.count(), metrics.file_model.is_some())
        };
        assert_eq!(of(Semantics::Corrected, true), (13, true));
        assert_eq!(of(Semantics::Corrected, false), (0, false));
        assert_eq!(of(Semantics::Reference, true), (0, false));
    }
}
