//! Forms of a plan: words, directives of batch systems with a line that starts the analysis, variables of the shell, JSON.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::{OnOneNode, Plan, Size};

/// The form of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Words.
    Text,
    /// Slurm.
    Slurm,
    /// PBS Professional and OpenPBS.
    Pbs,
    /// LSF with `jsrun`.
    Lsf,
    /// Flux.
    Flux,
    /// Variables of the shell, in one line.
    Shell,
    /// An object of JSON.
    Json,
}

/// What a plan is for, and how the analysis is started.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// The trace.
    pub size: &'a Size,
    /// The experiment directory, or the anchor file.
    pub experiment: &'a Path,
}

impl Plan {
    /// The plan in a form, with a line break at the end.
    pub fn to_text(&self, form: Form, asking: &Asking<'_>) -> String {
        match form {
            Form::Text => self.words(asking.size),
            Form::Slurm => self.slurm(asking),
            Form::Pbs => self.pbs(asking),
            Form::Lsf => self.lsf(asking),
            Form::Flux => self.flux(asking),
            Form::Shell => self.shell(),
            Form::Json => self.json(asking.size),
        }
    }

    fn words(&self, size: &Size) -> String {
        let Plan { nodes, processes, threads, minutes, .. } = *self;
        let mut text = format!(
            "{}, {} in {}\n{} × {} × {}; about {}, ask for {}\n",
            count(size.ranks, "rank"),
            count(size.events, "event"),
            gigabytes(size.bytes),
            count(nodes, "node"),
            processes_in_words(processes),
            count(threads, "thread"),
            duration(self.seconds),
            count(minutes, "minute"),
        );
        let enough = match self.always <= nodes {
            true => format!("{} is always enough", gigabytes(self.most)),
            false => format!("the memory of {} is always enough", count(self.always, "node")),
        };
        let line =
            format!("Memory of a node: {} as most programs need it; {enough}.\n", gigabytes(self.usual));
        text += &line;
        if let Some(OnOneNode { memory, disk: [usual, most] }) = self.on_one_node {
            // Whole GiB, as the option counts; never more than there is.
            let memory = (memory >> 30).max(1);
            let (usual, most) = (gigabytes(usual), gigabytes(most));
            let _ = writeln!(
                text,
                "On one node: --memory {memory}G --scratch DIR, with {usual} to {most} on that disk"
            );
        }
        text
    }

    fn slurm(&self, asking: &Asking<'_>) -> String {
        format!(
            "#SBATCH --nodes={}\n#SBATCH --ntasks-per-node={}\n#SBATCH --cpus-per-task={}\n#SBATCH --mem={}G\n\
             #SBATCH --time={}\nsrun --cpus-per-task={} --cpu-bind=cores {}\n",
            self.nodes,
            self.processes,
            self.threads,
            self.gibibytes(),
            self.clock(true),
            self.threads,
            self.command(asking),
        )
    }

    fn pbs(&self, asking: &Asking<'_>) -> String {
        let Plan { nodes, processes, threads, .. } = *self;
        format!(
            "#PBS -l select={nodes}:ncpus={}:mpiprocs={processes}:ompthreads={threads}:mem={}gb\n#PBS -l walltime={}\n\
             # To bind processes: Open MPI --map-by ppr:{processes}:node:pe={threads} --bind-to core; Hydra -ppn {processes} \
             -bind-to numa;\n# PALS --ppn {processes} --depth {threads} --cpu-bind depth\nmpiexec -n {} {}\n",
            processes * threads,
            self.gibibytes(),
            self.clock(true),
            nodes * processes,
            self.command(asking),
        )
    }

    fn lsf(&self, asking: &Asking<'_>) -> String {
        let Plan { nodes, processes, threads, .. } = *self;
        format!(
            "#BSUB -nnodes {nodes}\n#BSUB -W {}\njsrun -n {} -r {processes} -a 1 -c {threads} -b packed:{threads} {}\n",
            self.clock(false),
            nodes * processes,
            self.command(asking),
        )
    }

    fn flux(&self, asking: &Asking<'_>) -> String {
        let Plan { nodes, processes, threads, minutes, .. } = *self;
        let tasks = nodes * processes;
        format!(
            "#flux: -N{nodes}\n#flux: -n{tasks}\n#flux: -c{threads}\n#flux: -t{minutes}m\n\
             flux run -N{nodes} -n{tasks} -c{threads} {}\n",
            self.command(asking),
        )
    }

    fn shell(&self) -> String {
        format!(
            "NODES={} PROCESSES={} THREADS={} MEMORY_GIB={} MINUTES={}\n",
            self.nodes,
            self.processes,
            self.threads,
            self.gibibytes(),
            self.minutes,
        )
    }

    fn json(&self, size: &Size) -> String {
        let one = self.on_one_node.map(|one| {
            json!({"memory_of_process_bytes": one.memory, "disk_bytes_usual": one.disk[0], "disk_bytes_most": one.disk[1]})
        });
        let plan = json!({
            "replay_plan": 1,
            "ranks": size.ranks,
            "events": size.events,
            "bytes": size.bytes,
            "nodes": self.nodes,
            "processes_of_node": self.processes,
            "threads_of_process": self.threads,
            "seconds": self.seconds,
            "minutes_to_ask_for": self.minutes,
            "memory_of_node_bytes_usual": self.usual,
            "memory_of_node_bytes_most": self.most,
            "memory_of_node_bytes_to_ask_for": self.memory,
            "nodes_always_enough": self.always,
            "on_one_node": one,
        });
        format!("{plan:#}\n")
    }

