//! Counters of the processor: which types of events are counters, and what they are called.

use rustc_hash::FxHashMap;

use crate::pcf::Labels;

/// First types of PAPI's preset, native and uncore counters, and of PMAPI's; a million each. What Extrae writes there has been
/// counted since the record before.
const FIRST: [u64; 4] = [42_000_000, 44_000_000, 46_000_000, 48_000_000];
const COUNT: u64 = 1_000_000;

/// Counters that occur, by the numbers that they get.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    numbers: FxHashMap<u64, u32>,
    kinds: Vec<u64>,
}

/// Whether a type of events is a counter.
pub(crate) fn is_counter(kind: u64) -> bool {
    FIRST.iter().any(|first| (*first..first + COUNT).contains(&kind))
}

impl Counters {
    /// The number of the counter of a type.
    pub(crate) fn number(&mut self, kind: u64) -> u32 {
        let next = u32::try_from(self.kinds.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(kind).or_insert_with(|| {
            self.kinds.push(kind);
            next
        })
    }

    /// Name and description of all, in the order of their numbers.
    pub(crate) fn named(&self, labels: &Labels) -> Vec<(String, String)> {
        let named = |&kind: &u64| match labels.of_type(kind) {
            None => (format!("counter {kind}"), String::new()),
            Some(label) => {
                let (name, about) = label.split_once(" [").unwrap_or((label, ""));
                (name.to_owned(), about.trim_end_matches(']').to_owned())
            }
        };
        self.kinds.iter().map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_their_name_without_the_description() {
        assert!(is_counter(42_000_050) && is_counter(42_999_999) && is_counter(44_000_001));
        // Absolute values, and other types.
        assert!(!is_counter(43_000_050) && !is_counter(41_999_999) && !is_counter(50_000_001));
        let text = "EVENT_TYPE\n7  42000050 PAPI_TOT_INS [Instr completed]\n";
        let labels = Labels::read(std::path::Path::new("a"), text.as_bytes()).unwrap();
        let mut counters = Counters::default();
        assert_eq!(
            [counters.number(42_000_050), counters.number(42_000_059), counters.number(42_000_050)],
            [0, 1, 0]
        );
        let named = counters.named(&labels);
        assert_eq!(named[0], ("PAPI_TOT_INS".to_owned(), "Instr completed".to_owned()));
        assert_eq!(named[1].0, "counter 42000059");
    }
}
