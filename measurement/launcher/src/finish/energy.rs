//! The energy that a run has taken (site.md, 5.2), as properties of nodes.

use super::archive::{DefinitionList, node_of_host};
use super::journals::Process;
use super::strings::Strings;
use model::usage::{METERS, MICROJOULES};
use otf2::{Definition, Value, ValueType};
use recording::energy::taken;

/// The energy of a host from the begin of MPI to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Energy {
    /// Microjoules of all meters.
    pub(super) microjoules: u64,
    /// Names of the meters, with commas between them.
    pub(super) meters: String,
}

/// Returns the energy by host, where it is known: the process that has read the meters has ended by itself.
pub(super) fn of_hosts(processes: &[Process], hosts: &[String]) -> Vec<Option<Energy>> {
    let of_host = |host: &String| {
        let of_it = processes.iter().filter(|process| process.host == *host);
        of_it.filter(|process| process.end.is_some()).find_map(energy)
    };
    hosts.iter().map(of_host).collect()
}

fn energy(process: &Process) -> Option<Energy> {
    let microjoules = taken(&process.energy)?;
    let meters = process.energy[0].meters.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>();
    Some(Energy { microjoules, meters: meters.join(", ") })
}

/// Adds the properties of all nodes of which it is known.
pub(super) fn define(energy: &[Option<Energy>], strings: &mut Strings, records: &mut DefinitionList<'_>) {
    for (host, energy) in (0..).zip(energy) {
        let Some(Energy { microjoules, meters }) = energy else { continue };
        let text = Value::string(strings.number(meters));
        for (name, value) in [(MICROJOULES, Value::new(ValueType::UINT64, *microjoules)), (METERS, text)] {
            let (system_tree_node, name) = (node_of_host(host), strings.number(name));
            records.add(Definition::SystemTreeNodeProperty { system_tree_node, name, value });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::energy::EnergyReading;

    fn process(host: &str, shown: &[u64], end: Option<i32>) -> Process {
        let reading = |(at, &shown): (u64, &u64)| EnergyReading {
            nanoseconds: at * 1_000_000_000,
            meters: vec![("package-0".into(), shown, 1 << 40), ("dram".into(), 2 * shown, 1 << 40)],
        };
        let energy = (1..).zip(shown).map(reading).collect();
        Process { host: host.into(), energy, end, ..Process::default() }
    }

    #[test]
    fn energy_is_known_of_hosts_whose_reader_has_ended() {
        let processes = [
            process("a", &[], Some(0)),
            process("a", &[10, 50, 110], Some(0)),
            process("b", &[10, 20], None),
            process("c", &[10], Some(0)),
        ];
        let hosts = ["a", "b", "c"].map(String::from);
        let energy = Energy { microjoules: 300, meters: "package-0, dram".into() };
        assert_eq!(of_hosts(&processes, &hosts), [Some(energy), None, None]);
    }
}