    /// Memory of each node to ask for, in whole GiB.
    fn gibibytes(&self) -> u64 {
        self.memory.div_ceil(1 << 30)
    }

    /// The time to ask for, with or without seconds.
    fn clock(&self, has_seconds: bool) -> String {
        let (hours, minutes) = (self.minutes / 60, self.minutes % 60);
        match has_seconds {
            true => format!("{hours:02}:{minutes:02}:00"),
            false => format!("{hours}:{minutes:02}"),
        }
    }

    fn command(&self, asking: &Asking<'_>) -> String {
        let experiment = quoted(&asking.experiment.to_string_lossy());
        format!("replay-analyze --threads {} {experiment}", self.threads)
    }
}

fn processes_in_words(number: u64) -> String {
    if number == 1 { "1 process".to_owned() } else { format!("{} processes", grouped(number)) }
}

/// A number of things, with commas between thousands.
fn count(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes in GB, or MB if that is less than a tenth of one; rounded up.
pub(super) fn gigabytes(bytes: u64) -> String {
    match bytes {
        0..100_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        100_000_000..10_000_000_000 => {
            let tenths = bytes.div_ceil(100_000_000);
            format!("{}.{} GB", tenths / 10, tenths % 10)
        }
        _ => format!("{} GB", grouped(bytes.div_ceil(1_000_000_000))),
    }
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => count(seconds.div_ceil(60), "minute"),
        _ => count(seconds.div_ceil(3600), "hour"),
    }
}

/// A word of the shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+=:,@%".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Node;
    use super::*;

    fn text(form: Form) -> String {
        let size =
            Size { ranks: 1024, events: 10_000_000_000, bytes: 125_000_000_000, most: 1_000_008_388_608 };
        let node = Node { cores: 128, domains: 8, memory: 256_000_000_000 };
        let plan = Plan::new(&size, &node).unwrap();
        plan.to_text(form, &Asking { size: &size, experiment: Path::new("exp.dir") })
    }

    #[test]
    fn words_are_those_of_the_documentation() {
        assert_eq!(
            text(Form::Text),
            "1,024 ranks, 10,000,000,000 events in 125 GB\n\
             2 nodes × 8 processes × 16 threads; about 31 s, ask for 5 minutes\n\
             Memory of a node: 157 GB as most programs need it; the memory of 7 nodes is always enough.\n\
             On one node: --memory 23G --scratch DIR, with 46 GB to 796 GB on that disk\n"
        );
    }

    #[test]
    fn directives_are_ready_to_copy() {
        assert_eq!(
            text(Form::Slurm),
            "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\n#SBATCH --cpus-per-task=16\n#SBATCH --mem=175G\n\
             #SBATCH --time=00:05:00\nsrun --cpus-per-task=16 --cpu-bind=cores replay-analyze --threads 16 exp.dir\n"
        );
        assert!(
            text(Form::Pbs).starts_with("#PBS -l select=2:ncpus=128:mpiprocs=8:ompthreads=16:mem=175gb\n")
        );
        assert!(text(Form::Pbs).ends_with("mpiexec -n 16 replay-analyze --threads 16 exp.dir\n"));
        assert!(
            text(Form::Lsf)
                .contains("#BSUB -W 0:05\njsrun -n 16 -r 8 -a 1 -c 16 -b packed:16 replay-analyze")
        );
        assert!(text(Form::Flux).contains("-N2 -n16 -c16 replay-analyze --threads 16 exp.dir\n"));
        assert_eq!(text(Form::Shell), "NODES=2 PROCESSES=8 THREADS=16 MEMORY_GIB=175 MINUTES=5\n");
        let json: serde_json::Value = serde_json::from_str(&text(Form::Json)).unwrap();
        assert_eq!((json["nodes"].as_u64(), json["nodes_always_enough"].as_u64()), (Some(2), Some(7)));
    }

    #[test]
    fn numbers_are_grouped_and_rounded_up() {
        assert_eq!([0, 7, 1000, 1_234_567].map(grouped), ["0", "7", "1,000", "1,234,567"]);
        let sizes = [0, 1, 99_000_001, 100_000_001, 9_999_999_999, 10_000_000_000, 1_000_000_000_001];
        assert_eq!(
            sizes.map(gigabytes),
            ["0 MB", "1 MB", "100 MB", "0.2 GB", "10.0 GB", "10 GB", "1,001 GB"]
        );
        assert_eq!(
            [1, 119, 120, 7199, 7200].map(duration),
            ["1 s", "119 s", "2 minutes", "120 minutes", "2 hours"]
        );
    }

    #[test]
    fn paths_are_words_of_the_shell() {
        assert_eq!(
            ["a/b.dir", "a b", "it's", "", "$(x)"].map(quoted),
            ["a/b.dir", "'a b'", "'it'\\''s'", "''", "'$(x)'"]
        );
    }
}
