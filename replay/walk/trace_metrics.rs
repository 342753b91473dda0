//! Metrics that a trace has of its threads, whatever their values are: which of them are read, and their unique names in the report.

use model::{Definitions, MetricMember};

/// By position of each class of metrics and in the order of its values: what `place` says of the member; `None` for all members of
/// classes of other sources than threads.
pub(super) fn places<P: Clone>(
    definitions: &Definitions,
    mut place: impl FnMut(&MetricMember) -> Option<P>,
) -> Vec<Vec<Option<P>>> {
    let mut of_member = |at: &Option<usize>| place(definitions.metric_members.get((*at)?)?);
    let classes = definitions.metric_classes.iter().map(|class| match class.is_of_threads {
        true => class.members.iter().map(&mut of_member).collect(),
        false => vec![None; class.members.len()],
    });
    classes.collect()
}

/// The position of a metric among those that are known, to which it is added if it is new; `None` if there are `most` others.
pub(super) fn number<M: PartialEq>(known: &mut Vec<M>, metric: M, most: usize) -> Option<usize> {
    let at = known.iter().position(|other| *other == metric).unwrap_or(known.len());
    if at == most {
        return None;
    }
    if at == known.len() {
        known.push(metric);
    }
    Some(at)
}

/// Returns the unique name of a metric: its name, with an underscore for whatever unique names of Cube cannot have, and behind it what
/// makes it differ from those that are taken.
pub(super) fn id_of(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut id = name.replace(|c: char| !c.is_ascii_alphanumeric() && !"_:=".contains(c), "_");
    while is_taken(&id) {
        id.push_str("_counter");
    }
    id
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use model::{MetricClass, MetricValues};

    /// Definitions of a class of metrics: their names, units, and values.
    pub(in super::super) fn definitions(
        members: &[(&str, &str, MetricValues)],
        is_of_threads: bool,
    ) -> Definitions {
        let mut definitions = Definitions::default();
        for (reference, (name, unit, values)) in (0..).zip(members) {
            let member = MetricMember { name: (*name).into(), unit: (*unit).into(), values: *values };
            definitions.metric_members.push(reference, member).unwrap();
        }
        let members = (0..members.len()).map(Some).collect();
        let class = MetricClass { members, is_strict: true, is_of_threads };
        definitions.metric_classes.push(0, class).unwrap();
        definitions
    }
}
