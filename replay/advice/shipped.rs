//! The rules that are part of the program.

use rules::{Rules, Schema, Source};

/// Files of rules, by name.
const FILES: [(&str, &str); 3] = [
    ("work.toml", include_str!("rules/work.toml")),
    ("p2p.toml", include_str!("rules/p2p.toml")),
    ("sync.toml", include_str!("rules/sync.toml")),
];

/// Reads them.
///
/// # Panics
/// If one has an error: a test reads them all.
pub(super) fn rules(schema: &Schema) -> Rules {
    let sources = FILES.map(|(name, text)| Source::new(name, text));
    match rules::read(&sources, schema) {
        Ok(rules) => rules,
        Err(problems) => {
            let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
            panic!("rules of the program: {}", texts.join("\n"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;
    use crate::options::Semantics;

    #[test]
    fn rules_of_the_program_are_read_without_errors_with_all_metrics() {
        let rules = rules(&super::super::schema::schema(&Metrics::new(true, Semantics::default())));
        assert!(rules.rules().len() >= 8);
    }
}
