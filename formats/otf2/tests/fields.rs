//! Records as flat lists of their values, in the order of the reference library's callbacks.

use otf2::{Definition, Event, IdMap};

/// The fields of an event.
pub(crate) fn of_event(event: &Event<'_>) -> Vec<String> {
    match *event {
        Event::Metric { metric, metric_values } => {
            let kinds = metric_values.iter().map(|value| u64::from(value.kind.0));
            let values = metric_values.iter().map(|value| value.bits);
            [u64::from(metric)]
                .into_iter()
                .chain(kinds)
                .chain(values)
                .map(|value| value.to_string())
                .collect()
        }
        _ => numbers(&format!("{event:?}")),
    }
}

/// The fields of a definition. Types precede their values; strings are in quotes.
pub(crate) fn of_definition(definition: &Definition<'_>) -> Vec<String> {
    let list = |values: &[&dyn std::fmt::Display]| values.iter().map(|value| value.to_string()).collect();
    match *definition {
        Definition::String { reference, string } => {
            list(&[&reference, &format!("{:?}", String::from_utf8_lossy(string))])
        }
        Definition::Attribute { reference, name, value_type, description } => {
            list(&[&reference, &name, &description, &value_type.0])
        }
        Definition::Region {
            reference,
            name,
            description,
            source_file,
            begin_line_number,
            end_line_number,
            canonical_name,
            region_role,
            paradigm,
            region_flags,
        } => list(&[
            &reference,
            &name,
            &canonical_name,
            &description,
            &region_role.0,
            &paradigm.0,
            &region_flags,
            &source_file,
            &begin_line_number,
            &end_line_number,
        ]),
        Definition::Group { reference, name, members, group_type, paradigm, group_flags } => {
            let mut values: Vec<String> =
                list(&[&reference, &name, &group_type.0, &paradigm.0, &group_flags]);
            values.extend(members.iter().map(|member| member.to_string()));
            values
        }
        Definition::MetricClass { reference, metric_members, metric_occurrence, recorder_kind } => {
            let members = metric_members.iter().map(|member| member.to_string());
            let mut values = vec![reference.to_string()];
            values.extend(members);
            values.extend([metric_occurrence.to_string(), recorder_kind.to_string()]);
            values
        }
        Definition::MappingTable { mapping_type, id_map } => {
            let (mode, pairs): (u8, Vec<(u64, u64)>) = match id_map {
                IdMap::Dense(globals) => (0, (0..).zip(globals).collect()),
                IdMap::Sparse(pairs) => (1, pairs.iter().map(|pair| (pair.local, pair.global)).collect()),
            };
            let mut values: Vec<String> = list(&[&mapping_type, &mode]);
            values.extend(pairs.iter().flat_map(|pair| [pair.0.to_string(), pair.1.to_string()]));
            values
        }
        Definition::ClockOffset { time, offset, standard_deviation } => {
            list(&[&time.0, &offset, &standard_deviation.to_bits()])
        }
        _ => numbers(&format!("{definition:?}")),
    }
}

/// The numbers in a text, signs included.
pub(crate) fn numbers(text: &str) -> Vec<String> {
    let token = |c: char| !(c.is_alphanumeric() || c == '-' || c == '_');
    text.split(token).filter(|word| word.parse::<i128>().is_ok()).map(str::to_owned).collect()
}
