//! The nodes that an analysis is planned for.

use std::fs;

/// A node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// Cores.
    pub cores: u64,
    /// Domains of memory (NUMA).
    pub domains: u64,
    /// Memory in bytes.
    pub memory: u64,
}

impl Node {
    /// Reads a node in words, such as `128c,8n,256G`: cores, domains of memory (one if they are left out), memory.
    ///
    /// # Errors
    /// What is wrong in it, in words.
    pub fn parse(text: &str) -> Result<Node, String> {
        let (mut cores, mut domains, mut memory) = (None, None, None);
        for part in text.split(',') {
            let at = part.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(part.len());
            let (digits, unit) = part.split_at(at);
            let number = digits.parse::<u64>().ok().filter(|number| *number > 0);
            let (place, number) = match unit.to_ascii_uppercase().as_str() {
                "C" => (&mut cores, number),
                "N" => (&mut domains, number),
                "M" | "MB" => (&mut memory, number.and_then(|number| number.checked_mul(1_000_000))),
                "G" | "GB" => (&mut memory, number.and_then(|number| number.checked_mul(1_000_000_000))),
                "T" | "TB" => (&mut memory, number.and_then(|number| number.checked_mul(1_000_000_000_000))),
                _ => return Err(expected(part)),
            };
            if place.replace(number.ok_or_else(|| expected(part))?).is_some() {
                return Err(format!("{part:?} says again what another part says"));
            }
        }
        let domains = domains.unwrap_or(1);
        match (cores, memory) {
            (Some(cores), Some(memory)) if domains <= cores => Ok(Node { cores, domains, memory }),
            (Some(cores), Some(_)) => Err(format!("{domains} domains of memory, but {cores} cores")),
            _ => Err("cores and memory are needed, such as 128c,8n,256G".to_owned()),
        }
    }

    /// This machine, as far as it tells; what it does not tell is as small as can be.
    pub fn this_machine() -> Node {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        let is_domain = |name: &str| {
            name.strip_prefix("node").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let nodes = fs::read_dir("/sys/devices/system/node").into_iter().flatten().flatten();
        let domains = nodes.filter(|entry| entry.file_name().to_str().is_some_and(is_domain)).count() as u64;
        let memory = crate::memory::of_machine().unwrap_or(1 << 30);
        Node { cores, domains: domains.clamp(1, cores), memory }
    }
}

fn expected(part: &str) -> String {
    format!("found {part:?}, expected cores (128c), domains of memory (8n) or memory (256G)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_read_in_any_order() {
        let node = Node { cores: 128, domains: 8, memory: 256_000_000_000 };
        assert_eq!([Node::parse("128c,8n,256G"), Node::parse("256gb,8N,128c")], [Ok(node), Ok(node)]);
        assert_eq!(Node::parse("4c,900M"), Ok(Node { cores: 4, domains: 1, memory: 900_000_000 }));
    }

    #[test]
    fn what_is_no_node_is_refused() {
        for wrong in [
            "",
            "128c",
            "256G",
            "0c,1G",
            "4c,4c,1G",
            "4c,8n,1G",
            "4x,1G",
            "c,1G",
            "4c,99999999999999T",
            "4c 1G",
        ] {
            assert!(Node::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn this_machine_has_cores_and_memory() {
        let Node { cores, domains, memory } = Node::this_machine();
        assert!(cores > 0 && (1..=cores).contains(&domains) && memory > 1 << 20);
    }
}
